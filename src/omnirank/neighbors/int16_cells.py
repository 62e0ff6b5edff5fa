"""Numbers rounded to 16 bits, for the first pass of the exact search."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnirank.neighbors.mixed_distances import Cells

# The range from 0 to 1 has this many units, half of them below zero; with more columns than this the sums overflow.
_UNITS = 32766
_MOST_FEATURES = 60_000


def fit_words(cells: Cells) -> bool:
    """Whether all cells are numbers, and few enough that sums of 32 bits hold them."""
    return cells.n_numeric == cells.n_features <= _MOST_FEATURES


class WordCells:
    """Cells as words of 16 bits, two in each of 32 bits.

    Parameters
    ----------
    cells : Cells
        Numbers alone.
    offsets : ndarray
        What the missing cells of each example add to its distances.
    members : list of ndarray
        Numbers of the examples of each group.
    """

    def __init__(self, cells: Cells, offsets: np.ndarray, members: list[np.ndarray]) -> None:
        n_rows, n_features = cells.values.shape
        words = np.zeros((n_rows, n_features + n_features % 2), np.int16)
        np.rint(cells.values * _UNITS - _UNITS // 2, out=words[:, :n_features], casting="unsafe")
        self._sums = words.sum(axis=1, dtype=np.int32)
        self._pairs = words.view(np.int32)
        self._offsets = offsets.astype(np.float32)
        self.unit = np.float32(1 / _UNITS)
        self.blocks, self.groups = self._in_blocks(members)

    @property
    def error(self) -> np.ndarray:
        """Bound of the error of a distance d: error[0] + error[1] d.

        Both cells of a difference are wrong by half a unit at most; sums of units are exact, and what is done with
        them in single precision (one conversion, one product, two sums) is rounded, offsets relative to their size.
        """
        n_features = 2 * self._pairs.shape[1]
        return np.array([n_features / _UNITS * (1 + 2.0**-20) + n_features * 2.0**-22, 2.0**-22])

    def rows(self, rows: np.ndarray) -> Any:
        """Return the given examples, padded to whole tiles."""
        from omnirank.neighbors.kernels.int16_search import Words
        from omnirank.neighbors.kernels.tile import ROWS

        padded = np.zeros(-(-len(rows) // ROWS) * ROWS, np.int64)
        padded[: len(rows)] = rows
        own = padded.astype(np.int32)
        own[len(rows) :] = -1
        return Words(self._pairs[padded], self._sums[padded], self._offsets[padded], own)

    def _in_blocks(self, members: list[np.ndarray]) -> tuple[Any, np.ndarray]:
        from omnirank.neighbors.kernels.int16_search import WIDTH, Words

        parts = [
            (group, numbers[start : start + WIDTH])
            for group, numbers in enumerate(members)
            for start in range(0, len(numbers), WIDTH)
        ]
        shape = (len(parts), WIDTH)
        cells = np.zeros((len(parts), self._pairs.shape[1], WIDTH), np.int32)
        sums, ids = np.zeros(shape, np.int32), np.full(shape, -1, np.int32)
        offset = np.full(shape, np.inf, np.float32)
        for block, (_, numbers) in enumerate(parts):
            n = len(numbers)
            cells[block, :, :n] = self._pairs[numbers].T
            sums[block, :n], offset[block, :n], ids[block, :n] = self._sums[numbers], self._offsets[numbers], numbers
        return Words(cells, sums, offset, ids), np.array([group for group, _ in parts], np.int64)
