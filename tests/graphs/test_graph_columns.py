"""Features as columns of one scale: what methods that need numbers without gaps see."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from draws import draws
from omnirank.data.table import Table
from omnirank.graphs.columns import graph_columns


@draws(15)
@given(st.integers(0, 10**6), st.integers(2, 12))
def test_columns_are_standardised_known_and_by_feature(seed, n):
    rng = np.random.default_rng(seed)
    number = np.where(rng.random(n) < 0.2, np.nan, rng.integers(-3, 4, n) / 2)
    codes = rng.integers(-1, 3, n).astype(np.int32)
    table = Table.from_columns(
        ["number", "same", "kind"], [number, np.full(n, 2.5), codes], [None, None, ("a", "b", "c")]
    )
    columns = graph_columns(table)
    found = {feature: columns.values[:, columns.feature == feature] for feature in range(3)}
    known = number[~np.isnan(number)]
    filled = np.where(np.isnan(number), known.mean() if len(known) else 0.0, number)
    if len(set(known)) > 1:
        np.testing.assert_allclose(found[0][:, 0], (filled - filled.mean()) / filled.std(), atol=1e-9)
    else:
        assert found[0].shape[1] == 0
    assert found[1].shape[1] == 0
    levels = np.unique(codes[codes >= 0])
    assert found[2].shape[1] == (0 if len(levels) < 2 else 1 if len(levels) == 2 else 3)
    if len(levels) > 1:
        usual = np.bincount(codes[codes >= 0]).argmax()
        hot = (np.where(codes < 0, usual, codes)[:, None] == (levels[1:] if len(levels) == 2 else levels)).astype(float)
        np.testing.assert_allclose(found[2], (hot - hot.mean(axis=0)) / np.sqrt(hot.var(axis=0).sum()), atol=1e-9)
        np.testing.assert_allclose(found[2].var(axis=0).sum(), 1.0)


def test_sparse_and_dense_columns_are_the_same():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 70)) * (rng.random((30, 70)) < 0.3)
    X[2, 3] = np.nan
    dense, thin = graph_columns(Table.from_numeric(X)), graph_columns(Table.from_sparse(sparse.csr_array(X)))
    np.testing.assert_array_equal(dense.values, thin.values)
    np.testing.assert_array_equal(dense.feature, thin.feature)
