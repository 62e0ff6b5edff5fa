"""`evaluate` against plain kNN written out, for every task, and how it matches names and levels."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier

import omnirank as om
from omnirank.data.dataset import join_examples
from omnirank.data.task_registry import TASKS
from omnirank.errors import DataError, DataTypeError, DataWarning, ParameterError
from omnirank.evaluation.cross import evaluate_folds
from omnirank.evaluation.evaluate import evaluate, evaluate_counts, predictions
from omnirank.evaluation.folds import make_folds
from omnirank.measures import measure
from omnirank.neighbors.weighted import ml_knn_probabilities, other_neighbors, weighted_neighbors
from omnirank.tasks import get_task, prototype_columns
from omnirank.testing import tiny_dataset
from reference import neighbors_knn as reference

SUPERVISED = [task for task in TASKS if task != "clustering"]


def numbers(n=60, n_features=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    return om.Dataset(X, X[:, 0] + 0.1 * rng.normal(size=n)).split(0.7, random_state=seed)


@pytest.mark.parametrize("task", SUPERVISED)
def test_means_of_the_nearest(task):
    data = tiny_dataset(task, nominal=False, missing=False)
    train, test = data.take(slice(24)), data.take(slice(24, None))
    scores = np.array([0.5, -0.1, 0.1, 0.0, 0.3])
    found = predictions(scores, train, test, [1, 4])
    cells = [part.features.numeric.tolist() for part in (train, test)]
    votes = prototype_columns(train.target).dense()
    for k in (1, 4):
        near = [reference.nearest(cells[0], row, np.maximum(scores, 0), k) for row in cells[1]]
        expected = np.array([votes[rows].mean(axis=0) for rows in near])
        np.testing.assert_allclose(found.means[k], expected, atol=1e-12)
        values = measure(test.target, expected, training=train.target, task=task, hierarchy=data.hierarchy)
        assert evaluate(scores, train, test, k) == pytest.approx(values, nan_ok=True)


@pytest.mark.parametrize("task", TASKS)
def test_every_task_with_levels_and_missing_cells(task):
    data = tiny_dataset(task)
    train, test = data.take(slice(24)), data.take(slice(24, None))
    one = evaluate(np.ones(5), train, test)
    default = get_task(task).default_neighbors
    several = evaluate(np.ones(5), train, test, [default, 3], n_jobs=2)
    assert list(several) == [default, 3]
    assert one == pytest.approx(several[default], rel=0, abs=0, nan_ok=True)
    assert np.isfinite(next(iter(one.values())))


def test_all_zero_weights_are_all_one():
    train, test = numbers()
    assert evaluate(np.zeros(4), train, test) == evaluate(np.ones(4), train, test)
    assert evaluate([1.0, -5.0, 0.0, 0.0], train, test) == evaluate([3.0, 0.0, 0.0, 0.0], train, test)


# -- which ranking ----------------------------------------------------------------------------------------


def test_features_are_matched_by_name():
    train, test = numbers()
    ranking = om.UnivariateRanker().fit(train).ranking_
    backwards = om.Ranking(ranking.names[::-1], ranking.scores[::-1], "reversed")
    turned = test.select_features(list(test.feature_names[::-1]))
    expected = evaluate(ranking, train, test)
    assert evaluate(backwards, train, test) == evaluate(ranking, train, turned) == expected
    assert evaluate(ranking.scores, train, test) == expected


@pytest.mark.parametrize(
    ("ranking", "message"),
    [
        (om.Ranking(["x0", "x1", "x2", "z"], [1, 1, 1, 1], "m"), r"only in the data \(such as 'x3'\).*such as 'z'"),
        (om.Ranking(["x1"], [1.0], "m"), "3 only in the data"),
        ([1.0, 2.0], r"shape \(2,\) for 4 features"),
        (om.UnivariateRanker(), "not fitted"),
    ],
)
def test_rankings_that_do_not_fit(ranking, message):
    train, test = numbers()
    with pytest.raises(ValueError, match=message):
        evaluate(ranking, train, test)


@pytest.mark.parametrize("ranking", ["genie3", om.UnivariateRanker, None])
def test_things_that_are_no_rankings(ranking):
    train, test = numbers()
    with pytest.raises(TypeError, match=r"a ranking is|is a class|give a ranker"):
        evaluate(ranking, train, test)


# -- which target -----------------------------------------------------------------------------------------


def test_classes_are_matched_by_level():
    train = om.Dataset([[0.0], [0.1], [1.0], [1.1]], ["b", "b", "c", "c"])
    test = om.Dataset([[0.05], [1.05], [0.0]], ["b", "c", "b"])
    assert evaluate([1.0], train, test, 1)["accuracy"] == 1.0
    shifted = om.Dataset([[0.05], [1.05], [0.0]], ["a", "c", "b"])  # codes differ, and "a" is new
    assert evaluate([1.0], train, shifted, 1)["accuracy"] == pytest.approx(2 / 3)


def test_levels_of_features_are_matched():
    train = om.Dataset(pd.DataFrame({"f": ["u", "v", "u", "v"]}), [0.0, 1.5, 0.0, 1.5])
    test = om.Dataset(pd.DataFrame({"f": ["v", "v", "w"]}), [1.5, 1.5, 0.5])
    with pytest.warns(UserWarning, match="not in the training data"):
        found = predictions([1.0], train, test, 2)
    assert found.means[2][:2].ravel().tolist() == [1.5, 1.5]


def test_different_tasks_are_refused():
    train, _ = numbers()
    with pytest.raises(ValueError, match="made for regression, the test data for clustering"):
        evaluate(np.ones(4), train, om.Dataset(train.X))


# -- which neighbours -------------------------------------------------------------------------------------


def semi_supervised():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [10.0]])
    train = om.Dataset(X, ["a", None, None, "b", "b"])
    return train, om.Dataset([[1.4], [10.0]], ["a", "b"])


def test_only_labelled_neighbours():
    train, test = semi_supervised()
    found = predictions([1.0], train, test, [1, 2, 99]).means
    assert found[1].tolist() == [[1, 0], [0, 1]]
    assert found[2].tolist() == [[0.5, 0.5], [0, 1]]
    np.testing.assert_allclose(found[99], [[1 / 3, 2 / 3]] * 2)


def test_published_neighbours():
    train, test = semi_supervised()
    found = predictions([1.0], train, test, [2, 3], neighbors="published").means
    # the two nearest of 1.4 have no label: the commonest class; the third nearest is "a"
    assert found[2][0].tolist() == [0, 1]
    assert found[3][0].tolist() == [1, 0]
    numeric = om.Dataset(train.X, [5.5, None, None, 6.5, 6.5])
    test = om.Dataset([[1.4]], [1.5])
    assert predictions([1.0], numeric, test, 2, neighbors="published").means[2].tolist() == [[0.0]]
    sets = om.Dataset(train.X, [{"p"}, None, None, {"q"}, {"q"}])
    test = om.Dataset([[1.4]], [{"p"}], task="multi-label", target_names=["p", "q"])
    assert predictions([1.0], sets, test, 2, neighbors="published").means[2].tolist() == [[0.0, 0.0]]


def test_bad_modes():
    train, test = semi_supervised()
    for wrong, message in (
        ({"neighbors": "all"}, "neighbors='all': choose one of"),
        ({"predictor": "svm"}, "predictor='svm': choose"),
        ({"predictor": "ml-knn"}, "cannot be used for classification"),
        *(({"top": top}, "a whole number from 1 to 1") for top in (0, 2, 1.5, True)),
    ):
        with pytest.raises(ValueError, match=message):
            evaluate([1.0], train, test, **wrong)
    with pytest.raises(ValueError, match="nothing to predict"):
        evaluate([1.0], train.hide_labels(slice(None)), test)
    for wrong in (0, [], [1, 1], [2.5], True):
        with pytest.raises(ValueError, match="n_neighbors="):
            evaluate_counts(wrong, "regression")


# -- which features ---------------------------------------------------------------------------------------


def test_top_features():
    train, test = numbers()
    scores = np.array([0.5, 0.1, 0.2, 0.0])
    kept = [0, 2]
    expected = evaluate(scores[kept], train.select_features(kept), test.select_features(kept))
    assert evaluate(scores, train, test, top=2) == expected
    plain = evaluate(np.ones(2), train.select_features(kept), test.select_features(kept))
    assert evaluate(scores, train, test, top=2, weighted=False) == plain != expected


def test_ml_knn_is_the_predictor():
    data = tiny_dataset("multi-label", missing=False, nominal=False)
    train, test = data.take(slice(24)), data.take(slice(24, None))
    scores = np.array([0.5, 0.1, 0.2, 0.0, 0.3])

    def expected(part, rows, weights, k):
        near, ids = (other_neighbors(part, weights, k), weighted_neighbors(part, rows, weights, k))
        return ml_knn_probabilities(train.target.dense(), near, ids)

    found = predictions(scores, train, test, [3, 7], predictor="ml-knn").means
    for k in (3, 7):
        np.testing.assert_allclose(found[k], expected(train.features, test.features, scores, k))
    top = predictions(scores, train, test, 3, predictor="ml-knn", top=2).means[3]
    best = (data.select_features([0, 4]).features for data in (train, test))
    np.testing.assert_allclose(top, expected(*best, np.ones(2), 3))


def test_without_target():
    """The nearest training example in plain distance on the top features predicts all features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 20)) * rng.choice([1.0, 10.0], 20)
    train, test = X[:30], X[30:]
    scores = rng.random(20)
    best = np.argsort(-scores)[:16]
    near = [int(np.argmin(((row[best] - train[:, best]) ** 2).sum(axis=1))) for row in test]
    squared = ((test - train[near]) ** 2).mean(axis=0)
    found = evaluate(scores, om.Dataset(train), om.Dataset(test))
    assert found["top_features_rmse"] == pytest.approx(np.sqrt(squared).mean())
    assert found["mse"] == pytest.approx(squared.mean())
    scaled = evaluate(scores, om.Dataset(train), om.Dataset(test), scaled=True)
    assert scaled["mse"] != found["mse"]


