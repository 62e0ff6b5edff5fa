"""Recursive feature elimination by linear support vector machines."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from scipy.stats import rankdata

from omnirank.core.errors import DataError
from omnirank.core.parallel import counted_steps, run_parallel
from omnirank.core.parameters import Domain, number, share
from omnirank.core.ranking.ranking import Ranking
from omnirank.data.dataset import Dataset
from omnirank.data.task_registry import TaskNames
from omnirank.graphs.columns import GraphColumns, graph_columns
from omnirank.rankers.base import WeightedRanker
from omnirank.tasks import get_task

# Where no part of a step improves a machine, the step must move no decision by more than this (the margin is 1).
_TOLERANCE = 1e-6
# Steps that are tried, relative to Newton's.
_STEPS = 0.5 ** np.arange(40)


@dataclass(eq=False, repr=False)
class SVMRFERanker(WeightedRanker):
    r"""Rank features by eliminating, again and again, those with the smallest weights in linear SVMs (SVM-RFE).

    Each step trains a linear support vector machine (squared hinge loss) on the features that are left, for each class
    against the rest, or each label, and removes the share ``step`` of the features that have the smallest

    .. math:: \sum_t \alpha_t \mathrm{Var} \Big( \sum_{c \in x} w_{tc} z_c \Big)

    over the machines t (weighted as their labels are in a hierarchy), for the columns z of a feature x: the variance of
    its part in the decision. For a number this is the square of its weight; a nominal feature is removed as a whole,
    not by its levels. The score is the number of features that were removed up to and with it;
    those of one step are ordered by their weights, and share their places if these are equal. So the best feature has a
    score as large as the number of features; constant ones are not in it and get 0.

    Numbers are standardised. Nominal features become 0/1 columns whose variances add up to 1, so that many levels are
    no advantage. Missing cells take the mean or the most frequent level of the known ones. Unlabelled examples are not
    used.

    Parameters
    ----------
    step : float
        Share of the features that is removed in each step, at least one feature; small shares take longer. 0 removes
        one by one.
    C : float
        Weight of the errors against the margin in the support vector machines; weights of examples multiply it.
    task, hierarchy, n_features_to_select, random_state
        As in all rankers; the method is deterministic.
    n_jobs : int or None
        Number of workers, which train machines of several targets or labels.

    References
    ----------
    Guyon, Weston, Barnhill, Vapnik: Gene selection for cancer classification using support vector machines. Machine
    Learning 46, 2002.

    Examples
    --------
    >>> import omnirank as om
    >>> om.SVMRFERanker().fit(om.datasets.load_sample("iris")).ranking_
    Ranking(svm-rfe, classification, 4 features: petal length (cm) 4, ...)
    """

    _parameter_checks: ClassVar[dict[str, Domain]] = {"step": share(below=1), "C": number(least=1e-12, most=1e12)}
    supported_tasks = TaskNames("classes", "labels")
    supported_supervision = ("supervised",)

    step: float = 0.1
    C: float = 1.0

    def _rank(self, dataset: Dataset, sample_weight: np.ndarray | None = None) -> Ranking:
        columns = graph_columns(dataset.features)
        if sample_weight is not None:
            columns = _standardised(columns, sample_weight)
        costs = self.C * (np.ones(dataset.n_examples) if sample_weight is None else sample_weight)
        problems = _problems(dataset)
        scores = np.zeros(dataset.n_features)
        left = np.unique(columns.feature)
        removed, sizes = 0, _step_sizes(len(left) if problems else 0, self.step)
        for i in counted_steps(len(sizes), "eliminating features"):
            own = np.isin(columns.feature, left)
            starts = np.searchsorted(columns.feature[own], left)
            parts = partial(_parts, columns.values[:, own], starts, costs)
            weights = np.sum(run_parallel(parts, problems, self.n_jobs, progress=False), axis=0)
            # of features with equal weights, the last goes first
            first = np.lexsort((-left, weights))[: sizes[i]]
            scores[left[first]] = removed + rankdata(weights[first])
            removed += sizes[i]
            left = np.delete(left, first)
        return self._ranking(dataset, scores, "svm-rfe")


def _step_sizes(n_features: int, step: float) -> list[int]:
    """How many features each step removes."""
    sizes = []
    while n_features:
        sizes.append(max(1, math.floor(step * n_features)))
        n_features -= sizes[-1]
    return sizes


def _problems(dataset: Dataset) -> list[tuple[np.ndarray, float]]:
    """Classes of each target or label that has at least two, NaN where unknown, and its weight."""
    target = dataset.target
    assert target is not None  # the supported tasks have one
    weights = get_task(dataset.task).columns(target, dataset.hierarchy).weights
    values = [target.select([j]).dense()[:, 0] for j in range(target.n_targets)]
    differ = [len(np.unique(own[~np.isnan(own)])) > 1 for own in values]
    return [(values[j], float(weights[j])) for j in np.flatnonzero(differ)]


def _standardised(columns: GraphColumns, weights: np.ndarray) -> GraphColumns:
    """Columns of weighted mean 0, those of a feature with a weighted variance of 1."""
    shares = weights / weights.sum()
    values = columns.values - shares @ columns.values
    variances = np.bincount(columns.feature, shares @ values**2, columns.n_features)
    return replace(columns, values=values / np.sqrt(variances[columns.feature]))


def _parts(values: np.ndarray, starts: np.ndarray, costs: np.ndarray, problem: tuple[np.ndarray, float]) -> np.ndarray:
    """Variance of each feature's part in the machines of one target, times the target's weight.

    The columns of a feature are those from its start up to the next one's.
    """
    classes, weight = problem
    known = ~np.isnan(classes)
    rows = np.column_stack([values[known], np.ones(known.sum())])
    own = np.unique(classes[known])
    sides = [np.where(classes[known] == one, 1.0, -1.0) for one in (own if len(own) > 2 else own[1:])]
    try:
        coefficients = [_trained(rows, side, costs[known])[:-1] for side in sides]
    except np.linalg.LinAlgError:
        span = f"whose errors weigh {costs.min():.3g} to {costs.max():.3g} (C times the weights of examples)"
        advice = "use a smaller C, or weights that differ less"
        raise DataError(f"a support vector machine {span} cannot be trained to any precision: {advice}") from None
    if values.shape[1] == len(starts):  # each column is a feature of variance 1
        return np.asarray(weight * np.square(coefficients).sum(axis=0))
    parts = [np.add.reduceat(values * row, starts, axis=1) for row in coefficients]
    return np.asarray(weight * sum(np.average(part**2, axis=0, weights=costs) for part in parts))


def _trained(values: np.ndarray, sides: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """The w of least |w|^2 / 2 + sum_i costs_i max(0, 1 - sides_i values_i w)^2, by Newton's method.

    Each step solves the least squares of the rows inside the margin; it is halved until the sum falls.
    """
    weights, slack, least = np.zeros(values.shape[1]), np.ones(len(values)), costs.sum()
    while True:
        inside = slack > 0
        full = _least_squares(values[inside], sides[inside], 2 * costs[inside])
        for step in _STEPS:
            moved = weights + step * (full - weights)
            new_slack = 1 - sides * (values @ moved)
            total = moved @ moved / 2 + costs @ np.maximum(new_slack, 0) ** 2
            if total < least:
                break
        else:
            if np.abs(values @ (full - weights)).max() > _TOLERANCE:
                raise np.linalg.LinAlgError
            return full
        weights, slack, least = moved, new_slack, total
        if step == 1 and np.array_equal(slack > 0, inside):
            return weights


def _least_squares(values: np.ndarray, sides: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """The w of least |w|^2 + sum_i costs_i (sides_i - values_i w)^2, by the smaller of two systems of equations."""
    is_wide = len(values) < values.shape[1]
    matrix = values @ values.T if is_wide else (values.T * costs) @ values
    matrix[np.diag_indices_from(matrix)] += 1 / costs if is_wide else 1.0
    return values.T @ np.linalg.solve(matrix, sides) if is_wide else np.linalg.solve(matrix, values.T @ (costs * sides))
