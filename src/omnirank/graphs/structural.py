"""SFSS: labels spread over a graph, and a regression on them with few columns, found together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from omnirank.core.parallel import counted_steps
from omnirank.graphs.quotients import degrees
from omnirank.graphs.row_sparse import reweighted, ridge, solve_positive

# Weight of the zeros that unlabelled examples have as labels: so little that it only keeps the system regular.
_RIDGE = 1e-6


class SpreadFit(NamedTuple):
    """The end of an iteration: coefficients, how many iterations there were, and whether they converged."""

    coefficients: np.ndarray
    n_iterations: int
    converged: bool


def spread_labels_fit(
    values: np.ndarray,
    affinity: Any,
    labels: np.ndarray,
    labelled: np.ndarray,
    mu: float,
    gamma: float,
    label_weight: float,
    max_iter: int,
    tol: float,
) -> SpreadFit:
    r"""Alternate between the labels F of all examples and the coefficients W until these hardly change.

    .. math:: \min_{F, W, b} \mathrm{Tr}(F' L F) + \mathrm{Tr}((F - Y)' U (F - Y))
        + \mu \|X W + 1 b' - F\|^2 + \gamma \|W\|_{2,1}

    With :math:`Q = \mathrm{diag}(1 / (2 \|w_i\|))`, I at the start, :math:`H = I - 11'/n` and centred columns X an
    iteration is

    .. math:: A = X' X + \frac{\gamma}{\mu} Q, \quad F = (L + U + \mu H - \mu X A^{-1} X')^{-1} U Y, \quad
        W = A^{-1} X' F

    Parameters
    ----------
    values : ndarray of shape (n, C)
        The columns X, centred.
    affinity : sparse array of shape (n, n)
        The symmetric affinities, L = D - S.
    labels : ndarray of shape (n, T)
        The labels Y, 0 for unlabelled examples.
    labelled : ndarray of bool
        Which examples have labels.
    mu, gamma : float
        Weights of the regression and of its penalty.
    label_weight : float
        :math:`U_{ii}` of labelled examples; that of others is 1e-6.
    max_iter : int
        How many iterations there may be.
    tol : float
        The change of W, relative to its norm, at which to stop.
    """
    n = len(values)
    fixed = -affinity.toarray()
    weights = np.where(labelled, label_weight, _RIDGE)
    fixed[np.diag_indices(n)] += degrees(affinity) + weights + mu
    fixed -= mu / n
    sought = weights[:, None] * labels
    penalty = np.full(values.shape[1], gamma / mu)
    before: np.ndarray | None = None
    for step in counted_steps(max_iter, "spreading labels"):
        fitted = values @ ridge(values, np.eye(n), penalty)
        F = solve_positive(fixed - mu * fitted, sought)
        W = ridge(values, F, penalty)
        penalty = gamma / mu * reweighted(W)
        if before is not None and np.linalg.norm(W - before) <= tol * np.linalg.norm(W):
            return SpreadFit(W, step + 1, True)
        before = W
    return SpreadFit(W, max_iter, False)
