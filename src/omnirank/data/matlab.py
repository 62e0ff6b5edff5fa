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
from omnirank.data.files import Content, plain_name, read_whole
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
    features = _features(_one(variables, "x", others, path), path)
    names, levels = numbered_names(features.shape[1], "x"), [None] * features.shape[1]
    given = _one(variables, "y", others, path)
    target = [] if given is None else _target(given, features.shape[0], path)
    target_names = ("Y",) if len(target) == 1 else numbered_names(len(target), "Y")
    return Content(
        path=path,
        names=(*names, *target_names),
        kinds=("numeric",) * len(names) + tuple("numeric" if lev is None else "nominal" for _, lev in target),
        table=_joined(features, target, (*names, *target_names), [*levels, *(lev for _, lev in target)]),
        declared=False,
        target=target_names if target else (),
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
        found = loadmat(
            io.BytesIO(content), variable_names=chosen, spmatrix=False, verify_compressed_data_integrity=True
        )
    except Exception as problem:  # damaged files meet SciPy with many kinds of errors
        what = f"{type(problem).__name__}: {problem}".split("\n")[0][:200]
        raise FileFormatError(f"not a MATLAB file that can be read ({what})", path=path) from None
    return {name: found[name] for name in chosen}, sorted(set(names) - set(chosen))


def _one(variables: dict[str, Any], name: str, others: list[str], path: Path) -> Any:
    found = [variable for variable in variables if variable.lower() == name]
    if len(found) > 1:
        raise FileFormatError(f"there are both {found[0]} and {found[1]}: keep one of them", path=path)
    if not found and name == "x":
        shown = ", ".join(others[:10]) or "none"
        raise FileFormatError(f"there is no variable X with the features; the variables are: {shown}", path=path)
    return variables[found[0]] if found else None


def _features(values: Any, path: Path) -> Any:
    values = _numbers(values, "X", path)
    if values.ndim != 2 or 0 in values.shape:
        raise FileFormatError(f"X has the shape {values.shape}: expected examples x features", path=path)
    return values


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
    _refuse_infinite(values.data if is_sparse(values) else values, name, path)
    return values


def _refuse_infinite(values: np.ndarray, name: str, path: Path) -> None:
    infinite = np.argwhere(np.isinf(values))
    if len(infinite):
        where = f", row {infinite[0][0] + 1}, column {infinite[0][1] + 1}" if values.ndim == 2 else ""
        raise FileFormatError(f"{name}{where}: an infinite value", path=path)


def _target(values: Any, n_rows: int, path: Path) -> list[tuple[np.ndarray, Levels | None]]:
    matrix = _numbers(values, "Y", path)
    if is_sparse(matrix):
        matrix = matrix.toarray()
    if matrix.ndim == 2 and matrix.shape[0] == 1 != n_rows and matrix.shape[1] == n_rows:
        matrix = matrix.T
    if matrix.ndim != 2 or matrix.shape[0] != n_rows or matrix.shape[1] == 0:
        raise FileFormatError(f"Y has the shape {matrix.shape}, but X has {counted(n_rows, 'row')}", path=path)
    known = matrix[~np.isnan(matrix)]
    if not np.array_equal(known, np.round(known)):
        return [(column, None) for column in matrix.T]
    if matrix.shape[1] > 1 and set(np.unique(known).tolist()) <= {0.0, 1.0}:
        return [(np.where(np.isnan(column), -1, column).astype(np.int32), ("0", "1")) for column in matrix.T]
    coded = [code_numbers(column) for column in matrix.T]
    return [(codes, tuple(str(int(level)) for level in levels)) for codes, levels in coded]


def _joined(
    features: Any,
    target: list[tuple[np.ndarray, Levels | None]],
    names: tuple[str, ...],
    levels: list[Levels | None],
) -> Table:
    if not is_sparse(features):
        if not target:
            return Table.from_numeric(features, names)
        return Table.from_columns(names, [*features.T, *(cells for cells, _ in target)], levels)
    parts = [features]
    for cells, lev in target:
        column = cells if lev is None else np.where(cells < 0, np.nan, cells)
        parts.append(sparse.csc_array(column.astype(np.float64).reshape(-1, 1)))
    try:
        return Table.from_sparse(sparse.hstack(parts, format="csc"), names, levels)
    except ValueError as problem:
        raise DataError(str(problem)) from None
