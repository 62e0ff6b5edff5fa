"""Comparisons of methods as one result, their tables and their diagram."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draws import draws
from omnirank.errors import ParameterError
from omnirank.evaluation.statistics import compare_methods, wilcoxon_test
from omnirank.plots import plot_critical_difference
from reference.measures_published import UNSUPERVISED

METHODS = UNSUPERVISED.drop(columns="RForest")


@pytest.mark.slow
@given(st.integers(2, 7), st.integers(2, 15), st.integers(0, 2**32 - 1), st.floats(0, 3))
@draws(10)
def test_groups_are_the_largest_sets_without_a_difference(n_methods, n_datasets, seed, gap):
    random = np.random.default_rng(seed)
    values = random.normal(size=(n_datasets, n_methods)) + gap * np.arange(n_methods)
    found = compare_methods(pd.DataFrame(values, columns=list("abcdefg")[:n_methods]), larger_is_better=True)
    together = [frozenset(group) for group in found.groups]
    assert set().union(*together) == set(found.average_ranks.index)
    for first in found.average_ranks.index:
        for second in found.average_ranks.index:
            joined = any({first, second} <= group for group in together)
            assert joined == (not found.significant.loc[first, second])
    assert not any(a < b for a in together for b in together)


def test_only_pairs_with_the_control_are_compared():
    found = compare_methods(METHODS, larger_is_better=False, control="AgnoS-S")
    assert found.groups == ()
    assert found.significant["AgnoS-S"].sum() == 1
    assert found.significant.loc["AgnoS-S", "Genie3"]
    assert not found.significant.drop(index="AgnoS-S", columns="AgnoS-S").to_numpy().any()
    assert found.critical_distance < compare_methods(METHODS, larger_is_better=False).critical_distance
    with pytest.raises(ParameterError, match="control='other'"):
        compare_methods(METHODS, larger_is_better=False, control="other")


def test_frame_has_a_row_a_method_best_first():
    found = compare_methods(METHODS, larger_is_better=False)
    frame = found.to_frame()
    assert frame.index.tolist() == found.average_ranks.index.tolist()
    assert frame.loc["Genie3", "wins"] == 14
    assert np.isnan(frame.loc["Genie3", "wilcoxon_p"])
    p_value = wilcoxon_test(METHODS["Genie3"], METHODS["SPEC"]).p_value
    assert frame.loc["SPEC", "wilcoxon_p"] == p_value
    assert frame.loc["SPEC", "adjusted_p"] >= p_value
    assert frame["differs"].tolist() == [False, False, True, True, True, True, True]
    controlled = compare_methods(METHODS, larger_is_better=False, control="SPEC").to_frame()
    assert np.isnan(controlled.loc["SPEC", "wilcoxon_p"])
    assert controlled.loc["Genie3", "differs"]


def test_markdown_and_latex():
    table = METHODS.rename(columns={"SPEC": "spec_1|x"})
    found = compare_methods(table, larger_is_better=False)
    lines = found.to_markdown().splitlines()
    assert lines[0].startswith("| method | average rank |")
    assert lines[2].startswith("| Genie3 | 1.942 |")
    assert len(lines) == 2 + 7 + 2
    assert "Nemenyi critical distance 1.7665" in lines[-1]
    assert any(r"spec_1\|x" in line for line in lines)
    latex = found.to_latex()
    assert r"spec\_1|x" in latex
    assert latex.count(r"\\") == 8


def test_summary_says_what_was_found():
    assert "Bonferroni-Dunn (control SPEC)" in compare_methods(METHODS, False, control="SPEC").summary()
    two = METHODS[["Genie3", "SPEC"]]
    assert "difference is significant at 0.05" in compare_methods(two, False).summary()
    alike = pd.DataFrame(np.ones((4, 3)), columns=list("abc"))
    assert "no significant difference at 0.01" in compare_methods(alike, True, alpha=0.01).summary()


# -- the diagram ----------------------------------------------------------------------------------


def texts(ax):
    return [text.get_text() for text in ax.texts]


def bars(ax):
    return [line.get_xdata() for line in ax.lines if line.get_linewidth() == 4.0]


def test_diagram_joins_groups_and_shows_the_distance():
    found = compare_methods(METHODS, larger_is_better=False)
    ax = found.plot()
    assert set(METHODS.columns) <= set(texts(ax))
    assert "CD = 1.766" in texts(ax)
    assert len(bars(ax)) == 3
    first = bars(ax)[0]
    assert first == pytest.approx([found.average_ranks["Genie3"], found.average_ranks["URelief"]], abs=0.05)
    file = io.BytesIO()
    ax.figure.savefig(file, format="png")
    assert file.getvalue().startswith(b"\x89PNG")


def test_diagram_without_a_difference_has_one_bar_and_no_distance():
    table = pd.DataFrame(np.random.default_rng(0).random((12, 5)), columns=["a", "b", "c", "d $x$", "e"])
    ax = plot_critical_difference(compare_methods(table, True), title="mine")
    assert len(bars(ax)) == 1
    assert not any(text.startswith("CD") for text in texts(ax))
    assert "d $x$" in texts(ax)
    assert ax.get_title(loc="left") == "mine"


def test_diagram_with_a_control_has_its_band():
    ax = compare_methods(METHODS, larger_is_better=False, control="AgnoS-S").plot()
    assert bars(ax) == []
    assert "CD = 1.581 around AgnoS-S" in texts(ax)
    assert len(ax.collections) == 1
    bold = [text.get_text() for text in ax.texts if text.get_fontweight() == "bold"]
    assert bold == ["AgnoS-S"]


def test_bars_that_touch_are_on_different_levels():
    ax = compare_methods(METHODS, larger_is_better=False).plot()
    spans = [(line.get_xdata(), line.get_ydata()[0]) for line in ax.lines if line.get_linewidth() == 4.0]
    for i, (a, level_a) in enumerate(spans):
        for b, level_b in spans[:i]:
            if a[0] <= b[1] and b[0] <= a[1]:
                assert level_a != level_b


def test_given_axes_are_used():
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert compare_methods(METHODS[["Genie3", "SPEC"]], larger_is_better=False).plot(ax) is ax
    assert bars(ax) == []
