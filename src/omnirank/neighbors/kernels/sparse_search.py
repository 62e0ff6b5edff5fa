"""Nearest rows of sparse cells: only columns that both rows of a pair store are looked at."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from omnirank.core.compiled import allocating, inlined
from omnirank.neighbors.kernels.tile import TIE


class StoredCells(NamedTuple):
    """Stored cells by rows and by columns, as `omnirank.neighbors.cells.SparseCells` describes them."""

    row_start: Any
    row_columns: Any
    row_values: Any
    column_start: Any
    column_rows: Any
    column_values: Any
    column_far: Any
    absent: Any
    is_nominal: Any
    both_missing: Any


@inlined
def cell_distance(x, t, is_nominal, both_missing):
    """Distance d_i of two cells; NaN is missing, ``both_missing`` the distance of two missing cells."""
    if is_nominal:
        if np.isnan(x) or np.isnan(t):
            return both_missing
        return 1.0 if x != t else 0.0
    if np.isnan(x):
        return both_missing if np.isnan(t) else max(t, 1.0 - t)
    if np.isnan(t):
        return max(x, 1.0 - x)
    return abs(x - t)


@inlined
def stored_distances(cells, first, second, columns, distances, known_only):
    """Write the columns that one of two rows stores, and the distances there; return their number.

    known_only: a distance is NaN where a cell is missing.
    """
    a, a_stop = cells.row_start[first], cells.row_start[first + 1]
    b, b_stop = cells.row_start[second], cells.row_start[second + 1]
    n = 0
    while a < a_stop or b < b_stop:
        if b == b_stop or (a < a_stop and cells.row_columns[a] <= cells.row_columns[b]):
            column = cells.row_columns[a]
        else:
            column = cells.row_columns[b]
        x, t = cells.absent[column], cells.absent[column]
        if a < a_stop and cells.row_columns[a] == column:
            x = cells.row_values[a]
            a += 1
        if b < b_stop and cells.row_columns[b] == column:
            t = cells.row_values[b]
            b += 1
        columns[n] = column
        if known_only and (np.isnan(x) or np.isnan(t)):
            distances[n] = np.nan
        else:
            distances[n] = cell_distance(x, t, cells.is_nominal[column], cells.both_missing[column])
        n += 1
    return n


@allocating
def search_stored(cells, base, groups, own, ids, distances):
    """Fill ids and distances (n_rows, n_groups, k) with the nearest of each group, nearest first, ties by number.

    base (n,): distance of each row to one that stores nothing; groups (n,): group or -1. A distance is the sum of both
    rows' base, corrected in the columns that both store. Places that no row takes keep -1 and an infinite distance.
    """
    n, n_features = len(base), len(cells.absent)
    totals = np.empty(n)
    columns, parts = np.empty(n_features, np.int64), np.empty(n_features)
    ids[:] = -1
    distances[:] = np.inf
    for j in range(len(own)):
        _add_totals(cells, base, own[j], totals)
        for q in range(n):
            if groups[q] >= 0 and q != own[j]:
                _keep(np.rint(totals[q] / TIE), q, ids[j, groups[q]], distances[j, groups[q]])
        for group in range(ids.shape[1]):
            for place in range(ids.shape[2]):
                if ids[j, group, place] >= 0:
                    n_stored = stored_distances(cells, own[j], ids[j, group, place], columns, parts, False)
                    total = 0.0
                    for part in range(n_stored):
                        total += parts[part]
                    distances[j, group, place] = total


@inlined
def _add_totals(cells, base, row, totals):
    for q in range(len(base)):
        totals[q] = base[row] + base[q]
    for place in range(cells.row_start[row], cells.row_start[row + 1]):
        column, x = cells.row_columns[place], cells.row_values[place]
        is_nominal, both_missing = cells.is_nominal[column], cells.both_missing[column]
        far = cell_distance(x, cells.absent[column], is_nominal, both_missing)
        for other in range(cells.column_start[column], cells.column_start[column + 1]):
            both = cell_distance(x, cells.column_values[other], is_nominal, both_missing)
            totals[cells.column_rows[other]] += both - far - cells.column_far[other]


@inlined
def _keep(key, number, ids, keys):
    """Insert one key into a list of the nearest."""
    place = len(keys) - 1
    if key < keys[place]:
        while place > 0 and keys[place - 1] > key:
            keys[place], ids[place] = keys[place - 1], ids[place - 1]
            place -= 1
        keys[place], ids[place] = key, number
