"""A run of trees: each tree grows on one of several samples of the data; data in memory are one sample.

A run knows no estimator. It is given the samples, what was asked for as the level of supervision, what is done with the
examples of a sample (`Work`), and its limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from omnirank.core.errors import ConstantTargetError, DataError, logger
from omnirank.core.parallel import on_cluster, progress, run_parallel, worker_count
from omnirank.core.ranking.accumulators import ConfirmedMeans, MeanAccumulator
from omnirank.core.text import counted
from omnirank.data.dataset import Dataset
from omnirank.ensembles.p_values import SHARES, ExampleSums, RootSums
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.ensembles.scores import SCORES, FeatureScores, ScoreOptions, TreeScorer
from omnirank.ensembles.supervision import Supervision, ToFit, resolve_level, settled_supervision
from omnirank.shards.dataset import ShardedDataset
from omnirank.shards.dealing import DealtRows, deal_rows
from omnirank.shards.folders import scratch_folder
from omnirank.shards.samples import AT_ONCE, Samples, row_bytes, samples_within

# n_trees="auto": trees are added in steps until the ranking has converged, or the limit is reached.
MOST_TREES = 1000
FEWEST_TREES = 20
RELIABLE = 0.99
# Trees of a step; not fewer than there are samples, each of which is read for them.
_STEP = 10

# Scores by target, and what examples add to scores, of as many trees are held at once as fit in this memory.
MOST_BYTES = 2**28
# But so many at least; where they hold much of each example, one for each worker.
_FEWEST_AT_ONCE = 8
# What an example adds to the tests that it reaches out of bag: about 8 numbers, for large trees.
_BYTES_AN_EXAMPLE = 64

# Sums by example: so many groups in all, where samples have no rows in common, and in one sample. With g groups, the
# sum of their squares is too large by at most a share of 1 / g, as some pairs of examples meet in a group.
_GROUPS_OF_SAMPLES = 512
_GROUPS_OF_SAMPLE = 32


# -- how many trees ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Limits:
    """How many trees a run grows.

    Attributes
    ----------
    n_trees : int or "auto"
        Their number; "auto": until the ranking has converged, at most 1000.
    sizes : tuple of int
        Smaller numbers of trees at which results are wanted, too.
    """

    n_trees: int | str
    sizes: tuple[int, ...] = ()

    def stops(self, n_samples: int = 1) -> Sequence[int]:
        """Return the numbers of trees after which the run may end or a result is wanted.

        Examples
        --------
        >>> from omnirank.ensembles.run import Limits
        >>> Limits(50, (10, 50)).stops(), Limits("auto").stops()[:3]
        ([10, 50], range(20, 50, 10))
        """
        if isinstance(self.n_trees, str):
            return range(FEWEST_TREES, MOST_TREES + 1, max(_STEP, n_samples))
        return sorted({*self.sizes, self.n_trees})


def converged(sums: MeanAccumulator | ConfirmedMeans) -> bool:
    """Return whether more trees would hardly change the ranking by a score: its `reliability` is at least 0.99."""
    scores, errors = sums.finish()
    return errors is None or reliability(scores, errors) >= RELIABLE


def reliability(scores: np.ndarray, errors: np.ndarray) -> float:
    """Return which share of the variance of scores is not error: 1 - mean(squared errors) / variance(scores).

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.ensembles.run import reliability
    >>> round(reliability(np.array([0.0, 2.0]), np.array([0.1, 0.1])), 6)
    0.99
    """
    spread = np.var(scores)
    return float(1 - np.mean(errors**2) / spread) if spread > 0 else 1.0


# -- sums of scores ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ScoreSums:
    """Sums of the scores of the trees so far, in the order of the trees; immutable, but for the large sums by example.

    Attributes
    ----------
    rows, tables : dict of str to MeanAccumulator
        By name of the score: one score per feature; one row of scores per target.
    examples : dict of str to ExampleSums
        By name of the score, where p values are asked for; `update` changes them in place.
    at_root : dict of str to tuple of RootSums
        Credit at the roots, where a score has it.
    n_undefined : int
        Trees for which a score is undefined; they count as 0.
    """

    rows: dict[str, MeanAccumulator]
    tables: dict[str, MeanAccumulator]
    examples: dict[str, ExampleSums]
    at_root: dict[str, tuple[RootSums, ...]]
    n_undefined: int = 0

    @classmethod
    def empty(cls, scorer: TreeScorer, by_example: Callable[[int, int], ExampleSums] = ExampleSums) -> ScoreSums:
        """Return the sums over no tree; ``by_example`` makes those by example, of so many groups and features."""
        n_targets, n_features = scorer.plan.columns.n_variables, scorer.plan.dataset.n_features
        split = [name for name in scorer.names if scorer.options.per_target and SCORES[name].splits_by_target]
        tested = [name for name in scorer.names if scorer.options.p_values and SCORES[name].has_p_values]
        return cls(
            {name: MeanAccumulator.empty(n_features) for name in scorer.names},
            {name: MeanAccumulator.empty((n_targets, n_features)) for name in split},
            {name: by_example(scorer.n_groups, n_features) for name in tested},
            {},
        )

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return next(iter(self.rows.values())).count

    def update(self, trees: Sequence[dict[str, FeatureScores]], scorer: TreeScorer) -> ScoreSums:
        """Return the sums that have also seen these trees of a scorer."""
        if not trees:
            return self
        for name, sums in self.examples.items():
            sums.add(part for tree in trees for part in tree[name].contributions)
        n_trees = self.n_trees + len(trees)
        return ScoreSums(
            {name: sums.update([tree[name].row for tree in trees]) for name, sums in self.rows.items()},
            {name: sums.update([tree[name].table for tree in trees]) for name, sums in self.tables.items()},
            self.examples,
            {name: (self._root(name, scorer, n_trees),) for name in self.rows if SCORES[name].has_root},
            self.n_undefined + sum(any(one.undefined for one in tree.values()) for tree in trees),
        )

    def _root(self, name: str, scorer: TreeScorer, n_trees: int) -> RootSums:
        sums = self.examples.get(name)
        block, n_places = (0, 0) if sums is None else sums.place
        return RootSums(block, scorer.at_root(name, n_places), n_trees)

    def merge(self, other: ScoreSums) -> ScoreSums:
        """Return the sums over the trees of both."""
        return ScoreSums(
            {name: sums.merge(other.rows[name]) for name, sums in self.rows.items()},
            {name: sums.merge(other.tables[name]) for name, sums in self.tables.items()},
            _merged(self.examples, other.examples),
            {name: parts + other.at_root.get(name, ()) for name, parts in (other.at_root | self.at_root).items()},
            self.n_undefined + other.n_undefined,
        )

    def of_nothing(self, n_trees: int) -> ScoreSums:
        """Return sums of the same shapes over so many trees that have no test, and no scores; no example adds any."""
        return ScoreSums(
            {name: _zeros(sums, n_trees) for name, sums in self.rows.items()},
            {name: _zeros(sums, n_trees) for name, sums in self.tables.items()},
            {},
            {},
            n_undefined=n_trees,
        )

    def p_values(self, name: str) -> np.ndarray | None:
        """Return the p values of the features by the score of this name, where they were asked for.

        Where features have credit at the root, there are three tests: what a feature tells there, below it (where a
        tree tests it), and in pairs (:mod:`omnirank.ensembles.pair_test`). The p value is the smallest of the three,
        each divided by its share of the error.
        """
        if name not in self.examples:
            return None
        below, scores = self.examples[name], self.rows[name]
        further = below.p_values(scores.count, *scores.finish())
        if not SCORES[name].has_root:
            return further
        at_root = RootSums.p_values(self.at_root[name], scores.count)
        in_pairs = RootSums.p_values_in_pairs(self.at_root[name])
        further = np.where(below.squares() > 0, further, np.nan)
        tests = (p / share for p, share in zip((at_root, further, in_pairs), SHARES, strict=True))
        return np.fmin.reduce([np.ones(len(at_root)), *tests])

    def state(self, name: str) -> MeanAccumulator | ConfirmedMeans:
        """Return what a ranking by the score of this name keeps."""
        return self._state(name, self.rows, "row")

    def target_state(self, name: str) -> MeanAccumulator | ConfirmedMeans | None:
        """Return what it keeps of single targets, where they were asked for."""
        return self._state(name, self.tables, "table") if name in self.tables else None

    def _state(self, name: str, sums: dict[str, MeanAccumulator], part: str) -> MeanAccumulator | ConfirmedMeans:
        below, genie3 = sums[name], sums["genie3"]
        if not SCORES[name].has_root:
            return below
        root, n_values = np.zeros(below.shape), np.zeros(below.shape[-1])
        for _, credit, n_trees in self.at_root.get(name, ()):
            root += n_trees / below.count * getattr(credit, part)
            more = np.abs(credit.n_values) > np.abs(n_values)
            n_values = np.where(more, credit.n_values, n_values)
        root *= noise_factors(n_values)
        return ConfirmedMeans(below.count, below.mean, below.m2, root, genie3.mean, genie3.m2, value_kinds(n_values))


def noise_factors(n_values: np.ndarray) -> np.ndarray:
    """Return by what credit at the root is multiplied, so that noise of any kind varies as numbers of many values do.

    By chance, credit has a variance proportional to the sum of the squared eigenvalues of a feature's kernel, whose
    trace is 1. k levels have k - 1 equal ones. Numbers of m values, as frequent as each other, have those of discrete
    Legendre polynomials, m / (m - 1) / (j (j + 1)) for j < m.

    Parameters
    ----------
    n_values : ndarray (features,)
        How many values features have; negative for levels.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.ensembles.run import noise_factors
    >>> noise_factors(np.array([10_000, 3, 2, -2, -50])).round(2).tolist()
    [1.0, 0.68, 0.54, 0.54, 3.77]
    """
    size = np.maximum(np.abs(n_values), 2).astype(np.int64)
    j = np.arange(1.0, size.max(initial=2))
    of_numbers = (size / (size - 1)) ** 2 * np.cumsum((j * (j + 1)) ** -2)[size - 2]
    return np.sqrt((np.pi**2 / 3 - 3) / np.where(n_values < 0, 1 / (size - 1), of_numbers))


def value_kinds(n_values: np.ndarray) -> np.ndarray:
    """Return numbers for kinds of features, by how many values they have; those of levels are negative.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.ensembles.run import value_kinds
    >>> value_kinds(np.array([1, 2, 3, 4, 5, 17, 500, -2, -500])).tolist()
    [0.0, 1.0, 2.0, 2.0, 3.0, 5.0, 5.0, -1.0, -9.0]
    """
    size = np.ceil(np.log2(np.maximum(np.abs(n_values), 1)))
    return np.where(n_values < 0, -size, np.minimum(size, 5.0))


def _merged(one: dict[str, ExampleSums], other: dict[str, ExampleSums]) -> dict[str, ExampleSums]:
    """Sums by example of both, by name of the score; trees without any test have none."""
    both = {name: sums.merge(other[name]) for name, sums in one.items() if name in other}
    return one | other | both


def _zeros(like: MeanAccumulator, n_trees: int) -> MeanAccumulator:
    return MeanAccumulator(n_trees, np.zeros(like.shape), np.zeros(like.shape))


class SampleTask(NamedTuple):
    """Some trees, by their numbers, and the sample that they grow on."""

    sample: int
    trees: range


def sample_tasks(numbers: range, n_samples: int) -> list[SampleTask]:
    """Return trees by sample: tree i grows on sample i modulo the number of samples, whichever trees are grown.

    Examples
    --------
    >>> from omnirank.ensembles.run import sample_tasks
    >>> [(task.sample, list(task.trees)) for task in sample_tasks(range(2, 7), 3)]
    [(0, [3, 6]), (1, [4]), (2, [2, 5])]
    """
    firsts = (numbers.start + (sample - numbers.start) % n_samples for sample in range(n_samples))
    return [
        SampleTask(first % n_samples, range(first, numbers.stop, n_samples)) for first in firsts if first in numbers
    ]


class Work(Protocol):
    """What is done with the examples of a sample; picklable."""

    def prepare(self, data: GrowingData) -> Callable[[int], Any]:
        """Return what grows tree i and returns what is kept of it."""

    def extended(self, grow: Callable[[int], Any], task: SampleTask, n_jobs: int | None, before: Any) -> Any:
        """Return the result of a sample with these trees; ``before`` is that without them, or None."""

    def merged(self, results: Mapping[int, Any], n_trees: int, n_samples: int) -> Any:
        """Return the result of all trees from those of the samples; None: its target is constant."""


@dataclass(frozen=True, eq=False)
class ScoreWork:
    """Grows trees and adds up their scores.

    Attributes
    ----------
    rules : GrowingRules
        How trees are grown; the level of supervision is that of ``level``.
    level : Supervision
        The level.
    names, options
        The scores, and how they are computed.
    samples : Samples or None
        The samples, where there are several.
    most_bytes : int
        What scores by target, and what examples add to scores, may take before they are added up.
    """

    rules: GrowingRules
    level: Supervision
    names: tuple[str, ...]
    options: ScoreOptions
    samples: Samples | None = None
    most_bytes: int = MOST_BYTES

    def prepare(self, data: GrowingData) -> TreeScorer:
        """Return what grows and scores trees."""
        data = data.at_level(self.level.level)
        return TreeScorer.make(data.plan(replace(self.rules, supervision=self.level.level)), self.names, self.options)

    def extended(self, grow: Any, task: SampleTask, n_jobs: int | None, before: ScoreSums | None) -> ScoreSums:
        """Return the sums over the trees of a sample; they do not depend on how many trees are grown at a time."""
        sums = ScoreSums.empty(grow, self._by_example(task.sample)) if before is None else before
        table = 8 * sum(rows.mean.size for rows in sums.tables.values())
        told = _BYTES_AN_EXAMPLE * grow.n_examples * len(sums.examples)
        fewest = worker_count(n_jobs) if told else _FEWEST_AT_ONCE
        block = max(fewest, min(MOST_BYTES, self.most_bytes) // max(table + told, 1))
        for start in range(0, len(task.trees), block):
            numbers = task.trees[start : start + block]
            sums = sums.update(run_parallel(grow, numbers, n_jobs, description="growing trees"), grow)
        return sums

    def _by_example(self, sample: int) -> Callable[[int, int], ExampleSums]:
        """What makes the sums by example of a sample; samples with the same labelled rows have the same block."""
        if self.samples is None:
            return ExampleSums
        n_blocks = self.samples.n_labelled or self.samples.n_samples
        most = max(_GROUPS_OF_SAMPLE, -(-_GROUPS_OF_SAMPLES // n_blocks))
        return partial(ExampleSums, most_groups=most, block=sample % n_blocks)

    def merged(self, results: Mapping[int, ScoreSums | None], n_trees: int, n_samples: int) -> ScoreSums:
        """Return the sums over all trees, in the order of the samples; those of a constant target are zero."""
        like = next((sums for sums in results.values() if sums is not None), None)
        if like is None:
            problem = "the target has one class or value only, in every sample: there is nothing to learn"
            raise ConstantTargetError(problem)
        total: ScoreSums | None = None
        for task in sample_tasks(range(n_trees), n_samples):
            sums = results[task.sample]
            sums = like.of_nothing(len(task.trees)) if sums is None else sums
            total = sums if total is None else total.merge(sums)
        assert total is not None
        return total


# -- samples ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AskedLevel:
    """The level of supervision and the weights of features as asked for, and what the choice depends on."""

    supervision: Any
    feature_weights: Any
    rules: GrowingRules
    to_fit: ToFit

    def of(self, data: GrowingData) -> tuple[Supervision, GrowingData]:
        """Return the level that the examples tell, and the examples with the weights of the features."""
        return resolve_level(self.supervision, self.feature_weights, data, self.rules, self.to_fit)


class WholeData:
    """All examples in memory, as the one sample of a run.

    Parameters
    ----------
    data : GrowingData
        The examples.
    n_jobs : int or None
        Number of workers.
    """

    n_samples = 1
    samples = None

    def __init__(self, data: GrowingData, n_jobs: int | None) -> None:
        self.data, self.n_jobs = data, n_jobs
        self._grow: Callable[[int], Any] | None = None

    @contextmanager
    def ready(self, asked: AskedLevel, limits: Limits) -> Iterator[Supervision]:
        """Yield the level of supervision."""
        level, data = asked.of(self.data)
        self.data = data.at_level(level.level)
        n_left_out = data.dataset.n_examples - self.data.dataset.n_examples
        if n_left_out:
            logger.info("%d unlabelled examples are not used", n_left_out)
        yield level

    def results(self, work: Work, tasks: Sequence[SampleTask], before: Mapping[int, Any]) -> dict[int, Any]:
        """Return the result with these trees."""
        self._grow = self._grow or work.prepare(self.data)
        (task,) = tasks
        return {0: work.extended(self._grow, task, self.n_jobs, before.get(0))}


class DealtSamples:
    """Random samples of data in parts: rows that are dealt out on disk.

    Parameters
    ----------
    data : ShardedDataset
        The data.
    samples : Samples
        Which row is in which sample.
    growing : callable
        Makes `GrowingData` of the rows of a sample and a number of workers; picklable.
    n_jobs : int or None
        Number of workers.
    """

    def __init__(
        self,
        data: ShardedDataset,
        samples: Samples,
        growing: Callable[[Dataset, int | None], GrowingData],
        n_jobs: int | None,
    ) -> None:
        self.source, self.n_jobs = data, n_jobs
        self.samples = samples  # as they are dealt out; afterwards perhaps without the unlabelled rows
        self._growing = growing
        self._weights: np.ndarray | None = None
        self._dealt: DealtRows | None = None

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.samples.n_samples

    def rows(self, number: int) -> Dataset:
        """Return the rows of a sample that is dealt out."""
        assert self._dealt is not None
        return self._dealt.read(number)

    def sample(self, number: int) -> GrowingData:
        """Return the examples of a sample that is dealt out."""
        return replace(self._growing(self.rows(number), self.n_jobs), feature_weights=self._weights)

    @contextmanager
    def ready(self, asked: AskedLevel, limits: Limits) -> Iterator[Supervision]:
        """Yield the level of supervision, that of a sample where the data have to tell it; rows are dealt out then."""
        data = self.source
        level = settled_supervision(asked.supervision, data.n_targets > 0, data.n_labelled == data.n_examples)
        if level is not None and level.level < 1 and asked.feature_weights is not None:
            level = None
        needed = sorted({task.sample for task in sample_tasks(range(limits.stops(self.n_samples)[-1]), self.n_samples)})
        if level is not None:
            self._take(level, None)
        with scratch_folder(data.scratch) as folder:
            self._dealt = deal_rows(data, self.samples, needed, folder, self.n_jobs)
            if level is None:
                level = self._level_of_sample(asked)
            yield level
        self._dealt = None

    def _level_of_sample(self, asked: AskedLevel) -> Supervision:
        """Take the level and the weights that the first sample tells; nothing here keeps the sample."""
        level, data = asked.of(self.sample(0))
        self._take(level, data.feature_weights)
        return level

    def _take(self, level: Supervision, weights: np.ndarray | None) -> None:
        """Take a level and weights; supervised trees need no unlabelled rows."""
        self._weights = weights
        if level.level == 1:
            self.samples = self.samples.of_labelled

    def results(self, work: Work, tasks: Sequence[SampleTask], before: Mapping[int, Any]) -> dict[int, Any]:
        """Return the results by sample, two samples at a time.

        What a task continues is sent to the worker that does the task, and to no other.
        """
        assert self._dealt is not None
        n_jobs, n_each = self.n_jobs, 1
        if not on_cluster(self.n_jobs):  # whose workers have memory of their own, and a sample each
            n_jobs = min(worker_count(self.n_jobs), AT_ONCE, len(tasks))
            n_each = max(1, worker_count(self.n_jobs) // n_jobs)
        dealt = replace(self._dealt, samples=self.samples)
        grow = _SampleGrower(work, dealt, self._growing, self._weights, n_each)
        continued = [(task, before.get(task.sample)) for task in tasks]
        computed = run_parallel(grow, continued, n_jobs, description="growing trees on samples")
        return dict(before) | {task.sample: result for task, result in zip(tasks, computed, strict=True)}


@dataclass(frozen=True, eq=False)
class _SampleGrower:
    """Reads a sample, does the work of a task on it, and returns the result, None for a constant target; picklable."""

    work: Work
    dealt: DealtRows
    growing: Callable[[Dataset, int | None], GrowingData]
    weights: np.ndarray | None
    n_jobs: int

    def __call__(self, given: tuple[SampleTask, Any]) -> Any:
        task, before = given
        data = replace(self.growing(self.dealt.read(task.sample), self.n_jobs), feature_weights=self.weights)
        with progress(False):  # there is one for all samples
            try:
                return self.work.extended(self.work.prepare(data), task, self.n_jobs, before)
            except ConstantTargetError:
                return None


def growing_samples(data: ShardedDataset, entropy: int, supervision: Any) -> Samples:
    """Return the samples of data in parts on which trees are grown.

    Parameters
    ----------
    data : ShardedDataset
        The data.
    entropy : int
        Root of the random streams.
    supervision : "auto", "cv", float or dict
        The level of supervision: unlabelled examples are left out where it is 1.
    """
    if data.n_targets and not data.n_labelled:
        raise DataError(f"no example of {data.name!r} has a known target value: open the shards without a target")
    n_unlabelled = data.n_examples - data.n_labelled
    if n_unlabelled and data.n_targets and supervision == 1:
        logger.info("%d unlabelled examples are not used", n_unlabelled)
        n_unlabelled = 0
    clusters_features = n_unlabelled > 0 or (data.n_targets > 0 and supervision not in (1, "auto"))
    bytes_of_row = row_bytes(data.example, clusters_features=clusters_features)
    samples = samples_within(data.source.max_memory, bytes_of_row, entropy, data.n_labelled, n_unlabelled)
    logger.info("trees grow on %s of %r", counted(samples.n_samples, "sample"), data.name)
    return samples


# -- the run ----------------------------------------------------------------------------------------------------


def grown_samples(
    samples: WholeData | DealtSamples, work: Work, limits: Limits, has_converged: Callable[[Any], bool] = bool
) -> Iterator[Any]:
    """Grow trees up to the limits; yield the result of all trees so far at each stop.

    Parameters
    ----------
    samples : WholeData or DealtSamples
        The examples, ready.
    work : Work
        What is done with them.
    limits : Limits
        How many trees there may be.
    has_converged : callable
        Tells from a result whether ``n_trees="auto"`` needs no more trees.
    """
    n_samples, grown = samples.n_samples, 0
    results: dict[int, Any] = {}
    for stop in limits.stops(n_samples):
        results = samples.results(work, sample_tasks(range(grown, stop), n_samples), results)
        grown = stop
        merged = work.merged(results, grown, n_samples)
        yield merged
        if limits.n_trees == "auto" and has_converged(merged):
            return
