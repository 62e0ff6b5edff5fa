"""target_from: which task a y stands for, and the target that comes of it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from omnirank.data.hierarchy import Hierarchy
from omnirank.data.infer import check_target, infer_task, read_target, target_from
from omnirank.data.table import Table
from omnirank.data.target import Target
from omnirank.data.task_registry import TASKS, is_unsupervised, task_named, task_target
from omnirank.errors import DataError, DataTypeError, ParameterError

NAN = np.nan
TREE = Hierarchy.from_paths(["a", "a/b", "a/b/c", "d"])


def dense(y, **options):
    return target_from(y, **options)[0].dense()


# -- task="auto" --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "task"),
    [
        # declared types first
        (["a", "b"], "classification"),
        (np.array(["a", "b"]), "classification"),
        (np.array(["a", None], object), "classification"),
        ([True, False], "classification"),
        (pd.Categorical([1.5, 2.5]), "classification"),
        (pl.Series([True, None]), "classification"),
        (pa.chunked_array([["a", "b"]]), "classification"),
        (pd.DataFrame({"u": ["a", "b"], "v": ["x", "y"]}), "multi-target-classification"),
        (pd.DataFrame({"u": ["0", "1"], "v": ["1", "1"]}), "multi-label"),
        (pd.DataFrame({"u": [True, False], "v": [0, 1]}), "multi-label"),
        (pd.DataFrame({"u": ["a", "b"], "v": [0.5, 1.5]}), "mixed-targets"),
        (pd.DataFrame({"u": ["a", "b"], "v": [3, 4]}), "multi-target-classification"),
        # one column of numbers
        (np.array([3, 1, 3]), "classification"),
        ([1, 2, None], "classification"),
        (np.array([3.0, 1.0, NAN]), "classification"),
        (np.array([3.0, 1.5]), "regression"),
        ([0.5, None], "regression"),
        (pd.Series([1, None, 2], dtype="Int64"), "classification"),
        (pl.Series([0.5, None]), "regression"),
        (np.array([[0.5], [2]]), "regression"),
        (sparse.csr_array([[0], [3]]), "classification"),
        # several columns of numbers
        (np.array([[0, 1], [1, 1]]), "multi-label"),
        ([[0, 1], [1, None]], "multi-label"),
        (sparse.csr_array([[0, 1], [1, 0]]), "multi-label"),
        (pd.DataFrame({"u": [0, 1], "v": [1, None]}), "multi-label"),
        (np.array([[0, 2], [1, 1]]), "multi-target-classification"),
        ([[0, 2], [1, None]], "multi-target-classification"),
        (pl.DataFrame({"u": [0, 2], "v": [1, None]}), "multi-target-classification"),
        (sparse.csr_array([[0, 2], [1, 1]]), "multi-target-classification"),
        (np.array([[0.0, 2.0], [1.0, 1.0]]), "multi-target-regression"),
        (pd.DataFrame({"u": [0, 2], "v": [1.0, 3.0]}), "multi-target-regression"),
        (sparse.csr_array([[0, 2.5], [1, 1]]), "multi-target-regression"),
        # label sets
        ([{"a"}, {"b", "c"}], "multi-label"),
        ((frozenset(), None, {"b"}), "multi-label"),
        (pd.Series([{"a"}, None]), "multi-label"),
        (pl.Series([["a"], [], None, ["b"]]), "multi-label"),
        # nothing
        (None, "clustering"),
    ],
)
def test_task_auto(y, task):
    target, found = target_from(y)
    assert found == task
    assert (target is None) == (task == "clustering")


@pytest.mark.parametrize(
    ("columns", "levels", "task"),
    [
        ([[1.0, 2.0]], [None], "regression"),
        ([[0.0, 1.0], [1.0, 1.0]], [None, None], "multi-target-regression"),
        ([[0, 1]], [("no", "yes")], "classification"),
        ([[0, 1], [0, 0]], [("0", "1"), ("1", "0")], "multi-label"),
        ([[0, 1], [0, 0]], [("0", "1"), ("1", "2")], "multi-target-classification"),
        ([[0, 1], [0.0, 1.0]], [("0", "1"), None], "mixed-targets"),
    ],
)
def test_task_auto_of_declared_columns_numeric_stays_a_number(columns, levels, task):
    names = [f"t{i}" for i in range(len(columns))]
    table = Table.from_columns(names, [np.array(column) for column in columns], levels)
    assert infer_task(table, declared=True) == task
    assert read_target(table, declared=True).task == task


def test_none_nan_and_na_are_unlabelled():
    for y in ([1, None, 2], [1, NAN, 2], [1, pd.NA, 2], pd.Series([1, None, 2], dtype="Int64"), np.array([1, NAN, 2])):
        target, _ = target_from(y)
        assert target.labelled.tolist() == [True, False, True]
        assert target.levels == ((1, 2),)
    for y in (
        ["u", None, "v"],
        ["u", NAN, "v"],
        ["u", pd.NA, "v"],
        pd.Series(["u", None, "v"]),
        pl.Series(["u", None, "v"]),
    ):
        target, _ = target_from(y)
        assert target.labelled.tolist() == [True, False, True]
        assert target.levels == (("u", "v"),)
    assert target_from([True, NAN])[0].levels == ((False, True),)


def test_classes_are_integers_whatever_held_them():
    for y in ([3, 1], np.array([3, 1]), np.array([3.0, 1.0]), pd.Series([3, 1], dtype="Int64"), pl.Series([3, 1])):
        levels = target_from(y)[0].levels[0]
        assert levels == (1, 3)
        assert all(type(level) is int for level in levels)


# -- y without any known value ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "y", [np.full(3, NAN), [None, None], np.full((3, 2), NAN), pd.Series([None, None]), pl.Series([None, None])]
)
def test_y_without_any_known_value_is_no_target(y):
    assert target_from(y) == (None, "clustering")


def test_y_without_any_known_value_keeps_a_given_task_and_declared_levels():
    target, task = target_from(np.full(3, NAN), task="regression")
    assert (task, target.labelled.any()) == ("regression", False)
    target, task = target_from(pd.Categorical([None, None], categories=["a", "b"]))
    assert (task, target.levels, target.labelled.any()) == ("classification", (("a", "b"),), False)
    target, task = target_from(np.full((2, 4), NAN), hierarchy=TREE)
    assert (task, target.labelled.any()) == ("hierarchical-multi-label", False)


@pytest.mark.parametrize("task", ["auto", "regression", "classification"])
@pytest.mark.parametrize("make", [np.array, list, pd.Series, pl.Series, lambda v: sparse.csr_array(np.array([v]).T)])
def test_infinite_y_is_always_an_error(make, task):
    with pytest.raises(DataError, match=r"Input y contains infinity or a value too large.*target '\w+', row 2"):
        target_from(make([0.5, 1.5, np.inf]), task=task)
    with pytest.raises(DataError, match="target 'v', row 0"):
        target_from(pd.DataFrame({"u": [1.0, 2.0], "v": [-np.inf, 0.5]}))


# -- a given task -------------------------------------------------------------------------------------


def test_given_task_overrides():
    integers = np.array([0, 1, 2])
    assert target_from(integers, task="regression")[0].levels == (None,)
    assert target_from([0.5, 1.5], task="classification")[0].levels == ((0.5, 1.5),)
    labels = np.array([[0, 1], [1, 1]])
    assert target_from(labels, task="multi-target-regression")[0].is_labels is False
    assert target_from(labels, task="multi-target-classification")[0].levels == ((0, 1), (1,))
    assert target_from(labels, task="mixed-targets")[0].levels == (None, None)
    assert target_from(labels.astype(float), task="multi-label")[0].is_labels is True
    assert target_from(labels[:, :1], task="multi-label")[0].is_labels is True
    assert target_from(labels, task="clustering") == (None, "clustering")
    frame = pd.DataFrame({"u": ["a", "b"], "v": [3, 4]})
    assert target_from(frame, task="mixed-targets")[0].levels == (("a", "b"), None)


@pytest.mark.parametrize(
    ("y", "options", "error", "message"),
    [
        ([1, 2], {"task": "ranking"}, ParameterError, "task='ranking': choose one of auto, classification"),
        ([1, 2], {"task": "hierarchical-multi-label"}, ParameterError, "needs a hierarchy"),
        (
            [1, 2],
            {"task": "regression", "hierarchy": TREE},
            ParameterError,
            "task=.*: it takes no hierarchy, but one was given",
        ),
        (None, {"hierarchy": TREE}, ParameterError, "a hierarchy was given, but no y"),
        (None, {"task": "regression"}, ParameterError, "task='regression' was given, but no y"),
        (["a", "b"], {"task": "regression"}, DataError, "target 'y' is nominal, not a number"),
        (np.eye(2), {"task": "regression"}, DataError, "takes one target, but there are 2"),
        (
            [[0, 1], [1, 2]],
            {"task": "multi-label"},
            DataError,
            "label 'y2' holds 2 in row 1: a label is 0, 1 or missing",
        ),
        (pd.DataFrame({"u": ["no", "yes"]}), {"task": "multi-label"}, DataError, "label 'u' has the levels"),
        (
            [{"a"}],
            {"task": "classification"},
            ParameterError,
            "task='classification': y holds sets, which are for 'multi-label'",
        ),
        ([set(), set()], {}, DataError, "all label sets are empty"),
        ([{"a"}, {"z"}], {"names": ["a"]}, DataError, "'z'"),
        ([{"a"}, {"z"}], {"hierarchy": TREE}, DataError, "'z'"),
        (np.zeros((2, 2, 2)), {}, DataError, r"y should be a 1d or 2d array, got an array of shape \(2, 2, 2\)"),
        ("kind", {}, DataTypeError, r"y='kind': give the values of the target, one per example, such as frame"),
        (np.zeros(2, complex), {}, DataError, "Complex data not supported"),
        ([1, "a"], {}, DataTypeError, "target 'y' holds a string beside a number in row 1"),
        ([{"k": 1}], {}, DataTypeError, "target 'y' holds a dict in row 0"),
        ([["a"], ["b", "b"]], {}, DataError, "y lists the label 'b' twice in row 1"),
        ([[1], [2, 3]], {}, DataError, "give label sets as sets"),
        ([["a", 1], ["b"]], {}, DataError, "give label sets as sets"),
        ([["a"], {"b"}], {}, DataError, "give label sets as sets"),
        ([["a", "b"], None, ["a", "c"]], {}, DataError, "give label sets as sets"),
        (np.eye(2), {"names": ["a"]}, DataError, "1 column name for 2 columns"),
        ([2**53, 2**53 + 1], {}, DataError, "numbers beyond 2"),
        (np.array([[1, 2**60]]), {}, DataError, "target 'y2' holds whole numbers beyond 2"),
    ],
)
def test_errors(y, options, error, message):
    with pytest.raises(error, match=message):
        target_from(y, **options)


def cells(*rows):
    column = np.empty(len(rows), dtype=object)
    column[:] = rows
    return column


@pytest.mark.parametrize(
    ("y", "options"),
    [
        ([["b", "a"], ["b"], None], {}),
        (cells(["b", "a"], ["b"], None), {}),
        (pd.Series([["b", "a"], ["b"], None]), {}),
        (cells(["b", "a"], ["a", "b"]), {}),
        ([["b", "a"], ["a", "b"]], {"task": "multi-label"}),
        ([["a", "a/b"], ["a", "d"]], {"hierarchy": TREE}),
    ],
)
def test_lists_of_labels_are_sets_where_they_cannot_be_rows(y, options):
    sets = [None if row is None else set(row) for row in y]
    wanted, task = target_from(sets, **options)
    found, found_task = target_from(y, **options)
    assert found_task == task
    assert found.equals(wanted)


def test_rows_of_equal_lengths_are_a_matrix():
    assert target_from([["b", "a"], ["a", "b"]])[1] == "multi-target-classification"
    assert target_from([["a"], ["b"]])[1] == "classification"
    zeros_and_ones = target_from([["0", "1"], ["1", "1"]], task="multi-label")[0]
    assert zeros_and_ones.dense().tolist() == [[0, 1], [1, 1]]


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (np.array([1.0, 2.0, 3.0]) * 1e20, "regression"),
        (pd.DataFrame({"y": [1e20, 2e20]}), "regression"),
        (np.array([1.0, 2.0**53]), "regression"),
        (np.array([1.0, -(2.0**53)]), "regression"),
        (np.array([1.0, 2.0**53 - 1]), "classification"),
        (np.array([[1e20, 1.0], [2e20, 0.0]]), "multi-target-regression"),
        (sparse.csr_array([[1e20], [0.0]]), "regression"),
    ],
)
def test_floats_that_are_whole_by_their_size_are_no_classes(y, task):
    """From 2^53 on every float is a whole number: that it is one says nothing."""
    assert target_from(y)[1] == task


# -- containers ---------------------------------------------------------------------------------------


def test_names():
    assert target_from([1, 2])[0].names == ("y",)
    assert target_from(np.eye(2))[0].names == ("y1", "y2")
    assert target_from(sparse.eye_array(2))[0].names == ("y1", "y2")
    assert target_from(pd.Series([1, 2], name="yield"))[0].names == ("yield",)
    assert target_from(pl.Series([1, 2]))[0].names == ("y",)
    assert target_from(pd.DataFrame({0: [1], 1: [2.5]}))[0].names == ("0", "1")
    assert target_from([1, 2], names=["t"])[0].names == ("t",)
    assert target_from(pd.DataFrame({"u": [1]}), names=["t"])[0].names == ("t",)


def test_the_same_target_from_every_container():
    values = np.array([[0.5, 3.0], [NAN, 4.0]])
    expected = target_from(values, names=["u", "v"])[0]
    for y in (
        pd.DataFrame(values, columns=["u", "v"]),
        pl.DataFrame({"u": [0.5, None], "v": [3.0, 4.0]}),
        pa.table({"u": [0.5, None], "v": [3.0, 4.0]}),
        Table.from_numeric(values, ["u", "v"]),
    ):
        assert target_from(y)[0].equals(expected)
    for y in ([[0.5, 3.0], [None, 4.0]], sparse.csr_array(values), np.ma.masked_invalid(values)):
        assert target_from(y, names=["u", "v"])[0].equals(expected)


def test_labels_in_every_writing_are_the_same_target():
    values = np.array([[0, 1], [1, 1], [0, 0]])
    expected = target_from(values, names=["u", "v"])[0]
    strings = pd.DataFrame(values.astype(str), columns=["u", "v"])
    swapped = strings.astype(pd.CategoricalDtype(["1", "0"]))
    for y in (values.astype(float), values.astype(bool), strings, swapped, [{"v"}, {"u", "v"}, set()]):
        assert target_from(y, names=["u", "v"])[0].equals(expected)
    for y in (sparse.csr_array(values), sparse.coo_matrix(values.astype(bool))):
        target = target_from(y, names=["u", "v"])[0]
        assert target.is_sparse
        assert target.equals(expected)


def test_sparse_nominal_labels_whose_domain_starts_with_one():
    codes = sparse.csc_array(np.array([[0.0, 1.0, 0.0], [NAN, 0.0, 0.0]]))
    table = Table.from_sparse(codes, ["u", "v", "w"], [("1", "0"), ("0", "1"), ("0", "1")])
    target, task, _ = read_target(table, declared=True)
    assert task == "multi-label"
    np.testing.assert_array_equal(target.dense(), [[1, 1, 0], [NAN, 0, 0]])


# -- hierarchies --------------------------------------------------------------------------------------


def test_label_sets_with_single_labels_missing_are_closed_both_ways():
    values = np.array([[NAN, NAN, 1, 0], [NAN, 0, NAN, 1], [0, NAN, NAN, NAN], [NAN] * 4])
    closed = [[1, 1, 1, 0], [NAN, 0, 0, 1], [0, 0, 0, NAN], [NAN] * 4]
    for y in (values, sparse.csr_array(values), pd.DataFrame(values, columns=TREE.labels)):
        target, task = target_from(y, hierarchy=TREE)
        assert task == "hierarchical-multi-label"
        np.testing.assert_array_equal(target.dense(), closed)
        assert target.labelled.tolist() == [True, True, True, False]


def test_sets_are_closed_under_ancestors():
    target, task = target_from([{"a/b/c"}, {"d"}, None], hierarchy=TREE)
    assert task == "hierarchical-multi-label"
    np.testing.assert_array_equal(target.dense(), [[1, 1, 1, 0], [0, 0, 0, 1], [NAN] * 4])


def test_named_columns_are_put_in_the_order_of_the_hierarchy():
    frame = pd.DataFrame([[1, 0, 0, 0]], columns=["d", "a/b/c", "a/b", "a"])
    for y in (frame, pl.from_pandas(frame)):
        assert dense(y, hierarchy=TREE).tolist() == [[0, 0, 0, 1]]
    assert dense(frame.to_numpy(), hierarchy=TREE, names=list(frame.columns)).tolist() == [[0, 0, 0, 1]]
    assert dense(frame.to_numpy(), hierarchy=TREE).tolist() == [[1, 0, 0, 0]]


def test_columns_that_are_not_the_labels():
    with pytest.raises(DataError, match="y has 4 columns and the hierarchy 4 labels; not in the hierarchy: 'z'"):
        target_from(pd.DataFrame([[1, 0, 0, 0]], columns=["a", "a/b", "a/b/c", "z"]), hierarchy=TREE)
    with pytest.raises(DataError, match="y has 3 columns and the hierarchy 4 labels"):
        target_from(np.zeros((2, 3)), hierarchy=TREE)


# -- ready-made targets -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "task", "message"),
    [
        ([0.5, 1.5], "classification", "target 'y' is a number"),
        (["a", "b"], "regression", "target 'y' is nominal"),
        (np.eye(2), "multi-target-regression", "the target holds label sets"),
        ([0.5, 1.5], "multi-label", "the target holds no label sets"),
        ([0.5, 1.5], "clustering", "does not go with a ready-made Target"),
        ([0.5, 1.5], "auto", "does not go with a ready-made Target"),
        ([[0.5, 1], [1, 2]], "regression", "takes one target, but there are 2"),
    ],
)
def test_check_target(y, task, message):
    target = target_from(y)[0]
    assert isinstance(target, Target)
    with pytest.raises(ValueError, match=message):
        check_target(target, task)


@pytest.mark.slow
def test_reading_data_alone_knows_all_tasks():
    code = "from omnirank.data.infer import target_from; print(target_from(['a', 'b'])[1])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "classification"


@pytest.mark.parametrize("name", TASKS)
def test_every_task_is_the_first_with_its_target(name):
    task = task_target(name)
    assert task_named(task.kind, single=task.single, hierarchical=task.hierarchical) == name
    assert is_unsupervised(name) == (name == "clustering")
    assert task.is_one_class == (name == "classification")
