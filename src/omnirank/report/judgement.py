"""Sections on what to trust: chance, prediction, number of features, significance, stability, other methods."""

from __future__ import annotations

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.ranking.certainty import ALPHA, COPIES_TEST, CORRECTIONS, OUT_OF_BAG_TEST, p_value_columns
from omnirank.core.ranking.comparison import compare_rankings
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.text import counted, top_of
from omnirank.evaluation.conditional import told_by_another
from omnirank.evaluation.stability import Stability
from omnirank.plots import plot_fuji, plot_rank_intervals, plot_scores, plot_selection, plot_significance
from omnirank.plots.style import BAR, CHOSEN, FAINT, finish, name_rows, new_axes
from omnirank.report.halves import N_RANDOM, Halves
from omnirank.report.page import Column, Content, digits, joined, listing
from omnirank.report.subject import AGAIN, HALVES, OTHERS, SHUFFLED, Subject

CORRECTION = CORRECTIONS["fdr"]
_SHOWN = 30
_INDICES = {
    "top_k": ("{top}", "index of Kuncheva and Nogueira; 1: always the same, 0: chance"),
    "spearman": ("all ranks", "mean correlation of Spearman; 1: always the same, 0: chance"),
}

_SHARED = 10
# Curves that a picture can tell apart.
_MOST_CURVES = 6


def scores(subject: Subject) -> Content:
    """Return the picture of score over rank, with what chance gives and where to cut."""
    ranking, shuffled = subject.ranking, subject.shuffled
    n, reason = subject.cut
    svg = subject.picture(plot_scores(ranking, reference=shuffled, cut=n or None), "scores over the rank")
    chance = f"No reference of chance: {subject.missing.get(SHUFFLED, 'nothing was shuffled')}."
    if shuffled is not None:
        above, features = int((ranking.scores > shuffled.max()).sum()), counted(len(ranking), "feature")
        chance = f"Above all scores with a shuffled target (dashed: what chance gives): {above} of {features}."
    return {"picture": svg, "notes": [reason, chance] if reason else [chance]}


def worth(subject: Subject) -> Content:
    """Return the performance by the ranking, by equal weights and by random rankings."""
    halves = subject.halves
    if halves is None:
        return subject.missing.get(HALVES, "nothing was fitted")
    equal = halves.n - halves.wins - halves.losses
    worse = f", worse in {halves.losses}" if halves.losses else ""
    same = f", and the same in {equal}" if equal else ""
    return {
        "sentence": f"The ranking {halves.verdict}: it is better in {halves.wins} of {halves.n} halves{worse}{same}.",
        "picture": subject.picture(_worth_picture(halves), "prediction by the ranking and without it"),
        "n": halves.n,
        "n_random": N_RANDOM * halves.n,
        "top": halves.top,
    }


def _worth_picture(halves: Halves) -> object:
    """One dot per half, and the means."""
    ax = new_axes(width=5.8, height=1.9)
    kinds = (("worth", "ranking", BAR), ("uniform", "equal weights", CHOSEN), ("random", "random", FAINT))
    spread = np.linspace(-0.18, 0.18, halves.n)
    for row, (of, _, colour) in enumerate(kinds):
        values = halves.values(of)
        ax.scatter(values, row + spread, s=16, color=colour, alpha=0.55, zorder=3, linewidths=0)
        ax.plot([values.mean()] * 2, [row - 0.32, row + 0.32], color=colour, linewidth=2.6, zorder=4)
    name_rows(ax, [name for _, name, _ in kinds])
    better = "larger" if halves.measure.larger_is_better else "smaller"
    return finish(ax, f"{halves.measure.title} ({better} is better)", grid="x")


def how_many(subject: Subject) -> Content:
    """Return the performance over the number of top features."""
    halves, why_none = subject.halves, ""
    curve = getattr(subject.ranker, "selection_curve_", None)
    if curve is not None:
        sentence = curve.summary
    elif halves is not None:
        curve, why_none = halves.curve, subject.why_no_cut
        sentence = f"no number is suggested: {why_none}" if why_none else halves.how_many
    else:
        return subject.missing.get(HALVES, "nothing was fitted")
    n = 0 if why_none else curve.chosen_size
    return {
        "sentence": sentence[0].upper() + sentence[1:] + ".",
        "picture": subject.picture(plot_selection(curve), "prediction by the number of top features"),
        "keep": joined(subject.ranking.top(n)[:50]) if n < len(subject.ranking) else "",
        "n": n,
    }


