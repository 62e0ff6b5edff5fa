"""Rankings over folds, curves, saturation, agreement and relevance."""

from __future__ import annotations

import numpy as np
import pytest

import omnirank as om
from omnirank.evaluation.cross import evaluate_folds, over_folds, relevance
from omnirank.evaluation.curves import (
    Curve,
    curve_area,
    label_curve,
    saturation_curve,
    saturation_rankings,
    saturation_size,
    top_curve,
)
from omnirank.evaluation.evaluate import evaluate
from omnirank.evaluation.folds import make_folds
from omnirank.evaluation.stability import ranking_agreement
from omnirank.plots import plot_curves
from omnirank.testing import tiny_dataset


def classes(n=90):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6))
    return om.Dataset(X, np.where(X[:, 0] + 0.3 * X[:, 1] > 0, "p", "q"))


def numbers(n=90):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6))
    return om.Dataset(X, X[:, 0] + 0.3 * X[:, 1])


# -- folds ------------------------------------------------------------------------------------------------


def test_means_over_folds_are_weighted_by_size():
    data = numbers(50)
    folds = make_folds(data, "cross-validation", n_folds=4, random_state=0)
    results = evaluate_folds(om.UnivariateRanker(), data, folds, [3, 5])
    by_hand = []
    for fold in folds:
        train, test = data.take(fold.train), data.take(fold.test)
        by_hand.append(evaluate(om.UnivariateRanker().fit(train), train, test, 5)["rrmse"])
    frame = results.frame[results.frame["n_neighbors"] == 5]
    assert frame["rrmse"].tolist() == by_hand
    assert sorted(frame["n_test"]) == [12, 12, 13, 13]
    summary = results.summary.set_index("n_neighbors")
    assert summary.loc[5, "rrmse"] == pytest.approx(np.average(by_hand, weights=frame["n_test"]))
    assert list(results.rankings) == [fold.key for fold in folds]


def test_f1_is_a_mean_over_folds_too():
    data = classes(50)
    folds = make_folds(data, "cross-validation", n_folds=4, random_state=0)
    results = evaluate_folds(om.UnivariateRanker(), data, folds, 5)
    frame = results.frame
    for name in ("f1_macro", "accuracy"):
        expected = np.average(frame[name], weights=frame["n_test"])
        assert results.summary[name].item() == pytest.approx(expected)


def test_folds_without_a_value_are_left_out_of_means():
    means, errors = over_folds([[1.0, np.nan], [0.0, np.nan], [np.nan, np.nan]], [3, 1, 9])
    assert means[0] == 0.75
    assert errors[0] == pytest.approx(np.sqrt((0.25**2 + 0.75**2) / 2))
    assert np.isnan([means[1], errors[1]]).all()


@pytest.mark.parametrize("task", ["multi-label", "hierarchical-multi-label", "clustering", "mixed-targets"])
def test_every_kind_of_target(task):
    data = tiny_dataset(task)
    folds = make_folds(data, "cross-validation", n_folds=3, random_state=0)
    summary = evaluate_folds(np.arange(5.0), data, folds, 3, top=2).summary
    assert np.isfinite(summary.iloc[0, 3:].astype(float)).any()


def test_which_labels_are_seen():
    data = classes()
    fold = make_folds(data, "semi-supervised", labelled=[12], n_folds=3, random_state=0)[0]
    seen = []

    class Spy(om.UniformRanker):
        def _rank(self, dataset):
            seen.append((dataset.n_examples, int(dataset.labelled.sum())))
            return super()._rank(dataset)

    n = len(fold.labelled)
    for neighbors in ("labelled", "oracle", "published"):
        evaluate_folds(Spy(), data, [fold], 5, neighbors=neighbors)
    evaluate_folds(Spy(), data, [fold], 5, use_unlabelled=False)
    assert seen == [(60, n), (60, n), (60, n), (n, n)]


def test_neighbour_modes_differ_as_they_should():
    data = classes()
    folds = make_folds(data, "semi-supervised", labelled=[12], n_folds=3, random_state=0)
    found = {
        mode: evaluate_folds(np.ones(6), data, folds, 9, neighbors=mode).summary["f1_macro"].item()
        for mode in ("labelled", "oracle", "published")
    }
    whole = make_folds(data, "cross-validation", n_folds=3, random_state=0)
    assert found["oracle"] == evaluate_folds(np.ones(6), data, whole, 9).summary["f1_macro"].item()
    assert len(set(found.values())) == 3