@pytest.mark.slow
def test_sparse_features_and_labels():
    rng = np.random.default_rng(0)
    X = sparse.random_array((80, 60), density=0.02, random_state=rng)
    y = sparse.csr_array((rng.random((80, 5)) < 0.3).astype(float))
    thin = om.Dataset(sparse.csr_array(X), y, task="multi-label")
    thick = om.Dataset(X.toarray(), y.toarray(), task="multi-label")
    scores = rng.random(60)
    found, expected = (evaluate(scores, d.take(slice(50)), d.take(slice(50, None)), 7) for d in (thin, thick))
    assert found == pytest.approx(expected)


def test_test_examples_among_the_training_examples():
    data = om.datasets.load_sample("iris")
    train, test = data.split(0.5, random_state=0)
    overlap = join_examples([test, train.take(slice(5))])
    with pytest.warns(DataWarning, match="6 % of the test examples are also training examples"):
        om.evaluate(np.ones(4), train, overlap)
    binary = om.Dataset(
        np.arange(128).reshape(-1, 1) >> np.arange(3) & 1, np.arange(128) % 2
    )  # rows coincide by chance
    om.evaluate(np.ones(3), binary.take(slice(64)), binary.take(slice(64, 128)))


def test_frames_and_arrays_are_no_data_sets():
    X, y = [[0.0], [1.0]], [0, 1]
    with pytest.raises(TypeError, match=r"train must be a Dataset, not tuple: make one with om.Dataset"):
        om.evaluate([1.0], (X, y), om.Dataset(X, y))
    with pytest.raises(TypeError, match="test must be a Dataset, not list"):
        om.evaluate([1.0], om.Dataset(X, y), X)


