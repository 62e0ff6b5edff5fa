"""Ranks of many cells: those of numpy, whatever the cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from draws import draws
from omnirank.data.table import Table
from omnirank.trees.codes import code_features
from omnirank.trees.kernels.ranks import DIGIT, rank_cells

MISSING = np.uint32(np.iinfo(np.uint32).max)


def ranks(cells, n_sorted=64):
    """Ranks of the cells and what the kernel returns."""
    n = len(cells)
    codes = np.zeros(n, np.uint32)
    memory = np.zeros((2, n), np.uint64), np.zeros(2 ** int(DIGIT) + 1, np.uint32), np.zeros(n)
    return codes, rank_cells(cells, cells.view(np.uint64), codes, MISSING, np.uint64(n_sorted), *memory)


def expected_ranks(cells):
    known = ~np.isnan(cells)
    codes = np.full(len(cells), MISSING)
    codes[known] = np.unique(cells[known], return_inverse=True)[1]
    return codes, int(len(np.unique(cells[known])) == len(cells))


def check(cells):
    expected = expected_ranks(cells)
    for n_sorted in (64, 33):
        found = ranks(cells, n_sorted)
        if found[1] >= 0 or n_sorted == 64:  # of few bits, too many may agree
            np.testing.assert_array_equal(found[0], expected[0])
            assert found[1] == expected[1]


@draws(25)
@given(arrays(np.float64, st.integers(1, 60), elements=st.floats() | st.sampled_from([0.0, -0.0, 1.0, np.nan, np.inf])))
def test_any_floats(cells):
    check(cells)


MANY = {
    "normal": lambda rng: rng.normal(size=70_000),
    "few values": lambda rng: rng.integers(0, 5, 70_000) / 4,
    "all magnitudes": lambda rng: np.exp(100 * rng.normal(size=70_000)) * rng.choice([-1, 1], 70_000),
    "some missing": lambda rng: np.where(rng.random(70_000) < 0.2, np.nan, rng.normal(size=70_000)),
    "constant": lambda rng: np.ones(70_000),
    "all missing": lambda rng: np.full(70_000, np.nan),
    "leading bits tie now and then": lambda rng: np.concatenate([[-1e300, 1e300], 1 + rng.random(9998) * 1e-6]),
}


@pytest.mark.parametrize("make", MANY.values(), ids=MANY)
def test_many_cells(make):
    check(make(np.random.default_rng(0)))


def test_cells_that_agree_in_their_leading_bits_are_left_to_another_sort():
    rng = np.random.default_rng(0)
    cells = np.concatenate([[-1e300, 1e300], 1 + rng.permutation(70_000) * 2.0**-52])
    assert ranks(cells)[1] == -1
    coded = code_features(Table.from_numeric(np.column_stack([cells, rng.normal(size=len(cells))])))
    np.testing.assert_array_equal(coded.codes[0], expected_ranks(cells)[0])
    assert coded.distinct.tolist() == [True, True]


def test_where_few_bits_do_not_decide_more_are_sorted(monkeypatch):
    rng = np.random.default_rng(0)
    cells = np.concatenate([[-1e300, 1e300], 1 + rng.permutation(70_000) * 2.0**-32])
    assert ranks(cells, 33)[1] == -1
    assert ranks(cells)[1] == 1
    monkeypatch.setattr("omnirank.trees.codes._rank", None)  # it is not needed
    coded = code_features(Table.from_numeric(cells[:, None]))
    np.testing.assert_array_equal(coded.codes[0], expected_ranks(cells)[0])


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_in_any_layout(order, dtype):
    rng = np.random.default_rng(1)
    cells = np.array(rng.normal(size=(66_000, 7)), dtype, order=order)
    cells[rng.random(cells.shape) < 0.01] = np.nan
    for found, column in zip(code_features(Table.from_numeric(cells)).codes, cells.T, strict=True):
        np.testing.assert_array_equal(found, expected_ranks(column)[0])


def test_tables_of_many_rows():
    rng = np.random.default_rng(0)
    cells = np.where(rng.random((66_000, 3)) < 0.1, np.nan, rng.normal(size=(66_000, 3)).round(2)).astype(np.float32)
    coded = code_features(Table.from_numeric(cells))
    for f in range(3):
        np.testing.assert_array_equal(coded.codes[f], expected_ranks(cells[:, f].astype(float))[0])
