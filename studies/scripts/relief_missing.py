"""Ways to treat missing cells in the sums of Relief, compared before one of them became the default.

Neighbours are the same for all; only the differences that are added up change. "expected" is the original treatment of
ReliefF, carried over to numbers: the mean difference to a cell drawn from those of the same class that are known.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import omnirank as om
from omnirank.core.ranking.accumulators import ReliefSums
from omnirank.relief.pairs import PairSettings

NEIGHBORS = 15


def treatments(data: om.Dataset, form: str) -> dict[str, np.ndarray]:
    """Return the importances for each treatment of missing cells."""
    settings = PairSettings(form, "auto", 0.75, 0.0, "exact", 1)
    [rule] = settings.rules(data, [(0.0, 1.0)], 0)
    [block] = rule(np.arange(data.n_examples), [NEIGHBORS])
    counted = block.weights != 0
    first, second = np.repeat(block.rows, counted.sum(axis=1)), block.ids[counted]
    weights, products = block.weights[counted], block.products[counted]
    p_t, s = block.fixed or (products.sum(), weights.sum())
    cells = rule.search.cells
    apart, unknown = cells.distances(first, second), cells.unknown(first, second)

    def finished(d: np.ndarray, *left_out: np.ndarray) -> np.ndarray:
        return cells.by_feature(ReliefSums(products @ d, weights @ d, p_t, s, *left_out).finish()[0])

    lost_t, lost = products @ unknown, weights @ unknown
    left_out = finished(np.where(unknown, 0.0, apart), lost_t, lost)
    share = cells.by_feature(np.clip(1 - lost / s, 0.0, 1.0))
    found = {
        "distant": finished(apart),
        "left out": left_out,
        "left out, no root": np.divide(left_out, np.sqrt(share), out=np.zeros(len(share)), where=share > 0),
        "expected": finished(expected(cells, first, second, np.zeros(cells.n_rows, int))),
    }
    if form == "relieff":
        classes = np.unique(data.target.values[:, 0], return_inverse=True)[1]
        found["expected, by class"] = finished(expected(cells, first, second, classes))
    return found


def expected(cells: Any, first: np.ndarray, second: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the differences of pairs; a missing cell is any of those known in its class, all with the same chance."""
    found = cells.distances(first, second)
    rows = np.arange(cells.n_rows)
    missing = cells.unknown(rows, rows)
    for j in np.flatnonzero(missing.any(axis=0)):
        values, known = cells.values[:, j], ~missing[:, j]
        pools = [values[known & (classes == c)] for c in range(classes.max() + 1)]
        pools = [pool if len(pool) else values[known] for pool in pools]
        # mean difference of every cell to the known cells of each class
        apart = values[:, None, None] - np.array([_quantiles(pool, j < cells.n_numeric) for pool in pools])
        mean = (np.abs(apart) if j < cells.n_numeric else apart != 0).mean(axis=2)
        both = np.array(
            [
                [_mean_of(mean[known & (classes == a), b], mean[known, b]) for b in range(len(pools))]
                for a in range(len(pools))
            ]
        )
        a, b = missing[first, j], missing[second, j]
        found[a & ~b, j] = mean[second[a & ~b], classes[first[a & ~b]]]
        found[~a & b, j] = mean[first[~a & b], classes[second[~a & b]]]
        found[a & b, j] = both[classes[first[a & b]], classes[second[a & b]]]
    return found


def _quantiles(pool: np.ndarray, is_numeric: bool) -> np.ndarray:
    """Two hundred cells with the distribution of the pool."""
    return np.quantile(pool, (np.arange(200) + 0.5) / 200, method="linear" if is_numeric else "nearest")


def _mean_of(own: np.ndarray, otherwise: np.ndarray) -> float:
    return float((own if len(own) else otherwise).mean())
