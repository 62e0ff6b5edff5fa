"""Multi-target classification: several nominal targets."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnirank.data.target import side_by_side
from omnirank.measures.classes import ACCURACY, CLASS_MEASURES, F1_MACRO, SUBSET_ACCURACY, class_measures, exact_match
from omnirank.measures.table import mean_defined
from omnirank.tasks.base import Task, majority_codes, wrong_share
from omnirank.tasks.case import Case
from omnirank.tasks.classification import decode_levels
from omnirank.tasks.columns import PrototypeColumns

__all__ = ["MultiTargetClassification"]


class MultiTargetClassification(Task):
    """Several classes an example; impurity, error and distance are means over the targets.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.tasks import get_task
    >>> task = get_task("multi-target-classification")
    >>> columns = task.columns(target_from([["a", "x"], ["b", "y"]])[0])
    >>> task.predict(np.array([[0.9, 0.1, 0.3, 0.7]]), columns).tolist()
    [['a', 'y']]
    """

    name = "multi-target-classification"
    kind = "classes"
    measures = (F1_MACRO, ACCURACY, SUBSET_ACCURACY, *CLASS_MEASURES)
    default_neighbors = 20
    default_pruning = None

    def predict(self, means: np.ndarray, columns: PrototypeColumns, threshold: float = 0.5) -> Any:
        """Return the most frequent class of every target."""
        return side_by_side(
            [decode_levels(majority_codes(means, columns, v), lev) for v, lev in enumerate(columns.levels)]
        )

    def error(self, truth: PrototypeColumns, means: np.ndarray, columns: PrototypeColumns) -> float:
        """Return the mean over targets of the share of misclassified examples."""
        return float(np.mean([wrong_share(truth, means, v) for v in range(columns.n_variables)]))

    def measure(self, case: Case) -> dict[str, float]:
        """Return the means over targets of the measures of a class, and the share of examples wholly right."""
        parts = [case.classes(v) for v in range(case.truth.n_variables)]
        found = [class_measures(*part) for part in parts]
        means = {name: mean_defined([one[name] for one in found]) for name in found[0]}
        return means | {"subset_accuracy": exact_match(parts)}
