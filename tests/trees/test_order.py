"""Order: rows of nodes by codes, and ranks of cells, are those of numpy, whatever the cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draws import draws
from omnirank.data.table import Table
from omnirank.trees.kernels.order import MANY_ROWS, ORDER, order_rows
from omnirank.trees.kernels.search_all import NumericCodes, search_scratch
from omnirank.trees.layout import code_features, in_order

# -- rows of a node ----------------------------------------------------------------------------------------

SIZES = [*range(1, 71), 200, 300]


def ordered(codes, rows, missing):
    """Local row numbers and codes in order, and the number of known ones."""
    packed = np.zeros(0, np.uint32 if codes.itemsize == 2 else np.uint64)
    n = len(rows)
    distinct = len(np.unique(codes)) == len(codes) and missing not in codes
    features = NumericCodes(codes[None], missing, packed, np.array([distinct]), codes[:, None])
    work = search_scratch(features, n + 5)
    lo = 2
    padded = np.concatenate([np.zeros(lo, np.uint32), rows.astype(np.uint32)])
    known = order_rows(features, 0, padded, lo, n, work)
    return work.ints[ORDER, :n].copy(), work.key[:n].copy(), int(known)


def check(codes, rows):
    missing = codes.dtype.type(np.iinfo(codes.dtype).max)
    of_rows = codes[rows]
    order, keys, known = ordered(codes, rows, missing)
    if len(np.unique(of_rows[of_rows != missing])) < 2:
        assert known == 0
        return
    expected = np.argsort(of_rows, kind="stable")
    assert known == np.count_nonzero(of_rows != missing)
    np.testing.assert_array_equal(order, expected)
    np.testing.assert_array_equal(keys, of_rows[expected])


def random_codes(rng, n, dtype, n_values, missing_share):
    codes = rng.integers(0, n_values, n).astype(dtype)
    codes[rng.random(n) < missing_share] = np.iinfo(dtype).max
    return codes


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
def test_every_size_of_node(dtype):
    rng = np.random.default_rng(0)
    for n in SIZES:
        for n_values in (2, 5, 300, 60000):
            for missing_share in (0.0, 0.3):
                codes = random_codes(rng, n + 10, dtype, n_values, missing_share)
                check(codes, rng.permutation(n + 10)[:n])


@pytest.mark.slow
@pytest.mark.parametrize("n_values", [2, 2048, 2**19, 2**31])
def test_large_nodes(n_values):
    rng = np.random.default_rng(0)
    for missing_share in (0.0, 0.3):
        codes = random_codes(rng, MANY_ROWS + 10, np.uint32, n_values, missing_share)
        for n in (MANY_ROWS - 1, MANY_ROWS):
            check(codes, rng.permutation(len(codes))[:n])


@pytest.mark.slow
@draws(15)
@given(st.lists(st.sampled_from([0, 1, 7, 255, 256, 257, 65533, 65535]), min_size=1, max_size=100))
def test_ties_and_bytes(values):
    check(np.array(values, np.uint16), np.arange(len(values)))


@pytest.mark.slow
@pytest.mark.parametrize("missing_share", [0.0, 0.2])
@pytest.mark.parametrize("n_values", [2, 300, 70000, 2**32 - 1])
def test_more_rows_than_16_bits_number(n_values, missing_share):
    rng = np.random.default_rng(1)
    check(random_codes(rng, 70000, np.uint32, n_values, missing_share), rng.permutation(70000))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
def test_codes_that_all_differ(dtype):
    rng = np.random.default_rng(2)
    for n in SIZES:
        codes = rng.permutation(n + 10).astype(dtype)
        check(codes, rng.permutation(n + 10)[:n])
        codes[rng.integers(n + 10, size=2)] = np.iinfo(dtype).max
        check(codes, rng.permutation(n + 10)[:n])


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 40, 100])
def test_equal_and_missing_codes_alone_are_not_ordered(n):
    for codes in (np.full(n, 3), np.full(n, 65535), np.where(np.arange(n) < n // 2, 3, 65535)):
        check(codes.astype(np.uint16), np.arange(n))


# -- features of a table -----------------------------------------------------------------------------------


def expected_ranks(cells):
    known = ~np.isnan(cells)
    codes = np.full(len(cells), np.iinfo(np.uint32).max)
    codes[known] = np.unique(cells[known], return_inverse=True)[1]
    return codes


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_in_any_layout(order, dtype):
    rng = np.random.default_rng(1)
    cells = np.array(rng.normal(size=(66_000, 7)), dtype, order=order)
    cells[rng.random(cells.shape) < 0.01] = np.nan
    for found, column in zip(code_features(Table.from_numeric(cells)).codes, cells.T, strict=True):
        np.testing.assert_array_equal(found, expected_ranks(column))


NUMBERS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "few values": lambda rng, n: rng.integers(-5, 5, n).astype(float),
    "leading bits equal": lambda rng, n: 1e6 + 1e-9 * rng.normal(size=n),
    "missing": lambda rng, n: np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
    "huge and tiny": lambda rng, n: rng.standard_cauchy(n) * 10.0 ** rng.integers(-300, 300, n),
    "signed zeros": lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, -0.0),
    "single precision": lambda rng, n: rng.normal(size=n).astype(np.float32),
}


@pytest.mark.parametrize("n", [1, 50, 2500])
@pytest.mark.parametrize("kind", NUMBERS)
def test_codes_are_the_numbers_of_distinct_values(kind, n):
    cells = NUMBERS[kind](np.random.default_rng(n), n)
    coded = code_features(Table.from_numeric(np.column_stack([cells, cells[::-1]])))
    known = ~np.isnan(cells)
    distinct, numbers = np.unique(cells[known], return_inverse=True)
    expected = np.full(n, np.iinfo(np.uint16).max)
    expected[known] = numbers
    np.testing.assert_array_equal(coded.codes, [expected, expected[::-1]])
    assert coded.distinct.tolist() == [bool(known.all() and len(distinct) == n)] * 2


@pytest.mark.parametrize("n", [0, 1, 7, 3000])
@pytest.mark.parametrize("kind", ["numbers", "ties", "beyond numbers", "last bits", "single precision"])
def test_order_is_that_of_a_stable_sort(n, kind):
    """Also where the leading bits do not decide, of both zeros, and of missing cells of either sign."""
    rng = np.random.default_rng(n)
    cells = rng.normal(size=(2, n))
    if kind == "ties":
        cells = np.round(cells, 1)
    if kind == "beyond numbers":
        cells = rng.choice([-np.nan, np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0], (2, n))
    if kind == "last bits":
        cells = np.where(cells > 1, 1 + np.round(cells, 2) * 1e-15, cells)
    if kind == "single precision":
        cells = cells.astype(np.float32)
    order, ordered = in_order(cells)
    np.testing.assert_array_equal(order, np.argsort(cells, axis=1, kind="stable"))
    np.testing.assert_array_equal(ordered, np.take_along_axis(cells, order, axis=1))
    assert ordered.dtype == cells.dtype
