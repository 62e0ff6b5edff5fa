"""The level of supervision w: how much the target counts beside the features, and each feature among them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from omnirank.core.blas_threads import one_blas_thread
from omnirank.core.errors import DataError, logger, setting
from omnirank.core.parallel import run_parallel
from omnirank.core.parameters import check, check_weights, choice, number
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import stream
from omnirank.data.dataset import Dataset
from omnirank.ensembles.plan import GrowingData, GrowingPlan, GrowingRules
from omnirank.ensembles.scores import mean_scores
from omnirank.ensembles.unbiased import route, routed_cells
from omnirank.neighbors.weighted import neighbor_means, ranking_weights, weighted_neighbors
from omnirank.tasks import ClusteringColumns, get_task, plain_columns
from omnirank.tasks.columns import PrototypeColumns
from omnirank.trees.prediction import add_rows, average_means
from omnirank.trees.prototypes import node_means
from omnirank.trees.pruning import Pruning

# What the parameter ``supervision`` may be.
SUPERVISION = choice("auto", "cv") | number(0, 1)
# Levels that "auto" compares out of bag, each by a forest of so many trees.
_GRID = (0.25, 0.5, 0.75, 1.0)
_TREES = 16
# For a ranking, where level 0 is compared before. Small rankings compare levels by a share of their trees, so that
# those that see unlabelled examples are together no more than the ranking has.
_RANKING_GRID = (0.25, 0.5, 1.0)
_SHARE = 3
# With fewer trees a level, what they happen to test decides more than the level.
_FEWEST = 4
# Unlabelled examples are used where they lower the loss by more than so many standard errors.
_STANDARD_ERRORS = 2.0
# Errors that differ by rounding only are equal.
_EQUAL = 1e-9
# Levels and folds of the studies, for "cv".
_CV_GRID = tuple(i / 10 for i in range(11))
_CV_FOLDS = 4


@dataclass(frozen=True)
class Supervision:
    """A level of supervision and where it comes from.

    Attributes
    ----------
    level : float
        The level w: 1 is supervised, on labelled examples only; 0 is unsupervised.
    reason : str
        Why it is that level.
    curve : mapping of float to float
        Error of the labelled examples by level, where levels were compared.
    chosen : bool
        Whether "auto" prefers this level to the supervised one.
    """

    level: float
    reason: str
    curve: Mapping[float, float] = field(default_factory=dict)
    chosen: bool = False

    @property
    def paired(self) -> bool:
        """Whether a ranking averages trees of this level and supervised ones; unsupervised trees rank alone."""
        return self.chosen and self.level > 0


def resolve_level(
    given: Any,
    feature_weights: Any,
    data: GrowingData,
    rules: GrowingRules,
    single: bool = False,
    pruning: Pruning | None = None,
    n_ranked: int | None = None,
) -> tuple[Supervision, GrowingData]:
    """Return the level of supervision, and the examples with the weights of the features, which count below 1 only.

    Parameters
    ----------
    given, data, rules, single, pruning, n_ranked
        As in :func:`resolve_supervision`.
    feature_weights : None, "auto", Ranking or array-like
        As in :func:`resolve_feature_weights`.
    """
    check_feature_weights(feature_weights, data.dataset)
    certain = isinstance(given, str) and data.dataset.target is not None and data.dataset.labelled.all()
    if given != 1 and not certain:
        data = resolve_feature_weights(feature_weights, data, rules)
    level = resolve_supervision(given, data, rules, single, pruning, n_ranked)
    if n_ranked is not None and level.paired:
        reason = f"{level.reason}; scores are means over pairs of a tree of this level and a supervised one"
        level = replace(level, reason=reason)
    return level, data


def resolve_supervision(
    given: Any,
    data: GrowingData,
    rules: GrowingRules,
    single: bool = False,
    pruning: Pruning | None = None,
    n_ranked: int | None = None,
) -> Supervision:
    """Return the level of supervision that is asked for.

    "auto" and "cv" are 1 where all examples are labelled and 0 without a target. Otherwise "auto" compares small
    ensembles of a few levels (extra trees for extra trees, else random forests) by the out-of-bag loss of the labelled
    examples; the best one is taken if its loss is smaller than that of the supervised forest by more than two standard
    errors of their difference, else 1. Where label sets are to be predicted, their labels count in that loss as they
    are, otherwise divided by their variances. For a ranking it asks before that whether neighbours that an unsupervised
    ranking finds predict the labelled examples clearly better than those of a supervised one: then it is 0. "cv" takes
    the level with the smallest error in 4-fold cross-validation of the labelled examples, over 0, 0.1, ..., 1; of equal
    ones the most supervised.

    Parameters
    ----------
    given : "auto", "cv" or float
        What the user asks for.
    data : GrowingData
        The examples, labelled or not.
    rules : GrowingRules
        How trees are grown.
    single : bool
        Whether a single tree is to predict: then the losses of the forest's trees are averaged, not their predictions.
    pruning : Pruning or None
        How that tree is pruned; None: not at all.
    n_ranked : int or None
        Number of trees of the ranking that is to be made: fewer trees are then grown for the comparison where it is
        small. None: a predictor.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.ensembles.plan import GrowingData, GrowingRules
    >>> from omnirank.ensembles.supervision import resolve_supervision
    >>> data = GrowingData(om.datasets.load_sample("digits"), entropy=0)
    >>> resolve_supervision("auto", data, GrowingRules()).reason
    'all examples are labelled'
    """
    dataset = data.dataset
    settled = settled_supervision(given, dataset.target is not None, bool(dataset.labelled.all()))
    if settled is not None:
        return settled
    columns = data.labelled.target_columns(rules)
    if not ((columns.impurity > 0) & (columns.weights > 0)).any():
        return Supervision(0.0, "the known target values are all the same")
    rules = replace(rules, ensemble=_compared_by(rules.ensemble), bootstrap=True)
    if given == "cv":
        return _by_cross_validation(data, rules, pruning)
    clustering = get_task(dataset.task).clustering(columns, None, rules.normalize_targets)
    if n_ranked is not None:
        return _for_ranking(data, rules, clustering, n_ranked)
    if get_task(dataset.task).kind == "labels":
        clustering = plain_columns(columns, clustering)
    return _by_out_of_bag_loss(data, rules, clustering, _GRID, _TREES, single, pruning)


def settled_supervision(given: Any, has_target: bool, all_labelled: bool) -> Supervision | None:
    """Return the level of supervision where no example need be looked at; else None.

    Examples
    --------
    >>> from omnirank.ensembles.supervision import settled_supervision
    >>> settled_supervision("auto", has_target=True, all_labelled=True).level
    1.0
    >>> settled_supervision("auto", has_target=True, all_labelled=False)
    """
    check("supervision", given, SUPERVISION)
    named = isinstance(given, str)
    if not has_target:
        if not named and float(given) > 0:
            raise DataError(f"{setting('supervision', given)} needs a target, but no example has a known target value")
        return Supervision(0.0, "there is no target")
    if not named:
        return Supervision(float(given), "given")
    return Supervision(1.0, "all examples are labelled") if all_labelled else None


def _compared_by(ensemble: str) -> str:
    """Levels are compared by the ensemble that uses them; bagging by its faster relative."""
    return "extra-trees" if ensemble == "extra-trees" else "random-forest"


def _labelled_weight(data: GrowingData) -> np.ndarray:
    labelled = data.labelled
    return np.ones(labelled.dataset.n_examples) if labelled.weight is None else labelled.weight


def _for_ranking(data: GrowingData, rules: GrowingRules, clustering: ClusteringColumns, n_ranked: int) -> Supervision:
    weight = _labelled_weight(data)
    n_trees = min(_TREES, n_ranked // _SHARE)
    if n_trees < _FEWEST:
        level = 1.0 if weight.sum() >= 2 * rules.min_samples_leaf else 0.5
        return Supervision(level, f"fewer than {_SHARE * _FEWEST} trees are too few to compare levels of supervision")
    with one_blas_thread():  # once, around many short calls
        losses = neighbor_losses(data, rules, clustering, n_trees)
        found = None if losses is None else _by_neighbors(losses, weight)
        return found or _by_out_of_bag_loss(data, rules, clustering, _RANKING_GRID, n_trees)


def _by_neighbors(losses: Mapping[str, Mapping[float, np.ndarray]], weight: np.ndarray) -> Supervision | None:
    """Level 0 where unsupervised rankings serve neighbours clearly better than supervised ones, by every score."""
    told, means = [], []
    for score, by_level in losses.items():
        judged = ~np.isnan(by_level[1.0])
        mean = {w: float(np.average(values[judged], weights=weight[judged])) for w, values in by_level.items()}
        noise = _standard_error((by_level[0.0] - by_level[1.0])[judged], weight[judged])
        if not mean[1.0] - mean[0.0] > _STANDARD_ERRORS * noise:
            logger.info("neighbours do not clearly prefer an unsupervised ranking by %s: %s", score, mean)
            return None
        means.append(mean)
        told.append(f"{mean[0.0]:.4g}, not {mean[1.0]:.4g} ({score}, standard error of the difference {noise:.2g})")
    reason = f"loss of the labelled examples, predicted by neighbours in an unsupervised ranking: {'; '.join(told)}"
    logger.info("supervision 0: %s", reason)
    return Supervision(0.0, reason, {w: float(np.mean([mean[w] for mean in means])) for w in (0.0, 1.0)}, chosen=True)


def _by_cross_validation(data: GrowingData, rules: GrowingRules, pruning: Pruning | None) -> Supervision:
    weight = _labelled_weight(data)
    # a fold less, the examples must still do for two leaves
    left = np.sort(weight)[: len(weight) - -(-len(weight) // _CV_FOLDS)].sum()
    levels = [w for w in _CV_GRID if w < 1 or left >= 2 * rules.min_samples_leaf]
    if len(weight) < _CV_FOLDS:
        return Supervision(0.5, f"{len(weight)} labelled examples are too few for {_CV_FOLDS} folds")
    curve = cross_validated_error(data, rules, levels, _TREES, _CV_FOLDS, pruning)
    best = min(curve.values())
    level = max(w for w, error in curve.items() if error <= best * (1 + _EQUAL))
    reason = f"error {best:.4g} in {_CV_FOLDS}-fold cross-validation of the labelled examples"
    if 1.0 in curve:
        reason += ", the smallest" if level == 1 else f"; {curve[1.0]:.4g} without unlabelled ones"
    logger.info("supervision %g: %s", level, reason)
    return Supervision(level, reason, curve)


def _by_out_of_bag_loss(
    data: GrowingData,
    rules: GrowingRules,
    clustering: ClusteringColumns,
    grid: Sequence[float],
    n_trees: int,
    single: bool = False,
    pruning: Pruning | None = None,
) -> Supervision:
    weight = _labelled_weight(data)
    if weight.sum() < 2 * rules.min_samples_leaf:
        grid = [w for w in grid if w < 1]
    losses = {
        w: out_of_bag_losses(data, replace(rules, supervision=w), clustering, n_trees, single, pruning) for w in grid
    }
    met = ~np.any([np.isnan(values) for values in losses.values()], axis=0)
    return _compared({w: values[met] for w, values in losses.items()}, weight[met])


def _compared(losses: Mapping[float, np.ndarray], weight: np.ndarray) -> Supervision:
    """Choose by the losses of the same examples at several levels."""
    if len(weight) < 2:
        return Supervision(0.5, "too few labelled examples to compare levels of supervision")
    curve = {w: float(np.average(values, weights=weight)) for w, values in losses.items()}
    best = max((w for w in curve if w < 1), key=lambda w: (-curve[w], w))
    reason = f"out-of-bag loss of the labelled examples {curve[best]:.4g}"
    if 1.0 not in curve:
        level = Supervision(best, f"{reason}, the smallest; too few are labelled to leave the others out", curve)
    else:
        difference = losses[best] - losses[1.0]
        noise = _standard_error(difference, weight)
        gain = curve[1.0] - curve[best]
        beside = f"{curve[1.0]:.4g} without unlabelled ones, standard error of the difference {noise:.2g}"
        if gain > _STANDARD_ERRORS * noise:
            level = Supervision(best, f"{reason}; {beside}", curve, chosen=True)
        else:
            how = f"not smaller by {_STANDARD_ERRORS:g} standard errors" if gain > 0 else "not smaller"
            level = Supervision(1.0, f"{reason} at {best:g}, {how}: {beside}", curve)
    logger.info("supervision %g: %s", level.level, level.reason)
    return level


def _standard_error(values: np.ndarray, weight: np.ndarray) -> float:
    """Standard error of a weighted mean."""
    away = values - np.average(values, weights=weight)
    n = len(values)
    return float(np.sqrt(((weight * away) ** 2).sum() * n / (n - 1)) / weight.sum())


# -- losses of labelled examples at a level -------------------------------------------------------------------


# Keeps the stream that deals folds apart from those of trees.
_CV_FOLDS_KEY = 2**31


def out_of_bag_losses(
    data: GrowingData,
    rules: GrowingRules,
    clustering: ClusteringColumns,
    n_trees: int,
    single: bool = False,
    pruning: Pruning | None = None,
) -> np.ndarray:
    r"""Return the loss of each labelled example, predicted by the trees that have not seen it; NaN where all have.

    The loss is :math:`\sum_c \lambda_c (y_c - \hat y_c)^2` over the columns of the target, with the weights of the
    supervised impurity: the mean over the examples is 1 where the training mean is predicted. Unlike an error rate it
    does not jump when a vote changes, so that few examples suffice to compare levels.

    Parameters
    ----------
    data : GrowingData
        What to grow trees from: all examples; supervised trees see the labelled ones only.
    rules : GrowingRules
        How, and at which level of supervision.
    clustering : ClusteringColumns
        Columns of the target and their weights, of the labelled examples.
    n_trees : int
        Number of trees.
    single : bool
        Whether the losses of single trees are averaged, and not their predictions.
    pruning : Pruning or None
        How trees are pruned; None: not at all.
    """
    plan = data.at_level(rules.supervision).plan(rules)
    labelled, truth = plan.dataset.labelled, data.labelled.target_columns(rules)
    work = partial(_unseen_means, plan, pruning, routed_cells(plan))
    unseen = run_parallel(work, range(n_trees), data.n_jobs, description=f"supervision {rules.supervision:g}")
    groups = [[found] for found in unseen] if single else [unseen]
    total, n_losses = np.zeros(len(truth.labelled)), np.zeros(len(truth.labelled))
    for group in groups:
        sums, counts = np.zeros((len(labelled), truth.n_columns)), np.zeros(len(labelled))
        for rows, means in group:
            add_rows(sums, rows, means)
            counts[rows] += 1
        sums, counts = sums[labelled], counts[labelled]
        met = counts > 0
        total[met] += squared_losses(truth, met, clustering, sums[met] / counts[met, None])
        n_losses += met
    return np.divide(total, n_losses, out=np.full(len(total), np.nan), where=n_losses > 0)


def _unseen_means(plan: GrowingPlan, pruning: Pruning | None, cells: Any, i: int) -> tuple[np.ndarray, Any]:
    """Labelled examples that tree i has not seen, and the prototypes of their leaves.

    They go down the tree as they do for the score of a ranking: other kernels would have to be compiled.
    """
    counts = plan.counts(i)
    grown = plan.pruned(pruning, i, counts)
    first, last, rows = route(plan, grown, np.flatnonzero(plan.dataset.labelled & (counts == 0)), cells)
    leaves = np.flatnonzero(grown.feature < 0)  # in preorder, as their rows are
    values, value_row = node_means(grown, plan.columns)
    return rows, values[np.repeat(value_row[leaves], last[leaves] - first[leaves])]


def squared_losses(
    truth: PrototypeColumns, rows: np.ndarray, clustering: ClusteringColumns, means: np.ndarray
) -> np.ndarray:
    """Return the losses of some examples, as in `out_of_bag_losses`.

    Parameters
    ----------
    truth : PrototypeColumns
        The target as columns.
    rows : ndarray
        The examples.
    clustering : ClusteringColumns
        Columns that count, and their weights.
    means : ndarray of shape (rows, columns)
        What is predicted for them.
    """
    known = clustering.cells(truth.matrix[rows])
    known = known.toarray() if truth.is_sparse else known
    return np.nansum((clustering.cells(means) - known) ** 2 * clustering.weights, axis=1)


def cross_validated_error(
    data: GrowingData,
    rules: GrowingRules,
    levels: Sequence[float],
    n_trees: int,
    n_folds: int,
    pruning: Pruning | None = None,
) -> dict[float, float]:
    """Return the error of the task by level, over folds of the labelled examples.

    Unlabelled examples train in every fold; the examples of the fold are left out.

    Parameters
    ----------
    data, rules, n_trees, pruning
        As in :func:`out_of_bag_losses`.
    levels : sequence of float
        Levels of supervision.
    n_folds : int
        Number of folds; examples are dealt by the seed.
    """
    order = stream(data.entropy, _CV_FOLDS_KEY).permutation(np.flatnonzero(data.dataset.labelled))
    errors: dict[float, list[float]] = {w: [] for w in levels}
    for fold in range(n_folds):
        test = np.zeros(data.dataset.n_examples, bool)
        test[order[fold::n_folds]] = True
        rest, left_out = data.take(~test), data.take(test)
        truth = left_out.target_columns(rules)
        for w in levels:
            plan = rest.at_level(w).plan(replace(rules, supervision=w))
            grow, said = partial(plan.tree, pruning), f"supervision {w:g}"
            trees = run_parallel(grow, range(n_trees), data.n_jobs, description=said)
            means = average_means(trees, left_out.dataset.features, plan.columns.n_columns)
            errors[w].append(plan.task.error(truth, means, plan.columns))
    return {w: float(np.mean(values)) for w, values in errors.items()}


# -- losses of labelled examples that neighbours predict ------------------------------------------------------


# Rankings by these scores are judged.
_JUDGED = ("genie3", "symbolic")
_NEIGHBOR_FOLDS = 3
_NEIGHBORS = 10
# So many examples of a fold tell rankings apart; more would cost without changing the answer.
_MOST_JUDGED = 1000
# Keeps the stream that deals folds apart from those of trees and of cross-validation.
_NEIGHBOR_FOLDS_KEY = 2**31 + 1


def neighbor_losses(
    data: GrowingData,
    rules: GrowingRules,
    clustering: ClusteringColumns,
    n_trees: int,
) -> dict[str, dict[float, np.ndarray]] | None:
    """Return the losses of labelled examples that neighbours predict, at the levels 0 and 1; NaN where not judged.

    The labelled examples are dealt into folds. Those of a fold are predicted by the mean of their nearest labelled
    examples outside the fold; the distance weighs features by a score, of trees that see no label (level 0) or of
    supervised trees that do not see the labels of the fold (level 1).

    Parameters
    ----------
    data, rules, clustering
        As in :func:`out_of_bag_losses`.
    n_trees : int
        Number of trees that see no label, and of supervised ones for each fold.

    Returns
    -------
    dict of str to dict of float to ndarray, or None
        By score, "genie3" and "symbolic", and level; None where the labelled examples outside a fold do not do to grow
        trees.
    """
    labelled = data.labelled
    folds = list(_folds(labelled, rules))
    if not folds:
        return None
    truth, features = labelled.target_columns(rules), labelled.dataset.features
    known = truth.matrix.toarray() if truth.is_sparse else truth.matrix
    without = _rankings(data, replace(rules, supervision=0.0), n_trees)
    losses = {score: {level: np.full(len(known), np.nan) for level in (0.0, 1.0)} for score in without}
    for outside, fold in folds:
        supervised = _rankings(labelled.take(outside), replace(rules, supervision=1.0), n_trees)
        judged = fold[:_MOST_JUDGED]
        near, far = features.take(outside), features.take(judged)
        for score, by_level in losses.items():
            for level, ranking in ((0.0, without[score]), (1.0, supervised[score])):
                ids = weighted_neighbors(near, far, ranking_weights(ranking), _NEIGHBORS, data.n_jobs)
                means = neighbor_means(known[outside], ids)
                by_level[level][judged] = squared_losses(truth, judged, clustering, means)
    return losses


def _folds(labelled: GrowingData, rules: GrowingRules) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Who is outside (a mask) and inside each fold, dealt by the seed; none where the rest is not enough for trees."""
    n = labelled.dataset.n_examples
    weight = np.ones(n) if labelled.weight is None else labelled.weight
    order = stream(labelled.entropy, _NEIGHBOR_FOLDS_KEY).permutation(n)
    folds = [order[fold::_NEIGHBOR_FOLDS] for fold in range(_NEIGHBOR_FOLDS)]
    masks = [~np.isin(np.arange(n), fold) for fold in folds]
    for fold, outside in zip(folds, masks, strict=True):
        rest = labelled.take(outside)
        if rest.dataset.target is None or weight.sum() - weight[fold].sum() < 2 * rules.min_samples_leaf:
            return
        columns = rest.target_columns(rules)
        if not len(fold) or not ((columns.impurity > 0) & (columns.weights > 0)).any():
            return
    yield from zip(masks, folds, strict=True)


