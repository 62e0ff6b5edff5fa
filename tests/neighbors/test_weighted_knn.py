"""Neighbours in a weighted distance against the slow reference."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from draws import draws
from omnirank.data.columns import table_from
from omnirank.data.table import Table
from omnirank.neighbors import weighted
from omnirank.neighbors.weighted import neighbor_means, weighted_neighbors
from reference import neighbors_distances as reference
from reference import relief_cases as cases


@pytest.mark.slow
@draws(10)
@given(data=st.data())
def test_weighted_neighbours(data):
    n_train, n_test, k = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 4)), data.draw(st.integers(1, 5))
    X, slow = data.draw(cases.features(n_train + n_test))
    weights = np.array(
        data.draw(st.lists(st.sampled_from([0.0, 0.25, 1.0, 3.0]), min_size=len(slow), max_size=len(slow)))
    )
    if not weights.any():
        weights[0] = 1.0
    ids = weighted_neighbors(table_from(X[:n_train]), table_from(X[n_train:].reset_index(drop=True)), weights, k)
    assert ids.shape == (n_test, min(k, n_train))

    def distance(r, q):
        parts = [reference.squared_distance(values[r], values[q], values[:n_train], n) for values, n in slow]
        return sum(w * part for w, part in zip(weights, parts, strict=True)) / weights.max()

    for i in range(n_test):
        keys = [(reference.tie_key(distance(n_train + i, q)), q) for q in range(n_train)]
        assert ids[i].tolist() == [q for _, q in sorted(keys)[:k]]


def test_missing_numbers_are_means():
    """They are not far from the middle, so that rows with missing cells are not neighbours of the extremes."""
    known = np.exp(np.random.default_rng(0).normal(size=200))
    train = table_from(known[:, None])
    nearest = weighted_neighbors(train, table_from(np.array([[np.nan], [0.0]])), np.ones(1), 10)[0]
    assert np.abs(known[nearest] - known.mean()).max() == np.sort(np.abs(known - known.mean()))[9]


def test_weights_of_zero_leave_features_out():
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(90, 4)), rng.normal(size=(300, 4))
    weights = np.array([1.0, 0.0, 1.0, 0.0])
    both = weighted_neighbors(table_from(train), table_from(test), weights, 7, n_jobs=2)
    part = weighted_neighbors(table_from(train[:, ::2]), table_from(test[:, ::2]), np.ones(2), 7)
    np.testing.assert_array_equal(both, part)
    np.testing.assert_array_equal(
        weighted_neighbors(table_from(train[:, ::2]), table_from(test[:, ::2]), np.full(2, 1e-9), 7), part
    )


@pytest.mark.parametrize("weights", [[0.0, 0.0], [1.0], [1.0, -1.0]])
def test_bad_weights_are_refused(weights):
    table = table_from(pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, 2.0]}))
    with pytest.raises(ValueError, match=r"weights=.*: choose 2 numbers"):
        weighted_neighbors(table, table, np.array(weights), 1)


def test_means_of_many_lists():
    rng = np.random.default_rng(1)
    values, ids = rng.normal(size=(50, 3)), rng.integers(0, 50, (600, 4))
    np.testing.assert_allclose(neighbor_means(values, ids), values[ids].mean(axis=1))


def test_means_are_those_of_the_known_values():
    """Where no neighbour's value is known, it is that of all examples, and 0 where there is none either."""
    values = np.array([[1.0, np.nan, np.nan], [np.nan, 4.0, np.nan], [5.0, np.nan, np.nan], [np.nan, 8.0, np.nan]])
    ids = np.array([[0, 1, 2], [1, 3, 1], [0, 2, 2]])
    expected = [[3.0, 4.0, 0.0], [3.0, 16 / 3, 0.0], [11 / 3, 6.0, 0.0]]
    np.testing.assert_allclose(neighbor_means(values, ids), expected)
    given = neighbor_means(values, ids, default=np.array([-1.0, -2.0, -3.0]))
    np.testing.assert_allclose(given, [[3.0, 4.0, -3.0], [-1.0, 16 / 3, -3.0], [11 / 3, -2.0, -3.0]])


def brute_force(train, test, weights, k):
    """Nearest by differences of numbers, ties by index."""
    span = np.ptp(train, axis=0)
    scale = np.divide(weights / weights.max(), span**2, out=np.zeros(len(span)), where=span > 0)
    found = []
    for row in test:
        keys = [reference.tie_key(d) for d in (((row - train) ** 2) * scale).sum(axis=1).tolist()]
        found.append(sorted(range(len(train)), key=lambda q, keys=keys: (keys[q], q))[:k])
    return np.array(found)


# what makes single precision fail: ties, offsets, outliers, tiny differences, values beyond its range
HARD = {
    "plain": lambda rng: rng.normal(size=(300, 7)),
    "binary": lambda rng: rng.integers(0, 2, (300, 7)).astype(float),
    "whole numbers": lambda rng: rng.integers(0, 5, (300, 3)).astype(float),
    "all equal": lambda rng: np.ones((300, 3)),
    "one dimension": lambda rng: rng.normal(size=(300, 1)),
    "offset": lambda rng: rng.normal(size=(300, 4)) + 1e7,
    "outlier": lambda rng: np.vstack([rng.normal(size=(299, 3)), np.full((1, 3), 1e9)]),
    "clusters": lambda rng: rng.integers(0, 3, (300, 1)) + 1e-7 * rng.normal(size=(300, 4)),
}


