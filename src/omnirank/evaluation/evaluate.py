"""How well a ranking helps neighbours to predict: `omnirank.evaluate`, in memory and in parts."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from omnirank.core.errors import DataError, DataTypeError, DataWarning, ParameterError, setting
from omnirank.core.parameters import check, choice, count, listed
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import root_entropy, stream
from omnirank.core.types import ArrayLike, RandomState
from omnirank.core.variances import column_units
from omnirank.data.containers import FeaturesLike, TargetLike
from omnirank.data.dataset import Dataset
from omnirank.data.estimator_input import check_sample_weight
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.notes import caller_outside
from omnirank.data.resampling import WORTH_A_NOTE, share_in_common
from omnirank.data.table import Table
from omnirank.data.target import Target
from omnirank.evaluation.alignment import RankingLike, aligned_features, aligned_targets, ranking_of_data
from omnirank.evaluation.folds import labelled_folds, splitter_folds
from omnirank.neighbors.cells import feature_ranges
from omnirank.neighbors.weighted import (
    ml_knn_probabilities,
    neighbor_means,
    other_neighbors,
    ranking_weights,
    warn_of_many_neighbors,
    weighted_neighbors,
)
from omnirank.rankers.refits import check_ranker, is_ranker, ranker_and_data
from omnirank.relational.dataset import RelationalDataset
from omnirank.shards.dataset import ShardedDataset
from omnirank.tasks import PrototypeColumns, get_task
from omnirank.tasks.measuring import measure

# Parameters of an evaluation that are about measures, and count for predictors as well.
OF_MEASURES = ("variant", "variance", "threshold")


class Predictions(NamedTuple):
    """What neighbours predict for test examples, with what is needed to measure it.

    task, hierarchy: of the training data; training, truth: targets with the same levels; means: of the prototype
    columns, by number of neighbours.
    """

    task: str
    hierarchy: Hierarchy | None
    training: Target
    truth: Target
    means: dict[int, np.ndarray]


def evaluate(
    ranking: RankingLike,
    train: Dataset | ShardedDataset | FeaturesLike,
    test: Dataset | ShardedDataset | TargetLike | None = None,
    n_neighbors: int | Sequence[int] | None = None,
    *,
    predictor: str = "knn",
    neighbors: str = "labelled",
    top: int | None = None,
    weighted: bool | None = None,
    scaled: bool | None = None,
    ranges: str = "train",
    variant: str = "standard",
    variance: str = "training",
    threshold: float = 0.5,
    n_test: int | None = None,
    n_folds: int = 10,
    cv: Any = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> Any:
    r"""Return how well neighbours predict the target in a distance that weighs features by a ranking.

    The distance is :math:`\sum_i w_i d_i^2` with :math:`w_i = \max(\text{score}_i, 0)`, all 1 where no score is
    positive; neighbours vote with equal weights. A ranking is useful if they predict better than with
    equal weights of the features (``np.ones(n_features)``), and than with random ones.

    Parameters
    ----------
    ranking : Ranking, ranker or array-like of scores
        Features are matched by name; an array holds one score per feature. A ranker with features and target
        (``evaluate(ranker, X, y)``), or with one `Dataset`, is judged by cross-validation: copies of it rank the
        training examples of each fold.
    train, test : Dataset or ShardedDataset, or features and target
        ``om.Dataset(X, y)`` or ``om.load(path)``: the data that the ranking was made from (nothing else should have
        been used), and others. Numbers are scaled by their ranges in the training data. Data in parts
        (``om.open_shards``) that do not fit in memory are a random sample that does; without test data, some
        examples in parts are held out.
    n_neighbors : int, sequence of int or None
        Number of neighbours; several cost hardly more than one. If it is not smaller than the number of labelled
        training examples, there is a warning: all of them are neighbours then, whatever the ranking is. None: 20 for
        classes, 5 for numbers, 15 for label sets, 10 for labels in a hierarchy, 1 without target.
    predictor : {"knn", "ml-knn"}
        Means of the neighbours' targets, or ML-kNN (label sets; Zhang and Zhou, Pattern Recognition 40, 2007).
    neighbors : {"labelled", "oracle", "published"}
        Which training examples may be neighbours. "labelled": those with a known target. "oracle": all, with all their
        labels, which ``train`` must then hold although the ranking has seen only some of them. "published": all;
        unlabelled ones take a place but cast no vote, and where none of the neighbours is labelled the most common
        class or 0 is predicted; use it only to compare with results that were made in this way.
    top : int, optional
        Keep only that many of the best features; 16 by default without target, else all.
    weighted : bool, optional
        Whether scores weigh the features that are kept; by default not without target, nor for ML-kNN with ``top``.
    scaled : bool, optional
        Whether numbers are divided by their ranges; by default not without target.
    ranges : {"train", "both"}
        Ranges in the training data, or in training and test data together; use that only to compare with results that
        were made in this way: a test example should not change how others are predicted.
    variant, variance, threshold
        As in `omnirank.measures.measure`.
    n_test : int or None
        Data in parts: how many test examples are drawn, from the labelled ones. None: all of ``test`` where it fits in
        memory, else 2000. Without ``test``, at most half of the labelled examples.
    n_folds, cv, sample_weight, groups
        Cross-validation: number of folds, or a splitter of scikit-learn instead; weights of the examples in the
        rankings; groups of examples that stay in one fold. As in `omnirank.select`.
    random_state : None, int, RandomState or Generator
        Seed of the test examples, or of the folds.
    n_jobs : int or None
        Number of workers; changes no bit.

    Returns
    -------
    dict
        Values by measure (means over folds), the task's primary measure first; with several ``n_neighbors`` one such
        dict for each.

    Notes
    -----
    Without target the nearest training example, by the top features, predicts all features of a test example, and the
    error is the mean over features of the root mean squared error, in their own units. Compare it with the mean of
    several random rankings.

    References
    ----------
    Petkovic, Kocev, Dzeroski: Feature ranking for multi-target regression. Machine Learning 109, 2020. Eq. (11).
    Without target: Petkovic, Kocev, Skrlj, Dzeroski: Ensemble- and distance-based feature ranking for unsupervised
    learning. International Journal of Intelligent Systems 36, 2021.

    Examples
    --------
    >>> import omnirank as om
    >>> train, test = om.datasets.load_sample("digits").split(0.5, random_state=0)
    >>> ranking = om.UnivariateRanker().fit(train).ranking_
    >>> measures = om.evaluate(ranking, train, test)
    >>> measures["f1_macro"] > 0.95
    True
    >>> list(om.evaluate(ranking, train, test, n_neighbors=[1, 20]))
    [1, 20]
    >>> om.evaluate(om.UnivariateRanker(), train, n_folds=3)["f1_macro"] > 0.9
    True
    """
    rules = vars(NeighborRules(predictor, neighbors, top, weighted, scaled, ranges, n_jobs))
    settings: dict[str, Any] = {"variant": variant, "variance": variance, "threshold": threshold}
    in_parts = isinstance(train, ShardedDataset) or isinstance(test, Dataset | ShardedDataset)
    if is_ranker(ranking) and not in_parts and n_test is None:
        given = {"n_folds": n_folds, "cv": cv, "sample_weight": sample_weight, "groups": groups}
        return _cross_validated(ranking, train, test, n_neighbors, rules | settings, random_state, **given)
    if isinstance(ranking, str):
        check_ranker(ranking)
    if not (cv is None and sample_weight is None and groups is None):
        raise ParameterError("cv, sample_weight and groups are for evaluate(ranker, X, y), which cross-validates")
    training, tested = held_out(train, test, n_test, random_state)
    _warn_of_copies(training, tested)
    predicted = predictions(ranking, training, tested, n_neighbors, **rules)
    warn_of_many_neighbors(max(predicted.means), *candidate_count(training, neighbors))
    values = measured_predictions(predicted, **settings)
    one = n_neighbors is None or isinstance(n_neighbors, Integral)
    return next(iter(values.values())) if one else values


def _warn_of_copies(train: Dataset, test: Dataset) -> None:
    """Warn where many test examples are training examples: the nearest neighbour of each is itself."""
    share = share_in_common(train.features, aligned_features(train, test))
    if share >= WORTH_A_NOTE:
        text = f"{100 * share:.0f} % of the test examples are also training examples: judge on others, or by folds"
        warnings.warn(text, DataWarning, stacklevel=caller_outside())


def _cross_validated(
    ranker: Any,
    X: Any,
    y: Any,
    n_neighbors: Any,
    options: dict[str, Any],
    random_state: RandomState,
    *,
    n_folds: int,
    cv: Any,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
) -> Any:
    """The means of all measures over folds."""
    from omnirank.evaluation.cross import evaluate_folds  # imported late: it judges folds by this module

    copy, dataset = ranker_and_data(ranker, X, y, groups, sample_weight)
    weights = None if sample_weight is None else check_sample_weight(sample_weight, dataset.n_examples)
    folds = splitter_folds(dataset, cv) if cv is not None else labelled_folds(dataset, n_folds, random_state)
    table = evaluate_folds(copy, dataset, folds, n_neighbors, sample_weight=weights, **options).summary
    rows = {
        int(row.pop("n_neighbors")): row for row in table.drop(columns=["n_labelled", "n_folds"]).to_dict("records")
    }
    one = n_neighbors is None or isinstance(n_neighbors, Integral)
    return next(iter(rows.values())) if one else rows


def predictions(
    ranking: RankingLike, train: Dataset, test: Dataset, n_neighbors: int | Sequence[int] | None = None, **rules: Any
) -> Predictions:
    """Return what `evaluate` measures.

    Parameters
    ----------
    ranking, train, test, n_neighbors
        As in `evaluate`.
    **rules
        Of `omnirank.evaluation.evaluate.NeighborRules`.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.evaluate import predictions
    >>> train, test = om.datasets.load_sample("linnerud").split(0.5, random_state=0)
    >>> predictions([1.0, 0.5, 0.0], train, test, 3).means[3].shape
    (10, 3)
    """
    by = NeighborRules(**rules)
    matched = ranking_of_data(ranking, train)
    counts = evaluate_counts(n_neighbors, train.task)
    check("top", by.top, choice(None) | count(1, len(matched), "features"))
    near = _nearest(matched, train, test, max(counts), by)
    columns = get_task(train.task).columns(near.voters, train.hierarchy)
    if near.mutual is None:
        means = votes(columns, near.ids, counts, by.neighbors)
    else:
        labels = np.nan_to_num(columns.dense())
        means = {k: ml_knn_probabilities(labels, near.mutual[:, :k], near.ids[:, :k]) for k in counts}
    return Predictions(train.task, train.hierarchy, near.training, near.truth, means)


def measured_predictions(predicted: Predictions, **settings: Any) -> dict[int, dict[str, float]]:
    """Return the measures of predictions, by number of neighbours.

    Parameters
    ----------
    predicted : Predictions
        What `predictions` returned.
    **settings
        ``variant``, ``variance`` and ``threshold`` of `omnirank.measures.measure`.
    """
    shared: dict[str, Any] = {"training": predicted.training, "task": predicted.task, "hierarchy": predicted.hierarchy}
    return {k: measure(predicted.truth, means, **shared, **settings) for k, means in predicted.means.items()}


def measured(ranking: RankingLike, train: Dataset, test: Dataset, **evaluation: Any) -> dict[int, dict[str, float]]:
    """Return the measures of a ranking, by number of neighbours; `evaluate` without its warning of many neighbours."""
    settings = {name: evaluation.pop(name) for name in OF_MEASURES if name in evaluation}
    return measured_predictions(predictions(ranking, train, test, **evaluation), **settings)


def measured_constant(train: Any, test: Any) -> dict[str, float]:
    """Return the measures of a prediction that is the same for all test examples: the mean of the training examples.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.evaluate import measured_constant
    >>> data = om.datasets.load_sample("diabetes")
    >>> round(measured_constant(data, data)["rrmse"], 9)
    1.0
    """
    if train.target is None:
        training, truth = Target.from_table(train.features), Target.from_table(aligned_features(train, test))
    else:
        training, truth = aligned_targets(train, test)
    columns, n = get_task(train.task).columns(training, train.hierarchy), training.n_examples
    mean = votes(columns, np.arange(n)[None], [n], "labelled")[n]
    means = {n: np.repeat(mean, truth.n_examples, axis=0)}
    return measured_predictions(Predictions(train.task, train.hierarchy, training, truth, means))[n]


def evaluate_counts(n_neighbors: int | Sequence[int] | None, task: str) -> list[int]:
    """Return the numbers of neighbours that are meant.

    Examples
    --------
    >>> from omnirank.evaluation.evaluate import evaluate_counts
    >>> evaluate_counts(None, "multi-label"), evaluate_counts([20, 40], "regression")
    ([15], [20, 40])
    """
    if n_neighbors is None:
        return [get_task(task).default_neighbors]
    check("n_neighbors", n_neighbors, listed(count(1), or_one=True, different=True))
    return [int(k) for k in np.atleast_1d(n_neighbors)]


def candidate_count(train: Dataset, neighbors: str) -> tuple[int, str]:
    """Return how many training examples may be neighbours, and which these are, in words.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.evaluate import candidate_count
    >>> data = om.datasets.load_sample("iris").keep_labels(20, random_state=0)
    >>> candidate_count(data, "labelled"), candidate_count(data, "published")
    ((20, 'labelled '), (150, ''))
    """
    if neighbors == "published" or train.target is None:
        return train.n_examples, ""
    return int(train.labelled.sum()), "labelled "


# -- what neighbours predict -----------------------------------------------------------------------


NEIGHBOR_PREDICTORS = ("knn", "ml-knn")
NEIGHBOR_RANGES = ("train", "both")
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
    ranges: str = "train"
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        check("neighbors", self.neighbors, choice(*NEIGHBORS))
        check("predictor", self.predictor, choice(*NEIGHBOR_PREDICTORS))
        check("ranges", self.ranges, choice(*NEIGHBOR_RANGES))

    def without_target(self, n_features: int) -> NeighborRules:
        """Return the same rules with the defaults for data without a target."""
        top = min(_TOP_WITHOUT_TARGET, n_features) if self.top is None else self.top
        return replace(self, top=top, weighted=bool(self.weighted), scaled=bool(self.scaled))

    @property
    def weighs(self) -> bool:
        """Whether scores weigh the features that are kept."""
        return not (self.predictor == "ml-knn" and self.top is not None) if self.weighted is None else self.weighted


def distance_weights(ranking: Ranking, features: Table, rules: NeighborRules | None = None) -> np.ndarray:
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

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.data.table import Table
    >>> from omnirank.evaluation.evaluate import NeighborRules, distance_weights
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
        span = np.nan_to_num(feature_ranges(features).span)
        # the square of a huge range overflows, that of a tiny one vanishes; levels differ by 1
        largest = span.max(initial=float(features.is_nominal.any()))
        unit = column_units(np.array([[0.0], [largest]]))
        in_units = weights.copy()
        in_units[~features.is_nominal] *= (2 * (span / unit)) ** 2
        in_units[features.is_nominal] /= unit**2
        # features that are all constant leave every example at distance 0
        weights = in_units if in_units.any() else weights
    return weights


class _Near(NamedTuple):
    """Neighbours of test examples, with what votes need.

    training, truth: targets with the same levels; voters: targets of the examples that may be neighbours; ids: of the
    neighbours among these, nearest first; mutual: for ML-kNN, the neighbours of the voters among each other.
    """

    training: Target
    truth: Target
    voters: Target
    ids: np.ndarray
    mutual: np.ndarray | None = None


def _nearest(ranking: Ranking, train: Dataset, test: Dataset, k: int, rules: NeighborRules) -> _Near:
    features = aligned_features(train, test)
    if train.target is None and test.target is None:
        training, truth = Target.from_table(train.features), Target.from_table(features)
        rules = rules.without_target(train.n_features)
    else:
        training, truth = aligned_targets(train, test)
    if not training.labelled.any():
        raise DataError("no training example has a known target: neighbours have nothing to predict")
    weights = distance_weights(ranking, train.features, rules)
    table, voters = train.features, training
    if rules.neighbors != "published" and not training.labelled.all():
        table, voters = table.take(training.labelled), training.take(training.labelled)
    if rules.ranges == "both" and rules.scaled is not False:
        weights = weights.copy()
        own, other = feature_ranges(table), feature_ranges(features)
        span = np.fmax(own.low + own.span, other.low + other.span) - np.fmin(own.low, other.low)
        # distances divide by the ranges of the table
        weights[~table.is_nominal] *= np.divide(own.span, span, out=np.ones_like(span), where=span > 0) ** 2
    mutual = None
    if rules.predictor == "ml-knn":
        published = rules.neighbors == "published"
        if get_task(train.task).kind != "labels" or published:
            where = f"for {train.task}" if not published else f"with {setting('neighbors', 'published')}"
            advice = f"it predicts label sets of labelled neighbours and cannot be used {where}"
            raise ParameterError("predictor", "ml-knn", advice)
        if table.n_rows < 2:
            raise DataError("ML-kNN needs at least two labelled training examples")
        k = min(k, table.n_rows - 1)
        mutual = other_neighbors(table, weights, k, rules.n_jobs)
    return _Near(training, truth, voters, weighted_neighbors(table, features, weights, k, rules.n_jobs), mutual)


def votes(columns: PrototypeColumns, ids: np.ndarray, counts: Sequence[int], neighbors: str) -> dict[int, np.ndarray]:
    """Return what neighbours predict, by their number.

    Parameters
    ----------
    columns : PrototypeColumns
        The target of the examples that may be neighbours.
    ids : ndarray of int
        The neighbours of each test example, nearest first.
    counts : sequence of int
        Numbers of neighbours; all there are, where there are fewer.
    neighbors : str
        As in `evaluate`.
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


