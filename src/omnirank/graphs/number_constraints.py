"""Laplacian scores for a number as target: neighbours that are labelled are as near as their targets."""

from __future__ import annotations

import numpy as np

from omnirank.graphs.affinity import Edges, neighbor_edges
from omnirank.graphs.quotients import laplacian_scores


def semi_supervised_scores(
    values: np.ndarray, edges: Edges, y: np.ndarray, n_features: int, labelled_weight: float
) -> np.ndarray:
    r"""Return the Laplacian score of each column on the graph of neighbours, with targets where both are known.

    .. math:: S_{ij} = \begin{cases} C \exp(-(y_i - y_j)^2 / t) & \text{both are labelled} \\
        \exp(-\|x_i - x_j\|^2 / (D t)) & \text{otherwise} \end{cases}

    where t is the mean of what is divided by it, over all pairs of neighbours.

    Parameters
    ----------
    values : ndarray of shape (n, C)
        The columns.
    edges : Edges
        Pairs of neighbours.
    y : ndarray
        Standardised targets, NaN where unknown.
    n_features : int
        The number D.
    labelled_weight : float
        The number C.
    """
    apart = (y[edges.first] - y[edges.second]) ** 2
    both = ~np.isnan(apart)
    distances = np.where(both, apart, edges.squared / n_features)
    weights = np.where(both, labelled_weight, 1.0) * np.exp(-distances / _width(distances))
    return laplacian_scores(values, edges.weighted(weights))


def supervised_scores(values: np.ndarray, y: np.ndarray, k: int, n_jobs: int | None = None) -> np.ndarray:
    r"""Return the Laplacian score of each column on the graph of the k nearest in the target.

    :math:`S_{ij} = \exp(-(y_i - y_j)^2 / t)`, where t is the mean squared difference of neighbours.

    Parameters
    ----------
    values : ndarray of shape (n, C)
        The columns of labelled examples.
    y : ndarray
        Their standardised targets.
    k : int
        Number of neighbours.
    n_jobs : int or None
        Number of workers.
    """
    edges = neighbor_edges(y[:, None], k, n_jobs)
    return laplacian_scores(values, edges.heat(_width(edges.squared)))


def _width(distances: np.ndarray) -> float:
    return float(distances.mean()) or 1.0
