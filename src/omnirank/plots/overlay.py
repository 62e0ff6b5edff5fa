"""Two rankings of the same features beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.parameters import check, count
from omnirank.core.ranking import Ranking
from omnirank.plots.style import BAR, CHOSEN, FAINT, INK, new_axes, set_title, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_overlay(
    first: Ranking,
    second: Ranking,
    ax: Axes | None = None,
    k: int = 20,
    *,
    labels: Sequence[str] | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the places of the k best features of two rankings, joined by lines.

    Level lines say that the rankings agree. Features that are among the top k of one ranking only end at the bottom of
    the other, with the rank that they have there.

    Parameters
    ----------
    first, second : Ranking
        Of the same features.
    ax : Axes, optional
        Where to draw; by default a new figure.
    k : int
        Number of top features of each.
    labels : sequence of two str, optional
        Names of the rankings; by default their methods.
    title : str, optional
        Title.

    Examples
    --------
    >>> from omnirank.core.ranking import Ranking
    >>> from omnirank.plots import plot_overlay
    >>> a = Ranking(["a", "b", "c"], [3.0, 2.0, 1.0], "genie3")
    >>> b = Ranking(["a", "b", "c"], [1.0, 3.0, 2.0], "relief")
    >>> ax = plot_overlay(a, b, k=2)
    >>> sorted(text.get_text() for text in ax.texts)
    ['1  a', '2  b', '3  c', 'a  3', 'b  1', 'c  2', 'genie3', 'relief']
    """
    check("k", k, count(1))
    if set(first.names) != set(second.names) or len(first) != len(second):
        raise DataError("the rankings are not of the same features")
    if labels is not None and len(labels) != 2:
        raise ParameterError("labels", labels, "give a name for each of the two rankings")
    heads = (first.method, second.method) if labels is None else tuple(labels)
    sides = [dict(zip(one.names, one.ranks.tolist(), strict=True)) for one in (first, second)]
    shown = list(dict.fromkeys([*first.top(k), *second.top(k)]))
    places = [_places(side, shown, k) for side in sides]
    depth = max(max(side.values()) for side in places)
    ax = new_axes(width=6.4, height=1.0 + 0.24 * depth) if ax is None else ax
    texts = dict(zip(shown, short_names(shown, 28), strict=True))
    for name in shown:
        ends = [places[0][name], places[1][name]]
        inside = sides[0][name] <= k and sides[1][name] <= k
        colour = BAR if inside else CHOSEN
        ax.plot([0, 1], ends, color=colour, linewidth=1.3, alpha=0.75, marker="o", markersize=3.5)
        for x, y, align, words in (
            (-0.03, ends[0], "right", f"{sides[0][name]}  {texts[name]}"),
            (1.03, ends[1], "left", f"{texts[name]}  {sides[1][name]}"),
        ):
            outside = (sides[0] if align == "right" else sides[1])[name] > k
            ink = FAINT if outside else INK
            ax.text(x, y, words, ha=align, va="center", fontsize="small", color=ink, parse_math=False)
    for x, align, head in ((0, "right", heads[0]), (1, "left", heads[1])):
        ax.text(x, -0.1, head, ha=align, va="bottom", color=INK, weight="bold", parse_math=False)
    ax.set_xlim(-1.05, 2.05)
    ax.set_ylim(depth + 0.7, -0.9)
    ax.set_axis_off()
    if title is not None:
        set_title(ax, title)
    return ax


def _places(ranks: dict[str, int], shown: Sequence[str], k: int) -> dict[str, float]:
    """Where the names of one side stand: at their ranks, those beyond the top below them, after a gap."""
    beyond = sorted((name for name in shown if ranks[name] > k), key=lambda name: ranks[name])
    top = min(k, len(ranks))
    found = {name: float(ranks[name]) for name in shown if ranks[name] <= k}
    return found | {name: top + 1.6 + np.float64(i).item() for i, name in enumerate(beyond)}
