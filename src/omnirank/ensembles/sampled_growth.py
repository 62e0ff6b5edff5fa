"""Trees of data that do not fit in memory: each grows on one of several random samples, which are there in turn."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from omnirank.core.errors import DataError, OmnirankError, ParameterError, advised, logger, setting
from omnirank.core.parallel import on_cluster, progress_bars, run_parallel, worker_count
from omnirank.core.text import counted
from omnirank.data.dataset import Dataset
from omnirank.ensembles.example_sums import ExampleSums
from omnirank.ensembles.supervision import Supervision
from omnirank.shards.dataset import ShardedDataset
from omnirank.shards.dealing import DealtRows, deal_rows
from omnirank.shards.folders import Checkpoints, scratch_folder
from omnirank.shards.samples import AT_ONCE, Samples, row_bytes, samples_within

# Name of the file that keeps the level of supervision.
_LEVEL = "level"
# Sums by example: so many groups in all, where samples have no rows in common, and in one sample. With g groups, the
# sum of their squares is too large by at most a share of 1 / g, as some pairs of examples meet in a group.
_GROUPS_OF_SAMPLES = 512
_GROUPS_OF_SAMPLE = 32


class SampleTask(NamedTuple):
    """Some trees, by their numbers, and the sample that they grow on."""

    sample: int
    trees: range

    @property
    def name(self) -> str:
        """Name of the file that keeps the result."""
        return f"sample-{self.sample}-trees-{self.trees.start}-{self.trees.stop}"


class SampleWork(Protocol):
    """What is done with a sample; picklable."""

    def __call__(self, dataset: Dataset, trees: range, n_jobs: int, begun: Any) -> Any:
        """Return the result of these trees of a sample; ``begun`` is what they continue, or None."""

    def packed(self, result: Any) -> bytes:
        """Return a result as a file holds it."""

    def unpacked(self, content: bytes, trees: range) -> Any:
        """Return the result that a file holds, if it is that of these trees; else an error."""


def growing_samples(data: ShardedDataset, entropy: int, supervision: Any) -> Samples:
    """Return the samples of data in parts on which trees are grown.

    Parameters
    ----------
    data : ShardedDataset
        The data.
    entropy : int
        Root of the random streams.
    supervision : "auto", "cv" or float
        The level of supervision: unlabelled examples are left out where it is 1.
    """
    if data.n_targets and not data.n_labelled:
        raise DataError(f"no example of {data.name!r} has a known target value: open the shards without a target")
    n_unlabelled = data.n_examples - data.n_labelled
    if n_unlabelled and data.n_targets and supervision == 1:
        logger.info("%d unlabelled examples are not used", n_unlabelled)
        n_unlabelled = 0
    bytes_of_row = row_bytes(data.example, clusters_features=n_unlabelled > 0)
    found = samples_within(data.source.max_memory, bytes_of_row, entropy, data.n_labelled, n_unlabelled)
    logger.info("trees grow on %s of %r", counted(found.n_samples, "sample"), data.name)
    return found


def random_sample(data: ShardedDataset, entropy: int) -> Dataset:
    """Return as many examples of data in parts, drawn at random, as leave room for a tree that is grown on them.

    They are those of the first of the samples on which a forest would be grown.

    Parameters
    ----------
    data : ShardedDataset
        The data.
    entropy : int
        Root of the random streams.
    """
    samples = growing_samples(data, entropy, "auto")
    with scratch_folder(data.scratch) as folder:
        return deal_rows(data, samples, [0], folder, n_jobs=1).read(0)


def sample_tasks(numbers: range, n_samples: int) -> list[SampleTask]:
    """Return trees by sample: tree i grows on sample i modulo the number of samples, whichever trees are grown.

    Examples
    --------
    >>> from omnirank.ensembles.sampled_growth import sample_tasks
    >>> [(task.sample, list(task.trees)) for task in sample_tasks(range(2, 7), 3)]
    [(0, [3, 6]), (1, [4]), (2, [2, 5])]
    """
    found = []
    for sample in range(n_samples):
        first = numbers.start + (sample - numbers.start) % n_samples
        if first < numbers.stop:
            found.append(SampleTask(sample, range(first, numbers.stop, n_samples)))
    return found


def sums_within_samples(samples: Samples, sample: int) -> Callable[[int, int], ExampleSums]:
    """Return what makes the sums by example of one of several samples; they merge with those of the others.

    Samples with the same labelled rows, which come first in them, have the same block.

    Parameters
    ----------
    samples : Samples
        The samples.
    sample : int
        Number of one of them.
    """
    n_blocks = samples.n_labelled or samples.n_samples
    most = max(_GROUPS_OF_SAMPLE, -(-_GROUPS_OF_SAMPLES // n_blocks))
    return partial(ExampleSums, most_groups=most, block=sample % n_blocks)


class SampledGrowth:
    """A run over samples: rows that are dealt out, and results that are kept.

    Parameters
    ----------
    data : ShardedDataset
        The data.
    samples : Samples
        The samples.
    checkpoints : Checkpoints
        Where results are kept.
    n_jobs : int or None
        Number of workers.
    """

    def __init__(self, data: ShardedDataset, samples: Samples, checkpoints: Checkpoints, n_jobs: int | None) -> None:
        self.data, self.checkpoints, self.n_jobs = data, checkpoints, n_jobs
        self.samples = samples  # as `with_rows` deals them out; afterwards perhaps without the unlabelled rows
        self._dealt: DealtRows | None = None
        self._kept: dict[SampleTask, Any] = {}

    @contextmanager
    def with_rows(self, numbers: Sequence[int]) -> Iterator[None]:
        """Have the rows of these samples dealt out on disk meanwhile; results are removed if nothing goes wrong."""
        if numbers:
            with scratch_folder(self.data.scratch) as folder:
                self._dealt = deal_rows(self.data, self.samples, numbers, folder, self.n_jobs)
                yield
        else:
            yield
        self._dealt = None
        self.checkpoints.remove()

    def lacking(self, work: SampleWork, tasks: Sequence[SampleTask]) -> list[SampleTask]:
        """Return the tasks of which no result is kept, or none that can be read."""
        for task in tasks:
            if task not in self._kept:
                found = self._read_kept(work, task)
                if found is not None:
                    self._kept[task] = found
        return [task for task in tasks if task not in self._kept]

    def sample(self, number: int) -> Dataset:
        """Return a sample that is dealt out."""
        assert self._dealt is not None
        return self._dealt.read(number)

    def kept_level(self) -> tuple[Supervision, np.ndarray | None] | None:
        """Return the level of supervision and the weights of features that a killed run found, if they are kept."""
        content = self.checkpoints.get(_LEVEL)
        if content is None:
            return None
        found = json.loads(content)  # whole, as its seal says
        curve = {float(level): float(error) for level, error in found["curve"]}
        weights = None if found["weights"] is None else np.array(found["weights"], np.float64)
        return self._at_level(Supervision(found["level"], found["reason"], curve, found["chosen"]), weights)

    def take_level(self, level: Supervision, weights: np.ndarray | None) -> tuple[Supervision, np.ndarray | None]:
        """Keep the level of supervision and the weights of features that a sample tells, and return them."""
        found = {
            "level": float(level.level),
            "reason": level.reason,
            "curve": [[float(one), float(error)] for one, error in level.curve.items()],
            "chosen": bool(level.chosen),
            "weights": None if weights is None else weights.tolist(),
        }
        self.checkpoints.keep(_LEVEL, json.dumps(found).encode())
        return self._at_level(level, weights)

    def _at_level(self, level: Supervision, weights: np.ndarray | None) -> tuple[Supervision, np.ndarray | None]:
        if level.level == 1:  # supervised trees need no unlabelled rows
            self.samples = self.samples.of_labelled
        return level, weights

    def results(
        self, work: SampleWork, tasks: Sequence[SampleTask], begun: Mapping[SampleTask, Any] | None = None
    ) -> list[Any]:
        """Return the results of tasks, in their order: those that are kept, and those computed now.

        Parameters
        ----------
        work : SampleWork
            What is done with a sample.
        tasks : sequence of SampleTask
            The tasks.
        begun : mapping of SampleTask to anything, optional
            What tasks continue: it is sent to the worker that does the task, and to no other.
        """
        lacking = self.lacking(work, tasks)
        found = {task: self._kept.pop(task) for task in tasks if task in self._kept}
        if len(lacking) < len(tasks):
            logger.info("%d of %s are kept of a run before", len(tasks) - len(lacking), counted(len(tasks), "result"))
        if lacking:
            assert self._dealt is not None
            dealt = replace(self._dealt, samples=self.samples)
            n_jobs, n_each = self.n_jobs, 1
            if not on_cluster(self.n_jobs):  # whose workers have memory of their own, and a sample each
                n_jobs = min(worker_count(self.n_jobs), AT_ONCE, len(lacking))
                n_each = max(1, worker_count(self.n_jobs) // n_jobs)
            grow = partial(grow_on_sample, work, dealt, self.checkpoints, n_each)
            given = [(task, (begun or {}).get(task)) for task in lacking]
            computed = run_parallel(grow, given, n_jobs, description="growing trees on samples")
            found |= dict(zip(lacking, computed, strict=True))
        return [found[task] for task in tasks]

    def _read_kept(self, work: SampleWork, task: SampleTask) -> Any:
        content = self.checkpoints.get(task.name)
        if content is None:
            return None
        try:
            return work.unpacked(content, task.trees)
        except (OmnirankError, ValueError, TypeError, LookupError, AttributeError) as problem:
            logger.warning("the result of %s cannot be read (%s): it is computed again", task.name, problem)
            return None


def grow_on_sample(
    work: SampleWork, dealt: DealtRows, checkpoints: Checkpoints, n_jobs: int, given: tuple[SampleTask, Any]
) -> Any:
    """Read a sample, do the work of a task on it (given with what it continues), and keep and return the result."""
    task, begun = given
    with progress_bars(False):  # there is one for all samples
        result = work(dealt.read(task.sample), task.trees, n_jobs, begun)
    if checkpoints.folder is not None:
        checkpoints.keep(task.name, work.packed(result))
    return result


def refuse_in_memory_only(estimator: Any, names: Sequence[str]) -> None:
    """Refuse parameters that are for data in memory where they are set."""
    for name in names:
        if getattr(estimator, name):
            advice = "leave it out" + advised(", or take some of the examples (data.take)", "")
            if name == "warm_start":
                advice = f"leave it out, grow more trees with {setting('first_tree')}, and merge the rankings"
            raise ParameterError(name, getattr(estimator, name), f"it is for data in memory: {advice}")
