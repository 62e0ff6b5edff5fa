"""Pictures of scores that grow with the number of trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnirank.core.errors import DataError
from omnirank.core.parameters import check, count
from omnirank.plots.style import new_axes, set_title, tidy

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def plot_convergence(stages: pd.DataFrame, ax: Axes | None = None, k: int = 3, *, title: str | None = None) -> Axes:
    """Draw how scores settle as trees are added: one line per relation, the darker the higher it ends.

    Flat lines say that the trees have learned what there is to learn; lines of boosting that still grow, that they
    have not.

    Parameters
    ----------
    stages : DataFrame
        Scores after 1, 2, ... trees, as `RelationalRanker.staged_scores` returns them.
    ax : Axes, optional
        Where to draw; by default a new figure.
    k : int
        How many of the best are named.
    title : str, optional
        Title.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.plots import plot_convergence
    >>> stages = pd.DataFrame({"stars": [0.5, 0.6], "age": [0.2, 0.1]}, index=pd.Index([1, 2], name="trees"))
    >>> [text.get_text() for text in plot_convergence(stages, k=1).texts]
    ['stars']
    """
    from matplotlib import colormaps

    check("k", k, count(0))
    if stages.empty:
        raise DataError("there are no stages to draw")
    last = stages.iloc[-1].sort_values(kind="stable")
    largest = float(last.max())
    ax = new_axes(width=6.0, height=4.0) if ax is None else ax
    colours = colormaps["viridis_r"]
    best = list(last.index[::-1][:k])
    for name, score in last.items():  # the best are drawn last, above the others
        share = max(float(score), 0.0) / largest if largest > 0 else 0.0
        ax.plot(stages.index, stages[name], color=colours(0.15 + 0.85 * share), linewidth=1.0 + share)
    for name in best:
        place = (float(stages.index[-1]), float(last[name]))
        ax.annotate(str(name), place, xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)
    ax.set_xlabel("trees")
    ax.set_ylabel("score")
    if title is not None:
        set_title(ax, title)
    tidy(ax, grid="y")
    return ax
