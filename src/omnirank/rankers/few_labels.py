"""Rankers on graphs in which some examples are labelled: S-CLS, SFSS, STR-Laplace and 3-3FS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from omnirank.core.errors import DataError
from omnirank.core.parameters import Domain, number
from omnirank.core.registry import SUPERVISION
from omnirank.data.dataset import Dataset
from omnirank.data.task_registry import TaskNames
from omnirank.graphs.affinity import neighbor_edges, refuse_dense
from omnirank.graphs.columns import GraphColumns
from omnirank.graphs.constraints import (
    label_similarity,
    semi_supervised_scores,
    soft_constrained_scores,
    supervised_scores,
)
from omnirank.graphs.regressions import spread_labels_fit
from omnirank.rankers.laplacian import GraphRanker, QuotientRanker
from omnirank.rankers.resampled import Resampling
from omnirank.tasks import get_task

# The papers' quantile of squared distances.
_QUANTILE = 0.2


@dataclass(eq=False, repr=False)
class SCLSRanker(QuotientRanker):
    r"""Rank features with few labels by the soft-constrained Laplacian score (S-CLS).

    Labelled examples are as alike as their labels say, :math:`P_{ij}`; all others are alike where they are neighbours:

    .. math:: S_{ij} = \begin{cases}
        \exp(-\|x_i - x_j\|^2 / \lambda) P_{ij} & \text{both are labelled} \\
        \exp(-\|x_i - x_j\|^2 / \lambda) & \text{one is among the k nearest of the other} \\
        0 & \text{otherwise} \end{cases}

    With :math:`D_{ii} = \sum_j S_{ij}` and :math:`\mu = \sum_i f_i D_{ii} / \sum_i D_{ii}` the score of feature f is

    .. math:: \frac{\sum_{ij} (f_i - f_j)^2 S_{ij}}{\sum_{ij} (\alpha_{ij} - \beta_{ij})^2 D_{ii}}, \quad
        \alpha_{ij} - \beta_{ij} = \begin{cases} (f_i - f_j) (1 - P_{ij}) & \text{both are labelled} \\
        f_i - \mu & \text{otherwise} \end{cases}

    Small scores are good; the importance is S + s - score with the largest and smallest score S and s. P is the Jaccard
    similarity of label sets (weighted in a hierarchy), 1 for equal classes and 0 for others, and
    :math:`\exp(-\|y_i - y_j\|^2 / \lambda_Y)` for standardised numbers. Without any label the score is 2 / n times the
    Laplacian score. Features are standardised and nominal ones taken apart as in `LaplacianRanker`.

    Parameters
    ----------
    n_neighbors : int
        Number of neighbours k.
    width : float or "auto"
        The number :math:`\lambda`; "auto": the 20th percentile of the squared distances of two examples (of 1000
        examples, where there are more). :math:`\lambda_Y` is always this percentile for the targets.
    task, hierarchy, n_features_to_select, random_state, n_jobs
        As in every ranker. The method is deterministic: the seed is not used.

    Attributes
    ----------
    criterion_ : ndarray
        The scores, smaller is better.

    Notes
    -----
    Two empty label sets are equal, P = 1. An example and itself are a labelled pair. Labels that are unknown in one of
    two examples are left out of their similarity. Weights of examples have no place in it: neighbours are counted.

    References
    ----------
    Alalga, Benabdeslem, Taleb: Soft-constrained Laplacian score for semi-supervised multi-label feature selection.
    Knowledge and Information Systems 47, 2016.

    Examples
    --------
    >>> import omnirank as om
    >>> data, truth = om.datasets.make_multi_label(300, n_relevant=3, n_irrelevant=20, labelled=0.2, random_state=0)
    >>> ranking = om.rankers.SCLSRanker().fit(data).ranking_
    >>> len(ranking)
    23
    """

    method = "s-cls"
    supported_tasks = TaskNames("classes", "labels", "numbers", "none")
    supported_supervision = SUPERVISION

    n_neighbors: int = 5
    width: float | str = "auto"

    def _column_scores(self, dataset: Dataset, columns: GraphColumns) -> np.ndarray:
        values, labelled = columns.values, np.flatnonzero(dataset.labelled)
        similarity = None
        if len(labelled):
            similarity = label_similarity(dataset, labelled, _QUANTILE)
        edges = neighbor_edges(values, self.n_neighbors, self.n_jobs)
        width = self._kernel_width(values, _QUANTILE)
        return soft_constrained_scores(values, edges, width, labelled, similarity, self.n_jobs)


@dataclass(eq=False, repr=False)
class SFSSRanker(GraphRanker):
    r"""Rank features for classes or label sets, with all or some examples labelled, by structural selection (SFSS).

    Labels F of all examples, which follow the graph of neighbours and the known labels Y, and a regression W of them on
    the columns X are found together,

    .. math:: \min_{F, W, b} \mathrm{Tr}(F' L F) + \mathrm{Tr}((F - Y)' U (F - Y))
        + \mu \|X W + 1 b' - F\|^2 + \gamma \sum_i \|w_i\|

    and the importance of column i is :math:`\|w_i\|`. A class is a 0/1 column per class. U is diagonal, large for
    labelled examples. Affinities and columns are those of `LaplacianRanker`; coefficients of levels count as those of
    columns with variance 1.

    Parameters
    ----------
    mu, gamma : float
        The weights of the regression and of its penalty.
    label_weight : float
        :math:`U_{ii}` of labelled examples; for others it is 1e-6.
    n_neighbors : int
        Number of neighbours.
    width : float or "auto"
        Width of the heat kernel; "auto": the median squared distance of two examples (of 1000 examples, where there are
        more).
    max_iter : int
        How many iterations there may be; a warning says if they were not enough.
    tol : float
        The change of W, relative to its norm, at which to stop.
    task, hierarchy, n_features_to_select, random_state, n_jobs
        As in every ranker. The method is deterministic: the seed is not used. The order of labels in a hierarchy does
        not matter to it.

    Attributes
    ----------
    n_iter_ : int
        Number of iterations.

    Notes
    -----
    Every iteration solves a system of as many equations as there are examples n: matrices of all pairs take 32 n^2
    bytes, and more than 20,000 examples are refused. Single labels that are unknown take the mean of the known ones.
    Weights of examples have no place in it: neighbours are counted.

    References
    ----------
    Ma, Nie, Yang, Uijlings, Sebe, Hauptmann: Discriminating joint feature analysis for multimedia data understanding.
    IEEE Transactions on Multimedia 14, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> X = np.random.default_rng(0).normal(size=(200, 10))
    >>> labels = np.column_stack([X[:, 1] > 0, X[:, 4] > 0]).astype(float)
    >>> labels[60:] = np.nan
    >>> sorted(om.rankers.SFSSRanker(task="multi-label").fit(X, labels).ranking_.top(2))
    ['x1', 'x4']
    """

    method = "sfss"
    supported_tasks = TaskNames("classes", "labels")
    supported_supervision = ("supervised", "semi-supervised")

    mu: float = 1.0
    gamma: float = 1.0
    label_weight: float = 1e6
    n_neighbors: int = 5
    width: float | str = "auto"
    max_iter: int = 200
    tol: float = 1e-4

    def _feature_scores(self, dataset: Dataset, columns: GraphColumns) -> np.ndarray:
        values, labelled = columns.values, dataset.labelled
        refuse_dense(len(values), 4, "sfss", "take fewer examples, or the method s-cls")
        affinity = self._neighbor_affinity(values)
        numbers = self.mu, self.gamma, self.label_weight, self.max_iter, self.tol
        fit = spread_labels_fit(values, affinity, known_labels(dataset), labelled, *numbers)
        return columns.by_feature(columns.effects(self._coefficient_norms(fit)))


def known_labels(dataset: Dataset) -> np.ndarray:
    """Return classes and labels as 0/1 columns: 0 for unlabelled examples, the mean for single unknown labels."""
    assert dataset.target is not None
    cells = get_task(dataset.task).columns(dataset.target, dataset.hierarchy).dense()
    known = ~np.isnan(cells)
    means = np.sum(cells, axis=0, where=known) / np.maximum(1, known.sum(axis=0))
    return np.where(known, cells, means) * dataset.labelled[:, None]


@dataclass(eq=False, repr=False)
class STRLaplaceRanker(QuotientRanker):
    r"""Rank features by a Laplacian score for regression, with all or some examples labelled.

    The score is the product of two Laplacian scores (`LaplacianRanker`). One is that on the graph of neighbours of all
    examples, in which labelled examples are as near as their targets,

    .. math:: S_{ij} = \begin{cases} C \exp(-(y_i - y_j)^2 / t) & \text{both are labelled} \\
        \exp(-\frac{1}{D t} \sum_r (x_{ir} - x_{jr})^2) & \text{otherwise} \end{cases}

    for examples of which one is among the k nearest of the other in the features, 0 for all others. The other is that
    of the labelled examples alone, with :math:`S_{ij} = \exp(-(y_i - y_j)^2 / t)` for the k nearest in the target.
    Features and targets are standardised; t is the mean of what is divided by it, over the pairs of neighbours. Small
    scores are good; the importance is S + s - score with the largest and smallest score S and s. Nominal features are
    taken apart as in `LaplacianRanker`.

    Parameters
    ----------
    n_neighbors : int
        Number of neighbours k.
    labelled_weight : float
        The number C: how much more pairs of labelled examples count.
    task, hierarchy, n_features_to_select, random_state, n_jobs
        As in every ranker. The method is deterministic: the seed is not used.

    Attributes
    ----------
    criterion_ : ndarray
        The scores, smaller is better.

    Notes
    -----
    Weights of examples have no place in it: neighbours are counted.

    References
    ----------
    Doquire, Verleysen: A graph Laplacian based approach to semi-supervised feature selection for regression problems.
    Neurocomputing 121, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> X = np.random.default_rng(0).normal(size=(300, 6))
    >>> y = np.where(np.arange(300) % 5 == 0, X[:, 3] ** 3 + 0.5, np.nan)
    >>> om.rankers.STRLaplaceRanker().fit(X, y).ranking_.top(1)
    ['x3']
    """

    method = "str-laplace"
    supported_tasks = TaskNames("numbers", single=True)
    supported_supervision = ("supervised", "semi-supervised")

    _parameter_checks: ClassVar[dict[str, Domain]] = {"labelled_weight": number(above=0, most=1e6)}

    n_neighbors: int = 5
    labelled_weight: float = 5.0

    def _column_scores(self, dataset: Dataset, columns: GraphColumns) -> np.ndarray:
        values, y = columns.values, standardised_target(dataset)
        known = dataset.labelled
        if known.sum() < 2:
            raise DataError("str-laplace compares labelled examples: it needs at least two, and there is 1")
        n_varying = len(np.unique(columns.feature))
        edges = neighbor_edges(values, self.n_neighbors, self.n_jobs)
        all_examples = semi_supervised_scores(values, edges, y, n_varying, self.labelled_weight)
        return all_examples * supervised_scores(values[known], y[known], self.n_neighbors, self.n_jobs)


def standardised_target(dataset: Dataset) -> np.ndarray:
    """Return one numeric target with mean 0 and variance 1 (0 where it is constant), NaN where unknown."""
    assert dataset.target is not None
    columns = get_task(dataset.task).columns(dataset.target)
    values, spread = columns.scaled(columns.dense())[:, 0], np.sqrt(columns.variance[0])
    return (values - values[dataset.labelled].mean()) / (spread if spread > 0 else 1.0)


@dataclass(eq=False, repr=False)
class ThreeWayRanker(Resampling):
    r"""Rank features of label sets by resampling examples, features and labels at once (3-3FS).

    Each replicate has a bootstrap sample of the labelled examples, all unlabelled ones, :math:`\sqrt m` of the m
    features and :math:`\sqrt C` of the C labels; the features are ranked by the soft-constrained Laplacian score
    (S-CLS). The score of a feature is its mean over the replicates, of which there are
    :math:`10 \lceil \log 0.01 / \log(1 - 1 / \sqrt m) \rceil`.

    It is the `ResampledRanker` with ``examples="labelled-bootstrap"``, ``feature_share="sqrt"`` and
    ``label_share="sqrt"``. S-CLS has no place for weights of examples.

    Parameters
    ----------
    base : ranker or str
        What ranks the features in each replicate: a ranker, or the name of a method.
    n_iterations : int or "auto"
        Number of replicates.
    aggregate : {"mean", "rank-mean"}
        What the scores of a feature become.
    task, hierarchy, n_features_to_select, random_state, n_jobs
        As in `ResampledRanker`.

    References
    ----------
    Alalga, Benabdeslem, Mansouri: 3-3FS: ensemble method for semi-supervised multi-label feature selection. Knowledge
    and Information Systems 63, 2021.

    Examples
    --------
    >>> import omnirank as om
    >>> data, truth = om.datasets.make_multi_label(200, n_relevant=2, n_irrelevant=8, random_state=1)
    >>> ranker = om.rankers.ThreeWayRanker("univariate", random_state=0).fit(data)
    >>> ranker.ranking_.method, ranker.n_iterations_
    ('3-3fs', 130)
    """

    examples = "labelled-bootstrap"
    example_share = 0.5
    feature_share = "sqrt"
    label_share = "sqrt"

    base: BaseEstimator | str = "s-cls"
    n_iterations: int | str = "auto"
    aggregate: str = "mean"

    def _method(self, base: str) -> str:
        return "3-3fs"
