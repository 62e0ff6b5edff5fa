"""Thresholds of 16 features at once: the vector instructions and their plain twins agree."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from omnirank.core.kernels import vector
from omnirank.trees.kernels import draw_lanes

# slow: kernels of their own are compiled
pytestmark = [pytest.mark.slow, pytest.mark.skipif(vector.PLAIN, reason="there is only the plain twin")]

plain_norm_8, plain_norm_16 = map(draw_lanes._make_plain_half_norm, (8, 16))


def jitted(function):
    """A kernel that does nothing but call a function."""

    @numba.njit
    def call(*arguments):
        return function(*arguments)

    return call


drawn_values, drawn_halves = jitted(draw_lanes.draw_values), jitted(draw_lanes.draw_halves)
listed_values, listed_halves = jitted(draw_lanes.draw_listed_values), jitted(draw_lanes.draw_listed_halves)
norm_8, norm_16 = jitted(draw_lanes.half_norm_8), jitted(draw_lanes.half_norm_16)


@pytest.mark.every(5)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 7, 63, 64, 65, 200])
@pytest.mark.parametrize("least", [0.5, 4.0])
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_both_twins_agree(dtype, n, least):
    rng = np.random.default_rng([n, int(least), dtype().itemsize])
    cells = rng.lognormal(0, 3, (300, 48)).astype(dtype)
    cells[:, 17] = 1.0
    cells[:, 18] = rng.integers(0, 2, 300)
    cells[:, 19] = rng.choice([-1.0, 1.0], 300) * np.finfo(dtype).max
    rows = np.sort(rng.choice(300, n, replace=False)).astype(np.uint32)
    weight, value = rng.integers(1, 4, n).astype(float), rng.normal(size=n)
    drawn = (rng.random(48) < 0.8).astype(np.uint8)
    arguments = weight, drawn, np.uint64(rng.integers(2**63)), weight.sum(), least
    found, plain = np.zeros((2, draw_lanes.N_FOUND, draw_lanes.BLOCK))
    admissible = drawn_values(cells, 16, rows, n, *arguments, found, value)
    assert admissible == draw_lanes.plain_draw_values(cells, 16, rows, n, *arguments, plain, value)
    ok = [bool(int(admissible) >> j & 1) for j in range(16)]
    assert not any(ok[j] for j in range(16) if not drawn[16 + j])
    assert not ok[1]
    np.testing.assert_allclose(found[:, ok], plain[:, ok], rtol=1e-12)

    halves, plain_halves = np.zeros((2, n // 64 + 1, 16), np.uint64)
    assert drawn_halves(cells, 16, rows, n, *arguments, found, halves) == admissible
    draw_lanes.plain_draw_halves(cells, 16, rows, n, *arguments, plain, plain_halves)
    np.testing.assert_array_equal(halves[: -(-n // 64), ok], plain_halves[: -(-n // 64), ok])
    matrix = rng.normal(size=(n, 24))
    for j in np.flatnonzero(ok):
        for right in (0, 1):
            for norm, twin, column in ((norm_8, plain_norm_8, 16), (norm_16, plain_norm_16, 0)):
                expected = twin(matrix, column, halves, j, right, n)
                np.testing.assert_allclose(norm(matrix, column, halves, j, right, n), expected)


@pytest.mark.every(2)
@pytest.mark.parametrize("n", [1, 2, 7, 64, 65, 200, 600])
@pytest.mark.parametrize("least", [0.5, 4.0])
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_listed_features_get_the_thresholds_of_all(n, least):
    rng = np.random.default_rng([n, int(least)])
    cells = rng.lognormal(0, 3, (700, 16))
    cells[:, 1] = 1.0
    cells[:, 2] = rng.choice([-1.0, 1.0], 700) * np.finfo(float).max
    rows = rng.choice(700, n, replace=False).astype(np.uint32)
    weight, value = rng.integers(1, 4, n).astype(float), rng.normal(size=n)
    rest = np.uint64(rng.integers(2**63)), weight.sum(), least
    listed = np.zeros((2, 9), np.uint32)
    listed[0, :8] = [11, 1, 2, 15, 0, 7, 4, 4]
    wanted = np.array([1, 1, 1, 1, 0, 1, 1, 0], np.uint8)
    copied, again = np.zeros((2, n, 8))
    found, plain, every = np.zeros((3, draw_lanes.N_FOUND, draw_lanes.BLOCK))
    admissible = listed_values(cells, listed, rows, n, weight, wanted, *rest, found, value, copied)
    twin = draw_lanes.plain_draw_listed_values(cells, listed, rows, n, weight, wanted, *rest, plain, value, again)
    assert admissible == twin
    for cells_of_listed in (copied, again):
        np.testing.assert_array_equal(cells_of_listed, cells[rows][:, listed[0, :8]])
    all_drawn = drawn_values(cells, 0, rows, n, weight, np.ones(16, np.uint8), *rest, every, value)
    ok = np.array([bool(int(admissible) >> j & 1) for j in range(8)])
    np.testing.assert_array_equal(ok, wanted * [bool(int(all_drawn) >> int(f) & 1) for f in listed[0, :8]])
    np.testing.assert_array_equal(found[:, :8][:, ok], every[:, listed[0, :8]][:, ok])
    np.testing.assert_allclose(found[:, :8][:, ok], plain[:, :8][:, ok], rtol=1e-12)
    halves, twins = np.zeros((2, n // 64 + 1, 16), np.uint64)
    assert listed_halves(cells, listed, rows, n, weight, wanted, *rest, found, halves, copied) == admissible
    draw_lanes.plain_draw_listed_halves(cells, listed, rows, n, weight, wanted, *rest, plain, twins, copied)
    np.testing.assert_array_equal(halves[: -(-n // 64), :8][:, ok], twins[: -(-n // 64), :8][:, ok])
