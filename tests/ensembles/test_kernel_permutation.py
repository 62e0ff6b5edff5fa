"""Routing and permuting: routing only the rows again that a permutation concerns gives what full routing gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draws import draws
from omnirank.data.table import Table
from omnirank.ensembles.kernels import permutation as kernels
from omnirank.ensembles.kernels.permutation import permutation_moves
from omnirank.trees.kernels import route as routing
from omnirank.trees.tree import routed_cells, routing_tests
from reference import trees_cases as cases
from reference import trees_permutation as reference

few = draws(10)


def grown_case(data, random_tests=False):
    """A tree on a bootstrap sample: its nodes in words, its tests, the cells of the training rows, the problem."""
    problem, weight = data.draw(cases.problems("one", mixed=True, most_rows=30))
    tree = cases.grow(problem, "one", weight, cases.settings(), data.draw(cases.seeds), random_tests)
    levels = [tuple(range(size)) if size else None for size in problem.n_levels]
    table = Table.from_columns([f"x{i}" for i in range(len(levels))], problem.features, levels)
    return cases.nodes_of(tree, problem, random_tests), routing_tests(tree, table), routed_cells(table), problem


def values_of(problem, row):
    return [x[row] for x in problem.features]


@pytest.mark.slow
@pytest.mark.parametrize("random_tests", [False, True], ids=["all-tests", "random-tests"])
@few
@given(data=st.data())
def test_rows_and_values_reach_the_leaf_of_the_definition(random_tests, data):
    nodes, tests, cells, problem = grown_case(data, random_tests)
    n = len(problem.training_weight)
    expected = [reference.leaf_of(nodes, tests.right, values_of(problem, row)) for row in range(n)]
    n_nodes = len(tests.feature)
    met, path, again = np.full(len(cells.nominal), -1), *np.zeros((2, n_nodes), np.int64)
    first = np.zeros(n_nodes, bool)
    for row in range(n):
        length = routing.walk(tests, cells, np.uint32(row), row * n_nodes, met, path, first, again)
        assert path[length] == expected[row]
        features = tests.feature[path[:length]].tolist()
        assert first[:length].tolist() == [f not in features[:k] for k, f in enumerate(features)]
        following = [[j for j in range(k + 1, length) if features[j] == f] for k, f in enumerate(features)]
        assert again[:length].tolist() == [places[0] if places else -1 for places in following]
    X = np.column_stack([np.where(x < 0, np.nan, x) if x.dtype.kind == "i" else x for x in problem.features])
    leaves = np.empty(n, np.int32)
    routing.find_leaves(tests, routing.Matrix(X.T, cells.nominal), leaves)
    assert leaves.tolist() == expected


@pytest.mark.slow
@few
@given(data=st.data())
def test_leaves_after_permuting_one_feature(data):
    nodes, tests, cells, problem = grown_case(data)
    rows = np.arange(len(problem.training_weight), dtype=np.uint32)
    seed = data.draw(cases.seeds)
    moves = permutation_moves(tests, cells, kernels.shuffle(rows, len(problem.features), seed))
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
