"""From which file a data set was read, and how: what it takes to read it again."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset

P = ParamSpec("P")


@dataclass(frozen=True)
class FileSource:
    """A file and the options with which it was read.

    Parameters
    ----------
    path : str
        The file, as it was given.
    options : mapping
        The arguments of `omnirank.load` that were not left at their defaults.
    """

    path: str
    options: Mapping[str, Any]


def remembering_source(read: Callable[P, Dataset]) -> Callable[P, Dataset]:
    """Give the data sets that a function reads from its first argument their `source`."""
    signature = inspect.signature(read)
    first, *others = signature.parameters.values()

    @wraps(read)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> Dataset:
        found = read(*args, **kwargs)
        given = signature.bind(*args, **kwargs).arguments
        options = {p.name: given[p.name] for p in others if p.name in given and _differs(given[p.name], p.default)}
        found.source = FileSource(str(given[first.name]), options)
        return found

    return wrapper


def _differs(value: Any, default: Any) -> bool:
    return not (value is default or (isinstance(value, str | tuple | bool) and value == default))
