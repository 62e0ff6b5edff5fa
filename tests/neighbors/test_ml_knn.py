"""ML-kNN against the slow reference."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from draws import draws
from omnirank.data.table import Table
from omnirank.neighbors.weighted import ml_knn_probabilities, other_neighbors, weighted_neighbors
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
    train, test = (Table.from_numeric(np.array(rows, float)) for rows in (X[:n], X[n:]))
    near, ids = other_neighbors(train, np.ones(2), k), weighted_neighbors(train, test, np.ones(2), k)
    found = ml_knn_probabilities(np.array(y, float), near, ids, s)
    expected = [reference.ml_knn(train.numeric.tolist(), y, row, k, s) for row in test.numeric.tolist()]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_of_many_equal_examples_none_is_its_own_neighbour():
    near = other_neighbors(Table.from_numeric(np.zeros((6, 1))), np.ones(1), 2)
    assert near.shape == (6, 2)
    assert not (near == np.arange(6)[:, None]).any()
