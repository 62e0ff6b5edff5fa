"""Multi-label classification: a set of labels per example, which may be closed under a hierarchy."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from omnirank.core.errors import ParameterError
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.target import Target
from omnirank.measures.labels import (
    CURVE_MEASURES,
    MEAN_AUROC,
    ORDER_MEASURES,
    POOLED_AUPRC,
    SET_MEASURES,
    hamming_loss,
    label_curve_measures,
    label_order_measures,
    label_set_measures,
    mean_auroc,
    pooled_auprc,
)
from omnirank.measures.table import Measure, reaches, smaller
from omnirank.tasks.base import Case, Task
from omnirank.tasks.columns import PrototypeColumns, prototype_columns
from omnirank.tasks.target_distances import LabelSetDistances, TargetDistance

_WEIGHTED_LOSS = smaller("weighted_hamming_loss", "weighted Hamming loss", "mean over labels of w(l) times wrong share")


class MultiLabel(Task):
    """One label set per example; labels are 0/1 variables, and the prototype holds their frequencies.

    Error: Hamming loss. Distances: Hamming, accuracy (Jaccard), F1, subset accuracy.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.tasks import get_task
    >>> task = get_task("multi-label")
    >>> columns = task.columns(target_from(np.array([[1, 0], [1, 1]]))[0])
    >>> task.predict(np.array([[0.5, 0.4]]), columns).tolist()
    [[1, 0]]
    """

    name = "multi-label"
    kind = "labels"
    measures: ClassVar[tuple[Measure, ...]] = (
        POOLED_AUPRC,
        *SET_MEASURES,
        *ORDER_MEASURES,
        MEAN_AUROC,
        *CURVE_MEASURES,
    )
    default_neighbors = 15
    default_pruning = "plain"
    distances: ClassVar[tuple[str, ...]] = ("hamming", "accuracy", "f1", "subset")

    def predict(self, means: np.ndarray, columns: PrototypeColumns, threshold: float = 0.5) -> Any:
        """Return 1 for every label whose frequency is at least the threshold."""
        return reaches(means, threshold).astype(np.int8)

    def error(self, truth: PrototypeColumns, means: np.ndarray, columns: PrototypeColumns) -> float:
        """Return the Hamming loss, (1/L) sum_l w_l mean_x 1[l in exactly one of the sets], w = 1.

        The mean is over the examples in which the label is known; a label that is never known counts 0.
        """
        return hamming_loss(truth.dense(), reaches(means), columns.weights)

    def loss(self, truth: PrototypeColumns, means: np.ndarray, columns: PrototypeColumns) -> float:
        """Return 1 - pooled AUPRC; 1 where no label is relevant."""
        return float(1.0 - np.nan_to_num(pooled_auprc(truth.matrix, means)))

    def measure(self, case: Case) -> dict[str, float]:
        """Return the measures of the predicted label sets, and of the order in which frequencies put labels."""
        truth = case.truth.dense()
        return (
            label_set_measures(truth, reaches(case.means, case.threshold))
            | label_order_measures(truth, case.means, case.variant, case.threshold)
            | label_curve_measures(truth, case.means)
            | {"mean_auroc": mean_auroc(truth, case.means)}
        )

    def distance(
        self, target: Target, kind: str, hierarchy: Hierarchy | None = None, w0: float = 0.75
    ) -> TargetDistance:
        """Return how far apart label sets are."""
        return LabelSetDistances(target, kind, hierarchy, w0)


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
