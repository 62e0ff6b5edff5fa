"""ML-kNN against the slow reference, and what it accepts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

import omnirank as om
from draws import draws
from reference import neighbors_knn as reference


@draws(15)
@given(data=st.data())
def test_probabilities(data):
    n, n_labels = data.draw(st.integers(3, 12)), data.draw(st.integers(1, 3))
    k, s = data.draw(st.integers(1, n - 1)), data.draw(st.sampled_from([0.5, 1.0, 2.0]))
    cells = st.lists(st.integers(0, 4), min_size=2, max_size=2)
    X = data.draw(st.lists(cells, min_size=n + 2, max_size=n + 2))
    sets = st.lists(st.integers(0, 1), min_size=n_labels, max_size=n_labels)
    y = data.draw(st.lists(sets, min_size=n, max_size=n))
    train, test = [[float(x) for x in row] for row in X[:n]], [[float(x) for x in row] for row in X[n:]]
    found = om.MLkNN(n_neighbors=k, smoothing=s).fit(np.array(train), np.array(y)).predict_proba(np.array(test))
    expected = [reference.ml_knn(train, y, row, k, s) for row in test]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def digits_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    return X, np.column_stack([X[:, 0] > 0, X[:, 1] + X[:, 0] > 0]).astype(int)


def test_predicts_and_uses_weights():
    X, y = digits_labels()
    plain = om.MLkNN(n_neighbors=7).fit(X[:80], y[:80])
    weighted = om.MLkNN(n_neighbors=7, feature_weights=[1, 1, 0, 0, 0]).fit(X[:80], y[:80])
    right = [np.mean(model.predict(X[80:]) == y[80:]) for model in (plain, weighted)]
    assert right[1] > right[0] > 0.75
    part = om.MLkNN(n_neighbors=7).fit(X[:80, :2], y[:80])
    np.testing.assert_array_equal(weighted.predict_proba(X[80:]), part.predict_proba(X[80:, :2]))


def test_a_label_is_predicted_from_the_threshold_on():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 2)), rng.integers(0, 2, (20, 3))
    model = om.MLkNN(n_neighbors=4).fit(X, Y)
    shares = model.predict_proba(X)
    for threshold in np.unique(shares):
        predicted = model.set_params(threshold=threshold).predict(X)
        np.testing.assert_array_equal(predicted, (shares > threshold) | (shares == threshold))


def test_unlabelled_examples_are_left_out():
    X, y = digits_labels()
    hidden = y.astype(float)
    hidden[::2] = np.nan
    partly, part = om.MLkNN().fit(X, hidden), om.MLkNN().fit(X[1::2], y[1::2])
    np.testing.assert_array_equal(partly.predict_proba(X), part.predict_proba(X))


def test_few_examples_and_duplicates():
    with pytest.warns(UserWarning, match="n_neighbors=10, but there are only 4 labelled training examples"):
        model = om.MLkNN(n_neighbors=10).fit(np.zeros((4, 1)), [[1], [1], [0], [1]])
    assert model.n_neighbors_ == 3
    assert model.predict_proba([[0.0]]).shape == (1, 1)


@pytest.mark.parametrize("parameters", [{"n_neighbors": 0}, {"smoothing": 0.0}, {"feature_weights": [1.0]}])
def test_bad_parameters(parameters):
    X, y = digits_labels()
    with pytest.raises(
        ValueError, match=r"n_neighbors=0: choose|smoothing=0.0: choose|feature_weights=.*: choose None or 5 numbers"
    ):
        om.MLkNN(**parameters).fit(X, y)


def test_other_tasks_are_refused():
    for data in (om.Dataset([[0.0], [1.0]], [0.5, 1.5]), om.Dataset([[0.0], [1.0]])):
        with pytest.raises(ValueError, match=r"label sets|requires y"):
            om.MLkNN().fit(data)


def test_classes_are_sets_of_one_label():
    X, y = digits_labels()
    names = np.array(["low", "high"])[y[:, 0]]
    found = om.MLkNN().fit(X[:80], names[:80]).predict_proba(X[80:])
    hot = np.column_stack([names == "high", names == "low"]).astype(int)
    np.testing.assert_array_equal(found, om.MLkNN().fit(X[:80], hot[:80]).predict_proba(X[80:]))
    predicted = om.MLkNN().fit(X[:80], names[:80]).predict(X[80:])
    assert predicted.tolist() == np.array(["high", "low"])[found.argmax(axis=1)].tolist()


# scikit-learn 1.6 checks with ten examples, as many as there are neighbours.
@pytest.mark.every(3)
@pytest.mark.filterwarnings("ignore:n_neighbors=10, but there are only:UserWarning")
@parametrize_with_checks([om.MLkNN()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_hierarchy_and_dataset():
    hierarchy = om.Hierarchy.from_paths(["a", "a/b"])
    data = om.Dataset([[0.0], [0.1], [1.0], [1.1]], [{"a/b"}, {"a/b"}, {"a"}, {"a"}], hierarchy=hierarchy)
    assert om.MLkNN(n_neighbors=1).fit(data).task_ == "hierarchical-multi-label"


def test_score_and_classes_of_label_sets():
    X, y = digits_labels()
    model = om.MLkNN(n_neighbors=7).fit(X[:80], y[:80])
    assert [classes.tolist() for classes in model.classes_] == [[0, 1], [0, 1]]
    wanted = np.mean((model.predict(X[80:]) == y[80:]).all(axis=1))
    assert model.score(X[80:], y[80:]) == wanted
    assert model.score(om.Dataset(X[80:], y[80:])) == wanted
    tree = om.PCTClassifier(random_state=0).fit(X[:80], y[:80])
    assert [classes.tolist() for classes in tree.classes_] == [classes.tolist() for classes in model.classes_]


def test_score_and_classes_of_classes():
    X, y = digits_labels()
    names = np.array(["low", "high"])[y[:, 0]]
    model = om.MLkNN(n_neighbors=7).fit(X[:80], names[:80])
    predicted = model.predict(X[80:])
    assert model.classes_.tolist() == ["high", "low"]
    assert predicted.dtype == model.classes_.dtype == names.dtype
    assert model.score(X[80:], names[80:]) == np.mean(predicted == names[80:])


def test_labels_are_matched_by_name_in_score():
    X = [[0.0], [0.1], [1.0], [1.1]]
    model = om.MLkNN(n_neighbors=1).fit(X, [["a"], ["a"], ["b", "c"], ["b", "c"]])
    assert model.score([[0.05], [1.05]], [{"a"}, {"c", "b"}]) == 1.0
    assert model.score([[1.05]], [{"c"}]) == 0.0  # not a column for 'c' alone
    turned = om.Dataset([[1.05]], [[1, 0, 1]], target_names=["c", "a", "b"])
    assert model.score(turned) == 1.0
    with pytest.raises(ValueError, match="'c' is in one of them only"):
        model.score(om.Dataset([[1.05]], [[1, 0, 1]], target_names=["d", "a", "b"]))
