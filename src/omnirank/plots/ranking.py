"""Pictures of rankings: bars of the best features, curves of agreement between rankings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omnirank.core.comparison import RankingComparison
from omnirank.core.errors import ParameterError
from omnirank.core.parameters import check, count
from omnirank.core.plurals import counted, there_are
from omnirank.core.ranking import Ranking
from omnirank.plots.style import BAR, INK, LINEAR, PALE, name_rows, new_axes, set_title, tidy, whole_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Dots instead of bars where the smallest score is above this share of the largest.
_NARROW = 0.75


def plot_ranking(
    ranking: Ranking,
    ax: Axes | None = None,
    k: int = 20,
    *,
    errors: bool = True,
    color: str = BAR,
    title: str | None = None,
) -> Axes:
    """Draw the k best features as horizontal bars, best at the top; as dots where their scores hardly differ.

    Where the ranking has p values, features that are not relevant (`Ranking.relevant`, alpha = 0.05) are pale.

    Parameters
    ----------
    ranking : Ranking
        What to draw.
    ax : Axes, optional
        Where to draw; by default a new figure outside pyplot (no display is needed).
    k : int
        Number of features.
    errors : bool
        Draw one standard error to either side, where the ranking has them.
    color : str
        Colour of the bars.
    title : str, optional
        Title; by default the method and the task.

    Returns
    -------
    Axes
        Its ``figure`` has ``savefig``.

    Examples
    --------
    >>> from omnirank.core.ranking import Ranking
    >>> from omnirank.plots import plot_ranking
    >>> ax = plot_ranking(Ranking(["height", "width"], [0.2, 0.7], "genie3"))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['width', 'height']
    """
    check("k", k, count(1))
    shown = ranking.order[:k]
    scores = ranking.scores[shown]
    if ax is None:
        ax = new_axes(width=7.0, height=1.1 + 0.28 * len(shown))
    places = np.arange(len(shown))
    alphas: Any = _alphas(ranking, shown)
    dots = len(scores) > 1 and 0 < _NARROW * scores.max() < scores.min()
    if dots:
        # bars of nearly the same length would show nothing, and bars have to start at 0
        ax.scatter(scores, places, s=28, color=color, alpha=alphas, zorder=4)
    else:
        bars = ax.barh(places, scores, height=0.72, color=color, zorder=2)
        for bar, alpha in zip(bars, alphas, strict=True):
            bar.set_alpha(None if alpha == 1 else alpha)
        ax.axvline(0, color=INK, linewidth=0.8, zorder=3)
    if errors and ranking.standard_errors is not None:
        drawn: dict[str, Any] = {"ecolor": INK, "elinewidth": 1.0, "capsize": 2.0, "zorder": 3}
        ax.errorbar(scores, places, xerr=ranking.standard_errors[shown], fmt="none", **drawn)
    tidy(ax, grid="x")
    name_rows(ax, [ranking.names[i] for i in shown])
    notes = ["± one standard error"] if errors and ranking.standard_errors is not None else []
    notes += ["pale: not relevant"] if ranking.p_values is not None else []
    notes += ["the axis does not start at 0"] if dots else []
    ax.set_xlabel("score" + (f" ({'; '.join(notes)})" if notes else ""))
    set_title(ax, _title(ranking, len(shown)) if title is None else title)
    return ax


def _alphas(ranking: Ranking, shown: np.ndarray) -> list[float]:
    """1 for relevant features, less for those that are not."""
    if ranking.p_values is None:
        return [1.0] * len(shown)
    relevant = set(ranking.relevant())
    return [1.0 if ranking.names[i] in relevant else PALE for i in shown]


def plot_fuji(
    comparisons: RankingComparison | Sequence[RankingComparison],
    labels: Sequence[str] | None = None,
    ax: Axes | None = None,
    *,
    log: bool | None = None,
    band: bool = False,
) -> Axes:
    """Draw the fuzzy Jaccard index of pairs of rankings against the number j of top features.

    Parameters
    ----------
    comparisons : RankingComparison or sequence of them
        What `omnirank.core.comparison.compare` returned.
    labels : sequence of str, optional
        One label per comparison; the area under the curve is added to it.
    ax : Axes, optional
        Where to draw; by default a new figure.
    log : bool, optional
        Whether the axis of j is logarithmic; by default with more than 60 features, since the top matters.
    band : bool
        Draw the mean of all comparisons, of folds or seeds, and a band from the 5 % to the 95 % quantile instead of
        single curves.

    Examples
    --------
    >>> from omnirank.core.comparison import compare_rankings
    >>> from omnirank.core.ranking import Ranking
    >>> from omnirank.plots import plot_fuji
    >>> a = Ranking(["a", "b", "c"], [4.0, 2.0, 1.0], "genie3")
    >>> b = Ranking(["a", "b", "c"], [3.0, 6.0, 3.0], "relief")
    >>> plot_fuji(compare_rankings(a, b)).lines[0].get_ydata().tolist()
    [0.5, 1.0, 1.0]
    """
    curves = [comparisons] if isinstance(comparisons, RankingComparison) else list(comparisons)
    if labels is not None and len(labels) != len(curves):
        raise ParameterError("labels", labels, there_are(len(curves), "comparison"))
    ax = new_axes(width=6.0, height=4.0) if ax is None else ax
    if band and curves:
        _draw_band(ax, curves)
    for i, curve in enumerate(() if band else curves):
        name = "" if labels is None else f"{labels[i]}, "
        ax.plot(
            np.arange(1, curve.n_features + 1),
            curve.fuji,
            marker="o" if curve.n_features <= 30 else None,
            markersize=3.5,
            linewidth=1.6,
            clip_on=False,
            label=f"{name}area {curve.fuji_area:.3f}",
        )
    ax.set_ylim(0, 1)
    if max((curve.n_features for curve in curves), default=0) > LINEAR if log is None else log:
        ax.set_xscale("log")
    ax.set_xlim(1, max([2, *(curve.n_features for curve in curves)]))
    ax.set_xlabel("number of top features j")
    whole_numbers(ax)
    ax.set_ylabel("fuzzy Jaccard index")
    tidy(ax, grid="y")
    if curves:
        ax.legend(frameon=False, loc="lower right")
    return ax


def _draw_band(ax: Axes, curves: Sequence[RankingComparison]) -> None:
    if len({curve.n_features for curve in curves}) > 1:
        raise ParameterError("band", True, "the comparisons are of different numbers of features")
    values = np.array([curve.fuji for curve in curves])
    places = np.arange(1, values.shape[1] + 1)
    low, high = np.quantile(values, [0.05, 0.95], axis=0)
    area = float(np.mean([curve.fuji_area for curve in curves]))
    ax.fill_between(places, low, high, color=BAR, alpha=0.2, linewidth=0, label="5 % to 95 %")
    ax.plot(places, values.mean(axis=0), color=BAR, linewidth=1.6, label=f"mean of {len(curves)}, area {area:.3f}")


def _title(ranking: Ranking, n_shown: int) -> str:
    count = "all" if n_shown == len(ranking) else f"top {n_shown} of"
    task = f" for {ranking.task}" if ranking.task else ""
    targets = ranking.targets or ()
    # "y" is what targets without a name are called
    target = f" of {targets[0]}" if len(targets) == 1 and targets[0] != "y" else ""
    return f"{ranking.method}{task}{target}: {count} {counted(len(ranking), 'feature')}"
