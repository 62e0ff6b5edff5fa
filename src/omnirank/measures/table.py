"""What a measure is: its names, which way is better, and how it is defined. Families list theirs beside the code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from omnirank.core.types import ArrayLike


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
