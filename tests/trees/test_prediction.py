"""Where examples go, and what leaves predict."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import omnirank as om
from omnirank.trees.prediction import add_rows


def full(model, **options):
    return model(min_samples_leaf=1, pruning=None, random_state=0, **options)


@pytest.mark.parametrize("n", [1, 100], ids=["one row", "many rows"])
def test_a_value_equal_to_the_threshold_goes_left(n):
    model = full(om.PCTRegressor).fit([[0.0], [2.0]], [0.25, 1.5])
    assert model.tree_.threshold[0] == 1.0
    assert model.predict(np.full((n, 1), 1.0)).tolist() == [0.25] * n
    assert model.predict(np.full((n, 1), np.nextafter(1.0, 2.0))).tolist() == [1.5] * n


def test_sparse_and_dense_means_are_added_alike():
    means, rows = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 0.0]]), np.array([3, 0, 2])
    for given in (means, sparse.csr_array(means)):
        sums = np.ones((4, 2))
        add_rows(sums, rows, given)
        assert sums.tolist() == [[3.0, 1.0], [1.0, 1.0], [1.0, 1.0], [1.0, 2.0]]
