"""Groups of examples that belong together, copies among them; random parts and resamples of the examples."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.parameters import check, count, share
from omnirank.core.seeds import root_entropy
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.table import Table, is_sparse
from omnirank.data.target import Target

# Rows are copies where they coincide more than this many times as often as chance explains, beyond doubt.
_MORE_THAN_CHANCE = 1.2
_SURPRISING = 0.05
# Columns that are looked at first: most data have no two rows with the same values in them.
_FIRST_COLUMNS = 8
# Rows by which it is told how well a feature distinguishes rows.
_LOOKED_AT = 200
_SHIFT = np.uint64(32)
# Share of examples that repeat others from which on a note says so, and the examples it takes.
WORTH_A_NOTE = 0.05
_LEAST_EXAMPLES = 20


def part_size(n: int, share: float) -> int:
    """Return how many of n examples a share is, rounded down; at least one is in the part, and one is not.

    Examples
    --------
    >>> from omnirank.data.resampling import part_size
    >>> part_size(100, 0.29)
    29
    """
    # 0.29 * 100 = 28.999999999999996 means 29
    size = int(np.floor(share * n + 1e-9))
    if not 0 < size < n:
        raise ParameterError("share", share, f"of {n} examples, both parts need at least one example")
    return size


def random_part(strata: np.ndarray, size: int, random_state: RandomState = None) -> np.ndarray:
    """Return a mask of so many examples, drawn at random; each stratum has its share, up to one example.

    Parameters
    ----------
    strata : ndarray of shape (n_examples,)
        Number of the stratum of each example; all the same where there are none.
    size : int
        Number of examples in the part.
    random_state : None, int, RandomState or Generator
        The seed.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.resampling import random_part
    >>> chosen = random_part(np.array([0, 0, 1, 1, 1, 1]), 3, 0)
    >>> int(chosen[:2].sum()), int(chosen[2:].sum())
    (1, 2)
    """
    n = len(strata)
    rng = np.random.default_rng(root_entropy(random_state))
    order = rng.permutation(n)
    order = order[np.argsort(strata[order], kind="stable")]
    # Every (n / size)-th example in this order, from a random start: a stratum is off by one at most.
    steps = (np.arange(n + 1) + rng.integers(n)) * size // n
    chosen = np.zeros(n, bool)
    chosen[order[np.diff(steps) > 0]] = True
    return chosen


def resampled_rows(
    strata: np.ndarray, share: float | None, rng: np.random.Generator, groups: np.ndarray | None = None
) -> np.ndarray:
    """Return the rows of a subsample (a share of the examples), or of a bootstrap sample, in ascending order.

    Parameters
    ----------
    strata : ndarray of shape (n_examples,)
        Number of the stratum of each example: each has its share in a subsample, and its size in a bootstrap sample.
    share : float or None
        Share of the examples in a subsample; None: a bootstrap sample.
    rng : Generator
        The random stream.
    groups : ndarray of shape (n_examples,), optional
        Number of the group of each example: whole groups are drawn, by the stratum of their first example.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.resampling import resampled_rows
    >>> classes = np.array([0, 0, 1, 1, 1, 1])
    >>> [classes[resampled_rows(classes, share, np.random.default_rng(0))].tolist() for share in (0.5, None)]
    [[0, 1, 1], [0, 0, 1, 1, 1, 1]]
    """
    if groups is not None:
        drawn = resampled_rows(strata[first_rows(groups)], share, rng)
        return np.repeat(np.arange(len(groups)), np.bincount(drawn, minlength=groups.max() + 1)[groups])
    if share is not None:
        return np.flatnonzero(random_part(strata, part_size(len(strata), share), rng))
    rows = [rng.choice(own, len(own)) for own in (np.flatnonzero(strata == value) for value in np.unique(strata))]
    return np.sort(np.concatenate(rows))


def first_rows(groups: np.ndarray) -> np.ndarray:
    """Return the first row of each group.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.resampling import first_rows
    >>> first_rows(np.array([0, 1, 0, 2])).tolist()
    [0, 1, 3]
    """
    return np.asarray(np.unique(groups, return_index=True)[1])


def hidden_examples(labelled: np.ndarray, amount: Any, random_state: RandomState = None) -> np.ndarray:
    """Return the row numbers of the labelled examples that lose their label when ``amount`` of them keep it.

    With the same seed, examples that keep their label at a smaller amount also keep it at a larger one.

    Parameters
    ----------
    labelled : ndarray of bool
        Which examples are labelled.
    amount : int or float
        How many of these, or which share of these, keep their label.
    random_state : None, int, RandomState or Generator
        The seed.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.resampling import hidden_examples
    >>> len(hidden_examples(np.ones(10, bool), 3, random_state=0)), len(hidden_examples(np.ones(10, bool), 0.2))
    (7, 8)
    """
    n = int(labelled.sum())
    check("labelled", amount, count(0, n, "labelled examples") | share(above=0))
    kept = int(amount) if isinstance(amount, Integral) else max(1, round(float(amount) * n))
    order = np.random.default_rng(root_entropy(random_state)).permutation(np.flatnonzero(labelled))
    return np.sort(order[kept:])


# -- groups -------------------------------------------------------------------------------------------


def copy_groups(features: Table, target: Target | None) -> np.ndarray | None:
    """Return the group of each row, copies sharing one, by first row; None where rows coincide by chance at most.

    Copies have the same cells and the same target (missing cells are equal, and an unlabelled row may be a copy of a
    labelled one). Rows with few values coincide by chance, and are examples of their own. The number of pairs of equal
    rows that chance explains is the larger of two:

    * pairs that are equal in the first features, times pairs that are equal in the others, over all pairs, where one of
      both has the same target, too; each part of the features has half of their information;
    * pairs with the same features and different targets, times the odds that two targets are equal.

    Rows count as copies if the pairs clearly exceed that number, times 1.2, times the examples for each group: if so
    many have a probability below 0.05 in a Poisson distribution with this mean. Where groups are few, a mistake costs
    much power, so the evidence has to be strong: copies among rows of few values (six binary features) pass unnoticed.

    Parameters
    ----------
    features : Table
        The features.
    target : Target or None
        The target.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.resampling import copy_groups
    >>> from omnirank.data.table import Table
    >>> measured = np.random.default_rng(0).normal(size=(8, 2))
    >>> copy_groups(Table.from_numeric(np.vstack([measured, measured[:1]])), None).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 0]
    >>> copy_groups(Table.from_numeric(np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0], [0.0, 1.0]])), None) is None
    True
    """
    from scipy.special import gammainc

    n = features.n_rows
    if not features.is_sparse and len(np.unique(_row_keys(features, _FIRST_COLUMNS))) == n:
        return None
    keys = _row_keys(features, features.n_columns)
    same = _numbers(keys)
    labelled = np.zeros(n, bool) if target is None else target.labelled
    answer = np.zeros(n, np.int64)
    if target is not None:
        answer[labelled] = _numbers(_matrix_keys(target.values, np.arange(target.n_targets)))[labelled] + 1
    answered = answer.copy()
    known, first = np.unique(same[labelled], return_index=True)
    whose = np.zeros(n, np.int64)
    whose[known] = answer[labelled][first]
    answered[~labelled] = whose[same[~labelled]]
    groups = numbered(_joined(same, answered))
    if groups is None:
        return None
    half = _row_keys(features, _first_half(features))
    halves = half, keys - half  # keys are sums over columns
    one, other = map(_pairs, halves)
    one_told, other_told = (_pairs(_joined(keys, answer)) for keys in halves)
    by_halves = max(one_told * other, one * other_told) / _pairs(np.zeros(n))
    chance = max(by_halves, _by_target(same[labelled], answer[labelled])) * _MORE_THAN_CHANCE * n / (groups.max() + 1)
    return groups if gammainc(_pairs(groups), chance) < _SURPRISING else None


def _first_half(features: Table) -> int:
    """Number of the first features that distinguish rows about as well as the others do."""
    some = features.take(slice(_LOOKED_AT))
    counts = (np.unique(some.column(f), return_counts=True)[1] / some.n_rows for f in range(features.n_columns))
    told = np.cumsum([-np.log(shares @ shares) for shares in counts])
    return int(np.searchsorted(told, told[-1] / 2)) + 1


def numbered(groups: np.ndarray) -> np.ndarray | None:
    """Return the numbers of groups, in the order in which they occur first; None where all are different.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.resampling import numbered
    >>> numbered(np.array(["b", "a", "b"])).tolist()
    [0, 1, 0]
    """
    numbers = _numbers(groups)
    return None if numbers.max(initial=-1) == len(numbers) - 1 else numbers


def dealt_folds(
    groups: np.ndarray | None, classes: np.ndarray | None, n: int, n_folds: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the fold of each of n examples: folds of equal size, classes dealt evenly, a group in one fold.

    Parameters
    ----------
    groups : ndarray of int, optional
        Numbers of the groups, from 0 on; None: each example is on its own.
    classes : ndarray, optional
        Classes of the examples; of a group that of its last one.
    n, n_folds : int
        Number of examples and of folds; there are no more folds than groups.
    rng : Generator
        Deals.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.resampling import dealt_folds
    >>> dealt_folds(np.array([0, 1, 0, 2]), None, 4, 2, np.random.default_rng(0))
    array([1, 0, 1, 0])
    """
    groups = np.arange(n) if groups is None else groups
    order = rng.permutation(groups.max() + 1)
    if classes is not None:
        of_groups = np.zeros(len(order))
        of_groups[groups] = classes
        order = order[np.argsort(of_groups[order], kind="stable")]
    folds = np.empty(len(order), np.int64)
    folds[order] = np.arange(len(order)) % min(n_folds, len(order))
    return folds[groups]


