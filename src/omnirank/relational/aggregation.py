"""Aggregates: what they take and give, what they say of nothing, and all of them over groups of values at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

# In the order in which candidates list them.
AGGREGATES = ("count", "count_unique", "min", "max", "mean", "sum", "mode")
EXISTS = "exists"
IDENTITY = "identity"
NONE_LEVEL = "<none>"

# What these aggregates give for an empty group of numbers, others 0; a mode and an identity of levels give the code -1.
_EMPTY = {"min": np.inf, "mean": np.inf, "identity": np.inf, "max": -np.inf}
_OF_LEVELS = ("mode", "identity")


class Values(NamedTuple):
    """Values of one aggregate or variable: numbers, or codes.

    Parameters
    ----------
    array : ndarray
        float64 numbers (infinite: undefined), or int32 codes (-1: undefined).
    n_codes : int or None
        Number of levels or objects that codes stand for; None for numbers.
    """

    array: np.ndarray
    n_codes: int | None = None

    @property
    def n_bytes(self) -> int:
        """Memory that they take."""
        return self.array.nbytes

    def take(self, places: np.ndarray, unknown: np.ndarray | None, aggregate: str) -> Values:
        """Return the values at some places; at unknown ones stands what the aggregate says of an empty group."""
        if unknown is None:
            return Values(self.array[places], self.n_codes)
        taken = np.full(len(places), self.empty(aggregate), self.array.dtype)
        taken[~unknown] = self.array[places[~unknown]]
        return Values(taken, self.n_codes)

    def empty(self, aggregate: str) -> float:
        """Return what an aggregate that gives such values says of an empty group."""
        return _EMPTY.get(aggregate, 0.0) if self.n_codes is None else -1


def aggregate(values: Values, offsets: np.ndarray, names: Iterable[str]) -> dict[str, Values]:
    """Return aggregates of consecutive groups of values; undefined values do not count.

    Parameters
    ----------
    values : Values
        The values, group after group.
    offsets : ndarray of shape (n_groups + 1,)
        Where each group starts, and the end.
    names : iterable of str
        The aggregates.

    Notes
    -----
    What a group gives depends on its own values and their order only, in every bit.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.relational.aggregation import Values, aggregate
    >>> stars = Values(np.array([3.0, 2.0, 3.0]))
    >>> found = aggregate(stars, np.array([0, 2, 3, 3]), ["mean", "max"])
    >>> found["mean"].array.tolist(), found["max"].array.tolist()
    ([2.5, 3.0, inf], [3.0, 3.0, -inf])
    """
    names = tuple(dict.fromkeys(names))
    # One layout: code that is compiled for another could add in another order.
    values = Values(np.ascontiguousarray(values.array), values.n_codes)
    if values.n_codes is None:
        return _of_numbers(values.array, offsets, names)
    return _of_codes(values, offsets, names)


def count_matches(offsets: np.ndarray, names: Iterable[str]) -> dict[str, Values]:
    """Return ``count`` and ``exists`` of groups of facts.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.relational.aggregation import count_matches
    >>> count_matches(np.array([0, 2, 2]), ["exists"])["exists"].array.tolist()
    [1.0, 0.0]
    """
    counts = np.diff(offsets)
    found = {"count": counts, EXISTS: counts > 0}
    return {name: Values(found[name].astype(np.float64)) for name in names}


_SLOTS = {"count": 0, "min": 1, "identity": 1, "max": 2, "exists": 2, "mean": 3, "sum": 4}


def _of_numbers(array: np.ndarray, offsets: np.ndarray, names: tuple[str, ...]) -> dict[str, Values]:
    from omnirank.relational.kernels.groups import count_different_numbers, reduce_numbers

    wanted = np.full(5, -1, np.int64)
    in_one_pass = [name for name in names if name != "count_unique"]
    for name in in_one_pass:
        wanted[_SLOTS[name]] = max(wanted.max() + 1, 0) if wanted[_SLOTS[name]] < 0 else wanted[_SLOTS[name]]
    found: dict[str, Values] = {}
    if in_one_pass:
        rows = reduce_numbers(offsets, array, wanted)
        found = {name: Values(rows[wanted[_SLOTS[name]]]) for name in in_one_pass}
    if EXISTS in found:
        found[EXISTS] = Values((found[EXISTS].array > 0).astype(np.float64))
    if "count_unique" in names:
        found["count_unique"] = Values(count_different_numbers(offsets, array))
    return found


def _of_codes(values: Values, offsets: np.ndarray, names: tuple[str, ...]) -> dict[str, Values]:
    from omnirank.relational.kernels.groups import count_different_codes, most_frequent_codes

    n_codes = int(values.n_codes or 0)
    found: dict[str, Values] = {}
    if {"count", "count_unique"} & set(names):
        counts, different = count_different_codes(offsets, values.array, n_codes)
        found |= {"count": Values(counts), "count_unique": Values(different)}
    if set(_OF_LEVELS) & set(names):
        modes = Values(most_frequent_codes(offsets, values.array, n_codes), values.n_codes)
        found |= dict.fromkeys(_OF_LEVELS, modes)
    return {name: found[name] for name in names}
