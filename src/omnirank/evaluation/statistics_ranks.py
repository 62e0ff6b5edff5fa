"""Ranks of methods on data sets, from a table of performances."""

from __future__ import annotations

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, ParameterError


def rounded(table: pd.DataFrame, *, decimals: int | None = None, digits: int | None = None) -> pd.DataFrame:
    """Return performances rounded before they are ranked, so that meaningless differences are ties.

    Parameters
    ----------
    table : DataFrame
        Data sets as rows, methods as columns.
    decimals : int, optional
        Decimals to keep, such as 3.
    digits : int, optional
        Significant digits to keep.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.evaluation.statistics import rounded
    >>> table = pd.DataFrame({"a": [0.01234], "b": [0.01232]})
    >>> rounded(table, decimals=3).loc[0].tolist(), rounded(table, digits=3).loc[0].tolist()
    ([0.012, 0.012], [0.0123, 0.0123])
    """
    if decimals is not None and digits is not None:
        raise ParameterError("round to decimals or to significant digits, not to both")
    if digits is not None:
        return table.map(lambda value: float(f"{value:.{digits - 1}e}"))
    return table if decimals is None else table.round(decimals)


def method_ranks(table: pd.DataFrame, larger_is_better: bool) -> pd.DataFrame:
    """Return the rank of every method on every data set: 1 is best, equal performances share their mean rank.

    Parameters
    ----------
    table : DataFrame
        Performances: data sets as rows, methods as columns.
    larger_is_better : bool
        Direction of the measure; False for losses and times.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.evaluation.statistics import method_ranks
    >>> method_ranks(pd.DataFrame({"a": [0.9], "b": [0.7], "c": [0.9]}), larger_is_better=True).loc[0].tolist()
    [1.5, 3.0, 1.5]
    """
    table = checked_table(table)
    return table.rank(axis=1, ascending=not larger_is_better)


def average_ranks(table: pd.DataFrame, larger_is_better: bool) -> pd.Series:
    """Return the mean over data sets of every method's rank.

    Parameters
    ----------
    table, larger_is_better
        As in `method_ranks`.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.evaluation.statistics import average_ranks
    >>> average_ranks(pd.DataFrame({"a": [0.9, 0.5], "b": [0.7, 0.5]}), larger_is_better=True).to_dict()
    {'a': 1.25, 'b': 1.75}
    """
    return method_ranks(table, larger_is_better).mean().rename("average rank")


def checked_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of performances as floats, or say what is wrong with it."""
    table = pd.DataFrame(table)
    if table.shape[1] < 2 or not len(table):
        raise DataError(f"a comparison needs at least one data set and two methods, not a table of shape {table.shape}")
    if not table.columns.is_unique:
        name = table.columns[table.columns.duplicated()][0]
        raise DataError(f"two methods are called {name!r}: rename one of the columns")
    try:
        values = table.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"performances must be numbers: {error}") from None
    if values.isna().to_numpy().any():
        place = np.argwhere(values.isna().to_numpy())[0]
        raise DataError(
            f"method {values.columns[place[1]]!r} has no value for data set {values.index[place[0]]!r}; leave out "
            "the data set, the method, or run what is missing"
        )
    return values
