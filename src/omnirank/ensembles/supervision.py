"""The level of supervision w: how much the target counts beside the features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from omnirank.core.blas_threads import one_blas_thread
from omnirank.core.errors import DataError, logger, setting
from omnirank.core.parameters import check, choice, number
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.ensembles.supervision_losses import cross_validated_error, out_of_bag_losses
from omnirank.ensembles.supervision_neighbors import neighbor_losses
from omnirank.tasks import ClusteringColumns, get_task, plain_columns
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
        mean = {w: float(np.average(found[judged], weights=weight[judged])) for w, found in by_level.items()}
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
    met = ~np.any([np.isnan(found) for found in losses.values()], axis=0)
    return _compared({w: found[met] for w, found in losses.items()}, weight[met])


def _compared(losses: Mapping[float, np.ndarray], weight: np.ndarray) -> Supervision:
    """Choose by the losses of the same examples at several levels."""
    if len(weight) < 2:
        return Supervision(0.5, "too few labelled examples to compare levels of supervision")
    curve = {w: float(np.average(found, weights=weight)) for w, found in losses.items()}
    best = max((w for w in curve if w < 1), key=lambda w: (-curve[w], w))
    reason = f"out-of-bag loss of the labelled examples {curve[best]:.4g}"
    if 1.0 not in curve:
        found = Supervision(best, f"{reason}, the smallest; too few are labelled to leave the others out", curve)
    else:
        difference = losses[best] - losses[1.0]
        noise = _standard_error(difference, weight)
        gain = curve[1.0] - curve[best]
        beside = f"{curve[1.0]:.4g} without unlabelled ones, standard error of the difference {noise:.2g}"
        if gain > _STANDARD_ERRORS * noise:
            found = Supervision(best, f"{reason}; {beside}", curve, chosen=True)
        else:
            how = f"not smaller by {_STANDARD_ERRORS:g} standard errors" if gain > 0 else "not smaller"
            found = Supervision(1.0, f"{reason} at {best:g}, {how}: {beside}", curve)
    logger.info("supervision %g: %s", found.level, found.reason)
    return found


def _standard_error(values: np.ndarray, weight: np.ndarray) -> float:
    """Standard error of a weighted mean."""
    away = values - np.average(values, weights=weight)
    n = len(values)
    return float(np.sqrt(((weight * away) ** 2).sum() * n / (n - 1)) / weight.sum())