def test_bad_calls():
    data = classes()
    with pytest.raises(ValueError, match="no fold"):
        evaluate_folds(np.ones(6), data, [])


# -- curves -----------------------------------------------------------------------------------------------


def test_curve_over_labels():
    data = classes(150)
    folds = make_folds(data, "semi-supervised", labelled=[100, 10, 40], n_folds=3, random_state=0)
    results = evaluate_folds(om.UnivariateRanker(), data, folds, [3, 5])
    curve = label_curve(results, "f1_macro", 5, "univariate")
    assert curve.positions.tolist() == [10, 40, 100]
    low, middle, high = curve.values
    assert curve.area == pytest.approx((low / 2 + middle + high / 2) / 2)
    with pytest.raises(ValueError, match="n_neighbors=None: there are results for 3, 5: give one"):
        label_curve(results, "f1_macro")
    with pytest.raises(ValueError, match="n_neighbors=7: there are results for 3, 5"):
        label_curve(results, "f1_macro", 7)
    with pytest.raises(ValueError, match="was not measured"):
        label_curve(results, "rrmse", 5)
    plain = evaluate_folds(om.UnivariateRanker(), data, make_folds(data, "split"), 3)
    with pytest.raises(ValueError, match="hide no labels"):
        label_curve(plain, "f1_macro")


def test_area_of_five_points_is_the_published_formula():
    p = [0.070, 0.462, 0.776, 0.847, 0.894]
    assert curve_area(p) == pytest.approx((p[0] / 2 + p[1] + p[2] + p[3] + p[4] / 2) / 4)
    assert curve_area([0.3]) == 0.3
    for values in ([], [[0.1]]):
        with pytest.raises(ValueError, match="curve"):
            curve_area(values)


def test_better_by_follows_the_direction():
    a, b = (Curve([1, 2], [v, v], "rrmse", "trees", False) for v in (0.25, 0.5))
    assert a.better_by(b) == 0.25
    assert b.better_by(a) == -0.25
    assert a.best == 0
    with pytest.raises(ValueError, match="same measure"):
        a.better_by(Curve([1, 3], [0.5, 0.5], "rrmse", "trees", False))
    for positions, values in (([1, 1], [0.0, 0.0]), ([1, 2], [0.0]), ([], [])):
        with pytest.raises(ValueError, match="curve"):
            Curve(positions, values, "rrmse", "trees", False)


def test_curve_over_top_features():
    train, test = numbers().split(0.6, random_state=0)
    good = top_curve(om.UnivariateRanker().fit(train), train, test)
    random = top_curve(om.RandomRanker(random_state=1).fit(train), train, test, name="random")
    assert good.positions.tolist() == [1, 2, 4, 6]
    assert good.values[-1] == random.values[-1]
    assert good.values[0] < random.values[0]
    assert good.values[1] == evaluate(om.UnivariateRanker().fit(train), train, test, top=2, weighted=False)["rrmse"]
    assert (good.name, random.name) == ("univariate", "random")


def test_curves_are_drawn():
    first = Curve([50, 100, 500], [0.5, 0.7, 0.8], "f1_macro", "labelled examples", True, "genie3")
    second = Curve([50, 500], [0.4, 0.6], "f1_macro", "labelled examples", True, "relief")
    ax = plot_curves([first, second], baseline=0.3)
    assert ax.lines[0].get_xdata().tolist() == [0, 1, 2]
    assert ax.lines[1].get_xdata().tolist() == [0, 2]
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["genie3, area 0.675", "relief, area 0.500", "equal weights"]
    assert ax.get_ylabel() == "macro F1"
    trees = Curve([1, 100], [0.4, 0.6], "f1_macro", "trees", True)
    assert plot_curves(trees).lines[0].get_xdata().tolist() == [1, 100]
    for wrong in ([], [first, trees]):
        with pytest.raises(ValueError, match=r"no curve|different measures"):
            plot_curves(wrong)
    with pytest.raises(ValueError, match="there are 2 curves"):
        plot_curves([first, second], ["one"])


