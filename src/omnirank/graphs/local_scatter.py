"""UDFS: coordinates in which neighbourhoods are told apart, with few columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse

from omnirank.core.parallel import blocks, counted_steps, run_parallel
from omnirank.graphs.nonnegative import Fit
from omnirank.graphs.row_sparse import reweighted, row_norms
from omnirank.neighbors.euclidean import nearest_rows

# Cells of the neighbourhoods of a block, and the examples it has at most.
_MOST_CELLS = 2**22
_MOST_ROWS = 256


def local_scatter(
    values: np.ndarray, coordinates: np.ndarray, k: int, gamma: float, n_jobs: int | None = None
) -> np.ndarray:
    r"""Return the matrix M of UDFS, one row and column per coordinate.

    .. math:: M = Z' \left(\sum_i S_i H (\tilde X_i \tilde X_i' + \gamma I)^{-1} H S_i'\right) Z

    :math:`\tilde X_i` holds example i and its k nearest, centred by H; :math:`S_i` puts them in their places.

    Parameters
    ----------
    values : ndarray of shape (n, C)
        The columns X, centred, in which neighbours are near.
    coordinates : ndarray of shape (n, K)
        The columns Z, centred, of which coordinates are made.
    k : int
        Number of neighbours, at most n - 1.
    gamma : float
        The number added to the diagonal.
    n_jobs : int or None
        Number of workers.
    """
    n = len(values)
    members = np.column_stack([np.arange(n), nearest_rows(values, k, n_jobs)])
    size = max(1, min(_MOST_ROWS, _MOST_CELLS // (members.shape[1] * values.shape[1])))
    parts = blocks(n, -(-n // size))
    inverses = run_parallel(_Inverses(values, members, gamma), parts, n_jobs, description="inverting neighbourhoods")
    cells = np.concatenate(inverses)
    first = np.broadcast_to(members[:, :, None], cells.shape).ravel()
    second = np.broadcast_to(members[:, None, :], cells.shape).ravel()
    together = sparse.csr_array((cells.ravel(), (first, second)), shape=(n, n))
    found = coordinates.T @ (together @ coordinates)
    return (found + found.T) / 2


@dataclass(frozen=True, eq=False)
class _Inverses:
    """H (X_i X_i' + gamma I)^-1 H of the examples of a block."""

    values: np.ndarray
    members: np.ndarray
    gamma: float

    def __call__(self, rows: range) -> np.ndarray:
        near = self.values[self.members[rows.start : rows.stop]]
        near = near - near.mean(axis=1, keepdims=True)
        gram = near @ near.transpose(0, 2, 1)
        size = gram.shape[1]
        gram[:, np.arange(size), np.arange(size)] += self.gamma
        centre = np.eye(size) - 1 / size
        return centre @ np.linalg.inv(gram) @ centre


def discriminative_fit(scatter: np.ndarray, n_vectors: int, gamma: float, max_iter: int, tol: float) -> Fit:
    r"""Minimise :math:`\mathrm{Tr}(W' M W) + \gamma \|W\|_{2,1}` over :math:`W' W = I`.

    W are the eigenvectors of :math:`M + \gamma Q` with the smallest eigenvalues; then
    :math:`Q = \mathrm{diag}(1 / (2 \|w_i\|))`, I at the start, and so on until the objective hardly changes.

    Parameters
    ----------
    scatter : ndarray of shape (C, C)
        The matrix M.
    n_vectors : int
        Number of columns of W, at most C.
    gamma : float
        Weight of the penalty.
    max_iter : int
        How many iterations there may be.
    tol : float
        The change of the objective, relative to it, at which to stop.
    """
    penalty = np.ones(len(scatter))
    objectives: list[float] = []
    for step in counted_steps(max_iter, "decomposing scatter"):
        W = linalg.eigh(scatter + np.diag(gamma * penalty), subset_by_index=[0, n_vectors - 1])[1]
        penalty = reweighted(W)
        objectives.append(float(np.sum(W * (scatter @ W))) + gamma * float(row_norms(W).sum()))
        if step and abs(objectives[-1] - objectives[-2]) <= tol * abs(objectives[-1]):
            return Fit(W, objectives, True)
    return Fit(W, objectives, False)
