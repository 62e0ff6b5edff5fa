"""What examples take in memory while trees grow on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from omnirank.core.errors import advised, setting
from omnirank.data.dataset import Dataset


class Needs(NamedTuple):
    """Measured bytes, while two trees grow.

    Attributes
    ----------
    cell : int
        For each cell of a feature: the cell itself, its code, and its copy by row.
    column : int
        For each clustering column of a row.
    row : int
        For each row.
    """

    cell: int
    column: int
    row: int


# Two samples, a tree on each.
OF_SAMPLES = Needs(cell=26, column=32, row=400)
# All examples, and both trees on all of them; reading them, with the buffers of Arrow, takes less.
OF_ALL = Needs(cell=30, column=120, row=600)


def row_bytes(dataset: Dataset, clusters_features: bool, needs: Needs = OF_SAMPLES) -> int:
    """Return what an example takes in memory while trees grow on it.

    Parameters
    ----------
    dataset : Dataset
        Examples of the same kind.
    clusters_features : bool
        Whether features are clustering columns, too.
    needs : Needs
        What its parts take.
    """
    features, target = dataset.features, dataset.target
    n_columns = 0 if target is None else sum(_n_columns(levels) for levels in target.levels)
    if clusters_features:
        n_columns += sum(_n_columns(levels) for levels in features.levels)
    n_cells = features.n_columns
    if features.is_sparse:
        n_cells = -(-features.matrix.nnz // max(features.n_rows, 1))
    return needs.row + needs.cell * n_cells + needs.column * n_columns


def more_memory(least: int | None = None) -> str:
    """Return the advice to allow more memory, or to use fewer examples.

    Parameters
    ----------
    least : int, optional
        Bytes that are enough, where they are known.

    Examples
    --------
    >>> from omnirank.shards.needs import more_memory
    >>> more_memory(), more_memory(2048)
    ('give open_shards more, or take some of the examples (data.take)', 'give open_shards at least max_memory=2048, or \
take some of the examples (data.take)')
    """
    fewer = "or take some of the examples (data.take)"
    if least is None:
        return advised(f"give open_shards more, {fewer}", f"allow more memory ({setting('max_memory')})")
    enough = f"at least {setting('max_memory', least)}"
    return advised(f"give open_shards {enough}, {fewer}", f"give {enough}")


def _n_columns(levels: Sequence[Any] | None) -> int:
    return 1 if levels is None else len(levels)