# -- saturation -------------------------------------------------------------------------------------------


def test_beginnings_of_one_forest_are_smaller_forests():
    train, _ = numbers().split(0.6, random_state=0)
    found = saturation_rankings(om.EnsembleRanker(random_state=3), train, [9, 3])
    assert list(found) == [3, 9]
    for n_trees, ranking in found.items():
        alone = om.EnsembleRanker(random_state=3, n_trees=n_trees).fit(train)
        np.testing.assert_array_equal(ranking.scores, alone.feature_importances_)


def test_saturation_of_iterations():
    train, test = numbers().split(0.6, random_state=0)
    ranker = om.ReliefRanker(n_neighbors=5, random_state=0)
    curve = saturation_curve(ranker, train, test, [10, 1.0])
    assert curve.axis == "iterations"
    assert curve.positions.tolist() == [10, 54]
    assert list(saturation_rankings(ranker, train, [54, 1.0, 0.5])) == [27, 54]  # all 54 examples, said twice
    assert curve.values[1] == evaluate(ranker.fit(train), train, test)["rrmse"]
    with pytest.raises(ValueError, match="neither trees nor iterations"):
        saturation_rankings(om.UnivariateRanker(), train, [1])


def test_size_that_is_enough():
    def size(values, larger=False, **options):
        return saturation_size(Curve([1, 10, 50, 100], values, "rrmse", "trees", larger), **options)

    assert size([0.9, 0.5, 0.5, 0.5]) == 10
    assert size([0.5, 0.5, 0.5, 0.5]) == 1
    assert size([0.9, 0.5, 0.9, 0.5]) == 100
    assert size([0.9, 0.7, 0.5, 0.9]) == 50
    assert size([0.5, 0.7, 0.8, 0.79], larger=True, tolerance=0.2) == 10


# -- agreement and relevance ------------------------------------------------------------------------------


def test_agreement_of_rankings():
    data = numbers()
    folds = make_folds(data, "cross-validation", n_folds=4, random_state=0)
    informed = ranking_agreement(evaluate_folds(om.UnivariateRanker(), data, folds, 5).rankings, k=2)
    blind = ranking_agreement([om.RandomRanker(random_state=i).fit(data).ranking_ for i in range(4)], k=2)
    assert len(informed.pairs) == 6
    assert informed.means["kuncheva"] > blind.means["kuncheva"]
    first = informed.pairs.iloc[0]
    rankings = evaluate_folds(om.UnivariateRanker(), data, folds, 5).rankings
    assert first["spearman"] == om.compare_rankings(rankings[first["first"]], rankings[first["second"]], 2).spearman
    assert informed.means["spearman"] == pytest.approx(informed.pairs["spearman"].mean())
    assert informed.top_counts["x1"] == 4
    assert len(ranking_agreement(list(rankings.values())[:2]).pairs) == 1
    with pytest.raises(ValueError, match="at least two"):
        ranking_agreement([om.RandomRanker(random_state=0).fit(data).ranking_])


def test_relevance():
    train, test = numbers().split(0.6, random_state=0)
    ranking = om.UnivariateRanker().fit(train)
    found = relevance(ranking, train, test, n_random=4, random_state=0)
    assert found == relevance(ranking, train, test, n_random=4, random_state=0, n_jobs=2)
    assert found.value == evaluate(ranking, train, test)["rrmse"]
    assert found.uniform == evaluate(np.ones(6), train, test)["rrmse"]
    assert found.gain == found.uniform - found.value > 0
    assert found.share_beaten == 1.0
    assert len(set(found.random)) == 4
    with pytest.raises(ValueError, match="choose one of rrmse, rmse, mae, r2 for regression"):
        relevance(ranking, train, test, measure="f1_macro", n_random=1)
    with pytest.raises(ValueError, match="n_random"):
        relevance(ranking, train, test, n_random=0)


def test_relevance_without_target():
    X = om.datasets.load_sample("digits").X
    train, test = om.Dataset(X).split(0.5, random_state=0)
    found = relevance(np.var(train.X, axis=0), train, test, top=8, n_random=5, random_state=0)
    assert found.measure == "top_features_rmse"
    assert found.value < found.random_mean
