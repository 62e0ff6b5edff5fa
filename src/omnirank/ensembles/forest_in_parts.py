"""Forests on data that do not fit in memory: the trees of random samples, together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from omnirank.core.array_file import StoredArrays, packed_arrays
from omnirank.core.errors import DataError, ParameterError
from omnirank.core.files import own_heading
from omnirank.core.parallel import run_parallel
from omnirank.data.dataset import Dataset
from omnirank.data.estimator_input import read_features
from omnirank.data.table import Levels
from omnirank.ensembles.feature_weights import check_feature_weights, weights_digest
from omnirank.ensembles.plan import GrowingData, GrowingPlan, GrowingRules
from omnirank.ensembles.predictor import Training, tree_grower
from omnirank.ensembles.sampled_growth import SampledGrowth, SampleTask, growing_samples, sample_tasks
from omnirank.ensembles.supervision import Supervision, settled_supervision
from omnirank.shards.dataset import ShardedDataset
from omnirank.shards.folders import checkpoints_of
from omnirank.shards.samples import Samples
from omnirank.shards.summary import ColumnSummary
from omnirank.tasks.columns import PrototypeColumns
from omnirank.trees.tree import Tree
from omnirank.trees.tree_arrays import arrays_of_trees, trees_of_arrays

if TYPE_CHECKING:
    from omnirank.ensembles.forest import Forest

_FORMAT = "omnirank-trees"
# Parameters that say how many trees there are and who grows them, or that are no numbers and texts.
_NOT_OF_A_TREE = ("n_trees", "n_jobs", "oob_score", "random_state", "warm_start", "feature_weights")


@dataclass(frozen=True, eq=False)
class _TreeWork:
    """Grows trees on a sample; those of a sample in which the target is constant are one leaf each."""

    forest: Forest
    rules: GrowingRules
    entropy: int
    levels: tuple[Levels | None, ...]
    n_values: int
    level: Supervision
    feature_weights: np.ndarray | None = None

    def __call__(self, dataset: Dataset, trees: range, n_jobs: int, begun: None = None) -> list[Tree]:
        training, plan = self.planned(dataset)
        return run_parallel(tree_grower(plan, training, None), trees, n_jobs)

    def planned(self, dataset: Dataset) -> tuple[Training, GrowingPlan | None]:
        """Return what trees see of a sample, and their plan, if the target varies."""
        training = self.forest._prepared(dataset, None, self.rules, self.entropy, self.level, self.feature_weights)
        rules = replace(self.rules, supervision=self.level.level)
        return training, None if training.is_constant else training.data.plan(rules)

    def packed(self, result: list[Tree]) -> bytes:
        return packed_arrays(own_heading(_FORMAT, 1), arrays_of_trees(result))

    def unpacked(self, content: bytes, trees: range) -> list[Tree]:
        stored = StoredArrays(content, "checkpoint", _FORMAT, range(1, 2), "trees")
        found = trees_of_arrays(stored, self.levels, self.n_values)
        if len(found) != len(trees):
            raise DataError(f"it holds {len(found)} trees in place of {len(trees)}")
        return found


def fit_in_samples(forest: Forest, data: ShardedDataset, rules: GrowingRules) -> tuple[list[Tree], float | None]:
    """Return the trees of a forest on data in parts and their out-of-bag error, and note in it what a fit notes.

    Tree i grows on sample i modulo the number of samples. Levels, classes and their order are those of all rows, so
    that a class that a sample does not have keeps its place.

    Parameters
    ----------
    forest : Forest
        The forest, its parameters checked.
    data : ShardedDataset
        The data.
    rules : GrowingRules
        How trees are grown.
    """
    if not data.n_targets:
        raise DataError(f"{type(forest).__name__} needs a target: open the shards with one")
    if data.task not in forest.supported_tasks:
        raise DataError(forest._refusal(data.example))
    read_features(forest, data.example, reset=True)
    check_feature_weights(forest.feature_weights, data.example)
    entropy = forest._entropy
    samples = growing_samples(data, entropy, forest.supervision)
    kept = forest._kept_trees(_print_of(data, samples) if forest.warm_start else None)
    numbers = range(len(kept), forest.n_trees)
    decisive = {
        "forest": type(forest).__name__,
        "parameters": {k: repr(v) for k, v in forest.get_params(deep=False).items() if k not in _NOT_OF_A_TREE},
        "feature_weights": weights_digest(forest.feature_weights),
        "entropy": entropy,
        "samples": repr(samples),
    }
    checkpoints = checkpoints_of(data, decisive, forest.random_state is not None)
    growth = SampledGrowth(data, samples, checkpoints, forest.n_jobs)
    level, weights = settled_supervision(forest.supervision, True, data.n_labelled == data.n_examples), None
    settled = level is not None and (level.level == 1 or forest.feature_weights is None)
    if not settled and (kept_level := growth.kept_level()) is not None:
        (level, weights), settled = kept_level, True
    tasks = sample_tasks(numbers, growth.samples.n_samples)
    columns = GrowingData(data.example, entropy).target_columns(rules)
    fixed = clone(forest).set_params(n_jobs=1), rules, entropy, data.feature_levels, columns.n_columns
    needed = set() if settled and not forest.oob_score else {0}
    if level is not None and settled:
        work = _TreeWork(*fixed, level, weights)
        needed |= {task.sample for task in growth.lacking(work, tasks)}
    else:
        needed |= {task.sample for task in tasks}
    with growth.with_rows(sorted(needed)):
        if level is None or not settled:
            level, weights = _level_of_sample(forest, growth, rules)
            work = _TreeWork(*fixed, level, weights)
            tasks = sample_tasks(numbers, growth.samples.n_samples)
        trees = [*kept, *_by_number(tasks, growth.results(work, tasks))]
        forest._note_level(level)
        _note(forest, data, columns)
        error = _out_of_bag_error(forest, growth, work, trees) if forest.oob_score else None
    return trees, error


def _print_of(data: ShardedDataset, samples: Samples) -> str:
    """What tells whether trees can be added to those of a fit before."""
    if data.fingerprint is None:
        raise ParameterError("warm_start", True, "nothing tells whether data of this kind have changed: leave it out")
    return f"{data.fingerprint} {samples!r}"


def _by_number(tasks: Sequence[SampleTask], results: Sequence[list[Tree]]) -> list[Tree]:
    """The trees of all samples, in the order of their numbers."""
    numbered = {
        i: tree for task, trees in zip(tasks, results, strict=True) for i, tree in zip(task.trees, trees, strict=True)
    }
    return [numbered[i] for i in sorted(numbered)]


def _out_of_bag_error(forest: Forest, growth: SampledGrowth, work: _TreeWork, trees: list[Tree]) -> float:
    """Error of the forest on the rows of the first sample, which are a random sample of all.

    A row is predicted by the trees that have not seen it: those of the sample whose bag it is not in, and those of
    other samples, but for samples that have the same labelled rows.
    """
    samples = growth.samples
    training, plan = work.planned(growth.sample(0))
    shared = samples.n_labelled or samples.n_samples
    seen = np.zeros((len(trees), training.whole.n_examples), bool)
    for i in range(len(trees)):
        if i % samples.n_samples:
            seen[i] = i % samples.n_samples % shared == 0
        elif plan is not None:
            seen[i, training.used] = plan.counts(i) > 0
    return forest._judged_out_of_bag(training, trees, seen)[2]


def _level_of_sample(
    forest: Forest, growth: SampledGrowth, rules: GrowingRules
) -> tuple[Supervision, np.ndarray | None]:
    """The level of supervision and the weights of the features, as the first sample tells them."""
    training = forest._prepared(growth.sample(0), None, rules, forest._entropy)
    return growth.take_level(training.level, training.data.feature_weights)


def _note(forest: Forest, data: ShardedDataset, columns: PrototypeColumns) -> None:
    """Note what predictions need to know, of all rows."""
    found, n_rows = data._summary.columns, data.n_examples
    forest._note(data.example, columns)
    forest._labelled = np.zeros(0, bool)
    forest._had_missing = tuple(found[name].n_known < n_rows for name in data.feature_names)
    target = data.example.target
    assert target is not None
    spread = [_spread(found[name], levels) for name, levels in zip(target.names, target.levels, strict=True)]
    forest._column_spread = np.concatenate(spread)
    if all(found[name].n_values < 2 for name in target.names):
        forest._tell_constant(target.names)


def _spread(found: ColumnSummary, levels: Levels | None) -> np.ndarray:
    """Standard deviations of the columns of a target variable, over all rows."""
    if levels is None:
        return np.sqrt([found.variance])
    shares = np.array([found.counts.get(level, 0) for level in levels]) / max(found.n_known, 1)
    return np.sqrt(shares * (1 - shares))