# -- as many neighbours as there are labelled examples, or more: figures say nothing then, and the user is told, once


@pytest.fixture(scope="module")
def parts():
    train, test = om.datasets.load_sample("iris").split(0.6, random_state=0)
    return train.keep_labels(12, random_state=0), test


def told(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    return [str(one.message) for one in caught]


@pytest.mark.parametrize(("k", "n"), [(11, 0), (12, 1), ([3, 50], 1)])
def test_evaluate(parts, k, n):
    found = told(lambda: om.evaluate([1.0, 1.0, 1.0, 1.0], *parts, k))
    assert len(found) == n
    largest = max(k) if isinstance(k, list) else k
    assert all(f"n_neighbors={largest}, but there are only 12 labelled training examples" in text for text in found)


def test_unlabelled_examples_count_where_they_take_places(parts):
    train = parts[0]
    assert told(lambda: om.evaluate([1.0] * 4, *parts, 12, neighbors="published")) == []
    [text] = told(lambda: om.evaluate([1.0] * 4, *parts, train.n_examples, neighbors="published"))
    assert f"there are only {train.n_examples} training examples" in text


def test_folds_warn_once_of_the_smallest(parts):
    data = om.datasets.load_sample("iris").keep_labels(20, random_state=0)
    folds = make_folds(data, "cross-validation", n_folds=3, random_state=0)
    fewest = min(int(fold.training(data).labelled.sum()) for fold in folds)
    [text] = told(lambda: evaluate_folds(om.rankers.UniformRanker(), data, folds, fewest))
    assert f"n_neighbors={fewest}, but there are only {fewest} labelled" in text
    assert told(lambda: evaluate_folds(om.rankers.UniformRanker(), data, folds, fewest - 1)) == []


# -- a ranking made for one target is not evaluated for another one --------------------------------


def named(target, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
    y = (X["a"] + rng.normal(size=40)).to_numpy()
    return om.Dataset(X, y if target is None else pd.Series(y, name=target))


def test_a_ranking_for_another_target_of_the_same_task_is_refused(tmp_path):
    data = named("weight")
    ranking = om.UnivariateRanker().fit(named("height")).ranking_
    ranking.save(tmp_path / "ranking.json")
    for given in (ranking, om.Ranking.load(tmp_path / "ranking.json")):
        with pytest.raises(DataError, match="made for another target: 'height', that of the data is 'weight'"):
            om.evaluate(given, data, data, 3)
    with pytest.raises(DataError, match="'weight', the target of the data, is a feature of it"):
        om.evaluate(om.Ranking(("a", "b", "c", "weight"), np.ones(4), "own"), data, data, 3)


@pytest.mark.parametrize(("made_for", "used_for"), [("height", "height"), (None, "height"), ("height", None)])
def test_the_same_target_and_targets_without_a_name_go_together(made_for, used_for):
    data = named(used_for)
    assert om.evaluate(om.UnivariateRanker().fit(named(made_for)), data, data, 3)


def test_a_ranking_without_target_goes_with_every_target():
    data = named("height")
    ranking = om.UnivariateRanker().fit(named("height").features.to_frame()).ranking_
    assert ranking.targets == ()
    assert om.evaluate(ranking, data, data, 3)


# -- what om.select, om.stability and om.significance say to things that are no rankers, and to equal scores


ASKED = (om.select, om.stability, om.significance)


def noise(n=40, d=3):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.integers(0, 2, n)


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (RandomForestClassifier(), r"RandomForestClassifier\(\): give a ranker, such as .* om.methods\(\) lists"),
        ("relief", "ranker='relief': give a ranker, such as"),
        (om.ReliefRanker, "ranker=<class .*: give a ranker"),
        ([om.ReliefRanker()], "give a ranker"),
        (None, "ranker=None: give a ranker"),
    ],
    ids=str,
)
def test_what_is_no_ranker_is_named(asked, wrong, advice):
    with pytest.raises(DataTypeError, match=advice):
        asked(wrong, *noise())


