"""The soft-constrained Laplacian score: neighbours, and how alike the labels of labelled examples are."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.task_registry import TaskNames
from omnirank.graphs.affinity import neighbor_edges
from omnirank.graphs.columns import GraphColumns
from omnirank.graphs.constraints import label_similarity, soft_constrained_scores
from omnirank.rankers._graph import QuotientRanker

# The papers' quantile of squared distances.
_QUANTILE = 0.2


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
    label_weights : None, "frequency" or array-like
        Weights of the labels of label sets, times those of a hierarchy; "frequency": the share of labelled examples
        that have the label. None: 1 each.
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
    >>> ranking = om.SCLSRanker().fit(data).ranking_
    >>> len(ranking)
    23
    """

    method = "s-cls"
    supported_tasks = TaskNames("classes", "labels", "numbers", "none")

    def __init__(
        self,
        n_neighbors: int = 5,
        width: float | str = "auto",
        label_weights: ArrayLike | str | None = None,
        task: str = "auto",
        hierarchy: Hierarchy | None = None,
        n_features_to_select: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(task, hierarchy, n_features_to_select, random_state, n_jobs)
        self.n_neighbors = n_neighbors
        self.width = width
        self.label_weights = label_weights

    def _column_scores(self, dataset: Dataset, columns: GraphColumns) -> np.ndarray:
        values, labelled = columns.values, np.flatnonzero(dataset.labelled)
        similarity = None
        if len(labelled):
            similarity = label_similarity(dataset, labelled, _QUANTILE, self.label_weights)
        edges = neighbor_edges(values, self.n_neighbors, self.n_jobs)
        width = self._kernel_width(values, _QUANTILE)
        return soft_constrained_scores(values, edges, width, labelled, similarity, self.n_jobs)
