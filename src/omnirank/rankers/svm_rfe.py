"""Recursive feature elimination by linear support vector machines."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.stats import rankdata

from omnirank.core.parallel import counted_steps, run_parallel
from omnirank.core.parameters import Domain, number, share
from omnirank.core.ranking.ranking import Ranking
from omnirank.data.dataset import Dataset
from omnirank.data.task_registry import TaskNames
from omnirank.graphs.columns import GraphColumns, graph_columns
from omnirank.rankers.base import WeightedRanker
from omnirank.tasks import get_task

# The solver takes some tens of Newton steps; far more than it ever takes.
_MOST_STEPS = 1_000_000
_TOLERANCE = 1e-6


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
        problems = _problems(dataset)
        scores = np.zeros(dataset.n_features)
        left = np.unique(columns.feature)
        if problems:
            self._eliminate(columns, problems, sample_weight, left, scores)
        return self._ranking(dataset, scores, "svm-rfe")

    def _eliminate(
        self,
        columns: GraphColumns,
        problems: list[tuple[np.ndarray, float]],
        sample_weight: np.ndarray | None,
        left: np.ndarray,
        scores: np.ndarray,
    ) -> None:
        """Fill in the scores of the features, beginning with those that go first."""
        removed = 0
        for size in _with_progress(_step_sizes(len(left), self.step)):
            own = np.isin(columns.feature, left)
            starts = np.searchsorted(columns.feature[own], left)
            machines = _Machines(columns.values[:, own], starts, sample_weight, float(self.C))
            weights = np.sum(run_parallel(machines, problems, self.n_jobs, progress=False), axis=0)
            # of features with equal weights, the last goes first
            first = np.lexsort((-left, weights))[:size]
            scores[left[first]] = removed + rankdata(weights[first])
            removed += size
            left = np.delete(left, first)


def _with_progress(sizes: list[int]) -> Any:
    return (sizes[i] for i in counted_steps(len(sizes), "eliminating features"))


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
    problems = []
    for j in range(target.n_targets):
        values = target.select([j]).dense()[:, 0]
        if len(np.unique(values[~np.isnan(values)])) > 1:
            problems.append((values, float(weights[j])))
    return problems


def _standardised(columns: GraphColumns, weights: np.ndarray) -> GraphColumns:
    """Columns of weighted mean 0, those of a feature with a weighted variance of 1."""
    shares = weights / weights.sum()
    values = columns.values - shares @ columns.values
    variances = np.bincount(columns.feature, shares @ values**2, columns.n_features)
    return replace(columns, values=values / np.sqrt(variances[columns.feature]))


@dataclass(frozen=True, eq=False)
class _Machines:
    """Variance of each feature's part in the machines of one target, times the target's weight.

    The columns of a feature are those from its start up to the next one's.
    """

    values: np.ndarray
    starts: np.ndarray
    sample_weight: np.ndarray | None
    C: float

    def __call__(self, problem: tuple[np.ndarray, float]) -> np.ndarray:
        from sklearn.svm import LinearSVC

        classes, weight = problem
        known = ~np.isnan(classes)
        machine = LinearSVC(dual=False, C=self.C, tol=_TOLERANCE, max_iter=_MOST_STEPS)
        counted = None if self.sample_weight is None else self.sample_weight[known]
        machine.fit(self.values[known], classes[known].astype(np.int64), sample_weight=counted)
        if self.values.shape[1] == len(self.starts):  # each column is a feature of variance 1
            return np.asarray(weight * (machine.coef_**2).sum(axis=0))
        shares = np.full(len(known), 1 / len(known))
        if self.sample_weight is not None:
            shares = self.sample_weight / self.sample_weight.sum()
        parts = [np.add.reduceat(self.values * row, self.starts, axis=1) for row in machine.coef_]
        return np.asarray(weight * sum(shares @ part**2 for part in parts))
