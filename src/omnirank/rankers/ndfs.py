"""NDFS: clusters and the features that explain them, found together."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from omnirank.core.parameters import Domain, count, number
from omnirank.core.seeds import root_entropy, stream
from omnirank.core.types import RandomState
from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.task_registry import TaskNames
from omnirank.graphs.columns import GraphColumns
from omnirank.graphs.regressions import cluster_indicators, nonnegative_fit, row_norms
from omnirank.rankers._convergence import warn_unless
from omnirank.rankers._graph import N_NEIGHBORS, PART, WIDTH, GraphRanker


class NDFSRanker(GraphRanker):
    r"""Rank features without a target by non-negative discriminative feature selection (NDFS).

    Indicators F of clusters, which follow the graph of neighbours, and a regression W of them on the columns X are
    found together,

    .. math:: \min_{F \ge 0,\, F' F = I,\, W} \mathrm{Tr}(F' L F)
        + \alpha \left(\|X W - F\|^2 + \beta \sum_i \|w_i\|\right)

    and the importance of column i is :math:`\|w_i\|`. Steps for W and F alternate, from k-means clusters; a
    large :math:`\gamma` keeps F orthogonal. Affinities and columns are those of `LaplacianRanker`; coefficients of
    levels count as those of columns with variance 1.

    Parameters
    ----------
    n_clusters : int
        Number of clusters; at most as many as there are different examples.
    alpha, beta, gamma : float
        The weights of the regression, of its penalty, and of F's orthogonality.
    n_neighbors : int
        Number of neighbours.
    width : float or "auto"
        Width of the heat kernel; "auto": the median squared distance of two examples (of 1000 examples, where there are
        more).
    max_iter : int
        How many iterations there may be; a warning says if they were not enough.
    tol : float
        The relative change of the objective at which to stop.
    task, hierarchy, n_features_to_select, random_state, n_jobs
        As in every ranker. The seed is that of k-means.

    Attributes
    ----------
    objectives_ : list of float
        The objective after each iteration.
    n_iter_ : int
        Number of iterations.

    Notes
    -----
    Weights of examples have no place in it: neighbours are counted. An iteration takes the time of a system of as many
    equations as there are columns or examples, whichever is less.

    References
    ----------
    Li, Yang, Liu, Zhou, Lu: Unsupervised feature selection using nonnegative spectral analysis. AAAI 2012.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 8))
    >>> X[:, 2] += 8 * (np.arange(200) % 2)
    >>> om.NDFSRanker(n_clusters=2, random_state=0).fit(X).ranking_.top(1)
    ['x2']
    """

    method = "ndfs"
    supported_tasks = TaskNames("none")
    supported_supervision = ("unsupervised",)

    _parameter_checks: ClassVar[dict[str, Domain]] = {
        "n_clusters": count(1),
        "alpha": PART,
        "beta": PART,
        "gamma": PART,
        "n_neighbors": N_NEIGHBORS,
        "width": WIDTH,
        "max_iter": count(2),
        "tol": number(0),
    }

    def __init__(
        self,
        n_clusters: int = 5,
        alpha: float = 1.0,
        beta: float = 1.0,
        gamma: float = 1e9,
        n_neighbors: int = 5,
        width: float | str = "auto",
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
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.width = width
        self.max_iter = max_iter
        self.tol = tol

    def _feature_scores(self, dataset: Dataset, columns: GraphColumns) -> np.ndarray:
        values = columns.values
        affinity = self._neighbor_affinity(values)
        seed = int(stream(root_entropy(self.random_state), 0).integers(2**31))
        n_clusters = min(self.n_clusters, len(np.unique(values, axis=0)))
        start = cluster_indicators(values, n_clusters, seed)
        weights = self.alpha, self.beta, self.gamma
        found = nonnegative_fit(values, affinity, start, *weights, self.max_iter, self.tol)
        warn_unless(found.converged, "ndfs", self.max_iter)
        self.objectives_, self.n_iter_ = found.objectives, len(found.objectives)
        return columns.by_feature(columns.effects(row_norms(found.coefficients)))