# Test examples of a sample: the standard error of a share is about a hundredth then.
_SAMPLE = 2000


def held_out(train: Any, test: Any, n_test: int | None, random_state: RandomState) -> tuple[Dataset, Dataset]:
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
        return train, test
    if test is not None:
        _check_kinds(train, test)
    entropy = root_entropy(random_state)
    without = np.empty(0, np.int64)
    if test is None:
        without = _drawn(train, n_test, entropy, 2)
        test = train.take(without)
    elif isinstance(test, ShardedDataset):
        drawn = n_test is not None or not test.fits_in_memory
        test = test.take(_drawn(test, n_test, entropy, 1)) if drawn else test.read()
    return train.sample(entropy, without) if isinstance(train, ShardedDataset) else train, test


def _check_kinds(train: Any, test: Any) -> None:
    for name, data in (("train", train), ("test", test)):
        if isinstance(data, RelationalDataset):
            data.refuse_as_one()
        if not isinstance(data, Dataset | ShardedDataset):
            if name == "test" and data is None:
                raise DataError("a ranking is judged on test data: evaluate(ranking, train, test)")
            kind = type(data).__name__
            raise DataTypeError(
                f"{name} must be a Dataset, not {kind}: make one with om.Dataset(X, y) or om.load(path)"
            )


def _drawn(data: ShardedDataset, n_test: int | None, entropy: int, share: int) -> np.ndarray:
    """Numbers of test examples among the labelled ones, ascending; at most one of ``share`` of them."""
    rows = np.arange(data.n_examples)
    if data.n_targets:
        rows = np.flatnonzero(data.labelled)
    n = min(_SAMPLE if n_test is None else n_test, len(rows) // share)
    if not n:
        raise DataError(f"{data.name!r} has too few labelled examples for a test")
    return np.sort(stream(entropy, 0).choice(rows, n, replace=False))
