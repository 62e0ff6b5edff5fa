"""Classification: one nominal target."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnirank.data.target import decode
from omnirank.measures.classes import (
    ACCURACY,
    CLASS_MEASURES,
    F1_MACRO,
    class_f1_macro,
    class_measures,
    confusion_matrix,
)
from omnirank.tasks.base import Task, majority_codes, wrong_share
from omnirank.tasks.case import Case
from omnirank.tasks.columns import PrototypeColumns

__all__ = ["Classification"]


class Classification(Task):
    """One class an example; the impurity is the Gini index, the prototype the class frequencies.

    Error: share of misclassified examples. Distance: 1[y != y'].

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.tasks import get_task
    >>> task = get_task("classification")
    >>> columns = task.columns(target_from(["no", "yes"])[0])
    >>> task.predict(np.array([[0.2, 0.8]]), columns).tolist()
    ['yes']
    """

    name = "classification"
    kind = "classes"
    single = True
    measures = (F1_MACRO, ACCURACY, *CLASS_MEASURES)
    default_neighbors = 20
    # M5 charges for every leaf: few examples of many classes would be left with the root.
    default_pruning = None

    def predict(self, means: np.ndarray, columns: PrototypeColumns, threshold: float = 0.5) -> Any:
        """Return the most frequent class."""
        return decode_levels(majority_codes(means, columns, 0), columns.levels[0])

    def error(self, truth: PrototypeColumns, means: np.ndarray, columns: PrototypeColumns) -> float:
        """Return the share of misclassified examples."""
        return wrong_share(truth, means, 0)

    def loss(self, truth: PrototypeColumns, means: np.ndarray, columns: PrototypeColumns) -> float:
        """Return 1 - macro F1."""
        return 1.0 - class_f1_macro(confusion_matrix(*Case(truth, means, columns).classes(0)))

    def measure(self, case: Case) -> dict[str, float]:
        """Return the measures of the predicted class."""
        return class_measures(*case.classes(0))


def decode_levels(codes: np.ndarray, levels: tuple[Any, ...] | None) -> np.ndarray:
    """Return the levels of codes, of the type that users gave them in; strings as NumPy holds them, not as objects.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.tasks.classification import decode_levels
    >>> decode_levels(np.array([1, 0]), (3, 7)).tolist()
    [7, 3]
    >>> decode_levels(np.array([1, 0]), ("no", "yes"))
    array(['yes', 'no'], dtype='<U3')
    """
    found = decode(codes, levels or ())
    # NumPy takes trailing null characters off its strings
    plain = bool(levels) and all(isinstance(level, str) and not level.endswith("\0") for level in levels or ())
    return found.astype(np.array(levels).dtype) if plain and not (codes < 0).any() else found
