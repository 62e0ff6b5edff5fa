"""Columns of a file as a fitted model wants them: by name, nominal where it knows them so, levels by their text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from omnirank.core.errors import DataError, setting
from omnirank.core.plurals import counted, there_are
from omnirank.core.suggestions import did_you_mean
from omnirank.data.convert import table_from
from omnirank.data.table import Levels, Table


def columns_like(table: Table, training: Table, *, by_name: bool = True) -> Table:
    """Return the columns of a table that a model was fitted on, in its order.

    Files of different kinds write the same values in different types: 1 in Parquet is "1" in a CSV file of which the
    column is nominal. So levels that read alike are taken for the same.

    Parameters
    ----------
    table : Table
        What a file holds.
    training : Table
        The features of the model; its cells do not matter.
    by_name : bool
        Whether the names of the model's features count; otherwise the columns are in their order already.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.data.convert import table_from
    >>> from omnirank.data.matching_columns import columns_like
    >>> training = table_from(pd.DataFrame({"size": [1.5], "wet": ["True"]}))
    >>> found = columns_like(table_from(pd.DataFrame({"wet": [True], "name": ["a"], "size": [2.0]})), training)
    >>> found.names, found.levels
    (('size', 'wet'), (None, (False, 'True')))
    """
    if by_name:
        check_columns(table.names, training)
        table = table.select([table.index(name) for name in training.names])
    if table.n_columns != training.n_columns:
        expected = f"the model was fitted on {training.n_columns}, which had no names"
        raise DataError(f"{there_are(table.n_columns, 'column')}, but {expected}: {setting('ignore')} leaves some out")
    numbers = [
        i
        for i, (found, wanted) in enumerate(zip(table.levels, training.levels, strict=True))
        if found is None and wanted is not None
    ]
    if numbers:
        table = table_from(table, nominal=numbers)
    pairs = zip(table.levels, training.levels, strict=True)
    dates = frozenset(new for old, new in zip(table.names, training.names, strict=True) if old in table.dates)
    levels = tuple(_by_text(found, wanted) for found, wanted in pairs)
    return replace(table, names=training.names, levels=levels, dates=dates)


def check_columns(names: Sequence[str], training: Table) -> None:
    """Raise a DataError where a column that a model was fitted on is not among those of these names."""
    known = set(names)
    lacking = [name for name in training.names if name not in known]
    if lacking:
        others = f" and {counted(len(lacking) - 1, 'other')}" if len(lacking) > 1 else ""
        hint = did_you_mean(lacking[0], names)
        raise DataError(f"there is no column {lacking[0]!r}{others}, which the model was fitted on{hint}")


def _by_text(found: Levels | None, wanted: Levels | None) -> Levels | None:
    """Levels of which those that read like one of the model's are that one."""
    if found is None or wanted is None or found == wanted:
        return found
    texts: dict[str, Any] = {str(level): level for level in wanted}
    return tuple(texts.get(str(level), level) for level in found)
