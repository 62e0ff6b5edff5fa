"""Hierarchy: structure, construction from every source, errors, round trips, size."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from omnirank.data.hierarchy import Hierarchy
from omnirank.errors import DataError, DataTypeError, ParameterError
from reference import data_hierarchy as reference
from reference.data_hierarchy_cases import NAN, assert_canonical, csr_of, hierarchies

# -- structure ----------------------------------------------------------------------------------------


def test_structure_of_a_small_dag():
    dag = Hierarchy(("d", "a", "b", "lone"), ((2, 1), (), (1,), ()))
    assert dag.parents == ((1, 2), (), (1,), ())
    assert dag.children == ((), (0, 2), (0,), ())
    assert not dag.is_tree
    assert dag.roots.tolist() == [1, 3]
    assert dag.leaves.tolist() == [0, 3]
    assert dag.depth.tolist() == [2, 0, 1, 0]
    assert (dag.n_labels, len(dag)) == (4, 4)
    assert dag.index("b") == 2
    assert repr(dag) == "Hierarchy(4 labels, DAG, 2 roots, 2 leaves, depth 2)"
    assert repr(Hierarchy.flat(["x"])) == "Hierarchy(1 label, tree, 1 root, 1 leaf, depth 0)"


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


def test_equality_needs_same_labels_order_and_edges():
    tree = Hierarchy.from_array([-1, 0], labels=["a", "b"])
    assert tree == Hierarchy.from_edges([("a", "b")])
    assert hash(tree) == hash(Hierarchy.from_edges([("a", "b")]))
    assert tree != Hierarchy.flat(["a", "b"])
    assert tree != Hierarchy.from_edges([("a", "b")], labels=["b", "a"])
    assert Hierarchy(("a", "b", "c"), ((), (), (1, 0))) == Hierarchy(("a", "b", "c"), ((), (), (0, 1)))
    assert tree != "a"


def test_immutable():
    tree = Hierarchy.from_array([-1, 0])
    with pytest.raises(FrozenInstanceError):
        tree.labels = ("x", "y")
    for array in (tree.depth, tree.roots, tree.leaves, tree.topological_order, tree.ancestors.data):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    tree.weights()[0] = 7
    assert tree.weights()[0] == 1
    assert tree.ancestors is tree.ancestors


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda h: pickle.loads(pickle.dumps(h))])
def test_copies_are_equal_and_usable(copied):
    dag = Hierarchy.from_edges([("a", "c"), ("b", "c")])
    dag.ancestors  # noqa: B018 - a filled cache must survive
    again = copied(dag)
    assert again == dag
    np.testing.assert_array_equal(again.close(csr_of([[0, 1, 0]])).toarray(), [[1, 1, 1]])


# -- construction -------------------------------------------------------------------------------------


def test_from_paths_keeps_order_and_adds_prefixes_before_their_first_use():
    tree = Hierarchy.from_paths(["x/y/z", "a/b", "x", "a"])
    assert tree.labels == ("x/y", "x/y/z", "a/b", "x", "a")
    assert tree.parents == ((3,), (0,), (4,), (), ())
    assert Hierarchy.from_paths(iter(["1", "1/2"])).parents == ((), (0,))


def test_from_paths_multi_character_separator():
    tree = Hierarchy.from_paths(["a::b/c"], separator="::")
    assert tree.labels == ("a", "a::b/c")
    assert Hierarchy.from_paths(["a///b"], separator="//").labels == ("a", "a///b")


@pytest.mark.parametrize(
    ("paths", "options", "message"),
    [
        (["a", "b", "a"], {}, "path 'a' is given twice"),
        (["a/b"], {"implied": "error"}, "'a/b': 'a' is not listed"),
        (["a", "a//b"], {}, "'a//b' has an empty label name"),
        (["/a"], {}, "'/a' has an empty label name"),
        (["a/ "], {}, "'a/ ' has an empty label name"),
        ([""], {}, "empty name"),
        ([], {}, "at least one label"),
    ],
)
def test_from_paths_errors(paths, options, message):
    with pytest.raises(DataError, match=message):
        Hierarchy.from_paths(paths, **options)


def test_from_paths_parameters():
    with pytest.raises(ParameterError, match="implied='skip'"):
        Hierarchy.from_paths(["a"], implied="skip")
    with pytest.raises(ParameterError, match="separator=''"):
        Hierarchy.from_paths(["a"], separator="")
    with pytest.raises(DataTypeError, match="single string 'a/b'"):
        Hierarchy.from_paths("a/b")
    assert Hierarchy.from_paths(["a/b", "a"], implied="error").labels == ("a/b", "a")


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
        ([("r", "b"), ("r", "b")], {"root": "r"}, "edge 'r' -> 'b' is given twice"),
        ([("a", "b"), ("b", "b")], {}, "'b' is its own parent"),
        ([("a", "r")], {"root": "r"}, "edge 1: 'a' is a parent of the artificial root 'r'"),
        ([("r", "a")], {"root": "r", "labels": ["a", "r"]}, "artificial root 'r' is also listed"),
        (
            [("bird", "owl"), ("bird", "owll")],
            {"labels": ["bird", "owl"]},
            "edge 2: unknown label 'owll'; .*'owl'",
        ),
        ([("a", "b")], {"labels": ["a", "b", "a"]}, "label 'a' is given twice"),
        ([("a", "b", "c")], {}, "edge 1 is not a .* pair: .'a', 'b', 'c'."),
        (["ab"], {}, "edge 1 is not a .* pair: 'ab'"),
        ([("a", " ")], {}, "empty name"),
        ([], {}, "at least one label"),
    ],
)
def test_from_edges_errors(edges, options, message):
    with pytest.raises(DataError, match=message):
        Hierarchy.from_edges(edges, **options)


@pytest.mark.parametrize("bad", [None, 1.5, True, ("a",)])
def test_labels_are_strings_or_integers(bad):
    with pytest.raises(DataTypeError, match="label name must be a string"):
        Hierarchy.from_edges([("a", bad)])


def test_cycle_is_named_without_the_labels_below_it():
    edges = [("top", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("c", "below")]
    with pytest.raises(DataError, match="cycle: ") as error:
        Hierarchy.from_edges(edges)
    names = str(error.value).split("cycle: ")[1].replace("'", "").split(" -> ")
    assert names[0] == names[-1]
    assert set(names) == {"a", "b", "c"}
    assert all(pair in edges for pair in pairwise(names))


def test_long_cycles_and_label_lists_are_shortened():
    n = 50
    with pytest.raises(DataError, match=r"cycle: .* -> \.\.\. -> ") as error:
        Hierarchy.from_edges([(f"v{i}", f"v{(i + 1) % n}") for i in range(n)])
    assert len(str(error.value)) < 150
    with pytest.raises(DataError, match=r"there are 50 labels: 'v0', .*, \.\.\., 'v49'"):
        Hierarchy.flat(f"v{i}" for i in range(n)).index("zzz")


def test_from_networkx():
    graph = nx.DiGraph([("a", "c"), ("b", "c")])
    graph.add_node("lone")
    dag = Hierarchy.from_networkx(graph)
    assert dag.labels == ("a", "c", "b", "lone")
    assert dag.parents == ((), (0, 2), (), ())
    with pytest.raises(DataError, match="undirected"):
        Hierarchy.from_networkx(graph.to_undirected())
    with pytest.raises(DataError, match="edge 'a' -> 'b' is given twice"):
        Hierarchy.from_networkx(nx.MultiDiGraph([("a", "b"), ("a", "b")]))
    with pytest.raises(DataError, match="label '1' is given twice"):
        Hierarchy.from_networkx(nx.DiGraph([(1, "1")]))
    with pytest.raises(DataTypeError, match=r"expected a networkx.DiGraph, got list"):
        Hierarchy.from_networkx([("a", "b")])


def test_from_array_parents():
    tree = Hierarchy.from_array(np.array([2, -1, 1], dtype=np.int8))
    assert tree.labels == ("label1", "label2", "label3")
    assert tree.parents == ((2,), (), (1,))


@pytest.mark.parametrize("container", [np.array, np.ndarray.tolist, sparse.csr_array, sparse.coo_matrix])
@pytest.mark.parametrize("dtype", [bool, int, float])
def test_from_array_adjacency(container, dtype):
    matrix = np.zeros((3, 3), dtype)
    matrix[0, 2] = matrix[1, 2] = 1
    dag = Hierarchy.from_array(container(matrix), labels=["a", "b", "c"])
    assert dag == Hierarchy(("a", "b", "c"), ((), (), (0, 1)))


def test_from_array_ignores_stored_zeros():
    stored = sparse.coo_array((np.array([1, 0]), (np.array([0, 1]), np.array([1, 0]))), shape=(2, 2))
    assert Hierarchy.from_array(stored).parents == ((), (0,))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        ([-1, 5], "label 'label2': parent 5 is out of range .0 to 1"),
        ([-1, -2], "entry 1 of the parents is -2"),
        ([-1, 1], "'label2' is its own parent"),
        ([1, 2, 0], "cycle"),
        ([-1.0, 0.0], "must be integers"),
        ([True, False], "must be integers"),
        ([], "at least one label"),
        (np.zeros((2, 3)), r"shape \(2, 3\)"),
        (np.zeros((2, 2, 2)), r"shape \(2, 2, 2\)"),
        (np.int64(3), r"shape \(\)"),
        (sparse.csr_array((2, 3)), r"shape \(2, 3\)"),
        ([[0, 1], [0]], "different lengths"),
        ([[0, NAN], [0, 0]], "missing entries"),
        ([["a", "b"], ["c", "d"]], "numbers or booleans"),
        (np.eye(2), "'label1' is its own parent"),
        (sparse.coo_array((np.ones(2), (np.zeros(2, int), np.ones(2, int))), shape=(2, 2)), "given twice"),
    ],
)
def test_from_array_errors(array, message):
    with pytest.raises(DataError, match=message):
        Hierarchy.from_array(array)


def test_from_array_label_names():
    with pytest.raises(DataError, match="3 label names for an array of 2 labels"):
        Hierarchy.from_array([-1, 0], labels=["a", "b", "c"])
    with pytest.raises(DataError, match="label 'a' is given twice"):
        Hierarchy.from_array([-1, 0], labels=["a", "a"])


def test_constructor_checks_what_it_is_given():
    with pytest.raises(DataError, match="2 labels, but parents of 1 label"):
        Hierarchy(("a", "b"), ((),))
    with pytest.raises(DataError, match="label 'a' is given twice"):
        Hierarchy(("a", "a"), ((), ()))
    with pytest.raises(DataError, match="parent -1 is out of range"):
        Hierarchy(("a", "b"), ((), (-1,)))
    with pytest.raises(TypeError):
        Hierarchy(("a", "b"), ((), (0.5,)))


# -- round trips --------------------------------------------------------------------------------------


@pytest.mark.slow
@given(hierarchies())
def test_round_trips(hierarchy):
    n = len(hierarchy)
    adjacency = np.zeros((n, n), int)
    for child, above in enumerate(hierarchy.parents):
        adjacency[list(above), child] = 1
    assert Hierarchy.from_edges(hierarchy.to_edges(), labels=hierarchy.labels) == hierarchy
    assert Hierarchy.from_networkx(hierarchy.to_networkx()) == hierarchy
    assert Hierarchy.from_array(adjacency, hierarchy.labels) == hierarchy
    assert Hierarchy.from_array(sparse.csc_array(adjacency), hierarchy.labels) == hierarchy
    joined = [("top", hierarchy.labels[r]) for r in hierarchy.roots] + hierarchy.to_edges()
    assert Hierarchy.from_edges(joined, root="top", labels=hierarchy.labels) == hierarchy


@given(hierarchies(tree=True))
def test_tree_round_trips(tree):
    by_path = Hierarchy.from_paths(tree.to_paths())
    assert by_path.parents == tree.parents
    assert by_path.to_paths() == list(by_path.labels)
    vector = [above[0] if above else -1 for above in tree.parents]
    assert Hierarchy.from_array(vector, tree.labels) == tree


def test_to_paths_errors():
    with pytest.raises(DataError, match="'c' has several parents"):
        Hierarchy.from_edges([("a", "c"), ("b", "c")]).to_paths()
    slashed = Hierarchy.from_edges([("x", "a/b")])
    with pytest.raises(DataError, match="contain the separator '/'"):
        slashed.to_paths()
    assert slashed.to_paths(separator=".") == ["x", "x.a/b"]
    with pytest.raises(DataError, match="contain the separator '/'"):
        Hierarchy.flat(["/a"]).to_paths()


# -- size ---------------------------------------------------------------------------------------------


def test_gene_ontology_size():
    rng = np.random.default_rng(1)
    n_labels, n_rows = 4125, 4000
    edges = [
        (f"l{p}", f"l{child}")
        for child in range(1, n_labels)
        for p in {int(q) for q in rng.integers(child // 8, max(child // 4, child // 8 + 1), size=2)} - {child}
    ]
    label_sets = [[f"l{i}" for i in rng.integers(0, n_labels, size=5)] for _ in range(n_rows)]
    dag = Hierarchy.from_edges(edges)
    matrix, _ = dag.encode(label_sets)
    closed = dag.close(matrix)
    assert not dag.is_tree
    assert closed.nnz > matrix.nnz


def test_deep_chain_needs_no_recursion():
    n = 5000
    chain = Hierarchy.from_array(np.arange(-1, n - 1))
    assert chain.depth[-1] == n - 1
    only_last = np.zeros((1, n))
    only_last[0, -1] = 1
    assert chain.close(only_last).sum() == n