@pytest.mark.filterwarnings("ignore:feature")
def test_equal_scores_are_no_certain_places():
    _, y = noise()
    found = om.stability(om.UnivariateRanker(), np.ones((40, 4)), y, n_resamples=20, random_state=0)
    assert found.summary.startswith("all scores are equal (")
    assert found.n_equal == 20


@pytest.mark.filterwarnings("ignore:feature")
def test_features_of_equal_scores_change_places():
    X, _ = noise(100)
    X = np.hstack([X[:, :1], np.ones((100, 4))])
    found = om.stability(om.UnivariateRanker(), X, X[:, 0], n_resamples=20, random_state=0)
    assert found.summary.startswith("the first is certain (")
    again = om.stability(om.UnivariateRanker(), X, X[:, 0], n_resamples=20, random_state=0, n_jobs=2)
    np.testing.assert_array_equal(found.ranks, again.ranks)


def test_ranges_of_both_are_those_of_training_and_test_examples_together():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[40:, 0] *= 5
    y = X[:, 1] + X[:, 2]
    kinds = pd.Categorical(rng.choice(list("ab"), 60))
    data = om.Dataset(pd.DataFrame(X).add_prefix("x").assign(kind=kinds), y).hide_labels(slice(0, 10))
    train, test = data.take(np.arange(60) < 40), data.take(np.arange(60) >= 40)
    spans = np.ptp(X, axis=0)
    by_hand = np.append((np.ptp(X[10:40], axis=0) / spans) ** 2, 1.0)
    found = om.evaluate(np.ones(4), train, test, ranges="both")
    assert found == om.evaluate(by_hand, train, test) != om.evaluate(np.ones(4), train, test)
    with pytest.raises(ParameterError, match="ranges='all'"):
        om.evaluate(np.ones(4), train, test, ranges="all")


