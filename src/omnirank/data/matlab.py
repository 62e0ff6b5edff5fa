"""MATLAB files (.mat) with the features in X and, where there is one, the target in Y."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import loadmat

from omnirank.core.errors import DataError, DataTypeError, FileFormatError
from omnirank.core.types import PathLike
from omnirank.data.columns import table_from
from omnirank.data.files import Content, read_whole, unreadable
from omnirank.data.table import Table, is_sparse, numbered_names


def read_matlab(path: PathLike) -> Content:
    """Read X and Y (in either case) of a MATLAB file up to version 7.

    X is a matrix of numbers, examples in rows; features are called x1, x2, ... Y, if the file has one, is the
    target: one column, called Y, or several, Y1, Y2, ... NaN is missing.

    Parameters
    ----------
    path : str or Path
        The file, plain or gzipped.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from scipy.io import savemat
    >>> from omnirank.data.matlab import read_matlab
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "small.mat")
    ...     savemat(path, {"X": np.eye(2), "Y": np.array([[1], [2]])})
    ...     content = read_matlab(path)
    >>> content.table.names, content.target
    (('x1', 'x2', 'Y'), ('Y',))
    """
    path = Path(path)
    content = read_whole(path)
    if content[:8] == b"\x89HDF\r\n\x1a\n" or content[:19] == b"MATLAB 7.3 MAT-file":
        raise FileFormatError("a MATLAB 7.3 file (HDF5) is not read: save it with the option -v7", path=path)
    try:
        loaded = loadmat(io.BytesIO(content), spmatrix=False, verify_compressed_data_integrity=True)
    except Exception as problem:
        raise unreadable(problem, "a MATLAB file", path) from None
    variables = {name.lower(): values for name, values in loaded.items() if not name.startswith("__")}
    others = sorted(set(variables) - {"x", "y"})
    if "x" not in variables:
        raise FileFormatError(f"there is no variable X with the features, only: {', '.join(others[:10])}", path=path)
    table = _table(variables["x"], "x", path)
    target, integers = tuple[str, ...](), frozenset[str]()
    if "y" in variables:
        y = variables["y"].toarray() if is_sparse(variables["y"]) else variables["y"]
        y = y.T if y.shape[0] == 1 != table.n_rows else y
        if y.ndim != 2 or len(y) != table.n_rows:
            raise FileFormatError(f"Y has the shape {y.shape}, but X has {table.n_rows} rows", path=path)
        columns = _table(sparse.csc_array(y) if table.is_sparse else y, "Y", path)
        target = columns.names
        whole = y.dtype.kind in "biu" or np.array_equal(y, np.round(y), equal_nan=True)
        integers = frozenset(target if whole else ())
        table = table.beside(columns)
    notes = (f"variables besides X and Y are not read: {', '.join(others)}",) if others else ()
    return Content.of_table(path, table, integers=integers, target=target, notes=notes)


def _table(values: Any, stem: str, path: Path) -> Table:
    """A matrix of numbers as a table; the only column of a target is called like the matrix."""
    try:
        if values.dtype.kind not in "biuf":
            raise DataTypeError(f"{stem.upper()} is not a matrix of numbers ({values.dtype})")
        if values.dtype.kind == "b":
            values = values.astype(np.float64)
        names: Sequence[str] = (
            (stem,) if stem == "Y" and values.shape[1] == 1 else numbered_names(values.shape[1], stem)
        )
        return table_from(values, names)
    except (DataError, DataTypeError, IndexError) as problem:
        raise FileFormatError(str(problem), path=path) from None
