"""Several measures of several methods in one picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from omnirank.core.errors import DataError
from omnirank.plots.style import FAINT, GRID, new_axes, set_title

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_COLOURS = ("#3b6ea5", "#c2571a", "#4f8a4c", "#8a5ca8", "#b5973a", "#5aa5b5", "#a8536b", "#6b7785")


def plot_radar(table: pd.DataFrame, ax: Axes | None = None, *, title: str | None = None) -> Axes:
    """Draw methods as polygons over axes that are measures; further out is better.

    Each axis runs from the worst value of the table to the best: measures have different units, and of some the smaller
    value is the better one.

    Parameters
    ----------
    table : DataFrame
        One row per method, one column per measure, named as in `omnirank.measures.MEASURES`; of columns with
        other names larger is better.
    ax : Axes, optional
        Where to draw, with ordinary (not polar) coordinates; by default a new figure.
    title : str, optional
        Title.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.plots import plot_radar
    >>> table = pd.DataFrame({"accuracy": [0.9, 0.8], "f1_macro": [0.7, 0.6], "log_loss": [0.3, 0.9]}, index=["a", "b"])
    >>> [text.get_text() for text in plot_radar(table).get_legend().get_texts()]
    ['a', 'b']
    """
    from omnirank.tasks.measuring import MEASURES

    n = len(table.columns)
    if n < 3 or table.empty:
        raise DataError(f"a radar has at least three measures and one method, not {n} and {len(table)}")
    values = table.to_numpy(dtype=np.float64)
    known = [MEASURES.get(str(name)) for name in table.columns]
    signs = np.array([1.0 if measure is None or measure.larger_is_better else -1.0 for measure in known])
    radii = _radii(values * signs)
    ax = new_axes(width=6.0, height=5.0) if ax is None else ax
    angles = np.pi / 2 - 2 * np.pi * np.arange(n) / n
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    for radius in (1 / 3, 2 / 3, 1.0):
        ring = radius * np.vstack([directions, directions[:1]])
        ax.plot(ring[:, 0], ring[:, 1], color=GRID, linewidth=0.8, zorder=1)
    for (x, y), name, measure, column in zip(directions, table.columns, known, values.T, strict=True):
        ax.plot([0, x], [0, y], color=GRID, linewidth=0.8, zorder=1)
        best = np.nanmax(column) if measure is None or measure.larger_is_better else np.nanmin(column)
        side = "center" if abs(x) < 0.2 else "left" if x > 0 else "right"
        above = "bottom" if y > 0.2 else "top" if y < -0.2 else "center"
        text = f"{name if measure is None else measure.title}\n{best:.3g}"
        ax.text(1.08 * x, 1.08 * y, text, ha=side, va=above, fontsize="small", color=FAINT, parse_math=False)
    for i, (name, row) in enumerate(zip(table.index, radii, strict=True)):
        ends = row[:, None] * directions
        ring = np.vstack([ends, ends[:1]])
        colour = _COLOURS[i % len(_COLOURS)]
        ax.fill(ring[:, 0], ring[:, 1], color=colour, alpha=0.08, zorder=2)
        ax.plot(ring[:, 0], ring[:, 1], color=colour, linewidth=1.6, label=str(name), zorder=3)
    ax.set_aspect("equal")
    ax.set_xlim(-1.5, 1.5)
    ax.set_ylim(-1.35, 1.35)
    ax.set_axis_off()
    ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    if title is not None:
        set_title(ax, title)
    return ax


def _radii(better: np.ndarray) -> np.ndarray:
    """From 0.2 for the worst of a column to 1 for the best; 1 where all are the same, 0 where a value is not known."""
    low, high = np.nanmin(better, axis=0), np.nanmax(better, axis=0)
    span = high - low
    share = np.divide(better - low, span, out=np.ones_like(better), where=span > 0)
    return np.where(np.isnan(better), 0.0, 0.2 + 0.8 * share)
