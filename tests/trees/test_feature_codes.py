"""Ranks of features: those of numpy's distinct values, for all kinds of numbers and sizes."""

from __future__ import annotations

import numpy as np
import pytest

from omnirank.data.table import Table
from omnirank.trees.codes import code_features

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
    assert coded.cells.distinct.tolist() == [bool(known.all() and len(distinct) == n)] * 2


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 60, 66_000])
def test_codes_of_some_rows_are_those_of_a_table_of_these_rows(n):
    """Kernels size their memory by the rows: a code beyond them would be written outside of it."""
    rng = np.random.default_rng(n)
    numbers = [NUMBERS[kind](rng, n) for kind in ("normal", "few values", "missing")]
    levels = np.where(rng.random(n) < 0.2, -1, rng.integers(0, 3, n))
    columns, kinds = [*numbers, levels], [None, None, None, tuple("abc")]
    whole = code_features(Table.from_columns("wxyz", columns, kinds))
    for share in (0.3, 0.999):
        rows = (rng.random(n) < share) | (np.arange(n) == n - 1)
        table = Table.from_columns("wxyz", [cells[rows] for cells in columns], kinds)
        part, expected = whole.take(rows, table), code_features(table)
        assert part.codes.dtype == expected.codes.dtype
        np.testing.assert_array_equal(part.codes, expected.codes)
        np.testing.assert_array_equal(part.distinct, expected.distinct)
        for one, other in zip(part.values, expected.values, strict=True):
            np.testing.assert_array_equal(one, other)
