"""Label sets of a hierarchy: closed under ancestors, weighed, encoded."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from omnirank.data.hierarchy import Hierarchy, closure
from omnirank.errors import DataError, DataTypeError, ParameterError
from reference import data_hierarchy as reference
from reference.data_hierarchy_cases import NAN, assert_canonical, csr_of, hierarchies, label_matrices

# -- closure ------------------------------------------------------------------------------------------


def test_closure_by_hand():
    # a and b above c, c above d; e alone
    dag = Hierarchy.from_edges([("a", "c"), ("b", "c"), ("c", "d")], labels=["a", "b", "c", "d", "e"])
    given_and_wanted = [
        ([0, 0, 0, 1, 0], [1, 1, 1, 1, 0]),  # most specific label: zeros above mean "not listed"
        ([0, 0, 0, 0, 0], [0, 0, 0, 0, 0]),
        ([NAN, NAN, 1, NAN, NAN], [1, 1, 1, NAN, NAN]),
        ([0, NAN, NAN, NAN, NAN], [0, NAN, 0, 0, NAN]),  # one parent known 0 is enough
        ([1, NAN, NAN, NAN, 0], [1, NAN, NAN, NAN, 0]),
        ([0, NAN, NAN, 1, NAN], [1, 1, 1, 1, NAN]),  # known 1 below known 0: the 1 wins
        ([NAN, NAN, NAN, 0, NAN], [NAN, NAN, NAN, 0, NAN]),
        ([NAN] * 5, [NAN] * 5),
    ]
    rows, wanted = (np.array(part, dtype=float) for part in zip(*given_and_wanted, strict=True))
    np.testing.assert_array_equal(dag.close(rows), wanted)
    np.testing.assert_array_equal(dag.close(csr_of(rows)).toarray(), wanted)


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


@given(st.data())
def test_complete_label_sets_are_unions_of_ancestors(data):
    hierarchy = data.draw(hierarchies())
    values = data.draw(label_matrices(hierarchy, cells=(0.0, 1.0)))
    closed = hierarchy.close(values)
    for row, full in zip(values, closed, strict=True):
        listed = [reference.ancestors(hierarchy.parents, label) for label in np.flatnonzero(row)]
        assert set(np.flatnonzero(full)) == set().union(*listed)
    as_sparse = hierarchy.close(csr_of(values == 1))
    np.testing.assert_array_equal(as_sparse.toarray(), closed == 1)
    assert_canonical(as_sparse)


@given(st.data())
def test_flat_hierarchy_closes_nothing(data):
    flat = Hierarchy.flat(["a", "b", "c"])
    values = data.draw(label_matrices(flat))
    np.testing.assert_array_equal(flat.close(values), values)
    np.testing.assert_array_equal(flat.close(csr_of(values)).toarray(), values)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int64, np.float32, np.float64])
@pytest.mark.parametrize(
    "container",
    [np.array, sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix, sparse.lil_array],
)
def test_closure_keeps_container_and_dtype(container, dtype):
    tree = Hierarchy.from_array([-1, 0, 1])
    closed = tree.close(container(np.array([[0, 0, 1], [0, 0, 0]], dtype=dtype)))
    assert type(closed) is type(container(np.zeros((1, 3), dtype)))
    assert closed.dtype == dtype
    dense = closed if isinstance(closed, np.ndarray) else closed.toarray()
    np.testing.assert_array_equal(dense, [[1, 1, 1], [0, 0, 0]])


def test_closure_of_float32_with_unknown_cells_keeps_dtype():
    values = np.array([[NAN, 1, NAN]], dtype=np.float32)
    tree = Hierarchy.from_array([-1, 0, 1])
    for closed in (tree.close(values), tree.close(csr_of(values)), tree.close(sparse.csr_matrix(values))):
        assert closed.dtype == np.float32


def test_unsorted_sparse_label_sets_with_stored_zeros():
    tree = Hierarchy.from_array([2, 0, -1])
    given_cells = (np.array([NAN, 1.0, 0.0]), np.array([2, 0, 1]), np.array([0, 3]))
    closed = tree.close(sparse.csr_array(given_cells, shape=(1, 3)))
    assert closed.indices.tolist() == [0, 2]
    assert closed.data.tolist() == [1.0, 1.0]


def test_closure_accepts_lists_and_none():
    tree = Hierarchy.from_array([-1, 0])
    np.testing.assert_array_equal(tree.close([[None, 1], [0, None]]), [[1.0, 1.0], [0.0, 0.0]])


def test_rows_made_dense_in_blocks(monkeypatch):
    monkeypatch.setattr(closure, "_BLOCK_CELLS", 8)  # two rows of four labels a block
    tree = Hierarchy.from_array([-1, 0, 1, -1])
    values = np.random.default_rng(0).choice([0, 1, NAN], size=(11, 4))
    np.testing.assert_array_equal(tree.close(csr_of(values)).toarray(), tree.close(values))


@pytest.mark.parametrize("container", [np.array, sparse.csr_array])
def test_closure_errors(container):
    tree = Hierarchy.from_array([-1, 0], labels=["a", "b"])
    with pytest.raises(DataError, match=r"row 1 .*, label 'b': 2.0 is neither 0 nor 1"):
        tree.close(container(np.array([[1.0, NAN], [0.0, 2.0]])))
    with pytest.raises(DataError, match=r"row 0 .*, label 'a': -1 is neither"):
        tree.close(container(np.array([[-1, 1]])))
    with pytest.raises(DataError, match="inf is neither"):
        tree.close(container(np.array([[np.inf, 1]])))
    with pytest.raises(DataError, match=r"shape \(1, 3\): .* each of the 2 labels"):
        tree.close(container(np.array([[1, 0, 0]])))


def test_repeated_sparse_cells_add_up_as_everywhere_in_scipy():
    tree = Hierarchy.from_array([-1, 0])
    repeated = sparse.csr_array((np.array([1.0, 1.0]), np.array([1, 1]), np.array([0, 2])), shape=(1, 2))
    with pytest.raises(DataError, match=r"label 'label2': 2.0 is neither"):
        tree.close(repeated)
    assert repeated.nnz == 2


def test_closure_type_errors():
    tree = Hierarchy.from_array([-1, 0])
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


@given(hierarchies(tree=True))
def test_tree_weights_are_powers_of_w0(tree):
    np.testing.assert_allclose(tree.weights(), 0.75**tree.depth, rtol=1e-12)
    np.testing.assert_array_equal(tree.weights(1), np.ones(len(tree)))


@pytest.mark.parametrize("w0", [0, -0.5, 1.01, NAN, np.inf, "0.75", None, True])
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


def test_encode_sorts_the_labels_of_each_example():
    flat = Hierarchy.flat(range(40))
    matrix, _ = flat.encode([[8, 1], range(39, -1, -1), [32, 16, 8, 0]])
    assert_canonical(matrix)


def test_encode_nothing():
    matrix, labelled = Hierarchy.flat(["a", "b"]).encode([])
    assert matrix.shape == (0, 2)
    assert labelled.shape == (0,)
    assert labelled.dtype == bool


def test_encode_errors():
    tree = Hierarchy.from_paths(["animal", "animal/bird"])
    with pytest.raises(DataError, match=r"example 2 .*: unknown label 'animal/brid'; similar labels: 'animal/bird'"):
        tree.encode([["animal"], ["animal", "animal/brid"]])
    with pytest.raises(DataTypeError, match=r"example 1 .*: 'animal' is not a set"):
        tree.encode(["animal"])
    with pytest.raises(DataTypeError, match=r"example 1 .*: 3 is not a set"):
        tree.encode([3])
    with pytest.raises(DataTypeError, match="label name must be a string"):
        tree.encode([[None]])


def test_index_of_an_unknown_label():
    with pytest.raises(DataError, match=r"^unknown label 'birb'; similar labels: 'bird'$"):
        Hierarchy.flat(["bird", "fish"]).index("birb")
