"""The smallest eigenvalues of normalised graph Laplacians."""

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
    >>> from omnirank.graphs.spectra import smallest_pairs
    >>> eigenvalues, _ = smallest_pairs(np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]), 2)
    >>> eigenvalues.round(9).tolist()
    [0.0, 1.5]
    """
    n = affinity.shape[0]
    n_pairs = min(n_pairs, n)
    degree = np.asarray(affinity.sum(axis=1)).ravel()
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
