"""Pictures of rankings: scores of the features, p values, ranges of ranks, and agreement of two rankings."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.parameters import check, choice, count, number
from omnirank.core.ranking.certainty import CORRECTIONS, adjusted_p_values, replicates_of
from omnirank.core.ranking.comparison import RankingComparison
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.text import counted, there_are
from omnirank.core.types import ArrayLike
from omnirank.plots.style import (
    BAR,
    CHOSEN,
    FAINT,
    INK,
    LINEAR,
    PALE,
    finish,
    name_rows,
    new_axes,
    rank_axis,
    short_names,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from omnirank.ensembles.explanation import Explanation
    from omnirank.evaluation.stability import Stability

# Dots instead of bars where the smallest score is above this share of the largest.
_NARROW = 0.75
# p values below are drawn here: what is smaller says nothing more, since no test is exact so far out.
SMALLEST_P = 1e-12
# Inches: width of an entry of a legend, and where a legend begins below ticks and label of the axis.
_ENTRY, _BELOW = 1.7, -0.4
# Characters of a line below narrow axes.
_WRAPPED = 36


def plot_ranking(
    ranking: Ranking, ax: Axes | None = None, k: int = 20, *, errors: bool = True, title: str | None = None
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
    title : str, optional
        Title; by default the method and the task.

    Returns
    -------
    Axes
        Its ``figure`` has ``savefig``.

    Examples
    --------
    >>> from omnirank.core.ranking.ranking import Ranking
    >>> from omnirank.plots import plot_ranking
    >>> ax = plot_ranking(Ranking(["height", "width"], [0.2, 0.7], "genie3"))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['width', 'height']
    """
    check("k", k, count(1))
    shown = ranking.order[:k]
    scores = ranking.scores[shown]
    ax = new_axes(width=5.8, height=1.1 + 0.28 * len(shown)) if ax is None else ax
    places = np.arange(len(shown))
    relevant = set(ranking.names if ranking.p_values is None else ranking.relevant())
    alphas: Any = [1.0 if ranking.names[i] in relevant else PALE for i in shown]
    dots = len(scores) > 1 and 0 < _NARROW * scores.max() < scores.min()
    if dots:
        # bars of nearly the same length would show nothing, and bars have to start at 0
        ax.scatter(scores, places, s=28, color=BAR, alpha=alphas, zorder=4)
    else:
        bars = ax.barh(places, scores, height=0.72, color=BAR, zorder=2)
        for bar, alpha in zip(bars, alphas, strict=True):
            bar.set_alpha(None if alpha == 1 else alpha)
        ax.axvline(0, color=INK, linewidth=0.8, zorder=3)
    if errors and ranking.standard_errors is not None:
        drawn: dict[str, Any] = {"ecolor": INK, "elinewidth": 1.0, "capsize": 2.0, "zorder": 3}
        ax.errorbar(scores, places, xerr=ranking.standard_errors[shown], fmt="none", **drawn)
    name_rows(ax, [ranking.names[i] for i in shown])
    notes = (
        [f"± one standard error over {replicates_of(ranking)}"]
        if errors and ranking.standard_errors is not None
        else []
    )
    notes += ["pale: not relevant"] if ranking.p_values is not None else []
    notes += ["the axis does not start at 0"] if dots else []
    label = "score" + (f" ({'; '.join(notes)})" if notes else "")
    return finish(ax, label, grid="x", title=_title(ranking, len(shown)) if title is None else title)


