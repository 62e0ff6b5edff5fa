"""Rankings over folds, and curves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank.errors import ConstantTargetError, DataError, DataWarning, FileFormatError, ParameterError
from omnirank.evaluation.cross import (
    Curve,
    curve_area,
    evaluate_folds,
    evaluate_relational,
    over_folds,
)
from omnirank.evaluation.evaluate import evaluate
from omnirank.evaluation.folds import Fold, make_folds, read_folds
from omnirank.plots import plot_curves
from omnirank.relational import RelationalDataset, RelationalRanker, RelationalTree
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
    seen, weight = [], np.exp(data.X[:, 0])

    class Spy(om.rankers.WeightedRanker, om.rankers.UniformRanker):
        def _rank(self, dataset, sample_weight):
            np.testing.assert_array_equal(sample_weight, np.exp(dataset.X[:, 0]))
            seen.append((dataset.n_examples, int(dataset.labelled.sum())))
            return super()._rank(dataset)

    n = len(fold.labelled)
    for neighbors in ("labelled", "oracle", "published"):
        evaluate_folds(Spy(), data, [fold], 5, neighbors=neighbors, sample_weight=weight)
    assert seen == [(60, n)] * 3


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


# -- curves -----------------------------------------------------------------------------------------------


def test_area_of_five_points_is_the_published_formula():
    p = [0.070, 0.462, 0.776, 0.847, 0.894]
    assert curve_area(p) == pytest.approx((p[0] / 2 + p[1] + p[2] + p[3] + p[4] / 2) / 4)
    assert curve_area([0.3]) == 0.3
    for values in ([], [[0.1]]):
        with pytest.raises(ValueError, match="curve"):
            curve_area(values)


@pytest.mark.slow
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


# -- parts of the data in which a class is lost: their features tell nothing, and the whole is still ranked


def rare(n=40):
    X = np.random.default_rng(0).normal(size=(n, 4))
    return X, np.array(["a"] * (n - 1) + ["b"])


def rankers():
    trees = om.EnsembleRanker("genie3", n_trees=3, min_samples_leaf=1, random_state=0)
    return [trees, om.rankers.SEFRRanker(random_state=0), om.PerTargetRanker(trees)]


@pytest.mark.slow
@pytest.mark.parametrize("ranker", rankers(), ids=lambda ranker: type(ranker).__name__)
def test_select_and_stability_rank_parts_without_the_rare_class(ranker):
    X, y = rare()
    if isinstance(ranker, om.PerTargetRanker):
        y = np.column_stack([y, y]).astype(object)
    chosen = om.select(ranker, X, y, random_state=0)
    assert 1 <= len(chosen.names) <= 4
    found = om.stability(ranker, X, y, n_resamples=8, random_state=0)
    assert 0 < found.n_equal < 8
    assert f"{found.n_equal} of them with equal scores only" in found.summary


@pytest.mark.slow
def test_folds_and_resamples_may_lose_a_class():
    X, y = rare()
    trees = om.EnsembleRanker("genie3", n_trees=3, min_samples_leaf=1, random_state=0, n_features_to_select="auto")
    assert trees.fit(X, y).get_support().any()
    assert om.select(trees, X, y, by="forest", random_state=0).names
    resampled = om.ResampledRanker(trees, examples="subsample", n_iterations=6, random_state=0)
    assert "genie3" in resampled.fit(X, y).ranking_.method
    folds = make_folds(om.Dataset(X, y), "cross-validation", n_folds=4, random_state=0)
    assert len(evaluate_folds(trees, om.Dataset(X, y), folds, 3).frame) == 4


def test_a_target_that_is_constant_everywhere_is_still_an_error():
    X, _ = rare()
    y = np.array(["a"] * len(X))
    trees = om.EnsembleRanker("genie3", n_trees=3, min_samples_leaf=1, random_state=0)
    for asked in (om.select, om.stability, om.significance):
        with pytest.raises(ConstantTargetError, match=r"one class only \('a'\): there is nothing to learn"):
            asked(trees, X, y, random_state=0)


# -- cross-validation of relational learners, on generated data and on mutagenesis -----------------


MOVIES = om.datasets.make_movies(random_state=0)


def test_values_are_those_of_the_folds():
    model = RelationalTree(random_state=0)
    found = evaluate_relational({"tree": model}, MOVIES, n_folds=3, random_state=1)
    right = []
    for fold in make_folds(MOVIES, n_folds=3, random_state=1):
        fitted = RelationalTree(random_state=0).fit(MOVIES.take(fold.train))
        right += (fitted.predict(MOVIES.take(fold.test)) == np.asarray(MOVIES.y)[fold.test]).tolist()
    value = found.summary.set_index(["model", "measure"])["value"]
    assert value["tree", "accuracy"] == pytest.approx(np.mean(right))
    own = found.predictions[found.predictions["model"] == "tree"]
    assert (own["truth"] == own["predicted"]).tolist() == right
    assert len(own["example"].unique()) == MOVIES.n_examples
    by_fold = found.values[(found.values["model"] == "tree") & (found.values["measure"] == "accuracy")]
    assert np.average(by_fold["value"], weights=by_fold["n_test"]) == pytest.approx(np.mean(right))
    most = pd.Series(MOVIES.y).value_counts(normalize=True).max()
    assert value["constant", "accuracy"] == pytest.approx(most)
    assert not hasattr(model, "tree_")


def test_labels_of_the_test_fold_do_not_help():
    rng = np.random.default_rng(0)
    shuffled = replace(MOVIES, target=MOVIES.target.take(rng.permutation(MOVIES.n_examples)))
    found = evaluate_relational(RelationalTree(random_state=0), shuffled, n_folds=3, random_state=1)
    assert found.summary.set_index(["model", "measure"])["value"]["RelationalTree", "accuracy"] < 0.5


def accuracy_by_fold(found):
    part = found.values[(found.values["model"] == "tree") & (found.values["measure"] == "accuracy")]
    return part.set_index("fold")[["value", "n_train", "n_test"]]


def test_folds_may_be_given(tmp_path):
    models = {"tree": RelationalTree(max_depth=2, random_state=0)}
    number = np.arange(MOVIES.n_examples) % 4
    by_number = accuracy_by_fold(evaluate_relational(models, MOVIES, folds=number))
    assert by_number["n_test"].tolist() == [50] * 4
    parts = [np.flatnonzero(number == i) for i in range(4)]
    folds = [Fold(np.setdiff1d(np.arange(200), part), part, None, f"fold={i}") for i, part in enumerate(parts)]
    pd.testing.assert_frame_equal(accuracy_by_fold(evaluate_relational(models, MOVIES, folds=folds)), by_number)
    ids = [MOVIES.example_ids[part] for part in parts]
    file = tmp_path / "folds.txt"
    file.write_text("|movies\n" + "".join("|||\n" + "\n".join(map(str, part)) + "\n" for part in ids))
    pd.testing.assert_frame_equal(accuracy_by_fold(evaluate_relational(models, MOVIES, folds=file)), by_number)
    file.write_text("1\n2\n3\n\n3\n4\n")
    with pytest.warns(DataWarning, match="5 entries of 4 examples: the folds are no partition"):
        first, second = read_folds(file, MOVIES.example_ids)
    assert set(first.train) & set(first.test) == set()
    assert (len(first.test), len(second.test), len(second.train)) == (3, 2, 2)
    file.write_text("1\n\nx\n")
    with pytest.raises(FileFormatError, match="line 3: there is no example 'x'"):
        read_folds(file, MOVIES.example_ids)
    file.write_text("1\n2\n")
    with pytest.raises(FileFormatError, match="fewer than two folds"):
        read_folds(file, MOVIES.example_ids)
    with pytest.raises(ParameterError, match="fold of each of 200"):
        evaluate_relational(models, MOVIES, folds=[1, 2])


def test_groups_stay_in_one_fold():
    groups = np.arange(MOVIES.n_examples) // 10
    models = {"tree": RelationalTree(max_depth=1, random_state=0)}
    found = evaluate_relational(models, MOVIES, n_folds=4, groups=groups, random_state=0)
    of = dict(zip(MOVIES.example_ids.tolist(), groups.tolist(), strict=True))
    part = found.predictions[found.predictions["model"] == "tree"]
    assert part.groupby(part["example"].map(of))["fold"].nunique().max() == 1


def test_label_sets_are_predicted_label_by_label():
    sets = [{"a"} if i % 3 else {"a", "b", "c"} for i in range(12)]
    rows = pd.DataFrame({"id": range(12), "x": np.arange(12) % 3, "y": sets})
    data = RelationalDataset.from_frames({"rows": rows}, target="rows.y", types={"rows.x": "numeric"})
    found = evaluate_relational({"tree": RelationalTree(random_state=0)}, data, n_folds=2, random_state=0).predictions
    truth = found[found["model"] == "tree"].set_index("example")["truth.b"]
    assert truth.sort_index().tolist() == ["b" in own for own in sets]


@pytest.mark.slow
def test_rankers_are_judged_by_their_ensembles_and_rank_in_every_fold():
    hidden = MOVIES.hide_labels(range(20))
    models = {"ranker": RelationalRanker(n_trees=3, max_path_length=2, random_state=0)}
    found = evaluate_relational(models, hidden, n_folds=3, random_state=0)
    assert len(found.rankings["ranker"]) == 3
    assert list(found.rankings) == ["ranker"]
    assert len(found.predictions[found.predictions["model"] == "ranker"]) == 180


def test_what_is_refused():
    with pytest.raises(DataError, match="no target"):
        evaluate_relational({}, replace(MOVIES, target=None))
    with pytest.raises(ParameterError, match="constant"):
        evaluate_relational({"constant": RelationalTree()}, MOVIES)
