"""Label sets from 0/1 columns or from sets of names, with or without a hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from omnirank.core.errors import DataError
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.table import Levels, Table
from omnirank.data.target import Target

_BINARY_DOMAINS = ({0, 1}, {"0", "1"})


def is_binary(levels: Levels) -> bool:
    """Whether levels are those of a label: 0 and 1, as numbers, strings or booleans.

    Examples
    --------
    >>> from omnirank.data.label_targets import is_binary
    >>> is_binary(("0", "1")), is_binary((False, True)), is_binary(("no", "yes"))
    (True, True, False)
    """
    return any(set(levels) <= domain for domain in _BINARY_DOMAINS)


def is_unknown(value: Any) -> bool:
    """Whether a value is None, NaN, NA or NaT.

    Examples
    --------
    >>> from omnirank.data.label_targets import is_unknown
    >>> [is_unknown(value) for value in (None, float("nan"), 0, "")]
    [True, True, False, False]
    """
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value)


def label_target(table: Table) -> Target:
    """Return 0/1 columns, numeric or nominal, as label sets, sparse where the table is.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.label_targets import label_target
    >>> from omnirank.data.table import Table
    >>> table = Table.from_columns(["a", "b"], [np.array([0, -1]), np.array([1.0, 0.0])], [("1", "0"), None])
    >>> label_target(table).values.tolist()
    [[1.0, 1.0], [nan, 0.0]]
    """
    for name, levels in zip(table.names, table.levels, strict=True):
        if levels is not None and not is_binary(levels):
            raise DataError(f"label {name!r} has the levels {levels[:5]}: a label is 0 or 1")
    _check_label_values(table)
    if table.is_sparse:
        return Target.labels(_sparse_labels(table), table.names)
    values = np.empty((table.n_rows, table.n_columns))
    for i, levels in enumerate(table.levels):
        cells = table.column(i)
        values[:, i] = cells if levels is None else _label_codes(cells, levels)
    return Target.labels(values, table.names)


def _check_label_values(table: Table) -> None:
    values = table.matrix.data if table.is_sparse else table.numeric
    if not _is_odd_label(values).any():
        return
    for i in np.flatnonzero(~table.is_nominal):
        cells = table.column(int(i))
        for row in np.flatnonzero(_is_odd_label(cells)):
            raise DataError(f"label {table.names[i]!r} holds {cells[row]:g} in row {row}: a label is 0, 1 or missing")


def _is_odd_label(values: np.ndarray) -> np.ndarray:
    return ~(np.isnan(values) | (values == 0) | (values == 1))


def _label_codes(codes: np.ndarray, levels: Levels) -> np.ndarray:
    lookup = np.array([float(level in (1, "1")) for level in levels] + [np.nan])
    return lookup[codes]


def _sparse_labels(table: Table) -> Any:
    """Codes of nominal {0,1} columns are the values already, unless the domain starts with 1."""
    swapped = [i for i, levels in enumerate(table.levels) if levels and levels[0] in (1, "1")]
    if not swapped:
        return table.matrix
    parts = sparse.csc_array(1.0 - table.matrix[:, swapped].toarray())
    kept = np.setdiff1d(np.arange(table.n_columns), swapped)
    return sparse.hstack([table.matrix[:, kept], parts], format="csc")[:, np.argsort([*kept, *swapped])]


def as_label_sets(y: Any, wanted: bool = False) -> list[Any] | None:
    """Return a sequence of sets as a list with None for unknown ones; None for anything else.

    Lists of strings are sets where they cannot be rows of a matrix: if their lengths differ, if they are cells of a
    column, or if label sets are wanted and the strings are not 0/1. Other rows of different lengths are an error.

    Parameters
    ----------
    y : anything
        The target as users write it.
    wanted : bool
        Whether the user has said that the target holds label sets.

    Examples
    --------
    >>> from omnirank.data.label_targets import as_label_sets
    >>> as_label_sets([{"a"}, float("nan")]), as_label_sets([["a"], []]), as_label_sets(["a", "b"])
    ([{'a'}, None], [{'a'}, set()], None)
    """
    if isinstance(y, pd.Series):
        y = y.to_numpy() if y.dtype == object else None
    is_vector = isinstance(y, np.ndarray) and y.dtype == object and y.ndim == 1
    if not (isinstance(y, list | tuple) or is_vector):
        return None
    found = [None if is_unknown(value) else value for value in y]
    known = [value for value in found if value is not None]
    if known and all(isinstance(value, set | frozenset) for value in known):
        return found
    rows = [value for value in known if isinstance(value, list | tuple | set | frozenset)]
    if not rows:
        return None
    if len(rows) == len(known) and not any(isinstance(row, set | frozenset) for row in rows):
        labels = {label for row in rows for label in row if isinstance(label, str)}
        strings = all(isinstance(label, str) for row in rows for label in row)
        ragged = len({len(row) for row in rows}) > 1
        if strings and (ragged or is_vector or (wanted and not labels <= {"0", "1"})):
            return [None if row is None else _as_set(row, i) for i, row in enumerate(found)]
        if not ragged and len(rows) == len(found) and not is_vector:
            return None
    raise DataError(
        "y has rows that are no sets and do not form a matrix: give label sets as sets, [{'a', 'b'}, {'a'}], or as a "
        "0/1 matrix with one column per label; several targets as a matrix with one column each"
    )


def _as_set(row: Sequence[str], i: int) -> set[str]:
    labels = set(row)
    if len(labels) < len(row):
        twice = next(label for label in row if row.count(label) > 1)
        raise DataError(f"y lists the label {twice!r} twice in row {i}: a label set has each label once")
    return labels


def target_of_sets(
    sets: Sequence[Any], hierarchy: Hierarchy | None = None, names: Sequence[str] | None = None
) -> Target:
    """Return sets of label names as a target, closed under ancestors where there is a hierarchy.

    Examples
    --------
    >>> from omnirank.data.label_targets import target_of_sets
    >>> target = target_of_sets([{"b"}, {"b", "a"}, None])
    >>> target.names, target.dense().tolist()
    (('a', 'b'), [[0.0, 1.0], [1.0, 1.0], [nan, nan]])
    """
    for row, labels in enumerate(sets):
        if labels is not None and "" in labels:
            advice = "leave it out; set() has no label, None is unlabelled"
            raise DataError(f"y has an empty text among the labels of row {row}: {advice}")
    if hierarchy is not None:
        values, labelled = hierarchy.encode(sets)
        return Target.labels(hierarchy.close(values), hierarchy.labels, labelled)
    if names is None:
        labels = {label for labels in sets if labels is not None for label in labels}
        if not labels:
            raise DataError("all label sets are empty: name the labels with target_names")
        whole = all(isinstance(label, Integral) for label in labels)
        names = [str(label) for label in sorted(labels, key=None if whole else str)]
    flat = Hierarchy.flat(names)
    values, labelled = flat.encode(sets)
    return Target.labels(values, flat.labels, labelled)


def hierarchical_target(table: Table, hierarchy: Hierarchy, named: bool = True) -> Target:
    """Return 0/1 columns as label sets, closed under ancestors.

    Parameters
    ----------
    table : Table
        One column per label of the hierarchy.
    hierarchy : Hierarchy
        The labels.
    named : bool
        Whether the columns are found by their names, or stand in the order of the hierarchy.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.hierarchy import Hierarchy
    >>> from omnirank.data.label_targets import hierarchical_target
    >>> from omnirank.data.table import Table
    >>> table = Table.from_numeric(np.array([[1.0, 0.0]]), ["a/b", "a"])
    >>> hierarchical_target(table, Hierarchy.from_paths(["a", "a/b"])).values.tolist()
    [[1.0, 1.0]]
    """
    labels = set(hierarchy.labels)
    if set(table.names) == labels:
        table = table.select([table.index(name) for name in hierarchy.labels])
    elif named or table.n_columns != hierarchy.n_labels:
        unknown = [name for name in table.names if name not in labels] if named else []
        raise DataError(
            f"y has {table.n_columns} columns and the hierarchy {hierarchy.n_labels} labels"
            + (f"; not in the hierarchy: {unknown[0]!r}" if unknown else "")
        )
    target = label_target(table)
    return Target.labels(hierarchy.close(target.values), hierarchy.labels, target.labelled)