def significance(subject: Subject) -> Content:
    """Return the p values of the best features, with the test behind them."""
    ranking = subject.ranking
    if ranking.p_values is None:
        why = subject.missing.get(AGAIN, "the method has no p values of its own")
        return why if subject.database is not None else f"{why}; om.significance or rank --significance computes them"
    n = len(ranking.relevant())
    expected = "" if not n else f" Of these {n}, at most about {ALPHA * n:.2g} are expected to be false discoveries."
    verb = "scores" if n == 1 else "score"
    sentence = f"{n} of {counted(len(ranking), 'feature')} {verb} significantly above chance."
    if ranking.p_given_others is not None:
        expected += _what_they_add(subject)
    corrected = f"p_adjusted, corrected for {counted(len(ranking), 'test')} ({CORRECTION}), is at most {ALPHA}"
    return {
        "sentence": sentence + expected,
        "picture": subject.picture(plot_significance(ranking, k=min(_SHOWN, len(ranking))), "p values"),
        "test": f"Test: {p_value_test(ranking)}. Significant: {corrected}.",
    }


def _what_they_add(subject: Subject) -> str:
    """How many features tell something that the others do not, and which tell nothing that a certain one does not."""
    n = int(p_value_columns(subject.ranking.p_values, subject.ranking.p_given_others)["adds"].sum())
    told = {} if subject.data is None else told_by_another(subject.ranking, subject.data, 0, None)
    named = "".join(f" {one} tells nothing that {other} does not." for one, other in list(told.items())[:_SHOWN])
    questions = (
        " Two questions are asked. A feature is relevant if it tells something about the target, alone or with others."
        " It adds something if the other features do not tell the same: of two copies, both are relevant, neither adds."
    )
    return f"{questions} Relevant features that add something: {n}.{named}"


def p_value_test(ranking: Ranking) -> str:
    """Return the test behind the p values of a ranking, in the words of a paper.

    Examples
    --------
    >>> from omnirank.core.ranking.ranking import Ranking
    >>> from omnirank.report.judgement import p_value_test
    >>> p_value_test(Ranking(["a"], [1.0], "unbiased", p_values=[0.1], p_value_test="out-of-bag test"))[:24]
    'a combination of three t'
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
        "a combination of three tests: of the feature alone by exact moments over permutations, of splits below the "
        f"root by out-of-bag examples, and of products of two features; {null}"
    )


def stability(subject: Subject) -> Content:
    """Return the ranges of ranks, the indices, and whether there were enough trees."""
    index = subject.stability
    if index is None:
        return subject.missing.get(HALVES, "nothing was fitted")
    picture = plot_rank_intervals(index, k=min(_SHOWN, len(index.names)))
    try:
        trees = f"{subject.ranking.certainty().summary}."
    except DataError:  # no mean over trees
        trees = ""
    return {
        "trees": trees,
        "summary": index.summary,
        "picture": subject.picture(picture, "ranks with other examples"),
        "indices": _index_columns(index),
        "drawn": index.drawn,
        "coverage": f"{100 * index.range_coverage:.0f}",
    }


def _index_columns(stability: Stability) -> list[Column]:
    """The table of the indices of stability."""
    indices = [stability.indices[name] for name in _INDICES]
    return [
        Column("stability of", [what.format(top=top_of(stability.k)) for what, _ in _INDICES.values()]),
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


def agreement(subject: Subject) -> Content:
    """Return how far other methods, or the other rankings that were given, agree with the ranking."""
    ranking = subject.ranking
    given = {name: other for name, other in subject.rankings.items() if set(other.names) == set(ranking.names)}
    others = given | {name: other for name, other in subject.others.items() if name not in given}
    if not others:
        return subject.missing.get(OTHERS, "there is one ranking only")
    pairs = {name: compare_rankings(ranking, other) for name, other in others.items()}
    k = next(iter(pairs.values())).k
    columns = [Column("ranking", list(pairs))]
    for title, index, hint in (
        ("rank correlation", "spearman", "Spearman"),
        (f"overlap of top {k}", "jaccard", "Jaccard index"),
        ("fuzzy overlap", "fuji_area", "mean over all tops"),
    ):
        cells = [digits(getattr(pair, index), 3) for pair in pairs.values()]
        columns.append(Column(title, cells, number=True, hint=hint))
    columns.append(Column("best features", [joined(other.top(5)) for other in others.values()]))
    some = list(pairs)[:_MOST_CURVES]
    curves = plot_fuji([pairs[name] for name in some], labels=some)
    return {
        "sentence": _sentence([ranking, *others.values()], k),
        "columns": columns,
        "curves": subject.picture(curves, "overlap of the top features"),
        "missing": subject.missing.get(OTHERS, ""),
    }


def _sentence(rankings: list[Ranking], k: int) -> str:
    """Say which features all rankings have among their top."""
    everywhere = set.intersection(*(set(ranking.top(k)) for ranking in rankings))
    shared = [name for name in rankings[0].top(k) if name in everywhere]
    place = f"{'the best' if k == 1 else f'among the top {k}'} of all {len(rankings)} rankings"
    return f"{place[0].upper()}{place[1:]}: {listing(shared, _SHARED)}." if shared else f"No feature is {place}."