def plot_fuji(
    comparisons: RankingComparison | Sequence[RankingComparison],
    labels: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the fuzzy Jaccard index of pairs of rankings against the number j of top features.

    Parameters
    ----------
    comparisons : RankingComparison or sequence of them
        What `omnirank.core.ranking.comparison.compare` returned.
    labels : sequence of str, optional
        One label per comparison; the area under the curve is added to it.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Examples
    --------
    >>> from omnirank.core.ranking.comparison import compare_rankings
    >>> from omnirank.core.ranking.ranking import Ranking
    >>> from omnirank.plots import plot_fuji
    >>> a = Ranking(["a", "b", "c"], [4.0, 2.0, 1.0], "genie3")
    >>> b = Ranking(["a", "b", "c"], [3.0, 6.0, 3.0], "relief")
    >>> plot_fuji(compare_rankings(a, b)).lines[0].get_ydata().tolist()
    [0.5, 1.0, 1.0]
    """
    curves = [comparisons] if isinstance(comparisons, RankingComparison) else list(comparisons)
    if labels is not None and len(labels) != len(curves):
        raise ParameterError("labels", labels, there_are(len(curves), "comparison"))
    ax = new_axes(width=5.8, height=4.0) if ax is None else ax
    for i, curve in enumerate(curves):
        name = "" if labels is None else f"{labels[i]}, "
        style: dict[str, Any] = {"marker": "o" if curve.n_features <= 30 else None, "markersize": 3.5, "linewidth": 1.6}
        label = f"{name}area {curve.fuji_area:.3f}"
        ax.plot(np.arange(1, curve.n_features + 1), curve.fuji, clip_on=False, label=label, **style)
    ax.set_ylim(0, 1)
    rank_axis(ax, max((curve.n_features for curve in curves), default=0), "number of top features j")
    return finish(ax, y="fuzzy Jaccard index", grid="y", legend="lower right" if curves else "")


def _title(ranking: Ranking, n_shown: int) -> str:
    count = "all" if n_shown == len(ranking) else f"top {n_shown} of"
    task = f" for {ranking.task}" if ranking.task else ""
    targets = ranking.targets or ()
    # "y" is what targets without a name are called
    target = f" of {targets[0]}" if len(targets) == 1 and targets[0] != "y" else ""
    return f"{ranking.method}{task}{target}: {count} {counted(len(ranking), 'feature')}"


def plot_scores(
    ranking: Ranking, ax: Axes | None = None, *, reference: ArrayLike | Ranking | None = None, cut: int | None = None
) -> Axes:
    """Draw the scores over the rank, with what chance gives and where to cut.

    Parameters
    ----------
    ranking : Ranking
        What to draw; the band is one standard error to either side, where the ranking has them.
    ax : Axes, optional
        Where to draw; by default a new figure.
    reference : array-like or Ranking, optional
        Scores of features that tell nothing, such as those of the same method for a shuffled target, drawn from the
        largest to the smallest; or another ranking of the same features, drawn in the order of the first and scaled to
        the same largest score.
    cut : int, optional
        Number of features to keep.

    Examples
    --------
    >>> from omnirank.core.ranking.ranking import Ranking
    >>> from omnirank.plots import plot_scores
    >>> ranking = Ranking(["a", "b", "c"], [0.1, 0.7, 0.2], "genie3")
    >>> ax = plot_scores(ranking, reference=[0.1, 0.15, 0.05], cut=2)
    >>> ax.lines[0].get_ydata().tolist(), [text.get_text() for text in ax.get_legend().get_texts()]
    ([0.7, 0.2, 0.1], ['scores', 'shuffled target', 'suggested cut: 2'])
    """
    n = len(ranking)
    check("cut", cut, choice(None) | count(1, n, "features"))
    ax = new_axes(width=5.8, height=3.6) if ax is None else ax
    places, order = np.arange(1, n + 1), ranking.order
    scores = ranking.scores[order]
    dots = {"marker": "o", "markersize": 3.5} if n <= LINEAR else {}
    ax.plot(places, scores, color=BAR, linewidth=1.8, label="scores", zorder=3, **dots)  # type: ignore[arg-type]
    if ranking.standard_errors is not None:
        errors = ranking.standard_errors[order]
        ax.fill_between(places, scores - errors, scores + errors, color=BAR, alpha=0.2, linewidth=0, zorder=2)
    if isinstance(reference, Ranking):
        scale = scores[0] / (reference.scores.max() or 1.0)
        values = dict(zip(reference.names, reference.scores * scale, strict=True))
        if values.keys() != set(ranking.names):
            raise DataError("the rankings are not of the same features")
        shown, label = [values[ranking.names[i]] for i in order], f"{reference.method}, scaled"
        ax.plot(places, shown, "o", color=CHOSEN, markersize=3, label=label, zorder=2)
    elif reference is not None:
        chance = np.sort(np.asarray(reference, dtype=np.float64))[::-1]
        ranks = np.arange(1, len(chance) + 1)
        ax.plot(ranks, chance, color=FAINT, linestyle="--", linewidth=1.4, label="shuffled target", zorder=2)
    if cut is not None:
        ax.axvline(cut + (0.5 if cut < n else 0), color=CHOSEN, linewidth=1.4, label=f"suggested cut: {cut}", zorder=1)
    rank_axis(ax, n, "rank")
    return finish(ax, y="score", grid="y", legend="upper right")


def plot_significance(
    ranking: Ranking, ax: Axes | None = None, k: int = 30, *, alpha: float = 0.05, correction: str | None = "fdr"
) -> Axes:
    """Draw the p values of the k best features, on a scale on which small ones are far to the right.

    Parameters
    ----------
    ranking : Ranking
        With p values (`omnirank.significance`).
    ax : Axes, optional
        Where to draw; by default a new figure.
    k : int
        Number of features.
    alpha : float
        Level, drawn as a line.
    correction : {"fdr", "family-wise"} or None
        How p values are corrected for the number of features, as in `Ranking.relevant`.

    Examples
    --------
    >>> from omnirank.core.ranking.ranking import Ranking
    >>> from omnirank.plots import plot_significance
    >>> ranking = Ranking(["a", "b"], [0.5, 0.2], "unbiased", p_values=[0.0005, 0.5])
    >>> plot_significance(ranking).collections[0].get_offsets()[:, 0].round(2).tolist()
    [3.0, 0.3]
    """
    check("k", k, count(1))
    check("alpha", alpha, number(above=0, below=1))
    if ranking.p_values is None:
        raise DataError("this ranking has no p values: om.significance(ranker, X, y) or rank --significance has")
    shown = ranking.order[:k]
    corrected = adjusted_p_values(ranking.p_values, correction)[shown]
    ax = new_axes(width=5.8, height=1.2 + 0.24 * len(shown)) if ax is None else ax
    values = -np.log10(np.maximum(corrected, SMALLEST_P))
    colours = [BAR if p <= alpha else FAINT for p in corrected]
    places = np.arange(len(shown))
    ax.scatter(values, places, s=22, color=colours, zorder=3, clip_on=False)
    ax.hlines(places, 0, values, color=colours, linewidth=1.4, alpha=0.6, zorder=2)
    ax.axvline(-np.log10(alpha), color=CHOSEN, linewidth=1.2, linestyle="--", label=f"p = {alpha:g}", zorder=1)
    name_rows(ax, [ranking.names[i] for i in shown])
    ax.set_xlim(left=0)
    how = CORRECTIONS[correction] if correction is not None else "not corrected"
    cut = f"; below {SMALLEST_P:.0e} drawn as that" if (corrected < SMALLEST_P).any() else ""
    return finish(ax, f"-log10 p ({how}{cut})", grid="x", legend="lower right")


def plot_rank_intervals(stability: Stability, ax: Axes | None = None, k: int = 20) -> Axes:
    """Draw the intervals of the ranks of the first k features, the smallest mean rank at the top.

    Parameters
    ----------
    stability : Stability
        What `omnirank.stability` returned.
    ax : Axes, optional
        Where to draw; by default a new figure.
    k : int
        Number of features.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.evaluation.stability import Stability
    >>> from omnirank.plots import plot_rank_intervals
    >>> ranks = np.array([[1, 2, 3], [1, 3, 2], [1, 3, 2]])
    >>> ax = plot_rank_intervals(Stability(("a", "b", "c"), ranks, np.array([0, 2, 1]), 0.9, 1, "3 subsamples"))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['a', 'c', 'b']
    """
    from matplotlib.transforms import ScaledTranslation

    check("k", k, count(1))
    shown = stability.order[:k]
    listed = np.argsort(stability.mean_ranks[shown], kind="stable")  # their places in the list, from 0
    shown = shown[listed]
    ax = new_axes(width=5.8, height=1.3 + 0.28 * len(shown)) if ax is None else ax
    places = np.arange(len(shown))
    lower, upper = stability.lower[shown], stability.upper[shown]
    # of few resamples the ends are those of all: no interval of a level
    what = "smallest to largest rank" if stability.is_range else f"{100 * stability.level:g} % interval"
    ax.hlines(places, lower, upper, color=BAR, linewidth=5, alpha=0.45, label=what)
    ax.plot(stability.mean_ranks[shown], places, "o", color=BAR, markersize=4, label="mean rank", zorder=3)
    ax.plot(listed + 1, places, "|", color=CHOSEN, markersize=11, label="place in the list", zorder=3)
    n = len(stability.names)
    words = textwrap.wrap(f"rank over {stability.drawn}", _WRAPPED)
    rank_axis(ax, n, "\n".join(words), left=0.5 if n <= LINEAR else 0.9)
    finish(ax, grid="x")
    name_rows(ax, [stability.names[i] for i in shown])
    # below the axes, as many entries in a row as there is room for: bars are everywhere, and the title is above
    wide = ax.get_window_extent().width / ax.figure.dpi
    below = ax.transAxes + ScaledTranslation(0, _BELOW * (1 + len(words)) / 2, ax.get_figure(root=True).dpi_scale_trans)  # type: ignore[union-attr]
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (0, 0), "bbox_transform": below}
    ax.legend(frameon=False, fontsize="small", ncols=max(1, min(3, int(wide / _ENTRY))), **place)
    return ax


def plot_overlay(
    first: Ranking, second: Ranking, ax: Axes | None = None, k: int = 20, *, labels: Sequence[str] | None = None
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

    Examples
    --------
    >>> from omnirank.core.ranking.ranking import Ranking
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
    ax = new_axes(width=5.8, height=1.0 + 0.24 * depth) if ax is None else ax
    texts = dict(zip(shown, short_names(shown, 28), strict=True))
    for name in shown:
        ends = [places[0][name], places[1][name]]
        inside = sides[0][name] <= k and sides[1][name] <= k
        colour = BAR if inside else CHOSEN
        ax.plot([0, 1], ends, color=colour, linewidth=1.3, alpha=0.75, marker="o", markersize=3.5)
        places_of = [side[name] for side in sides]
        words = f"{places_of[0]}  {texts[name]}", f"{texts[name]}  {places_of[1]}"
        for x, y, align, word, place in zip((-0.03, 1.03), ends, ("right", "left"), words, places_of, strict=True):
            ink = FAINT if place > k else INK
            ax.text(x, y, word, ha=align, va="center", fontsize="small", color=ink, parse_math=False)
    for x, align, head in ((0, "right", heads[0]), (1, "left", heads[1])):
        ax.text(x, -0.1, head, ha=align, va="bottom", color=INK, weight="bold", parse_math=False)
    ax.set_xlim(-1.05, 2.05)
    ax.set_ylim(depth + 0.7, -0.9)
    return finish(ax)


def _places(ranks: dict[str, int], shown: Sequence[str], k: int) -> dict[str, float]:
    """Where the names of one side stand: at their ranks, those beyond the top below them, after a gap."""
    beyond = sorted((name for name in shown if ranks[name] > k), key=lambda name: ranks[name])
    top = min(k, len(ranks))
    inside = {name: float(ranks[name]) for name in shown if ranks[name] <= k}
    return inside | {name: top + 1.6 + i for i, name in enumerate(beyond)}


def plot_explanation(
    explanation: Explanation, i: int = 0, column: str | None = None, *, k: int = 10, ax: Axes | None = None
) -> Axes:
    """Draw how the contributions of features lead from the base to the prediction of one example.

    Parameters
    ----------
    explanation : Explanation
        What ``explain`` of a forest returned.
    i : int
        Number of the example, from 0.
    column : str, optional
        What is explained; by default the number, or the class that is predicted.
    k : int
        Number of features; the others are one bar.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Examples
    --------
    >>> import omnirank as om
    >>> data = om.datasets.load_sample("iris")
    >>> forest = om.PCTForestClassifier(n_trees=10, random_state=0).fit(data)
    >>> len(forest.explain(data).plot(0, k=2).patches)
    3
    """
    check("k", k, count(1))
    table = explanation.example(i, column)
    row = explanation._rows(i)
    c = int(explanation._toward(row, column)[1][0])
    base = float(explanation.base[row[0], c])
    steps = table["contribution"].to_numpy()
    names = [
        f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in zip(table["feature"][:k], table["value"][:k], strict=True)
    ]
    if len(steps) > k:
        names.append(counted(len(steps) - k, "other feature"))
        steps = np.append(steps[:k], steps[k:].sum())
    ax = new_axes(width=7.0, height=1.4 + 0.28 * len(steps)) if ax is None else ax
    ends = base + np.cumsum(steps)
    colours = [BAR if step >= 0 else CHOSEN for step in steps]
    ax.barh(np.arange(len(steps)), steps, left=ends - steps, height=0.72, color=colours, zorder=2)
    for place, step, end in zip(range(len(steps)), steps, ends, strict=True):
        ax.annotate(f" {step:+.3g} ", (end, place), ha="left" if step >= 0 else "right", va="center", fontsize="small")
    ax.axvline(base, color=FAINT, linewidth=0.8, linestyle="--", zorder=3)
    ax.axvline(ends[-1], color=INK, linewidth=0.8, zorder=3)
    ax.use_sticky_edges = False  # room for the numbers beside the bars
    ax.margins(x=0.15)
    name_rows(ax, names)
    what = explanation.column_names[c]
    target = explanation.targets[0]
    what = what if what == target or len(explanation.targets) > 1 else f"{target} = {what}"
    data = f"{explanation.name}, " if explanation.name else ""
    title = f"{data}example {row[0]}, {what}: {ends[-1]:.4g}, {base:.4g} without any test"
    return finish(ax, "dashed: without any test; blue raises, orange lowers", grid="x", title=title)
