r"""What a feature adds: p values given the other features, `omnirank.significance(..., given="others")`.

A feature that only goes along with a relevant one is relevant, too: it tells something of the target. It *adds*
something if it still does so when the others are known. The generalised covariance measure asks whether what the others
do not explain of the feature goes together with what they do not explain of the target:

.. math:: R_{iab} = w_i\, \epsilon_{ia}\, \xi_{ib}, \qquad
          T_{ab} = \frac{\sum_i R_{iab}}{\sqrt{\sum_i (R_{iab} - \bar R_{ab})^2}}, \qquad S = \sum_{a,b} T_{ab}^2,

for the residuals :math:`\epsilon` of the target's clustering columns and :math:`\xi` of the feature's columns: normal
scores of the ranks of a number and their squares, an indicator of each level. If the feature adds nothing, S is
distributed as a multiple of chi-squared, with the mean K, the number of products, and the variance
:math:`2 \sum \rho^2` over their correlations. Residuals are out of sample: those of a ridge regression, each without
its example, and then those of extra trees, out of bag. Residuals of one regression depend on each other: with the mean
leverage h, the sum has 1 / (1 - h) times the variance that its squares say, so that T is multiplied by the root of
1 - h.

Only features with p < 0.05 of their own are asked, given the others that are asked. Where these are more than a quarter
of the examples, features with an association of at least 0.7 are asked as one, and if that does not suffice, those with
the smallest p values are. All others have the p value 1. Features that act only together are not seen: what is left of
each one alone does not go along with what is left of the target.

References
----------
Shah, Peters: The hardness of conditional independence testing and the generalised covariance measure. Ann. Statist. 48,
2020.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaincc

from omnirank.core.blas_threads import one_blas_thread
from omnirank.core.errors import DataError, setting
from omnirank.core.parallel import progress, run_parallel
from omnirank.core.ranking.certainty import ALPHA, p_value_columns
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import kernel_seed, root_entropy
from omnirank.core.types import RandomState
from omnirank.data.dataset import Dataset
from omnirank.data.table import Table
from omnirank.ensembles.pair_test import level_columns
from omnirank.ensembles.pct import PCTForestRegressor
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.ensembles.unbiased import described_parts, normal_scores
from omnirank.evaluation.redundancy import associated_pairs, leader_groups

_SCREENED = 0.05
# Features that are asked, as a share of the examples, and the association from which several are asked as one.
_MOST_ASKED, _ASSOCIATED = 0.25, 0.7
# Columns of a target, of a feature or of several: of more, principal components.
_MOST_COLUMNS = 16
# Trees of what lines leave; they draw at most so many features in a node.
_N_TREES, _LEAST_LEAF, _MOST_DRAWN = 50, 10, 16


def with_given_others(
    ranking: Ranking, dataset: Dataset, weight: Any, seed: RandomState, n_jobs: int | None
) -> Ranking:
    """Return a ranking that has p values with those given the other features, too."""
    assert ranking.p_values is not None
    weights = None if weight is None else np.asarray(weight, np.float64)
    values = p_values_given_others(dataset, ranking.p_values, weights, root_entropy(seed), n_jobs)
    return replace(ranking, p_given_others=values)


def p_values_given_others(
    dataset: Dataset, p_values: np.ndarray, weight: np.ndarray | None, entropy: int, n_jobs: int | None
) -> np.ndarray:
    """Return for each feature the p value given the other features; 1 for those that are not asked.

    Parameters
    ----------
    dataset : Dataset
        The data; labelled examples count.
    p_values : ndarray (features,)
        P values of the features alone.
    weight : ndarray (examples,), optional
        Weights of the examples.
    entropy : int
        Seed of the trees.
    n_jobs : int or None
        Number of workers; changes no bit.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.evaluation.conditional import p_values_given_others
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200)
    >>> data = om.Dataset(np.column_stack([x, x + rng.normal(size=200)]), x + rng.normal(size=200))
    >>> p_values_given_others(data, np.zeros(2), None, 0, None) < 0.05
    array([ True, False])
    """
    question = _question(dataset, weight, entropy, n_jobs)
    found = np.ones(dataset.n_features)
    question = question.of(_asked(question.table, p_values))
    if not question.target.shape[1] or not question.asked:
        return found
    answers = run_parallel(question, range(len(question.asked)), n_jobs, description="asking what features add")
    for features, p in zip(question.asked, answers, strict=True):
        found[features] = p
    return found


def told_by_another(ranking: Ranking, dataset: Dataset, seed: RandomState, n_jobs: int | None) -> dict[str, str]:
    """Return the relevant features that add nothing, each with a feature that adds something and tells as much.

    That is the feature with the largest association. The p value of the one, given only the other, exceeds 0.05.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.evaluation.conditional import told_by_another
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200)
    >>> data = om.Dataset(np.column_stack([x, x + rng.normal(size=200)]), x + rng.normal(size=200))
    >>> found = om.significance(om.EnsembleRanker(n_trees=20, random_state=0), data, given="others")
    >>> told_by_another(found, data, 0, None)
    {'x1': 'x0'}
    """
    columns = p_value_columns(ranking.p_values, ranking.p_given_others)
    adding, rest = (np.flatnonzero(columns["relevant"] & (columns["adds"] == adds)) for adds in (True, False))
    question = _question(dataset, None, root_entropy(seed), n_jobs)
    pairs = associated_pairs(question.table.select(np.concatenate([adding, rest])), _ASSOCIATED / 2, n_jobs)
    across = (pairs.first < len(adding)) & (pairs.second >= len(adding))
    association = np.zeros((len(adding), len(rest)))
    association[pairs.first[across], pairs.second[across] - len(adding)] = pairs.values[across]
    alike = [(int(rest[j]), int(adding[association[:, j].argmax()])) for j in np.flatnonzero(association.any(axis=0))]
    names = question.table.names
    return {names[f]: names[g] for f, g in alike if question.of([[f], [g]])(0) > ALPHA}


def _question(dataset: Dataset, weight: np.ndarray | None, entropy: int, n_jobs: int | None) -> _Question:
    """A question about no features yet."""
    if dataset.target is None:
        raise DataError(
            f"{setting('given', 'others')} asks what a feature adds about a target, and these data have none"
        )
    rows = dataset.labelled if weight is None else dataset.labelled & (weight > 0)
    data = dataset.take(rows)
    # of mean 1: leaves count them
    weights = np.ones(data.n_examples) if weight is None else weight[rows] / weight[rows].mean()
    plan = GrowingData(data, entropy, weights, n_jobs=n_jobs, groups=data.groups).plan(GrowingRules(supervision=1.0))
    columns = [part.dense(np.arange(len(part.owner))) for part in described_parts(plan).own]
    target = np.hstack(columns) if columns else np.zeros((data.n_examples, 0))
    target = _components(np.where(np.isnan(target), 0.0, target - np.nanmean(target, axis=0)))
    groups = np.arange(data.n_examples) if plan.groups is None else plan.groups
    return _Question(data.features, target, plan.weight, groups, entropy)


def _asked(table: Table, p_values: np.ndarray) -> list[list[int]]:
    """Features that are asked together, those with the smallest p values first."""
    chosen = np.flatnonzero(p_values < _SCREENED)
    chosen = chosen[np.argsort(p_values[chosen], kind="stable")]
    most = max(2, int(_MOST_ASKED * table.n_rows))
    if len(chosen) <= most:
        return [[int(f)] for f in chosen]
    groups = leader_groups(len(chosen), associated_pairs(table.select(chosen), _ASSOCIATED))
    return [[int(chosen[i]) for i in (first, *others)] for first, others in list(groups.items())[:most]]


@dataclass(frozen=True, eq=False)
class _Question:
    """Asks what some features add to all others that are asked; picklable."""

    table: Table
    target: np.ndarray
    weight: np.ndarray
    groups: np.ndarray
    entropy: int
    asked: list[list[int]] = field(default_factory=list)
    lines: _Lines | None = None

    def of(self, asked: list[list[int]]) -> _Question:
        """Return the question about these features."""
        columns = [np.hstack([feature_columns(self.table, f) for f in features]) for features in asked]
        return replace(self, asked=asked, lines=_Lines.on(columns, self.weight) if asked else None)

    def __call__(self, i: int) -> float:
        """Return the p value."""
        assert self.lines is not None
        others = [f for j, features in enumerate(self.asked) if j != i for f in features]
        both = np.hstack([self.target, _components(self.lines.columns[i])])
        with one_blas_thread(), progress(False):
            left, used = self._residuals(both, i, others, int(kernel_seed(self.entropy, i)))
        n = self.target.shape[1]
        return covariance_p_value(left[:, :n], left[:, n:], self.weight, self.groups, used)

    def _residuals(self, columns: np.ndarray, i: int, others: list[int], seed: int) -> tuple[np.ndarray, float]:
        """What the other features do not explain of the columns, in examples that were not used; the mean leverage."""
        columns = columns - np.average(columns, axis=0, weights=self.weight)
        if not others or self.lines is None:
            return columns, 0.0
        columns, leverage = self.lines.residuals(columns, i)
        scale = columns.std(axis=0)
        columns = columns[:, scale > 0] / scale[scale > 0]
        forest = PCTForestRegressor(
            "extra-trees",
            n_trees=_N_TREES,
            max_features=min(len(others), _MOST_DRAWN),
            min_samples_leaf=_LEAST_LEAF,
            oob_score=True,
            task="multi-target-regression",
            random_state=seed,
            n_jobs=1,
        )
        data = Dataset(self.table.select(others), columns, task="multi-target-regression").with_groups(self.groups)
        data._remarks.told = True
        forest.fit(data, sample_weight=self.weight)
        explained = np.asarray(forest.oob_prediction_).reshape(columns.shape)
        left = np.zeros((len(columns), len(scale)))
        left[:, scale > 0] = np.where(np.isnan(explained), 0.0, columns - explained)
        return left, leverage


class _Lines(NamedTuple):
    """Ridge regressions on all asked features but one (or but those that are asked as one).

    With the inverse M of the regression on all, that without the columns S has M - M_{.S} M_{SS}^{-1} M_{S.}. The
    penalty is that of one example.
    """

    columns: list[np.ndarray]  # of the features
    design: np.ndarray  # all of them in units of their standard deviation, after a constant
    product: np.ndarray  # design times M
    inverse: np.ndarray  # M
    own: list[np.ndarray]  # columns of the design, by feature
    weight: np.ndarray

    @classmethod
    def on(cls, columns: list[np.ndarray], weight: np.ndarray) -> _Lines:
        """Prepare regressions on these columns."""
        joined = np.hstack(columns)
        scale = joined.std(axis=0)
        design = np.column_stack([np.ones(len(joined)), joined[:, scale > 0] / scale[scale > 0]])
        feature = np.repeat(np.arange(len(columns)), [part.shape[1] for part in columns])[scale > 0]
        penalty = np.full(design.shape[1], weight.mean())
        penalty[0] = 0.0
        inverse = np.linalg.inv(design.T @ (weight[:, None] * design) + np.diag(penalty))
        own = [1 + np.flatnonzero(feature == i) for i in range(len(columns))]
        return cls(columns, design, design @ inverse, inverse, own, weight)

    def residuals(self, values: np.ndarray, i: int) -> tuple[np.ndarray, float]:
        """Return what all features but the i-th leave of values, each without its example, and the mean leverage."""
        own = self.own[i]
        less = self.product[:, own] @ np.linalg.inv(self.inverse[np.ix_(own, own)])
        weighed = self.weight[:, None] * values
        explained = self.product @ (self.design.T @ weighed) - less @ (self.product[:, own].T @ weighed)
        leverage = np.einsum("ij,ij->i", self.product, self.design)
        leverage -= np.einsum("ij,ij->i", less, self.product[:, own])
        leverage *= self.weight
        return (values - explained) / np.maximum(1 - leverage, 0.05)[:, None], float(leverage.mean())


def feature_columns(table: Table, f: int) -> np.ndarray:
    """Return a feature as columns: normal scores and their squares, or indicators of its levels; 0 where missing.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.evaluation.conditional import feature_columns
    >>> feature_columns(Table.from_numeric(np.array([[1.0], [3.0], [9.0]])), 0).round(2).tolist()
    [[-0.97, 0.31], [0.0, -0.62], [0.97, 0.31]]
    """
    cells = table.column(f)
    if table.levels[f] is not None:
        return level_columns(cells)
    known = ~np.isnan(cells)
    scores = normal_scores(cells[known], np.ones(known.sum()))
    columns = np.zeros((len(cells), 2))
    if known.any():
        columns[known] = np.column_stack([scores - scores.mean(), scores**2 - (scores**2).mean()])
    return columns


def _components(columns: np.ndarray) -> np.ndarray:
    """The columns, or the first principal components of many."""
    if columns.shape[1] <= _MOST_COLUMNS:
        return columns
    with one_blas_thread():
        left, size, _ = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
    return np.asarray(left[:, :_MOST_COLUMNS] * size[:_MOST_COLUMNS])


def covariance_p_value(
    one: np.ndarray, other: np.ndarray, weight: np.ndarray, groups: np.ndarray, leverage: float = 0.0
) -> float:
    """Return the p value of the generalised covariance measure of two tables of residuals; groups count as examples.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.evaluation.conditional import covariance_p_value
    >>> a = np.array([[1.0], [-1.0], [2.0], [-2.0], [0.5]])
    >>> [round(covariance_p_value(a, b, np.ones(5), np.arange(5)), 2) for b in (a, a**3, a**2)]
    [0.0, 0.04, 0.99]
    """
    products = (weight[:, None, None] * one[:, :, None] * other[:, None, :]).reshape(len(one), -1)
    _, number = np.unique(groups, return_inverse=True)
    sums = np.zeros((number.max() + 1, products.shape[1]))
    np.add.at(sums, number, products)
    away = sums - sums.mean(axis=0)
    spread = np.sqrt((away**2).sum(axis=0))
    varies = spread > 1e-12 * np.abs(sums).sum(axis=0)
    if not varies.any():
        return 1.0
    t = np.sqrt(1 - leverage) * sums[:, varies].sum(axis=0) / spread[varies]
    unit = away[:, varies] / spread[varies]
    n = len(t)
    multiple = float(((unit.T @ unit) ** 2).sum() / n)
    value: Any = gammaincc(n / multiple / 2, float(t @ t) / multiple / 2)
    return float(max(value, np.finfo(np.float64).tiny))