def copies_note(groups: np.ndarray | None) -> tuple[str, ...]:
    """Return a note on examples that repeat, where they are many.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.resampling import copies_note
    >>> copies_note(np.arange(60) % 30)
    ('50 % of the examples repeat others (features and target). Copies stay together in bootstraps, ...',)
    """
    n = 0 if groups is None else len(groups)
    share = 0.0 if groups is None or n < _LEAST_EXAMPLES else 1 - (groups.max() + 1) / n
    if share < WORTH_A_NOTE:
        return ()
    return (
        f"{100 * share:.0f} % of the examples repeat others (features and target). Copies stay together in bootstraps, "
        "random parts and folds; keep them together in folds of your own: Dataset.groups numbers them",
    )


def share_in_common(known: Table, features: Table) -> float:
    """Return which share of the rows are rows of another table; 0 where rows of that table coincide by chance.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.resampling import share_in_common
    >>> from omnirank.data.table import Table
    >>> measured = Table.from_numeric(np.random.default_rng(0).normal(size=(8, 2)))
    >>> share_in_common(measured.take(slice(6)), measured)
    0.75
    """
    keys = _row_keys(known, known.n_columns)
    if len(np.unique(keys)) < (1 - WORTH_A_NOTE) * len(keys):
        return 0.0
    return float(np.isin(_row_keys(features, features.n_columns), keys).mean())


