"""Exceptions of omnirank, each also the built-in type that scikit-learn users expect; and its one logger."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any, overload

_LONGEST_VALUE = 200


class OmnirankError(Exception):
    """Base of every error that omnirank raises on purpose."""


class DataError(OmnirankError, ValueError):
    """The data cannot be used as asked; the message names the column and the row."""


class ConstantTargetError(DataError):
    """The target has one class or value only in the examples at hand: there is nothing to learn."""


class DataTypeError(OmnirankError, TypeError):
    """A container or column has a type that omnirank does not handle."""


class DataWarning(UserWarning):
    """The data may mean something else than they say: a doubtful task, a feature that is a trap.

    ``Dataset.notes`` has the same texts; ``warnings.simplefilter("ignore", om.errors.DataWarning)`` silences them.
    """


class _Shown(str):
    """A value of which only its text is left."""

    def __repr__(self) -> str:
        return str(self)


# How a command spells a parameter and its value; None where it has no option for it.
SPELLING: ContextVar[Callable[[str, Any], str | None]] = ContextVar("omnirank_spelling", default=lambda *_: None)


def setting(name: str, value: Any = ...) -> str:
    """Return how a text names a parameter and its value.

    Every text that names a parameter and a value (errors, warnings, notes) has it from here, so that commands print
    the option instead (`SPELLING`).

    Examples
    --------
    >>> from omnirank.core.errors import setting
    >>> setting("task", "auto"), setting("separator")
    ("task='auto'", 'separator=...')
    """
    if getattr(value, "shape", None) == ():  # numpy.int64(3) reads 3
        value = value.item()
    option = SPELLING.get()(name, value)
    if option is not None:
        return option
    text = "..." if value is ... else repr(value)
    return f"{name}={text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + '...'}"


class ParameterError(OmnirankError, ValueError):
    """A parameter has a value outside its domain, or parameters do not go together.

    ``ParameterError(name, value, advice)`` is about one parameter. ``ParameterError(advice)`` is about several or
    about another thing that was asked for; its name and value are None.

    Attributes
    ----------
    name : str or None
        The parameter.
    value : anything
        What was given.
    advice : str
        What to do.

    Examples
    --------
    >>> from omnirank.errors import ParameterError
    >>> error = ParameterError("n_trees", 0, "choose a whole number from 1")
    >>> str(error), error.name, error.value
    ('n_trees=0: choose a whole number from 1', 'n_trees', 0)
    """

    name: str | None
    value: Any
    advice: str

    @overload
    def __init__(self, advice: str, /) -> None: ...

    @overload
    def __init__(self, name: str, value: Any, advice: str, /) -> None: ...

    def __init__(self, *fields: Any) -> None:
        self.name, self.value, self.advice = fields if len(fields) == 3 else (None, None, *fields)
        super().__init__(self.advice if self.name is None else f"{setting(self.name, self.value)}: {self.advice}")

    def __reduce__(self) -> tuple[Any, ...]:
        if self.name is None:
            return type(self), (self.advice,)
        # not every value can be pickled, nor ought large ones to travel: of those the text goes
        value = self.value.item() if getattr(self.value, "shape", None) == () else self.value
        plain = value is None or isinstance(value, str | bool | int | float)
        return type(self), (self.name, value if plain else _Shown(repr(value)), self.advice)


class MissingDependencyError(OmnirankError, ImportError):
    """An optional package is needed; the message says how to install it."""


class ClusterError(OmnirankError, RuntimeError):
    """Workers of a cluster died too often for the work to be done."""


class FileFormatError(DataError):
    """A file is malformed; knows the file, line and column (both from 1) of the fault.

    ``cure`` holds the arguments of `omnirank.load` with which the file can be read, where they are known; ``call`` is
    how to read it then.

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
        cure: Mapping[str, Any] | None = None,
        call: str = "",
    ) -> None:
        self.problem, self.cure, self.call = problem, dict(cure or {}), call
        self.path = None if path is None else Path(path)
        self.line = line
        self.column = column
        parts = [] if path is None else [str(path)]
        if line is not None:
            parts.append(f"line {line}")
        if column is not None:
            parts.append(f"column {column}")
        super().__init__((f"{', '.join(parts)}: {problem}" if parts else problem) + call)


logger = logging.getLogger("omnirank")
logger.addHandler(logging.NullHandler())
