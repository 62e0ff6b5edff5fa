import io
import itertools
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from omnirank.core.ranking.accumulators import TargetScores
from omnirank.core.ranking.comparison import compare_rankings
from omnirank.core.ranking.ranking import Ranking
from omnirank.errors import DataError, ParameterError
from omnirank.evaluation.cross import Curve
from omnirank.evaluation.selection import SelectionCurve, selection_sizes
from omnirank.evaluation.stability import Stability
from omnirank.evaluation.statistics import compare_methods
from omnirank.plots import (
    plot_curves,
    plot_fuji,
    plot_rank_intervals,
    plot_ranking,
    plot_scores,
    plot_selection,
    score_map,
)
from omnirank.plots.style import short_names


def ranking(n, **others):
    return Ranking([f"x{i}" for i in range(n)], np.arange(float(n)), "genie3", **others)


def drawn(ax):
    """The figure as PNG bytes, drawn without a display."""
    file = io.BytesIO()
    ax.figure.savefig(file, format="png")
    return file.getvalue()


def test_bars_are_the_best_features_from_the_top():
    squares = Ranking([f"x{i}" for i in range(30)], np.arange(30.0) ** 6, "genie3", task="regression")
    ax = squares.plot(k=3)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["x29", "x28", "x27"]
    assert [bar.get_width() for bar in ax.patches] == [29**6, 28**6, 27**6]
    assert ax.yaxis.get_inverted()
    assert ax.get_title(loc="left") == "genie3 for regression: top 3 of 30 features"
    assert ax.get_xlabel() == "score"
    assert drawn(ax).startswith(b"\x89PNG")


def test_scores_that_hardly_differ_are_dots():
    ax = ranking(30).plot(k=3)
    assert not ax.patches
    np.testing.assert_array_equal(ax.collections[0].get_offsets(), [[29, 0], [28, 1], [27, 2]])
    assert ax.get_xlabel() == "score (the axis does not start at 0)"
    assert ax.get_xlim()[0] > 20
    negative = Ranking(["a", "b"], [-1.0, -0.9], "relief")
    assert len(negative.plot().patches) == 2
    pale = Ranking(["a", "b"], [1.0, 0.9], "unbiased", p_values=[0.001, 0.5]).plot()
    assert pale.collections[0].get_alpha().tolist() == [1, 0.35]


def test_the_title_names_a_single_target():
    scores = TargetScores(("power", "cost"), [[1.0, 0.0], [0.5, 0.1]])
    both = Ranking(["a", "b"], [1.0, 0.1], "genie3", task="multi-target-regression", per_target=scores)
    assert both.for_target("cost").plot().get_title(loc="left").endswith("of cost: all 2 features")
    assert both.plot().get_title(loc="left") == "genie3 for multi-target-regression: all 2 features"
    unnamed = Ranking(["a"], [1.0], "genie3", task="regression", targets=("y",))
    assert unnamed.plot().get_title(loc="left") == "genie3 for regression: all 1 feature"


def test_long_names_lose_their_middle_and_stay_different():
    alike = [f"mean expression of the gene number {i} in the liver of the mouse" for i in range(3)]
    short = short_names([*alike, "two\n lines"])
    assert short[3] == "two lines"
    assert len(set(short)) == 4
    assert [text.count(f"…{i}…") for i, text in enumerate(short[:3])] == [1, 1, 1]
    assert all(text.startswith("mean exp") and text.endswith("the mouse") and len(text) <= 34 for text in short[:3])
    sites = [f"{i}{'x' * 40}{i % 2}" for i in range(4)]  # nothing in common
    assert all(len(text) == 32 and "…" in text for text in short_names(sites))
    assert short_names(["probe_" + "x" * 40 + f"_{i}" for i in (17, 18)])[1].endswith("_18")
    assert short_names(["a", "a"]) == ["a", "a"]