def checked_groups(groups: ArrayLike, n_examples: int) -> np.ndarray:
    """Return the numbers of groups that are given by name or number; a DataError unless each example has one."""
    given = np.asarray(groups)
    if given.shape != (n_examples,):
        raise DataError(f"groups has the shape {given.shape}: give a group for each of {n_examples} examples")
    codes = pd.factorize(given)[0]
    if (codes < 0).any():
        raise DataError(f"groups has no value for example {int(codes.argmin())}: give each example a group")
    return np.asarray(codes)


def _by_target(same: np.ndarray, answer: np.ndarray) -> float:
    """Pairs of rows that chance explains, by those with the same features whose targets differ."""
    equal, of_all = _pairs(answer), _pairs(np.zeros(len(answer)))
    if equal == of_all:
        return 0.0
    return float((_pairs(same) - _pairs(_joined(same, answer))) * equal / (of_all - equal))


def _pairs(keys: np.ndarray) -> float:
    """Number of pairs of rows with the same key."""
    counts = np.unique(keys, return_counts=True)[1].astype(np.float64)
    return float((counts * (counts - 1)).sum() / 2)


def _numbers(keys: np.ndarray) -> np.ndarray:
    """Numbers of the different keys, in the order in which they occur first."""
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[inverse.ravel()])


def _joined(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return _mixed(one.astype(np.uint64)) + _mixed(~other.astype(np.uint64))


def _row_keys(table: Table, n_columns: int) -> np.ndarray:
    """Sums of hashes of the first cells of each row: equal where all of them are."""
    if table.is_sparse:
        return _matrix_keys(table.matrix[:, :n_columns], np.arange(n_columns))
    keys = np.zeros(table.n_rows, np.uint64)
    first = np.arange(table.n_columns) < n_columns
    for block, chosen in ((table.numeric, ~table.is_nominal), (table.codes, table.is_nominal)):
        columns = np.flatnonzero(chosen & first)
        keys += _matrix_keys(block[:, : len(columns)], columns)
    return keys


def _matrix_keys(matrix: Any, numbers: np.ndarray) -> np.ndarray:
    """Sums of hashes of the cells of each row, in columns of these numbers; that of 0 is 0."""
    keys = np.zeros(matrix.shape[0], np.uint64)
    of_column = _mixed(numbers.astype(np.uint64)) | np.uint64(1)
    if is_sparse(matrix):
        columns = matrix.tocsc()
        hashes = _hashes(columns.data) * np.repeat(of_column, np.diff(columns.indptr))
        np.add.at(keys, columns.indices, hashes)
        return keys
    for j, factor in enumerate(of_column):
        keys += _hashes(matrix[:, j]) * factor
    return keys


def _hashes(cells: np.ndarray) -> np.ndarray:
    cells = cells.astype(np.float64) + 0.0  # one zero
    cells[np.isnan(cells)] = np.nan  # and one NaN
    return _mixed(cells.view(np.uint64))


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Mix the bits of numbers, 0 stays 0: two rounds of multiply and shift, as in SplitMix64's finalizer."""
    x = (numbers ^ (numbers >> _SHIFT)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> _SHIFT)) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> _SHIFT))
