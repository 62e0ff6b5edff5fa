"""Table: construction, storage, rows and columns, dense and sparse."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from omnirank.data.table import (
    Table,
    any_infinite,
    chosen_numbers,
    count_missing,
)
from omnirank.errors import DataError

NAN = np.nan


def small_table(dtype=np.float64):
    return Table.from_columns(
        ["height", "colour", "width", "wet"],
        [np.array([1.5, NAN, 3], dtype), np.array([1, 0, -1]), np.array([7, 8, 9], dtype), np.array([0, 1, 1])],
        [None, ("red", "blue"), None, (False, True)],
    )


@st.composite
def cells(draw):
    n_rows, n_columns = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    cell = st.sampled_from([0.0, 0.0, 0.0, 1.0, -2.5, NAN])
    rows = draw(st.lists(st.lists(cell, min_size=n_columns, max_size=n_columns), min_size=n_rows, max_size=n_rows))
    return np.array(rows)


# -- construction -------------------------------------------------------------------------------------


def test_blocks_hold_each_kind_in_column_order():
    table = small_table()
    np.testing.assert_array_equal(table.numeric, [[1.5, 7], [NAN, 8], [3, 9]])
    assert table.codes.tolist() == [[1, 0], [0, 1], [-1, 1]]
    assert table.slots.tolist() == [0, 0, 1, 1]
    assert table.is_nominal.tolist() == [False, True, False, True]
    assert (table.n_rows, table.n_columns, table.n_missing, table.is_sparse) == (3, 4, 2, False)


@pytest.mark.parametrize(("dtype", "kept"), [(np.float32, np.float32), (np.float64, np.float64)])
def test_storage_numeric_float64_or_float32_as_given_and_nominal_int32(dtype, kept):
    table = small_table(dtype)
    assert table.dtype == table.numeric.dtype == kept
    assert table.codes.dtype == np.int32
    assert Table.from_numeric(np.zeros((2, 3), dtype)).dtype == kept
    assert Table.from_sparse(sparse.eye_array(3, dtype=dtype)).dtype == kept


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float16, ">f8", np.longdouble, bool])
def test_storage_of_other_number_types_is_native_float64(dtype):
    table = Table.from_numeric(np.array([[0, 1]], dtype=dtype))
    assert table.numeric.dtype == np.float64
    assert table.numeric.dtype.isnative
    assert table.numeric.tolist() == [[0, 1]]


# -- sparse -------------------------------------------------------------------------------------------


def test_sparse_nominal_column_absent_is_first_level():
    table = Table.from_sparse(sparse.csc_array(np.array([[0.0], [2.0], [NAN]])), levels=[("a", "b", "c")])
    assert table.column(0).tolist() == [0, 2, -1]
    assert table.column(0).dtype == np.int32
    assert table.to_frame()["x0"].tolist() == ["a", "c", NAN]


def test_sparse_table_is_canonical_and_leaves_its_source_alone():
    data, rows, starts = np.array([5.0, 0.0, 1.0, 2.0]), np.array([2, 1, 0, 0]), np.array([0, 3, 4])
    source = sparse.csc_array((data, rows, starts), shape=(3, 2))
    table = Table.from_sparse(source)
    assert source.data.tolist() == [5.0, 0.0, 1.0, 2.0]
    assert table.matrix.indices.tolist() == [0, 2, 0]
    assert table.matrix.data.tolist() == [1.0, 5.0, 2.0]


@given(cells(), st.data())
def test_sparse_and_dense_agree(values, data):
    n_rows, n_columns = values.shape
    dense, thin = Table.from_numeric(values), Table.from_sparse(sparse.csr_array(values))
    rows = data.draw(st.lists(st.integers(-n_rows, n_rows - 1), max_size=8))
    columns = data.draw(st.permutations(range(n_columns)))
    assert thin.equals(dense)
    assert dense.equals(thin)
    assert thin.n_missing == dense.n_missing
    chosen, other = (thin.take(np.array(rows, int)).select(columns), dense.take(np.array(rows, int)).select(columns))
    assert chosen.equals(other)
    np.testing.assert_array_equal(other.numeric, values[np.array(rows, int)][:, columns])
    pd.testing.assert_frame_equal(chosen.to_frame(), other.to_frame())
    for start, end in pairwise(chosen.matrix.indptr):
        assert np.all(np.diff(chosen.matrix.indices[start:end]) > 0)


# -- parts --------------------------------------------------------------------------------------------


def test_select_of_neighbours_is_a_view():
    values = np.zeros((4, 5))
    table = Table.from_numeric(values)
    assert np.shares_memory(table.select([1, 2, 3]).numeric, values)
    assert not np.shares_memory(table.select([1, 3]).numeric, values)


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.select([0, 1, 2]),
        lambda t: t.take([0, 1]),
        lambda t: Table(t.names, t.levels, t.numeric + 1, t.codes),
        lambda t: Table(t.names, t.levels, t.numeric, 1 - t.codes),
        lambda t: Table(("h", *t.names[1:]), t.levels, t.numeric, t.codes),
        lambda t: Table(t.names, (None, ("red", "pink"), None, (False, True)), t.numeric, t.codes),
    ],
)
def test_equals_sees_every_difference(change):
    assert small_table().equals(small_table())
    assert not small_table().equals(change(small_table()))


# -- choosing rows ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "numbers"),
    [
        (slice(None, None, -2), [4, 2, 0]),
        ([], []),
        ((1, 1), [1, 1]),
        (pd.Series([True, False, True, False, False]), [0, 2]),
        (np.array([-5, 4], np.int8), [0, 4]),
    ],
)
def test_chosen_numbers(rows, numbers):
    assert chosen_numbers(rows, 5).tolist() == numbers
    assert chosen_numbers(rows, 5).dtype == np.intp


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([0, 5], "no row 5: there are 5 rows"),
        ([True, False], "mask has 2 entries, but there are 5 rows"),
        ([0.5], "integers or a mask, not by float64"),
        (["a"], "integers or a mask"),
        (3, "a slice, a mask or a list"),
    ],
)
def test_chosen_numbers_errors(rows, message):
    with pytest.raises(DataError, match=message):
        chosen_numbers(rows, 5)


LAYOUTS = {"C": np.ascontiguousarray, "F": np.asfortranarray, "strided": lambda cells: np.repeat(cells, 2, 1)[:, ::2]}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_missing_and_infinite_cells_are_found(layout):
    values, shares = [0.0, 1.0, -2.0, np.nan, np.inf, -np.inf, 1.7e308], [0.4, 0.3, 0.2, *[0.025] * 4]
    for seed in range(20):
        cells = np.random.default_rng(seed).choice(values, p=shares, size=(6, 7))
        given = LAYOUTS[layout](cells)
        assert count_missing(given) == np.isnan(cells).sum(), seed
        assert any_infinite(given) == np.isinf(cells).any(), seed
