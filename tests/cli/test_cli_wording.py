"""What commands say: hints, names of methods, numbers side by side."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank.core.registry import method_name, methods
from omnirank.data.mulan import labels_of_relation
from omnirank.errors import DataError
from omnirank.evaluation.selection import SelectionCurve
from omnirank.evaluation.stability import Stability
from omnirank.plots import plot_rank_intervals
from tools.command import run


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    frame["kind"] = np.where(frame["a"] + rng.normal(size=60) > 0, "yes", "no")
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


@pytest.mark.parametrize("command", ["select", "stability"])
def test_the_number_of_trees_is_an_option_of_all_commands_that_rank(table, command):
    more = ["--resamples", 3] if command == "stability" else ["--folds", 3]
    run(command, table, "--target", "kind", "--trees", 2, *more)
    wrong = run(command, table, "--target", "kind", "--trees", 0, *more, code=2)
    assert "--trees 0: choose" in wrong.output


def test_errors_name_the_method(table):
    shown = " ".join(run("rank", table, "--ignore", "kind", "--method", "chi2", code=2).output.split())
    assert "(method 'chi2') needs a target" in shown
    assert method_name(om.ReliefRanker()) == "relief"
    assert method_name(om.ReliefRanker(algorithm="relieff")) == "relieff"


def test_controls_are_no_methods_that_use_a_target():
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(DataError, match="methods that use one for classification") as told:
        om.LaplacianRanker().fit(X, ["a", "b"] * 10)
    listed = str(told.value).partition("use one for classification: ")[2].split(", ")
    assert {"random", "uniform", "variance", "dispersion"} == {m.name for m in methods() if not m.uses_target}
    assert not {"random", "uniform", "variance", "dispersion"} & set(listed)
    assert "relief" in listed


def test_dates_as_text_are_told_in_words_for_everybody(tmp_path):
    dates = [f"{1 + i % 28}.{1 + i % 12}.20{10 + i % 9}" for i in range(60)]
    pd.DataFrame({"when": dates, "x": np.random.default_rng(0).normal(size=60)}).to_csv(tmp_path / "d.csv", index=False)
    shown = " ".join(run("rank", tmp_path / "d.csv", "--trees", 2).output.split())
    assert "'when' holds dates as text, taken as categories: turn them into numbers" in shown
    assert "pandas" not in shown


def test_scores_and_their_errors_have_the_same_decimals(table):
    shown = run("rank", table, "--target", "kind", "--trees", 20).stdout
    rows = [line.split() for line in shown.splitlines() if line.split()[1:2] in (["a"], ["b"], ["c"])]
    decimals = [{len(cell.partition(".")[2]) for cell in row[2:4]} for row in rows]
    assert len(decimals) == 3
    assert decimals[0] == decimals[1] == decimals[2]
    assert len(decimals[0]) == 1


def test_a_mean_has_the_decimals_of_its_error():
    values = np.array([[0.0, 0.5], [0.08, 0.6]])
    curve = SelectionCurve([1, 2], values, "accuracy", True, "neighbors")
    assert "accuracy 0.550 ± 0.050" in curve.summary
    zero = SelectionCurve([1, 2], values * 0, "accuracy", True, "neighbors")
    assert "accuracy 0.0000 ± 0.0000" in zero.summary


def test_one_attribute_is_singular():
    found = labels_of_relation("birds: -C -1", ["a", "b"])
    assert found == (("b",), ("the relation name says -C -1: the last attribute is the target",))
    assert labels_of_relation("birds: -C 2", ["a", "b", "c"])[1][0].endswith("the first 2 attributes are the target")


@pytest.mark.parametrize("width", [2.5, 4.0, 7.0])
def test_the_legend_of_rank_intervals_fits_into_the_figure(width):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    ranks = np.array([[1, 2, 3], [1, 3, 2], [1, 3, 2]])
    figure = Figure(figsize=(width, 2.5), layout="constrained")
    found = Stability(("a", "b", "c"), ranks, np.array([0, 2, 1]), 0.9, 1, "3 subsamples")
    ax = plot_rank_intervals(found, ax=figure.subplots())
    FigureCanvasAgg(figure).draw()
    legend = ax.get_legend().get_window_extent()
    assert legend.x1 <= figure.bbox.x1
    assert legend.y1 <= figure.bbox.y1