def test_standard_errors_are_drawn_where_there_are_any():
    with_errors = ranking(4, standard_errors=[0.1, 0.2, 0.3, 0.4])
    ax = with_errors.plot()
    segments = ax.collections[0].get_segments()
    np.testing.assert_allclose(segments[0][:, 0], [2.6, 3.4])
    assert "standard error" in ax.get_xlabel()
    assert not with_errors.plot(errors=False).collections
    assert not ranking(4).plot().collections


def test_features_that_are_not_relevant_are_pale():
    ax = ranking(4, p_values=[0.5, 0.5, 1e-4, 1e-4]).plot()
    assert [bar.get_alpha() for bar in ax.patches] == [None, None, 0.35, 0.35]
    assert ax.get_xlabel() == "score (pale: not relevant)"


def test_names_are_drawn_as_they_are():
    odd = Ranking(["$x_1", "cost $\\nosuchsymbol$", "very " * 20, "two\nlines"], [4, 3, 2, 1], "genie3")
    ax = odd.plot()
    labels = ax.get_yticklabels()
    assert [label.get_text() for label in labels[:2]] == ["$x_1", "cost $\\nosuchsymbol$"]
    assert len(labels[2].get_text()) == 32
    assert labels[3].get_text() == "two lines"
    assert drawn(ax)


def test_given_axes_are_used_and_pyplot_is_not():
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert plot_ranking(ranking(3), ax=ax, title="mine") is ax
    assert ax.get_title(loc="left") == "mine"
    assert score_map(np.arange(4.0), (2, 2), ax=ax) is ax
    assert plot_fuji(compare_rankings(ranking(3), ranking(3)), ax=ax) is ax
    code = (
        "import sys, omnirank.plots\n"
        "from omnirank.core.ranking.ranking import Ranking\n"
        "assert 'matplotlib' not in sys.modules\n"
        "Ranking(['a'], [1.0], 'm').plot()\n"
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_score_map_is_row_by_row_and_clips_below_zero():
    scores = np.array([0.0, 1.0, 2.0, -3.0, 4.0, 5.0])
    ax = score_map(Ranking(list("abcdef"), scores, "genie3"), (2, 3))
    np.testing.assert_array_equal(ax.images[0].get_array(), [[0, 1, 2], [0, 4, 5]])
    assert ax.images[0].get_clim() == (0, 5)
    assert ax.get_title(loc="left") == "genie3: scores by pixel"
    assert len(ax.figure.axes) == 2
    assert len(score_map(scores, (2, 3), colorbar=False).figure.axes) == 1
    assert drawn(ax) != drawn(score_map(-scores, (2, 3)))
    assert score_map(np.zeros(4), (2, 2)).images[0].get_clim() == (0, 1)


def test_fuji_curves():
    a = ranking(40)
    b = Ranking(a.names, a.scores[::-1], "relief")
    comparisons = [compare_rankings(a, b), compare_rankings(a, a)]
    ax = plot_fuji(comparisons, labels=["other", "same"])
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), comparisons[0].fuji)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == [f"other, area {comparisons[0].fuji_area:.3f}", "same, area 1.000"]
    assert drawn(ax)
    assert drawn(plot_fuji(compare_rankings(ranking(1), ranking(1))))


def test_impossible_figures_are_refused():
    with pytest.raises(DataError, match="do not fill an image of 2 x 2"):
        score_map(np.arange(5.0), (2, 2))
    with pytest.raises(ParameterError, match="k=0: choose a whole number"):
        plot_ranking(ranking(2), k=0)
    with pytest.raises(ParameterError, match=r"labels=.*: there are 2 comparisons"):
        plot_fuji([compare_rankings(ranking(2), ranking(2))] * 2, labels=["one"])


def inside(ax):
    """Whether all that is drawn is inside the figure, and the axes have room."""
    figure = ax.get_figure(root=True)
    figure.draw_without_rendering()
    box = ax.get_tightbbox()
    room = figure.bbox
    return box.x0 >= -2 and box.x1 <= room.x1 + 2 and box.y0 >= -2 and box.y1 <= room.y1 + 2


