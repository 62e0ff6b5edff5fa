"""Data in parts by features: all labelled examples of as many features as fit in memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from omnirank.core.errors import DataError, setting
from omnirank.core.parallel import worker_count
from omnirank.data.dataset import Dataset
from omnirank.data.table import Table
from omnirank.rankers._fitting import labelled_part
from omnirank.shards.dataset import ShardedDataset
from omnirank.shards.samples import more_memory

# Bytes per row: a feature while parts of it are put together, and likewise a target variable with its columns of
# counts.
_FEATURE = 16
_TARGET = 40
# The share of the memory that blocks may take while they are read.
_READING = 4


def feature_blocks(data: ShardedDataset, n_jobs: int | None, worker_bytes: int) -> Iterator[Dataset]:
    """Yield the features in order, some at a time, with all labelled examples: for scores of each feature alone.

    Files of columns are read once, whatever the number of blocks, except for the targets.

    Parameters
    ----------
    data : ShardedDataset
        The data.
    n_jobs : int or None
        Number of workers that score features at the same time.
    worker_bytes : int
        Bytes that a worker takes for each row of a feature.

    Raises
    ------
    DataError
        Where one feature is too much.
    """
    for chosen in _chosen(data, n_jobs, worker_bytes):
        part = data.select_features(chosen)
        read = part.dataset_of(Table.joined(list(part.tables(max_memory=data.source.max_memory // _READING))))
        yield labelled_part(read, ())[0]


def _chosen(data: ShardedDataset, n_jobs: int | None, worker_bytes: int) -> list[np.ndarray]:
    """Positions of the features of each block."""
    allowed = data.source.max_memory * (_READING - 1) // _READING
    fixed = data.n_examples * (_TARGET * data.n_targets + worker_bytes * worker_count(n_jobs))
    each = data.n_examples * _FEATURE
    if fixed + each > allowed:
        least = (fixed + each) * _READING // (_READING - 1) / 2**20
        bound = setting("max_memory", data.source.max_memory)
        raise DataError(
            f"one feature of {data.name!r} with its target takes {least:.3g} MB in memory, more than {bound}: "
            f"{more_memory()}"
        )
    n_blocks = -(-data.n_features // ((allowed - fixed) // each))
    return np.array_split(np.arange(data.n_features), n_blocks)
