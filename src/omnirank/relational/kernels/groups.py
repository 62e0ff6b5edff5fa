"""Facts by the objects that they speak of, and aggregates of consecutive groups of values.

A group's result depends on nothing but its own values and their order, so that it has the same bits however many
groups are reduced in one call.
"""

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


_LARGEST = 1.7976931348623157e308
_SHORT = 24


@allocating
def reduce_numbers(offsets, values, wanted):
    """Count, min, max, mean and sum of each group, in one pass; infinite values do not count.

    ``wanted[i]`` is the row in which the i-th of these is returned, or -1. The largest float stands for any larger sum,
    and a mean stays between the smallest and the largest value.
    """
    n = offsets.shape[0] - 1
    results = np.empty((wanted.max() + 1, n))
    for group in range(n):
        start, end = offsets[group], offsets[group + 1]
        count = 0
        total = 0.0
        smallest = np.inf
        largest = -np.inf
        for i in range(start, end):
            value = float(values[i])  # interpreted too, a sum may be too large without a word
            if abs(value) <= _LARGEST:
                count += 1
                total += value
                smallest = min(smallest, value)
                largest = max(largest, value)
        mean = np.inf
        if count:
            # Of equal numbers the mean is that number, whatever rounding says.
            mean = min(max(total / count, smallest), largest)
            total = min(max(total, -_LARGEST), _LARGEST)
        if wanted[0] >= 0:
            results[wanted[0], group] = count
        if wanted[1] >= 0:
            results[wanted[1], group] = smallest
        if wanted[2] >= 0:
            results[wanted[2], group] = largest
        if wanted[3] >= 0:
            results[wanted[3], group] = mean
        if wanted[4] >= 0:
            results[wanted[4], group] = total
    return results


@allocating
def count_different_numbers(offsets, values):
    """Count the different finite numbers of each group."""
    n = offsets.shape[0] - 1
    results = np.empty(n)
    longest = 0
    for group in range(n):
        longest = max(longest, offsets[group + 1] - offsets[group])
    kept = np.empty(longest)
    for group in range(n):
        count = 0
        for i in range(offsets[group], offsets[group + 1]):
            value = values[i]
            if not abs(value) <= _LARGEST:
                continue
            if offsets[group + 1] - offsets[group] > _SHORT:
                kept[count] = value
                count += 1
                continue
            place = count
            while place > 0 and kept[place - 1] > value:
                place -= 1
            if place > 0 and kept[place - 1] == value:
                continue
            for j in range(count, place, -1):
                kept[j] = kept[j - 1]
            kept[place] = value
            count += 1
        if offsets[group + 1] - offsets[group] > _SHORT and count:
            ordered = np.sort(kept[:count])
            different = 1
            for j in range(1, count):
                different += ordered[j] != ordered[j - 1]
            count = different
        results[group] = count
    return results


@allocating
def count_different_codes(offsets, codes, n_codes):
    """Count the codes of each group, and the different ones; -1 does not count."""
    n = offsets.shape[0] - 1
    counts = np.empty(n)
    different = np.empty(n)
    seen = np.full(n_codes, -1, np.int64)
    for group in range(n):
        count = 0
        new = 0
        for i in range(offsets[group], offsets[group + 1]):
            code = codes[i]
            if code >= 0:
                count += 1
                if seen[code] != group:
                    seen[code] = group
                    new += 1
        counts[group] = count
        different[group] = new
    return counts, different


@allocating
def most_frequent_codes(offsets, codes, n_codes):
    """Return the most frequent code of each group, the smallest of equally frequent ones, -1 where there is none."""
    n = offsets.shape[0] - 1
    results = np.empty(n, np.int32)
    counts = np.zeros(n_codes, np.int64)
    for group in range(n):
        start, end = offsets[group], offsets[group + 1]
        best = -1
        for i in range(start, end):
            code = codes[i]
            if code >= 0:
                counts[code] += 1
                if best < 0 or counts[code] > counts[best] or (counts[code] == counts[best] and code < best):
                    best = code
        for i in range(start, end):
            if codes[i] >= 0:
                counts[codes[i]] = 0
        results[group] = best
    return results


@allocating
def same_halves(codes, n_levels, missing, one, two):
    """Return which features can divide rows into these two halves: numbers by a threshold, levels by a set.

    Missing cells (of the largest code) may go to either half, all of them to the same.
    """
    found = np.zeros(codes.shape[0], np.bool_)
    seen = np.full(max(1, n_levels.max()), -1, np.int64)
    for f in range(codes.shape[0]):
        low, high, side, some_missing, agree = np.int64(missing), np.int64(-1), 0, False, True
        for i in range(one.shape[0]):
            c = np.int64(codes[f, one[i]])
            if c == missing:
                some_missing = True
            elif n_levels[f]:
                seen[c] = f
            else:
                low, high = min(low, c), max(high, c)
        for i in range(two.shape[0]):
            c = np.int64(codes[f, two[i]])
            if c == missing:
                agree = not some_missing
            elif n_levels[f]:
                agree = seen[c] != f
            else:
                here = -1 if c < low else 1
                agree = (c < low or c > high) and here != -side
                side = here
            if not agree:
                break
        found[f] = agree
    return found
