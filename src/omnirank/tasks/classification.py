"""Classification: one nominal target, or several (multi-target classification)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from omnirank.data.target import decode, side_by_side
from omnirank.measures import classes
from omnirank.measures.table import Measure, mean_defined
from omnirank.tasks.base import Case, Task, majority_codes, wrong_share
from omnirank.tasks.columns import PrototypeColumns


class MultiTargetClassification(Task):
    """Several classes per example; impurity, error and distance are means over the targets.

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
    measures: ClassVar[tuple[Measure, ...]] = (
        classes.F1_MACRO,
        classes.ACCURACY,
        classes.SUBSET_ACCURACY,
        *classes.CLASS_MEASURES,
    )
    default_neighbors = 20
    # M5 charges for every leaf: few examples of many classes would be left with the root.
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
        found = [classes.class_measures(*part) for part in parts]
        means = {name: mean_defined([one[name] for one in found]) for name in found[0]}
        return means | {"subset_accuracy": classes.exact_match(parts)}


class Classification(MultiTargetClassification):
    """One class per example; the impurity is the Gini index, the prototype the class frequencies.

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
    single = True
    measures = (classes.F1_MACRO, classes.ACCURACY, *classes.CLASS_MEASURES)

    def predict(self, means: np.ndarray, columns: PrototypeColumns, threshold: float = 0.5) -> Any:
        """Return the most frequent class."""
        return decode_levels(majority_codes(means, columns, 0), columns.levels[0])

    def loss(self, truth: PrototypeColumns, means: np.ndarray, columns: PrototypeColumns) -> float:
        """Return 1 - macro F1."""
        return 1.0 - classes.class_f1_macro(classes.confusion_matrix(*Case(truth, means, columns).classes(0)))


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
