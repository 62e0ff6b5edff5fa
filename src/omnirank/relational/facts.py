"""Facts in canonical order: sorted lexicographically, each once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Facts = tuple[np.ndarray, ...]


def unique_order(codes: Sequence[np.ndarray]) -> np.ndarray | None:
    """Return the order that sorts rows by the codes of their keys; None where two rows have the same.

    Codes of one key are sorted by counting, and not at all where they are in order.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.relational.facts import unique_order
    >>> unique_order([np.array([2, 0, 1])]).tolist(), unique_order([np.array([1, 1])])
    ([1, 2, 0], None)
    """
    if len(codes) == 1:
        return _by_counting(codes[0])
    order = np.lexsort(tuple(codes)[::-1])
    same = np.ones(max(0, len(order) - 1), bool)
    for code in codes:
        taken = code[order]
        same &= taken[1:] == taken[:-1]
    return None if same.any() else order


def _by_counting(codes: np.ndarray) -> np.ndarray | None:
    n = len(codes)
    if not n or (codes[1:] > codes[:-1]).all():
        return np.arange(n)
    place = np.full(int(codes.max()) + 1, -1, np.int64)
    place[codes] = np.arange(n)
    order = place[place >= 0]
    return order if len(order) == n else None


def sorted_facts(arrays: Facts, times: np.ndarray | None = None) -> tuple[Facts, np.ndarray | None]:
    """Return facts in lexicographic order, each once, with the earliest of the times at which it was known.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.relational.facts import sorted_facts
    >>> facts, times = sorted_facts((np.array([1, 0, 1]), np.array([5.0, 7.0, 5.0])), np.array([3.0, 1.0, 2.0]))
    >>> [array.tolist() for array in facts], times.tolist()
    ([[0, 1], [7.0, 5.0]], [1.0, 2.0])
    """
    columns = arrays if times is None else (*arrays, times)
    if _increase(arrays):
        return arrays, times
    order = np.lexsort(columns[::-1])
    taken = tuple(array[order] for array in arrays)
    differ = np.zeros(max(0, len(order) - 1), bool)
    for array in taken:
        differ |= array[1:] != array[:-1]
    if differ.all():
        return taken, None if times is None else times[order]
    kept = np.concatenate([[True], differ])
    return tuple(array[kept] for array in taken), None if times is None else times[order][kept]


def _increase(arrays: Facts) -> bool:
    """Whether facts are in strictly lexicographic order."""
    equal = np.ones(max(0, len(arrays[0]) - 1), bool)
    less = np.zeros(len(equal), bool)
    for array in arrays:
        less |= equal & (array[:-1] < array[1:])
        equal &= array[:-1] == array[1:]
    return bool(less.all())
