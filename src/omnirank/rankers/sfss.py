"""SFSS: labels of few examples spread over the graph of all, and the features that explain them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from omnirank.core.parameters import Domain, count, number
from omnirank.core.types import RandomState
from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.task_registry import TaskNames
from omnirank.graphs.affinity import refuse_dense
from omnirank.graphs.columns import GraphColumns
from omnirank.graphs.regressions import row_norms, spread_labels_fit
from omnirank.rankers._convergence import warn_unless
from omnirank.rankers._graph import N_NEIGHBORS, PART, WIDTH, GraphRanker
from omnirank.tasks import get_task


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
    >>> sorted(om.SFSSRanker(task="multi-label").fit(X, labels).ranking_.top(2))
    ['x1', 'x4']
    """

    method = "sfss"
    supported_tasks = TaskNames("classes", "labels")
    supported_supervision = ("supervised", "semi-supervised")

    _parameter_checks: ClassVar[dict[str, Domain]] = {
        "mu": PART,
        "gamma": PART,
        "label_weight": PART,
        "n_neighbors": N_NEIGHBORS,
        "width": WIDTH,
        "max_iter": count(2),
        "tol": number(0),
    }

    def __init__(
        self,
        mu: float = 1.0,
        gamma: float = 1.0,
        label_weight: float = 1e6,
        n_neighbors: int = 5,
        width: float | str = "auto",
        max_iter: int = 200,
        tol: float = 1e-4,
        task: str = "auto",
        hierarchy: Hierarchy | None = None,
        n_features_to_select: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(task, hierarchy, n_features_to_select, random_state, n_jobs)
        self.mu = mu
        self.gamma = gamma
        self.label_weight = label_weight
        self.n_neighbors = n_neighbors
        self.width = width
        self.max_iter = max_iter
        self.tol = tol

    def _feature_scores(self, dataset: Dataset, columns: GraphColumns) -> np.ndarray:
        values, labelled = columns.values, dataset.labelled
        refuse_dense(len(values), 4, "sfss", "take fewer examples, or the method s-cls")
        affinity = self._neighbor_affinity(values)
        numbers = self.mu, self.gamma, self.label_weight, self.max_iter, self.tol
        found = spread_labels_fit(values, affinity, known_labels(dataset), labelled, *numbers)
        warn_unless(found.converged, "sfss", self.max_iter)
        self.n_iter_ = found.n_iterations
        return columns.by_feature(columns.effects(row_norms(found.coefficients)))


def known_labels(dataset: Dataset) -> np.ndarray:
    """Return classes and labels as 0/1 columns: 0 for unlabelled examples, the mean for single unknown labels."""
    assert dataset.target is not None
    cells = get_task(dataset.task).columns(dataset.target, dataset.hierarchy).dense()
    known = ~np.isnan(cells)
    means = np.sum(cells, axis=0, where=known) / np.maximum(1, known.sum(axis=0))
    return np.where(known, cells, means) * dataset.labelled[:, None]
