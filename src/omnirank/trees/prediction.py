"""Means of the leaves that examples reach, averaged over trees, block by block of examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from omnirank.core.parallel import run_parallel, worker_count
from omnirank.data.table import Table, is_sparse
from omnirank.trees.tree import Tree, routing_matrix

# Rows of a block: as many as keep it in the cache. Rows do not meet, so blocks change no bit of a result.
_BLOCK_CELLS = 2**19
_BLOCK_ROWS = (256, 4096)


def row_blocks(n_rows: int, n_columns: int, n_workers: int = 1) -> list[slice]:
    """Return the blocks of rows in which a table is routed: at least one per worker, unless they would be small.

    No rows are one empty block, so that results of none have their usual shape.
    """
    least, most = _BLOCK_ROWS
    step = min(most, max(least, _BLOCK_CELLS // max(1, n_columns)))
    step = min(step, max(least, -(-n_rows // n_workers)))
    return [slice(start, min(start + step, n_rows)) for start in range(0, max(1, n_rows), step)]


def _by_blocks(work: Callable[[slice], np.ndarray], table: Table, n_jobs: int | None) -> np.ndarray:
    """Results of all blocks of rows, one below the other."""
    parts = row_blocks(table.n_rows, table.n_columns, worker_count(n_jobs))
    if len(parts) == 1:  # starting workers would take longer than a few predictions
        return work(parts[0])
    return np.concatenate(run_parallel(work, parts, n_jobs))


def average_means(
    trees: Sequence[Tree],
    table: Table,
    n_columns: int,
    finish: Callable[[np.ndarray], np.ndarray] = np.asarray,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Return ``finish(prototypes averaged over the trees)`` for the rows of a table.

    Parameters
    ----------
    trees : sequence of Tree
        With prototypes.
    table : Table
        Features with the levels of the training table.
    n_columns : int
        Number of columns of the prototypes.
    finish : callable
        Called with a block of averages; what it returns is kept. So the averages of thousands of labels are
        never held at once where only decisions are wanted.
    n_jobs : int or None
        Number of workers, over blocks of rows; the same bits for any number.
    """
    return _by_blocks(partial(_average_block, trees, table, n_columns, finish), table, n_jobs)


def _average_block(
    trees: Sequence[Tree], table: Table, n_columns: int, finish: Callable[[np.ndarray], np.ndarray], rows: slice
) -> np.ndarray:
    sums = _sum_block(trees, table, n_columns, None, rows)
    sums /= len(trees)
    return finish(sums)


def sum_means(
    trees: Sequence[Tree], table: Table, n_columns: int, excluded: np.ndarray, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return summed prototypes and their number for each row, over the trees that do not exclude it.

    Parameters
    ----------
    trees, table, n_columns, n_jobs
        As in :func:`average_means`.
    excluded : ndarray of bool (trees, rows)
        Rows that a tree has seen.
    """
    work = partial(_sum_block, trees, table, n_columns, excluded)
    return _by_blocks(work, table, n_jobs), (~excluded).sum(axis=0)


def _sum_block(
    trees: Sequence[Tree], table: Table, n_columns: int, excluded: np.ndarray | None, rows: slice
) -> np.ndarray:
    sums = np.zeros((rows.stop - rows.start, n_columns))
    block = np.ascontiguousarray(routing_matrix(table, rows).T)  # by feature, as the kernel wants it
    added = np.arange(len(sums), dtype=np.int32)
    for i, tree in enumerate(trees):
        if excluded is not None:
            added = np.flatnonzero(~excluded[i, rows]).astype(np.int32)
        _add(tree, block, added, sums)
    return sums


def leaves_of(trees: Sequence[Tree], table: Table, n_jobs: int | None = None) -> np.ndarray:
    """Return the leaf of each row in each tree, (rows, trees)."""
    return _by_blocks(partial(_leaves_of_block, trees, table), table, n_jobs)


def _leaves_of_block(trees: Sequence[Tree], table: Table, rows: slice) -> np.ndarray:
    matrix = routing_matrix(table, rows)
    return np.column_stack([tree.apply(matrix) for tree in trees])


def add_rows(sums: np.ndarray, rows: np.ndarray, means: Any) -> None:
    """Add means, dense or sparse, to the given rows of ``sums``, each of which is named once."""
    if is_sparse(means):
        sums[np.repeat(rows, np.diff(means.indptr)), means.indices] += means.data
    else:
        sums[rows] += means


def _add(tree: Tree, block: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
    from omnirank.trees.kernels.route import DenseMeans, Matrix, SparseMeans, add_means

    means: Any
    if tree.values is None or tree.value_row is None:
        raise ValueError("this tree was grown without prototypes")
    if is_sparse(tree.values):
        means = SparseMeans(tree.value_row, tree.values.indptr, tree.values.indices, tree.values.data)
    else:
        means = DenseMeans(tree.value_row, tree.values)
    memory = rows.copy(), np.empty_like(rows), np.empty((len(rows) + 1, 3), np.int64)
    add_means(tree.tests, Matrix(block, tree.n_levels), means, *memory, out)
