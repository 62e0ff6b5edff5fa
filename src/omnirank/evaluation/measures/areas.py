"""Areas under curves of performance over the number of labelled examples."""

from __future__ import annotations

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.types import ArrayLike


def curve_area(values: ArrayLike, positions: ArrayLike | None = None) -> float:
    """Return the area under a curve, divided by its width: the mean height by the trapezoidal rule.

    Parameters
    ----------
    values : array-like
        Performance at each point, in order.
    positions : array-like, optional
        Where the points lie, increasing; by default equally far apart whatever the numbers of labelled examples are,
        so that few labels weigh more.

    Returns
    -------
    float
        The value itself for a single point.

    Examples
    --------
    Five numbers of labelled examples; the first and the last count half:

    >>> from omnirank.evaluation.measures import curve_area
    >>> curve_area([0.2, 0.4, 0.6, 0.6, 0.6])
    0.5
    """
    heights = np.asarray(values, dtype=np.float64)
    if heights.ndim != 1 or not len(heights):
        raise DataError(f"a curve is a list of at least one value, not an array of shape {heights.shape}")
    places = np.arange(len(heights), dtype=np.float64) if positions is None else np.asarray(positions, dtype=np.float64)
    if places.shape != heights.shape or (np.diff(places) <= 0).any():
        raise DataError("a curve needs one position per value, in increasing order")
    if len(heights) == 1:
        return float(heights[0])
    trapezoids = np.diff(places) * (heights[1:] + heights[:-1]) / 2
    return float(trapezoids.sum() / (places[-1] - places[0]))


def area_difference(
    first: ArrayLike, second: ArrayLike, larger_is_better: bool, positions: ArrayLike | None = None
) -> float:
    """Return how much better the first curve is than the second: the difference of their areas, > 0 if it is better.

    Parameters
    ----------
    first, second : array-like
        Performance at the same points.
    larger_is_better : bool
        Direction of the measure.
    positions : array-like, optional
        As in `curve_area`.

    Examples
    --------
    >>> from omnirank.evaluation.measures import area_difference
    >>> area_difference([0.5, 0.5], [0.75, 0.75], larger_is_better=False)
    0.25
    """
    difference = curve_area(first, positions) - curve_area(second, positions)
    return difference if larger_is_better else -difference
