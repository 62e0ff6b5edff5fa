"""Routing and permuting: re-routing only the rows a permutation concerns gives what full routing gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from draws import draws
from omnirank.data.table import Table
from omnirank.ensembles.kernels import permutation as kernels
from omnirank.ensembles.kernels.permutation import permutation_moves
from omnirank.trees.codes import code_features
from omnirank.trees.kernels import route as routing
from reference import trees_cases as cases
from reference import trees_permutation as reference

few = draws(10)
N_LABELS = 4


def grown_case(data, random_tests=False):
    """A tree on a bootstrap sample: its nodes in words, its tests over codes, the coded features, the problem."""
    problem, weight = data.draw(cases.problems("one", mixed=True, most_rows=30))
    tree = cases.grow(problem, "one", weight, cases.settings(), data.draw(cases.seeds), random_tests)
    nodes = cases.nodes_of(tree, problem, random_tests)
    levels = [tuple(range(size)) if size else None for size in problem.n_levels]
    names = [f"x{i}" for i in range(len(levels))]
    coded = code_features(Table.from_columns(names, problem.features, levels))
    threshold = np.array([np.nan if node.threshold is None else node.threshold for node in nodes])
    cut = kernels.threshold_cuts(tree.feature, tree.cut, threshold, *coded.values)
    tests = routing.Tests(tree.feature, cut, tree.right, tree.missing_left, cut, tree.subsets)
    return nodes, tests, coded.routing, problem, threshold


def values_of(problem, row):
    return [x[row] for x in problem.features]


@pytest.mark.slow
@pytest.mark.parametrize("random_tests", [False, True], ids=["all-tests", "random-tests"])
@few
@given(data=st.data())
def test_rows_and_values_reach_the_leaf_of_the_definition(random_tests, data):
    nodes, tests, codes, problem, threshold = grown_case(data, random_tests)
    n = len(problem.training_weight)
    expected = [reference.leaf_of(nodes, tests.right, values_of(problem, row)) for row in range(n)]
    met, path, first = (np.zeros(len(codes.nominal), np.int64) for _ in range(3))
    walks = [routing.walk(tests, codes, np.uint32(row), row + 1, met, path, first) for row in range(n)]
    assert [leaf for leaf, _length in walks] == expected
    X = np.column_stack([np.where(x < 0, np.nan, x) if x.dtype.kind == "i" else x for x in problem.features])
    leaves = np.empty(n, np.int32)
    routing.find_leaves(tests._replace(threshold=threshold), routing.Matrix(X.T, codes.nominal), leaves)
    assert leaves.tolist() == expected


# -- errors: the kernel's loss, and the same error of one row in one leaf by definition -------------------


def squared(rng, n, n_nodes):
    truth = np.where(rng.random((n, 2)) < 0.2, np.nan, rng.normal(size=(n, 2)))
    means = rng.normal(size=(n_nodes, 2))
    return kernels.SquaredLoss(truth, means), 2, lambda row, leaf: np.nan_to_num((truth[row] - means[leaf]) ** 2)


def level(rng, n, n_nodes):
    truth = rng.integers(-1, 3, (n, 2))
    predicted = rng.integers(0, 3, (n_nodes, 2))
    loss = kernels.LevelLoss(truth, predicted)
    return loss, 2, lambda row, leaf: (truth[row] >= 0) & (truth[row] != predicted[leaf])


def label_set(rng, n, n_nodes):
    truth, predicted = (rng.random((k, N_LABELS)) < 0.4 for k in (n, n_nodes))
    size = rng.random(N_LABELS)
    a, b = sparse.csr_array(truth), sparse.csr_array(predicted)
    marks = np.zeros(N_LABELS, np.int64)
    loss = kernels.SetLoss(a.indptr, a.indices, size, b.indptr, b.indices, predicted @ size, marks)
    return loss, 1, lambda row, leaf: [size[truth[row] ^ predicted[leaf]].sum()]


def labels(rng, n, n_nodes):
    truth = rng.choice([0, 1, 2], (n, N_LABELS))  # 2 = unknown
    predicted = rng.random((n_nodes, N_LABELS)) < 0.4
    a, b = sparse.csr_array(truth), sparse.csr_array(predicted)
    marks = np.zeros(N_LABELS, np.int64)
    loss = kernels.LabelLoss(a.indptr, a.indices, a.data == 1, b.indptr, b.indices, marks)
    return loss, N_LABELS, lambda row, leaf: (truth[row] != 2) & ((truth[row] == 1) != predicted[leaf])


@pytest.mark.slow
@pytest.mark.parametrize("error", [squared, level, label_set, labels])
@few
@given(data=st.data())
def test_the_change_of_the_error_is_that_of_routing_every_row_again(error, data):
    nodes, tests, codes, problem, _ = grown_case(data)
    n = len(problem.training_weight)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    seed = data.draw(cases.seeds)
    loss, n_targets, of_row = error(rng, n, len(nodes))
    rows = np.flatnonzero(rng.random(n) < 0.6).astype(np.uint32)
    if not len(rows):
        rows = np.array([0], np.uint32)
    weight = rng.integers(1, 4, n) / 2
    order = kernels.shuffle(rows, len(problem.features), seed)
    base, change = kernels.permutation_losses(tests, codes, loss, order, weight, n_targets)
    expected = reference.error_sums(nodes, tests.right, problem.features, rows.tolist(), weight, of_row, seed)
    np.testing.assert_allclose(base, expected[0], atol=1e-12)
    np.testing.assert_allclose(change, expected[1], atol=1e-12)
    absent = sorted(set(range(len(problem.features))) - set(tests.feature.tolist()))
    assert (change[absent] == 0.0).all()


@pytest.mark.slow
@few
@given(data=st.data())
def test_leaves_after_permuting_one_feature(data):
    nodes, tests, codes, problem, _ = grown_case(data)
    rows = np.arange(len(problem.training_weight), dtype=np.uint32)
    seed = data.draw(cases.seeds)
    moves = permutation_moves(tests, codes, kernels.shuffle(rows, len(problem.features), seed))
    for f, others in enumerate(reference.donors(rows.tolist(), len(problem.features), seed)):
        assert sorted(others) == rows.tolist()
        expected = []
        for row, other in zip(rows, others, strict=True):
            values = values_of(problem, row)
            values[f] = problem.features[f][other]
            expected.append(reference.leaf_of(nodes, tests.right, values))
        found = moves.leaf.copy()
        moved = slice(moves.starts[f], moves.starts[f + 1])
        found[moves.place[moved]] = moves.new_leaf[moved]
        assert found.tolist() == expected


def test_a_permutation_is_uniform_for_every_feature():
    rows = np.arange(4, dtype=np.uint32)
    places = np.zeros((2, 4, 4))
    for seed in range(1000):
        order = kernels.shuffle(rows, 2, np.uint64(seed))
        for f in range(2):
            places[f, rows, np.roll(order.shuffled, -order.shift[f])] += 1
    assert np.abs(places - 250).max() < 5 * np.sqrt(250)
