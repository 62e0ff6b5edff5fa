"""Clustering: no target; the features take its place."""

from __future__ import annotations

from omnirank.tasks.mixed import MixedTargets

__all__ = ["Clustering"]


class Clustering(MixedTargets):
    """No target: the features are what clusters are made of and what a leaf's prototype describes.

    Examples
    --------
    >>> from omnirank.tasks import get_task
    >>> get_task("clustering").default_measure
    'top_features_rmse'
    """

    name = "clustering"
    default_measure = "top_features_rmse"
