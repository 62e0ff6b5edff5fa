r"""Features that predict a target on their own, found by how much the target changes along the feature.

Sorted by a feature, a target that it predicts hardly changes from one example to the next. Let :math:`D` be half the
mean squared difference of the ranks of successive examples (for classes, the share of successive examples of different
classes), relative to its expectation in random order: the variance of the ranks, or the Gini index. :math:`D` is about
1 for an unrelated feature and about 0 for one that predicts perfectly (compare S. Chatterjee, A new coefficient of
correlation, JASA 116, 2021). Between examples of different values only those pairs count of which
both values are unique, since levels have no order; of a feature with unique values that separates k classes, k - 1
changes are allowed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from omnirank.data.table import Table
from omnirank.data.target import Target

_LEAST_LABELLED = 30
_MOST_TARGETS = 16
# All features are looked at in so many examples, suspects in more.
_SCREENED = (32, 128)
_VERIFIED = 2000
_CHUNK = 200_000
_MOST_SUSPECTS = 100
_SUSPECT = 0.1
# The greatest D of a leak, of classes and of numbers: about one example in a hundred wrong, 0.05 % of variance.
_CLASSES_LEAK = 0.02
_NUMBERS_LEAK = 0.0005
# Numbers along unique numbers must be monotone as well: in time series every slow series follows every other.
_MONOTONE = 0.999
# Classes must be expected to change this often for a lack of changes to mean something.
_LEAST_CHANGES = 8


class _Variable(NamedTuple):
    """A target variable in some examples: its codes or ranks, and their Gini index or variance."""

    number: int
    values: np.ndarray
    spread: float
    n_classes: int  # 0: numbers


def leaking_features(features: Table, target: Target) -> list[tuple[int, int]]:
    """Return the features that predict a target variable nearly perfectly, each with that variable.

    Parameters
    ----------
    features : Table
        The features; sparse ones are not searched.
    target : Target
        The target. Of many variables the first 16 are looked at, of labels the most frequent.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.data.notes.leaks import leaking_features
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> data = om.Dataset(X, X[:, 1] ** 3)
    >>> leaking_features(data.features, data.target)
    [(1, 0)]
    """
    rows = np.flatnonzero(target.labelled)
    if len(rows) < _LEAST_LABELLED or not features.n_columns or features.is_sparse:
        return []
    # In random order, so that examples with equal values of a feature are in random order too.
    rows = np.random.default_rng(0).choice(rows, min(len(rows), _VERIFIED), replace=False)
    numbers = _most_frequent(target, _MOST_TARGETS)
    values = target.take(rows).select(numbers).dense()
    n_screened = int(np.clip(5 * len(target.levels[0] or ()), *_SCREENED))
    screened = _balanced(values[:, 0], n_screened) if target.is_nominal[0] else np.arange(len(rows))[:n_screened]
    suspects = _suspects(features, rows[screened], _variables(target, values[screened], numbers))
    verified = {variable.number: variable for variable in _variables(target, values, numbers)}
    leaks: dict[int, int] = {}
    for f, t in suspects:
        if f not in leaks and t in verified and _leaks(features.column(f)[rows], verified[t]):
            leaks[f] = t
    return sorted(leaks.items())


def _most_frequent(target: Target, most: int) -> np.ndarray:
    """Numbers of the variables to be looked at."""
    if not target.is_labels or target.n_targets <= most:
        return np.arange(min(target.n_targets, most))
    counts = (target.values > 0).sum(axis=0)
    return np.sort(np.argsort(-counts, kind="stable")[:most])


def _balanced(codes: np.ndarray, n: int) -> np.ndarray:
    """Positions of n examples, of all classes as many as there are: a rare class ought not to be missed."""
    by_class = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[by_class], codes[by_class])
    turn = np.empty(len(codes), np.intp)
    turn[by_class] = np.arange(len(codes)) - starts
    return np.argsort(turn, kind="stable")[:n]


def _variables(target: Target, values: np.ndarray, numbers: np.ndarray) -> Iterator[_Variable]:
    """The variables that vary enough in these examples."""
    for number, cells in zip(numbers.tolist(), values.T, strict=True):
        if np.isnan(cells).any():
            continue
        if not target.is_nominal[number] and not target.is_labels:
            ranks = pd.Series(cells).rank().to_numpy()
            if ranks.var() > 0:
                yield _Variable(number, ranks, float(ranks.var()), 0)
            continue
        shares = np.bincount(cells.astype(np.intp)) / len(cells)
        gini, n_classes = float(1 - np.sum(shares**2)), int((shares > 0).sum())
        if gini * len(cells) >= max(_LEAST_CHANGES, 3 * n_classes):
            yield _Variable(number, cells, gini, n_classes)


def _suspects(features: Table, rows: np.ndarray, variables: Iterator[_Variable]) -> list[tuple[int, int]]:
    """Pairs of a feature and a variable that it may predict."""
    looked_for = list(variables)
    pairs: list[tuple[int, int]] = []
    width = max(1, _CHUNK // len(rows))
    for start in range(0, features.n_columns if looked_for else 0, width):
        cells = _cells(features, rows, start, min(start + width, features.n_columns))
        order = np.argsort(cells, axis=1, kind="stable")
        counted = _counted_pairs(np.take_along_axis(cells, order, axis=1))
        for variable in looked_for:
            change = _change_along(variable, order, *counted)
            pairs += [(start + f, variable.number) for f in np.flatnonzero(change <= _SUSPECT).tolist()]
    return pairs[:_MOST_SUSPECTS]


def _cells(features: Table, rows: np.ndarray, start: int, stop: int) -> np.ndarray:
    """Some features, one in a row, in some examples; levels as their codes."""
    cells = np.empty((stop - start, len(rows)))
    nominal, slots = features.is_nominal[start:stop], features.slots[start:stop]
    for chosen, block in ((~nominal, features.numeric), (nominal, features.codes)):
        if chosen.any():
            cells[chosen] = block[np.ix_(rows, slots[chosen])].T
    return cells


def _counted_pairs(ordered: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which successive cells have the same value, and which have values that no other cell has."""
    left, right = ordered[:, :-1], ordered[:, 1:]
    tied = (left == right) | (np.isnan(left) & np.isnan(right))
    beside = np.zeros_like(tied)
    beside[:, 1:] |= tied[:, :-1]
    beside[:, :-1] |= tied[:, 1:]
    return tied, ~(tied | beside)