def test_what_is_no_ranker_and_what_has_no_test_data():
    data = om.datasets.load_sample("iris")
    with pytest.raises(DataTypeError, match=r"ranker='unbiased': give a ranker.*om\.make_ranker\('unbiased'\)"):
        om.evaluate("unbiased", data.X, data.y)
    with pytest.raises(DataError, match=r"judged on test data: evaluate\(ranking, train, test\)"):
        om.evaluate(om.UnivariateRanker().fit(data).ranking_, data)


def test_folds_without_a_rare_class_are_left_out():
    """Of 97 healthy and 3 sick, a constant prediction is no better than half right in the folds that have both."""
    rng = np.random.default_rng(0)
    data = om.Dataset(rng.normal(size=(100, 3)), ["healthy"] * 97 + ["sick"] * 3)
    found = om.evaluate(om.UnivariateRanker(), data)
    assert found["balanced_accuracy"] == 0.5
    assert found["f1_macro"] < 0.5
    curve = om.select(om.UnivariateRanker(), data, random_state=0).curve
    assert curve.constant_mean < 0.5
    with pytest.raises(DataError, match="'f1_macro' is not defined in any fold: use fewer folds"):
        om.select(om.UnivariateRanker(), data.take(slice(85, 100)), n_folds=15)


@pytest.mark.slow
@pytest.mark.parametrize("ranker", [om.UnivariateRanker(), om.EnsembleRanker("genie3", n_trees=3, random_state=0)])
def test_p_values_of_dense_and_sparse_data_are_the_same(ranker):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 5)) < 0.3, rng.normal(size=(60, 5)), 0.0)
    X[:, 4] = rng.normal(size=60)
    y = (X[:, 0] + X[:, 4] > 0).astype(int)
    stored = sparse.csr_array(X)
    stored.data[3] = 0.0  # a stored zero is a zero
    X = stored.toarray()
    found = [om.significance(ranker, cells, y, random_state=0, n_rounds=4).p_values for cells in (X, stored)]
    np.testing.assert_array_equal(*found)
