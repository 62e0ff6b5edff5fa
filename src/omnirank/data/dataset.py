"""A data set: typed features, a target of any task, names, and which examples are labelled."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from omnirank.core.errors import DataError, setting
from omnirank.core.immutable import PickledWithoutCaches
from omnirank.core.text import counted
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.columns import table_from
from omnirank.data.containers import FeaturesLike, TargetLike, annotated_target
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.infer import check_target, read_target
from omnirank.data.notes import Remarks
from omnirank.data.resampling import (
    checked_groups,
    copy_groups,
    first_rows,
    hidden_examples,
    numbered,
    part_size,
    random_part,
)
from omnirank.data.table import Table, chosen_numbers, is_sparse, refuse_rounded
from omnirank.data.target import Target
from omnirank.data.task_registry import task_target

# Cells that are hashed at a time: few enough to stay in the processor's cache.
_HASHED_BYTES = 1 << 18


class Dataset(PickledWithoutCaches):
    """Features and a target of any task, with all, some or no examples labelled.

    Parameters
    ----------
    X : array-like, scipy.sparse container, data frame, Table or AnnData
        The features. Numbers are numeric; categoricals, strings and booleans are nominal; NaN, None and NA
        are missing. In a sparse matrix an absent cell is 0 and a stored NaN is missing. Numbers stay float32
        where all are. A float array is not copied: changing it later changes the data set.
    y : array-like, data frame, scipy.sparse container, sequence of sets, Target or None
        The target; NaN, None and NA mean unlabelled (-1 is a value). None: no target at all. Of an AnnData object, also
        the name of a column of ``obs``.
    task : str
        One of "classification", "multi-target-classification", "regression", "multi-target-regression",
        "multi-label", "hierarchical-multi-label", "mixed-targets", "clustering", or "auto" to infer it.
    hierarchy : Hierarchy, optional
        Order of the labels; label sets are closed under ancestors.
    feature_names, target_names : sequence of str, optional
        Names; by default those of the data frame, else x0, x1, ... and y (y1, y2, ...).
    nominal : sequence of int or str, optional
        Features (positions from 0, or names) to be taken as nominal although they hold numbers.
    feature_groups : mapping of str to str, optional
        Group of each feature, for grouped importances.
    name : str
        What the data set is called in reports.

    Attributes
    ----------
    source : FileSource or None
        The file that it was read from (`omnirank.load`), with the options; None for other data and for parts of a file.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> data = om.Dataset(np.array([[0.1, 1.0], [0.5, 0.0], [0.2, 1.0]]), ["a", None, "b"])
    >>> data.task, data.n_examples, data.labelled.tolist()
    ('classification', 3, [True, False, True])
    >>> data.take([0, 2]).y.tolist()
    ['a', 'b']
    """

    # set by what reads it; views are not the file
    source: FileSource | None = None
    task: str
    hierarchy: Hierarchy | None
    name: str
    feature_groups: dict[str, str]
    _remarks: Remarks
    _given_groups: np.ndarray | None
    _all_features: Table
    _feature_rows: np.ndarray | None
    _all_target: Target | None
    _target_rows: np.ndarray | None

    def __init__(
        self,
        X: FeaturesLike,
        y: TargetLike | None = None,
        *,
        task: str = "auto",
        hierarchy: Hierarchy | None = None,
        feature_names: Sequence[str] | None = None,
        target_names: Sequence[str] | None = None,
        nominal: Sequence[int | str] | None = None,
        feature_groups: Mapping[str, str] | None = None,
        name: str = "data",
    ) -> None:
        features = table_from(X, feature_names, nominal)
        y = annotated_target(X, y)
        refuse_rounded(features)
        target = y if isinstance(y, Target) else None
        doubts: tuple[str, ...] = ()
        if target is None:
            target, task, doubts = read_target(y, task, hierarchy, target_names)
            if target is None and y is not None:  # no value is known, but there is one per example
                n_values = _n_values(y)
                if n_values != features.n_rows:
                    raise DataError(f"X has {counted(features.n_rows, 'row')}, y has {n_values}")
        else:
            check_target(target, task)
        if target is not None and target.n_examples != features.n_rows:
            raise DataError(f"X has {counted(features.n_rows, 'row')}, y has {target.n_examples}")
        if target is not None and hierarchy is not None and target.names != hierarchy.labels:
            raise DataError("the target's names are not the labels of the hierarchy, in their order")
        unknown = set(feature_groups or {}) - set(features.names)
        if unknown:
            raise DataError(f"feature_groups names {sorted(unknown)[0]!r}, which is no feature")
        checked = Dataset._of_checked(features, target, task, hierarchy, name, Remarks(doubts=doubts))
        self.__dict__.update(checked.__dict__, feature_groups=dict(feature_groups or {}))

    @classmethod
    def _of_checked(
        cls, features: Table, target: Target | None, task: str, hierarchy: Hierarchy | None, name: str, remarks: Remarks
    ) -> Dataset:
        """A data set of cells that a reader has checked: they are finite or missing, and fit the target and task."""
        dataset = cls.__new__(cls)
        dataset.task, dataset.hierarchy, dataset.name = task, hierarchy, name
        dataset.feature_groups = {}
        dataset._remarks = remarks
        dataset._given_groups = None
        dataset._all_features, dataset._feature_rows = features, None
        dataset._all_target, dataset._target_rows = target, None
        return dataset

    def _view(self, **changes: Any) -> Dataset:
        """A data set that shares everything with this one but what is changed."""
        view = Dataset.__new__(Dataset)
        view.__dict__.update(self.__getstate__() | {"source": None} | changes)
        return view

    # -- the parts ----------------------------------------------------------------------------------

    @cached_property
    def features(self) -> Table:
        """The features as a typed table (of this view's rows)."""
        if self._feature_rows is None:
            return self._all_features
        return self._all_features.take(self._feature_rows)

    @cached_property
    def target(self) -> Target | None:
        """The target (of this view's rows), or None."""
        if self._all_target is None or self._target_rows is None:
            return self._all_target
        return self._all_target.take(self._target_rows)

    @property
    def X(self) -> Any:
        """The features: an array, a DataFrame where some are nominal, or a sparse matrix (nominals coded)."""
        table = self.features
        if table.is_sparse:
            return table.matrix
        return table.to_frame() if table.is_nominal.any() else table.numeric

    @property
    def y(self) -> Any:
        """The target as users write it: classes, numbers, a matrix, label sets; None without target."""
        return None if self.target is None else self.target.to_array()

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features."""
        return self._all_features.names

    @property
    def target_names(self) -> tuple[str, ...]:
        """Names of the targets or labels."""
        return () if self._all_target is None else self._all_target.names

    @property
    def n_examples(self) -> int:
        """Number of examples."""
        return self._all_features.n_rows if self._feature_rows is None else len(self._feature_rows)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self._all_features.n_columns

    @property
    def n_targets(self) -> int:
        """Number of targets or labels."""
        return 0 if self._all_target is None else self._all_target.n_targets

    @cached_property
    def labelled(self) -> np.ndarray:
        """Mask of the examples with at least one known target value."""
        return np.zeros(self.n_examples, bool) if self.target is None else self.target.labelled

    @cached_property
    def groups(self) -> np.ndarray | None:
        """Group of each example, as `with_groups` gave them; else copies share one. None: each example on its own."""
        return copy_groups(self.features, self.target) if self._given_groups is None else self.given_groups

    @property
    def given_groups(self) -> np.ndarray | None:
        """The groups that `with_groups` gave, if any of them has several examples."""
        given, rows = self._given_groups, self._feature_rows
        return None if given is None else numbered(given if rows is None else given[rows])

    def with_groups(self, groups: ArrayLike) -> Dataset:
        """Return the data set with groups of examples that belong together: repeated measurements, patients, sites.

        Bootstraps, halves and folds draw whole groups, and p values take groups as independent, not examples. By
        default, copies form groups: examples with the same features and target, see
        `omnirank.data.resampling.copy_groups`.

        Parameters
        ----------
        groups : array-like of shape (n_examples,)
            Group of each example: numbers or names.

        Examples
        --------
        >>> import omnirank as om
        >>> data = om.Dataset([[1.0], [2.0], [3.0]], ["a", "b", "a"])
        >>> data.with_groups(["Ann", "Bob", "Ann"]).groups.tolist()
        [0, 1, 0]
        """
        given = checked_groups(groups, self.n_examples)
        own = {"_all_features": self.features, "_all_target": self.target, "_feature_rows": None, "_target_rows": None}
        return self._view(_given_groups=given, **own)

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know before trusting a result: how a file was read, a doubtful task, features that are traps."""
        return (*self._remarks.of_reader, *self._remarks.warnings(self), *self._remarks.hints(self))

    def __len__(self) -> int:
        return self.n_examples

    def __repr__(self) -> str:
        return (
            f"<Dataset {self.name!r}: {counted(self.n_examples, 'example')}, {counted(self.n_features, 'feature')}, "
            f"{self.task}, {counted(self.n_targets, 'target')}, {int(self.labelled.sum())} labelled>"
        )

    # -- views --------------------------------------------------------------------------------------

    def take(self, rows: Any) -> Dataset:
        """Return a view of the given rows; cells are copied only when they are used.

        Parameters
        ----------
        rows : slice, mask or sequence of int
            Row numbers from 0, negative ones from the end; a row may be taken twice.

        Examples
        --------
        >>> import omnirank as om
        >>> data = om.Dataset([[1.0], [2.0], [3.0]], ["a", "b", "c"])
        >>> data.take([-1, 0]).y.tolist(), data.take(slice(1, None)).X.tolist()
        (['c', 'a'], [[2.0], [3.0]])
        """
        chosen = chosen_numbers(rows, self.n_examples)
        return self._view(
            _feature_rows=_rows_of_rows(self._feature_rows, chosen),
            _target_rows=_rows_of_rows(self._target_rows, chosen),
        )

    def hide_labels(self, rows: Any) -> Dataset:
        """Return a new data set in which the given examples (slice, mask or row numbers) are unlabelled.

        Examples
        --------
        >>> import omnirank as om
        >>> om.Dataset([[1.0], [2.0]], ["a", "b"]).hide_labels([0]).labelled.tolist()
        [False, True]
        """
        if self.target is None:
            raise DataError("there are no labels to hide: the data set has no target")
        hidden = self.target.hide(chosen_numbers(rows, self.n_examples))
        return self._view(_all_target=hidden, _target_rows=None)

    def keep_labels(self, labelled: int | float, random_state: RandomState = None) -> Dataset:
        """Return a new data set in which only a number or a share of the examples, drawn at random, stay labelled.

        Examples
        --------
        >>> import omnirank as om
        >>> int(om.datasets.load_sample("digits").keep_labels(50, random_state=0).labelled.sum())
        50
        """
        return self.hide_labels(hidden_examples(self.labelled, labelled, random_state))

    def _with_target(self, target: Target | None, task: str) -> Dataset:
        """Return the data set with another target (of as many examples) or none, and no hierarchy."""
        return self._view(task=task, hierarchy=None, _all_target=target, _target_rows=None)

    def split(
        self, share: float = 2 / 3, *, random_state: RandomState = None, stratify: bool = True
    ) -> tuple[Dataset, Dataset]:
        """Return two views with ``share`` and the rest of the examples, drawn at random, in the old order.

        Groups of examples (`Dataset.groups`: copies, by default) stay in one part.

        Parameters
        ----------
        share : float
            Share of the first part, rounded down to whole examples; where there are groups, the share of these.
        random_state : None, int, RandomState or Generator
            The seed.
        stratify : bool
            Whether both parts have the same share of unlabelled examples and, in classification, of each
            class, up to one example; a group counts by its first example.

        Examples
        --------
        >>> import omnirank as om
        >>> data = om.Dataset([[float(i)] for i in range(10)], ["a", "b"] * 5)
        >>> train, test = data.split(0.8, random_state=0)
        >>> len(train), sorted(test.y.tolist())
        (8, ['a', 'b'])
        """
        groups = whole_groups(self, 2)
        groups = np.arange(self.n_examples) if groups is None else groups
        of_groups = strata(self)[first_rows(groups)] if stratify else np.zeros(groups.max() + 1)
        chosen = random_part(of_groups, part_size(len(of_groups), share), random_state)[groups]
        return self.take(chosen), self.take(~chosen)

    def select_features(self, features: Sequence[int | str] | np.ndarray) -> Dataset:
        """Return a data set with the given features only, in that order.

        Parameters
        ----------
        features : sequence of int or str, or mask
            Positions from 0 (negative ones from the end), names, or one bool per feature.

        Examples
        --------
        >>> import omnirank as om
        >>> om.Dataset([[1, 2, 3]], feature_names=["a", "b", "c"]).select_features(["c", "a"]).X.tolist()
        [[3.0, 1.0]]
        """
        if isinstance(features, str) or not isinstance(features, Iterable):
            raise DataError(f"{setting('features', features)}: give a list of names or positions")
        named = [self._all_features.index(f) if isinstance(f, str) else f for f in features]
        table = self._all_features.select(chosen_numbers(named, self.n_features, "feature"))
        groups = {name: group for name, group in self.feature_groups.items() if name in set(table.names)}
        return self._view(_all_features=table, feature_groups=groups, _remarks=self._remarks.for_features(table.names))

    # -- what is in it ------------------------------------------------------------------------------

    def describe(self) -> dict[str, Any]:
        """Return the facts about the data set as a flat dictionary, in reading order.

        Examples
        --------
        >>> import omnirank as om
        >>> om.datasets.load_sample("linnerud").describe()["task"]
        'multi-target-regression'
        """
        table, target = self.features, self.target
        facts = common_facts(self, table.is_nominal, int(self.labelled.sum()), table.n_missing)
        facts |= {"partly labelled": 0, "sparse": table.is_sparse}
        if table.is_sparse:
            facts["density"] = table.matrix.nnz / max(1, table.n_rows * table.n_columns)
        if target is not None:
            facts |= self._describe_target(target)
        return facts

    def _describe_target(self, target: Target) -> dict[str, Any]:
        values = target.values
        facts: dict[str, Any] = {"partly labelled": target.n_partly_labelled}
        if task_target(self.task).is_one_class:
            levels = target.levels[0] or ()
            codes = values[target.labelled, 0].astype(int)
            counts = np.bincount(codes, minlength=len(levels)).tolist()
            facts["classes"] = {str(level): count for level, count in zip(levels, counts, strict=True)}
        if target.is_labels:
            n_labelled = max(1, int(target.labelled.sum()))
            cells = values.data if target.is_sparse else values
            facts["label cardinality"] = float(np.nansum(cells)) / n_labelled
        if self.hierarchy is not None:
            facts |= self.hierarchy.describe()
        return facts

    @cached_property
    def fingerprint(self) -> str:
        """Hash of task, names, types, cells and target, whatever the order of the cells in memory.

        Examples
        --------
        >>> import numpy as np
        >>> import omnirank as om
        >>> X = np.arange(6.0).reshape(2, 3)
        >>> om.Dataset(X).fingerprint == om.Dataset(np.asfortranarray(X)).fingerprint
        True
        """
        groups = None if self._given_groups is None else (np.zeros(0) if self.groups is None else self.groups)
        return fingerprint_of(self.features, self.target, self.task, self.hierarchy, groups)


def common_facts(data: Any, is_nominal: np.ndarray, n_labelled: int, n_missing: int) -> dict[str, Any]:
    """Return what `describe` tells of data in memory and in parts."""
    return {
        "name": data.name,
        "task": data.task,
        "examples": data.n_examples,
        "labelled": n_labelled,
        "features": data.n_features,
        "numeric features": int((~is_nominal).sum()),
        "nominal features": int(is_nominal.sum()),
        "missing cells": n_missing,
        "missing share": n_missing / max(1, data.n_examples * data.n_features),
        "targets": data.n_targets,
    }


def _n_values(y: Any) -> int:
    """Number of rows of a y of any kind."""
    if isinstance(y, Table):
        return y.n_rows
    return int(y.shape[0]) if hasattr(y, "shape") else len(y if hasattr(y, "__len__") else np.asarray(y))


def strata(dataset: Dataset) -> np.ndarray:
    """Return the number of the stratum of each example: its class in classification, else whether it is labelled."""
    if dataset.target is not None and task_target(dataset.task).is_one_class:
        return np.nan_to_num(dataset.target.values[:, 0], nan=-1.0)
    return dataset.labelled.astype(np.float64)


def whole_groups(dataset: Any, n_parts: int) -> np.ndarray | None:
    """Return the groups of examples that stay together; copies do if there are at least as many groups.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.data.dataset import whole_groups
    >>> whole_groups(om.Dataset([[1.0], [2.0], [3.0]]).with_groups(["Ann", "Bob", "Ann"]), 2).tolist()
    [0, 1, 0]
    """
    groups: np.ndarray | None = getattr(dataset, "groups", None)  # data of several tables have none
    if groups is None or groups.max() + 1 >= n_parts:
        return groups
    if dataset.given_groups is None:
        return None
    raise DataError(
        f"{n_parts} folds need as many groups, there are {groups.max() + 1}: lower n_folds (a split needs 2 groups)"
    )


def _rows_of_rows(rows: np.ndarray | None, chosen: np.ndarray) -> np.ndarray:
    return chosen if rows is None else rows[chosen]


def join_examples(parts: Sequence[Dataset]) -> Dataset:
    """Return the examples of all parts, one part after the other, as one data set.

    Parameters
    ----------
    parts : sequence of Dataset
        At least one. All must have the same features, levels, targets, task and hierarchy, as the parts of a published
        data set do. Nothing is converted here: any difference is an error.

    Returns
    -------
    Dataset
        With the name of the first.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.data.dataset import join_examples
    >>> train, valid = om.datasets.load_sample("iris").split(0.5, random_state=0)
    >>> join_examples([train, valid]).n_examples
    150
    """
    first, *others = parts
    for number, other in enumerate(others, start=2):
        different = _difference(first, other)
        if different:
            raise DataError(f"part {number} ({other.name!r}) cannot follow {first.name!r}: {different}")
    if not others:
        return first
    targets = [part.target for part in parts if part.target is not None]
    joined = Dataset._of_checked(
        Table.joined([part.features for part in parts]),
        Target.joined(targets) if targets else None,
        first.task,
        first.hierarchy,
        first.name,
        Remarks(),
    )
    joined.feature_groups = dict(first.feature_groups)
    return joined


def _difference(first: Dataset, other: Dataset) -> str:
    """Why the parts cannot be joined, in words."""
    a, b, y, z = first.features, other.features, first.target, other.target
    compared = {
        f"one is made for {first.task}, the other for {other.task}": first.task != other.task,
        "their features differ in names, order, levels or dates": (a.names, a.levels, a.dates)
        != (b.names, b.levels, b.dates),
        "one is sparse, the other dense": a.is_sparse != b.is_sparse,
        "their hierarchies differ": first.hierarchy != other.hierarchy,
        "their targets differ in names, order or levels": (y and (y.names, y.levels)) != (z and (z.names, z.levels)),
    }
    return next((text for text, differ in compared.items() if differ), "")


def fingerprint_of(
    table: Table, target: Target | None, task: str, hierarchy: Hierarchy | None, groups: np.ndarray | None = None
) -> str:
    """Return a hash of task, names, types, cells and target, and of the groups of examples that are given.

    Examples
    --------
    >>> from omnirank.data.columns import table_from
    >>> from omnirank.data.dataset import fingerprint_of
    >>> zeros = [table_from([[zero]]) for zero in (0.0, -0.0)]
    >>> len({fingerprint_of(table, None, "clustering", None) for table in zeros})
    1
    """
    digest = hashlib.sha256()  # processors have instructions for it: twice as fast as others
    of_target, target_arrays = target_parts(target, hierarchy)
    digest.update(repr([task, table.names, table.levels, *of_target]).encode())
    arrays = _parts(table.matrix) if table.is_sparse else [table.numeric, table.codes]
    hash_arrays(digest, [*arrays, *target_arrays, *([] if groups is None else [groups])])
    return digest.hexdigest()[:32]


def target_parts(target: Target | None, hierarchy: Hierarchy | None) -> tuple[list[Any], list[np.ndarray]]:
    """Return what a hash of a target is made of: facts, of which the text counts, and arrays."""
    facts: list[Any] = [] if target is None else [target.names, target.levels]
    arrays = [] if target is None else [*_parts(target.values), target.labelled]
    return facts if hierarchy is None else [*facts, hierarchy.parents], arrays


def hash_arrays(digest: Any, arrays: Sequence[np.ndarray]) -> None:
    """Add arrays to a hash, however their cells lie in memory."""
    for array in arrays:
        digest.update(repr((array.dtype.str, array.shape)).encode())
        step = max(1, _HASHED_BYTES // max(1, array[:1].nbytes))
        for start in range(0, len(array), step):
            digest.update(_canonical(array[start : start + step]).data)


def _parts(values: Any) -> list[np.ndarray]:
    """The arrays that hold a matrix; the integer type of sparse indices says nothing about the data."""
    if not is_sparse(values):
        return [values]
    return [values.indptr.astype(np.int64), values.indices.astype(np.int64), values.data]


def _canonical(cells: np.ndarray) -> np.ndarray:
    """Equal cells as equal bytes in the order of rows: one zero and one NaN, though floats have several of both."""
    if cells.dtype.kind != "f":
        return np.ascontiguousarray(cells)
    cells = np.add(cells, cells.dtype.type(0), order="C")
    unknown = np.isnan(cells)
    if unknown.any():
        cells[unknown] = np.nan
    return cells


@dataclass(frozen=True)
class FileSource:
    """A file and the options with which it was read.

    Parameters
    ----------
    path : str
        The file, as it was given.
    options : mapping
        The arguments of `omnirank.load` that were not left at their defaults.
    """

    path: str
    options: Mapping[str, Any]
