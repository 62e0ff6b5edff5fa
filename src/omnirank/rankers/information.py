"""Rankings by information theory and by tables of counts: each feature alone against the classes or labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from omnirank.core.errors import ParameterError
from omnirank.core.parallel import blocks, run_parallel
from omnirank.core.parameters import Domain, choice, count
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import root_entropy, stream
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.containers import FeaturesLike, TargetLike
from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.target import Target
from omnirank.data.task_registry import TaskNames
from omnirank.rankers._contingency import (
    MEASURES,
    ClassTargets,
    class_targets,
    information_gain,
    label_set_target,
)
from omnirank.rankers._discretization import BINNINGS, feature_codes
from omnirank.rankers._features_in_parts import feature_blocks
from omnirank.rankers._neighbor_information import Variable, neighbor_information
from omnirank.rankers.base import BaseRanker
from omnirank.shards.dataset import ShardedDataset
from omnirank.tasks import get_task

NEIGHBOR_MEASURE = "mutual-information"
LABEL_SETS = ("binary-relevance", "label-powerset", "pruned-powerset")

_AGGREGATES = {"mean": None, "max": np.max, "min": np.min}
# Blocks of features; their number does not depend on that of the workers.
_BLOCKS = 64
# What a worker takes for each row of a feature: different values and their codes, or neighbours.
_COUNTING_BYTES, _NEIGHBOR_BYTES = 80, 200


class _Supported:
    """The tasks of the class, and of an instance: only the estimates by neighbours take numbers."""

    counted = TaskNames("classes", "labels")
    everything = TaskNames("classes", "numbers", "labels", "mixed")

    def __get__(self, ranker: Any, owner: type) -> Sequence[str]:
        return self.everything if getattr(ranker, "measure", NEIGHBOR_MEASURE) == NEIGHBOR_MEASURE else self.counted


class InformationRanker(BaseRanker):
    r"""Importance of a feature: how much it tells, alone, about the class.

    With entropies H over the examples in which feature and class are known, in nats,

    ======================== =====================================================================
    ``measure``              score
    ======================== =====================================================================
    information-gain         :math:`I(x, y) = H(y) - H(y \mid x)`
    symmetrical-uncertainty  :math:`2 I(x, y) / (H(x) + H(y))`, from 0 to 1
    chi2                     :math:`\sum (O - E)^2 / E` over the table of bins or levels and classes
    mutual-information       :math:`I(x, y)`, of numbers estimated by nearest neighbours
    ======================== =====================================================================

    Numbers with more than ``n_bins`` different values are put into bins. Equal frequencies keep examples of the same
    value together; a value that most examples share, such as 0 in sparse data, has a bin of its own. The estimates by
    neighbours (scikit-learn's ``mutual_info_classif`` and ``mutual_info_regression``) need no bins, and take targets
    that are numbers, too; features of at most ``n_bins`` different values count as levels, for which both measures of
    information are the same.

    A missing cell tells nothing: entropies are those of the known ones, and the score is multiplied by their share
    (except chi2, which grows with the number of examples anyway). Unlabelled examples are not used, constant features
    get 0.

    For several class targets, and for label sets by *binary relevance*, scores are computed for each target that is not
    constant and averaged (by the weights of labels in a hierarchy). In the *label power set* each set of labels is a
    class of its own; it is *pruned* where sets of fewer than ``min_count`` examples are left out.

    Scores from tables grow with the number of levels by chance, information gain by about
    (levels - 1) (classes - 1) / 2n and chi2 by (levels - 1) (classes - 1): identifiers score high (`UnivariateRanker`
    takes this off).

    Parameters
    ----------
    measure : {"information-gain", "symmetrical-uncertainty", "chi2", "mutual-information"}
        The score.
    label_sets : {"binary-relevance", "label-powerset", "pruned-powerset"}
        What label sets become.
    aggregate : {"mean", "max", "min"}
        How the scores for several targets or labels become one.
    n_bins : int
        Number of bins.
    binning : {"equal-frequency", "equal-width"}
        How numbers are put into bins.
    min_count : int
        Number of examples that a label set of the pruned power set has at least.
    n_neighbors : int
        Number of neighbours in the estimates of mutual information.
    task, hierarchy, n_features_to_select
        As in every ranker.
    random_state : None, int, RandomState or Generator
        Seed of the tiny noise by which scikit-learn parts equal numbers; for mutual information only.
    n_jobs : int or None
        Number of workers.

    References
    ----------
    Quinlan: C4.5, 1993 (information gain, missing values). Press et al.: Numerical recipes, 1988 (symmetrical
    uncertainty). Ross: Mutual information between discrete and continuous data sets. PLoS ONE 9, 2014. Kraskov,
    Stoegbauer, Grassberger: Estimating mutual information. Physical Review E 69, 2004. Read: A pruned problem
    transformation method for multi-label classification, 2008. Doquire, Verleysen: Mutual information-based feature
    selection for multilabel classification. Neurocomputing 122, 2013.

    Examples
    --------
    >>> import omnirank as om
    >>> X = [[0.0, 3.0], [0.0, 1.0], [1.0, 3.0], [1.0, 1.0]]
    >>> om.InformationRanker("symmetrical-uncertainty").fit(X, ["a", "a", "b", "b"]).feature_importances_
    array([1., 0.])
    """

    _parameter_checks: ClassVar[dict[str, Domain]] = {
        "measure": choice(*MEASURES, NEIGHBOR_MEASURE),
        "label_sets": choice(*LABEL_SETS),
        "aggregate": choice(*_AGGREGATES),
        "n_bins": count(2),
        "binning": choice(*BINNINGS),
        "min_count": count(1),
        "n_neighbors": count(1),
    }
    supported_tasks = _Supported()
    supported_supervision = ("supervised",)

    def __init__(
        self,
        measure: str = "information-gain",
        label_sets: str = "binary-relevance",
        aggregate: str = "mean",
        n_bins: int = 10,
        binning: str = "equal-frequency",
        min_count: int = 6,
        n_neighbors: int = 3,
        task: str = "auto",
        hierarchy: Hierarchy | None = None,
        n_features_to_select: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(task, hierarchy, n_features_to_select, random_state, n_jobs)
        self.measure = measure
        self.label_sets = label_sets
        self.aggregate = aggregate
        self.n_bins = n_bins
        self.binning = binning
        self.min_count = min_count
        self.n_neighbors = n_neighbors

    def fit(
        self, X: FeaturesLike, y: TargetLike | None = None, sample_weight: ArrayLike | None = None
    ) -> InformationRanker:
        """Rank the features.

        Parameters
        ----------
        X, y
            As in :meth:`BaseRanker.fit`.
        sample_weight : array-like of shape (n_examples,), optional
            Weights of the examples: a weight of 2 is that of two such examples. Mutual information by neighbours has
            no place for them.

        Returns
        -------
        self
            The fitted ranker.
        """
        return self._fit(X, y, sample_weight)

    def _rank(self, dataset: Dataset, sample_weight: np.ndarray | None = None) -> Ranking:
        if sample_weight is not None and self.measure == NEIGHBOR_MEASURE:
            counted = ", ".join(MEASURES)
            raise ParameterError(
                f"mutual information by neighbours takes no sample_weight; these measures do: {counted}"
            )
        weights = np.ones(dataset.n_examples) if sample_weight is None else sample_weight
        scores = self._scores(dataset, weights, self._settings())
        return self._ranking(dataset, scores, self._method(dataset))

    def _rank_parts(self, data: ShardedDataset) -> Ranking:
        given = self._settings()
        per_row = _NEIGHBOR_BYTES if self.measure == NEIGHBOR_MEASURE else _COUNTING_BYTES
        found = [
            self._scores(part, np.ones(part.n_examples), given) for part in feature_blocks(data, self.n_jobs, per_row)
        ]
        return self._ranking(data, np.concatenate(found), self._method(data.example))

    def _scores(self, dataset: Dataset, weights: np.ndarray, given: _Settings) -> np.ndarray:
        target = dataset.target
        assert target is not None  # the supported tasks have one
        scored = _Scored(given, dataset, weights, self._targets(dataset, target), self._numbers(target))
        parts = run_parallel(scored, blocks(dataset.n_features, _BLOCKS), self.n_jobs, description="ranking features")
        return np.concatenate(parts)

    def _method(self, dataset: Dataset) -> str:
        labels = dataset.target is not None and dataset.target.is_labels
        pruned = self.measure == NEIGHBOR_MEASURE and labels and self.label_sets == "pruned-powerset"
        return "ppt-mi" if pruned else self.measure

    def _settings(self) -> _Settings:
        seed = 0
        if self.measure == NEIGHBOR_MEASURE:
            seed = int(stream(root_entropy(self.random_state), 0).integers(2**31))
        return _Settings(self.measure, self.aggregate, self.n_bins, self.binning, self.n_neighbors, seed)

    def _targets(self, dataset: Dataset, target: Target) -> list[ClassTargets]:
        if target.is_labels and self.label_sets != "binary-relevance":
            return [label_set_target(target, self.min_count if self.label_sets == "pruned-powerset" else 1)]
        return class_targets(target, get_task(dataset.task).columns(target, dataset.hierarchy).weights)

    def _numbers(self, target: Target) -> list[int]:
        """Targets that are numbers, which are not counted."""
        return [] if target.is_labels else [j for j, levels in enumerate(target.levels) if levels is None]


@dataclass(frozen=True)
class _Settings:
    """Parameters that a worker needs; the seed of the noise among them."""

    measure: str
    aggregate: str
    n_bins: int
    binning: str
    n_neighbors: int
    seed: int


@dataclass(frozen=True, eq=False)
class _Scored:
    """Scores of a block of features."""

    settings: _Settings
    dataset: Dataset
    weights: np.ndarray
    targets: list[ClassTargets]
    numbers: list[int]

    def __call__(self, block: range) -> np.ndarray:
        totals = [target.totals(self.weights) for target in self.targets]
        others = self._neighbor_targets(totals) if self.settings.measure == NEIGHBOR_MEASURE else []
        return np.array([self._score(i, totals, others) for i in block])

    def _score(self, i: int, totals: list[np.ndarray], others: list[tuple[Variable, float]]) -> float:
        given = self.settings
        table = self.dataset.features
        codes, binned = feature_codes(table, i, self.weights, given.n_bins, given.binning)
        if given.measure == NEIGHBOR_MEASURE and binned:
            own = Variable.of_numbers(table.column(i).astype(np.float64))
            return self._aggregated(*self._by_neighbors(own, others))
        values, alpha = self._by_counts(codes, totals)
        numbers = [(variable, weight) for variable, weight in others if not variable.discrete]
        more, more_alpha = self._by_neighbors(Variable.of_codes(codes), numbers)
        return self._aggregated(np.append(values, more), np.append(alpha, more_alpha))

    def _by_counts(self, codes: np.ndarray, totals: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Scores for the targets that are not constant, and the weights of these."""
        measure = MEASURES.get(self.settings.measure, information_gain)
        values, alpha = [np.empty(0)], [np.empty(0)]
        for target, total in zip(self.targets, totals, strict=True):
            counts = target.counts(codes, self.weights)
            found = measure(counts)
            if self.settings.measure != "chi2":
                known = total.sum(axis=1)
                found = found * np.minimum(counts.sum(axis=(0, 2)) / np.where(known > 0, known, 1.0), 1.0)
            varies = _varies(total)
            values.append(found[varies])
            alpha.append(target.weights[varies])
        return np.concatenate(values), np.concatenate(alpha)

    def _neighbor_targets(self, totals: list[np.ndarray]) -> list[tuple[Variable, float]]:
        """All targets that are not constant, with their weights."""
        target = self.dataset.target
        assert target is not None
        found = []
        for own, total in zip(self.targets, totals, strict=True):
            varying = np.flatnonzero(_varies(total)).tolist()
            found += [(_class_variable(own, v), float(own.weights[v])) for v in varying]
        for j in self.numbers:
            variable = Variable.of_numbers(target.values[:, j])
            if np.nanmax(variable.values) > np.nanmin(variable.values):
                found.append((variable, 1.0))
        return found

    def _by_neighbors(self, own: Variable, others: list[tuple[Variable, float]]) -> tuple[np.ndarray, np.ndarray]:
        given = self.settings
        values = [neighbor_information(own, other, given.n_neighbors, given.seed) for other, _ in others]
        return np.array(values), np.array([weight for _, weight in others])

    def _aggregated(self, values: np.ndarray, alpha: np.ndarray) -> float:
        if not len(values):
            return 0.0
        chosen = _AGGREGATES[self.settings.aggregate]
        return float(np.average(values, weights=alpha) if chosen is None else chosen(values))


def _varies(total: np.ndarray) -> np.ndarray:
    """Which targets have examples of two classes."""
    return np.asarray((total > 0).sum(axis=1) > 1)


def _class_variable(target: ClassTargets, v: int) -> Variable:
    """One of the targets as codes, NaN where unknown."""
    if target.are_labels:
        values = target.columns[:, [v]].toarray()[:, 0]
        if target.unknown is not None:
            values[target.unknown[:, [v]].toarray()[:, 0] > 0] = np.nan
        return Variable(values, True)
    values = np.full(target.columns.shape[0], np.nan)
    values[np.diff(target.columns.indptr) > 0] = target.columns.indices
    return Variable(values, True)
