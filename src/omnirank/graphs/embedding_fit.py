"""MCFS: how few features explain the coordinates in which the graph falls into clusters."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from omnirank.core.parallel import run_parallel
from omnirank.graphs.quotients import degrees
from omnirank.graphs.spectra import smallest_pairs

# Eigenvalues of normalised Laplacians lie between 0 and 2: below this they are 0.
_ZERO = 1e-9
# Degrees below this share of the largest one are those of isolated examples.
_VANISHING = 1e-12


def embedding(affinity: Any, n_vectors: int) -> np.ndarray:
    r"""Return the solutions y of :math:`L y = \lambda D y` with the smallest eigenvalues, but for the constant one.

    They have :math:`y' D y = 1`. An example whose affinities vanish beside those of others (`isolated`) belongs to no
    cluster and is 0 in all of them: divided by its degree it would outweigh all others. In a graph of several parts
    some of the others have the eigenvalue 0, too: they tell the parts apart, and are kept.

    Parameters
    ----------
    affinity : ndarray or sparse array of shape (n, n)
        The symmetric affinities S.
    n_vectors : int
        How many.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.graphs.embedding_fit import embedding
    >>> chain = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)
    >>> np.abs(embedding(chain, 1)[:, 0]).round(3).tolist()
    [0.577, 0.289, 0.289, 0.577]
    """
    root = np.sqrt(degrees(affinity))
    eigenvalues, vectors = smallest_pairs(affinity, n_vectors + 1)
    # any combinations of the vectors of the eigenvalue 0 may be found: the constant one is taken out of all of them
    zero = eigenvalues <= max(_ZERO, eigenvalues[0])
    constant = root / np.linalg.norm(root)
    parts = vectors[:, zero] - np.outer(constant, constant @ vectors[:, zero])
    others = np.linalg.svd(parts, full_matrices=False)[0][:, :-1]
    kept = np.column_stack([others, vectors[:, ~zero]])
    apart = isolated(affinity)
    return np.where(apart, 0.0, 1.0)[:, None] * kept / np.where(apart, 1.0, root)[:, None]


def isolated(affinity: Any) -> np.ndarray:
    """Return which examples are so far from all others that their affinities vanish beside the largest ones.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.graphs.embedding_fit import isolated
    >>> isolated(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1e-30], [0.0, 1e-30, 0.0]])).tolist()
    [False, False, True]
    """
    found = degrees(affinity)
    return found <= _VANISHING * found.max()


def sparse_fits(values: np.ndarray, targets: np.ndarray, n_coefficients: int, n_jobs: int | None = None) -> np.ndarray:
    """Return coefficients of L1-regularised regressions, by least angles: at most so many are not zero.

    Parameters
    ----------
    values : ndarray of shape (n, C)
        The columns, centred.
    targets : ndarray of shape (n, q)
        What each regression explains.
    n_coefficients : int
        How many steps the path takes; every step lets one column in, or one out.
    n_jobs : int or None
        Number of workers.

    Returns
    -------
    ndarray of shape (C, q)
        The coefficients at the end of the path.
    """
    from sklearn.exceptions import ConvergenceWarning

    fits = _Path(np.asfortranarray(values), targets - targets.mean(axis=0), n_coefficients)
    with warnings.catch_warnings():
        # of columns that are combinations of others one is left out, as it must be
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = run_parallel(fits, range(targets.shape[1]), n_jobs, description="fitting regressions")
    return np.column_stack(found)


@dataclass(frozen=True, eq=False)
class _Path:
    values: np.ndarray
    targets: np.ndarray
    n_steps: int

    def __call__(self, number: int) -> np.ndarray:
        from sklearn.linear_model import lars_path

        _, _, found = lars_path(
            self.values, self.targets[:, number], max_iter=self.n_steps, method="lasso", return_path=False
        )
        return found
