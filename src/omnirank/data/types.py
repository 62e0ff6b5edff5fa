"""What ``fit`` and `Dataset` take, as named types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from omnirank.core.types import ArrayLike, FrameLike, SparseLike

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset
    from omnirank.data.table import Table
    from omnirank.data.target import Target

# Rows may be lists that mix numbers, strings and None, which NumPy does not count as array-like.
FeaturesLike: TypeAlias = "Dataset | Table | ArrayLike | FrameLike | SparseLike | Sequence[Any]"
# Label sets are a sequence of sets.
TargetLike: TypeAlias = "Target | Table | ArrayLike | FrameLike | SparseLike | Sequence[Any]"
