"""Features that explain the clusters of a graph: MCFS, NDFS and UDFS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.parameters import Domain, count
from omnirank.core.seeds import root_entropy, stream
from omnirank.data.dataset import Dataset
from omnirank.graphs.affinity import MOST_DENSE
from omnirank.graphs.columns import GraphColumns
from omnirank.graphs.regressions import (
    cluster_indicators,
    discriminative_fit,
    embedding,
    isolated,
    local_scatter,
    nonnegative_fit,
    sparse_fits,
)
from omnirank.rankers.laplacian import GraphRanker


@dataclass(eq=False, repr=False)
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
    >>> om.rankers.MCFSRanker(n_clusters=1).fit(X).ranking_.top(1)
    ['x2']
    """

    method = "mcfs"

    _parameter_checks: ClassVar[dict[str, Domain]] = {"n_coefficients": count(1)}

    n_clusters: int = 5
    n_coefficients: int = 50
    n_neighbors: int = 5
    width: float | str = "auto"

    def _feature_scores(self, dataset: Dataset, columns: GraphColumns) -> np.ndarray:
        values = columns.values
        affinity = self._neighbor_affinity(values)
        self._check_width(affinity)
        vectors = embedding(affinity, min(self.n_clusters, len(values) - 1))
        n_coefficients = min(self.n_coefficients, values.shape[1], len(values) - 1)
        fit = sparse_fits(values, vectors, n_coefficients, self.n_jobs)
        return columns.by_feature(columns.effects(np.abs(fit).max(axis=1)))

    def _check_width(self, affinity: Any) -> None:
        """Refuse a width at which most examples have no neighbours left: nothing would tell clusters apart."""
        apart = isolated(affinity)
        if not isinstance(self.width, str) and 2 * apart.sum() > len(apart):
            advice = f"{int(apart.sum())} of {len(apart)} examples have no neighbours in so narrow a kernel"
            raise ParameterError("width", self.width, f"{advice}: choose a larger one, or 'auto'")


@dataclass(eq=False, repr=False)
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
    >>> om.rankers.NDFSRanker(n_clusters=2, random_state=0).fit(X).ranking_.top(1)
    ['x2']
    """

    method = "ndfs"

    n_clusters: int = 5
    alpha: float = 1.0
    beta: float = 1.0
    gamma: float = 1e9
    n_neighbors: int = 5
    width: float | str = "auto"
    max_iter: int = 1000
    tol: float = 1e-4

    def _feature_scores(self, dataset: Dataset, columns: GraphColumns) -> np.ndarray:
        values = columns.values
        affinity = self._neighbor_affinity(values)
        seed = int(stream(root_entropy(self.random_state), 0).integers(2**31))
        n_clusters = min(self.n_clusters, len(np.unique(values, axis=0)))
        start = cluster_indicators(values, n_clusters, seed)
        weights = self.alpha, self.beta, self.gamma
        fit = nonnegative_fit(values, affinity, start, *weights, self.max_iter, self.tol)
        return columns.by_feature(columns.effects(self._coefficient_norms(fit)))


@dataclass(eq=False, repr=False)
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
    >>> om.rankers.UDFSRanker(n_clusters=1).fit(X).ranking_.top(1)
    ['x2']
    """

    method = "udfs"

    n_clusters: int = 5
    gamma: float = 0.1
    n_neighbors: int = 5
    max_iter: int = 1000
    tol: float = 1e-4

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
        fit = discriminative_fit(scatter, n_vectors, self.gamma, self.max_iter, self.tol)
        return self._coefficient_norms(fit)
