"""Containers of users, checked where they come in: compiled code follows sparse indices without looking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeGuard

import numpy as np
import pandas as pd
from scipy import sparse

from omnirank.core.errors import DataError, DataTypeError
from omnirank.core.types import ArrayLike, FrameLike, SparseLike

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset
    from omnirank.data.table import Table
    from omnirank.data.target import Target

# Kernels number features by signed integers of 32 bits.
_MOST_COLUMNS = 2**31 - 1


class AnnotatedLike(Protocol):
    """An AnnData object, or one with its matrix, the table of its rows and the names of its columns."""

    X: Any
    obs: Any
    var_names: Any


# Rows may be lists that mix numbers, strings and None, which NumPy does not count as array-like.
FeaturesLike: TypeAlias = "Dataset | Table | ArrayLike | FrameLike | SparseLike | AnnotatedLike | Sequence[Any]"
# Label sets are a sequence of sets.
TargetLike: TypeAlias = "Target | Table | ArrayLike | FrameLike | SparseLike | Sequence[Any]"


def checked_sparse(matrix: Any, what: str = "X") -> Any:
    """Return a sparse container whose indices lie within its shape; `DataError` where they do not.

    Nothing is copied; containers of other formats than CSR, CSC, BSR and COO come back as CSR. Indices may be in any
    order and come twice, as SciPy allows (values of one cell add up).

    Parameters
    ----------
    matrix : scipy.sparse container
        Two-dimensional.
    what : str
        What it is, for the message.

    Examples
    --------
    >>> from scipy import sparse
    >>> from omnirank.data.containers import checked_sparse
    >>> matrix = sparse.csr_array([[0.0, 1.0]])
    >>> matrix.indices[0] = 7
    >>> checked_sparse(matrix)
    Traceback (most recent call last):
    omnirank.core.errors.DataError: X is a damaged sparse matrix: ...
    """
    if matrix.ndim != 2:
        raise DataError(
            f"Expected 2D array for {what}, got a sparse array with {matrix.ndim} dimension(s): reshape it, or give "
            "it as a dense array"
        )
    if matrix.shape[1] > _MOST_COLUMNS:
        raise DataError(f"{what} has {matrix.shape[1]} columns, more than {_MOST_COLUMNS}: use some of the columns")
    if matrix.format not in ("csr", "csc", "bsr", "coo"):
        matrix = matrix.tocsr()
    try:
        if matrix.format == "coo":
            sparse.coo_array((matrix.data, (matrix.row, matrix.col)), shape=matrix.shape)
        else:
            if matrix.indices.dtype.kind != "i" or matrix.indptr.dtype.kind != "i":
                raise ValueError("its indices are no integers")
            matrix.check_format(full_check=True)
            if (np.diff(matrix.indptr) < 0).any():  # SciPy looks at this only where there are cells
                raise ValueError("its starts fall")
    except ValueError as problem:
        raise DataError(f"{what} is a damaged sparse matrix: {problem}") from None
    return matrix


def refuse_structured(values: Any, what: str) -> None:
    """Raise an error where an array has several fields in a cell.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.containers import refuse_structured
    >>> refuse_structured(np.zeros(2, dtype=[("age", float), ("town", "U9")]), "X")
    Traceback (most recent call last):
    omnirank.core.errors.DataTypeError: X is a structured array (age, town): give pd.DataFrame(X)
    """
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind == "V":
        fields = f" ({', '.join(dtype.names)})" if dtype.names else ""
        raise DataTypeError(f"{what} is a structured array{fields}: give pd.DataFrame({what})")


def as_array(values: Any) -> np.ndarray:
    """Return values as an array in which no cell has changed its type or lost its mask.

    NumPy itself turns the list ["a", nan] into two strings and [True, nan] into two numbers.

    Examples
    --------
    >>> from omnirank.data.containers import as_array
    >>> as_array(["a", float("nan"), True]).tolist()
    ['a', nan, True]
    """
    values = unmasked(values)
    if not isinstance(values, list | tuple):
        return np.asarray(values)
    try:
        array = np.array(values, dtype=object)
    except ValueError:
        raise DataError("the rows have different lengths") from None
    if array.ndim == 1 and any(isinstance(row, list | tuple | np.ndarray) for row in array):
        raise DataError("the rows have different lengths")
    return array


def unmasked(values: Any) -> Any:
    """Return masked arrays, and lists of them, as arrays whose masked cells are missing; anything else as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.containers import unmasked
    >>> unmasked(np.ma.masked_array([1, -9999], mask=[False, True])).tolist()
    [1, None]
    """
    if isinstance(values, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in values):
        values = np.ma.array(values, dtype=object)
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if not np.ma.is_masked(values):
        return np.asarray(values)
    missing = {"f": np.nan, "M": np.datetime64("NaT"), "m": np.timedelta64("NaT")}.get(values.dtype.kind)
    cells = np.array(values, dtype=object if missing is None else None)
    cells[np.ma.getmaskarray(values)] = missing
    return cells


def is_unknown(value: Any) -> bool:
    """Whether a value is None, NaN, NA or NaT.

    Examples
    --------
    >>> from omnirank.data.containers import is_unknown
    >>> [is_unknown(value) for value in (None, float("nan"), 0, "")]
    [True, True, False, False]
    """
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value)


def is_annotated(X: Any) -> TypeGuard[AnnotatedLike]:
    """Whether X is an AnnData object, or has its matrix ``X``, table ``obs`` and ``var_names``."""
    return all(hasattr(X, name) for name in ("X", "obs", "var_names"))


def annotated_target(X: Any, y: Any) -> Any:
    """Return the column of ``obs`` that y names where X is an AnnData object, else y."""
    return X.obs[y] if isinstance(y, str) and is_annotated(X) and y in X.obs else y


def in_memory(X: Any) -> Any:
    """Return data in parts (`omnirank.ShardedDataset`) as a `Dataset`, if they fit; anything else as it is.

    Examples
    --------
    >>> from omnirank.data.containers import in_memory
    >>> in_memory([[1.0]])
    [[1.0]]
    """
    read = getattr(X, "in_memory", None)
    return X if read is None else read()
