"""Exceptions of omnirank; each is also the built-in type that scikit-learn users expect."""

from __future__ import annotations

from pathlib import Path

__all__ = [
    "DataError",
    "DataTypeError",
    "FileFormatError",
    "MissingDependencyError",
    "OmnirankError",
    "ParameterError",
]


class OmnirankError(Exception):
    """Base of every error that omnirank raises on purpose."""


class DataError(OmnirankError, ValueError):
    """The data cannot be used as asked; the message names the column and the row."""


class DataTypeError(OmnirankError, TypeError):
    """A container or column has a type that omnirank does not handle."""


class ParameterError(OmnirankError, ValueError):
    """A parameter has a value outside its domain."""


class MissingDependencyError(OmnirankError, ImportError):
    """An optional package is needed; the message says how to install it."""


class FileFormatError(DataError):
    """A file is malformed; knows the file, line and column (both from 1) of the fault.

    Examples
    --------
    >>> from omnirank.errors import FileFormatError
    >>> str(FileFormatError("value 'x' is not a number", path="iris.arff", line=7, column=3))
    "iris.arff, line 7, column 3: value 'x' is not a number"
    """

    def __init__(
        self,
        problem: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        self.problem = problem
        self.path = None if path is None else Path(path)
        self.line = line
        self.column = column
        parts = [] if path is None else [str(path)]
        if line is not None:
            parts.append(f"line {line}")
        if column is not None:
            parts.append(f"column {column}")
        super().__init__(f"{', '.join(parts)}: {problem}" if parts else problem)