@pytest.mark.parametrize("kind", HARD)
def test_exact_where_single_precision_is_not(kind):
    rng = np.random.default_rng(3)
    X = HARD[kind](rng)
    order = rng.permutation(len(X))
    test, train = X[order[:60]], X[order[60:]]
    weights = rng.choice([0.25, 1.0, 3.0], X.shape[1])
    ids = weighted_neighbors(table_from(train), table_from(test), weights, 9)
    np.testing.assert_array_equal(ids, brute_force(train, test, weights, 9))


def test_single_precision_gives_up_where_it_must(monkeypatch):
    """Otherwise the test above would not reach the second search."""
    asked = []
    others = weighted.DenseExamples.others
    monkeypatch.setattr(
        weighted.DenseExamples, "others", lambda self, *args: asked.append(args[0]) or others(self, *args)
    )
    rng = np.random.default_rng(0)
    plain, tied = table_from(rng.normal(size=(200, 5))), table_from(HARD["all equal"](rng))
    weighted_neighbors(plain, plain, np.ones(5), 3)
    assert asked == [np.float32]
    weighted_neighbors(tied, tied, np.ones(3), 3)
    assert np.float64 in asked


def test_values_beyond_all_precision():
    train = np.array([[0.0], [1.0], [2.0]])
    test = np.array([[1e30], [1e300], [-1e300], [1.2]])
    with np.errstate(over="ignore"):  # of kernels that are interpreted
        ids = weighted_neighbors(table_from(train), table_from(test), np.ones(1), 2)
    # the squares of 1e300 are infinite: all training examples tie
    assert ids.tolist() == [[0, 1], [0, 1], [0, 1], [1, 2]]


def test_tiny_and_huge_ranges():
    for scale in (1e-310, 1e308):
        train = np.array([[-1.0], [0.0], [1.0]]) * scale
        assert weighted_neighbors(table_from(train), table_from(train), np.ones(1), 1).tolist() == [[0], [1], [2]]


@pytest.mark.parametrize("density", [0.01, 0.3])
@pytest.mark.parametrize("kind", ["numbers", "binary", "with missing", "with levels"])
def test_sparse_equals_dense(kind, density):
    rng = np.random.default_rng(5)
    X = sparse.random_array((150, 40), density=density, random_state=rng, format="csc")
    if kind == "binary":
        X.data[:] = 1.0
    levels = None
    if kind == "with missing":
        X.data[::7] = np.nan
    if kind == "with levels":
        X.data = rng.integers(1, 4, len(X.data)).astype(float)
        levels = [("a", "b", "c", "d")] * 20 + [None] * 20
    table = Table.from_sparse(X, levels=levels)
    columns = [table.column(i) for i in range(40)]
    dense = Table.from_columns(table.names, columns, table.levels)
    weights = rng.random(40)
    train, test = np.arange(100), np.arange(100, 150)
    np.testing.assert_array_equal(
        weighted_neighbors(table.take(train), table.take(test), weights, 11, n_jobs=2),
        weighted_neighbors(dense.take(train), dense.take(test), weights, 11),
    )


def test_sparse_products_are_used():
    X = sparse.random_array((50, 40), density=0.01, random_state=np.random.default_rng(0))
    table = Table.from_sparse(X)
    assert isinstance(weighted.weighted_examples(table, table, np.ones(40)), weighted.SparseExamples)


def test_no_neighbour_and_no_training_example():
    table = table_from(np.eye(2))
    with pytest.raises(ValueError, match="k=0: choose a whole number from 1"):
        weighted_neighbors(table, table, np.ones(2), 0)
    with pytest.raises(ValueError, match="no training example"):
        weighted_neighbors(table.take([]), table, np.ones(2), 1)
    assert weighted_neighbors(table, table.take([]), np.ones(2), 1).shape == (0, 1)


def test_means_of_sparse_values():
    rng = np.random.default_rng(1)
    values, ids = sparse.random_array((50, 6), density=0.2, random_state=rng), rng.integers(0, 50, (30, 4))
    np.testing.assert_allclose(neighbor_means(values, ids), neighbor_means(values.toarray(), ids))


@pytest.mark.parametrize("n", [20, 400])
def test_nearly_equal_distances_far_from_the_centre(n):
    """Training examples on circles around the test examples, through the centre of the data."""
    rng = np.random.default_rng(0)
    angle, off = rng.random(n) * 2 * np.pi, 1 + 1e-9 * rng.random(n)
    circle = np.column_stack([np.cos(angle), np.sin(angle)]) * off[:, None]
    test = np.array([[1.0, 0.0], [-1.0, 0.0]])
    train = np.vstack([test[0] + circle, test[1] - circle])
    ids = weighted_neighbors(table_from(train), table_from(test), np.ptp(train, axis=0) ** 2, 5)
    np.testing.assert_array_equal(ids, brute_force(train, test, np.ptp(train, axis=0) ** 2, 5))
