"""What rankers on graphs of examples share: the columns they see, and one score per feature from those of columns."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from omnirank.core.blas_threads import one_blas_thread
from omnirank.core.parameters import Domain, choice, count, number
from omnirank.core.ranking.ranking import Ranking
from omnirank.data.dataset import Dataset
from omnirank.graphs.affinity import kernel_width, neighbor_edges
from omnirank.graphs.columns import GraphColumns, graph_columns
from omnirank.rankers.base import BaseRanker

N_NEIGHBORS = count(1)
# Weights of the parts of an objective: between these all their products are regular.
PART = number(1e-6, 1e10)
WIDTH = choice("auto") | number(above=0)


class GraphRanker(BaseRanker):
    """Base of the rankers on graphs: subclasses compute the importances of features from their columns."""

    method: ClassVar[str]
    n_neighbors: Any
    width: float | str

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
                warnings.warn("all features are constant: all scores are 0", UserWarning, stacklevel=4)
                scores = np.zeros(dataset.n_features)
        return self._ranking(dataset, scores, self.method)

    def _neighbor_affinity(self, values: np.ndarray) -> Any:
        """Return the affinities of neighbours, in a heat kernel that is as wide as the median squared distance."""
        edges = neighbor_edges(values, self.n_neighbors, self.n_jobs)
        return edges.heat(self._kernel_width(values, 0.5))

    def _kernel_width(self, values: np.ndarray, quantile: float) -> float:
        return kernel_width(values, quantile) if isinstance(self.width, str) else float(self.width)


class QuotientRanker(GraphRanker):
    """Base of those whose score is small for good features: S + s - score is the importance.

    S and s are the largest and the smallest score of a column.
    """

    _parameter_checks: ClassVar[dict[str, Domain]] = {"n_neighbors": N_NEIGHBORS, "width": WIDTH}

    @abstractmethod
    def _column_scores(self, dataset: Dataset, columns: GraphColumns) -> np.ndarray:
        """Return the score of each column, smaller is better."""

    def _feature_scores(self, dataset: Dataset, columns: GraphColumns) -> np.ndarray:
        return columns.by_feature(self._column_importances(dataset, columns))

    def _column_importances(self, dataset: Dataset, columns: GraphColumns) -> np.ndarray:
        """Return the importance of each column, larger is better, and keep the scores."""
        found = self._column_scores(dataset, columns)
        self.criterion_ = -columns.by_feature(-found)
        return found.max() + found.min() - found