def _rankings(data: GrowingData, rules: GrowingRules, n_trees: int) -> dict[str, np.ndarray]:
    return mean_scores(data.plan(rules), _JUDGED, n_trees, data.n_jobs, f"supervision {rules.supervision:g}")


# -- weights of the features ----------------------------------------------------------------------------------


# Trees of the forest by which "auto" weighs features.
_WEIGHING_TREES = 100


def resolve_feature_weights(given: Any, data: GrowingData, rules: GrowingRules) -> GrowingData:
    """Return the data with the weights of the features, the largest of them 1; None where all count the same.

    Parameters
    ----------
    given : None, "auto", Ranking or array-like
        Weights, or the ranking whose scores they are: negative ones count as 0, and all as 1 where none is positive.
        "auto": the permutation scores of a supervised random forest on the labelled examples.
    data : GrowingData
        The examples.
    rules : GrowingRules
        How trees are grown.

    References
    ----------
    Levatic, Ceci, Kocev, Dzeroski: Semi-supervised predictive clustering trees for (hierarchical) multi-label
    classification. International Journal of Intelligent Systems, 2024. Sec. 4.2.1, Eq. (10).

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.ensembles.supervision import resolve_feature_weights
    >>> from omnirank.ensembles.plan import GrowingData, GrowingRules
    >>> data = GrowingData(om.datasets.load_sample("linnerud"), entropy=0)
    >>> resolve_feature_weights([3, 6, 0], data, GrowingRules()).feature_weights.tolist()
    [0.5, 1.0, 0.0]
    """
    weights = check_feature_weights(given, data.dataset)
    if isinstance(given, str):
        if data.dataset.target is None:
            raise DataError(f"{setting('feature_weights', 'auto')} needs labelled examples, but there is no target")
        supervised = replace(rules, ensemble="random-forest", bootstrap=True, max_features=None, supervision=1.0)
        plan = data.labelled.plan(supervised)
        weights = mean_scores(plan, ("permutation",), _WEIGHING_TREES, data.n_jobs, "weighing features")["permutation"]
    return data if weights is None else replace(data, feature_weights=_relative(weights))


