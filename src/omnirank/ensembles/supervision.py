"""The level of supervision w: how much the target counts beside the features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.log import logger
from omnirank.core.parallel import run_parallel
from omnirank.data.dataset import Dataset
from omnirank.ensembles.plan import GrowingRules, Plan, make_plan
from omnirank.tasks import get_task
from omnirank.trees.prediction import sum_means
from omnirank.trees.prototypes import node_means
from omnirank.trees.tree import Tree, tree_from_grown

__all__ = ["Supervision", "check_supervision", "labelled_part", "resolve_supervision"]

# Levels that are compared, each by a forest of this many trees: together as many as one ensemble usually has.
_GRID = (0.0, 0.25, 0.5, 0.75, 1.0)
_TREES = 20
# A level is as good as the best if its error is larger by at most this share.
_AS_GOOD = 0.02


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
        Out-of-bag error of the labelled examples by level, where levels were compared.
    """

    level: float
    reason: str
    curve: Mapping[float, float] = field(default_factory=dict)


def check_supervision(given: Any) -> None:
    """Raise a ParameterError unless the level is "auto" or a number in [0, 1].

    Examples
    --------
    >>> from omnirank.ensembles.supervision import check_supervision
    >>> check_supervision(2)
    Traceback (most recent call last):
    omnirank.core.errors.ParameterError: supervision=2: choose 'auto' or a number in [0, 1]
    """
    if isinstance(given, str):
        right = given == "auto"
    else:
        right = isinstance(given, Real) and not isinstance(given, bool) and 0 <= float(given) <= 1
    if not right:
        raise ParameterError(f"supervision={given!r}: choose 'auto' or a number in [0, 1]")


def labelled_part(dataset: Dataset, weight: np.ndarray | None) -> tuple[Dataset, np.ndarray | None]:
    """Return the labelled examples and their weights: what supervised trees see."""
    labelled = dataset.labelled
    if labelled.all():
        return dataset, weight
    logger.info("%d unlabelled examples are not used", int((~labelled).sum()))
    return dataset.take(labelled), None if weight is None else weight[labelled]


def resolve_supervision(
    given: Any,
    dataset: Dataset,
    rules: GrowingRules,
    entropy: int,
    sample_weight: np.ndarray | None = None,
    feature_weights: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> Supervision:
    """Return the level of supervision that is asked for.

    "auto" is 1 where all examples are labelled and 0 without a target. Otherwise small random forests are grown for
    a few levels, and of those whose out-of-bag error on the labelled examples is at most 2 % above the smallest one
    the most supervised is taken.

    Parameters
    ----------
    given : "auto" or float
        What the user asks for.
    dataset : Dataset
        The examples, labelled or not.
    rules : GrowingRules
        How trees are grown.
    entropy : int
        Root of the random streams.
    sample_weight, feature_weights, n_jobs
        As in :func:`omnirank.ensembles.plan.make_plan`.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.ensembles.plan import GrowingRules
    >>> from omnirank.ensembles.supervision import resolve_supervision
    >>> data = om.datasets.load_sample("digits")
    >>> resolve_supervision("auto", data, GrowingRules(), 0)
    Supervision(level=1.0, reason='all examples are labelled', curve={})
    """
    check_supervision(given)
    if dataset.target is None:
        if given != "auto" and float(given) > 0:
            raise DataError(f"supervision={given!r} needs a target, but no example has a known target value")
        return Supervision(0.0, "there is no target")
    if given != "auto":
        return Supervision(float(given), "given")
    if dataset.labelled.all():
        return Supervision(1.0, "all examples are labelled")
    part, _ = labelled_part(dataset, sample_weight)
    task = get_task(dataset.task)
    assert part.target is not None
    columns = task.columns(part.target, dataset.hierarchy, rules.hierarchy_weight)
    if not ((columns.impurity > 0) & (columns.weights > 0)).any():
        return Supervision(0.0, "the known target values are all the same")
    rules = replace(rules, ensemble="random-forest", bootstrap=True)
    least = 2 * rules.min_samples_leaf
    weights = np.ones(dataset.n_examples) if sample_weight is None else sample_weight
    grid = _GRID if weights[dataset.labelled].sum() >= least else _GRID[:-1]
    curve = {}
    for w in grid:
        error = _out_of_bag_error(
            dataset, replace(rules, supervision=w), entropy, sample_weight, feature_weights, n_jobs
        )
        if not np.isnan(error):
            curve[w] = error
    return _chosen(curve)


def _chosen(curve: dict[float, float]) -> Supervision:
    if not curve:
        return Supervision(0.5, "too few labelled examples to compare levels")
    best = min(curve.values())
    level = max(w for w, error in curve.items() if error <= best * (1 + _AS_GOOD))
    reason = f"out-of-bag error of the labelled examples {curve[level]:.4g}"
    if 1.0 in curve:
        reason += (
            ", the smallest of the levels compared" if level == 1 else f"; {curve[1.0]:.4g} without unlabelled ones"
        )
    logger.info("supervision %g: %s", level, reason)
    return Supervision(level, reason, curve)


def _out_of_bag_error(
    dataset: Dataset,
    rules: GrowingRules,
    entropy: int,
    weight: np.ndarray | None,
    feature_weights: np.ndarray | None,
    n_jobs: int | None,
) -> float:
    """Error of the labelled examples, each predicted by the trees that have not seen it."""
    if rules.supervision == 1:
        dataset, weight = labelled_part(dataset, weight)
    plan = make_plan(dataset, rules, entropy, weight, n_jobs, feature_weights)
    trees = run_parallel(partial(_tree, plan), range(_TREES), n_jobs, description=f"supervision {rules.supervision:g}")
    labelled = dataset.labelled
    seen = np.array([plan.counts(i)[labelled] > 0 for i in range(_TREES)])
    target = dataset.take(labelled).target
    sums, counts = sum_means(trees, dataset.features.take(labelled), plan.columns.n_columns, seen, n_jobs)
    covered = counts > 0
    if target is None or not covered.any():
        return float("nan")
    truth = plan.task.columns(target.take(covered), dataset.hierarchy, rules.hierarchy_weight)
    return plan.task.error(truth, sums[covered] / counts[covered, None], plan.columns)


def _tree(plan: Plan, i: int) -> Tree:
    grown = plan.grow(i)
    return tree_from_grown(grown, plan.dataset.features, *node_means(grown, plan.columns))
