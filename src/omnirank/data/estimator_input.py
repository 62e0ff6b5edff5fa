"""What users pass to ``fit`` becomes a Dataset; shared by rankers and predictors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from omnirank.core.errors import DataError, DataTypeError, DataWarning, ParameterError, logger, setting
from omnirank.core.text import counted, did_you_mean, there_are
from omnirank.core.types import ArrayLike
from omnirank.data.columns import check_shape, is_frame, table_from
from omnirank.data.containers import (
    FeaturesLike,
    TargetLike,
    annotated_target,
    as_array,
    checked_sparse,
    in_memory,
    is_annotated,
    refuse_structured,
    unmasked,
)
from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.notes import caller_outside, warn_about
from omnirank.data.table import Table, check_size, is_made_up, refuse_rounded
from omnirank.data.task_registry import is_unsupervised, task_named

# Gains hold products of three weights, or of a weight and squares.
_LEAST_WEIGHT, _MOST_WEIGHT = 1e-140, 1e100
_NOTHING_KNOWN = "no value of the target is known: features are ranked without it"


def read_input(
    estimator: Any,
    X: FeaturesLike,
    y: TargetLike | None = None,
    *,
    task: str = "auto",
    hierarchy: Hierarchy | None = None,
    min_examples: int = 2,
    task_is_sure: bool = False,
) -> Dataset:
    """Return the training data of an estimator as a Dataset, and set what scikit-learn wants set.

    Sets ``n_features_in_`` and, where the columns have names, ``feature_names_in_``. A target without any
    known value is left out: the task is then "clustering". The task is logged; a doubtful one, and features that are
    traps, are warned about, once per data set (:mod:`omnirank.data.notes`).

    Parameters
    ----------
    estimator : scikit-learn estimator
        Whose ``fit`` was called.
    X : Dataset, array-like, scipy.sparse container or data frame
        A data set, or its features.
    y : anything that Dataset takes, optional
        The target; must be None where X is a Dataset.
    task : str
        A task name or "auto". With a Dataset, "clustering" leaves its target out and any other name must be
        that of the data set.
    hierarchy : Hierarchy, optional
        Order of the labels; must be None where X is a Dataset.
    min_examples : int
        Least number of examples.
    task_is_sure : bool
        Whether the estimator is for one kind of target, so that its user has no doubt.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.base import BaseEstimator
    >>> from omnirank.data.estimator_input import read_input
    >>> estimator = BaseEstimator()
    >>> read_input(estimator, np.eye(3), ["a", "b", None])
    <Dataset 'data': 3 examples, 3 features, classification, 1 target, 2 labelled>
    >>> estimator.n_features_in_
    3
    """
    X = in_memory(X)
    if isinstance(X, Dataset):
        dataset = _given_dataset(estimator, X, y, task, hierarchy)
    else:
        features = read_features(estimator, X, reset=True)
        dataset = Dataset(features, annotated_target(X, y), task=task, hierarchy=hierarchy)
    if dataset.n_examples < min_examples:
        shape = (dataset.n_examples, dataset.n_features)
        raise DataError(
            f"Found array with {shape[0]} sample(s) (shape={shape}) while a minimum of {min_examples} is "
            f"required by {type(estimator).__name__}."
        )
    given = not is_unsupervised(task) and (y is not None if not isinstance(X, Dataset) else dataset.target is not None)
    warn_about(dataset, task_is_sure)
    if dataset.target is not None and not dataset.labelled.any():
        dataset = without_target(dataset)
    if dataset.target is None and given and not task_is_sure:
        warnings.warn(_NOTHING_KNOWN, DataWarning, stacklevel=caller_outside())
    how = "inferred" if task == "auto" and not isinstance(X, Dataset) else "given"
    logger.info(
        "task: %s (%s); %d of %d examples labelled", dataset.task, how, int(dataset.labelled.sum()), dataset.n_examples
    )
    return dataset


def any_table(tags: Any) -> Any:
    """Return scikit-learn's tags of an estimator that takes tables as `read_features` reads them."""
    tags.input_tags.allow_nan = True
    tags.input_tags.sparse = True
    tags.input_tags.string = True
    tags.input_tags.categorical = True
    return tags


def read_features(estimator: Any, X: FeaturesLike, *, reset: bool) -> Table:
    """Return the features in X as a typed table, checked against the estimator (or noted in it: ``reset``).

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.base import BaseEstimator
    >>> from omnirank.data.estimator_input import read_features
    >>> estimator = BaseEstimator()
    >>> frame = pd.DataFrame({"age": [31, 42], "town": ["Bled", "Kranj"]})
    >>> table = read_features(estimator, frame, reset=True)
    >>> table.is_nominal.tolist(), estimator.feature_names_in_.tolist()
    ([False, True], ['age', 'town'])
    """
    X = in_memory(X)
    if isinstance(X, str | Path):
        path = repr(str(X))
        raise DataTypeError(f"X={path}: give an array, a data frame or a Dataset; om.load({path}, target) reads a file")
    X = Dataset(X) if is_annotated(X) else X
    if isinstance(X, Dataset):
        _validated(estimator, _names_only(X), skip_check_array=True, reset=reset)
        return X.features
    if is_frame(X):
        check_shape(X.shape, f"required by {type(estimator).__name__}")
        _validated(estimator, X, skip_check_array=True, reset=reset)
        return _exact_table(X)
    # before scikit-learn converts it: it would lose masks, and types of cells in lists
    X = checked_sparse(X) if sparse.issparse(X) else as_array(X)
    refuse_structured(X, "X")
    check_size(X)
    # scikit-learn would refuse infinite cells without naming the column, as table_from does
    values = _validated(estimator, X, dtype=None, accept_sparse="csc", ensure_all_finite=False, reset=reset)
    return _exact_table(values)


