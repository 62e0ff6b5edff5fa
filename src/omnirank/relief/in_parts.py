"""Relief over examples in parts: anchors are held in memory, all other examples stream past them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.errors import DataError, logger, setting
from omnirank.core.parallel import run_parallel, worker_count
from omnirank.core.text import counted
from omnirank.data.dataset import Dataset
from omnirank.data.table import Table
from omnirank.data.target import Target
from omnirank.neighbors.cells import Cells, table_cells
from omnirank.neighbors.in_parts import (
    AnchorSearch,
    BlockSizes,
    FeatureFacts,
    UsedRows,
    feature_facts,
    nearest_in_parts,
)
from omnirank.neighbors.search import NeighborSearch, StoredNeighbors
from omnirank.relief.pairs import ClassPairs, DistancePairs, Influence, PairRule, PairSettings, influences
from omnirank.relief.sums import Sums, added_up, sums_of_rows, visited_parts
from omnirank.shards.dataset import ShardedDataset
from omnirank.shards.samples import more_memory
from omnirank.tasks.target_distances import final_labels

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
        cls, data: ShardedDataset, target: TargetFacts, settings: PairSettings, influence: Influence | None
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
        self, order: np.ndarray, ms: Sequence[int], ks: Sequence[int], per_target: bool, leave_out: bool
    ) -> list[list[Sums]]:
        """Return what `omnirank.relief.sums.relief_sums` returns for the same examples in memory, bit for bit.

        Parameters
        ----------
        order : ndarray of int
            All examples that are used, in the order in which they are visited.
        ms, ks, per_target, leave_out
            As in `relief_sums`.
        """
        leave_out = leave_out and self.features.some_missing
        visited = order[: ms[-1]]
        numbers = self.target.labelled_rows[visited] if self.used.labelled_only else visited.astype(np.int64)
        parts, ends = visited_parts(numbers, ms, len(order), len(ks) * self.data.n_features, leave_out)
        sums = self._sums_of_parts(parts, ks, per_target, leave_out)
        columns = table_cells(self.data.example.features, self.features.ranges)
        return added_up(sums, ends, columns.by_feature)

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
        n_groups = int((self.target.class_counts > 0).sum()) if self.form == "relieff" else 1
        of_anchor = _BYTES * columns * (1 + k * n_groups * copies)
        return max(1, self.data.source.max_memory // (_SHARE_OF_ANCHORS * of_anchor))

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
        weights = None if weigh is None else weigh(stored.cells, target.labelled)
        return DistancePairs(stored, distances, weights, *weighting)

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
        influence_of = _InfluenceOf(labelled, self.influence, (np.inf, -np.inf))
        parts = [i for i in range(data.n_shards) if data.source.parts[i].n_rows]
        ends = run_parallel(partial(_ends_of_part, self, influence_of), parts, self.settings.n_jobs)
        lows, highs = zip(*ends, strict=True)
        return replace(influence_of, ends=(min(lows), max(highs)))


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


def _ends_of_part(plan: ReliefInParts, influence_of: _InfluenceOf, part: int) -> tuple[float, float]:
    low, high = influence_of.ends
    for _, table in BlockSizes.of(plan.data, plan.settings.n_jobs).tables(plan.data, part):
        block = plan.data.dataset_of(table)
        if not block.labelled.all():
            cells = table_cells(block.features.take(~block.labelled), plan.features.ranges)
            far = influence_of.far(cells)
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


@dataclass(frozen=True, eq=False)
class TargetFacts:
    """What a pass over the targets found.

    Parameters
    ----------
    n_examples, n_labelled : int
        Number of examples, and of those with a known target.
    labelled_rows : ndarray of int
        Numbers of the labelled examples, where some are not labelled; else empty.
    class_counts : ndarray of int
        How often each class of the first target occurs; empty where it has no classes.
    final : ndarray of bool
        Labels of a hierarchy that are the most specific ones of some example; empty where nothing depends on them.
    """

    n_examples: int
    n_labelled: int
    labelled_rows: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    class_counts: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    final: np.ndarray = field(default_factory=lambda: np.empty(0, bool))

    @property
    def of_labelled(self) -> TargetFacts:
        """The same of the labelled examples alone."""
        return replace(self, n_examples=self.n_labelled)


def target_facts(data: ShardedDataset, target_distance: str = "auto") -> TargetFacts:
    """Return what a pass over the targets finds; without a target, nothing is read.

    Parameters
    ----------
    data : ShardedDataset
        The data.
    target_distance : str
        Which distance of targets is used: "euclidean-mu" asks for the most specific labels.
    """
    if not data.n_targets:
        return TargetFacts(data.n_examples, 0)
    labelled, hierarchy = [], data.hierarchy if target_distance == "euclidean-mu" else None
    counts = np.empty(0, np.int64)
    final = np.empty(0, bool) if hierarchy is None else np.zeros(hierarchy.n_labels, bool)
    for target in data.targets():
        labelled.append(target.labelled)
        if target.levels[0] is not None:
            codes = target.values[:, 0]
            of_block = np.bincount(codes[~np.isnan(codes)].astype(np.intp), minlength=len(target.levels[0]))
            counts = counts + of_block if len(counts) else of_block
        if hierarchy is not None:
            final |= final_labels(target, hierarchy)
    mask = np.concatenate(labelled)
    rows = np.empty(0, np.int64) if mask.all() else np.flatnonzero(mask)
    return TargetFacts(data.n_examples, int(mask.sum()), rows, counts, final)


def spanning_target(data: ShardedDataset, facts: TargetFacts, target: Target) -> Target:
    """Return a few targets whose range, and whose most specific labels, are those of all examples.

    Distances of targets are relative to these: with the spanning ones behind them, the targets of some examples have
    the distances that they have among all.

    Parameters
    ----------
    data : ShardedDataset
        The data.
    facts : TargetFacts
        What a pass over their targets found.
    target : Target
        The target of some examples.
    """
    if target.is_labels:
        paths = np.empty((0, target.n_targets))
        if data.hierarchy is not None and len(facts.final):
            paths = data.hierarchy.ancestors[np.flatnonzero(facts.final)].toarray().astype(np.float64)
        return Target.labels(sparse.csr_array(paths) if target.is_sparse else paths, target.names)
    summary = data.summary.loc[list(target.names)]
    ends = np.array([summary["low"], summary["high"]], np.float64)
    ends[:, target.is_nominal] = np.nan
    return Target(target.names, target.levels, ends, np.ones(2, bool))
