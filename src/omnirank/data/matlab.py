"""MATLAB files (.mat) with the features in X and, where there is one, the target in Y."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import loadmat, whosmat

from omnirank.core.errors import DataError, FileFormatError
from omnirank.core.text import counted
from omnirank.core.types import PathLike
from omnirank.data.columns import code_numbers
from omnirank.data.containers import checked_sparse
from omnirank.data.files import Content, column_kinds, plain_name, read_whole, unreadable
from omnirank.data.table import Levels, Table, is_sparse, numbered_names, rounded_error, rounded_places

# Kinds of variables that are no numbers, by the kind of array that SciPy makes of them.
_KINDS = {"c": "complex", "U": "char", "O": "cell", "V": "struct"}


def read_matlab(path: PathLike) -> Content:
    """Read X and Y (in either case) of a MATLAB file up to version 7.

    X is a matrix of numbers, examples in rows; features are called x1, x2, ... Y, if the file has one, is the
    target: one column, called Y, or several, Y1, Y2, ... Columns of integers are nominal, others numeric;
    several columns of 0 and 1 are labels. NaN is missing.

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
    >>> content.table.names, content.target, content.table.levels[2]
    (('x1', 'x2', 'Y'), ('Y',), ('1', '2'))
    """
    path = Path(path)
    variables, others = _variables(path)
    features = _numbers(_one(variables, "x", others, path), "X", path)
    if features.ndim != 2 or 0 in features.shape:
        raise FileFormatError(f"X has the shape {features.shape}: expected examples x features", path=path)
    names = numbered_names(features.shape[1], "x")
    table = Table.from_sparse(features, names) if is_sparse(features) else Table.from_numeric(features, names)
    given = _one(variables, "y", others, path)
    target = None if given is None else _target(given, table, path)
    return Content(
        path=path,
        names=names if target is None else (*names, *target.names),
        kinds=column_kinds(table) + (() if target is None else column_kinds(target)),
        table=table if target is None else table.beside(target),
        declared=False,
        target=() if target is None else target.names,
        relation=plain_name(path),
        notes=(f"variables besides X and Y are not read: {', '.join(others)}",) if others else (),
    )


def _variables(path: Path) -> tuple[dict[str, Any], list[str]]:
    """The variables that are called X and Y in either case, and the names of the others."""
    content = read_whole(path)
    if content[:8] == b"\x89HDF\r\n\x1a\n" or content[:19] == b"MATLAB 7.3 MAT-file":
        raise FileFormatError("a MATLAB 7.3 file (HDF5) is not read: save it with the option -v7", path=path)
    try:
        names = [name for name, _, _ in whosmat(io.BytesIO(content))]
        chosen = [name for name in names if name.lower() in ("x", "y")]
        loaded = loadmat(
            io.BytesIO(content), variable_names=chosen, spmatrix=False, verify_compressed_data_integrity=True
        )
    except Exception as problem:
        raise unreadable(problem, "a MATLAB file", path) from None
    return {name: loaded[name] for name in chosen}, sorted(set(names) - set(chosen))


def _one(variables: dict[str, Any], name: str, others: list[str], path: Path) -> Any:
    matching = [variable for variable in variables if variable.lower() == name]
    if len(matching) > 1:
        raise FileFormatError(f"there are both {matching[0]} and {matching[1]}: keep one of them", path=path)
    if not matching and name == "x":
        shown = ", ".join(others[:10]) or "none"
        raise FileFormatError(f"there is no variable X with the features; the variables are: {shown}", path=path)
    return variables[matching[0]] if matching else None


def _numbers(values: Any, name: str, path: Path) -> Any:
    if values.dtype.kind not in "biuf":
        kind = _KINDS.get(values.dtype.kind, values.dtype)
        raise FileFormatError(f"{name} is not a matrix of numbers ({kind})", path=path)
    if is_sparse(values):
        try:
            values = checked_sparse(values, name)
        except DataError as problem:
            raise FileFormatError(str(problem), path=path) from None
    if len(rounded_places(values.data if is_sparse(values) else values)):
        raise FileFormatError(str(rounded_error(name)), path=path)
    if is_sparse(values) or values.dtype != np.float32:
        values = values.astype(np.float64)
    cells = values.data if is_sparse(values) else values
    infinite = np.argwhere(np.isinf(cells))
    if len(infinite):
        where = f", row {infinite[0][0] + 1}, column {infinite[0][1] + 1}" if cells.ndim == 2 else ""
        raise FileFormatError(f"{name}{where}: an infinite value", path=path)
    return values


def _target(values: Any, features: Table, path: Path) -> Table:
    """The target: whole numbers are classes, and labels where there are several columns of 0 and 1."""
    n_rows = features.n_rows
    matrix = _numbers(values, "Y", path)
    if is_sparse(matrix):
        matrix = matrix.toarray()
    if matrix.ndim == 2 and matrix.shape[0] == 1 != n_rows and matrix.shape[1] == n_rows:
        matrix = matrix.T
    if matrix.ndim != 2 or matrix.shape[0] != n_rows or matrix.shape[1] == 0:
        raise FileFormatError(f"Y has the shape {matrix.shape}, but X has {counted(n_rows, 'row')}", path=path)
    names = ("Y",) if matrix.shape[1] == 1 else numbered_names(matrix.shape[1], "Y")
    known = matrix[~np.isnan(matrix)]
    levels: list[Levels | None] = [None] * len(names)
    columns = list(matrix.T)
    if matrix.shape[1] > 1 and np.isin(known, (0.0, 1.0)).all():
        levels = [("0", "1")] * len(names)
    elif np.array_equal(known, np.round(known)):
        coded = [code_numbers(column) for column in columns]
        columns = [np.where(codes < 0, np.nan, codes) for codes, _ in coded]
        levels = [tuple(str(int(level)) for level in own) for _, own in coded]
    if features.is_sparse:
        return Table.from_sparse(sparse.csc_array(np.column_stack(columns)), names, levels)
    codes = [c if own is None else np.where(np.isnan(c), -1, c) for c, own in zip(columns, levels, strict=True)]
    return Table.from_columns(names, codes, levels)
