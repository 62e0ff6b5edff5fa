"""Pictures of targets, p values, hierarchies, groups, trees, measures, and of two rankings."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank.core.ranking.accumulators import TargetScores
from omnirank.errors import DataError, ParameterError
from omnirank.plots import (
    plot_group_shares,
    plot_hierarchy,
    plot_overlay,
    plot_predictions,
    plot_radar,
    plot_schema,
    plot_scores,
    plot_significance,
    plot_target_scores,
    plot_trade_off,
    plot_tree,
)
from omnirank.plots.structure import like_order, shown_features

ODD = "$\\frac{<b>&"


def drawn(ax):
    file = io.BytesIO()
    ax.get_figure(root=True).savefig(file, format="svg")
    return file.getvalue()


def texts(ax):
    return [text.get_text() for text in ax.texts if text.get_text() not in ("yes", "no")]  # branches of trees


def by_target(scores, names=None, targets=None):
    scores = np.asarray(scores, float)
    targets = targets or [f"t{i}" for i in range(len(scores))]
    names = names or [f"f{i}" for i in range(scores.shape[1])]
    return om.Ranking(names, scores.mean(axis=0), "genie3", per_target=TargetScores(tuple(targets), scores))


class TestTargets:
    def test_scores_are_relative_to_their_target(self):
        ranking = by_target([[4.0, -1.0, 2.0], [0.0, 0.0, 0.0], [0.1, 0.2, 0.0]])
        ax = plot_target_scores(ranking, cluster=False)
        rows = [label.get_text() for label in ax.get_yticklabels()]
        assert rows == [ranking.names[i] for i in ranking.order]
        cells = dict(zip(rows, ax.images[0].get_array().tolist(), strict=True))
        assert cells == {"f0": [1, 0, 0.5], "f1": [0, 0, 1], "f2": [0.5, 0, 0]}
        assert drawn(ax)

    def test_rounding_is_no_score(self):
        """A label that no example has has scores of rounding: its largest is not drawn like that of the others."""
        ranking = by_target([[4.0, 0.0], [1e-30, 3e-30]])
        assert plot_target_scores(ranking, cluster=False).images[0].get_array().tolist() == [[1, 0], [0, 0]]

    def test_a_feature_of_one_target_is_shown_before_a_weak_one_of_all(self):
        scores = np.full((5, 4), 0.4)
        scores[:, 0] = 1.0
        scores[4] = [0.1, 0.0, 0.0, 0.9]
        assert [by_target(scores).names[i] for i in shown_features(by_target(scores), 2)] == ["f0", "f3"]

    def test_alike_rows_are_neighbours(self):
        rng = np.random.default_rng(0)
        centres = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 1.0, 1.0]])
        kind = np.tile([0, 1, 2], 5)
        order = like_order(centres[kind] + 0.01 * rng.normal(size=(15, 4)))
        assert sorted(order.tolist()) == list(range(15))
        assert (np.diff(kind[order]) != 0).sum() == 2
        assert like_order(np.zeros((2, 3))).tolist() == [0, 1]

    def test_many_targets_are_counted_and_none_is_an_error(self):
        ranking = by_target(np.random.default_rng(0).random((100, 50)))
        ax = plot_target_scores(ranking, k=10)
        assert ax.get_xlabel() == "100 targets"
        assert ax.images[0].get_array().shape == (10, 100)
        with pytest.raises(DataError, match="no per-target scores"):
            plot_target_scores(om.Ranking(["a"], [1.0], "genie3"))


class TestSignificance:
    def test_p_values_are_corrected_and_bounded(self):
        ranking = om.Ranking(["a", "b", ODD], [3.0, 2.0, 1.0], "unbiased", p_values=[0.0, 0.02, 0.5])
        ax = plot_significance(ranking)
        np.testing.assert_allclose(ax.collections[0].get_offsets()[:, 0], [12, -np.log10(0.03), -np.log10(0.5)])
        assert ax.get_xlabel() == "-log10 p (Benjamini-Hochberg; below 1e-12 drawn as that)"
        usual = om.Ranking(["a"], [3.0], "unbiased", p_values=[0.01])
        assert plot_significance(usual).get_xlabel() == "-log10 p (Benjamini-Hochberg)"
        alone = plot_significance(ranking, correction=None, k=2)
        np.testing.assert_allclose(alone.collections[0].get_offsets()[:, 0], [12, -np.log10(0.02)])
        assert drawn(ax)

    def test_without_p_values(self):
        with pytest.raises(DataError, match="no p values"):
            plot_significance(om.Ranking(["a"], [1.0], "genie3"))


class TestHierarchy:
    def test_labels_stand_below_their_first_parent(self):
        dag = om.Hierarchy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("e", ODD)])
        ax = plot_hierarchy(dag, {label: i for i, label in enumerate(dag.labels)})
        shown = texts(ax)
        assert sorted(shown) == sorted(dag.labels)
        at = {text.get_text(): text.get_position() for text in ax.texts}
        assert at["d"][0] == at["b"][0] + 1 == at["a"][0] + 2
        assert at["a"][1] < at["b"][1] < at["d"][1]
        assert any(line.get_linestyle() == ":" for line in ax.lines)  # the second parent of d
        assert drawn(ax)

    def test_of_many_labels_the_largest_are_shown_with_their_ancestors(self):
        tree = om.Hierarchy.from_edges([(f"r{i}", f"r{i}.{j}") for i in range(20) for j in range(5)])
        values = np.zeros(len(tree))
        values[[tree.index("r7.3"), tree.index("r2.1")]] = [2.0, 1.0]
        shown = set(texts(plot_hierarchy(tree, values, k=4)))
        assert shown == {"r7", "r7.3", "r2", "r2.1", "... and 116 labels with smaller values, not drawn"}

    def test_values_must_fit(self):
        tree = om.Hierarchy.from_edges([("a", "b")])
        with pytest.raises(DataError, match="for 2 labels"):
            plot_hierarchy(tree, [1.0])
        with pytest.raises(DataError, match="no value for 1 label, the first is 'b'"):
            plot_hierarchy(tree, {"a": 1.0})


class TestSchema:
    DATA = om.datasets.make_movies(20, 15, random_state=0)

    def test_boxes_stand_by_the_number_of_links_from_the_examples(self):
        ax = plot_schema(self.DATA)
        at = {text.get_text(): text.get_position() for text in ax.texts}
        titles = [at[f"{kind} ({len(self.DATA.database.objects[kind])})"] for kind in ("movies", "ratings", "users")]
        assert titles[0][0] < titles[1][0] < titles[2][0]
        assert at["target: genre"][0] == titles[0][0]
        assert at["user_id → users"][0] == at["stars"][0] == titles[1][0]
        assert "levels" in " ".join(at)
        assert drawn(ax)

    def test_scores_are_bars_and_of_many_relations_the_best_are_drawn(self):
        names = self.DATA.feature_names
        scores = [5.0 if name == "ratings_weekday" else 2.0 if name == "ratings_movie_id" else 0.0 for name in names]
        ax = plot_schema(self.DATA, om.Ranking(names, scores, "genie3"), k=2)
        shown = texts(ax)
        assert {"weekday", "movie_id → movies", "5", "2", "... and 2 more"} <= {*shown}
        assert "stars" not in shown
        links = sorted(patch.get_linewidth() for patch in ax.patches if not patch.get_facecolor()[3])
        assert len(links) == 3  # also of relations that are not drawn
        assert links[2] > 2 * links[1] == 2 * links[0]
        with pytest.raises(DataError, match="the ranking is of 'a' and others"):
            plot_schema(self.DATA, om.Ranking(["a"], [1.0], "genie3"))


class TestGroups:
    def test_small_groups_are_added_up(self):
        ranking = om.Ranking([f"f{i}" for i in range(6)], [6.0, 1.0, 1.0, 1.0, 1.0, -5.0], "genie3")
        ax = plot_group_shares(ranking, {f"f{i}": f"g{i}" for i in range(6)}, k=2)
        assert [label.get_text() for label in ax.get_yticklabels()] == ["g0 (1)", "5 others (5)"]
        np.testing.assert_allclose([bar.get_width() for bar in ax.patches], [0.6, 0.4])
        np.testing.assert_allclose(ax.lines[0].get_xdata(), [1 / 6, 5 / 6])
        assert drawn(ax)


class TestTree:
    def test_leaves_of_many_targets_show_those_that_deviate(self):
        rng = np.random.default_rng(0)
        x = rng.random(200)
        y = rng.normal(size=(200, 6)) * 0.1
        y[:, 4] += 10 * (x > 0.5)
        names = [f"y{i}" for i in range(6)]
        data = om.Dataset(x[:, None], y, feature_names=[ODD], target_names=names)
        ax = plot_tree(om.PCTRegressor(max_depth=1, random_state=0).fit(data))
        test, left, right = texts(ax)
        assert test.startswith(f"{ODD} <= 0.")
        assert left.splitlines()[0].startswith("y4:")
        assert left.splitlines()[0].endswith("↓")
        assert right.splitlines()[0].endswith("↑")
        assert len(left.splitlines()) == 4  # three targets, and the number of examples
        assert drawn(ax)

    def test_deep_trees_are_cut_and_counted(self):
        data = om.datasets.load_sample("digits")
        model = om.PCTClassifier(random_state=0).fit(data)
        shown = texts(plot_tree(model, max_depth=2))
        counts = [int(text.split()[1]) for text in shown if text.startswith("...")]
        leaves = [text for text in shown if "%" in text and not text.startswith("...")]
        assert sum(counts) + len(leaves) == model.tree_.n_leaves
        assert len(shown) <= 7

    def test_a_branch_says_what_it_answers(self):
        ax = plot_tree(om.PCTClassifier(pruning=None).fit([[1.0], [2.0], [3.0], [4.0]], ["low", "low", "high", "high"]))
        places = {text.get_text(): text.get_position()[1] for text in ax.texts}
        assert places["yes"] == places["low (100 %)\n2 examples"]
        assert places["no"] == places["high (100 %)\n2 examples"]

    def test_labels_clusters_and_a_root_alone(self):
        data = om.datasets.load_sample("iris")
        assert "cluster 0" in texts(plot_tree(om.PCTClusterer(max_leaves=2).fit(data.X)))[1]
        Y = np.array([[1, 0, 0, 1, 0], [0, 1, 0, 0, 1]] * 10)
        model = om.PCTClassifier(task="multi-label").fit(np.array([[0.0], [1.0]] * 10), Y)
        assert "100 % ↑" in texts(plot_tree(model))[1]
        alone = plot_tree(om.PCTRegressor().fit(np.zeros((4, 1)), np.arange(4.0)))
        assert texts(alone) == ["1.5\n4 examples"]


class TestRadar:
    def test_the_first_rank_is_at_the_centre(self):
        table = pd.DataFrame({"rrmse": [1.0, 2.0], "r2": [2.0, 1.0], "seconds": [1.5, 1.5]}, index=["a", ODD])
        ax = plot_radar(table)
        rings = [line for line in ax.lines if line.get_label() in ("a", ODD)]
        radii = [np.hypot(*line.get_data())[:3] for line in rings]
        np.testing.assert_allclose(radii, [[0, 1, 0.5], [1, 0, 0.5]], atol=1e-12)
        assert texts(ax) == ["RRMSE\nbest: 1", "R²\nbest: 1", "seconds\nbest: 1.5"]
        assert drawn(ax)
        with pytest.raises(DataError, match="at least three measures"):
            plot_radar(table[["rrmse", "r2"]])


class TestOverlay:
    def test_features_beyond_the_top_stand_below_with_their_rank(self):
        names = [f"f{i}" for i in range(10)]
        a = om.Ranking(names, np.arange(10.0, 0, -1), "genie3")
        b = om.Ranking(names[::-1], [9.0, *np.arange(8.0, -1, -1)], "relief")
        ax = plot_overlay(a, b, k=3, labels=["before", "after"])
        shown = texts(ax)
        assert {"1  f0", "f0  10", "10  f9", "f9  1", "before", "after"} <= set(shown)
        assert drawn(ax)
        same = plot_overlay(a, a, k=3)
        assert len(same.lines) == 3
        assert all(line.get_ydata()[0] == line.get_ydata()[1] for line in same.lines)

    def test_rankings_of_other_features_are_refused(self):
        a, b = (om.Ranking([name], [1.0], "genie3") for name in "ab")
        with pytest.raises(DataError, match="not of the same features"):
            plot_overlay(a, b)
        with pytest.raises(ParameterError, match="each of the two"):
            plot_overlay(a, a, labels=["one"])


class TestScores:
    def test_the_axis_of_many_features_is_logarithmic(self):
        few, many = (om.Ranking([f"f{i}" for i in range(n)], np.arange(float(n)), "genie3") for n in (5, 200))
        assert plot_scores(few).get_xscale() == "linear"
        ax = plot_scores(many, reference=np.zeros(200), cut=7)
        assert ax.get_xscale() == "log"
        assert ax.lines[0].get_ydata().tolist() == sorted(many.scores, reverse=True)
        assert drawn(ax)
        with pytest.raises(ParameterError, match="cut=9"):
            plot_scores(few, cut=9)


def test_shares_of_groups_by_target_fill_a_bar_each():
    ranking = by_target([[3.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    groups = {"f0": "body", "f1": "body", "f2": "head"}
    ax = plot_group_shares(ranking, groups, by_target=True)
    widths = {(round(bar.get_y() + 0.4), bar.get_x()): bar.get_width() for bar in ax.patches}
    assert widths == {(0, 0): 1.0, (1, 0): 0.5, (0, 1): 0.0, (1, 0.5): 0.5}
    few = plot_group_shares(ranking, {name: name for name in groups}, k=2, by_target=True)
    assert [text.get_text() for text in few.get_legend().get_texts()] == ["f0 (1)", "2 others (2)"]
    assert drawn(ax)


def test_the_front_has_what_none_beats_in_both():
    times, errors = [1.0, 2.0, 3.0, 4.0, 4.0], [0.5, 0.6, 0.2, 0.2, 0.1]
    assert plot_trade_off(times, errors, list("abcde")).lines[0].get_xdata().tolist() == [1.0, 3.0, 4.0]
    with pytest.raises(DataError, match="a time above 0"):
        plot_trade_off([0.0], [1.0], ["a"])


def test_predictions_without_times_stand_beside_the_line_of_equal_values():
    ax = plot_predictions([1.0, 2.0, np.nan], [1.5, 1.8, 2.0])
    assert ax.lines[0].get_slope() == 1
    assert drawn(ax)
    with pytest.raises(DataError, match="for each measured one"):
        plot_predictions([1.0], [1.0], when=[1, 2])
