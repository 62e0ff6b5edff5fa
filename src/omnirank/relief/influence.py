"""How much unlabelled examples count in semi-supervised Relief."""

from __future__ import annotations

from functools import partial
from typing import TypeAlias

import numpy as np

from omnirank.core.parallel import run_parallel
from omnirank.neighbors.mixed_distances import Cells
from omnirank.neighbors.sparse_cells import SparseCells, search_among

# Of the unlabelled examples that are farthest from labelled ones, and of those that are nearest.
Influence: TypeAlias = tuple[float, float]

_ROWS = 256
# Distances to labelled examples that differ by less than this share of a feature are the same.
_SAME = 1e-9


def nearest_labelled(cells: Cells | SparseCells, labelled: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Return the distance D d_X of each example to the nearest labelled one, 0 for labelled examples."""
    search = search_among(cells, np.where(labelled, 0, -1))
    rows = np.flatnonzero(~labelled)
    parts = [rows[start : start + _ROWS] for start in range(0, len(rows), _ROWS)]
    found = run_parallel(partial(search.nearest, k=1), parts, n_jobs)
    far = np.zeros(cells.n_rows)
    if parts:
        far[rows] = np.concatenate([distances[:, 0, 0] for _, distances in found])
    return far


def influences(
    far: np.ndarray, labelled: np.ndarray, w0: float, w1: float, ends: tuple[float, float] | None = None
) -> np.ndarray:
    """Return the influence of each example: 1 if it is labelled, otherwise the smaller the farther from labelled ones.

    The influence of unlabelled examples is linear in the distance: w1 for the nearest of them, w0 for the farthest,
    (w0 + w1) / 2 where all have the same distance. ``ends`` are the smallest and the largest distance where
    the examples are only some of all.

    References
    ----------
    Petkovic, Dzeroski, Kocev: Feature ranking for semi-supervised learning. Machine Learning 112, 2023. Sec. 5.2.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.relief.influence import influences
    >>> influences(np.array([0.0, 1.0, 2.0, 3.0]), np.array([True, False, False, False]), 0.5, 1.0).tolist()
    [1.0, 1.0, 0.75, 0.5]
    """
    found = np.ones(len(far))
    unlabelled = far[~labelled]
    if not len(unlabelled) or (ends is None and not labelled.any()):  # of some examples, none need be labelled
        return found
    low, high = (unlabelled.min(), unlabelled.max()) if ends is None else ends
    if high - low <= _SAME:
        found[~labelled] = (w0 + w1) / 2
    else:
        found[~labelled] = w1 + (w0 - w1) * (unlabelled - low) / (high - low)
    return found
