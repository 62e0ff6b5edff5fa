"""Ranks of numbers, against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata

from omnirank.core.tied_ranks import average_ranks


@pytest.mark.parametrize(
    "values",
    [
        np.array([]),
        np.array([3.0]),
        np.array([2.0, 2.0, 2.0]),
        np.array([0.0, -0.0, np.inf, -np.inf, 1e-300]),
        np.random.default_rng(0).integers(0, 40, 200) / 7,
        np.random.default_rng(1).normal(size=101),
        np.array([5, 1, 5, 3]),
    ],
)
def test_same_as_scipy(values):
    np.testing.assert_array_equal(average_ranks(values), rankdata(values))
