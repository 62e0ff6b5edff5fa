"""How well a ranking helps neighbours to predict: `omnirank.evaluate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from omnirank.core.parameters import check, choice, count, listed
from omnirank.core.types import RandomState
from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.target import Target
from omnirank.evaluation.alignment import RankingLike, aligned_features, aligned_targets, ranking_of_data
from omnirank.evaluation.knn import (
    NeighborRules,
    TrainingParts,
    distance_weights,
    held_out,
    neighbor_predictions,
    predictions_in_parts,
)
from omnirank.neighbors.weighted_knn import warn_of_many_neighbors
from omnirank.shards.dataset import ShardedDataset
from omnirank.tasks import get_task
from omnirank.tasks.measuring import measure

# Parameters of an evaluation that are about measures, and count for predictors as well.
OF_MEASURES = ("variant", "variance", "threshold")
# Groups of test examples by which standard errors are estimated.
_GROUPS = 20


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
    train: Dataset | ShardedDataset,
    test: Dataset | ShardedDataset | None = None,
    n_neighbors: int | Sequence[int] | None = None,
    *,
    predictor: str = "knn",
    neighbors: str = "labelled",
    top: int | None = None,
    weighted: bool | None = None,
    scaled: bool | None = None,
    variant: str = "standard",
    variance: str = "training",
    threshold: float = 0.5,
    n_test: int | None = None,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> Any:
    r"""Return how well neighbours predict the target in a distance that weighs features by a ranking.

    The distance is :math:`\sum_i w_i d_i^2` with :math:`w_i = \max(\text{score}_i, 0)`, all 1 where no score is
    positive; neighbours vote with equal weights. A ranking is useful if they predict better than with
    equal weights of the features, which is what `omnirank.evaluation.cross.relevance` compares.

    Parameters
    ----------
    ranking : Ranking, fitted ranker or array-like of scores
        Features are matched by name; an array holds one score per feature.
    train, test : Dataset or ShardedDataset
        ``om.Dataset(X, y)`` or ``om.load(path)``: the data that the ranking was made from (nothing else should have
        been used), and others. Numbers are scaled by their ranges in the training data. Data in parts
        (``om.open_shards``) that do not fit in memory stream past the test examples, whose neighbours are exact;
        without test data, some examples in parts are held out.
    n_neighbors : int, sequence of int or None
        Number of neighbours; several cost hardly more than one. If it is not smaller than the number of labelled
        training examples, there is a warning: all of them are neighbours then, whatever the ranking is. None: 20 for
        classes, 5 for numbers, 15 for label sets, 10 for labels in a hierarchy, 1 without target.
    predictor : {"knn", "ml-knn"}
        Means of the neighbours' targets, or `omnirank.MLkNN` (label sets).
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
    variant, variance, threshold
        As in `omnirank.measures.measure`.
    n_test : int or None
        Data in parts: how many test examples are drawn, from the labelled ones. None: all of ``test`` where it fits in
        memory, else 2000. Without ``test``, at most half of the labelled examples.
    random_state : None, int, RandomState or Generator
        Seed of these.
    n_jobs : int or None
        Number of workers; changes no bit.

    Returns
    -------
    dict
        Values by measure, the task's primary measure first; with several ``n_neighbors`` one such dict for each. Where
        the test examples are a sample, the dict is a `SampledMeasures`, with ``n_test`` and ``standard_errors``.

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
    """
    parts = held_out(train, test, n_test, random_state)
    found = predictions(
        ranking,
        parts.train,
        parts.test,
        n_neighbors,
        predictor=predictor,
        neighbors=neighbors,
        top=top,
        weighted=weighted,
        scaled=scaled,
        n_jobs=n_jobs,
    )
    if isinstance(parts.train, Dataset):
        warn_of_many_neighbors(max(found.means), *candidate_count(parts.train, neighbors))
    settings: dict[str, Any] = {"variant": variant, "variance": variance, "threshold": threshold}
    values: dict[int, Any] = measured_predictions(found, **settings)
    if parts.sampled:
        values = {k: _sampled(found, k, whole, settings) for k, whole in values.items()}
    one = n_neighbors is None or isinstance(n_neighbors, Integral)
    return next(iter(values.values())) if one else values


def predictions(
    ranking: RankingLike,
    train: Dataset | TrainingParts,
    test: Dataset,
    n_neighbors: int | Sequence[int] | None = None,
    **rules: Any,
) -> Predictions:
    """Return what `evaluate` measures.

    Parameters
    ----------
    ranking, train, test, n_neighbors
        As in `evaluate`.
    **rules
        Of `omnirank.evaluation.knn.NeighborRules`.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.evaluate import predictions
    >>> train, test = om.datasets.load_sample("linnerud").split(0.5, random_state=0)
    >>> predictions([1.0, 0.5, 0.0], train, test, 3).means[3].shape
    (10, 3)
    """
    by = NeighborRules(**rules)
    example = train.data.example if isinstance(train, TrainingParts) else train
    chosen = ranking_of_data(ranking, example)
    counts = evaluate_counts(n_neighbors, example.task)
    check("top", by.top, choice(None) | count(1, len(chosen), "features"))
    if isinstance(train, TrainingParts):
        made = predictions_in_parts(chosen, train, test, counts, by)
        return Predictions(train.data.task, train.data.hierarchy, *made)
    features = aligned_features(train, test)
    if train.target is None and test.target is None:
        training, truth = Target.from_table(train.features), Target.from_table(features)
        by = by.without_target(train.n_features)
    else:
        training, truth = aligned_targets(train, test)
    weights = distance_weights(chosen, train.features, by)
    means = neighbor_predictions(
        train.features, training, features, weights, counts, task=train.task, hierarchy=train.hierarchy, rules=by
    )
    return Predictions(train.task, train.hierarchy, training, truth, means)


def measured_predictions(found: Predictions, **settings: Any) -> dict[int, dict[str, float]]:
    """Return the measures of predictions, by number of neighbours.

    Parameters
    ----------
    found : Predictions
        What `predictions` returned.
    **settings
        ``variant``, ``variance`` and ``threshold`` of `omnirank.measures.measure`.
    """
    shared: dict[str, Any] = {"training": found.training, "task": found.task, "hierarchy": found.hierarchy}
    return {k: measure(found.truth, means, **shared, **settings) for k, means in found.means.items()}


def measured(ranking: RankingLike, train: Dataset, test: Dataset, **evaluation: Any) -> dict[int, dict[str, float]]:
    """Return the measures of a ranking, by number of neighbours; `evaluate` without its warning of many neighbours."""
    settings = {name: evaluation.pop(name) for name in OF_MEASURES if name in evaluation}
    return measured_predictions(predictions(ranking, train, test, **evaluation), **settings)


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


class SampledMeasures(dict[str, float]):
    """Values by measure, of a sample of test examples.

    Parameters
    ----------
    values : mapping
        Values by measure.
    standard_errors : mapping
        How far, about, they are from those of all examples that the sample was drawn from.
    n_test : int
        Number of examples in the sample.

    Examples
    --------
    >>> from omnirank.evaluation.evaluate import SampledMeasures
    >>> found = SampledMeasures({"accuracy": 0.9}, {"accuracy": 0.01}, 2000)
    >>> found["accuracy"], found.standard_errors["accuracy"], found.n_test
    (0.9, 0.01, 2000)
    """

    def __init__(self, values: Mapping[str, float], standard_errors: Mapping[str, float], n_test: int) -> None:
        super().__init__(values)
        self.standard_errors = dict(standard_errors)
        self.n_test = n_test


def _sampled(found: Predictions, k: int, values: dict[str, float], settings: dict[str, Any]) -> SampledMeasures:
    r"""Return measures with their standard errors, by the jackknife over groups of test examples.

    With g groups, and the value :math:`v_j` without group j, the standard error is

    .. math:: \sqrt{\frac{g - 1}{g} \sum_j (v_j - \bar v)^2}

    Groups in which a measure is not defined are left out.

    References
    ----------
    Efron, Stein: The jackknife estimate of variance. Annals of Statistics 9, 1981.
    """
    n_test = found.truth.n_examples
    groups = np.arange(n_test) % min(_GROUPS, n_test)
    without = []
    for group in range(groups.max() + 1) if n_test > 1 else ():
        mask = groups != group
        part = found._replace(truth=found.truth.take(mask), means={k: found.means[k][mask]})
        without.append(measured_predictions(part, **settings)[k])
    errors = {}
    for name in values:
        parts = np.array([part[name] for part in without])
        parts = parts[~np.isnan(parts)]
        g = len(parts)
        errors[name] = float(np.sqrt((g - 1) / g * ((parts - parts.mean()) ** 2).sum())) if g > 1 else float("nan")
    return SampledMeasures(values, errors, n_test)
