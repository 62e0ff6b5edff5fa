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
