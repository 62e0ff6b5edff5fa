"""Pictures of methods and predictions as points: time against error with the front, measured against predicted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.types import ArrayLike
from omnirank.plots.style import BAR, CHOSEN, FAINT, finish, new_axes, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_trade_off(times: ArrayLike, errors: ArrayLike, names: Sequence[str], ax: Axes | None = None) -> Axes:
    """Draw methods by two costs, such as time and error, and the front of those that none beats in both.

    Parameters
    ----------
    times, errors : array-like of shape (n_methods,)
        Costs: smaller is better. Times are above 0 and on a logarithmic scale.
    names : sequence of str
        The methods.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Examples
    --------
    >>> from omnirank.plots import plot_trade_off
    >>> ax = plot_trade_off([1.0, 10.0, 20.0], [0.4, 0.2, 0.3], ["filter", "trees", "slow"])
    >>> ax.lines[0].get_xdata().tolist()
    [1.0, 10.0]
    """
    costs = np.column_stack([times, errors]).astype(np.float64)
    if len(names) != len(costs) or not np.isfinite(costs).all() or (costs[:, 0] <= 0).any():
        raise DataError("give a name, a time above 0 and an error for each method")
    order = np.lexsort((costs[:, 1], costs[:, 0]))
    best = np.minimum.accumulate(np.r_[np.inf, costs[order, 1]])[:-1]
    front = order[costs[order, 1] < best]
    ax = new_axes(width=5.8, height=4.0) if ax is None else ax
    ax.step(*costs[front].T, where="post", color=CHOSEN, linewidth=1.2, label="front", zorder=2)
    on_front = np.isin(np.arange(len(costs)), front)
    ax.scatter(costs[:, 0], costs[:, 1], s=30, color=np.where(on_front, BAR, FAINT).tolist(), zorder=3)
    for (time, error), name in zip(costs, short_names(names, 24), strict=True):
        ax.annotate(name, (time, error), (4, 4), textcoords="offset points", fontsize="small", parse_math=False)
    ax.set_xscale("log")
    ax.margins(x=0.15)
    return finish(ax, "time (s)", "error", grid="both", legend="best")


def plot_predictions(
    measured: ArrayLike, predicted: ArrayLike, ax: Axes | None = None, *, when: Any = None, what: str = "value"
) -> Axes:
    """Draw measured and predicted numbers over time; without times as points beside the line of equal values.

    Parameters
    ----------
    measured, predicted : array-like of shape (n_examples,)
        The numbers; a NaN leaves a gap.
    ax : Axes, optional
        Where to draw; by default a new figure.
    when : array-like, optional
        Times or numbers, in rising order.
    what : str
        What the numbers are.

    Examples
    --------
    >>> from omnirank.plots import plot_predictions
    >>> ax = plot_predictions([1.0, 2.0], [1.5, 1.8], when=[0, 1], what="power")
    >>> [line.get_label() for line in ax.lines], ax.get_ylabel()
    (['measured', 'predicted'], 'power')
    """
    truth, guess = np.asarray(measured, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    if truth.ndim != 1 or truth.shape != guess.shape or (when is not None and len(np.asarray(when)) != len(truth)):
        raise DataError("give a predicted number, and a time if any, for each measured one")
    if when is not None:
        ax = new_axes(width=7.0, height=3.0) if ax is None else ax
        ax.plot(np.asarray(when), truth, color=BAR, linewidth=1.4, label="measured")
        ax.plot(np.asarray(when), guess, color=CHOSEN, linewidth=1.1, label="predicted")
        return finish(ax, "", what, grid="y", legend="best")
    ax = new_axes(width=4.4, height=4.4) if ax is None else ax
    ax.scatter(truth, guess, s=14, color=BAR, alpha=0.6, linewidths=0, zorder=3)
    ax.axline((float(np.nanmean(truth)),) * 2, slope=1, color=FAINT, linestyle="--", linewidth=1.0, label="equal")
    return finish(ax, f"measured {what}", f"predicted {what}", grid="both", legend="upper left")
