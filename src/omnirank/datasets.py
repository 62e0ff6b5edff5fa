"""Sample data, and generated data of which it is known what matters."""

from omnirank.data.generators import (
    Relevance,
    make_classification,
    make_clusters,
    make_friedman,
    make_hierarchical_multi_label,
    make_mixed_targets,
    make_multi_label,
    make_multi_target_classification,
    make_multi_target_regression,
    make_regression,
    make_xor,
)
from omnirank.data.samples import list_samples, load_sample
from omnirank.relational.dataset import make_movies

__all__ = [
    "Relevance",
    "list_samples",
    "load_sample",
    "make_classification",
    "make_clusters",
    "make_friedman",
    "make_hierarchical_multi_label",
    "make_mixed_targets",
    "make_movies",
    "make_multi_label",
    "make_multi_target_classification",
    "make_multi_target_regression",
    "make_regression",
    "make_xor",
]
