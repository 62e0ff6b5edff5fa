"""Extra trees that read cells by row, or list those of drawn features: the trees that reading by feature gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import omnirank as om
from omnirank.core.kernels.vector import PLAIN
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.trees import layout as codes
from reference import trees_cases as cases

pytestmark = pytest.mark.skipif(PLAIN, reason="there are no vector instructions")


def data(n_columns, n_features=20, n=300, dtype=np.float64):
    """Features with ties, constant ones, one whose values hardly differ, one of the largest numbers, skewed ones."""
    rng = np.random.default_rng([n_columns, n])
    X = rng.normal(size=(n, n_features)).round(1)
    X[:, 5:9] = 1.0
    X[:, 9] = 1.0 + rng.integers(0, 2, n) * 2.0**-52
    X[:, 10] = rng.integers(0, 2, n)
    X[:, 0] = rng.choice([-1, 1], n) * np.finfo(dtype).max
    X[:, 3:5] = rng.lognormal(0, 3, (n, 2))
    return om.Dataset(X.astype(dtype), X[:, 1 : n_columns + 1] + rng.normal(size=(n, n_columns)))


def assert_same_trees(plan):
    """Those that grow feature by feature."""
    expected = replace(plan, coded=replace(plan.coded, kind="NumericDraws", copied=False))
    for i in range(3):
        cases.assert_same_bits(plan.grow(i), expected.grow(i), gains=False)


@pytest.mark.slow
@pytest.mark.parametrize("n_columns", [1, 3, 19])
@pytest.mark.parametrize("max_features", [1, 2, 9, 10, 20])
@pytest.mark.parametrize(("tie_break", "least"), [("random", 1), ("first", 4)])
def test_trees_are_the_same(n_columns, max_features, tie_break, least):
    rules = GrowingRules("extra-trees", max_features=max_features, tie_break=tie_break, min_samples_leaf=least)
    for n in (65, 300, 700):
        plan = GrowingData(data(n_columns, n=n), 0).plan(rules)
        assert plan.coded.kind == ("ListedDraws" if max_features < 10 else "RowDraws")
        assert_same_trees(plan)


@pytest.mark.slow
@pytest.mark.parametrize("n_columns", [1, 3])
def test_blocks_in_single_precision(n_columns):
    plan = GrowingData(data(n_columns, dtype=np.float32), 0).plan(GrowingRules("extra-trees", max_features="all"))
    assert plan.coded.kind == "RowDraws"
    assert_same_trees(plan)


@pytest.mark.parametrize("n_features", [12, 15, 16, 17, 31, 32])
def test_blocks_of_features_that_are_not_full(n_features):
    plan = GrowingData(data(1, n_features), 0).plan(GrowingRules("extra-trees", max_features="all"))
    assert plan.coded.kind == "RowDraws"
    assert_same_trees(plan)


@pytest.mark.slow
@pytest.mark.parametrize("max_features", [3, 20])
def test_random_tests_need_no_ranks(monkeypatch, max_features):
    monkeypatch.setattr(codes, "code_features", None)
    for score in ("genie3", "unbiased", "permutation"):
        om.EnsembleRanker(score, "extra-trees", 5, max_features=max_features, random_state=0).fit(data(1))


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
    plan = GrowingData(om.Dataset(X, y), 0).plan(rules)
    assert plan.coded.kind == {"nominal": "MixedDraws", "most": "RowDraws"}.get(change, "NumericDraws")
    assert len(plan.grow(0).feature) > 1
