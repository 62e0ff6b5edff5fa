"""Extra trees that list the cells of the features they draw: the trees that reading by feature gives."""

from __future__ import annotations

import numpy as np
import pytest

import omnirank as om
from omnirank.ensembles import plan as plans
from omnirank.ensembles.plan import GrowingRules, make_plan
from omnirank.trees.codes import DenseFeatures
from omnirank.trees.listed_features import ListedFeatures


def data(n_columns, n_features=20):
    """Features with ties, constant ones and one whose values hardly differ."""
    rng = np.random.default_rng(n_columns)
    X = rng.normal(size=(300, n_features)).round(1)
    X[:, 5:9] = 1.0
    X[:, 9] = 1.0 + rng.integers(0, 2, 300) * 2.0**-52
    X[:, 10] = rng.integers(0, 2, 300)
    return om.Dataset(X, X[:, :n_columns] + rng.normal(size=(300, n_columns)))


@pytest.mark.parametrize("n_columns", [1, 3, 20])
@pytest.mark.parametrize("max_features", [1, 2, 8, 9])
@pytest.mark.parametrize("tie_break", ["random", "first"])
def test_trees_are_the_same(monkeypatch, n_columns, max_features, tie_break):
    rules = GrowingRules("extra-trees", max_features=max_features, tie_break=tie_break)
    found = make_plan(data(n_columns), rules, 0)
    assert isinstance(found.coded, ListedFeatures)
    monkeypatch.setattr(plans, "listed_features", lambda *_: None)
    expected = make_plan(data(n_columns), rules, 0)
    assert isinstance(expected.coded, DenseFeatures)
    for i in range(3):
        one, other = found.grow(i), expected.grow(i)
        for name in one._fields:
            if name == "gain":  # sums are added up in another order
                np.testing.assert_allclose(one.gain, other.gain, rtol=1e-9)
            else:
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_scores_that_need_ranks(monkeypatch):
    given = om.EnsembleRanker("permutation", "extra-trees", 5, max_features=3, random_state=0)
    found = given.fit(data(1)).feature_importances_
    monkeypatch.setattr(plans, "listed_features", lambda *_: None)
    np.testing.assert_allclose(found, given.fit(data(1)).feature_importances_, rtol=1e-9)


def test_features_for_other_trees():
    plan = make_plan(data(1), GrowingRules("extra-trees", max_features=3), 0)
    for random_tests, n_tried, kind in (
        (True, 3, ListedFeatures),
        (True, 19, DenseFeatures),
        (False, 3, DenseFeatures),
    ):
        assert type(plan.coded.with_tests(random_tests, n_tried, plan.space)) is kind


@pytest.mark.parametrize("change", ["missing", "float32", "nominal", "most", "few", "unknown"])
def test_other_data_are_read_by_feature(change):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 7 if change == "few" else 12)), rng.normal(size=(60, 2))
    if change == "missing":
        X[3, 4] = np.nan
    if change == "float32":
        X = X.astype(np.float32)
    if change == "nominal":
        X = om.Dataset(X, y).X
        import pandas as pd

        X = pd.DataFrame(X).rename(columns=str).assign(c=pd.Categorical(rng.choice(list("abc"), 60)))
    if change == "unknown":
        y[5, 1] = np.nan
    rules = GrowingRules("extra-trees", max_features=6 if change == "most" else 2)
    plan = make_plan(om.Dataset(X, y), rules, 0)
    assert isinstance(plan.coded, DenseFeatures)
    assert len(plan.grow(0).feature) > 1
