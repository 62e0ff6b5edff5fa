"""What a target is: declared types first, then the values, never a silent guess about files."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, DataTypeError, ParameterError, setting
from omnirank.data.columns import code_numbers, is_frame, typed_table
from omnirank.data.containers import TargetLike, as_array, checked_sparse, is_unknown, refuse_structured
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.notes import doubts_about
from omnirank.data.table import LARGEST_EXACT, Levels, Table, is_sparse, numbered_names, refuse_rounded
from omnirank.data.target import Target
from omnirank.data.task_registry import TASKS, TaskTarget, is_unsupervised, task_named, task_target

_BINARY_DOMAINS = ({0, 1}, {"0", "1"})


def target_from(
    y: TargetLike | None, task: str = "auto", hierarchy: Hierarchy | None = None, names: Sequence[str] | None = None
) -> tuple[Target | None, str]:
    """Return the target in y and its task.

    Parameters
    ----------
    y : array-like, data frame, scipy.sparse container, sequence of sets, Table or None
        None, NaN and NA are unknown; -1 is a value. A sequence of sets gives label sets; so do lists of strings that
        differ in their lengths.
    task : str
        A task name, or "auto": see :func:`infer_task`. With "auto", a y in which no value is known and no
        levels are declared is no target (task "clustering"); so is any y with "clustering".
    hierarchy : Hierarchy, optional
        Makes the task hierarchical multi-label; label sets are closed under ancestors. Columns with names
        are put in the order of its labels.
    names : sequence of str, optional
        Names of the target variables.

    Examples
    --------
    >>> from omnirank.data.infer import target_from
    >>> target, task = target_from([0, 1, None, 2])
    >>> task, target.levels
    ('classification', ((0, 1, 2),))
    """
    return read_target(y, task, hierarchy, names)[:2]


class FoundTarget(NamedTuple):
    """A target, its task, and what speaks against the task where it was inferred."""

    target: Target | None
    task: str
    doubts: tuple[str, ...] = ()


def read_target(
    y: TargetLike | None,
    task: str = "auto",
    hierarchy: Hierarchy | None = None,
    names: Sequence[str] | None = None,
    declared: bool = False,
    integers: bool = False,
) -> FoundTarget:
    """Return what :func:`target_from` does, and the doubts about the task (:mod:`omnirank.data.notes`).

    Parameters
    ----------
    y, task, hierarchy, names
        As in :func:`target_from`.
    declared : bool
        Whether numeric columns were declared as such (ARFF): then integers stay numbers.
    integers : bool
        Whether a y that is a Table, which does not record it, holds numbers that were written as integers.

    Examples
    --------
    >>> from omnirank.data.infer import read_target
    >>> len(read_target(list(range(50))).doubts)
    1
    """
    _check_request(y, task, hierarchy)
    if isinstance(y, str):
        raise DataTypeError(
            f"{setting('y', y)}: give the values of the target, one per example, such as frame[{y!r}], not a name"
        )
    if y is None or is_unsupervised(task):
        return FoundTarget(None, task_named("none") if task == "auto" else task)
    labels = task_named("labels", hierarchical=hierarchy is not None) if task == "auto" else task
    is_labels = task_target(labels).kind == "labels"
    sets = as_label_sets(y, wanted=(task != "auto" and is_labels) or hierarchy is not None)
    if sets is not None:
        if not is_labels:
            raise ParameterError("task", task, f"y holds sets, which are for {task_named('labels')!r}")
        return FoundTarget(target_of_sets(sets, hierarchy, names), labels)
    table, written_so, named = _read(y, names)
    _refuse_inexact(table)
    if hierarchy is not None:
        return FoundTarget(hierarchical_target(table, hierarchy, named), labels)
    if task != "auto":
        return FoundTarget(_build(table, task_target(task)), task)
    if not (declared or integers) and _says_nothing(table):
        return FoundTarget(None, task_named("none"))
    inferred = infer_task(table, declared=declared, integers=integers or written_so)
    target = _build(table, task_target(inferred))
    are_integers = integers or written_so
    doubts = () if declared else doubts_about(table, target, inferred, isinstance(y, Table), are_integers)
    return FoundTarget(target, inferred, doubts)


def infer_task(table: Table, declared: bool = False, integers: bool = False) -> str:
    """Return the task of a table of target columns.

    One column: a nominal one is a class; so is a numeric one whose known values are all whole numbers, unless
    ``declared``. Floats from 2^53 on are never classes: all of them are whole. Several: label sets where all are 0 or 1
    (undeclared numbers, or nominals with that domain), else classes where all are nominal or of integer type, else
    numbers, or mixed where some are nominal.

    Parameters
    ----------
    table : Table
        The target columns.
    declared : bool
        Whether numeric columns were declared as such (ARFF): then they stay numbers.
    integers : bool
        Whether all numeric columns are of integer type; whole numbers of float type do not make classes
        where there are several columns.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.infer import infer_task
    >>> from omnirank.data.table import Table
    >>> infer_task(Table.from_numeric(np.array([[1.0], [3.0]])))
    'classification'
    >>> infer_task(Table.from_numeric(np.array([[1.0], [3.0]])), declared=True)
    'regression'
    """
    nominal = table.is_nominal
    numbers = not nominal.any()
    if table.n_columns == 1:
        classes = not numbers or (not declared and _all_whole(table.column(0), integers))
        return task_named("classes" if classes else "numbers", single=True)
    as_declared = declared and not nominal.all()
    if not as_declared and _all_binary(table):
        return task_named("labels")
    if not as_declared and (nominal.all() or integers):
        return task_named("classes")
    return task_named("numbers" if numbers else "mixed")


def check_target(target: Target, task: str) -> None:
    """Raise an error where a ready-made target does not fit its task.

    Examples
    --------
    >>> from omnirank.data.infer import check_target, target_from
    >>> check_target(target_from(["a", "b"])[0], "classification")
    """
    if task not in TASKS or is_unsupervised(task):
        raise ParameterError("task", task, "it does not go with a ready-made Target")
    asked = task_target(task)
    if target.is_labels != (asked.kind == "labels"):
        has = "label sets" if target.is_labels else "no label sets"
        raise DataError(f"{setting('task', task)}, but the target holds {has}")
    _check_kinds(target.names, target.levels, asked)
    if asked.kind == "classes" and not target.is_nominal.all():
        number = target.names[int(np.argmin(target.is_nominal))]
        raise DataError(f"{setting('task', task)}, but target {number!r} is a number")


# -- what was asked for -------------------------------------------------------------------------------


def _check_request(y: Any, task: str, hierarchy: Hierarchy | None) -> None:
    asked = None if isinstance(task, str) and task == "auto" else task_target(task)
    if hierarchy is not None and not isinstance(hierarchy, Hierarchy):
        raise ParameterError("hierarchy", hierarchy, "give an om.Hierarchy")
    if asked is not None and hierarchy is not None and not asked.hierarchical:
        raise ParameterError("task", task, "it takes no hierarchy, but one was given")
    if asked is not None and asked.hierarchical and hierarchy is None:
        raise ParameterError("task", task, "it needs a hierarchy")
    if y is None and (hierarchy is not None or (asked is not None and asked.kind != "none")):
        what = setting("task", task) if hierarchy is None else "a hierarchy"
        raise ParameterError(
            f"{what} was given, but no y. It requires y to be passed, but the target y is None: give y, or leave both "
            "out to work without a target"
        )


def _check_kinds(names: Sequence[str], levels: Sequence[Levels | None], task: TaskTarget) -> None:
    if task.single and len(names) != 1:
        raise DataError(f"{setting('task', task.name)} takes one target, but there are {len(names)}")
    if task.kind != "numbers":
        return
    for name, own in zip(names, levels, strict=True):
        if own is not None:
            raise DataError(f"{setting('task', task.name)}, but target {name!r} is nominal, not a number")


# -- columns ------------------------------------------------------------------------------------------


class _Given(NamedTuple):
    """The target columns, whether all numeric ones are of integer type, and whether they have names."""

    table: Table
    integers: bool
    named: bool


def _read(y: Any, names: Sequence[str] | None) -> _Given:
    if isinstance(y, Table):
        return _Given(typed_table(y, names), False, True)
    if isinstance(y, pd.api.extensions.ExtensionArray | pd.Index):
        y = pd.Series(y)
    series = nw.from_native(y, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        y = nw.to_native(series.alias("y" if series.name in (None, "") else str(series.name)).to_frame())
    if is_frame(y):
        return _read_frame(y, names)
    if is_sparse(y):
        y = checked_sparse(y, "y")
        table = typed_table(y, numbered_names(y.shape[1], "y") if names is None else names)
        return _Given(table, y.dtype.kind in "iu", names is not None)
    return _read_array(as_array(y), names)


def _read_frame(y: Any, names: Sequence[str] | None) -> _Given:
    table = typed_table(y, names, "target")
    frame = nw.from_native(y, eager_only=True)
    numeric = [frame[:, i] for i in np.flatnonzero(~table.is_nominal).tolist()]
    integers = all(
        _all_integers(column.to_list()) if column.dtype == nw.Object else column.dtype.is_integer()
        for column in numeric
    )
    return _Given(table, integers, True)


def _read_array(array: np.ndarray, names: Sequence[str] | None) -> _Given:
    refuse_structured(array, "y")
    if array.ndim not in (1, 2):
        raise DataError(f"y should be a 1d or 2d array, got an array of shape {array.shape} instead.")
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    named = names is not None
    if names is None:
        names = ("y",) if array.shape[1] == 1 else numbered_names(array.shape[1], "y")
    integers = array.dtype.kind in "iu" or (array.dtype.kind == "O" and _all_integers(array.ravel().tolist()))
    return _Given(typed_table(array, names, "target"), integers, named)


def _all_integers(values: list[Any]) -> bool:
    """Whether all known values are of integer type (booleans are not numbers here and do not count)."""
    return all(isinstance(v, bool | np.bool_ | str | Integral) for v in values if not is_unknown(v))


def _refuse_inexact(table: Table) -> None:
    refuse_rounded(table, "target")
    if table.infinite_cell is not None:
        name, row = table.infinite_cell
        where = f"target {name!r}, row {row}"
        raise DataError(f"Input y contains infinity or a value too large for dtype('float64'): {where}")


def _says_nothing(table: Table) -> bool:
    """Whether no value is known and no levels are declared."""
    if any(table.levels) or table.n_rows == 0:
        return False
    return table.n_missing == table.n_rows * table.n_columns


def _all_whole(values: np.ndarray, integers: bool) -> bool:
    known = values[~np.isnan(values)]
    exact = integers or bool((np.abs(known) < LARGEST_EXACT).all())
    return exact and bool(np.array_equal(known, np.round(known)))


def _all_binary(table: Table) -> bool:
    values = table.matrix.data if table.is_sparse else table.numeric
    return not _is_odd_label(values).any() and all(is_binary(levels) for levels in table.levels if levels is not None)


# -- targets ------------------------------------------------------------------------------------------


def _build(table: Table, task: TaskTarget) -> Target:
    _check_kinds(table.names, table.levels, task)
    if task.kind == "labels":
        return label_target(table)
    return Target.from_table(_all_nominal(table) if task.kind == "classes" else table)


def _all_nominal(table: Table) -> Table:
    columns, levels = [], []
    for i, lev in enumerate(table.levels):
        cells = table.column(i)
        if lev is None:
            if (np.abs(cells) >= LARGEST_EXACT).any():
                raise DataError(
                    f"target {table.names[i]!r} holds numbers beyond 2**53, which floats cannot tell apart: "
                    "give classes as strings"
                )
            cells, lev = code_numbers(cells)
        columns.append(cells)
        levels.append(lev)
    return Table.from_columns(table.names, columns, levels)


def is_binary(levels: Levels) -> bool:
    """Whether levels are those of a label: 0 and 1, as numbers, strings or booleans.

    Examples
    --------
    >>> from omnirank.data.infer import is_binary
    >>> is_binary(("0", "1")), is_binary((False, True)), is_binary(("no", "yes"))
    (True, True, False)
    """
    return any(set(levels) <= domain for domain in _BINARY_DOMAINS)


def label_target(table: Table) -> Target:
    """Return 0/1 columns, numeric or nominal, as label sets, sparse where the table is.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.infer import label_target
    >>> from omnirank.data.table import Table
    >>> table = Table.from_columns(["a", "b"], [np.array([0, -1]), np.array([1.0, 0.0])], [("1", "0"), None])
    >>> label_target(table).values.tolist()
    [[1.0, 1.0], [nan, 0.0]]
    """
    for name, levels in zip(table.names, table.levels, strict=True):
        if levels is not None and not is_binary(levels):
            raise DataError(f"label {name!r} has the levels {levels[:5]}: a label is 0 or 1")
    _check_label_values(table)
    if table.is_sparse and not any(levels and levels[0] in (1, "1") for levels in table.levels):
        return Target.labels(table.matrix, table.names)
    values = np.empty((table.n_rows, table.n_columns))
    for i, levels in enumerate(table.levels):
        cells = table.column(i)
        # one place more: a missing code finds it
        ones = np.array([*(float(level in (1, "1")) for level in levels or ()), np.nan])
        values[:, i] = cells if levels is None else ones[cells]
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
    >>> from omnirank.data.infer import as_label_sets
    >>> as_label_sets([{"a"}, float("nan")]), as_label_sets([["a"], []]), as_label_sets(["a", "b"])
    ([{'a'}, None], [{'a'}, set()], None)
    """
    series = nw.from_native(y, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        y = np.fromiter(series.to_list(), object) if series.dtype in (nw.Object, nw.List) else None
    is_vector = isinstance(y, np.ndarray) and y.dtype == object and y.ndim == 1
    if not (isinstance(y, list | tuple) or is_vector):
        return None
    sets = [None if is_unknown(value) else value for value in y]
    known = [value for value in sets if value is not None]
    if known and all(isinstance(value, set | frozenset) for value in known):
        return sets
    rows = [value for value in known if isinstance(value, list | tuple | set | frozenset)]
    if not rows:
        return None
    if len(rows) == len(known) and not any(isinstance(row, set | frozenset) for row in rows):
        labels = {label for row in rows for label in row if isinstance(label, str)}
        strings = all(isinstance(label, str) for row in rows for label in row)
        ragged = len({len(row) for row in rows}) > 1
        if strings and (ragged or is_vector or (wanted and not labels <= {"0", "1"})):
            return [None if row is None else _as_set(row, i) for i, row in enumerate(sets)]
        if not ragged and len(rows) == len(sets) and not is_vector:
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
    >>> from omnirank.data.infer import target_of_sets
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
    >>> from omnirank.data.infer import hierarchical_target
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
