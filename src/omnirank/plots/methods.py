"""Pictures that compare methods: the critical-difference diagram, and several measures as a radar."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.text import counted
from omnirank.plots.style import (
    BAR,
    CHOSEN,
    FAINT,
    GRID,
    INK,
    colour_scale,
    finish,
    new_axes,
    no_frame,
    set_title,
    short_names,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from omnirank.evaluation.statistics import Comparison

_BAND = "#b9cfe6"
# Heights in units of a line of text, downwards from the axis.
_LINE = 1.0
_BAR = 0.42
# Characters of a name, and inches of one.
_LONGEST = 44
_CHARACTER = 0.09
_COLOURS = ("#3b6ea5", "#c2571a", "#4f8a4c", "#8a5ca8", "#b5973a", "#5aa5b5", "#a8536b", "#6b7785")


def plot_critical_difference(comparison: Comparison, ax: Axes | None = None, *, title: str | None = None) -> Axes:
    """Draw average ranks on a line, best at the left, and join methods that do not differ significantly.

    With a control, the band marks average ranks that do not differ from the control's. Where Friedman's test does not
    reject, one bar joins all methods and no critical distance is shown.

    Parameters
    ----------
    comparison : Comparison
        What `omnirank.evaluation.statistics.compare_methods` returned.
    ax : Axes, optional
        Where to draw; by default a new figure outside pyplot (no display is needed).
    title : str, optional
        Title; by default the p value of the test of all methods.

    Returns
    -------
    Axes
        Its ``figure`` has ``savefig``.

    References
    ----------
    J. Demsar: Statistical comparisons of classifiers over multiple data sets. JMLR 7 (2006).

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.evaluation.statistics import compare_methods
    >>> from omnirank.plots import plot_critical_difference
    >>> table = pd.DataFrame({"a": [0.9, 0.8, 0.9], "b": [0.7, 0.6, 0.5], "c": [0.6, 0.7, 0.4]})
    >>> ax = plot_critical_difference(compare_methods(table, larger_is_better=True))
    >>> sorted(text.get_text() for text in ax.texts if text.get_text() in "abc")
    ['a', 'b', 'c']
    """
    ranks = comparison.average_ranks
    k = len(ranks)
    bars = _bars(comparison)
    n_levels = 1 + max((level for *_, level in bars), default=-1)
    top = 0.55 + _BAR * n_levels  # where the names begin, below the bars
    n_rows = math.ceil(k / 2)
    depth = top + _LINE * n_rows
    names = short_names([str(name) for name in ranks.index], _LONGEST)
    if ax is None:
        # room for the names at both sides, and for the numbers of many methods between them
        sides = max(map(len, names[:n_rows])) + max(map(len, names[n_rows:]))
        ax = new_axes(width=3.2 + 0.08 * k + _CHARACTER * sides, height=1.1 + 0.24 * depth)
    _draw_axis(ax, k)
    if _has_distance(comparison):
        _draw_distance(ax, comparison, k)
    for start, end, level in bars:
        y = 0.45 + _BAR * level
        over = 0.005 * (k - 1)
        ax.plot([start - over, end + over], [y, y], color=BAR, linewidth=4.0, solid_capstyle="round", zorder=4)
    _draw_names(ax, comparison, names, n_rows, top)
    pad = 0.04 * (k - 1)
    ax.set_xlim(1 - pad, k + pad)
    ax.set_ylim(depth + 0.2, -2.4 if _has_distance(comparison) else -1.2)
    ax.set_xticks([])
    ax.set_yticks([])
    no_frame(ax)
    set_title(ax, _title(comparison) if title is None else title)
    return ax


def _title(comparison: Comparison) -> str:
    test = "Wilcoxon" if len(comparison.average_ranks) == 2 else "Friedman"
    return (
        f"average ranks on {counted(comparison.friedman.n_datasets, 'data set')}, {test} p = {comparison.p_value:.2g}"
    )


def _has_distance(comparison: Comparison) -> bool:
    """Whether the critical distance means anything: methods differ, and there are more than two."""
    return comparison.rejected and len(comparison.average_ranks) > 2


def _bars(comparison: Comparison) -> list[tuple[float, float, int]]:
    """Start, end and level of the bars that join methods; bars on one level do not touch."""
    ranks = comparison.average_ranks
    groups = comparison.groups if comparison.control is None else ()
    if not comparison.rejected:
        groups = (tuple(ranks.index),)
    found: list[tuple[float, float, int]] = []
    ends: list[float] = []
    for group in groups:
        start, end = float(ranks[group[0]]), float(ranks[group[-1]])
        if len(group) < 2:
            continue
        level = next((i for i, taken in enumerate(ends) if taken + 0.15 < start), len(ends))
        ends[level : level + 1] = [end]
        found.append((start, end, level))
    return found


def _draw_axis(ax: Axes, k: int) -> None:
    ax.plot([1, k], [0, 0], color=INK, linewidth=1.2, zorder=3)
    step = max(1, math.ceil(k / 20))
    for tick in range(1, k + 1):
        ax.plot([tick, tick], [0, -0.22], color=INK, linewidth=1.0, zorder=3)
        if (tick - 1) % step == 0:
            ax.text(tick, -0.34, str(tick), ha="center", va="bottom", fontsize="small", color=INK)


def _draw_distance(ax: Axes, comparison: Comparison, k: int) -> None:
    """The critical distance as a bar above the axis, or as the band around the control."""
    distance = comparison.critical_distance
    if comparison.control is not None:
        centre = float(comparison.average_ranks[comparison.control])
        low, high = max(1.0, centre - distance), min(float(k), centre + distance)
        ax.fill_between([low, high], -0.2, 0.2, color=_BAND, linewidth=0, zorder=0)
        text = f"CD = {distance:.3f} around {comparison.control}"
        ax.text(1, -1.5, text, ha="left", va="bottom", fontsize="small", color=FAINT, parse_math=False)
        return
    end = min(1 + distance, float(k))
    ax.plot([1, end], [-1.35, -1.35], color=INK, linewidth=1.2)
    for edge in (1.0, end):
        ax.plot([edge, edge], [-1.5, -1.2], color=INK, linewidth=1.2)
    ax.text((1 + end) / 2, -1.5, f"CD = {distance:.3f}", ha="center", va="bottom", fontsize="small", color=FAINT)


def _draw_names(ax: Axes, comparison: Comparison, names: Sequence[str], n_rows: int, top: float) -> None:
    """Names to the left and right of the axis, outermost ranks in the first row, so that no lines cross."""
    ranks = comparison.average_ranks
    k = len(ranks)
    for place, (name, rank) in enumerate(ranks.items()):
        is_left = place < n_rows
        row = place if is_left else k - 1 - place
        y = top + _LINE * (row + 0.5)
        edge = 1 - 0.04 * (k - 1) if is_left else k + 0.04 * (k - 1)
        ax.plot([rank, rank, edge], [0, y, y], color=INK, linewidth=0.9, zorder=1, clip_on=False)
        outer, inner, shift = ("right", "left", -4) if is_left else ("left", "right", 4)
        at: dict[str, Any] = {"xy": (edge, y), "textcoords": "offset points", "annotation_clip": False}
        style: dict[str, Any] = {"weight": "bold" if name == comparison.control else "normal", "color": INK}
        ax.annotate(names[place], xytext=(shift, 0), ha=outer, va="center", parse_math=False, **at, **style)
        small: dict[str, Any] = {"fontsize": "x-small", "color": FAINT}
        ax.annotate(f"{rank:.2f}", xytext=(-shift, 1), ha=inner, va="bottom", **at, **small)


def plot_radar(ranks: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw average ranks of methods as polygons over axes that are measures: rank 1 is at the centre.

    Parameters
    ----------
    ranks : DataFrame
        As `StudyResults.ranks` returns them: one row per method, one column per measure.
    ax : Axes, optional
        Where to draw, with ordinary (not polar) coordinates; by default a new figure.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.plots import plot_radar
    >>> table = pd.DataFrame({"accuracy": [1.0, 2.0], "rrmse": [1.2, 1.8], "seconds": [2.0, 1.0]}, index=["a", "b"])
    >>> [text.get_text() for text in plot_radar(table).get_legend().get_texts()]
    ['a', 'b']
    """
    from omnirank.tasks.measuring import MEASURES

    n = len(ranks.columns)
    if n < 3 or ranks.empty:
        raise DataError(f"a radar has at least three measures and one method, not {n} and {len(ranks)}")
    ax = new_axes(width=6.0, height=5.0) if ax is None else ax
    angles = np.pi / 2 - 2 * np.pi * np.arange(n) / n
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    for radius in (1 / 3, 2 / 3, 1.0):
        ring = radius * np.vstack([directions, directions[:1]])
        ax.plot(ring[:, 0], ring[:, 1], color=GRID, linewidth=0.8, zorder=1)
    for (x, y), name in zip(directions, ranks.columns, strict=True):
        ax.plot([0, x], [0, y], color=GRID, linewidth=0.8, zorder=1)
        side = "center" if abs(x) < 0.2 else "left" if x > 0 else "right"
        above = "bottom" if y > 0.2 else "top" if y < -0.2 else "center"
        measure = MEASURES.get(str(name))
        text = f"{name if measure is None else measure.title}\nbest: {ranks[name].min():.3g}"
        ax.text(1.08 * x, 1.08 * y, text, ha=side, va=above, fontsize="small", color=FAINT, parse_math=False)
    radii = (ranks.to_numpy(dtype=np.float64) - 1) / max(1, len(ranks) - 1)
    for i, (name, row) in enumerate(zip(ranks.index, radii, strict=True)):
        ends = row[:, None] * directions
        ring = np.vstack([ends, ends[:1]])
        colour = _COLOURS[i % len(_COLOURS)]
        ax.fill(ring[:, 0], ring[:, 1], color=colour, alpha=0.08, zorder=2)
        ax.plot(ring[:, 0], ring[:, 1], color=colour, linewidth=1.6, label=str(name), zorder=3)
    ax.set_aspect("equal")
    ax.set_xlim(-1.5, 1.5)
    ax.set_ylim(-1.35, 1.35)
    ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return finish(ax)


