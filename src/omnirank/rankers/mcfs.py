"""MCFS: features that explain the clusters of a graph, few at a time."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from omnirank.core.errors import ParameterError
from omnirank.core.parameters import Domain, count
from omnirank.core.types import RandomState
from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.task_registry import TaskNames
from omnirank.graphs.columns import GraphColumns
from omnirank.graphs.regressions import embedding, isolated, sparse_fits
from omnirank.rankers._graph import N_NEIGHBORS, WIDTH, GraphRanker


class MCFSRanker(GraphRanker):
    r"""Rank features without a target by multi-cluster feature selection (MCFS).

    The graph of neighbours is laid out by the solutions :math:`y_q` of :math:`L y = \lambda D y` with the smallest
    eigenvalues but that of the constant solution: clusters lie apart in them. A regression with an L1 penalty
    explains each of them by few columns,

    .. math:: a_q = \arg\min_a \|y_q - X a\|^2 + \beta \|a\|_1, \quad |\{i: a_{qi} \ne 0\}| \le d

    with :math:`\beta` where the path of least angles ends, and the importance of column i is
    :math:`\max_q |a_{qi}|`. Columns that explain nothing have 0. Affinities and columns are those of
    `LaplacianRanker`; coefficients of levels count as those of columns with variance 1.

    Parameters
    ----------
    n_clusters : int
        Number of solutions.
    n_coefficients : int
        The number d; at most as many as there are columns, and fewer than examples.
    n_neighbors : int
        Number of neighbours.
    width : float or "auto"
        Width of the heat kernel; "auto": the median squared distance of two examples (of 1000 examples, where there are
        more).
    task, hierarchy, n_features_to_select, random_state, n_jobs
        As in every ranker. The method is deterministic: the seed is not used.

    Notes
    -----
    Weights of examples have no place in it: neighbours are counted.

    References
    ----------
    Cai, Zhang, He: Unsupervised feature selection for multi-cluster data. KDD 2010.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 8))
    >>> X[:, 2] += 8 * (np.arange(200) % 2)
    >>> om.MCFSRanker(n_clusters=1).fit(X).ranking_.top(1)
    ['x2']
    """

    method = "mcfs"
    supported_tasks = TaskNames("none")
    supported_supervision = ("unsupervised",)

    _parameter_checks: ClassVar[dict[str, Domain]] = {
        "n_clusters": count(1),
        "n_coefficients": count(1),
        "n_neighbors": N_NEIGHBORS,
        "width": WIDTH,
    }

    def __init__(
        self,
        n_clusters: int = 5,
        n_coefficients: int = 50,
        n_neighbors: int = 5,
        width: float | str = "auto",
        task: str = "auto",
        hierarchy: Hierarchy | None = None,
        n_features_to_select: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(task, hierarchy, n_features_to_select, random_state, n_jobs)
        self.n_clusters = n_clusters
        self.n_coefficients = n_coefficients
        self.n_neighbors = n_neighbors
        self.width = width

    def _feature_scores(self, dataset: Dataset, columns: GraphColumns) -> np.ndarray:
        values = columns.values
        affinity = self._neighbor_affinity(values)
        self._check_width(affinity)
        vectors = embedding(affinity, min(self.n_clusters, len(values) - 1))
        n_coefficients = min(self.n_coefficients, values.shape[1], len(values) - 1)
        found = sparse_fits(values, vectors, n_coefficients, self.n_jobs)
        return columns.by_feature(columns.effects(np.abs(found).max(axis=1)))

    def _check_width(self, affinity: Any) -> None:
        """Refuse a width at which most examples have no neighbours left: nothing would tell clusters apart."""
        apart = isolated(affinity)
        if not isinstance(self.width, str) and 2 * apart.sum() > len(apart):
            advice = f"{int(apart.sum())} of {len(apart)} examples have no neighbours in so narrow a kernel"
            raise ParameterError("width", self.width, f"{advice}: choose a larger one, or 'auto'")
