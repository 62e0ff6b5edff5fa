"""What a measure is; means of what is defined; from frequencies to classes and label sets.

The measures themselves are in `labels` (classes and label sets) and `variables` (numbers), with a table each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from omnirank.core.types import ArrayLike

# Frequencies closer than this are equal: weighted sums in another order differ by far less, and examples by more.
EQUAL = 1e-9


@dataclass(frozen=True)
class Measure:
    """What a measure is.

    Parameters
    ----------
    name : str
        Key in what `measure` returns.
    title : str
        What papers call it.
    definition : str
        One line.
    larger_is_better : bool
        Which way is better.

    Examples
    --------
    >>> from omnirank.measures import MEASURES
    >>> MEASURES["rrmse"].larger_is_better, MEASURES["rrmse"].title
    (False, 'RRMSE')
    """

    name: str
    title: str
    definition: str
    larger_is_better: bool


def larger(name: str, title: str, definition: str) -> Measure:
    """Describe a measure that is larger for better predictions."""
    return Measure(name, title, definition, True)


def smaller(name: str, title: str, definition: str) -> Measure:
    """Describe a measure that is smaller for better predictions."""
    return Measure(name, title, definition, False)


# Of classes and of labels.
F1_MACRO = larger("f1_macro", "macro F1", "mean over classes or labels of 2PR/(P + R)")
SUBSET_ACCURACY = larger("subset_accuracy", "subset accuracy", "share of examples predicted wholly right")


def mean_defined(values: ArrayLike) -> float:
    """Return the mean of the values that are defined; NaN where none is.

    Examples
    --------
    >>> from omnirank.measures.table import mean_defined
    >>> mean_defined([1.0, float("nan"), 2.0])
    1.5
    """
    values = np.asarray(values)
    defined = values[~np.isnan(values)]
    return float(np.mean(defined)) if len(defined) else float("nan")


def reaches(frequencies: Any, threshold: float = 0.5) -> Any:
    """Return whether frequencies (an array, or sparse if the threshold is positive) are at least that, up to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.measures.table import reaches
    >>> half = (0.7 + 0.1 + 0.1) / 1.8
    >>> half >= 0.5, reaches(np.array([half, 0.49])).tolist()
    (False, [True, False])
    """
    return frequencies >= threshold - EQUAL


def first_largest(frequencies: np.ndarray) -> np.ndarray:
    """Return the position of the largest frequency in each row, the first of those that are equal up to rounding.

    Without columns it is -1: a class of which no value was ever known.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.measures.table import first_largest
    >>> first_largest(np.array([[0.5 - 1e-16, 0.5], [0.2, 0.8]])).tolist()
    [0, 1]
    >>> first_largest(np.empty((1, 0))).tolist()
    [-1]
    """
    if not frequencies.shape[1]:
        return np.full(len(frequencies), -1)
    return np.argmax(frequencies >= frequencies.max(axis=1, keepdims=True) - EQUAL, axis=1)
