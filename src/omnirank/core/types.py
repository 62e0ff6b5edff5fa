"""What public functions take, as named types: arrays, sparse containers, data frames, paths, seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["ArrayLike", "FrameLike", "MatrixLike", "PathLike", "RandomState", "SparseLike"]


class FrameLike(Protocol):
    """A data frame of pandas, polars or pyarrow."""

    @property
    def columns(self) -> Any:
        """Columns, or their names."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""


class SparseLike(Protocol):
    """A container of `scipy.sparse`, matrix or array, in any format."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of rows and columns."""

    @property
    def nnz(self) -> int:
        """Number of stored cells."""

    def tocsr(self) -> Any:
        """Return the same cells by rows."""


MatrixLike: TypeAlias = ArrayLike | SparseLike
PathLike: TypeAlias = str | Path
RandomState: TypeAlias = int | np.integer | np.random.RandomState | np.random.Generator | None
