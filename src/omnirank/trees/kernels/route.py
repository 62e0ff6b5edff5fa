"""Routing examples down a tree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omnirank.core.compiled import Kinds, allocating, dispatched, inlined
from omnirank.trees.kernels.grow import in_subset


class CodeTests(NamedTuple):
    """Tests of a grown tree over feature codes."""

    feature: np.ndarray
    cut: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    subsets: np.ndarray


class Codes(NamedTuple):
    """Feature codes of the training rows."""

    codes: np.ndarray
    missing: int
    n_levels: np.ndarray


class CellCodes(NamedTuple):
    """Feature codes of the non-zero cells of the training rows."""

    starts: np.ndarray  # by row
    features: np.ndarray
    codes: np.ndarray
    zero: np.ndarray  # code of 0 in each feature
    missing: int
    n_levels: np.ndarray


@dispatched(Kinds("codes to route by"))
def code_of(codes, f, row):
    """Code of feature f in a row."""


@code_of.kind(Codes)
def _dense_code(codes, f, row):
    return codes.codes[f, row]


@code_of.kind(CellCodes)
def _cell_code(codes, f, row):
    low = np.int64(codes.starts[row])
    end = np.int64(codes.starts[row + 1])
    high = end
    while low < high:
        middle = (low + high) >> 1
        if codes.features[middle] < f:
            low = middle + 1
        else:
            high = middle
    if low < end and codes.features[low] == f:
        return codes.codes[low]
    return codes.zero[f]


@inlined
def next_node(tests, codes, here, f, c):
    """The child of node ``here`` for code c of its feature f."""
    if c == codes.missing:
        left = tests.missing_left[here] == 1
    elif codes.n_levels[f] > 0:
        left = in_subset(tests.subsets, tests.cut[here], c)
    else:
        left = c <= tests.cut[here]
    return here + 1 if left else tests.right[here]


@inlined
def walk(tests, codes, row, turn, met, path, first):
    """Leaf of a training row, and the number of features on its way: listed in ``path``, first met at ``first``.

    ``met`` holds the turn in which a feature was met last; turns are positive and differ.
    """
    here = 0
    n = 0
    while tests.feature[here] >= 0:
        f = tests.feature[here]
        if met[f] != turn:
            met[f] = turn
            path[n] = f
            first[n] = here
            n += 1
        here = next_node(tests, codes, here, f, code_of(codes, f, row))
    return here, n


@inlined
def walk_with(tests, codes, row, here, f, c):
    """Leaf of a training row from node ``here`` on, with code c of feature f instead of its own."""
    while tests.feature[here] >= 0:
        g = tests.feature[here]
        here = next_node(tests, codes, here, g, c if g == f else code_of(codes, g, row))
    return here


@allocating
def leaves_of_values(feature, threshold, right, missing_left, subset_start, subsets, n_levels, X):
    """Leaf that each row of a float matrix reaches (nominal features as codes, NaN = missing)."""
    leaf = np.empty(len(X), np.int32)
    for i in range(len(X)):
        here = 0
        while feature[here] >= 0:
            x = X[i, feature[here]]
            if np.isnan(x):
                left = missing_left[here] == 1
            elif n_levels[feature[here]] > 0:
                left = in_subset(subsets, subset_start[here], np.int64(x))
            else:
                left = x <= threshold[here]
            here = here + 1 if left else right[here]
        leaf[i] = here
    return leaf
