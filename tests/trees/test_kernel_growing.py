"""Growing: every kind of space and of features grows the tree of the reference, node by node."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draws import draws
from omnirank.trees.kernels.levels import first_component
from reference import trees_cases as cases
from reference import trees_growing as reference

few = draws(5)
fewer = draws(2)


@pytest.mark.slow
@pytest.mark.parametrize("random_tests", [False, True], ids=["all-tests", "random-tests"])
@pytest.mark.parametrize("mixed", [False, True], ids=["numeric", "mixed"])
@pytest.mark.parametrize("kind", [*cases.SPACES, "single blocks"])
@few
@given(st.data())
def test_the_tree_is_that_of_the_reference(kind, mixed, random_tests, data):
    case = data.draw(cases.problems("blocks" if kind == "single blocks" else kind, mixed))
    cases.agree(case, kind, data.draw(cases.searches()), data.draw(cases.seeds), random_tests)


@pytest.mark.slow
@pytest.mark.every(3)
@pytest.mark.parametrize("kind", cases.SPACES)
@fewer
@given(st.integers(0, 2**32 - 1), st.integers(60, 80))
def test_nodes_of_more_rows_than_the_counting_sort_takes(kind, seed, n):
    rng = np.random.default_rng(seed)
    features = [cases.numeric_feature(rng, n, 0.2) for _ in range(2)]
    columns = cases.target_columns(rng, kind, n)
    problem = reference.Problem(features, [0, 0], columns, np.ones(columns.shape[1]), np.ones(n))
    cases.agree((problem, cases.row_weights(rng, n)), kind, cases.settings(min_leaf=2, max_depth=2), seed)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dense", "blocks", "labels"])
@pytest.mark.parametrize("n_columns", [8, 9, 32, 33, 45])
def test_many_columns(kind, n_columns):
    rng = np.random.default_rng(n_columns)
    n = 20
    columns = rng.normal(size=(n, n_columns))
    if kind == "labels":
        columns = (columns > 0.8).astype(float)
    if kind == "blocks":
        columns[:5, : n_columns - 2] = np.nan
        columns[3:9, n_columns - 1] = np.nan
    features = [cases.numeric_feature(rng, n, 0.2), cases.nominal_feature(rng, n, 4, 0.2)]
    problem = reference.Problem(features, [0, 4], columns, rng.random(n_columns) + 0.5, np.ones(n))
    cases.agree((problem, cases.row_weights(rng, n)), kind, cases.settings(), 7)


# -- nominal features ------------------------------------------------------------------------------------


def exhaustive_gain(problem, weight):
    """The largest gain of any set of levels of the only feature."""
    cells = problem.features[0]
    rows = weight > 0
    levels = sorted(set(cells[rows]))
    gains = [0.0]
    for size in range(1, len(levels)):
        for chosen in combinations(levels, size):
            left = np.isin(cells[rows], chosen)
            gains.append(reference.heuristic(problem.columns[rows], weight[rows], problem.scale, left))
    return max(gains)


@pytest.mark.parametrize("kind", ["one", "blocks"])
@few
@given(st.integers(0, 2**32 - 1), st.integers(2, 30))
def test_levels_in_the_order_of_their_means_hold_the_best_subset_of_one_column(kind, seed, n):
    rng = np.random.default_rng(seed)
    columns = cases.numeric_feature(rng, n, 0.0)[:, None]
    if kind == "blocks":
        columns[rng.random(n) < 0.4] = np.nan
        columns[0] = 1.0
    weight = cases.row_weights(rng, n)
    weight[0] = 1.0
    problem = reference.Problem([cases.nominal_feature(rng, n, 6, 0.0)], [6], columns, np.ones(1), np.ones(n))
    tree = cases.grow(problem, kind, weight, cases.settings(max_depth=1, min_leaf=1e-6), seed)
    expected = exhaustive_gain(problem, weight)
    root = reference.impurity(columns[weight > 0], weight[weight > 0], problem.scale)
    assert tree.gain[0] == pytest.approx(expected, rel=1e-9, abs=1e-9 * root)


def test_the_order_by_the_first_component_is_close_to_the_best_subset_of_several_columns():
    rng = np.random.default_rng(0)
    share = []
    for seed in range(30):
        columns = rng.normal(size=(40, 3)) @ np.diag([3.0, 1.0, 0.5])
        problem = reference.Problem([cases.nominal_feature(rng, 40, 6, 0.0)], [6], columns, np.ones(3), np.ones(40))
        tree = cases.grow(problem, "dense", np.ones(40), cases.settings(max_depth=1), seed)
        share.append(tree.gain[0] / exhaustive_gain(problem, np.ones(40)))
    assert max(share) <= 1 + 1e-9
    assert np.mean(share) > 0.95


@pytest.mark.slow
@few
@given(st.integers(0, 2**32 - 1), st.integers(2, 8), st.integers(1, 5))
def test_the_first_component_is_the_leading_singular_vector(seed, n, n_columns):
    rng = np.random.default_rng(seed)
    left, _ = np.linalg.qr(rng.normal(size=(n, n)))
    right, _ = np.linalg.qr(rng.normal(size=(n_columns, n_columns)))
    sizes = 0.8 ** np.arange(min(n, n_columns))
    matrix = left[:, : len(sizes)] * sizes @ right[: len(sizes)]
    found = first_component(matrix, 0.0)
    np.testing.assert_allclose(np.abs(found @ left[:, 0]), np.linalg.norm(found), rtol=1e-9)
    assert found[np.argmax((matrix**2).sum(axis=1))] > 0
    assert not first_component(matrix, 2.0).any()


@pytest.mark.slow
def test_the_first_component_of_many_levels_takes_no_products_of_all_pairs():
    """They would take 20 GB."""
    matrix = np.random.default_rng(0).normal(size=(50_000, 3)) * [3.0, 1.0, 0.5]
    found = first_component(matrix, 0.0)
    leading = np.linalg.svd(matrix, full_matrices=False)[0][:, 0]
    np.testing.assert_allclose(np.abs(found @ leading), np.linalg.norm(found), rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dense", "labels"])
def test_many_levels_of_several_columns(kind):
    rng = np.random.default_rng(6)
    for n_levels in (120, 20):
        columns = rng.normal(size=(160, 40)) * 0.9 ** np.arange(40)
        if kind == "labels":  # some of them in one row, or none
            columns = (rng.random((160, 40)) < 0.3 * 0.85 ** np.arange(40)).astype(float)
        features = [cases.nominal_feature(rng, 160, n_levels, 0.1)]
        problem = reference.Problem(features, [n_levels], columns, np.ones(40), np.ones(160))
        cases.agree((problem, np.ones(160)), kind, cases.settings(max_depth=2), 3)


@pytest.mark.slow
def test_more_levels_than_one_word_holds():
    rng = np.random.default_rng(5)
    problem = reference.Problem(
        [cases.nominal_feature(rng, 90, 130, 0.1)], [130], rng.normal(size=(90, 1)), np.ones(1), np.ones(90)
    )
    cases.agree((problem, np.ones(90)), "one", cases.settings(max_depth=2), 3)
    cases.agree((problem, np.ones(90)), "one", cases.settings(), 3, random_tests=True)


# -- by hand ---------------------------------------------------------------------------------------------


def by_hand(feature, n_levels, target, weight=None, **options):
    n = len(target)
    dtype = np.int32 if n_levels else float
    problem = reference.Problem(
        [np.array(feature, dtype)], [n_levels], np.array(target, float)[:, None], np.ones(1), np.ones(n)
    )
    weight = np.ones(n) if weight is None else np.array(weight, float)
    return cases.nodes_of(cases.grow(problem, "one", weight, cases.settings(**options), 1), problem)


def test_missing_values_go_where_the_gain_is_larger():
    right = by_hand([1, 2, 3, 4, np.nan], 0, [0, 0, 5, 5, 5])
    left = by_hand([1, 2, 3, 4, np.nan], 0, [0, 0, 5, 5, 0])
    assert [(node.threshold, node.missing_left) for node in (right[0], left[0])] == [(2.5, False), (2.5, True)]
    assert [node.weight for node in right] == [5, 2, 3]
    assert [node.weight for node in left] == [5, 3, 2]


def test_a_value_never_missing_in_training_follows_the_larger_child():
    assert by_hand([1, 2, 3], 0, [0, 5, 5])[0].missing_left is False
    assert by_hand([1, 2, 3], 0, [0, 0, 5])[0].missing_left is True
    assert by_hand([1, 2, 3], 0, [0, 0, 5], weight=[1, 1, 5])[0].missing_left is False


def test_levels_absent_from_a_node_follow_the_larger_child():
    assert by_hand([0, 0, 0, 3], 5, [0, 0, 0, 5])[0].subset == {0, 1, 2, 4}
    assert by_hand([0, 3, 3, 3], 5, [5, 0, 0, 0])[0].subset == {0}


def test_leaves_have_at_least_the_least_weight():
    target = [9, 0, 0, 0, 0, 0]
    assert by_hand([1, 2, 3, 4, 5, 6], 0, target, min_leaf=2)[0].threshold == 2.5
    assert by_hand([1, 2, 3, 4, 5, 6], 0, target, weight=[2, 1, 1, 1, 1, 1], min_leaf=2)[0].threshold == 1.5
    assert len(by_hand([1, 2, 3], 0, [9, 0, 0], min_leaf=2)) == 1


def test_the_depth_is_limited():
    nodes = by_hand(range(8), 0, range(8), max_depth=2)
    assert [node.depth for node in nodes] == [0, 1, 2, 2, 1, 2, 2]
    assert len(by_hand(range(8), 0, range(8), max_depth=0)) == 1


def test_one_row_and_no_feature_that_splits():
    assert len(by_hand([1.0], 0, [3.0])) == 1
    assert len(by_hand([np.nan, np.nan, 1.0], 0, [3.0, 4.0, 5.0])) == 1
    assert len(by_hand([-1, -1, 2], 4, [3.0, 4.0, 5.0])) == 1