def check_feature_weights(given: Any, dataset: Dataset) -> np.ndarray | None:
    """Return the numbers in ``feature_weights``, None where none are given; an error where they are wrong.

    Weights count only in semi-supervised and unsupervised trees; wrong ones are an error in all trees.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.ensembles.supervision import check_feature_weights
    >>> check_feature_weights([1, -1, 0], om.datasets.load_sample("linnerud"))
    Traceback (most recent call last):
    omnirank.core.errors.ParameterError: feature_weights=[1, -1, 0]: choose None, 'auto', a ranking or 3 numbers, ...
    """
    if given is None or (isinstance(given, str) and given == "auto"):
        return None
    if isinstance(given, Ranking):
        scores = dict(zip(given.names, given.scores, strict=True))
        lacking = [name for name in dataset.feature_names if name not in scores]
        if lacking:
            raise DataError(f"feature_weights: the ranking has no feature {lacking[0]!r}")
        return np.array([scores[name] for name in dataset.feature_names])
    return check_weights("feature_weights", given, dataset.n_features, "feature", "None, 'auto', a ranking or ")


def weights_digest(given: Any) -> Any:
    """Return what a file holds of ``feature_weights``: None or "auto", or no array but what identifies it."""
    if given is None or isinstance(given, str):
        return given
    numbers = given.scores if isinstance(given, Ranking) else np.asarray(given, dtype=np.float64)
    return hashlib.blake2b(numbers.tobytes(), digest_size=8).hexdigest()


def _relative(scores: np.ndarray) -> np.ndarray:
    clipped = np.maximum(scores, 0.0)
    top = clipped.max(initial=0.0)
    return clipped / top if top > 0 else np.ones(len(scores))
