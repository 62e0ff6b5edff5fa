"""Variation of features along a graph, relative to their variance (Laplacian score, SPEC), and spectra of graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

# Up to this size a dense decomposition is as fast, and knows no start.
_SMALL = 800
# So many restarts find the eigenvalues unless those next to them are nearly the same, as in long chains.
_RESTARTS = 150
# The Laplacian is shifted by this much, so that it can be inverted.
_SHIFT = 1e-6
# Columns of one product.
_WIDTH = 64


def smallest_pairs(affinity: Any, n_pairs: int) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the smallest eigenvalues of :math:`I - D^{-1/2} S D^{-1/2}`, ascending, and their vectors as columns.

    Parameters
    ----------
    affinity : ndarray or sparse array of shape (n, n)
        The symmetric affinities S.
    n_pairs : int
        How many; all, where there are fewer.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.graphs.quotients import smallest_pairs
    >>> eigenvalues, _ = smallest_pairs(np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]), 2)
    >>> eigenvalues.round(9).tolist()
    [0.0, 1.5]
    """
    n = affinity.shape[0]
    n_pairs = min(n_pairs, n)
    degree = degrees(affinity)
    root = np.where(degree > 0, 1 / np.sqrt(np.where(degree > 0, degree, 1.0)), 0.0)
    if n <= _SMALL or n_pairs >= n - 1 or not sparse.issparse(affinity):
        dense = affinity.toarray() if sparse.issparse(affinity) else affinity
        laplacian = np.eye(n) - root[:, None] * dense * root
        values, vectors = linalg.eigh(laplacian, subset_by_index=[0, n_pairs - 1])
    else:
        scale = sparse.diags_array(root)
        values, vectors = _sparse_pairs(sparse.csr_matrix(scale @ affinity @ scale), n_pairs)
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
    return np.maximum(values, 0.0), vectors


def _sparse_pairs(affinity: Any, n_pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """The pairs by products with the normalised affinities; by factors of the Laplacian where these take too long.

    Factors of graphs of many dimensions are nearly dense: at 20,000 examples of 10 features they take 300 times as long
    as products. Those of chains are as sparse as the chain.
    """
    n = affinity.shape[0]
    start = np.cos(np.arange(n, dtype=np.float64))  # fixed: the same bits every time
    try:
        values, vectors = eigsh(affinity, n_pairs, which="LA", v0=start, maxiter=_RESTARTS)
        return 1.0 - values, vectors
    except ArpackNoConvergence:
        laplacian = sparse.csc_matrix(sparse.eye_array(n) - affinity)
        shifted = sparse.csc_matrix(laplacian + _SHIFT * sparse.eye_array(n))
        factors = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        inverse = LinearOperator((n, n), matvec=factors.solve, dtype=np.float64)
        return eigsh(laplacian, n_pairs, sigma=-_SHIFT, which="LM", v0=start, OPinv=inverse)


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
