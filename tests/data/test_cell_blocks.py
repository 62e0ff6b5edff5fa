"""Facts about all cells are found block by block, in every layout."""

from __future__ import annotations

import numpy as np
import pytest

from omnirank.data.table import any_infinite, count_missing, count_non_zero

LAYOUTS = {"C": np.ascontiguousarray, "F": np.asfortranarray, "strided": lambda cells: np.repeat(cells, 2, 1)[:, ::2]}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_as_numpy_counts_them_all_at_once(monkeypatch, layout):
    monkeypatch.setattr("omnirank.data.table._BLOCK", 5)
    values, shares = [0.0, 1.0, -2.0, np.nan, np.inf, -np.inf, 1.7e308], [0.4, 0.3, 0.2, *[0.025] * 4]
    for seed in range(20):
        cells = np.random.default_rng(seed).choice(values, p=shares, size=(6, 7))
        given = LAYOUTS[layout](cells)
        assert count_missing(given) == np.isnan(cells).sum(), seed
        assert any_infinite(given) == np.isinf(cells).any(), seed
        assert count_non_zero(given, enough=42) == np.count_nonzero(cells), seed


@pytest.mark.parametrize("layout", LAYOUTS)
def test_counting_stops_where_there_are_enough(monkeypatch, layout):
    monkeypatch.setattr("omnirank.data.table._BLOCK", 5)
    assert count_non_zero(LAYOUTS[layout](np.ones((4, 5))), enough=7) == (20 if layout == "strided" else 10)
