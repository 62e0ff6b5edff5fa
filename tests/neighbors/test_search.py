"""Cell distances and exact neighbour search against the slow reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from draws import draws
from omnirank.data.columns import table_from
from omnirank.neighbors.cells import table_cells
from omnirank.neighbors.search import NeighborSearch
from reference import neighbors_distances as reference
from reference import relief_cases


@st.composite
def tables(draw, least=2, most=10):
    """A typed table, and the same as the reference takes it."""
    frame, slow = draw(relief_cases.features(draw(st.integers(least, most))))
    return table_from(frame), slow


@draws(10)
@given(tables(), st.integers(1, 12), st.booleans())
def test_neighbours_agree_with_the_reference(case, k, precise):
    table, slow = case
    search = NeighborSearch(table_cells(table))
    if precise:
        search._precision = np.float64
    rows = np.arange(table.n_rows)
    ids, distances = search.nearest(rows, k)
    for r in rows.tolist():
        expected = reference.nearest(slow, r, k)
        assert [i for i in ids[r, 0].tolist() if i >= 0] == expected
        far = [reference.total_distance(slow, r, q) for q in expected]
        np.testing.assert_allclose(distances[r, 0, : len(far)], far, atol=1e-12)
        assert np.isinf(distances[r, 0, len(far) :]).all()


@draws(13)
@given(tables(least=4), st.integers(1, 4), st.data())
def test_neighbours_by_group(case, k, data):
    table, slow = case
    n = table.n_rows
    groups = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n)))
    groups[0] = 2
    ids, _ = NeighborSearch(table_cells(table), groups).nearest(np.arange(n), k)
    for r in range(n):
        for g in range(3):
            expected = reference.nearest(slow, r, k, np.flatnonzero(groups == g).tolist())
            assert [i for i in ids[r, g].tolist() if i >= 0] == expected


@pytest.mark.every(2)
@pytest.mark.parametrize(("n", "d"), [(130, 7), (67, 1100), (300, 30)])
@pytest.mark.parametrize("kind", ["normal", "integers", "binary", "near ties"])
def test_larger_data_in_all_precisions(n, d, kind):
    rng = np.random.default_rng(n)
    X = {
        "normal": lambda: rng.normal(size=(n, d)),
        "integers": lambda: rng.integers(0, 7, (n, d)).astype(float),
        "binary": lambda: rng.integers(0, 2, (n, d)).astype(float),
        "near ties": lambda: (
            np.repeat(rng.normal(size=(n // 10 + 1, d)), 10, axis=0)[:n] + 1e-6 * rng.normal(size=(n, d))
        ),
    }[kind]()
    cells = table_cells(table_from(X))
    total = np.abs(cells.values[:, None] - cells.values).sum(axis=2)
    keys = np.rint(total / reference.TIE)
    np.fill_diagonal(keys, np.inf)
    expected = np.argsort(keys, axis=1, kind="stable")[:, :12]
    for precision in (np.int16, np.float32, np.float64):
        search = NeighborSearch(cells)
        search._precision = precision
        ids, distances = search.nearest(np.arange(n), 12)
        np.testing.assert_array_equal(ids[:, 0], expected)
        np.testing.assert_allclose(distances[:, 0], np.take_along_axis(total, expected, 1), rtol=1e-12)


def test_duplicates_are_neighbours_but_not_oneself():
    X = np.array([[1.0, 2.0]] * 3 + [[5.0, 9.0]])
    ids, distances = NeighborSearch(table_cells(table_from(X))).nearest(np.arange(4), 2)
    assert ids[:, 0].tolist() == [[1, 2], [0, 2], [0, 1], [0, 1]]
    assert distances[0, 0].tolist() == [0.0, 0.0]


def test_sparse_cells_equal_dense_ones():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 6)) * (rng.random((20, 6)) < 0.4)
    X[2, 3] = np.nan
    dense, thin = table_cells(table_from(X)), table_cells(table_from(sparse.csr_array(X)))
    np.testing.assert_array_equal(dense.values, thin.values)
    np.testing.assert_array_equal(dense.missing, thin.missing)


def test_ranges_of_huge_numbers():
    huge = table_cells(table_from(np.array([[-1.5e308], [1.5e308], [0.0]])))
    assert huge.values.ravel().tolist() == [0.0, 1.0, 0.5]


@draws(8)
@given(st.integers(1, 40), st.integers(0, 10**6), st.sampled_from([0.0, 0.2]))
def test_the_error_in_16_bits_stays_within_its_bound(d, seed, missing):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, d)) ** 3
    X[rng.random(X.shape) < missing] = np.nan
    search = NeighborSearch(table_cells(table_from(X)))
    ids, rough, error = search._candidates(np.int16, np.arange(20), 19)
    in_double, distances, _ = search._in(np.float64, np.arange(20), 19)
    exact = np.zeros((20, 20))
    np.put_along_axis(exact, in_double[:, 0].astype(np.int64), distances[:, 0], axis=1)
    exact = np.take_along_axis(exact, ids[:20, 0].astype(np.int64), axis=1).ravel()
    off = np.abs(rough[:20, 0].ravel() - exact)
    assert off.any()
    assert (off <= error[0] + error[1] * exact).all()


@pytest.mark.parametrize("d", [3, 60_000])
def test_the_largest_distances_do_not_overflow_in_16_bits(d):
    X = np.repeat([[0.0], [1.0], [0.25]], d, axis=1)
    search = NeighborSearch(table_cells(table_from(X)))
    _, rough, _ = search._candidates(np.int16, np.arange(3), 2)
    np.testing.assert_allclose(rough[:3, 0], np.array([[0.25, 1.0], [0.75, 1.0], [0.25, 0.75]]) * d, rtol=1e-3)
