"""What is computed by object and shared by features and fits, within a bound of memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, Generic, Protocol, TypeVar

from omnirank.relational.database import Database


class Keepable(Protocol):
    """Something that takes memory."""

    @property
    def n_bytes(self) -> int:
        """How much."""


Kept = TypeVar("Kept", bound=Keepable)


class ValueCache(Generic[Kept]):
    """Keeps the values that were used last, up to a number of bytes.

    Parameters
    ----------
    n_bytes : int
        The bound.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.relational.aggregation import Values
    >>> from omnirank.relational.value_cache import ValueCache
    >>> cache = ValueCache(16)
    >>> cache.put("a", Values(np.zeros(1)))
    >>> cache.put("b", Values(np.zeros(2)))
    >>> cache.get("a") is None, cache.get("b").array.tolist()
    (True, [0.0, 0.0])
    """

    def __init__(self, n_bytes: int) -> None:
        self.n_bytes = n_bytes
        self._kept: OrderedDict[Hashable, Kept] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Kept | None:
        """Return what is kept under a key, or None."""
        with self._lock:
            values = self._kept.get(key)
            if values is not None:
                self._kept.move_to_end(key)
            return values

    def put(self, key: Hashable, values: Kept) -> None:
        """Keep values, and forget those that were not used for longest where there is no room."""
        with self._lock:
            if key in self._kept or values.n_bytes > self.n_bytes:
                return
            self._kept[key] = values
            self._size += values.n_bytes
            while self._size > self.n_bytes:
                _, old = self._kept.popitem(last=False)
                self._size -= old.n_bytes


def value_cache(database: Database, n_bytes: int, name: str = "values") -> ValueCache[Any]:
    """Return a cache of a database, with a new bound."""
    cache: ValueCache[Any] = database._indexes.setdefault(name, ValueCache(n_bytes))
    cache.n_bytes = n_bytes
    return cache
