"""Random choices: by the seed, and fair."""

from __future__ import annotations

import numpy as np
import pytest

from omnirank.trees.kernels import candidates as random
from reference import trees_cases as cases
from reference.trees_growing import Problem

N_SEEDS = 400


def roots(features, target, n_levels=None, random_tests=False, **options):
    """Root tests over many seeds."""
    columns = np.array(target, float)[:, None]
    n_levels = n_levels or [0] * len(features)
    problem = Problem(
        [np.array(x, np.int32 if size else float) for x, size in zip(features, n_levels, strict=True)],
        n_levels,
        columns,
        np.ones(1),
        np.ones(len(target)),
    )
    search = cases.settings(max_depth=1, **options)
    for seed in range(N_SEEDS):
        tree = cases.grow(problem, "one", np.ones(len(target)), search, seed, random_tests)
        yield cases.nodes_of(tree, problem, random_tests)[0]


def assert_fair(counts):
    """Each of the choices as often as the others, within five standard deviations."""
    expected = sum(counts) / len(counts)
    assert max(abs(c - expected) for c in counts) < 5 * np.sqrt(expected)


def test_the_generator_is_splitmix64():
    assert int(random.mix(np.uint64(0))) == 0xE220A8397B1DCDAF
    assert int(random.mix(np.uint64(0x9E3779B97F4A7C15))) == 0x6E789E6AA1B965F4
    state, gamma = 1234567, 0x9E3779B97F4A7C15
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [int(random.mix(np.uint64((state + i * gamma) % 2**64))) for i in range(3)] == published


def test_integers_and_units_stay_in_their_range():
    most = np.uint64(2**64 - 1)
    assert (random.below(np.uint64(0), 7), random.below(most, 7)) == (0, 6)
    assert random.unit(np.uint64(0)) == 0.0
    assert random.unit(most) < 1.0


@pytest.mark.slow
@pytest.mark.parametrize("first_tie", [False, True])
def test_ties_between_features(first_tie):
    x = [0, 1, 2, 3]
    counts = np.bincount([r.feature for r in roots([x, x, x], [0, 0, 1, 1], first_tie=first_tie)], minlength=3)
    if first_tie:
        assert counts.tolist() == [N_SEEDS, 0, 0]
    else:
        assert_fair(counts)


@pytest.mark.slow
@pytest.mark.parametrize("first_tie", [False, True])
def test_ties_between_thresholds(first_tie):
    found = [r.threshold for r in roots([[0, 1, 2, 3]], [1, 0, 0, 1], first_tie=first_tie)]
    if first_tie:
        assert set(found) == {0.5}
    else:
        assert_fair([found.count(0.5), found.count(2.5)])


@pytest.mark.every(3)
@pytest.mark.parametrize("random_tests", [False, True])
@pytest.mark.parametrize("first_tie", [False, True])
def test_ties_between_the_sides_of_missing_values(first_tie, random_tests):
    found = [r.missing_left for r in roots([[0, 1, np.nan]], [0, 2, 1], random_tests=random_tests, first_tie=first_tie)]
    if first_tie:
        assert set(found) == {False}
    else:
        assert_fair([found.count(False), found.count(True)])


@pytest.mark.slow
def test_features_are_drawn_uniformly_and_drawing_goes_on_past_constant_ones():
    x = [0, 1, 2, 3]
    target = [0, 0, 1, 1]
    counts = np.bincount([r.feature for r in roots([x, x, x, x], target, max_features=1)], minlength=4)
    assert_fair(counts)
    constant = [1, 1, 1, 1]
    found = {r.feature for r in roots([constant, x, constant, constant], target, max_features=1)}
    assert found == {1}
    # A constant feature counts as drawn: with two draws of three the good feature is missed at times.
    worse = [0, 2, 1, 3]
    counts = np.bincount([r.feature for r in roots([constant, x, worse], target, max_features=2)], minlength=3)
    assert counts[0] == 0
    assert abs(counts[1] - N_SEEDS * 2 / 3) < 5 * np.sqrt(N_SEEDS * 2 / 9)


def test_random_thresholds_are_uniform():
    found = [r.threshold for r in roots([[0, 1, 5, 10]], [0, 1, 2, 3], random_tests=True)]
    assert 0 <= min(found) < 1
    assert 9 < max(found) < 10
    assert_fair(np.histogram(found, bins=5, range=(0, 10))[0].tolist())


def test_random_subsets_are_uniform():
    found = [r.subset for r in roots([[0, 1, 2]], [0, 1, 3], n_levels=[3], random_tests=True)]
    assert_fair([found.count(s) for s in ({0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2})])
