"""Regressions whose coefficients are zero for whole columns, as NDFS and SFSS solve them again and again."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from omnirank.core.errors import ParameterError

# Norms below this count as this much: a column that has once been left out may come back.
_LEAST_NORM = 1e-12


def row_norms(coefficients: np.ndarray) -> np.ndarray:
    """Return the Euclidean norms of the rows, one per column of the data.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.graphs.row_sparse import row_norms
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
    >>> from omnirank.graphs.row_sparse import solve_positive
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
    >>> from omnirank.graphs.row_sparse import ridge
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
