"""Hierarchical multi-label classification: label sets closed under the ancestors of a tree or DAG."""

from __future__ import annotations

from typing import ClassVar

from omnirank.core.errors import ParameterError
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.target import Target
from omnirank.measures.decisions import reaches
from omnirank.measures.label_curves import CURVE_MEASURES, POOLED_AUPRC, label_curve_measures
from omnirank.measures.label_sets import hamming_loss
from omnirank.measures.table import Measure, smaller
from omnirank.tasks.case import Case
from omnirank.tasks.columns import PrototypeColumns, prototype_columns
from omnirank.tasks.multi_label import MultiLabel

_WEIGHTED_LOSS = smaller("weighted_hamming_loss", "weighted Hamming loss", "mean over labels of w(l) times wrong share")


class HierarchicalMultiLabel(MultiLabel):
    """Multi-label classification with label weights w(l) = w0 mean(w(parents)), 1 for labels without parents.

    A parent is at least as frequent as its children in every leaf, so one threshold for all labels gives
    predictions that obey the hierarchy. Error: Hamming loss weighted by w(l).

    Examples
    --------
    >>> from omnirank.data.hierarchy import Hierarchy
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.tasks import get_task
    >>> hierarchy = Hierarchy.from_paths(["animal", "animal/cat"])
    >>> target, _ = target_from([{"animal/cat"}, {"animal"}], hierarchy=hierarchy)
    >>> get_task("hierarchical-multi-label").columns(target, hierarchy).weights.tolist()
    [1.0, 0.75]
    """

    name = "hierarchical-multi-label"
    hierarchical = True
    measures: ClassVar[tuple[Measure, ...]] = (POOLED_AUPRC, *CURVE_MEASURES, _WEIGHTED_LOSS)
    default_neighbors = 10
    normalizes_targets = False
    distances: ClassVar[tuple[str, ...]] = ("f1", "hamming", "accuracy", "subset", "euclidean-mu")

    def columns(self, target: Target, hierarchy: Hierarchy | None = None, w0: float = 0.75) -> PrototypeColumns:
        """Return the labels as columns, weighted by their place in the hierarchy."""
        if hierarchy is None:
            raise ParameterError("hierarchical multi-label classification needs a hierarchy")
        return prototype_columns(target, hierarchy.weights(w0))

    def measure(self, case: Case) -> dict[str, float]:
        """Return the areas under curves of labels that occur, and the Hamming loss with the labels' weights."""
        truth = case.truth.dense()
        loss = hamming_loss(truth, reaches(case.means, case.threshold), case.training.weights)
        return label_curve_measures(truth, case.means, only_present=True) | {"weighted_hamming_loss": loss}
