"""Values by object that features share, within a bound of memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable

from omnirank.relational.aggregation import Values
from omnirank.relational.database import Database


class ValueCache:
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
        self._kept: OrderedDict[Hashable, Values] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Values | None:
        """Return what is kept under a key, or None."""
        with self._lock:
            values = self._kept.get(key)
            if values is not None:
                self._kept.move_to_end(key)
            return values

    def put(self, key: Hashable, values: Values) -> None:
        """Keep values, and forget those that were not used for longest where there is no room."""
        with self._lock:
            if key in self._kept or values.array.nbytes > self.n_bytes:
                return
            self._kept[key] = values
            self._size += values.array.nbytes
            while self._size > self.n_bytes:
                _, old = self._kept.popitem(last=False)
                self._size -= old.array.nbytes


def value_cache(database: Database, n_bytes: int) -> ValueCache:
    """Return the cache of a database, with a new bound."""
    cache: ValueCache = database._indexes.setdefault("values", ValueCache(n_bytes))
    cache.n_bytes = n_bytes
    return cache
