"""Masked arrays of numpy: a masked cell is missing or unlabelled, and no weight or score is masked."""

from __future__ import annotations

import numpy as np
import pytest

import omnirank as om
from omnirank import measures
from omnirank.errors import DataError, ParameterError

N = 30
HIDDEN = -9999  # under the mask


def masked(values, first=4):
    mask = np.zeros(np.shape(values), bool)
    mask[:first] = True
    return np.ma.masked_array(values, mask=mask)


def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, 3)), rng


def features():
    """Features with NaN in a third of the cells, and the same cells under a mask."""
    X, rng = data()
    hidden = rng.random(X.shape) < 1 / 3
    return np.where(hidden, np.nan, X), np.ma.masked_array(np.where(hidden, HIDDEN, X), mask=hidden)


TARGETS = {
    "classification": lambda X: X[:, 0] > 0,
    "regression": lambda X: X[:, 0] + X[:, 1],
    "multi-target-regression": lambda X: X[:, :2] ** 2,
    "multi-label": lambda X: (X[:, :2] > 0).astype(int),
}


@pytest.mark.every(4)
@pytest.mark.parametrize("method", om.methods(), ids=lambda method: method.name)
def test_every_ranker_takes_masked_cells_as_missing(method):
    X, hidden = features()
    y = next((target(data()[0]) for task, target in TARGETS.items() if task in method.tasks), None)
    few = {"n_trees": 3, "n_iterations": 3, "random_state": 0}
    parameters = method.make().get_params(deep=False)
    ranker = method.make(**{name: value for name, value in few.items() if name in parameters})
    assert ranker.fit(hidden, y).ranking_.scores.tolist() == ranker.fit(X, y).ranking_.scores.tolist()


@pytest.mark.parametrize(
    ("model", "task"),
    [
        (om.PCTClassifier(random_state=0), "classification"),
        (om.PCTRegressor(random_state=0), "regression"),
        (om.PCTForestRegressor(n_trees=3, random_state=0), "multi-target-regression"),
        (om.PCTClassifier(random_state=0), "multi-label"),
    ],
)
def test_predictors_take_masked_cells_as_missing(model, task):
    X, hidden = features()
    y = TARGETS[task](data()[0])
    expected = model.fit(X, y).predict(X)
    assert np.array_equal(model.predict(hidden), expected)
    assert model.score(hidden, y) == model.score(X, y)
    assert np.array_equal(model.fit(hidden, y).predict(X), expected)


@pytest.mark.parametrize("kind", ["integers", "objects", "booleans", "texts", "float32", "rows", "days", "nanoseconds"])
def test_masked_features_of_every_type(kind):
    X, _ = data()
    days = (100 * X).astype("M8[D]")
    values = {
        "integers": (10 * X).astype(int),
        "objects": X.astype(object),
        "booleans": X > 0,
        "texts": np.array(["a", "b"])[(X > 0).astype(int)],
        "float32": X.astype(np.float32),
        "rows": X,
        "days": days,
        "nanoseconds": days.astype("M8[ns]"),
    }[kind]
    given = list(masked(values)) if kind == "rows" else masked(values)
    y = TARGETS["regression"](X)
    ranker = om.UnivariateRanker().fit(given, y)
    table, whole = om.Dataset(given).features, om.Dataset(values).features
    assert table.levels == whole.levels
    assert table.dates == whole.dates
    assert table.n_missing == 4 * 3
    assert table.take(slice(4, None)).equals(whole.take(slice(4, None)))
    assert ranker.ranking_.scores.tolist() == om.UnivariateRanker().fit(om.Dataset(given, y)).ranking_.scores.tolist()


@pytest.mark.parametrize("kind", ["numbers", "classes", "texts", "labels", "rows"])
def test_masked_targets_are_unlabelled(kind):
    X, rng = data()
    classes = rng.integers(0, 2, N)
    labels = rng.integers(0, 2, (N, 2))
    y = {
        "numbers": X[:, 0],
        "classes": classes,
        "texts": np.array(["a", "b"])[classes],
        "labels": labels,
        "rows": labels,
    }[kind]
    given = list(masked(y)) if kind == "rows" else masked(y)
    assert om.Dataset(X, given).labelled.sum() == N - 4


def test_transform_keeps_masked_cells_missing():
    X, _ = data()
    ranker = om.UnivariateRanker(n_features_to_select=3).fit(X, X[:, 0] + X[:, 1])
    assert np.isnan(ranker.transform(masked(X))[:4]).all()
    with pytest.raises(ValueError, match="NaN"):  # scikit-learn's own: the mask is not lost
        ranker.inverse_transform(masked(X))


def test_masked_weights_are_refused():
    X, _ = data()
    y = X[:, 0] + X[:, 1]
    with pytest.raises(DataError, match=r"sample_weight\[0\] is nan"):
        om.UnivariateRanker().fit(X, y, sample_weight=masked(np.ones(N)))
    with pytest.raises(DataError, match=r"sample_weight\[0\] is nan"):
        om.PCTRegressor().fit(X, y).score(X, y, sample_weight=masked(np.ones(N, int)))
    with pytest.raises(ParameterError, match="feature_weights"):
        om.EnsembleRanker(n_trees=1, feature_weights=masked([1.0, 2.0, 3.0], 1)).fit(X, y)


def test_masked_scores_are_refused():
    dataset = om.Dataset(data()[0], np.arange(N) / 7)
    with pytest.raises(DataError, match="scores must be known: there are masked ones"):
        om.Ranking(["a", "b"], masked([1.0, 2.0], 1), "m")
    with pytest.raises(DataError, match="scores must be known: there are masked ones"):
        om.evaluate(masked([1.0, 2.0, 3.0], 1), dataset, dataset)


def test_masked_truth_is_left_out_of_measures():
    X, rng = data()
    labels, guesses = rng.integers(0, 2, (N, 3)), rng.random((N, 3))
    assert measures.rmse(masked(X), guesses) == measures.rmse(X[4:], guesses[4:])
    assert measures.hamming_loss(masked(labels), guesses > 0.5) == measures.hamming_loss(labels[4:], guesses[4:] > 0.5)
    assert measures.auroc(masked(labels[:, 0]), guesses[:, 0]) == measures.auroc(labels[4:, 0], guesses[4:, 0])
    confusion = measures.confusion_matrix(masked(labels[:, 0]), guesses)
    assert np.array_equal(confusion, measures.confusion_matrix(labels[4:, 0], guesses[4:]))
