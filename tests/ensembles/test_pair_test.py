"""P values of features in pairs: the formula, products that are found, and noise that is not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import omnirank as om
from omnirank.data.table import Table
from omnirank.ensembles import pair_test as module
from omnirank.ensembles.pair_test import pair_p_values
from omnirank.ensembles.root_credit import OrderedRows
from reference import ensembles_unbiased as reference
from reference.ensembles_cases import random_dataset


@pytest.fixture
def whole_error(monkeypatch):
    """The test alone: all p values count."""
    monkeypatch.setattr(module, "SHARES", (0.0, 0.0, 1.0))


@pytest.mark.usefixtures("whole_error")
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("cells", [1, 2**22])
def test_pairs_of_numbers_are_as_defined(sparse, cells, monkeypatch):
    """With negative, zero and missing cells, in blocks of features or at once; a constant has no pair."""
    monkeypatch.setattr(module, "_MOST_CELLS", cells * 300 if cells == 1 else cells)
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 6)), 1) * (rng.random((60, 6)) < 0.6)
    y = X[:, :1] * X[:, 1:2] + 0.3 * rng.normal(size=(60, 1))
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 5] = 3.0
    y -= y.mean()
    table = Table.from_sparse(csr_array(X)) if sparse else Table.from_numeric(X)
    found = pair_p_values(OrderedRows(table), y, np.ones(6))
    np.testing.assert_allclose(found, reference.in_pairs(table, y), rtol=1e-9)
    assert found[:2].max() < 0.1 < found[2:].min()


@pytest.mark.usefixtures("whole_error")
def test_pairs_of_levels_and_many_columns_are_as_defined():
    """Of many levels the most frequent ones, of many columns those that vary most; opposite columns are one."""
    rng = np.random.default_rng(1)
    data = random_dataset(rng, "mixed-targets", 50, 0.1)
    levels = rng.integers(0, 14, 50).astype(float)
    table = Table.from_columns("ab", [levels, rng.normal(size=50)], [tuple("abcdefghijklmn"), None])
    y = rng.normal(size=(50, 11)) * np.arange(1, 12)
    y = np.column_stack([y, -y[:, 10]])
    y -= y.mean(axis=0)
    for features in (data.features, table):
        found = pair_p_values(OrderedRows(features), y, np.ones(features.n_columns))
        np.testing.assert_allclose(found, reference.in_pairs(features, y), rtol=1e-9)


@pytest.mark.parametrize("share", [0.02, 0.15, 0.6])
def test_p_values_above_the_share_are_1(share, monkeypatch):
    """The others are what they are without a share; outliers make the first term the larger one."""
    shares, below = [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(80, 1)) + rng.normal(size=(80, 9)) * rng.exponential(size=9)
        y = rng.standard_t(2, (80, 2)) + X[:, :1] * X[:, 1:2] * (seed % 3 == 0)
        for kept in (share, 1.0):
            monkeypatch.setattr(module, "SHARES", (0.0, 0.0, kept))
            shares.append(pair_p_values(OrderedRows(Table.from_numeric(X)), y - y.mean(axis=0), np.ones(9)))
        some, whole = shares[-2:]
        np.testing.assert_allclose(some, np.where(whole < share, whole, 1.0), rtol=1e-12)
        below += (whole < share).tolist()
    assert 0 < np.mean(below) < 1


def test_a_feature_without_a_partner_has_no_pair():
    X = np.random.default_rng(0).normal(size=(50, 1))
    assert pair_p_values(OrderedRows(Table.from_numeric(X)), X**2 - (X**2).mean(), np.ones(1)).tolist() == [1]


def test_only_the_first_partners_count_where_there_are_many(monkeypatch):
    monkeypatch.setattr(module, "_MOST_PRODUCTS", 1)
    monkeypatch.setattr(module, "_FEWEST_PARTNERS", 2)
    X = np.random.default_rng(0).normal(size=(200, 8))
    y = X[:, :1] * X[:, 1:2] - (X[:, 0] * X[:, 1]).mean()
    found = pair_p_values(OrderedRows(Table.from_numeric(X)), y, np.arange(8))
    assert found.min() > 1e-3
    found = pair_p_values(OrderedRows(Table.from_numeric(X)), y, -np.arange(8))
    assert found[:2].max() < 1e-6


def test_nothing_is_told_by_few_rows_or_a_constant_target():
    X = np.random.default_rng(0).normal(size=(5, 3))
    assert pair_p_values(OrderedRows(Table.from_numeric(X[:3])), X[:3, :1], np.ones(3)).tolist() == [1, 1, 1]
    assert pair_p_values(OrderedRows(Table.from_numeric(X)), np.zeros((5, 1)), np.ones(3)).tolist() == [1, 1, 1]


@pytest.mark.parametrize("kind", ["product", "exclusive or", "levels", "sparse", "few labels"])
def test_features_that_tell_something_only_together_are_found(kind):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 30))
    if kind == "sparse":
        X *= rng.random(X.shape) < 0.5
    y = X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=400)
    if kind in ("exclusive or", "levels"):
        X = X > 0
        y = np.where((X[:, 0] ^ X[:, 1]) ^ (rng.random(400) < 0.15), "a", "b")
    if kind == "few labels":
        y[200:] = np.nan
    features = np.where(X, "yes", "no").astype(object) if kind == "levels" else X.astype(float)
    features = csr_array(features) if kind == "sparse" else features
    ranking = om.significance(om.EnsembleRanker(n_trees=20, supervision=0.8, random_state=0), features, y)
    assert {"x0", "x1"} <= set(ranking.relevant())
    assert len(ranking.relevant()) <= 4


def test_correlated_noise_is_not_found_in_pairs():
    """Not even where the target has outliers."""
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(120, 1)) + 0.4 * rng.normal(size=(120, 6))
        y = rng.standard_t(1.5, (120, 1))
        found += pair_p_values(OrderedRows(Table.from_numeric(X)), y - y.mean(), np.ones(6)).tolist()
    assert np.mean(np.array(found) < 0.05) < 0.05
