"""The level of supervision w: how much the target counts beside the features, and each feature among them."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, singledispatch
from typing import Any

import numpy as np

from omnirank.core.errors import DataError, logger, setting
from omnirank.core.parallel import counted_steps, run_parallel
from omnirank.core.parameters import TEXT, Domain, check, check_weights, choice, count, listed, number
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import stream
from omnirank.data.dataset import Dataset
from omnirank.data.notes import caller_outside
from omnirank.data.resampling import dealt_folds
from omnirank.ensembles.plan import GrowingData, GrowingPlan, GrowingRules
from omnirank.ensembles.scores import mean_scores
from omnirank.tasks import ClusteringColumns, get_task, plain_columns
from omnirank.tasks.columns import PrototypeColumns
from omnirank.tasks.measuring import measure, measure_of
from omnirank.trees.prediction import add_rows
from omnirank.trees.prototypes import node_means
from omnirank.trees.pruning import Pruning
from omnirank.trees.tree import route

# What a dict ``supervision`` may hold: how "cv" differs from the papers.
_CHOICES = {"levels": listed(number(0, 1)), "folds": count(2), "measure": choice(None) | TEXT}
# Levels of "auto" for predictors and for rankings. Trees that ignore the target often predict better than trees that
# fit a few labels by many features, but their ranking does not depend on the target.
PREDICTOR_LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
RANKING_LEVELS = PREDICTOR_LEVELS[1:]
# Levels of "cv".
_CV_LEVELS = tuple(i / 10 for i in range(11))
_FOLDS = 3
# "auto" compares forests of a fifth of the trees, at most ten: so choosing costs at most three times the fit.
_SHARE = 5
_MOST_TREES = 10
# Errors that differ by rounding only are equal.
_EQUAL = 1e-9
# Keeps the stream that deals folds apart from those of trees.
_FOLDS_KEY = 2**31
# Rows of which the losses of a constant prediction are computed at once.
_ROWS_AT_ONCE = 1000
# Choosing that is expected to take longer is announced.
_LONG_SECONDS = 30.0


def _is_choice(given: Any) -> bool:
    return isinstance(given, Mapping) and all(
        name in _CHOICES and value in _CHOICES[name] for name, value in given.items()
    )


# What the parameter ``supervision`` may be.
SUPERVISION = (
    choice("auto", "cv")
    | number(0, 1)
    | Domain((), (_is_choice,), ("a dict with some of the keys 'levels', 'folds' and 'measure'",))
)


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
        Loss ("auto") or measure ("cv") of the labelled examples by level, where levels were compared.
    """

    level: float
    reason: str
    curve: Mapping[float, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ToFit:
    """What is to be fitted.

    Attributes
    ----------
    n_trees : int
        Number of trees.
    pruning : Pruning or None
        How they are pruned; None: not at all.
    levels : tuple of float
        Levels of "auto".
    """

    n_trees: int
    pruning: Pruning | None = None
    levels: tuple[float, ...] = PREDICTOR_LEVELS


def resolve_level(
    given: Any, feature_weights: Any, data: GrowingData, rules: GrowingRules, to_fit: ToFit
) -> tuple[Supervision, GrowingData]:
    """Return the level of supervision, and the examples with the weights of the features, which count below 1 only.

    Parameters
    ----------
    given, data, rules, to_fit
        As in :func:`resolve_supervision`.
    feature_weights : None, "auto", Ranking or array-like
        As in :func:`resolve_feature_weights`.
    """
    check_feature_weights(feature_weights, data.dataset)
    settled = settled_supervision(given, data.dataset.target is not None, bool(data.dataset.labelled.all()))
    if settled is None or settled.level < 1:
        data = resolve_feature_weights(feature_weights, data, rules)
    return settled or resolve_supervision(given, data, rules, to_fit), data


def resolve_supervision(given: Any, data: GrowingData, rules: GrowingRules, to_fit: ToFit) -> Supervision:
    r"""Return the level of supervision that is asked for.

    "auto" is 1 where all examples are labelled; it and "cv" are 0 without a target. Otherwise the labelled examples are
    dealt into three folds, and trees that have not seen a fold predict it, at every level: those of the estimator, for
    "auto" a fifth of them and at most ten. "auto" compares the mean losses
    :math:`\sum_c \lambda_c (y_c - \hat y_c)^2` over the columns of the target, with the weights of the impurity (label
    sets: with the same weight for all labels). It takes the level with the smallest one if that is smaller than the
    supervised loss by more than one standard error of the paired difference, else 1. "cv" takes the level with the best
    value of the task's measure, over all labelled examples; of equal ones the most supervised.

    Parameters
    ----------
    given : "auto", "cv", float or dict
        What the user asks for; a dict is "cv" with other ``levels``, ``folds`` or ``measure``.
    data : GrowingData
        The examples, labelled or not.
    rules : GrowingRules
        How trees are grown.
    to_fit : ToFit
        What is to be fitted.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.ensembles.plan import GrowingData, GrowingRules
    >>> from omnirank.ensembles.supervision import ToFit, resolve_supervision
    >>> data = GrowingData(om.datasets.load_sample("linnerud").keep_labels(15, random_state=0), entropy=0)
    >>> chosen = resolve_supervision({"levels": [0, 1], "folds": 5}, data, GrowingRules(), ToFit(n_trees=10))
    >>> sorted(chosen.curve)
    [0.0, 1.0]
    """
    dataset = data.dataset
    settled = settled_supervision(given, dataset.target is not None, bool(dataset.labelled.all()))
    if settled is not None:
        return settled
    columns = data.labelled.target_columns(rules)
    if columns.is_constant:
        return Supervision(0.0, "the known target values are all the same")
    n_trees, levels, n_folds = to_fit.n_trees, _CV_LEVELS, _FOLDS
    if given == "auto":
        n_trees, levels = max(1, min(_MOST_TREES, n_trees // _SHARE)), to_fit.levels
    asked = given if isinstance(given, Mapping) else {}
    levels, n_folds = tuple(map(float, asked.get("levels", levels))), int(asked.get("folds", n_folds))
    compared = _Comparison(data, rules, replace(to_fit, n_trees=n_trees), levels, n_folds)
    if compared.n_folds < 2:
        return Supervision(0.5, "too few labelled examples to compare levels of supervision")
    level = _by_loss(compared, columns) if given == "auto" else _by_measure(compared, asked.get("measure"))
    logger.info("supervision %g: %s", level.level, level.reason)
    return level


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
    compared = isinstance(given, str | Mapping)
    if not has_target:
        if not compared and float(given) > 0:
            raise DataError(f"{setting('supervision', given)} needs a target, but no example has a known target value")
        return Supervision(0.0, "there is no target")
    if not compared:
        return Supervision(float(given), "given")
    return Supervision(1.0, "all examples are labelled") if all_labelled and given == "auto" else None


# -- cross-validation -----------------------------------------------------------------------------------------


class _Comparison:
    """Predictions of labelled examples by trees that have not seen them, level by level.

    Parameters
    ----------
    data, rules, to_fit
        As in :func:`resolve_supervision`.
    levels : sequence of float
        Levels of supervision.
    n_folds : int
        Number of folds. Examples are dealt by the seed, classes evenly; those of a group stay together.
    """

    def __init__(
        self, data: GrowingData, rules: GrowingRules, to_fit: ToFit, levels: Sequence[float], n_folds: int
    ) -> None:
        self.data, self.rules, self.to_fit = data, rules, to_fit
        self.labelled = data.labelled.dataset
        assert self.labelled.target is not None
        n = self.labelled.n_examples
        self.weight = np.ones(n) if data.labelled.weight is None else data.labelled.weight
        groups = data.labelled.groups
        classes = self.labelled.target.values[:, 0] if get_task(self.labelled.task).is_one_class else None
        self.folds = dealt_folds(groups, classes, n, n_folds, stream(data.entropy, _FOLDS_KEY))
        self.n_folds = int(self.folds.max()) + 1
        can_be_supervised = self.weight.sum() >= 2 * rules.min_samples_leaf
        # the supervised level first: the others are compared with it
        self.levels = sorted({w for w in levels if w < 1 or can_be_supervised}, reverse=True)
        self._last, self._announced = time.monotonic(), False
        self._n_steps = len(self.levels) * self.n_folds
        self._steps = counted_steps(self._n_steps, "choosing the level of supervision")
        self._n_done = -1

    def predicted(self, level: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the examples of each fold, as numbers of labelled ones, and their predicted means."""
        data = self.data.at_level(level)
        plan = data.plan(replace(self.rules, supervision=level))
        folds = np.full(plan.n_examples, -1)
        folds[data.dataset.labelled] = self.folds
        for fold in range(self.n_folds):
            self._step(self.levels.index(level) * self.n_folds + fold)
            work = left_out_work(replace(plan, left_out=folds == fold), self.to_fit.pruning)
            rows = np.flatnonzero(self.folds == fold)
            means = np.zeros((len(rows), plan.columns.n_columns))
            for places, of_tree in run_parallel(work, range(self.to_fit.n_trees), self.data.n_jobs, progress=False):
                add_rows(means, places, of_tree)
            yield rows, means / self.to_fit.n_trees

    def _step(self, step: int) -> None:
        """Show the progress, and say once what takes long."""
        before, now = self._n_done, time.monotonic()
        while self._n_done < step:
            self._n_done = next(self._steps)
        left = (now - self._last) * (self._n_steps - step)
        # the first step below level 1 may compile kernels, and takes no part
        if before > self.n_folds and left > _LONG_SECONDS and not self._announced:
            self._announced, avoided = True, setting("supervision", 1)
            text = f"choosing the level of supervision takes up to {left:.0f} s more; {avoided} avoids it"
            warnings.warn(text, UserWarning, stacklevel=caller_outside())
        self._last = now


@singledispatch
def left_out_work(plan: GrowingPlan, pruning: Pruning | None) -> Callable[[int], tuple[np.ndarray, Any]]:
    """Return what grows tree i and predicts the examples that the plan leaves out; other plans have their own way."""
    _ = plan.cells  # workers would each make their own
    return partial(_left_out_means, plan, pruning)


def _left_out_means(plan: GrowingPlan, pruning: Pruning | None, i: int) -> tuple[np.ndarray, Any]:
    """Places of the examples that are left out, among themselves, and what tree i predicts for them.

    They go down the tree as they do for the score of a ranking: other kernels would have to be compiled.
    """
    assert plan.left_out is not None
    left_out = np.flatnonzero(plan.left_out)
    grown = plan.pruned(pruning, i)
    first, last, rows = route(grown, plan.dataset.features, left_out, plan.cells)
    leaves = np.flatnonzero(grown.feature < 0)  # in preorder, as their rows are
    values, value_row = node_means(grown, plan.columns)
    return np.searchsorted(left_out, rows), values[np.repeat(value_row[leaves], last[leaves] - first[leaves])]


def _by_loss(compared: _Comparison, columns: PrototypeColumns) -> Supervision:
    """Choose by the losses of the labelled examples."""
    task = get_task(compared.labelled.task)
    clustering = task.clustering(columns, None, compared.rules.normalize_targets)
    if task.kind == "labels":
        clustering = plain_columns(columns, clustering)

    def losses(level: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for rows, means in compared.predicted(level):
            yield rows, squared_losses(columns, rows, clustering, means)

    return best_level(compared.levels, losses, compared.weight, _constant_loss(columns, clustering, compared.weight))


def _constant_loss(columns: PrototypeColumns, clustering: ClusteringColumns, weight: np.ndarray) -> float:
    """Return the mean loss of the mean of the known values; some rows of label sets are dense at a time."""
    rows = np.arange(len(weight))
    blocks = np.split(rows, range(_ROWS_AT_ONCE, len(rows), _ROWS_AT_ONCE))
    sums = np.zeros((2, columns.n_columns))
    for block in blocks:
        cells = columns.matrix[block].toarray() if columns.is_sparse else columns.matrix[block]
        sums += [weight[block] @ np.nan_to_num(cells), weight[block] @ ~np.isnan(cells)]
    mean = sums[:1] / np.where(sums[1] > 0, sums[1], 1.0)
    losses = np.concatenate([squared_losses(columns, block, clustering, mean) for block in blocks])
    return float(np.average(losses, weights=weight))


def best_level(
    levels: Sequence[float],
    losses: Callable[[float], Iterable[tuple[np.ndarray, np.ndarray]]],
    weight: np.ndarray,
    constant: float = np.inf,
) -> Supervision:
    """Return the level with the smallest mean loss if that is clearly smaller than the supervised one, else 1.

    A level leaves the comparison after a fold if its mean loss so far is clearly larger than the supervised one. Clear
    is more than one standard error of the mean of the paired differences. Where no level is better than a constant,
    the one that says least of the target would win: then it is 1.

    Parameters
    ----------
    levels : sequence of float
        Levels of supervision, 1 first.
    losses : callable
        From a level to the rows and the losses of one fold after the other.
    weight : ndarray
        Weights of the examples.
    constant : float
        Mean loss of a constant prediction.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.ensembles.supervision import best_level
    >>> values = {1.0: np.array([1.0, 1.2]), 0.5: np.array([0.5, 0.6]), 0.0: np.array([0.4, 0.9])}
    >>> best_level([1.0, 0.5, 0.0], lambda w: [(np.arange(2), values[w])], np.ones(2)).level
    0.5
    """
    complete: dict[float, np.ndarray] = {}
    for level in levels:
        own = np.full(len(weight), np.nan)
        for rows, of_fold in losses(level):
            own[rows] = of_fold
            gain, noise = _gain(own, complete.get(1.0, own), weight)
            if gain < -noise:
                break
        else:
            complete[level] = own
    curve = {w: float(np.average(values, weights=weight)) for w, values in sorted(complete.items())}
    best = min(curve, key=lambda w: (curve[w], -w))
    if 1.0 not in curve:
        error = f"error {curve[best]:.3g} in cross-validation, the smallest"
        return Supervision(best, f"{error}; the labelled examples are too few to leave the others out", curve)
    without = f"{curve[1.0]:.3g} without"
    reason = f"unlabelled examples did not help (error {without}, larger with them), so they were ignored"
    if best < 1:
        gain, noise = _gain(complete[best], complete[1.0], weight)
        errors_of_both = f"error {curve[best]:.3g} with, {without}, standard error of the difference {noise:.2g}"
        if curve[best] >= constant:
            errors_of_both += f", {constant:.3g} for a constant prediction"
        elif gain > noise:
            return Supervision(best, f"unlabelled examples helped ({errors_of_both})", curve)
        reason = f"unlabelled examples did not clearly help ({errors_of_both}), so they were ignored"
    return Supervision(1.0, reason, curve)


def _gain(one: np.ndarray, other: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """How much smaller the mean of the first losses is, over the examples that have some, and its standard error."""
    judged = ~np.isnan(one)
    difference, weight, n = (other - one)[judged], weight[judged], judged.sum()
    gain = float(np.average(difference, weights=weight))
    if n < 2:
        return gain, np.inf
    return gain, float(np.sqrt(((weight * (difference - gain)) ** 2).sum() * n / (n - 1)) / weight.sum())


def _by_measure(compared: _Comparison, name: str | None) -> Supervision:
    """Choose by a measure of the task, over the predictions of all labelled examples."""
    dataset, target = compared.labelled, compared.labelled.target
    judged_by = measure_of(dataset.task, name)
    assert target is not None
    curve = {}
    for level in compared.levels:
        parts = [*compared.predicted(level)]
        means = np.empty((dataset.n_examples, parts[0][1].shape[1]))
        for rows, of_fold in parts:
            means[rows] = of_fold
        values = measure(target, means, training=target, task=dataset.task, hierarchy=dataset.hierarchy)
        curve[level] = values[judged_by.name]
    sign = -1 if judged_by.larger_is_better else 1
    best = min(sign * value for value in curve.values())
    level = max(w for w, value in curve.items() if sign * value <= best + _EQUAL * abs(best))
    how = f"{compared.n_folds}-fold cross-validation of the labelled examples"
    reason = f"{judged_by.title} {curve[level]:.4g} in {how}"
    if 1.0 in curve:
        reason += ", the best" if level == 1 else f"; {curve[1.0]:.4g} without unlabelled examples"
    return Supervision(level, reason, dict(sorted(curve.items())))


def squared_losses(
    truth: PrototypeColumns, rows: np.ndarray, clustering: ClusteringColumns, means: np.ndarray
) -> np.ndarray:
    """Return the losses of some examples, as in `resolve_supervision`.

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
    if weights is None:
        return data
    clipped = np.maximum(weights, 0.0)
    return replace(data, feature_weights=clipped / clipped.max() if clipped.any() else np.ones(len(clipped)))


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
