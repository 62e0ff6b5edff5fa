"""score of classifiers: what counts, what does not."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import r2_score
from sklearn.tree import DecisionTreeClassifier

import omnirank as om
from omnirank.data.target import Target
from omnirank.tasks.scoring import in_training_order


@pytest.fixture(scope="module")
def flowers():
    return om.datasets.load_sample("iris").split(0.7, random_state=0)


def test_unlabelled_rows_do_not_count(flowers):
    train, test = flowers
    tree = om.PCTClassifier(random_state=0).fit(train.X, train.y)
    y = np.array(test.y, dtype=object)
    wrong = tree.predict(test.X) != y
    assert 0 < wrong.sum() < len(y)
    right_only = np.where(wrong, None, y)
    assert tree.score(test.X, right_only) == 1.0
    whole = om.PCTClassifier(random_state=0).fit(train)
    assert whole.score(test.hide_labels(np.flatnonzero(wrong))) == 1.0
    assert tree.score(test.X, y) == np.mean(~wrong)
    weights = np.where(wrong, 3.0, 1.0)
    assert tree.score(test.X, y, sample_weight=weights) == pytest.approx(np.average(~wrong, weights=weights))
    assert tree.score(test.X, right_only, sample_weight=weights) == 1.0


def test_nothing_labelled_is_an_error(flowers):
    train, test = flowers
    tree = om.PCTClassifier(random_state=0).fit(train.X, train.y)
    with pytest.raises(om.errors.DataError, match="no example of y has a known target"):
        tree.score(test.X, [None] * test.n_examples)
    with pytest.raises(om.errors.DataError, match="give the target of the examples in X"):
        tree.score(test.X)


def test_unknown_single_labels_do_not_count():
    X = np.array([[0.0], [0.1], [1.0], [1.1]] * 3)
    y = np.array([[1, 0], [1, 0], [0, 1], [0, 1]] * 3, dtype=float)
    tree = om.PCTClassifier(random_state=0).fit(X, y)
    assert tree.score(X[:3], [[1, np.nan], [np.nan, np.nan], [np.nan, 0]]) == 0.5


def test_strings_have_the_type_that_scikit_learn_gives_them(flowers):
    train, test = flowers
    names = np.array(train.y, dtype=str)
    theirs = DecisionTreeClassifier(random_state=0).fit(train.X, names)
    for ours in (om.PCTClassifier(random_state=0), om.PCTForestClassifier(n_trees=3, random_state=0)):
        ours.fit(train.X, names)
        assert ours.classes_.dtype == theirs.classes_.dtype
        assert ours.predict(test.X).dtype == theirs.predict(test.X).dtype


def test_unknown_numbers_do_not_count():
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    y = np.column_stack([X[:, 0], X.sum(axis=1)])
    tree = om.PCTRegressor(random_state=0).fit(X, y)
    predicted = tree.predict(X)
    hidden = y.copy()
    hidden[:10] = np.nan
    hidden[10:20, 1] = np.nan
    weights = rng.random(60)
    wanted = [r2_score(y[n:, v], predicted[n:, v], sample_weight=weights[n:]) for v, n in ((0, 10), (1, 20))]
    assert tree.score(X, hidden, weights) == pytest.approx(np.mean(wanted))
    assert tree.score(X, y) == pytest.approx(r2_score(y, predicted))
    with pytest.raises(om.errors.DataError, match="no known value in y"):
        tree.score(X, np.where([True, False], y, np.nan))
    with pytest.raises(om.errors.DataError, match="give the target"):
        tree.score(X)


def test_labels_are_compared_by_name():
    target = Target.labels(np.array([[1.0, 0.0, 0.0]]), list("abc"))
    ordered = in_training_order(target, "multi-label", ["c", "a", "b"])
    assert ordered.names == ("c", "a", "b")
    assert ordered.dense().tolist() == [[0.0, 1.0, 0.0]]
    assert in_training_order(target, "multi-label", list("abc")) is target
    assert in_training_order(None, "multi-label", list("abc")) is None
    with pytest.raises(om.errors.DataError, match="'c' is in one of them only"):
        in_training_order(target, "multi-label", list("ab"))