def _change_along(variable: _Variable, order: np.ndarray, tied: np.ndarray, unique: np.ndarray) -> np.ndarray:
    """D of each row of the order; infinite where fewer than half of the pairs count."""
    values = variable.values[order]
    n_counted = np.count_nonzero(tied, axis=1) + np.count_nonzero(unique, axis=1)
    if variable.n_classes:
        change = values[:, 1:] != values[:, :-1]
        between = np.count_nonzero(change & unique, axis=1)
        changes = np.count_nonzero(change & tied, axis=1) + np.maximum(0, between - (variable.n_classes - 1))
    else:
        changes = (np.square(np.diff(values)) / 2).sum(axis=1, where=tied | unique)
    enough = 2 * n_counted >= order.shape[1] - 1
    return np.where(enough, changes / (np.maximum(n_counted, 1) * variable.spread), np.inf)


def _leaks(cells: np.ndarray, variable: _Variable) -> bool:
    column = cells.astype(np.float64)[None, :]
    order = np.argsort(column, axis=1, kind="stable")
    counted = _counted_pairs(np.take_along_axis(column, order, axis=1))
    change = _change_along(variable, order, *counted)
    if variable.n_classes:
        return bool(change[0] <= _CLASSES_LEAK)
    # a strictly monotone function of n examples has D = 6 / n^2
    if change[0] > _NUMBERS_LEAK + 8 / len(cells) ** 2:
        return False
    in_order = variable.values[order[0]]
    return (
        bool(2 * counted[0].sum() > len(cells)) or abs(np.corrcoef(in_order, np.arange(len(cells)))[0, 1]) > _MONOTONE
    )
