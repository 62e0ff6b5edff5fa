"""Subtrees on copies of their rows: the ranks of the copies, and the same tree bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import omnirank as om
from draws import draws
from omnirank.core.kernels.vector import PLAIN
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.trees.kernels import grow as grow_tree
from omnirank.trees.kernels.search_all import NumericCodes
from omnirank.trees.kernels.spaces import DenseColumns, OneColumn
from reference import trees_cases as cases

MISSING = np.uint32(np.iinfo(np.uint32).max)


@pytest.mark.slow
@draws(10)
@given(st.data())
def test_copies_have_the_ranks_of_their_rows(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n = data.draw(st.integers(1, 300))
    codes = rng.integers(0, data.draw(st.sampled_from([1, 70, n])), (3, n)).clip(max=n - 1).astype(np.uint32)
    codes[rng.random(codes.shape) < data.draw(st.sampled_from([0.0, 0.3, 1.0]))] = MISSING
    features = NumericCodes(codes, MISSING, np.zeros(0, np.uint64), np.zeros(3, bool), np.zeros((0, 0), np.uint32))
    rows = np.flatnonzero(rng.random(n) < 0.6).astype(np.uint32)
    z = rng.normal(size=n)
    copy = grow_tree._copies_of_codes(OneColumn(z), features, n).copy
    copy(np.arange(n, dtype=np.uint32))  # memory that was used before
    space, copied = copy(rows)
    np.testing.assert_array_equal(space.z, z[rows])
    for f in range(3):
        own = codes[f, rows]
        expected = np.unique(own, return_inverse=True)[1].astype(np.uint16)
        expected[own == MISSING] = copied.missing
        np.testing.assert_array_equal(copied.codes[f], expected)
    np.testing.assert_array_equal(copied.by_row, copied.codes.T)


@pytest.fixture
def copies(monkeypatch):
    """Have subtrees of up to so many rows copied (0: none), whatever the size of the data."""

    def set_rows(n):
        monkeypatch.setattr(grow_tree, "LARGE", 0 if n else 2**62)
        monkeypatch.setattr(grow_tree, "MOST_ROWS", n)

    return set_rows


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("n_columns", [1, 3])
def test_trees_with_copies_are_the_same(copies, n_columns, missing):
    rng = np.random.default_rng(n_columns)
    n = 400
    features = [cases.numeric_feature(rng, n, missing) for _ in range(6)]
    columns = features[0][:, None].copy() + rng.normal(size=(n, n_columns))
    columns[np.isnan(columns)] = 0.0
    problem = cases.Problem(features, [0] * 6, columns, np.ones(n_columns), np.ones(n))
    kind = "one" if n_columns == 1 else "dense"
    assert isinstance(cases.space_of(problem, kind), OneColumn if n_columns == 1 else DenseColumns)
    weight = cases.row_weights(rng, n)
    copies(0)
    expected = cases.grow(problem, kind, weight, cases.settings(2), 3, wide=True)
    assert len(expected.feature) > 100
    for most in (2, 5, 50, 399, 10_000):
        copies(most)
        cases.assert_same_bits(cases.grow(problem, kind, weight, cases.settings(2), 3, wide=True), expected)


@pytest.mark.slow
def test_large_data_are_copied(copies, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70_000, 3))
    data = om.Dataset(X, X[:, 0] + rng.normal(size=len(X)))
    rules = GrowingRules(min_samples_leaf=200)
    expected = GrowingData(data, 0).plan(rules).grow(0)
    copies(10_000)
    sizes = counted_copies(monkeypatch)
    plan = GrowingData(data, 0).plan(rules)
    assert plan.coded.cells.by_row.size == 0
    found = plan.grow(0)
    assert sum(sizes) == len(found.rows)
    assert max(sizes) <= 10_000
    cases.assert_same_bits(found, expected)


@pytest.mark.slow
def test_labelled_rows_of_large_data_are_copied(copies):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70_000, 3))
    y = X[:, 0] + rng.normal(size=len(X))
    y[rng.random(len(X)) < 0.05] = np.nan
    data, rules = GrowingData(om.Dataset(X, y), 0), GrowingRules(min_samples_leaf=200)
    copies(10_000)
    data.plan(GrowingRules(supervision=0.5))  # codes all rows, of which the labelled ones are taken
    found = data.labelled.plan(rules).grow(0)
    expected = GrowingData(data.dataset.take(data.dataset.labelled), 0).plan(rules).grow(0)
    cases.assert_same_bits(found, expected)


@pytest.mark.slow
@pytest.mark.skipif(PLAIN, reason="there are no vector instructions")
@pytest.mark.parametrize("n_columns", [1, 3])
def test_extra_trees_on_copies_are_the_same(copies, monkeypatch, n_columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 12)).round(2)
    data = om.Dataset(X, X[:, :n_columns] + rng.normal(size=(len(X), n_columns)))
    rules = GrowingRules("extra-trees", max_features=3)
    expected = GrowingData(data, 0).plan(rules).grow(0)
    monkeypatch.setattr(grow_tree, "_MOST_BYTES", 8 * 12 * 1000)
    monkeypatch.setattr(grow_tree, "_LEAST_ROWS", 1)
    copies(10_000)
    sizes = counted_copies(monkeypatch)
    found = GrowingData(data, 0).plan(rules).grow(0)
    assert sum(sizes) == len(found.rows)
    assert max(sizes) <= 1000
    cases.assert_same_bits(found, expected, gains=False)


def counted_copies(monkeypatch):
    """The sizes of copies, as they are made."""
    sizes = []

    def counting(kind):
        def counted(rows):
            sizes.append(len(rows))
            return kind.copy(rows)

        return kind._replace(copy=counted)

    make = grow_tree.copies_of_rows
    monkeypatch.setattr(grow_tree, "copies_of_rows", lambda *parts: counting(make(*parts)))
    return sizes