def _exact_table(X: Any) -> Table:
    table = table_from(X)
    refuse_rounded(table)
    return table


def features_like(estimator: Any, X: FeaturesLike, training: Table) -> Table:
    """Return the features in X with the codes of the training table, for predictions.

    A level that the training data did not have is missing, with one warning; a column that was nominal in
    training and is numeric now, or the other way round, is an error, and so are dates where numbers were.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.base import BaseEstimator
    >>> from omnirank.data.estimator_input import features_like, read_features
    >>> estimator = BaseEstimator()
    >>> training = read_features(estimator, pd.DataFrame({"town": ["Bled", "Kranj"]}), reset=True)
    >>> features_like(estimator, pd.DataFrame({"town": ["Kranj"]}), training).codes.tolist()
    [[1]]
    """
    table = read_features(estimator, X, reset=False)
    for name, old in zip(table.names, training.names, strict=False):  # as seconds they are larger than any threshold
        if name in table.dates and old not in training.dates and training.levels[training.index(old)] is None:
            raise DataError(f"feature {old!r} was a number in training and holds dates now: give numbers of its unit")
    return recoded_like(table, training)


def recoded_like(table: Table, training: Table) -> Table:
    """Return the columns of a table with the levels of the training table; others are missing, with one warning."""
    recoded, unseen = recode(table, training)
    if unseen:
        name, level = next(iter(unseen.items()))
        warnings.warn(
            f"levels that were not in the training data are taken as missing ({counted(len(unseen), 'feature')}, "
            f"first {name!r}: {level!r})",
            UserWarning,
            stacklevel=4,
        )
    return recoded


def recode(table: Table, training: Table) -> tuple[Table, dict[str, Any]]:
    """Return the columns of a table with the levels of the training table, and those columns in which others occur.

    Files of different kinds write the same values in different types: 1 in Parquet is "1" in a CSV file of which the
    column is nominal. So levels that read alike are taken for the same.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.data.columns import table_from
    >>> from omnirank.data.estimator_input import recode
    >>> towns = [table_from(pd.DataFrame({"town": names})) for names in (["Bled", "Kranj"], ["Kranj", "Piran"])]
    >>> recoded, unseen = recode(towns[1], towns[0])
    >>> recoded.codes.tolist(), unseen
    ([[1], [-1]], {'town': 'Piran'})
    """
    if table.levels == training.levels:
        return table, {}
    columns: list[np.ndarray] = []
    unseen: dict[str, Any] = {}
    for i, name in enumerate(training.names):
        cells, new = _recoded(table, training, i)
        columns.append(cells)
        if new:
            unseen[name] = new[0]
    if table.is_sparse:
        matrix = sparse.csc_array(
            np.column_stack([np.where(c < 0, np.nan, c) if c.dtype.kind == "i" else c for c in columns])
        )
        recoded = Table.from_sparse(matrix, training.names, training.levels)
    else:
        recoded = Table.from_columns(training.names, columns, training.levels)
    return replace(recoded, dates=training.dates), unseen


def without_target(dataset: Dataset) -> Dataset:
    """Return the data set without its target, for unsupervised use.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.data.estimator_input import without_target
    >>> without_target(om.Dataset([[1.0], [2.0]], ["a", "b"])).task
    'clustering'
    """
    if dataset.target is None:
        return dataset
    return dataset._with_target(None, task_named("none"))


def check_sample_weight(sample_weight: ArrayLike | None, n_examples: int) -> np.ndarray:
    """Return the weights of the examples as floats: finite, not negative, not all zero, together from 1e-140 to 1e100.

    Examples
    --------
    >>> from omnirank.data.estimator_input import check_sample_weight
    >>> check_sample_weight([1, 2, 0], 3).tolist()
    [1.0, 2.0, 0.0]
    """
    try:
        weights = np.array(unmasked(sample_weight))
        if weights.dtype.kind not in "buifO":  # dates and complex numbers become floats as well
            raise TypeError
        weights = weights.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError("sample_weight must hold one number per example") from None
    if weights.ndim == 0:
        weights = np.full(n_examples, float(weights))
    if weights.shape != (n_examples,):
        raise DataError(
            f"sample_weight has shape {weights.shape}, expected one weight for each of {n_examples} examples"
        )
    wrong = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if len(wrong):
        raise DataError(f"sample_weight[{wrong[0]}] is {weights[wrong[0]]}: weights are finite and not negative")
    weights[weights < np.finfo(np.float64).tiny] = 0.0  # their reciprocals are infinite
    if not weights.any():
        raise DataError("Sample weights must contain at least one non-zero number.")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not _LEAST_WEIGHT <= total <= _MOST_WEIGHT:
        raise DataError(f"sample_weight sums up to {total:.0e}, whose square floats hardly hold: use weights of mean 1")
    return weights


