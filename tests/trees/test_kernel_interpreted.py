"""Kernels run interpreted too (NUMBA_DISABLE_JIT=1): that is where coverage and debuggers see them."""

from __future__ import annotations

import os
import subprocess
import sys

import numba
import numpy as np
import pytest

from omnirank.core.kernels import vector as vector
from reference import trees_cases as cases
from reference.trees_growing import Problem

KINDS = (*cases.SPACES, "gram")


def tiny(kind, mixed):
    """Twelve rows with ties, missing and unknown values, and rows of weight 0."""
    rng = np.random.default_rng([KINDS.index(kind), mixed])
    n_levels = [0, 4] if mixed else [0, 0]
    features = [
        cases.nominal_feature(rng, 12, size, 0.2) if size else cases.numeric_feature(rng, 12, 0.2) for size in n_levels
    ]
    columns = cases.target_columns(rng, kind, 12)
    problem = Problem(features, n_levels, columns, np.ones(columns.shape[1]), np.ones(12))
    return problem, rng.integers(0, 3, 12).astype(float)


@pytest.mark.slow
@pytest.mark.parametrize("random_tests", [False, True], ids=["all-tests", "random-tests"])
@pytest.mark.parametrize("mixed", [False, True], ids=["numeric", "mixed"])
@pytest.mark.parametrize("kind", KINDS)
def test_tiny_data(kind, mixed, random_tests):
    if kind == "gram" and not numba.config.DISABLE_JIT:
        pytest.skip("products of rows are compiled by the tests of semi-supervised trees")
    cases.agree(tiny(kind, mixed), kind, cases.settings(max_features=1), 5, random_tests)


@pytest.mark.parametrize("missing", [0.0, 0.2], ids=["known", "missing"])
@pytest.mark.parametrize("mixed", [False, True], ids=["numeric", "mixed"])
@pytest.mark.parametrize("kind", ["one", "dense"])
def test_random_tests_leave_enough_on_both_sides(kind, mixed, missing):
    """Skewed features and leaves of weight 4, so that most first draws are replaced."""
    rng = np.random.default_rng([kind == "dense", mixed, missing > 0])
    for seed in range(6):
        numbers = [np.round(rng.lognormal(0, 3, 24), 1) for _ in range(3)]
        for cells in numbers:
            cells[rng.random(24) < missing] = np.nan
        n_levels = [0, 0, 0, 6] if mixed else [0, 0, 0]
        levels = [np.minimum(cases.nominal_feature(rng, 24, 12, missing), 5)] if mixed else []
        columns = cases.target_columns(rng, kind, 24)
        problem = Problem(numbers + levels, n_levels, columns, np.ones(columns.shape[1]), np.ones(24))
        weight = rng.integers(0, 3, 24).astype(float)
        cases.agree((problem, weight), kind, cases.settings(min_leaf=4.0), seed, random_tests=True)


def jitted(function):
    """A kernel that does nothing but call a function."""

    @numba.njit
    def call(*arguments):
        return function(*arguments)

    return call


@pytest.mark.slow
def test_vector_helpers_agree_with_their_plain_twins():
    rng = np.random.default_rng(0)
    for dtype in (np.uint16, np.uint32):
        values = rng.integers(0, 9, 3 * vector.LANES).astype(dtype)
        for limit in (0, 4, np.iinfo(dtype).max):
            arguments = values, 7, dtype(limit)
            assert jitted(vector.count_smaller)(*arguments) == vector._count_smaller_plain(*arguments)
    smaller, larger = jitted(vector.smaller), jitted(vector.larger)
    for dtype in (np.uint16, np.uint64, np.int64, np.float64):
        for a, b in rng.integers(0, 5, (20, 2)).astype(dtype):
            assert (smaller(a, b), larger(a, b)) == (min(a, b), max(a, b))
    for a, b in ((np.int64(-1), np.int64(1)), (np.uint64(1), np.uint64(2**63))):
        assert (smaller(b, a), larger(b, a)) == (a, b)
    for word in (0, 1, 2**63, 2**64 - 1, 0x5851F42D4C957F2D):
        assert jitted(vector.count_bits)(np.uint64(word)) == vector._count_bits_plain(np.uint64(word))
    for lanes, add in ((8, vector.add_running_norms_8), (32, vector.add_running_norms_32)):
        matrix = rng.normal(size=(10, 48))
        order = rng.permutation(10).astype(np.uint32).reshape(2, 5)
        out = rng.normal(size=(3, 6))
        expected = out.copy()
        vector._add_running_norms_plain(lanes)(matrix, 8, order, 1, 4, expected, 2)
        jitted(add)(matrix, 8, order, 1, 4, out, 2)
        np.testing.assert_allclose(out, expected)


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="already interpreted")
def test_this_file_passes_interpreted(request):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(request.path)],
        cwd=request.config.rootpath,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