def plot_grid(table: pd.DataFrame, ax: Axes | None = None, *, label: str = "average rank") -> Axes:
    """Draw a table over two parameters as a heat map, the smallest value in a frame.

    Parameters
    ----------
    table : DataFrame
        As `StudyResults.rank_grid` returns it: one row per value of a parameter, one column per value of another.
    ax : Axes, optional
        Where to draw; by default a new figure.
    label : str
        What the cells are.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.plots import plot_grid
    >>> ranks = pd.DataFrame([[2.5, 1.0], [3.0, 3.5]], pd.Index([1, 5], name="k"), pd.Index([10, 50], name="trees"))
    >>> ax = plot_grid(ranks)
    >>> ax.get_xlabel(), ax.get_ylabel(), [text.get_text() for text in ax.texts]
    ('trees', 'k', ['2.5', '1', '3', '3.5'])
    """
    cells = table.to_numpy(dtype=np.float64)
    if np.isnan(cells).all():
        raise DataError("there is no cell to draw")
    n_rows, n_columns = cells.shape
    ax = new_axes(2.5 + 0.6 * n_columns, 1.5 + 0.4 * n_rows) if ax is None else ax
    image = ax.imshow(cells, cmap="Blues_r", aspect="auto", interpolation="nearest")
    middle = (np.nanmin(cells) + np.nanmax(cells)) / 2
    for i, j in np.ndindex(cells.shape):
        if not np.isnan(cells[i, j]):
            colour = "white" if cells[i, j] < middle else INK
            ax.text(j, i, f"{cells[i, j]:.3g}", ha="center", va="center", fontsize="small", color=colour)
    i, j = np.unravel_index(np.nanargmin(cells), cells.shape)
    frame = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5], [-0.5, -0.5]]) * 0.94 + (j, i)
    ax.plot(frame[:, 0], frame[:, 1], color=CHOSEN, linewidth=2.0)
    ax.set_xticks(range(n_columns), [f"{value:g}" if np.isreal(value) else value for value in table.columns])
    ax.set_yticks(range(n_rows), [f"{value:g}" if np.isreal(value) else value for value in table.index])
    ax.set_xlabel(str(table.columns.name))
    ax.set_ylabel(str(table.index.name))
    ax.tick_params(length=0)
    no_frame(ax)
    colour_scale(ax, image, label)
    return ax