def _given_dataset(
    estimator: Any, dataset: Dataset, y: TargetLike | None, task: str, hierarchy: Hierarchy | None
) -> Dataset:
    if y is not None:
        raise ParameterError("the Dataset holds its target: y must not be given as well")
    if hierarchy is not None:
        raise ParameterError("the Dataset holds its hierarchy: hierarchy must not be given as well")
    if dataset.n_features == 0:
        check_shape((dataset.n_examples, 0), f"required by {type(estimator).__name__}")
    _validated(estimator, _names_only(dataset), skip_check_array=True, reset=True)
    if is_unsupervised(task):
        return without_target(dataset)
    if task not in ("auto", dataset.task):
        auto = setting("task", "auto")
        advice = f"the Dataset is made for {dataset.task!r}: leave {auto}, or build the Dataset with the task you want"
        raise ParameterError("task", task, advice)
    return dataset


def _validated(estimator: Any, X: Any, **checks: Any) -> Any:
    """Check the features as scikit-learn does; who only reads data does not wait for its import."""
    from sklearn.utils.validation import validate_data

    return validate_data(estimator, X, **checks)


def _names_only(dataset: Dataset) -> Any:
    """Stand-in by which scikit-learn checks names and count; names that omnirank made up do not count as names."""
    if is_made_up(dataset.feature_names):
        return np.empty((0, dataset.n_features))
    names = pd.Index(list(dataset.feature_names), dtype=object)
    return pd.DataFrame(np.empty((0, len(names))), columns=names)  # without cells, pandas would check names one by one


def _recoded(table: Table, training: Table, i: int) -> tuple[np.ndarray, list[Any]]:
    """Cells of column i in the training codes, and the levels that are new."""
    cells, levels, wanted = table.column(i), table.levels[i], training.levels[i]
    if levels == wanted:
        return cells, []
    if levels is None and not np.isnan(cells).all():
        raise DataError(f"feature {training.names[i]!r} was nominal in training and is numeric now")
    if wanted is None and levels:
        raise DataError(f"feature {training.names[i]!r} was numeric in training and is nominal now")
    if wanted is None or not levels:
        return np.full(len(cells), np.nan if wanted is None else -1, float if wanted is None else np.int32), []
    position = {level: code for code, level in enumerate(wanted)}
    texts = {str(level): code for level, code in position.items()}  # files and frames hold booleans, and also texts
    lookup = np.array([*(position.get(level, texts.get(str(level), -1)) for level in levels), -1], dtype=np.int32)
    used = np.unique(cells[cells >= 0])
    return lookup[cells], [levels[c] for c in used if lookup[c] < 0]


def columns_like(table: Table, training: Table, *, by_name: bool = True) -> Table:
    """Return the columns of a table that a model was fitted on, in its order.

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
    >>> from omnirank.data.columns import table_from
    >>> from omnirank.data.estimator_input import columns_like
    >>> training = table_from(pd.DataFrame({"size": [1.5], "wet": ["True"]}))
    >>> found = columns_like(table_from(pd.DataFrame({"wet": [True], "name": ["a"], "size": [2.0]})), training)
    >>> found.names, found.levels
    (('size', 'wet'), (None, (False, True)))
    """
    if by_name:
        check_columns(table.names, training)
        table = table.select([table.index(name) for name in training.names])
    if table.n_columns != training.n_columns:
        expected = f"the model was fitted on {training.n_columns}, which had no names"
        raise DataError(f"{there_are(table.n_columns, 'column')}, but {expected}: {setting('ignore')} leaves some out")
    numbers = [
        i
        for i, (own, wanted) in enumerate(zip(table.levels, training.levels, strict=True))
        if own is None and wanted is not None
    ]
    if numbers:
        table = table_from(table, nominal=numbers)
    dates = frozenset(new for old, new in zip(table.names, training.names, strict=True) if old in table.dates)
    return replace(table, names=training.names, dates=dates)


def check_columns(names: Sequence[str], training: Table) -> None:
    """Raise a DataError where a column that a model was fitted on is not among those of these names."""
    known = set(names)
    lacking = [name for name in training.names if name not in known]
    if lacking:
        others = f" and {counted(len(lacking) - 1, 'other')}" if len(lacking) > 1 else ""
        hint = did_you_mean(lacking[0], names)
        raise DataError(f"there is no column {lacking[0]!r}{others}, which the model was fitted on{hint}")
