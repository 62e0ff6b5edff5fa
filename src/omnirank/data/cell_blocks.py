"""Facts about all cells of a table, block by block: no temporary is as large as the table, and blocks stay in cache."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

_BLOCK = 1 << 20


def any_infinite(values: np.ndarray) -> bool:
    """Return whether a cell is infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.cell_blocks import any_infinite
    >>> any_infinite(np.array([[1.0, np.nan], [np.inf, 2.0]]))
    True
    """
    return any(bool(np.isinf(block).any()) for block, total in _summed(values) if not np.isfinite(total))


def count_missing(values: np.ndarray) -> int:
    """Return the number of missing cells.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.cell_blocks import count_missing
    >>> count_missing(np.array([[1.0, np.nan], [np.inf, -np.inf]]))
    1
    """
    return sum(int(np.count_nonzero(np.isnan(block))) for block, total in _summed(values) if np.isnan(total))


def count_non_zero(values: np.ndarray, enough: float) -> int:
    """Return the number of cells that are not 0; where they are more than enough, some number beyond that.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.cell_blocks import count_non_zero
    >>> count_non_zero(np.eye(3), enough=9)
    3
    """
    found = 0
    for block in _blocks(values):
        found += int(np.count_nonzero(block))
        if found > enough:
            break
    return found


def _summed(values: np.ndarray) -> Iterator[tuple[np.ndarray, float]]:
    """Blocks with their sums: finite unless a cell is infinite, missing or near overflow."""
    for block in _blocks(values):
        with np.errstate(over="ignore", invalid="ignore"):
            total = float(block.sum())
        yield block, total


def _blocks(values: np.ndarray) -> Iterator[np.ndarray]:
    """All cells in blocks; those that do not follow each other in memory in one."""
    if not (values.flags.c_contiguous or values.flags.f_contiguous):
        yield values
        return
    cells = values.ravel(order="A")
    for first in range(0, len(cells), _BLOCK):
        yield cells[first : first + _BLOCK]
