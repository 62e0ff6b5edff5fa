"""Relief over examples in parts: anchors are held in memory, all other examples stream past them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from omnirank.core.errors import DataError, logger, setting
from omnirank.core.parallel import run_parallel, worker_count
from omnirank.core.text import counted
from omnirank.data.dataset import Dataset
from omnirank.data.table import Table
from omnirank.data.target import Target
from omnirank.neighbors.anchors import AnchorSearch
from omnirank.neighbors.cached_search import StoredNeighbors
from omnirank.neighbors.in_parts import BlockSizes, nearest_in_parts
from omnirank.neighbors.mixed_distances import Cells, table_cells
from omnirank.neighbors.search import NeighborSearch
from omnirank.neighbors.used_rows import FeatureFacts, UsedRows, feature_facts
from omnirank.relief.influence import Influence, influences
from omnirank.relief.pairs import ClassPairs, DistancePairs, PairRule
from omnirank.relief.rules import PairSettings
from omnirank.relief.sums import Sums, added_up, sums_of_rows, visited_parts
from omnirank.relief.target_facts import TargetFacts, spanning_target
from omnirank.shards.dataset import ShardedDataset
from omnirank.shards.samples import more_memory

# Share of the memory that anchors and their neighbours may take, and bytes that a number of theirs takes: as a cell of
# the table, and scaled.
_SHARE_OF_ANCHORS = 2
_BYTES = 16


@dataclass(frozen=True, eq=False)
class ReliefInParts:
    """What Relief needs to know of all examples before neighbours are compared.

    Parameters
    ----------
    data : ShardedDataset
        The data.
    settings : PairSettings
        What decides about the pairs.
    target : TargetFacts
        What a pass over the targets found.
    used : UsedRows
        Which examples are used.
    features : FeatureFacts
        Ranges of their features.
    influence : (float, float), optional
        Influence of the unlabelled examples, where some are used.
    """

    data: ShardedDataset
    settings: PairSettings
    target: TargetFacts
    used: UsedRows
    features: FeatureFacts
    influence: Influence | None = None

    @classmethod
    def of(
        cls, data: ShardedDataset, settings: PairSettings, target: TargetFacts, influence: Influence | None
    ) -> ReliefInParts:
        """Look at the features of those examples that are used: without an influence, the labelled ones."""
        some_unlabelled = len(target.labelled_rows) > 0
        left_out = some_unlabelled and (influence is None or target.n_examples == target.n_labelled)
        if left_out:
            logger.info("%d unlabelled examples are left out", data.n_examples - target.n_labelled)
        used = UsedRows(labelled_only=left_out)
        features = feature_facts(data, used, settings.n_jobs)
        return cls(data, settings, target, used, features, influence if some_unlabelled and not left_out else None)

    @property
    def n_examples(self) -> int:
        """Number of examples that are used."""
        return self.target.n_labelled if self.used.labelled_only else self.target.n_examples

    @property
    def form(self) -> str:
        """Whether neighbours are sought by class ("relieff") or not ("rrelieff")."""
        example = self.data.example
        if self.data.n_targets and self.influence is None:
            example = example.take(example.labelled)
        return self.settings.form(example)

    def sums(
        self,
        order: np.ndarray,
        n_drawn: int,
        ms: Sequence[int],
        ks: Sequence[int],
        per_target: bool,
        leave_out: bool,
    ) -> list[list[Sums]]:
        """Return what `omnirank.relief.sums.relief_sums` returns for the same examples in memory, bit for bit.

        Parameters
        ----------
        order : ndarray of int
            The examples that are visited, counted among those that are used.
        n_drawn : int
            From how many examples they were drawn.
        ms, ks, per_target, leave_out
            As in `relief_sums`.
        """
        leave_out = leave_out and self.features.some_missing
        numbers = self.target.labelled_rows[order] if self.used.labelled_only else order.astype(np.int64)
        parts, ends = visited_parts(numbers, ms, n_drawn, len(ks) * self.data.n_features, leave_out)
        found = self._sums_of_parts(parts, ks, per_target, leave_out)
        columns = table_cells(self.data.example.features, self.features.ranges)
        return added_up(found, ends, columns.by_feature)

    def _sums_of_parts(
        self, parts: list[np.ndarray], ks: Sequence[int], per_target: bool, leave_out: bool
    ) -> Iterator[Any]:
        weigh = None if self.influence is None else self._influence_of()
        batches = list(_batches(parts, self._most_anchors(ks[-1])))
        logger.info(
            "%s in %s: their neighbours take %s over the shards",
            counted(sum(map(len, parts)), "example"),
            counted(len(batches), "block"),
            "a pass" if len(batches) == 1 else f"{len(batches)} passes",
        )
        for batch in batches:
            rule, numbers = self._rule(np.concatenate(batch), ks[-1], weigh)
            of_rows = partial(sums_of_rows, rule, ks, per_target, leave_out)
            local = [np.searchsorted(numbers, part) for part in batch]
            yield from run_parallel(of_rows, local, self.settings.n_jobs, description="comparing neighbours")

    def _most_anchors(self, k: int) -> int:
        """How many anchors may be held, with their neighbours and those that workers have found."""
        copies = 2 + 2 * worker_count(self.settings.n_jobs)
        columns = self.data.n_features + self.data.n_targets
        of_anchor = _BYTES * columns * (1 + k * self._n_groups * copies)
        return max(1, self.data.source.max_memory // (_SHARE_OF_ANCHORS * of_anchor))

    @property
    def _n_groups(self) -> int:
        return int((self.target.class_counts > 0).sum()) if self.form == "relieff" else 1

    def _rule(self, anchors: np.ndarray, k: int, weigh: _InfluenceOf | None) -> tuple[PairRule, np.ndarray]:
        """The pairs of some anchors, in the numbers of the rows that are held, and the numbers of these among all."""
        data, ranges = self.data, self.features.ranges
        own = data.table_of(anchors)
        by_class = self.form == "relieff"
        group_of = np.where(self.target.class_counts > 0, np.cumsum(self.target.class_counts > 0) - 1, -1)
        search = AnchorSearch(
            table_cells(data.dataset_of(own).features, ranges),
            anchors,
            ranges,
            self.used,
            k,
            group_of if by_class else None,
        )
        lists = nearest_in_parts(data, search, self.settings.n_jobs)
        assert lists.cells is not None
        numbers, first = np.unique(np.concatenate([anchors, lists.kept]), return_index=True)
        held = data.dataset_of(Table.joined([own, lists.cells]).take(first))
        ids, far = lists.filled(search.n_lists, k)
        ids = np.where(ids >= 0, np.searchsorted(numbers, ids), -1).astype(np.int32)
        shape = (len(anchors), search.n_groups, k)
        cells = table_cells(held.features, ranges)
        rows = np.searchsorted(numbers, anchors)
        stored = StoredNeighbors(cells, search.n_groups, rows, ids.reshape(shape), far.reshape(shape))
        return self._pairs(held, stored, group_of, weigh), numbers

    def _pairs(
        self, held: Dataset, stored: Any, group_of: np.ndarray, weigh: _InfluenceOf | None
    ) -> ClassPairs | DistancePairs:
        settings, target = self.settings, held.target
        weighting = (float(settings.sigma), settings.first_place)
        if self.form == "relieff":
            assert target is not None
            counts = self.target.class_counts[self.target.class_counts > 0]
            classes = group_of[target.values[:, 0].astype(np.intp)]
            return ClassPairs(stored, classes, *weighting, counts / self.n_examples)
        if target is None:
            return DistancePairs(stored, None, None, *weighting)
        spanned = Target.joined([target, spanning_target(self.data, self.target, target)])
        distances = settings.distances(spanned, held.task, held.hierarchy)
        found = None if weigh is None else weigh(stored.cells, target.labelled)
        return DistancePairs(stored, distances, found, *weighting)

    # -- unlabelled examples ----------------------------------------------------------------------------

    def _influence_of(self) -> _InfluenceOf:
        """Find how far unlabelled examples are from labelled ones, at least and at most."""
        data, n_labelled = self.data, self.target.n_labelled
        takes = _BYTES * data.n_features * n_labelled
        if takes * _SHARE_OF_ANCHORS > data.source.max_memory:
            allowed = setting("max_memory", data.source.max_memory)
            raise DataError(
                f"unlabelled examples count by their distance to labelled ones, and these take {takes / 2**20:.3g} MB, "
                f"more than half of {allowed}: leave unlabelled examples out ({setting('influence', None)}), or "
                f"{more_memory()}"
            )
        table = data.table_of(self.target.labelled_rows)
        labelled = table_cells(data.dataset_of(table).features, self.features.ranges)
        assert self.influence is not None
        found = _InfluenceOf(labelled, self.influence, (np.inf, -np.inf))
        parts = [i for i in range(data.n_shards) if data.source.parts[i].n_rows]
        ends = run_parallel(partial(_ends_of_part, self, found), parts, self.settings.n_jobs)
        lows, highs = zip(*ends, strict=True)
        return replace(found, ends=(min(lows), max(highs)))


@dataclass(frozen=True, eq=False)
class _InfluenceOf:
    """The influences of examples, by their distance to labelled ones, which lies between two ends."""

    labelled: Cells
    influence: Influence
    ends: tuple[float, float]

    def far(self, cells: Cells) -> np.ndarray:
        """Return the distance D d_X of examples to the nearest labelled one."""
        n_labelled, n = self.labelled.n_rows, cells.n_rows
        groups = np.repeat([0, -1], [n_labelled, n])
        search = NeighborSearch(self.labelled.followed_by(cells), groups)
        return search.nearest(n_labelled + np.arange(n), 1)[1][:, 0, 0]

    def __call__(self, cells: Cells, labelled: np.ndarray) -> np.ndarray:
        """Return the influences of examples."""
        far = np.zeros(cells.n_rows)
        unlabelled = np.flatnonzero(~labelled)
        if len(unlabelled):
            far[unlabelled] = self.far(cells.take(unlabelled))
        return influences(far, labelled, *self.influence, self.ends)


def _ends_of_part(plan: ReliefInParts, found: _InfluenceOf, part: int) -> tuple[float, float]:
    low, high = found.ends
    for _, table in BlockSizes.of(plan.data, plan.settings.n_jobs).tables(plan.data, part):
        block = plan.data.dataset_of(table)
        if not block.labelled.all():
            cells = table_cells(block.features.take(~block.labelled), plan.features.ranges)
            far = found.far(cells)
            low, high = min(low, float(far.min())), max(high, float(far.max()))
    return low, high


def _batches(parts: list[np.ndarray], most: int) -> Iterator[list[np.ndarray]]:
    """Consecutive parts that together have at most so many anchors, but at least one part each."""
    batch: list[np.ndarray] = []
    for part in parts:
        if batch and sum(map(len, batch)) + len(part) > most:
            yield batch
            batch = []
        batch.append(part)
    yield batch
