"""How many trees a ranking takes: a number of them, the numbers on the way, or as many as it needs to converge."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from omnirank.core.parallel import run_parallel, worker_count
from omnirank.core.ranking.accumulators import MeanAccumulator
from omnirank.ensembles.score_sums import Scorer, ScoreSums

# n_trees="auto": trees are added in steps until the ranking has converged, or the limit is reached.
MOST_TREES = 1000
_STEP = 10
FEWEST_TREES = 20
RELIABLE = 0.99
# Trees that are grown whatever the time: fewer have no standard errors.
_FEWEST_IN_TIME = 2

# Scores by target, and what examples add to scores, of as many trees are held at once as fit in this memory.
MOST_BYTES = 2**28
# But so many at least; where they hold much of each example, one for each worker.
_FEWEST_AT_ONCE = 8
# What an example adds to the tests that it reaches out of bag: about 8 numbers, for large trees.
_BYTES_AN_EXAMPLE = 64


def grown_sums(
    scorer: Scorer,
    sums: ScoreSums,
    n_trees: int | str,
    importance: str,
    checkpoints: Collection[int] = (),
    first_tree: int = 0,
    n_jobs: int | None = None,
    step: int = 1,
    max_seconds: float | None = None,
    most_bytes: int = MOST_BYTES,
) -> Iterator[ScoreSums]:
    """Grow the trees that are lacking; yields the sums of scores on the way and in the end.

    The trees and their sums depend on their number alone, not on the clock: as many trees asked for at once are the
    same ones.

    Parameters
    ----------
    scorer : Scorer
        What grows and scores a tree.
    sums : ScoreSums
        Sums over the trees there are.
    n_trees : int or "auto"
        How many there shall be. "auto": as many as the ranking by ``importance`` needs to converge.
    importance : str
        Name of a score.
    checkpoints : collection of int
        Numbers of trees at which the sums are yielded too.
    first_tree : int
        Number of the first tree of all.
    n_jobs : int or None
        Number of workers.
    step : int
        By how much the numbers of trees differ.
    max_seconds : float or None
        No trees are begun after this time, but for the first two.
    most_bytes : int
        What scores by target, and what examples add to scores, may take before they are added up.
    """
    table = 8 * sum(rows.mean.size for rows in sums.tables.values())
    told = _BYTES_AN_EXAMPLE * scorer.n_examples * len(sums.examples)
    fewest = worker_count(n_jobs) if told else _FEWEST_AT_ONCE
    block = max(fewest, most_bytes // max(table + told, 1))
    clock = _Clock(max_seconds, worker_count(n_jobs), sums.n_trees)
    for stop in tree_stops(n_trees, sums.n_trees):
        while sums.n_trees < stop:
            start = sums.n_trees
            end = min(stop, start + block, start + clock.trees_left(start))
            if end == start:
                return
            numbers = range(first_tree + start * step, first_tree + end * step, step)
            trees = run_parallel(scorer, numbers, n_jobs, description="growing trees")
            for size in sorted({q for q in checkpoints if start < q < end} | {end}):
                sums = sums.update(trees[sums.n_trees - start : size - start])
                yield sums
            del trees  # else they would stay beside the next ones
        if n_trees == "auto" and converged(sums.rows[importance]):
            return


class _Clock:
    """How many trees are grown before the clock is looked at again."""

    def __init__(self, max_seconds: float | None, workers: int, n_grown: int) -> None:
        self._max_seconds = max_seconds
        self._round = workers
        self._looked, self._n_grown = time.monotonic(), n_grown
        self._end = self._looked + (max_seconds or 0)

    def trees_left(self, n_grown: int) -> int:
        """Return what half of the time left is enough for, at least a tree for each worker; 0: the time is over.

        The rate is that of the last trees: compiled kernels are loaded with the first ones.
        """
        if self._max_seconds is None:
            return sys.maxsize
        now = time.monotonic()
        n_new, seconds = n_grown - self._n_grown, now - self._looked
        self._looked, self._n_grown = now, n_grown
        if now >= self._end and n_grown >= _FEWEST_IN_TIME:
            return 0
        if not n_new:
            return max(self._round, _FEWEST_IN_TIME - n_grown)
        return max(self._round, int((self._end - now) / 2 * n_new / max(seconds, 1e-9)))


def tree_stops(n_trees: int | str, n_grown: int = 0, step: int = _STEP) -> Sequence[int]:
    """Return the numbers of trees at which it is asked whether there are enough.

    Examples
    --------
    >>> from omnirank.ensembles.convergence import tree_stops
    >>> tree_stops(50), tree_stops("auto")[:3]
    ((50,), range(20, 50, 10))
    """
    if n_trees == "auto":
        return range(max(FEWEST_TREES, n_grown), MOST_TREES + 1, step)
    return (int(n_trees),)


def why_ended(n_trees: int | str, sums: MeanAccumulator) -> str:
    """Return why there are no more trees, in words; nothing where there are as many as asked for.

    Parameters
    ----------
    n_trees : int or "auto"
        How many trees were asked for.
    sums : MeanAccumulator
        Sums of the score that ranks.
    """
    if n_trees != "auto":
        return "" if sums.count >= int(n_trees) else f"the time ended before there were {n_trees} trees"
    if converged(sums):
        return ""
    if sums.count >= MOST_TREES:
        return f"the ranking has not converged, but {MOST_TREES} trees are the most that are grown unasked"
    return "the time ended before the ranking had converged"


def converged(sums: MeanAccumulator) -> bool:
    """Return whether more trees would hardly change the ranking by a score: its `reliability` is at least 0.99."""
    scores, errors = sums.finish()
    return errors is None or reliability(scores, errors) >= RELIABLE


def reliability(scores: np.ndarray, errors: np.ndarray) -> float:
    """Return which share of the variance of scores is not error: 1 - mean(squared errors) / variance(scores).

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.ensembles.convergence import reliability
    >>> round(reliability(np.array([0.0, 2.0]), np.array([0.1, 0.1])), 6)
    0.99
    """
    spread = np.var(scores)
    return float(1 - np.mean(errors**2) / spread) if spread > 0 else 1.0
