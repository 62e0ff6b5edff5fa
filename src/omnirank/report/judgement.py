"""Sections on what to trust: scores against chance, prediction, number of features, significance, stability, a tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnirank.core.multiplicity import ALPHA, COPIES_TEST, CORRECTIONS, OUT_OF_BAG_TEST, adjusted_p_values
from omnirank.core.ranking.comparison import compare_rankings
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.text import counted
from omnirank.ensembles.convergence import RELIABLE, reliability
from omnirank.evaluation.stability import Stability
from omnirank.plots import plot_rank_intervals, plot_scores, plot_selection, plot_significance, plot_tree
from omnirank.plots.ranking import SMALLEST_P
from omnirank.plots.style import BAR, CHOSEN, FAINT, new_axes, tidy
from omnirank.report.halves import N_RANDOM, Halves
from omnirank.report.page import Column, Section, digits, inline_svg, joined, listing
from omnirank.report.subject import AGAIN, HALVES, SHUFFLED, TREE, Subject
from omnirank.tasks.measuring import MEASURES
from omnirank.trees.export import export_text
from omnirank.trees.tree_text import words_of

CORRECTION = CORRECTIONS["fdr"]
_SHOWN = 30
_NAMED = 5
_INDICES = {
    "top_k": ("the top {k}", "index of Kuncheva and Nogueira; 1: always the same, 0: chance"),
    "overlap": ("the order, the top counting most", "rank-biased overlap; 1: always the same"),
    "spearman": ("all ranks", "mean correlation of Spearman; 1: always the same, 0: chance"),
}


def scores(subject: Subject) -> Section:
    """Return the picture of score over rank, with what chance gives and where to cut."""
    ranking, shuffled = subject.ranking, subject.shuffled
    n, reason = subject.cut
    svg = inline_svg(plot_scores(ranking, reference=shuffled, cut=n or None), "scores over the rank")
    notes = [reason] if reason else []
    if shuffled is not None:
        above = int((ranking.scores > shuffled.max()).sum())
        notes.append(
            f"{above} of {counted(len(ranking), 'feature')} {'scores' if above == 1 else 'score'} higher than any "
            "feature does with a shuffled target (dashed: what chance gives)."
        )
    else:
        notes.append(f"No reference of chance: {subject.missing.get(SHUFFLED, 'nothing was shuffled')}.")
    return Section("scores", "Score over rank", {"picture": svg, "notes": notes})


def worth(subject: Subject) -> Section:
    """Return the performance by the ranking, by equal weights and by random rankings."""
    title, halves = "Does it help to predict?", subject.halves
    if halves is None:
        return Section("worth", title, left_out=subject.missing.get(HALVES, "nothing was fitted"))
    equal = halves.n - halves.wins - halves.losses
    sentence = (
        f"The ranking {halves.verdict}: it is better in {halves.wins} of {halves.n} halves"
        + (f", worse in {halves.losses}" if halves.losses else "")
        + (f", and the same in {equal}." if equal else ".")
    )
    means = halves.measures()
    columns = [
        Column("measure", [MEASURES[name].title for name in means]),
        Column("ranking", [digits(own, 3) for own, _ in means.values()], number=True),
        Column("equal weights", [digits(same, 3) for _, same in means.values()], number=True),
        Column("better if", ["larger" if MEASURES[name].larger_is_better else "smaller" for name in means]),
    ]
    content = {
        "sentence": sentence,
        "picture": inline_svg(_worth_picture(halves), "performance by ranking, equal weights and random rankings"),
        "columns": columns,
        "n": halves.n,
        "n_random": N_RANDOM * halves.n,
        "top": halves.top,
    }
    return Section("worth", title, content)


def _worth_picture(halves: Halves) -> object:
    """One dot per half, and the means."""
    ax = new_axes(width=6.4, height=1.9)
    kinds = (("worth", "ranking", BAR), ("uniform", "equal weights", CHOSEN), ("random", "random", FAINT))
    spread = np.linspace(-0.18, 0.18, halves.n)
    for row, (of, _, colour) in enumerate(kinds):
        values = halves.values(of)
        ax.scatter(values, row + spread, s=16, color=colour, alpha=0.55, zorder=3, linewidths=0)
        ax.plot([values.mean()] * 2, [row - 0.32, row + 0.32], color=colour, linewidth=2.6, zorder=4)
    tidy(ax, grid="x")
    ax.set_yticks(range(3), [name for _, name, _ in kinds])
    ax.set_ylim(2.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(f"{halves.measure.title} ({'larger' if halves.measure.larger_is_better else 'smaller'} is better)")
    return ax


def how_many(subject: Subject) -> Section:
    """Return the performance over the number of top features."""
    title, halves, why_none = "How many features", subject.halves, ""
    curve = getattr(subject.ranker, "selection_curve_", None)
    if curve is not None:
        sentence = curve.summary
    elif halves is not None:
        curve, why_none = halves.curve, subject.why_no_cut
        sentence = f"no number is suggested: {why_none}" if why_none else halves.how_many
    else:
        return Section("how-many", title, left_out=subject.missing.get(HALVES, "nothing was fitted"))
    named = {curve.best_size: ["best"]}
    named.setdefault(curve.chosen_size, []).append("chosen")
    n = 0 if why_none else curve.chosen_size
    columns = [
        Column("features", curve.sizes.tolist(), number=True),
        Column("mean", [digits(v) for v in curve.means], number=True),
        Column("± error", [digits(v, 2) for v in curve.standard_errors], number=True),
        Column("", [", ".join(named.get(size, ())) for size in curve.sizes.tolist()]),
    ]
    content = {
        "sentence": sentence[0].upper() + sentence[1:] + ".",
        "picture": inline_svg(plot_selection(curve), "performance over the number of top features"),
        "columns": columns,
        "keep": joined(subject.ranking.top(n)[:50]) if n < len(subject.ranking) else "",
        "n": n,
        "significant": "" if why_none else beside_significance(subject, n),
    }
    return Section("how-many", title, content)


def beside_significance(subject: Subject, n: int) -> str:
    """Say how the number goes with that of the significant features: they answer different questions."""
    ranking = subject.ranking
    if ranking.p_values is None or n == len(ranking):
        return ""
    kept, relevant = ranking.top(n), ranking.relevant()
    chance = [name for name in kept if name not in set(relevant)]
    more = len(relevant) - (len(kept) - len(chance))
    sentences = []
    if chance:
        which = joined(chance) if len(chance) <= _NAMED else f"{len(chance)} of them"
        verb = "does" if len(chance) == 1 else "do"
        sentences.append(f"Of those to keep, {which} {verb} not score significantly above chance.")
    if more:
        others = f"{counted(more, 'more feature')} {'scores' if more == 1 else 'score'}"
        sentences.append(
            f"{others} significantly above chance without being needed to predict: to understand the target, look at "
            "all that are significant."
        )
    return " ".join(sentences)


def significance(subject: Subject) -> Section:
    """Return the p values of the best features, with the test behind them."""
    title, ranking = "Significance", subject.ranking
    if ranking.p_values is None:
        why = subject.missing.get(AGAIN, "the method has no p values of its own")
        return Section("significance", title, left_out=f"{why}; om.significance or rank --significance computes them")
    n = len(ranking.relevant())
    expected = "" if not n else f" Of these {n}, at most about {ALPHA * n:.2g} are expected to be false discoveries."
    verb = "scores" if n == 1 else "score"
    sentence = f"{n} of {counted(len(ranking), 'feature')} {verb} significantly above chance."
    corrected = f"corrected for {counted(len(ranking), 'test')} ({CORRECTION}), at {ALPHA}"
    test = f"Test: {p_value_test(ranking)}. Shown is p_adjusted: {corrected}."
    tiny = int((adjusted_p_values(ranking.p_values, "fdr") < SMALLEST_P).sum())
    if tiny:
        verb = "is" if tiny == 1 else "are"
        test += f" {counted(tiny, 'p value')} {verb} shown as <{SMALLEST_P:.0e}: no test is exact so far out."
    picture = inline_svg(plot_significance(ranking, k=min(_SHOWN, len(ranking))), "p values of the best features")
    return Section("significance", title, {"sentence": sentence + expected, "test": test, "picture": picture})


def p_value_test(ranking: Ranking) -> str:
    """Return the test behind the p values of a ranking, in the words of a paper.

    Examples
    --------
    >>> from omnirank.core.ranking.ranking import Ranking
    >>> from omnirank.report.judgement import p_value_test
    >>> p_value_test(Ranking(["a"], [1.0], "unbiased", p_values=[0.1], p_value_test="out-of-bag test"))[:24]
    'a one-sided test by out-'
    >>> p_value_test(Ranking(["a"], [1.0], "unbiased", p_values=[0.1], p_value_test="permuted copies"))[:24]
    'a permutation test: the '
    >>> p_value_test(Ranking(["a"], [1.0], "mine", p_values=[0.1]))
    'a test that the ranking does not record'
    """
    if ranking.p_value_test not in (OUT_OF_BAG_TEST, COPIES_TEST):
        return ranking.p_value_test or "a test that the ranking does not record"
    null = "null hypothesis: the feature is independent of the target and of all other features"
    if ranking.targets == ():
        null = "null hypothesis: the feature is independent of all other features"
    if ranking.p_value_test == COPIES_TEST:
        return f"a permutation test: the score of a feature against those of permuted copies ranked beside it; {null}"
    return (
        "a one-sided test by out-of-bag examples: the score against the distribution of sums over pairs of examples, "
        f"with moments estimated from what single examples add to it; {null}"
    )


def stability(subject: Subject) -> Section:
    """Return the ranges of ranks, the indices, and the convergence over trees."""
    title, index = "Stability", subject.stability
    why = subject.missing.get(HALVES, "nothing was fitted")
    if index is None and not subject.stages:
        return Section("stability", title, left_out=why)
    content: dict[str, Any] = {"trees": _convergence(subject) if subject.stages else None, "summary": "", "why": why}
    if index is not None:
        picture = plot_rank_intervals(index, k=min(_SHOWN, len(index.names)))
        content |= {
            "summary": index.summary,
            "picture": inline_svg(picture, "ranges of ranks"),
            "indices": _index_columns(index),
            "drawn": index.drawn,
            "coverage": f"{100 * index.range_coverage:.0f}",
        }
    return Section("stability", title, content)


def _index_columns(stability: Stability) -> list[Column]:
    """The table of the indices of stability."""
    indices = [stability.indices[name] for name in _INDICES]
    return [
        Column("stability of", [what.format(k=stability.k) for what, _ in _INDICES.values()]),
        Column("value", [f"{index.value:.3f}" for index in indices], number=True),
        Column(
            f"{100 * stability.level:g} % interval",
            [f"{index.lower:.3f} to {index.upper:.3f}" for index in indices],
            [index.lower for index in indices],
            number=True,
            hint="approximate, over the halves",
        ),
        Column("meaning", [text for _, text in _INDICES.values()]),
    ]


def _convergence(subject: Subject) -> dict[str, str]:
    """The picture of how the ranking settled with more trees or iterations, with words."""
    sizes = sorted(subject.stages)
    last = subject.stages[sizes[-1]]
    compared = [compare_rankings(subject.stages[size], last) for size in sizes]
    agreement, top = [one.spearman for one in compared], [one.jaccard for one in compared]
    what = str(getattr(subject.ranker, "replicates", "n_trees")).removeprefix("n_")
    ax = new_axes(width=6.0, height=2.8)
    ax.plot(sizes, agreement, marker="o", markersize=4, color=BAR, label="rank correlation")
    ax.plot(sizes, top, marker="s", markersize=4, color=CHOSEN, label="overlap of the top (Jaccard)")
    ax.set_xscale("log", base=2)
    ax.set_xticks(sizes, [str(size) for size in sizes])
    ax.minorticks_off()
    ax.set_ylim(min(0.0, np.nanmin([*agreement, 0.0])), 1.03)
    ax.set_xlabel(f"number of {what}")
    ax.set_ylabel(f"agreement with all {sizes[-1]}")
    tidy(ax, grid="y")
    ax.legend(frameon=False, loc="lower right")
    return {"picture": inline_svg(ax, f"agreement over the number of {what}"), "words": _reliable(last, what)}


def _reliable(ranking: Ranking, what: str) -> str:
    """Say whether there were enough trees or iterations."""
    if ranking.standard_errors is None:
        return ""
    share = reliability(ranking.scores, ranking.standard_errors)
    verdict = "would hardly change it" if share >= RELIABLE else "would make it surer"
    return (
        f"{100 * (1 - share):.2g} % of the variance of the scores is error over {what} (at most "
        f"{100 * (1 - RELIABLE):.2g} % counts as converged): more {what} {verdict}."
    )


def small_tree(subject: Subject) -> Section:
    """Return a small tree over the best features."""
    title, model = "A small tree", subject.tree
    if model is None:
        return Section("tree", title, left_out=subject.missing.get(TREE, "none was grown"))
    names = words_of(model).feature_names
    used = [names[i] for i in dict.fromkeys(model.tree_.feature[model.tree_.feature >= 0].tolist())]
    content = {
        "picture": inline_svg(plot_tree(model), "a small tree"),
        "text": export_text(model),
        "over": f"the best {counted(len(names), 'feature')}" if len(names) < len(subject.ranking) else "all features",
        "used": listing(used),
    }
    return Section("tree", title, content)
