"""NDFS: non-negative indicators of clusters, and a regression on them with few columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from omnirank.core.blas_threads import one_blas_thread
from omnirank.core.parallel import counted_steps
from omnirank.graphs.quotients import degrees
from omnirank.graphs.row_sparse import reweighted, ridge, row_norms

_TINY = 1e-16


class Fit(NamedTuple):
    """The end of an iteration."""

    coefficients: np.ndarray
    objectives: list[float]
    converged: bool


def cluster_indicators(values: np.ndarray, n_clusters: int, seed: int) -> np.ndarray:
    """Return the start of the indicators: those of k-means clusters, each column of norm 1, plus 0.02.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.graphs.nonnegative import cluster_indicators
    >>> found = cluster_indicators(np.array([[0.0], [0.1], [9.0], [9.1]]), 2, 0)
    >>> sorted(found[0].round(3).tolist()), bool((found[0] == found[1]).all())
    ([0.02, 0.727], True)
    """
    from sklearn.cluster import KMeans

    # one thread: its sums, and with them the clusters, do not depend on the number of cores
    with one_blas_thread(openmp=True):
        labels = KMeans(n_clusters, n_init=10, random_state=seed).fit(values).labels_
    hot = (labels[:, None] == np.arange(n_clusters)).astype(np.float64)
    return hot / np.sqrt(np.maximum(hot.sum(axis=0), 1.0)) + 0.02


def nonnegative_fit(
    values: np.ndarray,
    affinity: Any,
    indicators: np.ndarray,
    alpha: float,
    beta: float,
    gamma: float,
    max_iter: int,
    tol: float,
) -> Fit:
    r"""Alternate between the coefficients W and the indicators F until the objective hardly changes.

    .. math:: \min_{F \ge 0, W} \mathrm{Tr}(F' L F) + \alpha (\|X W - F\|^2 + \beta \|W\|_{2,1})
        + \frac{\gamma}{2} \|F' F - I\|^2

    With :math:`Q = \mathrm{diag}(1 / (2 \|w_i\|))`, I at the start, an iteration is
    :math:`W = (X' X + \beta Q)^{-1} X' F`, then
    :math:`F \leftarrow F \circ \gamma F / (M F + \gamma F F' F)` with
    :math:`M = L + \alpha (I - X (X' X + \beta Q)^{-1} X')`; then the columns of F get norm 1. M is never made: M F is
    :math:`L F + \alpha (F - X W)`.

    Parameters
    ----------
    values : ndarray of shape (n, C)
        The columns X.
    affinity : sparse array of shape (n, n)
        The symmetric affinities.
    indicators : ndarray of shape (n, c)
        The start of F.
    alpha, beta, gamma : float
        Weights of the parts.
    max_iter : int
        How many iterations there may be.
    tol : float
        The change of the objective, relative to it, at which to stop.
    """
    F, penalty = indicators, np.full(values.shape[1], beta)
    degree = degrees(affinity)[:, None]
    objectives: list[float] = []
    for step in counted_steps(max_iter, "finding clusters"):
        W = ridge(values, F, penalty)
        penalty = beta * reweighted(W)
        along = degree * F - affinity @ F
        rest = F - values @ W
        F = F * (gamma * F) / np.maximum(along + alpha * rest + gamma * F @ (F.T @ F), _TINY)
        F = F / np.sqrt(np.maximum(np.einsum("ij,ij->j", F, F), _TINY))
        objectives.append(_objective(F, W, values, affinity, degree, alpha, beta))
        if step and abs(objectives[-1] - objectives[-2]) <= tol * abs(objectives[-1]):
            return Fit(W, objectives, True)
    return Fit(W, objectives, False)


def _objective(
    F: np.ndarray, W: np.ndarray, values: np.ndarray, affinity: Any, degree: np.ndarray, alpha: float, beta: float
) -> float:
    rest = values @ W - F
    along = float(np.sum(F * (degree * F - affinity @ F)))
    return along + alpha * (float(np.sum(rest**2)) + beta * float(row_norms(W).sum()))
