"""Trees as flat arrays: what the order of nodes tells is found again, and what is no tree is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import omnirank as om
from omnirank.core.files import StoredArrays, packed_arrays
from omnirank.errors import FileFormatError
from omnirank.trees.tree import arrays_of_trees, trees_of_arrays

LEVELS = (None, ("a", "b", "c"), tuple(range(65)))


def read(arrays, levels=LEVELS, n_values=2):
    content = packed_arrays({"format": "trees", "version": 1}, arrays)
    return trees_of_arrays(StoredArrays(content, "there", "trees", 1, "trees"), levels, n_values)


def forest(**changed):
    """Two trees: tests of a number and of 65 levels, tests of 3 levels; and what is changed in them."""
    found = {
        "n_nodes": np.array([5, 3]),
        "feature": np.array([0, 2, -1, -1, -1, 1, -1, -1]),
        "threshold": np.array([0.5]),
        "subsets": np.array([5, 1, 6], np.uint64),
        "missing_left": np.packbits([1, 0, 1]),
        "gain": np.array([0.5, 0.25, 0.5]),
        "weight": np.array([4.0, 2.0, 1.0, 1.0, 2.0, 4.5, 2.5, 2.0]),
        "values": np.arange(10.0).reshape(5, 2),
    }
    return found | {name: np.array(value) for name, value in changed.items()}


def test_two_trees():
    first, second = read(forest())
    assert first.right.tolist() == [4, 3, 0, 0, 0]
    assert first.depth.tolist() == [0, 1, 2, 2, 1]
    assert first.weight.tolist() == [4.0, 2.0, 1.0, 1.0, 2.0]
    assert second.weight.tolist() == [4.5, 2.5, 2.0]
    assert first.left_levels(1) == (0, 2, 64)
    assert first.missing_left.tolist() == [True, False, False, False, False]
    assert second.left_levels(0) == ("b", "c")
    assert second.missing_left[0]
    assert second.means(np.array([1, 2])).tolist() == [[6.0, 7.0], [8.0, 9.0]]
    rows = np.array([[0.0, 1.0, 64.0], [1.0, 0.0, 1.0], [np.nan, np.nan, np.nan]])
    assert first.apply(rows).tolist() == [2, 4, 3]
    assert second.apply(rows).tolist() == [1, 2, 1]


@st.composite
def shapes(draw):
    """Nodes of a random tree in preorder: whether each is a test, its right child and its depth."""
    tests, right, depth = [], [], []

    def grow(level, left):
        node = len(tests)
        tests.append(left > 0)
        right.append(0)
        depth.append(level)
        if left > 0:
            on_left = draw(st.integers(0, left - 1))
            grow(level + 1, on_left)
            right[node] = len(tests)
            grow(level + 1, left - 1 - on_left)

    grow(0, draw(st.integers(0, 30)))
    return tests, right, depth


@pytest.mark.slow
@given(st.lists(shapes(), min_size=1, max_size=4))
def test_children_and_depths_are_those_of_a_walk(drawn):
    tests = np.concatenate([shape[0] for shape in drawn])
    n_tests, n_leaves = int(tests.sum()), int((~tests).sum())
    arrays = {
        "n_nodes": np.array([len(shape[0]) for shape in drawn]),
        "feature": np.where(tests, 0, -1),
        "threshold": np.zeros(n_tests),
        "subsets": np.zeros(0, np.uint64),
        "missing_left": np.packbits(np.zeros(n_tests, bool)),
        "gain": np.zeros(n_tests),
        "weight": np.ones(len(tests)),
        "values": np.zeros((n_leaves, 1)),
    }
    for tree, (_, right, depth) in zip(read(arrays, (None,), 1), drawn, strict=True):
        assert tree.right.tolist() == right
        assert tree.depth.tolist() == depth


def test_long_chains():
    n = 20_000
    feature = np.array([*[0] * n, *[-1] * (n + 1)])  # every left child is a test
    arrays = forest(
        n_nodes=[2 * n + 1],
        feature=feature,
        threshold=np.zeros(n),
        subsets=np.zeros(0, np.uint64),
        missing_left=np.packbits(np.zeros(n, bool)),
        gain=np.zeros(n),
        weight=np.ones(2 * n + 1),
        values=np.zeros((n + 1, 2)),
    )
    (tree,) = read(arrays)
    assert tree.max_depth == n
    assert tree.right[0] == 2 * n


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"n_nodes": []}, "there must be trees"),
        ({"n_nodes": [8, 0]}, "nodes in each"),
        ({"n_nodes": [-1, 9]}, "nodes in each"),
        ({"n_nodes": [2**62, 2**62, 2**62]}, "nodes in each"),
        ({"n_nodes": [5, 4]}, "array 'feature' has shape 8, not 9"),
        ({"n_nodes": [4, 4]}, "tree 0 has nodes without a parent"),
        ({"n_nodes": [3, 5]}, "tree 0 has nodes without a parent"),
        ({"n_nodes": [8]}, "tree 0 has nodes without a parent"),
        ({"feature": [0, 2, -1, -1, -1, -1, -1, 1]}, "tree 1 has nodes without a parent"),
        ({"feature": [0, 3, -1, -1, -1, 1, -1, -1]}, "there is no feature 3"),
        ({"feature": [0, 2, -2, -1, -1, 1, -1, -1]}, "feature"),
        ({"feature": [0, 0, -1, -1, -1, 1, -1, -1]}, "array 'threshold' has shape 1, not 2"),
        ({"feature": [0, 1, -1, -1, -1, 1, -1, -1]}, "array 'subsets' has shape 3, not 2"),
        ({"threshold": [np.nan]}, "array 'threshold' holds a number that is not finite"),
        ({"missing_left": np.array([1, 2], np.uint8)}, "array 'missing_left' has shape 2, not 1"),
        ({"gain": [0.5, np.inf, 0.5]}, "array 'gain' holds a number that is not finite"),
        ({"weight": [-1.0] * 8}, "array 'weight' holds a negative number"),
        ({"weight": [1.0] * 7}, "array 'weight' has shape 7, not 8"),
        ({"values": np.zeros((5, 3))}, "array 'values' has shape 5 x 3, not 5 x 2"),
        ({"values": np.zeros((4, 2))}, "array 'values' has shape 4 x 2"),
        ({"values": np.full((5, 2), np.nan)}, "not finite"),
    ],
)
def test_what_is_no_forest_is_refused(changed, problem):
    with pytest.raises(FileFormatError, match=problem):
        read(forest(**changed))


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({}, None),
        ({"n_stored": [1, 0, 3, 0, 1]}, "'n_stored' holds a number outside of 0 to 2"),
        ({"n_stored": [1, -1, 2, 0, 1]}, "'n_stored' holds a number outside of 0 to 2"),
        ({"n_stored": [1, 0, 2, 0, 0]}, "array 'positions' has shape 4, not 3"),
        ({"positions": [1, 0, 2, 0]}, "'positions' holds a number outside of 0 to 1"),
        ({"values": np.ones(5)}, "array 'values' has shape 5, not 4"),
        ({"values": np.ones((5, 2))}, "array 'values' has shape 5 x 2, not 4"),
    ],
)
def test_sparse_prototypes(changed, problem):
    arrays = forest(n_stored=[1, 0, 2, 0, 1], positions=[1, 1, 0, 0], values=[0.25, 0.5, 1.0, 2.0])
    if problem is None:
        first, second = read(arrays)
        assert first.values.toarray().tolist() == [[0.0, 0.25], [0.0, 0.0], [1.0, 0.5]]
        assert second.values.toarray().tolist() == [[0.0, 0.0], [2.0, 0.0]]
        return
    with pytest.raises(FileFormatError, match=problem):
        read(arrays | {name: np.array(value) for name, value in changed.items()})


def test_trees_without_features_to_test():
    model = om.PCTClusterer(max_leaves=1).fit([[1.0], [2.0], [3.0], [4.0]])
    arrays = arrays_of_trees([model.tree_])
    (tree,) = read(arrays, model.tree_.levels, 1)
    assert tree.n_nodes == 1
