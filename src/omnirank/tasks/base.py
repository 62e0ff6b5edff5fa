"""What a task is: how its target becomes columns, and how leaf means become predictions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from omnirank.data.hierarchy import Hierarchy
from omnirank.data.target import Target
from omnirank.tasks.columns import PrototypeColumns, prototype_columns

__all__ = ["CLASS_TASKS", "LABEL_TASKS", "Task"]

# Targets of classes, and of label sets.
CLASS_TASKS = ("classification", "multi-target-classification")
LABEL_TASKS = ("multi-label", "hierarchical-multi-label")


class Task(ABC):
    """One kind of target.

    Attributes
    ----------
    name : str
        As in ``task=`` of every estimator.
    default_measure : str
        Measure by which rankings and predictors are judged unless told otherwise.
    distances : tuple of str
        Target distances that Relief may use; the first is the default.
    """

    name: ClassVar[str]
    default_measure: ClassVar[str]
    distances: ClassVar[tuple[str, ...]] = ("hamming",)

    def columns(self, target: Target, hierarchy: Hierarchy | None = None, w0: float = 0.75) -> PrototypeColumns:
        """Return the target as prototype columns, with the weights of its variables."""
        return prototype_columns(target)

    @abstractmethod
    def predict(self, means: np.ndarray, columns: PrototypeColumns, threshold: float = 0.5) -> Any:
        """Return what leaf means (n, P) predict, as users write the target."""

    @abstractmethod
    def error(self, truth: PrototypeColumns, means: np.ndarray, columns: PrototypeColumns) -> float:
        """Return the error of leaf means on examples with a known target (0 = perfect).

        Parameters
        ----------
        truth : PrototypeColumns
            The coded target of the examples.
        means : ndarray (n, P)
            Their leaves' means.
        columns : PrototypeColumns
            The coded training target, for the normalisation.
        """


def majority_codes(means: np.ndarray, columns: PrototypeColumns, variable: int) -> np.ndarray:
    """Return the most frequent level of a nominal variable; ties go to the first level."""
    return np.argmax(means[:, columns.variable == variable], axis=1)


def wrong_share(truth: PrototypeColumns, means: np.ndarray, variable: int) -> float:
    """Return the share of examples with a known level whose majority level is another."""
    own = truth.variable == variable
    actual = truth.matrix[:, own]
    known = ~np.isnan(actual[:, 0])
    if not known.any():
        return 0.0
    return float(np.mean(np.argmax(actual[known], axis=1) != np.argmax(means[known][:, own], axis=1)))


def mean_squared_error(truth: PrototypeColumns, means: np.ndarray, column: int, unit: float = 1.0) -> float:
    """Return the mean squared error of one column over its known values, both divided by a unit."""
    actual = truth.matrix[:, column] / unit
    known = ~np.isnan(actual)
    return float(np.mean((actual[known] - means[known, column] / unit) ** 2)) if known.any() else 0.0
