"""Quotients of a feature's variation along a graph and of its variance: Laplacian score, SPEC."""

from __future__ import annotations

from typing import Any

import numpy as np

# Columns of one product.
_WIDTH = 64


def laplacian_scores(values: np.ndarray, affinity: Any) -> np.ndarray:
    r"""Return the Laplacian score of each column, smaller is better.

    .. math:: \frac{\tilde f' L \tilde f}{\tilde f' D \tilde f}, \quad
        \tilde f = f - \frac{f' D 1}{1' D 1} 1, \quad D = \mathrm{diag}(S 1), \quad L = D - S

    Parameters
    ----------
    values : ndarray of shape (n, C)
        The columns f.
    affinity : ndarray or sparse array of shape (n, n)
        The symmetric affinities S.

    Examples
    --------
    A column that tells the two parts of a graph apart does not vary along its edges:

    >>> import numpy as np
    >>> from omnirank.graphs.quotients import laplacian_scores
    >>> pairs = np.kron(np.eye(2), np.ones((2, 2)))
    >>> laplacian_scores(np.array([[1.0, 1.0], [1.0, 0.0], [-1.0, 1.0], [-1.0, 0.0]]), pairs).tolist()
    [0.0, 1.0]
    """
    degree = degrees(affinity)
    found = np.empty(values.shape[1])
    for part, columns in _parts(values):
        centred = columns - (degree @ columns) / degree.sum()
        spread = degree @ centred**2
        along = spread - np.einsum("ij,ij->j", centred, affinity @ centred)
        # a column that is constant wherever the degrees are not zero is no better than chance
        found[part] = np.where(spread > 0, along / np.where(spread > 0, spread, 1.0), 1.0)
    return np.maximum(found, 0.0)


def spectral_scores(values: np.ndarray, affinity: Any) -> np.ndarray:
    r"""Return :math:`\varphi_1 = \hat f' \hat L \hat f` of each column, smaller is better.

    .. math:: \hat f = \frac{D^{1/2} f}{\|D^{1/2} f\|}, \quad \hat L = D^{-1/2} L D^{-1/2}

    Parameters
    ----------
    values : ndarray of shape (n, C)
        The columns f.
    affinity : ndarray or sparse array of shape (n, n)
        The symmetric affinities S.
    """
    degree = degrees(affinity)
    found = np.empty(values.shape[1])
    for part, columns in _parts(values):
        size = degree @ columns**2
        along = size - np.einsum("ij,ij->j", columns, affinity @ columns)
        found[part] = np.where(size > 0, along / np.where(size > 0, size, 1.0), 1.0)
    return np.maximum(found, 0.0)


def leading_scores(values: np.ndarray, affinity: Any, n_vectors: int) -> np.ndarray:
    r"""Return :math:`\varphi_3 = \sum_{j=2}^{k} (2 - \lambda_j) (\hat f' u_j)^2` of each column, larger is better.

    :math:`\lambda_j, u_j` are the eigenpairs of :math:`\hat L`, the smallest eigenvalue (0) first.

    Parameters
    ----------
    values : ndarray of shape (n, C)
        The columns f.
    affinity : ndarray or sparse array of shape (n, n)
        The symmetric affinities S.
    n_vectors : int
        The number k.
    """
    from omnirank.graphs.spectra import smallest_pairs

    root = np.sqrt(degrees(affinity))
    eigenvalues, vectors = smallest_pairs(affinity, n_vectors)
    found = np.empty(values.shape[1])
    for part, columns in _parts(values):
        scaled = root[:, None] * columns
        size = np.einsum("ij,ij->j", scaled, scaled)
        shares = (vectors[:, 1:].T @ scaled) ** 2 / np.where(size > 0, size, 1.0)
        found[part] = (2 - eigenvalues[1:]) @ shares
    return found


def degrees(affinity: Any) -> np.ndarray:
    """Return the sums of the rows of a dense or sparse matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.graphs.quotients import degrees
    >>> degrees(np.array([[1.0, 2.0], [2.0, 0.0]])).tolist()
    [3.0, 2.0]
    """
    return np.asarray(affinity.sum(axis=1)).ravel()


def _parts(values: np.ndarray) -> Any:
    for start in range(0, values.shape[1], _WIDTH):
        part = slice(start, start + _WIDTH)
        yield part, values[:, part]
