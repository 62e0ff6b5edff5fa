"""The search of extra trees where nodes try most features: row by row, for 16 features at once.

The cells of a row lie together. Reading them by feature instead, as `draw` does, fetches a piece of memory per cell.
"""

from __future__ import annotations

import numpy as np

from omnirank.core.compiled import Kinds, dispatched
from omnirank.trees.kernels.blocks import DenseBlocks
from omnirank.trees.kernels.candidates import SLACK, STATE, better, draw_feature
from omnirank.trees.kernels.draw import NumericDraws
from omnirank.trees.kernels.draw_lanes import (
    BLOCK,
    LEFT_VALUE,
    LEFT_WEIGHT,
    THRESHOLD,
    draw_halves,
    draw_values,
    half_norm_8,
    half_norm_16,
)
from omnirank.trees.kernels.gram import GramColumns
from omnirank.trees.kernels.labels import LabelSets
from omnirank.trees.kernels.nominal import MixedCodes, MixedDraws, MixedSets
from omnirank.trees.kernels.random import mix
from omnirank.trees.kernels.spaces import SPACES, DenseColumns, OneColumn
from omnirank.trees.kernels.split import CODES, LOW_ROW, MISSING_LEFT, NumericCodes
from omnirank.trees.kernels.two_parts import TwoParts

_BY_ROW = Kinds("spaces that are searched by row")


@dispatched(CODES, 2)
def search_together(space, node, features, rows, weight, n, total, settings, seed, work, pool, swaps, state):
    """Draw and try as many features as a node must, if this kind of features can try them all at once.

    Returns how many were drawn, none otherwise, and the random state of the next draw.
    """


@search_together.kind(NumericCodes, MixedCodes, MixedSets, MixedDraws)
def _one_by_one(space, node, features, rows, weight, n, total, settings, seed, work, pool, swaps, state):
    return np.int64(0), state


@search_together.kind(NumericDraws)
def _by_row(space, node, features, rows, weight, n, total, settings, seed, work, pool, swaps, state):
    return search_rows(space, node, features, rows, weight, n, total, settings, seed, work, pool, swaps, state)


@dispatched(SPACES)
def search_rows(space, node, features, rows, weight, n, total, settings, seed, work, pool, swaps, state):
    """As search_together, on cells that are kept by row."""


@search_rows.kind(DenseBlocks, LabelSets, GramColumns, TwoParts)
def _not_these(space, node, features, rows, weight, n, total, settings, seed, work, pool, swaps, state):
    """Gains take longer here than reading the cells."""
    return np.int64(0), state


@search_rows.kind(OneColumn, DenseColumns)
def _search(space, node, features, rows, weight, n, total, settings, seed, work, pool, swaps, state):
    n_features = len(pool)
    if features.by_row.shape[0] == 0:
        return np.int64(0), state
    n_drawn = np.int64(min(settings.max_features, n_features))
    if n_drawn < n_features:
        for f in range(n_features):
            work.drawn[f] = 0
        for d in range(n_drawn):
            state = mix(state)
            work.drawn[draw_feature(pool, swaps, d, state)] = 1
    for first in range(0, features.by_row.shape[1], BLOCK):
        admissible = draw_together(space, node, features, first, rows, weight, n, total, settings.min_leaf, work)
        for j in range(BLOCK):
            if (admissible >> np.uint64(j)) & np.uint64(1):
                k = work.found[LEFT_WEIGHT, j]
                gain = left_norm(space, node, j, 2.0 * k > total, n, work) * total / (k * (total - k))
                if better(gain, first + j, 0, settings.first_tie, seed, work.best, work.test):
                    work.test[MISSING_LEFT] = 0
                    work.test[LOW_ROW] = -1
                    work.best[1] = work.found[THRESHOLD, j]
    return n_drawn, state


@dispatched(_BY_ROW)
def draw_together(space, node, features, first, rows, weight, n, total, min_leaf, work):
    """Draw thresholds of a block of features into work.found; returns, as bits, which of them have one."""


@dispatched(_BY_ROW)
def left_norm(space, node, j, right, n, work):
    """Return |S_L|^2 = |S_R|^2 of feature j of a block (rows are centred); the rows on the right are fewer, or not."""


@draw_together.kind(OneColumn)
def _draw_one(space, node, features, first, rows, weight, n, total, min_leaf, work):
    base, least = np.uint64(work.test[STATE]), min_leaf - SLACK
    return draw_values(
        features.by_row, first, rows, n, weight, work.drawn, base, total, least, work.found, node.centred
    )


@draw_together.kind(DenseColumns)
def _draw_dense(space, node, features, first, rows, weight, n, total, min_leaf, work):
    base, least = np.uint64(work.test[STATE]), min_leaf - SLACK
    return draw_halves(features.by_row, first, rows, n, weight, work.drawn, base, total, least, work.found, work.halves)


@left_norm.kind(OneColumn)
def _one_norm(space, node, j, right, n, work):
    return work.found[LEFT_VALUE, j] * work.found[LEFT_VALUE, j]


@left_norm.kind(DenseColumns)
def _dense_norm(space, node, j, right, n, work):
    norm = 0.0
    last = node.centred.shape[1]
    c = 0
    while last - c >= 16:
        norm += half_norm_16(node.centred, c, work.halves, j, right, n)
        c += 16
    if c < last:
        norm += half_norm_8(node.centred, c, work.halves, j, right, n)
    return norm
