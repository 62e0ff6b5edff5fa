"""Rankings judged on data in parts: a sample is held out, and its exact neighbours are sought among all other rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from omnirank.core.errors import DataError, DataTypeError, ParameterError, setting
from omnirank.core.parameters import check, choice, count
from omnirank.core.ranking import Ranking
from omnirank.core.seeds import root_entropy, stream
from omnirank.core.types import RandomState
from omnirank.data.dataset import Dataset
from omnirank.data.notes import caller_outside
from omnirank.data.target import Target
from omnirank.evaluation.alignment import aligned_features, check_same_task, joint_targets
from omnirank.evaluation.knn import NEIGHBORS, distance_weights, votes
from omnirank.neighbors.in_parts import nearest_in_parts
from omnirank.neighbors.used_rows import UsedRows, feature_facts
from omnirank.neighbors.weighted_in_parts import WeightedSearch
from omnirank.neighbors.weighted_knn import warn_of_many_neighbors
from omnirank.shards.dataset import ShardedDataset
from omnirank.shards.samples import more_memory
from omnirank.tasks import get_task

# Test examples of a sample: the standard error of a share is about a hundredth then.
_SAMPLE = 2000
# Share of the memory that the targets of all training examples may take, and copies of them that measures make.
_SHARE_OF_TARGETS, _COPIES = 2, 3


class TrainingParts(NamedTuple):
    """Training examples that do not fit in memory, and the numbers of rows that are none of them."""

    data: ShardedDataset
    without: np.ndarray


class HeldOut(NamedTuple):
    """Training and test examples, and whether the latter are a sample."""

    train: Dataset | TrainingParts
    test: Dataset
    sampled: bool


def held_out(train: Any, test: Any, n_test: int | None, random_state: RandomState) -> HeldOut:
    """Return training and test examples, of which some are in parts.

    Parameters
    ----------
    train, test
        Data in memory or in parts; without test data, some of the training data in parts are held out.
    n_test : int or None
        How many test examples are drawn, from the labelled ones. None: all where test data fit in memory, else 2000;
        never more than half of the training data.
    random_state : None, int, RandomState or Generator
        Seed of the sample.
    """
    check("n_test", n_test, choice(None) | count(1))
    if not isinstance(train, ShardedDataset) and not isinstance(test, ShardedDataset):
        if n_test is not None:
            raise ParameterError("n_test", n_test, "it is for data in parts (om.open_shards): in memory, use data.take")
        _check_kinds(train, test)
        return HeldOut(train, test, False)
    if test is not None:
        _check_kinds(train, test)
    entropy = root_entropy(random_state)
    sampled, without = test is None, np.empty(0, np.int64)
    if sampled:
        without = _drawn(train, n_test, entropy, 2)
        test = train.take(without)
    elif isinstance(test, ShardedDataset):
        sampled = n_test is not None or not test.fits_in_memory
        test = test.take(_drawn(test, n_test, entropy, 1)) if sampled else test.read()
    if not isinstance(train, ShardedDataset):
        return HeldOut(train, test, sampled)
    if not train.fits_in_memory:
        return HeldOut(TrainingParts(train, without), test, sampled)
    used = np.ones(train.n_examples, bool)
    used[without] = False
    return HeldOut(train.read().take(used) if len(without) else train.read(), test, sampled)


def _check_kinds(train: Any, test: Any) -> None:
    for name, given in (("train", train), ("test", test)):
        if not isinstance(given, Dataset | ShardedDataset):
            kind = type(given).__name__
            raise DataTypeError(
                f"{name} must be a Dataset, not {kind}: make one with om.Dataset(X, y) or om.load(path)"
            )


def _drawn(data: ShardedDataset, n_test: int | None, entropy: int, share: int) -> np.ndarray:
    """Numbers of test examples among the labelled ones, ascending; at most one of ``share`` of them."""
    rows = np.arange(data.n_examples)
    if data.n_targets:
        rows = np.flatnonzero(np.concatenate([target.labelled for target in data.targets()]))
    n = min(_SAMPLE if n_test is None else n_test, len(rows) // share)
    if not n:
        raise DataError(f"{data.name!r} has too few labelled examples for a test")
    return np.sort(stream(entropy, 0).choice(rows, n, replace=False))


def predictions_in_parts(
    ranking: Ranking,
    train: TrainingParts,
    test: Dataset,
    counts: Sequence[int],
    *,
    predictor: str = "knn",
    neighbors: str = "labelled",
    top: int | None = None,
    weighted: bool | None = None,
    scaled: bool | None = None,
    n_jobs: int | None = None,
) -> tuple[Target, Target, dict[int, np.ndarray]]:
    """Return the targets of training and test examples, and what neighbours predict, as for examples in memory.

    The training target is that of the neighbours alone where no measure needs more.

    Parameters
    ----------
    ranking : Ranking
        Of the features of the data, in their order.
    train : TrainingParts
        The training examples.
    test : Dataset
        The test examples.
    counts : sequence of int
        Numbers of neighbours.
    predictor, neighbors, top, weighted, scaled, n_jobs
        As in `omnirank.evaluate`; ML-kNN is for data in memory.
    """
    data = train.data
    check("neighbors", neighbors, choice(*NEIGHBORS))
    if predictor != "knn":
        raise ParameterError("predictor", predictor, f"it is for data in memory: {more_memory()}")
    if not data.n_targets:
        raise DataError(f"without a target all features are predicted, which is for data in memory: {more_memory()}")
    check_same_task(data.example, test)
    everyone = UsedRows(without=train.without)
    used = UsedRows(labelled_only=neighbors != "published", without=train.without)
    weights = distance_weights(
        ranking,
        data.example.features,
        top=top,
        weighted=weighted is not False,
        scaled=scaled is not False,
        ranges=feature_facts(data, everyone, n_jobs).ranges if scaled is False else None,
    )
    targets = _training_targets(train, neighbors)
    kind = "" if neighbors == "published" else "labelled "
    warn_of_many_neighbors(max(counts), targets.n_candidates, kind, caller_outside())
    used = used if targets.some_unlabelled else everyone
    ranges = feature_facts(data, used, n_jobs).ranges
    search = WeightedSearch(
        aligned_features(data.example, test), weights, ranges, used, min(max(counts), targets.n_candidates)
    )
    lists = nearest_in_parts(data, search, n_jobs)
    assert lists.cells is not None
    assert test.target is not None
    ids = lists.filled(search.n_lists, search.k)[0]
    kept = data.dataset_of(lists.cells).target
    assert kept is not None
    if targets.whole is None:
        training, truth = joint_targets(kept, test.target)
        ids = np.searchsorted(lists.kept, ids)
    else:
        training, truth = joint_targets(targets.whole, test.target)
        ids = np.searchsorted(targets.numbers, ids)
    voters = training if neighbors == "published" or targets.whole is None else training.take(training.labelled)
    columns = get_task(data.task).columns(voters, data.hierarchy)
    return training, truth, votes(columns, ids, counts, neighbors)


class _TrainingTargets(NamedTuple):
    """Number of rows that may be neighbours, whether others are unlabelled, and, where needed, numbers and targets.

    numbers: of the rows that may be neighbours; whole: the targets of all training examples.
    """

    n_candidates: int
    some_unlabelled: bool
    numbers: np.ndarray
    whole: Target | None


def _training_targets(train: TrainingParts, neighbors: str) -> _TrainingTargets:
    """Look at the targets; keep all of them only where variances or means over all of them are needed."""
    data = train.data
    masks, partial = [], False
    for target in data.targets():
        masks.append(target.labelled)
        partial = partial or target.is_partial
    labelled = np.concatenate(masks)
    used = np.ones(len(labelled), bool)
    used[train.without] = False
    if not (labelled & used).any():
        raise DataError("no training example has a known target: neighbours have nothing to predict")
    numbers = np.flatnonzero(used if neighbors == "published" else labelled & used)
    some_unlabelled = not labelled[used].all()
    if get_task(data.task).kind in ("classes", "labels") and not partial and neighbors != "published":
        return _TrainingTargets(len(numbers), some_unlabelled, numbers, None)
    assert data.example.target is not None
    columns = sum(len(levels or (0,)) for levels in data.example.target.levels)
    takes = _COPIES * 8 * columns * data.n_examples
    if takes * _SHARE_OF_TARGETS > data.source.max_memory:
        allowed = setting("max_memory", data.source.max_memory)
        raise DataError(
            f"the targets of all training examples take {takes / 2**20:.3g} MB while they are used, more than half of "
            f"{allowed}: {more_memory()}"
        )
    whole = Target.joined(list(data.targets())).take(used)
    return _TrainingTargets(len(numbers), some_unlabelled, numbers, whole)
