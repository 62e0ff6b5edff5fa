"""Facts by the objects that they speak of."""

from __future__ import annotations

import numpy as np

from omnirank.core.compiled import allocating


@allocating
def group_codes(codes, n_codes):
    """Return where each code's facts start, and the facts in the order of codes (none where they are in it already)."""
    starts = np.zeros(n_codes + 1, np.int64)
    in_order = True
    for i in range(codes.shape[0]):
        starts[codes[i] + 1] += 1
        if i and codes[i] < codes[i - 1]:
            in_order = False
    for code in range(n_codes):
        starts[code + 1] += starts[code]
    order = np.empty(0 if in_order else codes.shape[0], np.int32)
    if not in_order:
        places = starts.copy()
        for i in range(codes.shape[0]):
            order[places[codes[i]]] = i
            places[codes[i]] += 1
    return starts, order


@allocating
def expand(starts, ends):
    """Return where the matches of each binding start, and their places: the ranges one after the other."""
    n = starts.shape[0]
    offsets = np.zeros(n + 1, np.int64)
    for i in range(n):
        offsets[i + 1] = offsets[i] + ends[i] - starts[i]
    places = np.empty(offsets[n], np.int64)
    for i in range(n):
        for j in range(ends[i] - starts[i]):
            places[offsets[i] + j] = starts[i] + j
    return offsets, places
