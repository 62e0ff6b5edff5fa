"""Hierarchy: structure, construction from every source, errors, round trips, size."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from omnirank.data.hierarchy import Hierarchy
from omnirank.errors import DataError, DataTypeError, ParameterError
from reference import data_hierarchy as reference
from reference.data_hierarchy_cases import NAN, assert_canonical, csr_of, hierarchies, label_matrices

# -- structure ----------------------------------------------------------------------------------------


@given(hierarchies())
def test_structure_agrees_with_reference(hierarchy):
    n = len(hierarchy)
    order = hierarchy.topological_order.tolist()
    assert sorted(order) == list(range(n))
    assert all(order.index(p) < order.index(c) for c in range(n) for p in hierarchy.parents[c])
    assert hierarchy.depth.tolist() == [reference.depth(hierarchy.parents, i) for i in range(n)]
    assert hierarchy.ancestors.format == "csr"
    assert hierarchy.ancestors.dtype == bool
    assert_canonical(hierarchy.ancestors)
    for i, row in enumerate(hierarchy.ancestors.toarray()):
        assert set(np.flatnonzero(row)) == reference.ancestors(hierarchy.parents, i)
    assert hierarchy.is_tree == all(len(p) <= 1 for p in hierarchy.parents)
    assert set(hierarchy.roots) == {i for i in range(n) if not hierarchy.parents[i]}
    assert set(hierarchy.leaves) == set(range(n)) - {p for above in hierarchy.parents for p in above}


def test_immutable():
    tree = Hierarchy.from_paths(["a", "a/b"])
    with pytest.raises(FrozenInstanceError):
        tree.labels = ("x", "y")
    for array in (tree.depth, tree.roots, tree.leaves, tree.topological_order, tree.ancestors.data):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    tree.weights()[0] = 7
    assert tree.weights()[0] == 1
    assert tree.ancestors is tree.ancestors


# -- construction -------------------------------------------------------------------------------------


def test_from_paths_keeps_order_and_adds_prefixes_before_their_first_use():
    tree = Hierarchy.from_paths(["x/y/z", "a/b", "x", "a"])
    assert tree.labels == ("x/y", "x/y/z", "a/b", "x", "a")
    assert tree.parents == ((3,), (0,), (4,), (), ())
    assert Hierarchy.from_paths(iter(["1", "1/2"])).parents == ((), (0,))


@pytest.mark.parametrize(
    ("paths", "options", "message"),
    [
        (["a", "b", "a"], {}, "path 'a' is given twice"),
        (["a", "a//b"], {}, "'a//b' has an empty label name"),
        ([""], {}, "empty name"),
        ([], {}, "at least one label"),
    ],
)
def test_from_paths_errors(paths, options, message):
    with pytest.raises(DataError, match=message):
        Hierarchy.from_paths(paths, **options)


def test_from_paths_parameters():
    with pytest.raises(ParameterError, match="separator=''"):
        Hierarchy.from_paths(["a"], separator="")
    with pytest.raises(DataTypeError, match="single string 'a/b'"):
        Hierarchy.from_paths("a/b")
    for bad in (None, 1.5, True, ("a",)):
        with pytest.raises(DataTypeError, match="label name must be a string"):
            Hierarchy.from_edges([("a", bad)])
    assert Hierarchy.from_paths(["a///b"], separator="//").labels == ("a", "a///b")


def test_from_edges_order_isolated_labels_and_integers():
    assert Hierarchy.from_edges([("b", "c"), ("a", "b")]).labels == ("b", "c", "a")
    tree = Hierarchy.from_edges([("b", "c")], labels=["c", "lone", "b"])
    assert (tree.labels, tree.parents) == (("c", "lone", "b"), ((2,), (), ()))
    numbered = Hierarchy.from_edges(np.array([[1, 2], [1, 3]]))
    assert numbered.labels == ("1", "2", "3")
    assert numbered.index(3) == numbered.index("3") == 2


def test_from_edges_drops_the_artificial_root():
    edges = [("root", "a"), ("a", "b"), ("root", "b"), ("root", "lone")]
    dag = Hierarchy.from_edges(edges, root="root")
    assert (dag.labels, dag.parents) == (("a", "b", "lone"), ((), (0,), ()))
    assert Hierarchy.from_edges(edges).labels == ("root", "a", "b", "lone")
    assert Hierarchy.from_edges([("a", "b")], root="root").labels == ("a", "b")


@pytest.mark.parametrize(
    ("edges", "options", "message"),
    [
        ([("a", "b"), ("c", "b"), ("a", "b")], {}, "edge 'a' -> 'b' is given twice"),
        ([("a", "b"), ("b", "b")], {}, "'b' is its own parent"),
        ([("a", "r")], {"root": "r"}, "edge 1: 'a' is a parent of the artificial root 'r'"),
        ([("r", "a")], {"root": "r", "labels": ["a", "r"]}, "artificial root 'r' is also listed"),
        ([("bird", "owl"), ("bird", "owll")], {"labels": ["bird", "owl"]}, "edge 2: unknown label 'owll'; .*'owl'"),
        ([("a", "b")], {"labels": ["a", "b", "a"]}, "label 'a' is given twice"),
        ([("a", "b", "c")], {}, "edge 1 is not a .* pair: .'a', 'b', 'c'."),
        ([], {}, "at least one label"),
    ],
)
def test_from_edges_errors(edges, options, message):
    with pytest.raises(DataError, match=message):
        Hierarchy.from_edges(edges, **options)


def test_a_cycle_is_refused():
    edges = [("top", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("c", "below")]
    with pytest.raises(DataError, match="cycle, at or below the labels 'a', 'b', 'c', 'below'"):
        Hierarchy.from_edges(edges)
    n = 50
    with pytest.raises(DataError, match="cycle") as error:
        Hierarchy.from_edges([(f"v{i}", f"v{(i + 1) % n}") for i in range(n)])
    assert len(str(error.value)) < 150


def test_constructor_checks_what_it_is_given():
    for labels, parents, message in (
        (("a", "b"), ((),), "2 labels, but parents of 1 label"),
        (("a", "a"), ((), ()), "label 'a' is given twice"),
        (("a", "b"), ((), (-1,)), "parent -1 is out of range"),
    ):
        with pytest.raises(DataError, match=message):
            Hierarchy(labels, parents)
    with pytest.raises(TypeError):
        Hierarchy(("a", "b"), ((), (0.5,)))


@given(hierarchies())
def test_round_trips(hierarchy):
    assert Hierarchy.from_edges(hierarchy.to_edges(), labels=hierarchy.labels) == hierarchy
    joined = [("top", hierarchy.labels[r]) for r in hierarchy.roots] + hierarchy.to_edges()
    assert Hierarchy.from_edges(joined, root="top", labels=hierarchy.labels) == hierarchy
    for again in (copy.deepcopy(hierarchy), pickle.loads(pickle.dumps(hierarchy))):
        assert again == hierarchy
        assert (again.ancestors != hierarchy.ancestors).nnz == 0


CHAIN = Hierarchy.from_paths(["a", "a/b", "a/b/c"])

# -- closure ------------------------------------------------------------------------------------------


@given(st.data())
def test_closure_agrees_with_reference(data):
    hierarchy = data.draw(hierarchies())
    values = data.draw(label_matrices(hierarchy))
    before = values.copy()
    wanted = np.array([reference.close(hierarchy.parents, row) for row in values]).reshape(values.shape)
    closed = hierarchy.close(values)
    np.testing.assert_array_equal(closed, wanted)
    as_sparse = hierarchy.close(csr_of(values))
    np.testing.assert_array_equal(as_sparse.toarray(), wanted)
    assert_canonical(as_sparse)
    np.testing.assert_array_equal(hierarchy.close(closed), closed)
    np.testing.assert_array_equal(values, before)
    for child, above in enumerate(hierarchy.parents):
        for parent in above:
            assert not np.any(closed[:, child] > closed[:, parent])


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.float32])
@pytest.mark.parametrize("container", [np.array, sparse.csr_array, sparse.csr_matrix, sparse.lil_array])
def test_closure_keeps_container_and_dtype(container, dtype):
    closed = CHAIN.close(container(np.array([[0, 0, 1], [0, 0, 0]], dtype=dtype)))
    assert type(closed) is type(container(np.zeros((1, 3), dtype)))
    assert closed.dtype == dtype
    dense = closed if isinstance(closed, np.ndarray) else closed.toarray()
    np.testing.assert_array_equal(dense, [[1, 1, 1], [0, 0, 0]])


def test_rows_made_dense_in_blocks(monkeypatch):
    monkeypatch.setattr("omnirank.data.hierarchy._BLOCK_CELLS", 8)  # two rows of four labels a block
    tree = Hierarchy.from_paths(["a", "a/b", "a/b/c", "d"])
    values = np.random.default_rng(0).choice([0, 1, NAN], size=(11, 4))
    np.testing.assert_array_equal(tree.close(csr_of(values)).toarray(), tree.close(values))


@pytest.mark.parametrize("container", [np.array, sparse.csr_array])
def test_closure_errors(container):
    tree = Hierarchy(("a", "b"), ((), (0,)))
    for cells, message in (
        ([[1.0, NAN], [0.0, 2.0]], r"row 1 .*, label 'b': 2.0 is neither 0 nor 1"),
        ([[-1, 1]], r"row 0 .*, label 'a': -1 is neither"),
        ([[np.inf, 1]], "inf is neither"),
        ([[1, 0, 0]], r"shape \(1, 3\): .* each of the 2 labels"),
    ):
        with pytest.raises(DataError, match=message):
            tree.close(container(np.array(cells)))


def test_closure_type_errors():
    tree = Hierarchy.from_paths(["a", "a/b"])
    np.testing.assert_array_equal(tree.close([[None, 1], [0, None]]), [[1.0, 1.0], [0.0, 0.0]])
    with pytest.raises(DataError, match=r"shape \(2,\)"):
        tree.close([0, 1])
    with pytest.raises(DataTypeError, match="0, 1 and NaN: this list is none"):
        tree.close([["yes", "no"]])
    with pytest.raises(DataTypeError, match="this list is none"):
        tree.close([[0, 1], [0]])


# -- weights ------------------------------------------------------------------------------------------


@given(hierarchies(), st.floats(0.01, 1.0))
def test_weights_agree_with_reference(hierarchy, w0):
    wanted = [reference.weight(hierarchy.parents, label, w0) for label in range(len(hierarchy))]
    np.testing.assert_allclose(hierarchy.weights(w0), wanted, rtol=1e-12)


@pytest.mark.parametrize("w0", [0, 1.01, NAN, "0.75"])
def test_weight_factor_outside_its_domain(w0):
    with pytest.raises(ParameterError, match=r"w0=.*: choose a number in \(0, 1\]"):
        Hierarchy.flat(["a"]).weights(w0)


# -- label sets ---------------------------------------------------------------------------------------


def test_encode():
    tree = Hierarchy.from_paths(["a", "a/b", "c"])
    matrix, labelled = tree.encode([["c", "a/b"], None, set(), ("c", "c"), NAN, pd.NA, np.array(["a"])])
    assert isinstance(matrix, sparse.csr_array)
    assert matrix.dtype == np.float64
    wanted = [[0, 1, 1], [0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0], [1, 0, 0]]
    assert matrix.toarray().tolist() == wanted
    assert labelled.tolist() == [True, False, True, True, False, False, True]
    assert_canonical(Hierarchy.flat(range(40)).encode([[8, 1], range(39, -1, -1), [32, 16, 8, 0]])[0])
    matrix, labelled = tree.encode([])
    assert (matrix.shape, labelled.shape, labelled.dtype) == ((0, 3), (0,), bool)


def test_encode_errors():
    tree = Hierarchy.from_paths(["animal", "animal/bird"])
    for sets, error, message in (
        (
            [["animal"], ["animal", "animal/brid"]],
            DataError,
            r"example 2 .*: unknown .* mean 'animal/bird'",
        ),
        (["animal"], DataTypeError, r"example 1 .*: 'animal' is not a set"),
        ([3], DataTypeError, r"example 1 .*: 3 is not a set"),
        ([[None]], DataTypeError, "label name must be a string"),
    ):
        with pytest.raises(error, match=message):
            tree.encode(sets)
