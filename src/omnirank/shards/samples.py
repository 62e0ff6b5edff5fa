"""Random samples of the rows of data in parts, each small enough for memory: which row is in which sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from omnirank.core.errors import DataError, setting
from omnirank.core.seeds import kernel_seed
from omnirank.data.dataset import Dataset

# Number of a random stream that no tree has.
_STREAM = 2**32 - 2
# Trees of fewer examples than this say nothing.
_FEWEST = 50
# So many samples are in memory at once, whatever the number of workers: one is read while another one's trees grow.
AT_ONCE = 2


@dataclass(frozen=True)
class Samples:
    """Rows in random groups, and samples that are made of them.

    A row's group depends on the seed and on the number of the row among all rows, and on nothing else: files may be
    divided and read in any way. So every sample is a random subset of all rows, whatever their order is.

    Labelled and unlabelled rows have groups of their own. Sample s has the labelled rows of group s modulo
    ``n_labelled`` and the unlabelled ones of group s modulo ``n_unlabelled``: few labelled rows are in all samples.

    Parameters
    ----------
    seed : int
        Seed of the groups.
    n_labelled, n_unlabelled : int
        Number of groups of labelled rows, and of unlabelled ones; 0: such rows are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.shards.samples import Samples
    >>> samples = Samples(seed=1, n_labelled=2, n_unlabelled=3)
    >>> samples.groups(np.arange(8), np.arange(8) < 4).tolist()
    [1, 1, 1, 0, 3, 4, 4, 3]
    >>> [samples.groups_of(s) for s in range(samples.n_samples)]
    [(0, 2), (1, 3), (0, 4)]
    """

    seed: int
    n_labelled: int
    n_unlabelled: int

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return max(self.n_labelled, self.n_unlabelled)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return self.n_labelled + self.n_unlabelled

    @property
    def of_labelled(self) -> Samples:
        """The samples of labelled rows only."""
        return Samples(self.seed, self.n_labelled, 0)

    def groups(self, rows: np.ndarray, labelled: np.ndarray) -> np.ndarray:
        """Return the group of each row, -1 where it is in none.

        Parameters
        ----------
        rows : ndarray of int
            Numbers among all rows.
        labelled : ndarray of bool
            Whether they are labelled.
        """
        drawn = _uniform(self.seed, rows)
        group = np.full(len(rows), -1, np.int32)
        for kind, n, first in ((labelled, self.n_labelled, 0), (~labelled, self.n_unlabelled, self.n_labelled)):
            if n:
                group[kind] = first + ((drawn[kind] * np.uint64(n)) >> np.uint64(32)).astype(np.int32)
        return group

    def groups_of(self, sample: int) -> tuple[int, ...]:
        """Return the groups that a sample is made of, in the order of its rows."""
        labelled = (sample % self.n_labelled,) if self.n_labelled else ()
        return labelled + ((self.n_labelled + sample % self.n_unlabelled,) if self.n_unlabelled else ())


def _uniform(seed: int, rows: np.ndarray) -> np.ndarray:
    """Numbers from 0 to 2^32 - 1, one per row: the finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    with np.errstate(over="ignore"):
        x = (rows.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((x ^ (x >> np.uint64(31))) >> np.uint64(32))


def samples_within(max_memory: int, row_bytes: int, entropy: int, n_labelled: int, n_unlabelled: int) -> Samples:
    """Return the fewest samples of which `AT_ONCE` fit in memory.

    Where both kinds of rows are used, labelled ones get half of a sample at least, if there are so many, and all of it
    that unlabelled ones leave.

    Parameters
    ----------
    max_memory : int
        What all samples in memory may take, with what is made of them.
    row_bytes : int
        What a row takes, with what is made of it.
    entropy : int
        Root of the random streams.
    n_labelled, n_unlabelled : int
        Number of rows of each kind; 0: none are used.

    Examples
    --------
    >>> from omnirank.shards.samples import samples_within
    >>> samples = samples_within(1_000_000, 1000, 0, n_labelled=100, n_unlabelled=5000)
    >>> samples.n_labelled, samples.n_unlabelled
    (1, 13)
    """
    rows = max_memory // (AT_ONCE * row_bytes)
    if rows < min(_FEWEST, n_labelled + n_unlabelled):
        raise DataError(
            f"{setting('max_memory', max_memory)} has room for samples of {rows} examples, too few to grow trees on: "
            f"{more_memory(_FEWEST * AT_ONCE * row_bytes)}"
        )
    room = max(rows // 2, rows - n_unlabelled)
    of_labelled = _shares(n_labelled, room)
    left = rows - (-(-n_labelled // of_labelled) if of_labelled else 0)
    of_unlabelled = _shares(n_unlabelled, left)
    if of_unlabelled > of_labelled > 0:  # a multiple: then samples without unlabelled rows have the same labelled ones
        of_unlabelled = of_labelled * _shares(of_unlabelled, of_labelled)
    return Samples(int(kernel_seed(entropy, _STREAM)), of_labelled, of_unlabelled)


def _shares(n_rows: int, room: int) -> int:
    return -(-n_rows // max(room, 1))


def needed_groups(samples: Samples, numbers: Sequence[int]) -> np.ndarray:
    """Return a mask of the groups that some samples are made of.

    Examples
    --------
    >>> from omnirank.shards.samples import Samples, needed_groups
    >>> needed_groups(Samples(seed=1, n_labelled=1, n_unlabelled=3), [0, 2]).tolist()
    [True, True, False, True]
    """
    needed = np.zeros(samples.n_groups, bool)
    for number in numbers:
        needed[list(samples.groups_of(number))] = True
    return needed


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
    >>> from omnirank.shards.samples import more_memory
    >>> more_memory(), more_memory(2048)
    ('allow more memory (max_memory=...), or take some of the examples', 'give at least max_memory=2048, or take some \
of the examples')
    """
    fewer = "or take some of the examples"
    if least is None:
        return f"allow more memory ({setting('max_memory')}), {fewer}"
    return f"give at least {setting('max_memory', least)}, {fewer}"


def _n_columns(levels: Sequence[Any] | None) -> int:
    return 1 if levels is None else len(levels)
