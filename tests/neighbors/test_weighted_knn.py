"""Neighbours in a weighted distance against the slow reference."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnirank.data.convert import table_from
from omnirank.neighbors.weighted_knn import neighbor_means, weighted_neighbors
from reference import neighbors_distances as reference
from reference import relief_cases as cases


@settings(max_examples=100, deadline=None)
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
        parts = [reference.cell_distance(values[r], values[q], values[:n_train], n_levels) for values, n_levels in slow]
        return sum(w * part**2 for w, part in zip(weights, parts, strict=True)) / weights.max()

    for i in range(n_test):
        keys = [(round(distance(n_train + i, q) / reference.TIE), q) for q in range(n_train)]
        assert ids[i].tolist() == [q for _, q in sorted(keys)[:k]]


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
    with pytest.raises(ValueError, match="weights must be 2 numbers"):
        weighted_neighbors(table, table, np.array(weights), 1)


def test_means_of_many_lists():
    rng = np.random.default_rng(1)
    values, ids = rng.normal(size=(50, 3)), rng.integers(0, 50, (600, 4))
    np.testing.assert_allclose(neighbor_means(values, ids), values[ids].mean(axis=1))
