"""Sparse cells and the search among them: the same as the slow reference and as dense cells."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from draws import draws
from omnirank.data.columns import table_from
from omnirank.data.table import Table
from omnirank.neighbors.cells import Cells, SparseCells, cells_of, feature_ranges, sparse_cells, table_cells
from omnirank.neighbors.search import NeighborSearch, SparseSearch, search_among
from reference import neighbors_distances as reference
from reference import relief_cases


@st.composite
def sparse_tables(draw):
    """A sparse table with numbers, levels and missing cells, and the same as the reference takes it."""
    frame, slow = draw(relief_cases.features(draw(st.integers(2, 9))))
    table = table_from(frame)
    cells = [table.column(i).astype(float) for i in range(table.n_columns)]
    for i in np.flatnonzero(table.is_nominal):
        cells[i] = np.where(cells[i] < 0, np.nan, cells[i])
    return Table.from_sparse(sparse.csc_array(np.column_stack(cells)), table.names, table.levels), slow


def random_table(n=150, d=60, density=0.08, missing=0.05):
    rng = np.random.default_rng(0)
    matrix = sparse.random_array(
        (n, d), density=density, random_state=rng, data_sampler=lambda size: rng.normal(size=size)
    )
    matrix = matrix.tocsc()
    matrix.data[rng.random(matrix.nnz) < missing] = np.nan
    return Table.from_sparse(matrix)


@draws(10)
@given(sparse_tables(), st.integers(1, 10), st.data())
def test_neighbours_agree_with_the_reference(case, k, data):
    table, slow = case
    n, cells = table.n_rows, sparse_cells(table)
    groups = np.array(data.draw(st.lists(st.integers(-1, 1), min_size=n, max_size=n)))
    groups[0] = 1
    ids, distances = SparseSearch(cells, groups).nearest(np.arange(n), k)
    for r in range(n):
        for g in range(2):
            nearest = reference.nearest(slow, r, k, np.flatnonzero(groups == g).tolist())
            assert [i for i in ids[r, g].tolist() if i >= 0] == nearest
            far = [reference.total_distance(slow, r, q) for q in nearest]
            np.testing.assert_allclose(distances[r, g, : len(far)], far, atol=1e-12)
            assert np.isinf(distances[r, g, len(far) :]).all()


def test_neighbours_are_those_of_dense_cells():
    table = random_table()
    rows, groups = np.arange(0, 150, 2), np.arange(150) % 3 - 1
    thin = search_among(cells_of(table), groups).nearest(rows, 7)
    dense = NeighborSearch(table_cells(table), groups).nearest(rows, 7)
    np.testing.assert_array_equal(thin[0], dense[0])
    np.testing.assert_allclose(thin[1], dense[1], rtol=1e-12)


def test_ranges_of_sparse_columns():
    X = np.array([[0.0, -3.0, np.nan, np.nan, 0.0, 2.0], [0.0, 2.0, 0.0, np.nan, -1.0, 5.0]])
    with_gaps, dense = feature_ranges(table_from(sparse.csc_array(X))), feature_ranges(table_from(X))
    np.testing.assert_array_equal(with_gaps.low, dense.low)
    np.testing.assert_array_equal(with_gaps.span, dense.span)


def test_the_cheaper_cells_are_chosen():
    assert isinstance(cells_of(random_table(density=0.08)), SparseCells)
    assert isinstance(cells_of(random_table(density=0.5)), Cells)
    assert isinstance(cells_of(table_from(np.eye(50))), Cells)


@pytest.mark.parametrize("d", [20_000])
def test_wide_cells_take_the_memory_of_what_is_stored(d):
    table = random_table(n=200, d=d, density=0.002)
    SparseSearch(sparse_cells(table)).nearest(np.arange(3), 2)  # compiled before memory is watched
    tracemalloc.start()
    try:
        search_among(cells_of(table)).nearest(np.arange(200), 5)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200 * d * 8 / 4  # a quarter of the dense cells
