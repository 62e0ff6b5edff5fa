"""The Laplacian score: features that vary little between neighbours."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from omnirank.core.parameters import Domain, choice
from omnirank.core.types import RandomState
from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.task_registry import TaskNames
from omnirank.graphs.affinity import neighbor_edges
from omnirank.graphs.columns import GraphColumns
from omnirank.graphs.quotients import laplacian_scores
from omnirank.rankers._graph import QuotientRanker


class LaplacianRanker(QuotientRanker):
    r"""Rank features without a target by the Laplacian score: how little they vary between neighbours.

    With the affinities :math:`S_{ij} = \exp(-\|x_i - x_j\|^2 / t)` of examples of which one is among the k nearest of
    the other (all others have 0), :math:`D = \mathrm{diag}(S 1)` and :math:`L = D - S`, the score of feature f is

    .. math:: LS(f) = \frac{\tilde f' L \tilde f}{\tilde f' D \tilde f}, \quad
        \tilde f = f - \frac{f' D 1}{1' D 1} 1

    Small scores are good; the importance is S + s - LS(f) with the largest and smallest score S and s. Features are
    standardised; a nominal one is a column per level, whose variances add up to 1, and has the mean of their
    scores, weighted by these. Missing cells take the mean or the most frequent level. Constant features have the
    worst score.

    Parameters
    ----------
    n_neighbors : int
        Number of neighbours k.
    kernel : {"heat", "binary"}
        Affinity of neighbours: as above, or 1.
    width : float or "auto"
        The number t; "auto": the median squared distance of two examples (of 1000 examples, where there are more).
    task, hierarchy, n_features_to_select, random_state, n_jobs
        As in every ranker. The method is deterministic: the seed is not used.

    Attributes
    ----------
    criterion_ : ndarray
        The scores LS, smaller is better.

    Notes
    -----
    Weights of examples have no place in it: neighbours are counted. Time is that of the neighbours, the square of the
    number of examples times that of the columns; memory is that of the columns.

    References
    ----------
    He, Cai, Niyogi: Laplacian score for feature selection. NIPS 2005.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> X[:, 2] += 6 * (np.arange(200) % 2)
    >>> om.LaplacianRanker().fit(X).ranking_.top(1)
    ['x2']
    """

    method = "laplacian"
    supported_tasks = TaskNames("none")
    supported_supervision = ("unsupervised",)

    _parameter_checks: ClassVar[dict[str, Domain]] = {"kernel": choice("heat", "binary")}

    def __init__(
        self,
        n_neighbors: int = 5,
        kernel: str = "heat",
        width: float | str = "auto",
        task: str = "auto",
        hierarchy: Hierarchy | None = None,
        n_features_to_select: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(task, hierarchy, n_features_to_select, random_state, n_jobs)
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.width = width

    def _column_scores(self, dataset: Dataset, columns: GraphColumns) -> np.ndarray:
        if self.kernel == "heat":
            return laplacian_scores(columns.values, self._neighbor_affinity(columns.values))
        edges = neighbor_edges(columns.values, self.n_neighbors, self.n_jobs)
        return laplacian_scores(columns.values, edges.weighted(np.ones(len(edges.first))))
