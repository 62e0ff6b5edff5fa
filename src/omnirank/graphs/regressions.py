"""Regressions on coordinates of a graph with few columns: MCFS, NDFS, UDFS and SFSS."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from omnirank.core.blas_threads import one_blas_thread
from omnirank.core.errors import ParameterError
from omnirank.core.parallel import blocks, counted_steps, run_parallel
from omnirank.graphs.affinity import degrees, nearest_rows, smallest_pairs

# Norms below this count as this much: a column that has once been left out may come back.
_LEAST_NORM = 1e-12
# Eigenvalues of normalised Laplacians lie between 0 and 2: below this they are 0.
_ZERO = 1e-9
# Degrees below this share of the largest one are those of isolated examples.
_VANISHING = 1e-12
_TINY = 1e-16
# Cells of the neighbourhoods of a block, and the examples it has at most.
_MOST_CELLS = 2**22
_MOST_ROWS = 256
# Weight of the zeros that unlabelled examples have as labels: so little that it only keeps the system regular.
_RIDGE = 1e-6


def row_norms(coefficients: np.ndarray) -> np.ndarray:
    """Return the Euclidean norms of the rows, one per column of the data.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.graphs.regressions import row_norms
    >>> row_norms(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [5.0, 0.0]
    """
    return np.sqrt(np.einsum("ij,ij->i", coefficients, coefficients))


def reweighted(coefficients: np.ndarray) -> np.ndarray:
    r"""Return the diagonal of Q, :math:`1 / (2 \|w_i\|)`: the slope of the norms at the present coefficients."""
    return 0.5 / np.maximum(row_norms(coefficients), _LEAST_NORM)


def solve_positive(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve a system with a positive definite matrix, which is overwritten.

    The triangles of such a matrix are as precise as the scales of its rows allow, however much these differ.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.graphs.regressions import solve_positive
    >>> solve_positive(np.diag([2.0, 4e15]), np.array([[2.0], [4e15]])).round(12).tolist()
    [[1.0], [1.0]]
    """
    try:
        return linalg.cho_solve(linalg.cho_factor(matrix, lower=True, overwrite_a=True), right)
    except linalg.LinAlgError:
        raise ParameterError(
            "the weights of the parts of the objective are too far apart for a solution: choose them nearer to 1"
        ) from None


def ridge(values: np.ndarray, targets: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    r"""Return :math:`W = (X' X + \mathrm{diag}(p))^{-1} X' F`, by the smaller of two systems.

    Where there are more columns than examples, :math:`W = P^{-1} X' (X P^{-1} X' + I)^{-1} F` is the same.

    Parameters
    ----------
    values : ndarray of shape (n, C)
        The columns X.
    targets : ndarray of shape (n, q)
        The targets F.
    penalty : ndarray
        The numbers p, one per column, positive.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.graphs.regressions import ridge
    >>> ridge(np.array([[1.0], [-1.0]]), np.array([[2.0], [-2.0]]), np.array([2.0])).tolist()
    [[1.0]]
    """
    n, n_columns = values.shape
    if n_columns <= n:
        gram = values.T @ values
        gram[np.diag_indices(n_columns)] += penalty
        return solve_positive(gram, values.T @ targets)
    scaled = values / penalty
    gram = scaled @ values.T
    gram[np.diag_indices(n)] += 1.0
    return scaled.T @ solve_positive(gram, targets)


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
    >>> from omnirank.graphs.regressions import embedding
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
    >>> from omnirank.graphs.regressions import isolated
    >>> isolated(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1e-30], [0.0, 1e-30, 0.0]])).tolist()
    [False, False, True]
    """
    degree = degrees(affinity)
    return degree <= _VANISHING * degree.max()


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

    fits = partial(_end_of_path, np.asfortranarray(values), targets - targets.mean(axis=0), n_coefficients)
    with warnings.catch_warnings():
        # of columns that are combinations of others one is left out, as it must be
        warnings.simplefilter("ignore", ConvergenceWarning)
        coefficients = run_parallel(fits, range(targets.shape[1]), n_jobs, description="fitting regressions")
    return np.column_stack(coefficients)


def _end_of_path(values: np.ndarray, targets: np.ndarray, n_steps: int, number: int) -> np.ndarray:
    from sklearn.linear_model import lars_path

    # scikit-learn leaves out a column that lies within 1e-7 of those chosen, in units for columns of norm 1: of norm
    # 1/8, so that rounding does not keep it in, which makes coefficients infinite
    size = 8 * 2.0 ** np.round(np.log2(len(values)) / 2)
    path = lars_path(values / size, targets[:, number] * size, max_iter=n_steps, method="lasso", return_path=False)
    return path[2] / size**2


class Fit(NamedTuple):
    """The end of an iteration; the objective after each step, where it decides about the end."""

    coefficients: np.ndarray
    n_iterations: int
    converged: bool
    objectives: Sequence[float] = ()


def cluster_indicators(values: np.ndarray, n_clusters: int, seed: int) -> np.ndarray:
    """Return the start of the indicators: those of k-means clusters, each column of norm 1, plus 0.02.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.graphs.regressions import cluster_indicators
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
        if _have_settled(objectives, tol):
            return Fit(W, step + 1, True, objectives)
    return Fit(W, max_iter, False, objectives)


def _have_settled(objectives: list[float], tol: float) -> bool:
    """Whether the last objective differs from the one before by this share of it at most.

    Examples
    --------
    >>> from omnirank.graphs.regressions import _have_settled
    >>> _have_settled([2.0], 1.0), _have_settled([3.0, 2.0], 0.5), _have_settled([3.0, 2.0], 0.4)
    (False, True, False)
    """
    return len(objectives) > 1 and abs(objectives[-1] - objectives[-2]) <= tol * abs(objectives[-1])


def _objective(
    F: np.ndarray, W: np.ndarray, values: np.ndarray, affinity: Any, degree: np.ndarray, alpha: float, beta: float
) -> float:
    rest = values @ W - F
    along = float(np.sum(F * (degree * F - affinity @ F)))
    return along + alpha * (float(np.sum(rest**2)) + beta * float(row_norms(W).sum()))


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
    inverses = run_parallel(
        partial(_inverses, values, members, gamma), parts, n_jobs, description="inverting neighbourhoods"
    )
    cells = np.concatenate(inverses)
    first = np.broadcast_to(members[:, :, None], cells.shape).ravel()
    second = np.broadcast_to(members[:, None, :], cells.shape).ravel()
    together = sparse.csr_array((cells.ravel(), (first, second)), shape=(n, n))
    scatter = coordinates.T @ (together @ coordinates)
    return (scatter + scatter.T) / 2


def _inverses(values: np.ndarray, members: np.ndarray, gamma: float, rows: range) -> np.ndarray:
    """H (X_i X_i' + gamma I)^-1 H of the examples of a block."""
    near = values[members[rows.start : rows.stop]]
    near = near - near.mean(axis=1, keepdims=True)
    gram = near @ near.transpose(0, 2, 1)
    size = gram.shape[1]
    gram[:, np.arange(size), np.arange(size)] += gamma
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
        if _have_settled(objectives, tol):
            return Fit(W, step + 1, True, objectives)
    return Fit(W, max_iter, False, objectives)


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
) -> Fit:
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
            return Fit(W, step + 1, True)
        before = W
    return Fit(W, max_iter, False)
