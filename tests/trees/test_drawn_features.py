"""Extra trees that read cells by row, or list those of drawn features: the trees that reading by feature gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import omnirank as om
from omnirank.ensembles.plan import GrowingRules, make_plan
from omnirank.trees import codes
from omnirank.trees.codes import DrawnFeatures
from reference import trees_cases as cases


def data(n_columns, n_features=20):
    """Features with ties, constant ones and one whose values hardly differ."""
    rng = np.random.default_rng(n_columns)
    X = rng.normal(size=(300, n_features)).round(1)
    X[:, 5:9] = 1.0
    X[:, 9] = 1.0 + rng.integers(0, 2, 300) * 2.0**-52
    X[:, 10] = rng.integers(0, 2, 300)
    return om.Dataset(X, X[:, :n_columns] + rng.normal(size=(300, n_columns)))


def by_feature(plan):
    return replace(plan, coded=replace(plan.coded, kind="NumericDraws", copied=False))


@pytest.mark.slow
@pytest.mark.parametrize("n_columns", [1, 3, 20])
@pytest.mark.parametrize("max_features", [1, 2, 8, 9, 10, 18, 20])
@pytest.mark.parametrize("tie_break", ["random", "first"])
def test_trees_are_the_same(n_columns, max_features, tie_break):
    rules = GrowingRules("extra-trees", max_features=max_features, tie_break=tie_break)
    plan = make_plan(data(n_columns), rules, 0)
    assert plan.coded.kind == ("ListedDraws" if max_features < 10 else "RowDraws")
    assert_same_trees(plan, by_feature(plan))


@pytest.mark.parametrize("n_features", [12, 15, 16, 17, 31, 32])
def test_blocks_of_features_that_are_not_full(n_features):
    plan = make_plan(data(1, n_features), GrowingRules("extra-trees"), 0)
    assert plan.coded.kind == "RowDraws"
    assert_same_trees(plan, by_feature(plan))


def assert_same_trees(plan, expected):
    for i in range(3):
        cases.assert_same_bits(plan.grow(i), expected.grow(i), gains=False)


@pytest.mark.slow
@pytest.mark.parametrize("max_features", [3, 20])
def test_ranks_are_made_only_for_scores_that_need_them(monkeypatch, max_features):
    given = om.EnsembleRanker("permutation", "extra-trees", 5, max_features=max_features, random_state=0)
    rank, ranked = codes.code_features, []
    monkeypatch.setattr(codes, "code_features", lambda table, **options: ranked.append(1) or rank(table, **options))
    for score in ("genie3", "unbiased"):
        om.EnsembleRanker(score, "extra-trees", 5, max_features=max_features, random_state=0).fit(data(1))
    assert not ranked
    scores = given.fit(data(1)).feature_importances_
    assert ranked
    made = DrawnFeatures.__init__
    monkeypatch.setattr(
        DrawnFeatures, "__init__", lambda self, table, *_: made(self, table, "NumericDraws", False, None)
    )
    np.testing.assert_allclose(scores, given.fit(data(1)).feature_importances_, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("change", ["missing", "float32", "nominal", "most", "few", "unknown"])
def test_kinds_of_features(change):
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
    assert plan.coded.kind == {"nominal": "MixedDraws", "most": "RowDraws"}.get(change, "NumericDraws")
    assert len(plan.grow(0).feature) > 1