def plot_differences(x: pd.Series, y: pd.Series, ax: Axes | None = None) -> Axes:
    """Draw two differences as one point per data set, such as the gains of two methods over a third.

    Parameters
    ----------
    x, y : Series
        By data set, named as the axes are to be called; data sets without both are left out.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.plots import plot_differences
    >>> half = pd.Series({"iris": 0.1, "wine": -0.2}, name="half")
    >>> ax = plot_differences(half, pd.Series({"iris": 0.2}, name="auto"))
    >>> ax.get_xlabel(), [text.get_text() for text in ax.texts]
    ('half', ['iris'])
    """
    both = x.rename("x").to_frame().join(y.rename("y"), how="inner").dropna()
    if both.empty:
        raise DataError("no data set has both differences")
    ax = new_axes(5.0, 4.5) if ax is None else ax
    ax.axhline(0, color=GRID, zorder=1)
    ax.axvline(0, color=GRID, zorder=1)
    cells = both.to_numpy()
    low, high = min(0.0, cells.min()), max(0.0, cells.max())
    margin = 0.15 * (high - low) or 1.0
    ends = (low - margin, high + margin)
    ax.plot(ends, ends, color=GRID, linestyle="--", zorder=1)
    ax.plot(both["x"], both["y"], "o", color=BAR, markersize=4.5, zorder=3)
    names = short_names([str(name) for name in both.index])
    for name, *place in zip(names, both["x"], both["y"], strict=True):
        ax.annotate(
            name, (place[0], place[1]), xytext=(4, 3), textcoords="offset points", fontsize="x-small", parse_math=False
        )
    ax.set_xlim(*ends)
    ax.set_ylim(*ends)
    return finish(ax, str(x.name), str(y.name), grid="both")