def compared(names, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(30, len(names))) + np.linspace(0, 2.5, len(names)), columns=names)
    return compare_methods(table, larger_is_better=False)


@pytest.mark.every(6)
@pytest.mark.parametrize("n", [3, 6, 25])
@pytest.mark.parametrize("stem", ["m", "extra-trees, permutation score of the labelled examples, n_trees=100, number "])
def test_names_of_critical_difference_diagrams_fit(n, stem):
    ax = compared([f"{stem}{i}" for i in range(n)]).plot()
    assert inside(ax)
    assert ax.get_window_extent().width > 200
    names = [text.get_text() for text in ax.texts if text.get_text().startswith(stem[:5])]
    assert len(set(names)) == n
    assert drawn(ax)


def test_curves_over_trees_are_logarithmic_and_may_have_bands():
    trees = Curve([1, 10, 100], [0.5, 0.7, 0.75], "accuracy", "trees", True, "genie3")
    ax = plot_curves(trees, errors=[[0.1, 0.05, 0.01]])
    assert ax.get_xscale() == "log"
    band = ax.collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == pytest.approx(0.4)
    labelled = Curve([50, 100], [0.5, 0.6], "accuracy", "labelled examples", True)
    assert plot_curves(labelled).get_xscale() == "linear"
    with pytest.raises(ParameterError, match="there is 1 curve"):
        plot_curves(trees, errors=[None, None])


@pytest.mark.parametrize("n", [9, 25, 34, 100, 4000])
def test_sizes_below_a_selection_curve_do_not_overlap(n):
    sizes = selection_sizes(n)
    values = np.random.default_rng(0).random((3, len(sizes)))
    ax = plot_selection(SelectionCurve(sizes, values, "accuracy", True, "forest"))
    ax.figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))
    assert ax.get_xticklabels()[-1].get_text() == str(n)


def test_scores_of_two_rankings_stand_in_the_order_of_the_first():
    first, second = Ranking(list("abc"), [1.0, 4.0, 2.0], "genie3"), Ranking(list("cba"), [1.0, 3.0, 6.0], "relief")
    own, other = plot_scores(first, reference=second).lines
    assert own.get_ydata().tolist() == [4, 2, 1]
    np.testing.assert_allclose(other.get_ydata(), [2, 2 / 3, 4])  # b, c, a
    with pytest.raises(DataError, match="not of the same features"):
        plot_scores(first, reference=Ranking(["a"], [1.0], "relief"))


def test_rows_of_rank_intervals_go_by_the_mean_rank():
    """The list may order features otherwise than halves of the examples: order and ranges of one picture agree."""
    ranks = np.array([[3, 1, 2], [3, 1, 2], [2, 1, 3]])
    ax = plot_rank_intervals(Stability(("a", "b", "c"), ranks, np.array([0, 1, 2]), 0.9, 1, "3 halves"))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["b", "c", "a"]
    means, places = ax.lines
    np.testing.assert_allclose(means.get_xdata(), [1, 7 / 3, 8 / 3])
    assert places.get_xdata().tolist() == [2, 3, 1]


@pytest.mark.slow
def test_drawing_is_quiet_however_slow_the_machine_is(monkeypatch):
    """Matplotlib warns where it looks for a place for a legend, unasked, for more than a second."""
    monkeypatch.setattr("matplotlib.legend.time.perf_counter", itertools.count(step=10.0).__next__)
    curve = Curve([1, 10], [0.5, 0.7], "accuracy", "trees", True, "genie3")
    selection = SelectionCurve(np.array([1, 2]), np.array([[0.5, 0.6], [0.5, 0.7]]), "accuracy", True, "forest")
    for ax in (plot_scores(ranking(5), cut=2), plot_curves([curve, curve], ["a", "b"]), plot_selection(selection)):
        assert ax.get_legend() is not None
        assert drawn(ax)
