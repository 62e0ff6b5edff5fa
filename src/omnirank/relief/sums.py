"""One pass over the examples: Relief's sums for all numbers of iterations and neighbours at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from omnirank.core.parallel import run_parallel
from omnirank.core.ranking.accumulators import ReliefSums
from omnirank.neighbors.cells import SparseCells
from omnirank.relief.pairs import DistancePairs, PairBlock, PairRule

# Rows that one worker takes at a time: whole tiles, and at least this many blocks of them where there are enough.
_FEWEST_ROWS, _MOST_ROWS, _BLOCKS = 64, 512, 16
_FEWEST_PARTS = 8
# Distances of single targets that are held at once.
_MOST_CELLS = 2**21
# Sums that all blocks of rows may hold before they are added up.
_MOST_SUMS = 2**24


class Sums(NamedTuple):
    """Sums for all targets together and, where they were asked for, for each alone (n_targets, n_features)."""

    together: ReliefSums
    alone: ReliefSums | None


# While sums grow, in the order of the fields of ReliefSums (and of the columns of the cells): P_FT, P_F, P_T, s and,
# where pairs are left out, what these add to P_T and s.
_Part = tuple[np.ndarray, ...]
# Of all targets, then of each alone.
_Growing = tuple[_Part, ...]


def relief_sums(
    rule: PairRule,
    order: np.ndarray,
    ms: Sequence[int],
    ks: Sequence[int],
    per_target: bool = False,
    n_jobs: int | None = None,
    *,
    leave_out: bool = True,
) -> list[list[Sums]]:
    """Return the sums for each number of iterations and, inside it, each number of neighbours.

    Parameters
    ----------
    rule : PairRule
        The pairs.
    order : ndarray of int
        The examples in the order in which they are visited.
    ms, ks : sequence of int
        Numbers of iterations and of neighbours, each ascending.
    per_target : bool
        Whether each target is scored alone too, with the same pairs and weights; where it is not known in both
        examples the distance of the features takes its place.
    n_jobs : int or None
        Number of workers; it changes no bit.
    leave_out : bool
        Whether a feature is compared only in pairs where both its cells are known; otherwise missing cells have the
        distances that the search gives them.
    """
    cells = rule.search.cells
    leave_out = leave_out and cells.some_missing
    parts, ends = visited_parts(order.astype(np.int64), ms, len(ks) * cells.n_features, leave_out)
    of_rows = partial(sums_of_rows, rule, ks, per_target, leave_out)
    kept: list[list[Sums]] = []
    total: list[_Growing] = []
    for i, sums in enumerate(run_parallel(of_rows, parts, n_jobs, description="comparing neighbours"), 1):
        total = [_added(a, b) for a, b in zip(total, sums, strict=True)] if total else sums
        if i in ends:
            kept.append([_finished(cells.by_feature, grown) for grown in total])
    return kept


def sums_of_rows(
    rule: PairRule, ks: Sequence[int], per_target: bool, leave_out: bool, rows: np.ndarray
) -> list[_Growing]:
    """Return the sums over the pairs of some examples, for each number of neighbours."""
    sums_by_k: list[_Growing] = []
    for pairs in rule(rows, ks):
        sums: _Growing = (_block_sums(rule, pairs, leave_out),)
        if per_target:
            sums += (_target_sums(rule, pairs, leave_out, sums[0]),)
        sums_by_k.append(_added(sums_by_k[-1], sums) if sums_by_k and rule.cumulative else sums)
    return sums_by_k


def _added(a: _Growing, b: _Growing) -> _Growing:
    return tuple(tuple(x + y for x, y in zip(one, other, strict=True)) for one, other in zip(a, b, strict=True))


def _finished(by_feature: Callable[[np.ndarray], np.ndarray], grown: _Growing) -> Sums:
    sums = [
        ReliefSums(by_feature(p_ft), by_feature(p_f), p_t, weight, *map(by_feature, left_out))
        for p_ft, p_f, p_t, weight, *left_out in grown
    ]
    return Sums(sums[0], sums[1] if len(sums) > 1 else None)


def visited_parts(
    order: np.ndarray, ms: Sequence[int], n_sums: int, leave_out: bool
) -> tuple[list[np.ndarray], list[int]]:
    """Return blocks of rows, and how many of them each number of iterations takes.

    Examples between two numbers of iterations are visited in the order of the data: the sums over all examples then
    do not depend on the seed in any bit.

    Parameters
    ----------
    order : ndarray of int
        All examples in the order in which they are visited.
    ms : sequence of int
        Numbers of iterations, ascending.
    n_sums : int
        Number of sums of each kind: one for each feature and number of neighbours.
    leave_out : bool
        As in `relief_sums`.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.relief.sums import visited_parts
    >>> visited_parts(np.array([5, 2, 9, 1]), [2, 4], 10, False)
    ([array([2, 5]), array([1, 9])], [1, 2])
    """
    size = int(np.clip(-(-len(order) // _BLOCKS), _FEWEST_ROWS, _MOST_ROWS)) // 4 * 4
    most = max(_FEWEST_PARTS, _MOST_SUMS // ((4 if leave_out else 2) * n_sums))
    size = max(size, -(-len(order) // most))
    parts: list[np.ndarray] = []
    ends = []
    for start, stop in zip([0, *ms[:-1]], ms, strict=True):
        rows = np.sort(order[start:stop])
        parts += [rows[i : i + size] for i in range(0, len(rows), size)]
        ends.append(len(parts))
    return parts, ends


def _block_sums(rule: PairRule, pairs: PairBlock, leave_out: bool) -> _Part:
    from omnirank.neighbors.kernels.search import PairCells
    from omnirank.relief.kernels import accumulate as kernels

    cells = rule.search.cells
    sums = np.zeros((4 if leave_out else 2, cells.n_features))
    if isinstance(cells, SparseCells):
        kernels.accumulate_stored(cells.stored, pairs.rows, pairs.ids, pairs.weights, pairs.products, leave_out, sums)
    else:
        plain = PairCells(cells.values, cells.missing_start, cells.missing, cells.correction)
        numbers = plain, cells.n_numeric, pairs.rows, pairs.ids, pairs.weights, pairs.products
        if leave_out:
            kernels.accumulate_known(*numbers, sums)
        else:
            kernels.accumulate(*numbers, sums[1], sums[0])
    p_t, weight = pairs.fixed or (float(pairs.products.sum()), float(pairs.weights.sum()))
    return sums[0], sums[1], np.asarray(p_t), np.asarray(weight), *sums[2:]


def _target_sums(rule: PairRule, pairs: PairBlock, leave_out: bool, together: _Part) -> _Part:
    """Sums for each target alone; where there is only one, they are those of all targets."""
    if not isinstance(rule, DistancePairs):
        return tuple(part[None] for part in together)
    assert rule.distances is not None
    step = max(1, _MOST_CELLS // (rule.distances.target.n_targets * pairs.ids.shape[1]))
    total: list[np.ndarray] = []
    for start in range(0, len(pairs.rows), step):
        blocks = rule.of_each(pairs, slice(start, start + step))
        sums = zip(*(_block_sums(rule, own, leave_out) for own in blocks), strict=True)
        some = [np.stack(of_targets) for of_targets in sums]
        total = [a + b for a, b in zip(total, some, strict=True)] if total else some
    return tuple(total)
