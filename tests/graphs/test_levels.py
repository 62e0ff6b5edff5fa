"""Nominal features: a random one of many levels does not win by its number of columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import omnirank as om

METHODS = {
    "laplacian": {},
    "spec": {},
    "mcfs": {"n_clusters": 2},
    "ndfs": {"n_clusters": 3},
    "udfs": {},
    "s-cls": {},
}


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
