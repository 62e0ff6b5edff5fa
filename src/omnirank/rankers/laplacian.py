"""Rankers on graphs of examples: what they share, the Laplacian score, and SPEC."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from omnirank.core.blas_threads import one_blas_thread
from omnirank.core.errors import ParameterError
from omnirank.core.parameters import Domain, choice, count, number
from omnirank.core.ranking.ranking import Ranking
from omnirank.data.dataset import Dataset
from omnirank.data.notes import caller_outside
from omnirank.data.task_registry import TaskNames
from omnirank.graphs.affinity import (
    full_heat,
    kernel_width,
    laplacian_scores,
    neighbor_edges,
    refuse_dense,
    spectral_scores,
)
from omnirank.graphs.columns import GraphColumns, graph_columns
from omnirank.graphs.regressions import Fit, row_norms
from omnirank.rankers.base import BaseRanker, warn_unless

# Weights of the parts of an objective: between these all their products are regular.
PART = number(1e-6, 1e10)


class GraphRanker(BaseRanker):
    """Base of the rankers on graphs: subclasses compute the importances of features from their columns."""

    method: ClassVar[str]
    supported_tasks: ClassVar[Sequence[str]] = TaskNames("none")
    supported_supervision: ClassVar[Sequence[str]] = ("unsupervised",)
    _parameter_checks: ClassVar[dict[str, Domain]] = {
        **dict.fromkeys(("alpha", "beta", "gamma", "mu", "label_weight"), PART),
        **dict.fromkeys(("n_neighbors", "n_clusters"), count(1)),
        "width": choice("auto") | number(above=0),
        "max_iter": count(2),
        "tol": number(0),
    }
    n_neighbors: Any
    width: float | str
    max_iter: int
    n_iter_: int

    @abstractmethod
    def _feature_scores(self, dataset: Dataset, columns: GraphColumns) -> np.ndarray:
        """Return the importance of each feature, larger is better; some columns vary."""

    def _rank(self, dataset: Dataset) -> Ranking:
        # products of matrices add in another order with more threads
        with one_blas_thread():
            columns = graph_columns(dataset.features)
            if len(columns.feature):
                scores = self._feature_scores(dataset, columns)
            else:
                warnings.warn("all features are constant: all scores are 0", UserWarning, stacklevel=caller_outside())
                scores = np.zeros(dataset.n_features)
        return self._ranking(dataset, scores, self.method)

    def _neighbor_affinity(self, values: np.ndarray) -> Any:
        """Return the affinities of neighbours, in a heat kernel that is as wide as the median squared distance."""
        edges = neighbor_edges(values, self.n_neighbors, self.n_jobs)
        return edges.heat(self._kernel_width(values, 0.5))

    def _coefficient_norms(self, fit: Fit) -> np.ndarray:
        """Return the norms of the coefficients of each column, after noting how the iteration ended."""
        warn_unless(fit.converged, self.method, self.max_iter)
        self.n_iter_ = fit.n_iterations
        if fit.objectives:
            self.objectives_ = fit.objectives
        return row_norms(fit.coefficients)

    def _kernel_width(self, values: np.ndarray, quantile: float) -> float:
        return kernel_width(values, quantile) if isinstance(self.width, str) else float(self.width)


class QuotientRanker(GraphRanker):
    """Base of those whose score is small for good features: S + s - score is the importance.

    S and s are the largest and the smallest score of a column.
    """

    @abstractmethod
    def _column_scores(self, dataset: Dataset, columns: GraphColumns) -> np.ndarray:
        """Return the score of each column, smaller is better."""

    def _feature_scores(self, dataset: Dataset, columns: GraphColumns) -> np.ndarray:
        return columns.by_feature(self._column_importances(dataset, columns))

    def _column_importances(self, dataset: Dataset, columns: GraphColumns) -> np.ndarray:
        """Return the importance of each column, larger is better, and keep the scores."""
        scores = self._column_scores(dataset, columns)
        self.criterion_ = -columns.by_feature(-scores)
        return scores.max() + scores.min() - scores


@dataclass(eq=False, repr=False)
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

    n_neighbors: int = 5
    width: float | str = "auto"

    def _column_scores(self, dataset: Dataset, columns: GraphColumns) -> np.ndarray:
        return laplacian_scores(columns.values, self._neighbor_affinity(columns.values))


# Affinities below it are lost beside the 1 of an example and itself.
_ROUNDING = 1e-12


@dataclass(eq=False, repr=False)
class SPECRanker(QuotientRanker):
    r"""Rank features without a target by spectral feature selection (SPEC).

    With the affinities :math:`S_{ij} = \exp(-\|x_i - x_j\|^2 / t)` of all pairs, the eigenpairs
    :math:`(\lambda_j, u_j)` of :math:`\hat L = D^{-1/2} (D - S) D^{-1/2}`, smallest first, and
    :math:`a_j = \hat f' u_j`, :math:`\hat f = D^{1/2} f / \|D^{1/2} f\|`, the score of feature f is one of

    .. math:: \varphi_1 = \sum_j a_j^2 \lambda_j, \quad \varphi_2 = \frac{\sum_{j \ge 2} a_j^2 \lambda_j}{1 - a_1^2}

    Small values are good. :math:`\varphi_2` is the Laplacian score on the same graph. No eigenvectors are needed.
    Features are standardised and nominal ones taken apart as in `LaplacianRanker`.

    Parameters
    ----------
    form : {"phi2", "phi1"}
        The score.
    n_neighbors : int or None
        None: affinities of all pairs. A number: only of examples of which one is among so many nearest of the other,
        with 0 for all others and for an example and itself.
    width : float or "auto"
        The number t; "auto": the median squared distance of two examples (of 1000 examples, where there are more).
    orientation : {"original", "reversed"}
        Which end is good: as above and in the original paper, or the other one. A widespread implementation ranks
        :math:`\varphi_2` reversed.
    task, hierarchy, n_features_to_select, random_state, n_jobs
        As in every ranker. The method is deterministic: the seed is not used.

    Attributes
    ----------
    criterion_ : ndarray
        The values of the form for each feature.

    Notes
    -----
    All pairs of n examples take 24 n^2 bytes; more than 20,000 examples are refused, unless ``n_neighbors`` is given.
    Weights of examples have no place in it.

    References
    ----------
    Zhao, Liu: Spectral feature selection for supervised and unsupervised learning. ICML 2007.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> X[:, 2] += 6 * (np.arange(200) % 2)
    >>> [om.rankers.SPECRanker(form).fit(X).ranking_.top(1) for form in ("phi1", "phi2")]
    [['x2'], ['x2']]
    """

    method = "spec"

    _parameter_checks: ClassVar[dict[str, Domain]] = {
        "form": choice("phi1", "phi2"),
        "n_neighbors": choice(None) | count(1),
        "orientation": choice("original", "reversed"),
    }

    form: str = "phi2"
    n_neighbors: int | None = None
    width: float | str = "auto"
    orientation: str = "original"

    def _column_scores(self, dataset: Dataset, columns: GraphColumns) -> np.ndarray:
        scores = spectral_scores if self.form == "phi1" else laplacian_scores
        return scores(columns.values, self._affinity(columns.values))

    def _column_importances(self, dataset: Dataset, columns: GraphColumns) -> np.ndarray:
        scores = super()._column_importances(dataset, columns)
        return scores if self.orientation == "original" else scores.max() + scores.min() - scores

    def _affinity(self, values: np.ndarray) -> Any:
        if self.n_neighbors is None:
            refuse_dense(len(values), 3, "SPEC with all pairs", "set n_neighbors, or take fewer examples")
            return self._different(full_heat(values, self._kernel_width(values, 0.5), self.n_jobs))
        return self._neighbor_affinity(values)

    def _different(self, affinity: np.ndarray) -> np.ndarray:
        """Return the affinities; refuse a width by which no example is like another, or all are alike."""
        np.fill_diagonal(affinity, 0.0)
        if affinity.max() < _ROUNDING:
            raise ParameterError("width", self.width, "all affinities vanish: choose a larger one, or 'auto'")
        np.fill_diagonal(affinity, 1.0)
        if affinity.min() > 1 - _ROUNDING:
            raise ParameterError("width", self.width, "all affinities are equal: choose a smaller one, or 'auto'")
        return affinity
