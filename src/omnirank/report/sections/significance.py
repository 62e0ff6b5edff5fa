"""Which features tell more than chance, and by which test."""

from __future__ import annotations

from omnirank.core.multiplicity import ALPHA, COPIES_TEST, CORRECTIONS, OUT_OF_BAG_TEST, adjusted_p_values
from omnirank.core.plurals import counted
from omnirank.core.ranking import Ranking
from omnirank.plots import plot_significance
from omnirank.plots.significance import SMALLEST_P
from omnirank.report.findings import AGAIN
from omnirank.report.section import Section
from omnirank.report.subject import Subject
from omnirank.report.vector import inline_svg

_SHOWN = 30
CORRECTION = CORRECTIONS["fdr"]


def significance(subject: Subject) -> Section:
    """Return the p values of the best features, with the test behind them."""
    title, ranking = "Significance", subject.ranking
    if ranking.p_values is None:
        why = subject.found.missing.get(AGAIN, "the method has no p values of its own")
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
    content = {"sentence": sentence + expected, "test": test, "picture": picture}
    return Section("significance", title, content, seconds=subject.found.costs.get(AGAIN))


def p_value_test(ranking: Ranking) -> str:
    """Return the test behind the p values of a ranking, in the words of a paper.

    Examples
    --------
    >>> from omnirank.core.ranking import Ranking
    >>> from omnirank.report.sections.significance import p_value_test
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
