"""Features as columns of one scale; a nominal one of many levels does not win by its number of columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import omnirank as om
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


METHODS = {"laplacian": {}, "spec": {}, "mcfs": {"n_clusters": 2}, "ndfs": {"n_clusters": 3}, "udfs": {}, "s-cls": {}}


def mixed(seed, n=300):
    """Three clusters that four numbers and a nominal feature tell apart, beside noise; some of it has 50 levels."""
    rng = np.random.default_rng(seed)
    clusters = rng.integers(0, 3, n)
    X = pd.DataFrame(rng.normal(size=(n, 8))).add_prefix("noise")
    centres = 2.5 * rng.normal(size=(3, 4))
    for j in range(4):
        X[f"number{j}"] = centres[clusters, j] + rng.normal(size=n)
    X["kind"] = np.array(list("abc"))[np.where(rng.random(n) < 0.15, rng.integers(0, 3, n), clusters)]
    X["many"] = [f"l{v}" for v in rng.integers(0, 50, n)]
    X["few"] = [f"k{v}" for v in rng.integers(0, 3, n)]
    return X


@pytest.mark.parametrize("method", METHODS)
def test_a_random_feature_of_fifty_levels_does_not_win(method):
    places = []
    for seed in range(4):
        X = mixed(seed)
        ranker = om.make_ranker(method, random_state=0, **METHODS[method]).fit(X)
        ranks = pd.Series(ranker.feature_importances_, X.columns).rank(ascending=False)
        places.append((ranks["many"], ranks["kind"]))
    many, kind = np.mean(places, axis=0)
    assert kind < 6 < many


def test_a_feature_of_two_levels_counts_as_the_number_it_is():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(60, 4))).add_prefix("x")
    flags = rng.integers(0, 2, 60)
    for method in METHODS:
        named, coded = (
            om.make_ranker(method, random_state=0).fit(X.assign(flag=cells)).feature_importances_
            for cells in (np.array(["no", "yes"])[flags], flags.astype(float))
        )
        np.testing.assert_allclose(named, coded, rtol=1e-9, atol=1e-12)
