"""Rankings by trees of data that do not fit in memory: sums over the trees of random samples, merged."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from omnirank.core.errors import ConstantTargetError, DataError
from omnirank.core.ranking.accumulators import MeanAccumulator
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import root_entropy
from omnirank.data.dataset import Dataset
from omnirank.ensembles.convergence import MOST_BYTES, converged, grown_sums, tree_stops
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.ensembles.sampled_growth import (
    SampledGrowth,
    SampleTask,
    growing_samples,
    refuse_in_memory_only,
    sample_tasks,
    sums_within_samples,
)
from omnirank.ensembles.score_sums import ScoreSums
from omnirank.ensembles.supervision import Supervision, settled_supervision
from omnirank.rankers._ensemble_result import rankings_by_score
from omnirank.rankers._fitting import recorded_of
from omnirank.shards.dataset import ShardedDataset
from omnirank.shards.folders import checkpoints_of
from omnirank.shards.samples import Samples

if TYPE_CHECKING:
    from omnirank.rankers.ensemble import EnsembleRanker

# Trees that are added at a time with n_trees="auto"; not fewer than there are samples, each of which is read for them.
_STEP = 10
# Of the memory allowed: what examples add to single trees of a sample, before it is added up.
_SHARE_OF_TREES = 16


@dataclass(frozen=True, eq=False)
class _ScoreWork:
    """Grows trees on a sample and adds up their scores, by the number of trees at which the sums are wanted.

    The sums of trees that a sample has already are continued: so the bits do not depend on how many trees were grown
    at a time. Nothing is added up where the target is constant in the sample.
    """

    ranker: EnsembleRanker
    level: Supervision
    feature_weights: np.ndarray | None
    entropy: int
    n_features: int
    samples: Samples
    most_bytes: int

    def __call__(
        self, dataset: Dataset, trees: range, n_jobs: int, begun: ScoreSums | None = None
    ) -> dict[int, ScoreSums]:
        ranker, level = self.ranker, self.level
        # copies of rows in other samples are not known
        groups = dataset.groups if GrowingRules.of(ranker).bootstraps else None
        data = GrowingData(dataset, self.entropy, None, self.feature_weights, n_jobs, groups).at_level(level.level)
        try:
            plan = data.plan(GrowingRules.of(ranker, supervision=level.level))
            scorer = ranker._scorer(plan, level, data)
        except ConstantTargetError:
            return {}
        wanted = self._wanted(trees)
        if begun is None:
            begun = ScoreSums.empty(scorer, sums_within_samples(self.samples, trees.start % self.samples.n_samples))
        begun = begun.apart()
        n, first = begun.n_trees, trees.start - begun.n_trees * trees.step
        which = ranker.importance, wanted, first, n_jobs, trees.step, None
        grown = grown_sums(scorer, begun, n + len(trees), *which, min(MOST_BYTES, self.most_bytes))
        return {sums.n_trees: sums.apart() for sums in chain([begun], grown) if sums.n_trees in wanted}

    def _wanted(self, trees: range) -> set[int]:
        """Numbers of trees of a sample at which sums are wanted."""
        first = int(self.ranker.first_tree)
        n = len(range(trees.start - trees.step, first - 1, -trees.step))  # those of the sample before these
        return {n + _n_below(trees, first + size) for size in self.ranker._sizes} - {0} | {n + len(trees)}

    def packed(self, result: dict[int, ScoreSums]) -> bytes:
        return json.dumps({n: sums.to_json() for n, sums in result.items()}).encode()

    def unpacked(self, content: bytes, trees: range) -> dict[int, ScoreSums]:
        found = {int(n): ScoreSums.from_json(sums) for n, sums in json.loads(content).items()}
        if found and found.keys() != self._wanted(trees):
            raise DataError("it is of other trees")
        for n, sums in found.items():
            for rows in (*sums.rows.values(), *sums.tables.values()):
                if not isinstance(rows, MeanAccumulator) or rows.count != n or rows.shape[-1] != self.n_features:
                    raise DataError("it is of other data")
            if any(told.n_features != self.n_features for told in sums.examples.values()):
                raise DataError("it is of other data")
        return found


def rank_in_samples(ranker: EnsembleRanker, data: ShardedDataset) -> dict[str, Ranking]:
    """Return the rankings by score of data in parts, and note in the ranker what a fit notes.

    Tree i grows on sample i modulo the number of samples, as trees of data in memory grow on all of it; sums over the
    trees of a sample are merged in the order of the samples. So the result depends on the seed and on the number of
    samples, hence on ``max_memory``, and on nothing else.

    Parameters
    ----------
    ranker : EnsembleRanker
        The ranker, its parameters checked.
    data : ShardedDataset
        The data.
    """
    refuse_in_memory_only(ranker, ("warm_start", "max_samples", "max_memory"))
    run = _Run.of(ranker, data)
    growth = run.growth
    if not run.settled and (kept_level := growth.kept_level()) is not None:
        run = run.at_level(*kept_level)
    with growth.with_rows(run.needed):
        if not run.settled:
            run = run.with_level(growth.sample(0))
        sums, kept = _grown(run)
    ranker._chosen = run.level, run.feature_weights
    ranker._note_sums(sums.without_examples(), run.level, kept)
    return run.rankings(sums)


@dataclass(frozen=True)
class _Run:
    """One fit: what is decided before trees are grown."""

    ranker: EnsembleRanker
    data: ShardedDataset
    entropy: int
    growth: SampledGrowth
    level: Supervision
    settled: bool
    feature_weights: np.ndarray | None = None

    @classmethod
    def of(cls, ranker: EnsembleRanker, data: ShardedDataset) -> _Run:
        """Return the run of a ranker; its level of supervision may have to be found on a sample."""
        entropy = root_entropy(ranker.random_state)
        samples = growing_samples(data, entropy, ranker.supervision)
        decisive = {
            "parameters": ranker._tree_parameters(),
            "sizes": sorted(ranker._sizes),
            "n_trees": ranker.n_trees,
            "p_values": bool(ranker.p_values),
            "entropy": entropy,
            "samples": repr(samples),
        }
        checkpoints = checkpoints_of(data, decisive, ranker.random_state is not None)
        growth = SampledGrowth(data, samples, checkpoints, ranker.n_jobs)
        level = settled_supervision(ranker.supervision, data.n_targets > 0, data.n_labelled == data.n_examples)
        settled = level is not None and (level.level == 1 or ranker.feature_weights is None)
        return cls(ranker, data, entropy, growth, level or Supervision(1.0, ""), settled)

    @property
    def stops(self) -> Sequence[int]:
        """Numbers of trees at which it is asked whether there are enough, or whether the time is over."""
        step, n_trees = max(_STEP, self.growth.samples.n_samples), self.ranker.n_trees
        if n_trees == "auto" or self.ranker.max_seconds is None:
            return tree_stops(n_trees, step=step)
        return [*range(step, int(n_trees), step), int(n_trees)]

    def tasks(self, n_grown: int, n_trees: int) -> list[SampleTask]:
        """Return the tasks that grow the trees from one number of them to another."""
        first = int(self.ranker.first_tree)
        return sample_tasks(range(first + n_grown, first + n_trees), self.growth.samples.n_samples)

    @property
    def needed(self) -> list[int]:
        """The samples of which rows are needed."""
        tasks = self.tasks(0, self.stops[-1])
        if self.settled and len(self.stops) == 1:
            return [task.sample for task in self.growth.lacking(self.work, tasks)]
        return sorted({0} | {task.sample for task in tasks})

    @property
    def work(self) -> _ScoreWork:
        """What is done with a sample."""
        unfitted = clone(self.ranker)
        n_features, samples = self.data.n_features, self.growth.samples
        most_bytes = self.data.source.max_memory // _SHARE_OF_TREES
        return _ScoreWork(unfitted, self.level, self.feature_weights, self.entropy, n_features, samples, most_bytes)

    def with_level(self, sample: Dataset) -> _Run:
        """Return the run at the level of supervision that a sample tells."""
        groups = sample.groups if GrowingRules.of(self.ranker).bootstraps else None
        data = GrowingData(sample, self.entropy, n_jobs=self.ranker.n_jobs, groups=groups)
        level, data = self.ranker._levels(data)
        return self.at_level(*self.growth.take_level(level, data.feature_weights))

    def at_level(self, level: Supervision, feature_weights: np.ndarray | None) -> _Run:
        """Return the run at a level of supervision."""
        return replace(self, level=level, settled=True, feature_weights=feature_weights)

    def rankings(self, sums: ScoreSums) -> dict[str, Ranking]:
        """Return the rankings by score."""
        data = self.data
        targets = data.target_names if data.n_targets else data.feature_names
        known, n_samples = recorded_of(data), self.growth.samples.n_samples
        return rankings_by_score(
            self.ranker, data.feature_names, targets, self.entropy, self.level, sums, known, n_samples=n_samples
        )


def _grown(run: _Run) -> tuple[ScoreSums, dict[int, dict[str, Ranking]]]:
    """The sums over all trees, and the rankings at the numbers of trees that are asked for."""
    ranker, first = run.ranker, int(run.ranker.first_tree)
    end = np.inf if ranker.max_seconds is None else time.monotonic() + float(ranker.max_seconds)
    of_samples = _SampleSums(run.growth.samples.n_samples)
    kept: dict[int, dict[str, Ranking]] = {}
    n_grown = 0
    for stop in run.stops:
        tasks = run.tasks(n_grown, stop)
        results = run.growth.results(run.work, tasks, of_samples.begun(tasks))
        of_samples.add(tasks, results)
        for size in sorted({q for q in ranker._sizes if n_grown < q < stop}):
            kept[size] = run.rankings(of_samples.merged(range(first, first + size)))
        sums = of_samples.merged(range(first, first + stop))
        if stop in ranker._sizes:
            kept[stop] = run.rankings(sums)
        n_grown = stop
        if (ranker.n_trees == "auto" and converged(sums.rows[ranker.importance])) or time.monotonic() >= end:
            break
    return sums, kept


class _SampleSums:
    """The sums over the trees of each sample, by their number."""

    def __init__(self, n_samples: int) -> None:
        self._n_samples = n_samples
        self._of_sample: dict[int, dict[int, ScoreSums]] = {}

    def begun(self, tasks: Sequence[SampleTask]) -> dict[SampleTask, ScoreSums]:
        """Return the sums that tasks continue."""
        known = {task: self._of_sample.get(task.sample) for task in tasks}
        return {task: sums[max(sums)] for task, sums in known.items() if sums}

    def add(self, tasks: Sequence[SampleTask], results: Sequence[dict[int, ScoreSums]]) -> None:
        """Take the results of tasks over; those before are needed no more."""
        for task, result in zip(tasks, results, strict=True):
            self._of_sample[task.sample] = result

    def merged(self, trees: range) -> ScoreSums:
        """Return the sums over all these trees, in the order of the samples; of a constant target they are zero."""
        like = next((sums for result in self._of_sample.values() for sums in result.values()), None)
        if like is None:
            raise ConstantTargetError(
                "the target has one class or value only, in every sample: there is nothing to learn"
            )
        total: ScoreSums | None = None
        for task in sample_tasks(trees, self._n_samples):
            result, n = self._of_sample[task.sample], len(task.trees)
            sums = result[n] if result else like.of_nothing(n)
            total = sums if total is None else total.merge(sums)
        assert total is not None
        return total


def _n_below(trees: range, end: int) -> int:
    """How many of the trees have numbers below ``end``."""
    return len(range(trees.start, min(end, trees.stop), trees.step))
