"""What neighbours predict, for every task and several numbers of neighbours at once, in memory and in parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from omnirank.core.errors import DataError, DataTypeError, ParameterError, setting
from omnirank.core.parameters import check, choice, count
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import root_entropy, stream
from omnirank.core.types import RandomState
from omnirank.core.variances import column_units
from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.notes import caller_outside
from omnirank.data.table import Table
from omnirank.data.target import Target
from omnirank.evaluation.alignment import aligned_features, check_same_task, joint_targets
from omnirank.neighbors.in_parts import nearest_in_parts
from omnirank.neighbors.mixed_distances import Ranges, feature_ranges
from omnirank.neighbors.ml_knn import ml_knn_probabilities, other_neighbors
from omnirank.neighbors.used_rows import UsedRows, feature_facts
from omnirank.neighbors.weighted_in_parts import WeightedSearch
from omnirank.neighbors.weighted_knn import neighbor_means, ranking_weights, warn_of_many_neighbors, weighted_neighbors
from omnirank.shards.dataset import ShardedDataset
from omnirank.shards.samples import more_memory
from omnirank.tasks import PrototypeColumns, get_task

NEIGHBOR_PREDICTORS = ("knn", "ml-knn")
NEIGHBORS = ("labelled", "oracle", "published")
# Features that the unsupervised protocol keeps.
_TOP_WITHOUT_TARGET = 16


@dataclass(frozen=True)
class NeighborRules:
    """How neighbours predict: the parameters of `omnirank.evaluate` of the same names."""

    predictor: str = "knn"
    neighbors: str = "labelled"
    top: int | None = None
    weighted: bool | None = None
    scaled: bool | None = None
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        check("neighbors", self.neighbors, choice(*NEIGHBORS))
        check("predictor", self.predictor, choice(*NEIGHBOR_PREDICTORS))

    def without_target(self, n_features: int) -> NeighborRules:
        """Return the same rules with the defaults for data without a target."""
        top = min(_TOP_WITHOUT_TARGET, n_features) if self.top is None else self.top
        return replace(self, top=top, weighted=bool(self.weighted), scaled=bool(self.scaled))

    @property
    def weighs(self) -> bool:
        """Whether scores weigh the features that are kept."""
        return not (self.predictor == "ml-knn" and self.top is not None) if self.weighted is None else self.weighted


def distance_weights(
    ranking: Ranking, features: Table, rules: NeighborRules | None = None, ranges: Ranges | None = None
) -> np.ndarray:
    """Return the weight of each feature in the squared distance.

    Parameters
    ----------
    ranking : Ranking
        Of these features.
    features : Table
        The training features.
    rules : NeighborRules, optional
        ``top``: only that many of the best features count. ``weighted``: weights max(score, 0), 0 for constant
        features, all 1 where none is positive; otherwise all 1. ``scaled``: whether numbers are divided by their range
        in the training data.
    ranges : Ranges, optional
        These ranges, where they are not those of the table.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.data.table import Table
    >>> from omnirank.evaluation.knn import NeighborRules, distance_weights
    >>> ranking = om.Ranking(["a", "b", "c"], [0.5, -1.0, 2.0], "genie3")
    >>> table = Table.from_numeric(np.array([[0.0, 1.0, 1.0], [1.0, 1.0, 5.0]]), ranking.names)
    >>> distance_weights(ranking, table).tolist()
    [0.5, 0.0, 2.0]
    >>> distance_weights(ranking, table, NeighborRules(top=1, scaled=False)).tolist()
    [0.0, 0.0, 32.0]
    """
    rules = NeighborRules() if rules is None else rules
    kept = ranking.ranks <= (len(ranking) if rules.top is None else rules.top)
    weights = np.zeros(len(ranking))
    weights[kept] = ranking_weights(ranking.order_scores[kept]) if rules.weighs else 1.0
    if rules.scaled is False:
        span = np.nan_to_num((feature_ranges(features) if ranges is None else ranges).span)
        # the square of a huge range overflows, that of a tiny one vanishes; levels differ by 1
        largest = span.max(initial=float(features.is_nominal.any()))
        unit = column_units(np.array([[0.0], [largest]]))
        in_units = weights.copy()
        in_units[~features.is_nominal] *= (2 * (span / unit)) ** 2
        in_units[features.is_nominal] /= unit**2
        # features that are all constant leave every example at distance 0
        weights = in_units if in_units.any() else weights
    return weights


def neighbor_predictions(
    train: Table,
    target: Target,
    test: Table,
    weights: np.ndarray,
    counts: Sequence[int],
    *,
    task: str,
    hierarchy: Hierarchy | None = None,
    rules: NeighborRules | None = None,
) -> dict[int, np.ndarray]:
    """Return the predicted means of the target's prototype columns, for each number of neighbours.

    One search serves all numbers.

    Parameters
    ----------
    train, target : Table and Target
        Training examples.
    test : Table
        Features of the test examples.
    weights : ndarray
        Weight of each feature in the squared distance.
    counts : sequence of int
        Numbers of neighbours; all there are, where there are fewer.
    task : str
        The task.
    hierarchy : Hierarchy, optional
        Of the labels.
    rules : NeighborRules, optional
        How neighbours predict.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.data.target import Target
    >>> from omnirank.evaluation.knn import neighbor_predictions
    >>> train, test = (Table.from_numeric(np.array(cells)) for cells in ([[0.0], [1.0], [5.0]], [[0.2]]))
    >>> target = Target.numeric(np.array([[1.0], [2.0], [6.0]]), ["y"])
    >>> found = neighbor_predictions(train, target, test, np.ones(1), [1, 2, 3], task="regression")
    >>> {k: means.tolist() for k, means in found.items()}
    {1: [[1.0]], 2: [[1.5]], 3: [[3.0]]}
    """
    rules = NeighborRules() if rules is None else rules
    if not target.labelled.any():
        raise DataError("no training example has a known target: neighbours have nothing to predict")
    if rules.neighbors != "published" and not target.labelled.all():
        train, target = train.take(target.labelled), target.take(target.labelled)
    columns = get_task(task).columns(target, hierarchy)
    if rules.predictor == "ml-knn":
        return _ml_knn(train, columns, test, weights, counts, task, rules)
    ids = weighted_neighbors(train, test, weights, max(counts), rules.n_jobs)
    return votes(columns, ids, counts, rules.neighbors)


def votes(columns: PrototypeColumns, ids: np.ndarray, counts: Sequence[int], neighbors: str) -> dict[int, np.ndarray]:
    """Return what neighbours predict, by their number.

    Parameters
    ----------
    columns : PrototypeColumns
        The target of the examples that may be neighbours.
    ids : ndarray of int
        The neighbours of each test example, nearest first.
    counts, neighbors
        As in `neighbor_predictions`.
    """
    values = columns.matrix if columns.is_sparse_and_known else columns.dense()
    default = _default_votes(columns) if neighbors == "published" else None
    return {k: neighbor_means(values, ids[:, :k], default) for k in counts}


def _default_votes(columns: PrototypeColumns) -> np.ndarray:
    """What is predicted where no neighbour has a label: the commonest class, 0 for numbers and labels."""
    default = np.zeros(columns.n_columns)
    totals = np.nansum(columns.dense(), axis=0) if (columns.level >= 0).any() else default
    for variable in np.unique(columns.variable[columns.level >= 0]).tolist():
        own = np.flatnonzero(columns.variable == variable)
        default[own[np.argmax(totals[own])]] = 1.0
    return default


def _ml_knn(
    train: Table,
    columns: PrototypeColumns,
    test: Table,
    weights: np.ndarray,
    counts: Sequence[int],
    task: str,
    rules: NeighborRules,
) -> dict[int, np.ndarray]:
    published = rules.neighbors == "published"
    if get_task(task).kind != "labels" or published:
        where = f"for {task}" if not published else f"with {setting('neighbors', 'published')}"
        raise ParameterError(
            "predictor", "ml-knn", f"it predicts label sets of labelled neighbours and cannot be used {where}"
        )
    if train.n_rows < 2:
        raise DataError("ML-kNN needs at least two labelled training examples")
    labels = np.nan_to_num(columns.dense())
    most = min(max(counts), train.n_rows - 1)
    ids = weighted_neighbors(train, test, weights, most, rules.n_jobs)
    near = other_neighbors(train, weights, most, rules.n_jobs)
    return {k: ml_knn_probabilities(labels, near[:, :k], ids[:, :k]) for k in counts}


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
    ranking: Ranking, train: TrainingParts, test: Dataset, counts: Sequence[int], rules: NeighborRules
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
    rules : NeighborRules
        How neighbours predict; ML-kNN is for data in memory.
    """
    data, neighbors, n_jobs = train.data, rules.neighbors, rules.n_jobs
    if rules.predictor != "knn":
        raise ParameterError("predictor", rules.predictor, f"it is for data in memory: {more_memory()}")
    if not data.n_targets:
        raise DataError(f"without a target all features are predicted, which is for data in memory: {more_memory()}")
    check_same_task(data.example, test)
    everyone = UsedRows(without=train.without)
    used = UsedRows(labelled_only=neighbors != "published", without=train.without)
    unscaled = feature_facts(data, everyone, n_jobs).ranges if rules.scaled is False else None
    weights = distance_weights(ranking, data.example.features, rules, unscaled)
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
