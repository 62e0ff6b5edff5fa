"""The Laplacian score for a number as target, known for some of the examples."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.parameters import Domain, number
from omnirank.core.types import RandomState
from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.task_registry import TaskNames
from omnirank.graphs.affinity import neighbor_edges
from omnirank.graphs.columns import GraphColumns
from omnirank.graphs.constraints import semi_supervised_scores, supervised_scores
from omnirank.rankers._graph import N_NEIGHBORS, QuotientRanker
from omnirank.tasks import get_task


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
    >>> om.STRLaplaceRanker().fit(X, y).ranking_.top(1)
    ['x3']
    """

    method = "str-laplace"
    supported_tasks = TaskNames("numbers", single=True)
    supported_supervision = ("supervised", "semi-supervised")

    _parameter_checks: ClassVar[dict[str, Domain]] = {
        "n_neighbors": N_NEIGHBORS,
        "labelled_weight": number(above=0, most=1e6),
    }

    def __init__(
        self,
        n_neighbors: int = 5,
        labelled_weight: float = 5.0,
        task: str = "auto",
        hierarchy: Hierarchy | None = None,
        n_features_to_select: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(task, hierarchy, n_features_to_select, random_state, n_jobs)
        self.n_neighbors = n_neighbors
        self.labelled_weight = labelled_weight

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
