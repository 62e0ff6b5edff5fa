"""SPEC: features judged by the spectrum of the graph of all examples."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from omnirank.core.errors import ParameterError
from omnirank.core.parameters import Domain, choice, count
from omnirank.core.types import RandomState
from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.task_registry import TaskNames
from omnirank.graphs.affinity import full_heat, refuse_dense
from omnirank.graphs.columns import GraphColumns
from omnirank.graphs.quotients import laplacian_scores, leading_scores, spectral_scores
from omnirank.rankers._graph import QuotientRanker

# Affinities below it are lost beside the 1 of an example and itself.
_ROUNDING = 1e-12


class SPECRanker(QuotientRanker):
    r"""Rank features without a target by spectral feature selection (SPEC).

    With the affinities :math:`S_{ij} = \exp(-\|x_i - x_j\|^2 / t)` of all pairs, the eigenpairs
    :math:`(\lambda_j, u_j)` of :math:`\hat L = D^{-1/2} (D - S) D^{-1/2}`, smallest first, and
    :math:`a_j = \hat f' u_j`, :math:`\hat f = D^{1/2} f / \|D^{1/2} f\|`, the score of feature f is one of

    .. math:: \varphi_1 = \sum_j a_j^2 \lambda_j, \quad \varphi_2 = \frac{\sum_{j \ge 2} a_j^2 \lambda_j}{1 - a_1^2},
        \quad \varphi_3 = \sum_{j=2}^{k} (2 - \lambda_j) a_j^2

    Small values of the first two are good, large ones of the third. :math:`\varphi_2` is the Laplacian score on the
    same graph. No eigenvectors are needed for the first two. Features are standardised and nominal ones taken apart
    as in `LaplacianRanker`.

    Parameters
    ----------
    form : {"phi2", "phi1", "phi3"}
        The score.
    n_vectors : int
        The number k of :math:`\varphi_3`.
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
    >>> [om.SPECRanker(form).fit(X).ranking_.top(1) for form in ("phi1", "phi2", "phi3")]
    [['x2'], ['x2'], ['x2']]
    """

    method = "spec"
    supported_tasks = TaskNames("none")
    supported_supervision = ("unsupervised",)

    _parameter_checks: ClassVar[dict[str, Domain]] = {
        "form": choice("phi1", "phi2", "phi3"),
        "n_vectors": count(2),
        "n_neighbors": choice(None) | count(1),
        "orientation": choice("original", "reversed"),
    }

    def __init__(
        self,
        form: str = "phi2",
        n_vectors: int = 5,
        n_neighbors: int | None = None,
        width: float | str = "auto",
        orientation: str = "original",
        task: str = "auto",
        hierarchy: Hierarchy | None = None,
        n_features_to_select: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(task, hierarchy, n_features_to_select, random_state, n_jobs)
        self.form = form
        self.n_vectors = n_vectors
        self.n_neighbors = n_neighbors
        self.width = width
        self.orientation = orientation

    def _column_scores(self, dataset: Dataset, columns: GraphColumns) -> np.ndarray:
        scores = spectral_scores if self.form == "phi1" else laplacian_scores
        return scores(columns.values, self._affinity(columns.values))

    def _column_importances(self, dataset: Dataset, columns: GraphColumns) -> np.ndarray:
        if self.form == "phi3":
            found = leading_scores(columns.values, self._affinity(columns.values), self.n_vectors)
            self.criterion_ = columns.by_feature(found)
        else:
            found = super()._column_importances(dataset, columns)
        return found if self.orientation == "original" else found.max() + found.min() - found

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
