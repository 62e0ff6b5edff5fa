"""UDFS: features of coordinates in which neighbourhoods are told apart."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.parameters import Domain, count, number
from omnirank.core.types import RandomState
from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.task_registry import TaskNames
from omnirank.graphs.affinity import MOST_DENSE
from omnirank.graphs.columns import GraphColumns
from omnirank.graphs.regressions import discriminative_fit, local_scatter, row_norms
from omnirank.rankers._convergence import warn_unless
from omnirank.rankers._graph import N_NEIGHBORS, PART, GraphRanker


class UDFSRanker(GraphRanker):
    r"""Rank features without a target by unsupervised discriminative feature selection (UDFS).

    Coordinates W of the columns X are sought in which the neighbourhoods of examples are small against the whole,

    .. math:: \min_{W' W = I} \mathrm{Tr}(W' M W) + \gamma \sum_i \|w_i\|, \quad
        M = X' \left(\sum_i S_i H (\tilde X_i \tilde X_i' + \gamma I)^{-1} H S_i'\right) X

    where :math:`\tilde X_i` holds example i and its k nearest, centred by H, and :math:`S_i` puts them in their
    places. The importance of column i is :math:`\|w_i\|`. Neighbours are those of `LaplacianRanker`; the columns X
    all have variance 1, and one level of a nominal feature of three or more is left out, because columns that add up
    to 0 would be the best coordinate of all.

    Parameters
    ----------
    n_clusters : int
        Number of coordinates; at most as many as there are columns.
    gamma : float
        The number :math:`\gamma`.
    n_neighbors : int
        The number k.
    max_iter : int
        How many iterations there may be; a warning says if they were not enough.
    tol : float
        The relative change of the objective at which to stop.
    task, hierarchy, n_features_to_select, random_state, n_jobs
        As in every ranker. The method is deterministic: the seed is not used.

    Attributes
    ----------
    objectives_ : list of float
        The objective after each iteration.
    n_iter_ : int
        Number of iterations.

    Notes
    -----
    Pairs of C columns take 24 C^2 bytes, and every iteration a decomposition of that size; more than 20,000 columns are
    refused. Weights of examples have no place in it: neighbours are counted.

    References
    ----------
    Yang, Shen, Ma, Huang, Zhou: l2,1-norm regularized discriminative feature selection for unsupervised learning.
    IJCAI 2011.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 8))
    >>> X[:, 2] += 8 * (np.arange(200) % 2)
    >>> om.UDFSRanker(n_clusters=1).fit(X).ranking_.top(1)
    ['x2']
    """

    method = "udfs"
    supported_tasks = TaskNames("none")
    supported_supervision = ("unsupervised",)

    _parameter_checks: ClassVar[dict[str, Domain]] = {
        "n_clusters": count(1),
        "gamma": PART,
        "n_neighbors": N_NEIGHBORS,
        "max_iter": count(2),
        "tol": number(0),
    }

    def __init__(
        self,
        n_clusters: int = 5,
        gamma: float = 0.1,
        n_neighbors: int = 5,
        max_iter: int = 1000,
        tol: float = 1e-4,
        task: str = "auto",
        hierarchy: Hierarchy | None = None,
        n_features_to_select: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(task, hierarchy, n_features_to_select, random_state, n_jobs)
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol

    def _feature_scores(self, dataset: Dataset, columns: GraphColumns) -> np.ndarray:
        chosen = columns.independent()
        return chosen.by_feature(self._coordinate_norms(columns.values, chosen))

    def _coordinate_norms(self, values: np.ndarray, chosen: GraphColumns) -> np.ndarray:
        n, n_columns = chosen.values.shape
        if n_columns > MOST_DENSE:
            size = 24 * n_columns**2 / 2**30
            raise DataError(
                f"udfs holds matrices of all pairs of columns: {size:.0f} GB for {n_columns}; more than {MOST_DENSE} "
                "are refused: take fewer features"
            )
        unit = chosen.values / np.sqrt(chosen.variances)
        scatter = local_scatter(values, unit, min(self.n_neighbors, n - 1), self.gamma, self.n_jobs)
        n_vectors = min(self.n_clusters, n_columns)
        found = discriminative_fit(scatter, n_vectors, self.gamma, self.max_iter, self.tol)
        warn_unless(found.converged, "udfs", self.max_iter)
        self.objectives_, self.n_iter_ = found.objectives, len(found.objectives)
        return row_norms(found.coefficients)
