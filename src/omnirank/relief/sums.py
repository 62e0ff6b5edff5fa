"""One pass over the examples: Relief's sums for all numbers of iterations and neighbours at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from omnirank.core.accumulators import ReliefSums
from omnirank.core.parallel import run_parallel
from omnirank.neighbors.sparse_cells import SparseCells
from omnirank.relief.pairs import DistancePairs, PairBlock, PairRule

# Rows that one worker takes at a time: whole tiles, and at least this many blocks of them where there are enough.
_FEWEST_ROWS, _MOST_ROWS, _BLOCKS = 64, 512, 16
_FEWEST_PARTS = 8
# Cells of the matrices of feature and target distances that are held at once when targets are scored alone.
_MOST_CELLS = 2**21
# Sums that all blocks of rows may hold before they are added up.
_MOST_SUMS = 2**24


class Sums(NamedTuple):
    """Sums for all targets together and, where they were asked for, for each alone (n_targets, n_features)."""

    together: ReliefSums
    alone: ReliefSums | None


# While sums grow: P_FT, P_F (in the order of the columns of the cells), P_T and s; of all targets, then of each alone.
_Growing = tuple[np.ndarray, ...]


def relief_sums(
    rule: PairRule,
    order: np.ndarray,
    ms: Sequence[int],
    ks: Sequence[int],
    per_target: bool = False,
    n_jobs: int | None = None,
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
        examples the distance of the features takes its place. Needs `DistancePairs`.
    n_jobs : int or None
        Number of workers; it changes no bit.
    """
    n_sums = 2 * len(ks) * rule.search.cells.n_features
    parts, ends = _parts(order, ms, max(_FEWEST_PARTS, _MOST_SUMS // n_sums))
    kept: list[list[Sums]] = []
    total: list[_Growing] = []
    of_rows = partial(_sums_of_rows, rule, ks, per_target)
    for i, sums in enumerate(run_parallel(of_rows, parts, n_jobs, description="comparing neighbours"), 1):
        total = [_added(a, b) for a, b in zip(total, sums, strict=True)] if total else sums
        if i in ends:
            kept.append([_finished(rule, grown) for grown in total])
    return kept


def _sums_of_rows(rule: PairRule, ks: Sequence[int], per_target: bool, rows: np.ndarray) -> list[_Growing]:
    found: list[_Growing] = []
    for pairs in rule(rows, ks):
        sums = _block_sums(rule, pairs)
        if per_target and isinstance(rule, DistancePairs):
            sums += _target_sums(rule, pairs)
        found.append(_added(found[-1], sums) if found and rule.cumulative else sums)
    return found


def _added(a: _Growing, b: _Growing) -> _Growing:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _finished(rule: PairRule, grown: _Growing) -> Sums:
    cells = rule.search.cells
    found = [
        ReliefSums(cells.by_feature(p_ft), cells.by_feature(p_f), p_t, weight)
        for p_ft, p_f, p_t, weight in (grown[:4], grown[4:])[: len(grown) // 4]
    ]
    return Sums(found[0], found[1] if len(found) > 1 else None)


def _parts(order: np.ndarray, ms: Sequence[int], most: int) -> tuple[list[np.ndarray], list[int]]:
    """Blocks of rows, about as many as allowed at most, and how many of them each number of iterations takes.

    Examples between two numbers of iterations are visited in the order of the data: the sums over all examples then
    do not depend on the seed in any bit.
    """
    size = int(np.clip(-(-len(order) // _BLOCKS), _FEWEST_ROWS, _MOST_ROWS)) // 4 * 4
    size = max(size, -(-len(order) // most))
    parts: list[np.ndarray] = []
    ends = []
    for start, stop in zip([0, *ms[:-1]], ms, strict=True):
        rows = np.sort(order[start:stop])
        parts += [rows[i : i + size] for i in range(0, len(rows), size)]
        ends.append(len(parts))
    return parts, ends


def _block_sums(rule: PairRule, pairs: PairBlock) -> _Growing:
    from omnirank.neighbors.kernels.search import PairCells
    from omnirank.relief.kernels.accumulate import accumulate, accumulate_stored

    cells = rule.search.cells
    p_f, p_ft = np.zeros(cells.n_features), np.zeros(cells.n_features)
    if isinstance(cells, SparseCells):
        accumulate_stored(cells.stored, pairs.rows, pairs.ids, pairs.weights, pairs.products, p_f, p_ft)
    else:
        plain = PairCells(cells.values, cells.missing_start, cells.missing, cells.correction)
        accumulate(plain, cells.n_numeric, pairs.rows, pairs.ids, pairs.weights, pairs.products, p_f, p_ft)
    p_t, weight = pairs.fixed or (float(pairs.products.sum()), float(pairs.weights.sum()))
    return p_ft, p_f, np.asarray(p_t), np.asarray(weight)


def _target_sums(rule: DistancePairs, pairs: PairBlock) -> _Growing:
    cells, distances = rule.search.cells, rule.distances
    assert distances is not None
    n_targets = distances.target.n_targets
    counted = pairs.weights != 0
    first = np.repeat(pairs.rows, counted.sum(axis=1))
    second, weights = pairs.ids[counted], pairs.weights[counted]
    p_ft, p_f = np.zeros((n_targets, cells.n_features)), np.zeros(cells.n_features)
    p_t = np.zeros(n_targets)
    step = max(1, _MOST_CELLS // (n_targets + cells.n_features))
    for start in range(0, len(first), step):
        part = slice(start, start + step)
        features = cells.distances(first[part], second[part])
        apart = distances.of_each(first[part], second[part])
        products = np.where(np.isnan(apart), features.mean(axis=1), apart) * weights[part]
        p_ft += products @ features
        p_f += weights[part] @ features
        p_t += products.sum(axis=1)
    return p_ft, np.tile(p_f, (n_targets, 1)), p_t, np.full(n_targets, weights.sum())
