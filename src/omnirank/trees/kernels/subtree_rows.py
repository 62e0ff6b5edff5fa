"""Copies of the rows of a subtree: they lie together in memory, and their ranks fit 16 bits.

Trees on copies are the same: only the order of codes decides, and rows keep their order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from omnirank.core.compiled import compiled, inlined
from omnirank.core.kernels.vector import count_bits
from omnirank.trees.kernels.spaces import DenseColumns, OneColumn
from omnirank.trees.kernels.split import NumericCodes

# A subtree of up to so many rows has 16-bit ranks, the largest of which means missing.
MOST_ROWS = np.iinfo(np.uint16).max - 1

# Codes of so many bytes are no longer in the cache of a processor; below, copying takes longer than reading them.
LARGE = 2**25

# A copy has about so many cells at most.
_MOST_CELLS = 2**24
_LEAST_ROWS = 2048

# Rows that are turned into columns at a time.
_TILE = 64


def copies_pay(space: Any, kind: type, codes: np.ndarray) -> bool:
    """Whether subtrees grow on copies of their rows: where codes of this kind take 32 bits, and much memory."""
    wide = codes.itemsize > np.dtype(np.uint16).itemsize
    return wide and codes.nbytes > LARGE and kind is NumericCodes and isinstance(space, OneColumn | DenseColumns)


def rows_per_copy(space: Any, features: Any) -> int:
    """Return how many rows a subtree has at most that gets a copy of them; 0 if none does."""
    if not copies_pay(space, type(features), features.codes):
        return 0
    return min(MOST_ROWS, max(_LEAST_ROWS, _MOST_CELLS // features.codes.shape[0]))


def copies(space: Any, features: NumericCodes, most: int) -> Callable[[np.ndarray], tuple[Any, NumericCodes]]:
    """Return what copies up to ``most`` rows; each copy takes the place of the one before in memory."""
    n_features, n_rows = features.codes.shape
    n_words = n_rows // 64 + 1
    present, below, ranks = np.empty(n_words, np.uint64), np.empty(n_words, np.uint32), np.empty(most, np.uint32)
    by_feature, by_row = np.empty(n_features * most, np.uint16), np.empty(n_features * most, np.uint16)

    def copy(rows: np.ndarray) -> tuple[Any, NumericCodes]:
        n = len(rows)
        codes = by_feature[: n_features * n].reshape(n_features, n)
        cells = by_row[: n_features * n].reshape(n, n_features)
        narrow_codes(features.codes, features.missing, rows, present, below, ranks, codes, cells)
        missing = np.uint16(np.iinfo(np.uint16).max)
        copied = NumericCodes(codes, missing, np.zeros(0, np.uint32), features.distinct, cells)
        return type(space)(space.z[rows]), copied

    return copy


def restore_tests(features: Any, feature: np.ndarray, cut: np.ndarray, ends: np.ndarray, rows: np.ndarray) -> None:
    """Put rows and codes of the data into the tests of a subtree that was grown on a copy of these rows."""
    tests = np.flatnonzero(feature >= 0)
    ends[:, tests] = rows[ends[:, tests]]
    cut[tests] = features.codes[feature[tests], ends[0, tests]]


@compiled
def narrow_codes(codes, missing, rows, present, below, ranks, by_feature, by_row):
    """Rank the codes of some rows, feature by feature, missing ones last.

    The rank of a code is the number of codes below it that are present, which a bit each tells: counted once for each
    word of bits, and within the word.

    Parameters
    ----------
    codes, missing : ndarray of uint32, uint32
        As in NumericCodes.
    rows : ndarray of uint32
        Up to 65,534 rows.
    present, below, ranks : ndarray
        Memory: a bit per code, a number per word of them, a code per row.
    by_feature, by_row : ndarray of uint16
        Ranks, written by this.
    """
    n = len(rows)
    last = np.uint16(0xFFFF)
    for f in range(codes.shape[0]):
        for w in range(len(present)):
            present[w] = 0
        for i in range(n):
            c = codes[f, rows[i]]
            ranks[i] = c
            if c != missing:
                present[c >> np.uint32(6)] |= _bit(c)
        total = np.uint32(0)
        for w in range(len(present)):
            below[w] = total
            total += np.uint32(count_bits(present[w]))
        for i in range(n):
            c = ranks[i]
            if c == missing:
                by_feature[f, i] = last
            else:
                w = c >> np.uint32(6)
                by_feature[f, i] = below[w] + np.uint32(count_bits(present[w] & (_bit(c) - np.uint64(1))))
    for start in range(0, n, _TILE):
        end = min(start + _TILE, n)
        for f in range(codes.shape[0]):
            for i in range(start, end):
                by_row[i, f] = by_feature[f, i]


@inlined
def _bit(code):
    return np.uint64(1) << np.uint64(code & np.uint32(63))
