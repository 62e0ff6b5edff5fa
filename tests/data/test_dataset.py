"""Dataset: construction, views, hiding labels, splitting, choosing features."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import omnirank as om
from draws import draws
from omnirank.data.dataset import Dataset, join_examples
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.target import Target
from omnirank.errors import DataError, ParameterError
from reference.data_set_cases import NAN, TARGETS, TREE, dataset_of, mixed_frame


def assert_same(data, other):
    assert data.features.equals(other.features)
    assert data.task == other.task
    assert (data.target is None) == (other.target is None)
    assert data.target is None or data.target.equals(other.target)
    assert data.fingerprint == other.fingerprint


# -- construction -------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TARGETS)
def test_parts_of_every_task(task):
    data = dataset_of(task)
    known = [False] * 6 if task == "clustering" else [True, True, False, True, True, True]
    assert data.task == task
    assert data.labelled.tolist() == known
    assert (data.n_examples, len(data), data.n_features) == (6, 6, 4)
    assert data.feature_names == ("size", "colour", "wet", "age")
    assert data.n_targets == len(data.target_names)
    assert (data.y is None) == (task == "clustering")


def test_x_is_a_frame_when_mixed_an_array_when_numeric_and_sparse_when_sparse():
    frame = dataset_of("clustering").X
    assert frame["colour"].cat.categories.tolist() == ["blue", "red"]
    assert frame["age"].tolist() == [3, 4, 5, 6, 7, 8]
    values = np.eye(3, dtype=np.float32)
    assert Dataset(values).X.dtype == np.float32
    assert sparse.issparse(Dataset(sparse.csr_array(values)).X)


def test_pandas_polars_and_arrow_give_equal_data_sets():
    frame = mixed_frame()
    pandas = Dataset(frame, TARGETS["classification"])
    for other in (pl.from_pandas(frame), pl.from_pandas(frame).to_arrow(), frame.convert_dtypes()):
        assert_same(Dataset(other, TARGETS["classification"]), pandas)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([[1.0], [2.0]], [1]), {}, "X has 2 rows, y has 1"),
        (([[1.0]], [{"a"}, {"b"}]), {}, "X has 1 row, y has 2"),
        (([[1.0]],), {"feature_groups": {"z": "g"}}, "feature_groups names 'z', which is no feature"),
        (([[1.0]],), {"hierarchy": TREE}, "a hierarchy was given, but no y"),
        (([[np.inf]],), {}, r"column 'x0' holds an infinite value \(inf\) in row 0"),
        ((np.zeros((0, 2)),), {}, "0 sample"),
        (([[1.0]], Target.numeric(np.zeros((1, 1)), ["t"])), {}, "does not go with a ready-made Target"),
        (
            ([[1.0]], Target.labels(np.zeros((1, 1)), ["t"])),
            {"task": "hierarchical-multi-label", "hierarchy": TREE},
            "not the labels of the hierarchy",
        ),
    ],
)
def test_construction_errors(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        Dataset(*arguments, **options)


# -- views --------------------------------------------------------------------------------------------


@pytest.mark.every(2)
@pytest.mark.parametrize("task", TARGETS)
@pytest.mark.parametrize(
    "rows", [slice(4, None, -2), [4, 2, 0], [-2, 2, 0], np.array([4, 2, 0], np.int32), pd.Series([4, 2, 0])]
)
def test_take(task, rows):
    data, frame = dataset_of(task), mixed_frame()
    view = data.take(rows)
    assert view.features.equals(data.features.take(np.array([4, 2, 0])))
    pd.testing.assert_frame_equal(
        view.X.astype({"colour": object, "wet": bool}).fillna({"colour": "?"}).reset_index(drop=True),
        frame.iloc[[4, 2, 0]].astype({"age": float, "colour": object}).fillna({"colour": "?"}).reset_index(drop=True),
        check_dtype=False,
    )
    assert view.labelled.tolist() == data.labelled[[4, 2, 0]].tolist()
    if task != "clustering":
        assert view.target.equals(data.target.take(np.array([4, 2, 0])))


def test_take_with_masks_and_without_rows():
    data = dataset_of("regression")
    assert data.take([True, False, False, False, False, True]).y.tolist() == [0.5, 4.5]
    empty = data.take([])
    assert (len(empty), empty.X.shape, empty.y.shape) == (0, (0, 4), (0,))
    assert empty.describe()["examples"] == 0
    assert len(data.take(np.zeros(6, bool)).labelled) == 0


@pytest.mark.parametrize("sparse_x", [False, True])
def test_take_copies_no_cell_until_used(sparse_x):
    values = np.eye(6)
    data = dataset_of("classification", sparse.csr_array(values) if sparse_x else values)
    view = data.take([0, 1, 2]).take([2, 0]).take(slice(None))
    assert view._all_features is data._all_features
    assert view._all_target is data._all_target
    assert "features" not in vars(view)
    assert "target" not in vars(view)
    assert (view.n_examples, view.n_features, view.n_targets) == (2, 6, 1)
    assert "features" not in vars(view)
    assert view.y.tolist() == [None, "u"]
    assert view.features.column(2).tolist() == [1, 0]


@given(st.data())
@draws(13)
def test_views_of_views_are_rows_of_rows(data):
    base = dataset_of("multi-target-regression")
    view, rows = base, np.arange(6)
    for _ in range(data.draw(st.integers(1, 4))):
        chosen = data.draw(st.lists(st.integers(-len(rows), len(rows) - 1), max_size=7)) if len(rows) else []
        view, rows = view.take(chosen), rows[np.array(chosen, int)]
    assert_same(view, base.take(rows))
    np.testing.assert_array_equal(view.y, base.y[rows])


# -- hidden labels ------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", [task for task in TARGETS if task != "clustering"])
def test_hide_labels(task):
    data = dataset_of(task)
    before = data.fingerprint
    hidden = data.hide_labels([0, -1])
    assert hidden.labelled.tolist() == [False, True, False, True, True, False]
    assert np.isnan(hidden.target.dense()[[0, 5]]).all()
    np.testing.assert_array_equal(hidden.target.dense()[1:5], data.target.dense()[1:5])
    assert hidden.target_names == data.target_names
    assert hidden.target.levels == data.target.levels
    assert hidden.task == task
    assert data.labelled.tolist() == [True, True, False, True, True, True]
    assert Dataset(data.features, data.target, task=task, hierarchy=data.hierarchy).fingerprint == before
    assert hidden.hide_labels(slice(None)).labelled.sum() == 0


def test_hide_labels_in_a_view_that_repeats_a_row():
    data = dataset_of("classification")
    view = data.take([0, 0, 1]).hide_labels([0])
    assert view.labelled.tolist() == [False, True, True]
    assert view.take([2, 1]).y.tolist() == ["v", "u"]
    assert view.features.column(3).tolist() == [3, 3, 4]
    assert data.labelled[0]


def test_hide_labels_without_target():
    with pytest.raises(DataError, match="no labels to hide"):
        dataset_of("clustering").hide_labels([0])


# -- splitting ----------------------------------------------------------------------------------------


@given(st.integers(2, 60), st.floats(0.05, 0.95), st.integers(0, 1000))
@draws(15)
def test_split_keeps_shares_within_one(n, share, seed):
    classes = np.random.default_rng(seed).integers(0, 4, n)
    y = np.where(classes == 3, NAN, classes.astype(float))
    data = Dataset(np.arange(n, dtype=float)[:, None], y, task="classification")
    first = int(np.floor(share * n + 1e-9))
    if not 0 < first < n:
        with pytest.raises(ParameterError, match="both parts need at least one example"):
            data.split(share, random_state=seed)
        return
    train, test = data.split(share, random_state=seed)
    assert len(train) == first
    rows = np.concatenate([train.X[:, 0], test.X[:, 0]])
    assert sorted(rows.tolist()) == list(range(n))
    assert np.all(np.diff(train.X[:, 0]) > 0)
    for label in range(4):
        in_train = (classes[train.X[:, 0].astype(int)] == label).sum()
        assert abs(in_train - (classes == label).sum() * first / n) < 1 + 1e-9


def test_split_rounds_down_what_is_not_whole_but_for_rounding_errors():
    data = Dataset(np.zeros((100, 1)))
    assert 0.29 * 100 < 29
    assert [len(data.split(share, random_state=0)[0]) for share in (0.29, 0.295, 2 / 3)] == [29, 29, 66]


# -- features -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "features",
    [["age", "colour"], [3, 1], [-1, 1], np.array([3, 1]), np.array(["age", "colour"]), ["age", 1], ("age", "colour")],
)
def test_select_features(features):
    data = dataset_of("classification").take([1, 3])
    chosen = data.select_features(features)
    assert chosen.feature_names == ("age", "colour")
    assert chosen.X["age"].tolist() == [4, 6]
    assert chosen.X["colour"].tolist() == ["blue", "red"]
    assert chosen.y.tolist() == ["v", "u"]
    assert data.n_features == 4


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([4], "no feature 4: there are 4 features"),
        (["depth"], "no column 'depth'"),
        ([True, False], "mask has 2 entries, but there are 4 features"),
        ([0, 0], "two columns are called 'size'"),
        ("size", "give a list of names or positions"),
    ],
)
def test_select_features_errors(features, message):
    with pytest.raises(DataError, match=message):
        dataset_of("classification").select_features(features)


def test_so_many_labels_are_kept():
    data = om.Dataset(np.zeros((40, 1)), np.arange(40.0) + 0.5).hide_labels(slice(0, 10))
    assert data.keep_labels(7, random_state=0).labelled.sum() == 7
    assert data.keep_labels(0.5, random_state=0).labelled.sum() == 15
    assert not data.keep_labels(30, random_state=0).labelled[:10].any()
    assert data.keep_labels(0, random_state=0).labelled.sum() == 0


def test_fewer_labels_are_some_of_more():
    data = om.Dataset(np.zeros((40, 1)), np.arange(40.0) + 0.5)
    few, more = (data.keep_labels(n, random_state=3).labelled for n in (5, 20))
    assert more[few].all()
    assert (data.keep_labels(5, random_state=4).labelled != few).any()
    kept = data.keep_labels(5, random_state=3)
    np.testing.assert_array_equal(kept.y[few], data.y[few])


@pytest.mark.parametrize("amount", [-1, 41, 1.5, 0.0, "few", True])
def test_amounts_that_make_no_sense(amount):
    with pytest.raises(ParameterError, match="labelled="):
        om.Dataset(np.zeros((40, 1)), np.arange(40.0)).keep_labels(amount)


LABELS = Hierarchy.from_paths(["a/b", "c"])


def mixed(y=("p", None, "q"), **options):
    frame = pd.DataFrame({"x": [1.0, np.nan, 3.0], "colour": pd.Categorical(["red", "blue", None], ["red", "blue"])})
    return om.Dataset(frame, list(y), **options)


def labels(kind, hierarchy=LABELS):
    X = kind(np.array([[0.0, 2.0], [1.0, 0.0]]))
    y = kind(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    return om.Dataset(X, y, task="hierarchical-multi-label", hierarchy=hierarchy)


@pytest.mark.parametrize("make", [mixed, lambda: labels(np.asarray), lambda: labels(sparse.csr_array)])
def test_parts_come_back(make):
    whole = make()
    joined = join_examples([whole.take([0]), whole.take(list(range(1, whole.n_examples)))])
    assert joined.features.equals(whole.features)
    assert joined.target.equals(whole.target)
    assert (joined.task, joined.hierarchy, joined.fingerprint) == (whole.task, whole.hierarchy, whole.fingerprint)
    assert joined.features.is_sparse == whole.features.is_sparse


def test_without_target_and_alone():
    data = om.Dataset(np.eye(3))
    assert join_examples([data]) is data
    assert join_examples([data, data]).n_examples == 6
    assert join_examples([data, data]).target is None


PLAIN = om.Dataset([[1.0, 2.0], [2.0, 1.0]], ["p", "q"])
OTHERS = {
    "made for": (PLAIN, om.Dataset([[1.0, 2.0]], [0.5])),
    "features differ": (PLAIN, om.Dataset([[1.0, 2.0], [2.0, 1.0]], ["p", "q"], feature_names=["x0", "z"])),
    "targets differ": (PLAIN, om.Dataset([[1.0, 2.0], [2.0, 1.0]], ["p", "r"])),
    "sparse, the other dense": (PLAIN, om.Dataset(sparse.csr_array([[1.0, 2.0], [2.0, 1.0]]), ["p", "q"])),
    "hierarchies differ": (labels(np.asarray), labels(np.asarray, Hierarchy.from_paths(["a/b", "a/c"]))),
}


@pytest.mark.parametrize("message", OTHERS)
def test_what_differs_is_named(message):
    with pytest.raises(DataError, match=f"part 2 .*{message}"):
        join_examples(OTHERS[message])
