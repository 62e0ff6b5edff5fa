"""Target: dense and sparse storage, rows, variables, hidden labels, and what users get back."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from omnirank.data.containers import is_unknown
from omnirank.data.infer import is_binary, target_from
from omnirank.data.target import Target, decode
from omnirank.errors import DataError

NAN = np.nan


@st.composite
def label_matrices(draw):
    n_rows, n_labels = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    row = st.lists(st.sampled_from([0.0, 1.0, NAN]), min_size=n_labels, max_size=n_labels)
    return np.array(draw(st.lists(row, min_size=n_rows, max_size=n_rows)))


def names_of(values):
    return [f"l{i}" for i in range(values.shape[1])]


def assert_sound(target):
    """Unlabelled rows are empty, indices ascend, no zero is stored."""
    matrix = target.values
    for row, (start, end) in enumerate(pairwise(matrix.indptr)):
        assert np.all(np.diff(matrix.indices[start:end]) > 0)
        assert target.labelled[row] or start == end
        assert np.isnan(matrix.data[start:end]).sum() < target.n_targets
    assert np.all(matrix.data != 0)


# -- storage ------------------------------------------------------------------------------------------


@given(label_matrices(), st.data())
def test_sparse_labels_are_the_dense_ones(values, data):
    dense = Target.labels(values, names_of(values))
    thin = Target.labels(sparse.csr_array(values), names_of(values))
    assert_sound(thin)
    assert thin.equals(dense)
    assert thin.labelled.tolist() == dense.labelled.tolist() == (~np.isnan(values).all(axis=1)).tolist()
    assert (thin.is_partial, thin.n_partly_labelled) == (dense.is_partial, dense.n_partly_labelled)

    rows = np.array(data.draw(st.lists(st.integers(0, len(values) - 1), max_size=6)), int)
    columns = data.draw(st.lists(st.integers(0, values.shape[1] - 1), min_size=1, unique=True))
    for part, same in ((thin.take(rows), dense.take(rows)), (thin.select(columns), dense.select(columns))):
        assert_sound(part)
        assert part.equals(same)
        assert part.labelled.tolist() == same.labelled.tolist()
    np.testing.assert_array_equal(thin.take(rows).dense(), values[rows])

    hidden = thin.hide(rows)
    expected = values.copy()
    expected[rows] = NAN
    assert_sound(hidden)
    np.testing.assert_array_equal(hidden.dense(), expected)
    np.testing.assert_array_equal(dense.hide(rows).dense(), expected)
    assert hidden.labelled.tolist() == (~np.isnan(expected).all(axis=1)).tolist()
    np.testing.assert_array_equal(thin.dense(), values)  # the original is as it was


@pytest.mark.parametrize("make", [np.array, sparse.csr_array])
def test_examples_marked_as_unlabelled(make):
    target = Target.labels(make([[1.0, NAN], [0.0, 0.0], [NAN, NAN]]), ["a", "b"], [True, False, True])
    np.testing.assert_array_equal(target.dense(), [[1, NAN], [NAN, NAN], [NAN, NAN]])
    assert target.labelled.tolist() == [True, False, False]
    with pytest.raises(DataError, match="marked as unlabelled have 1 label"):
        Target.labels(make([[1.0, 0.0], [0.0, 1.0]]), ["a", "b"], [True, False])


def test_partly_labelled():
    target = Target.numeric(np.array([[1, NAN], [NAN, NAN], [1, 2]]), ["u", "v"])
    assert target.labelled.tolist() == [True, False, True]
    assert target.is_partial
    assert not target.take([1, 2]).is_partial
    assert target.select([1]).labelled.tolist() == [False, False, True]


# -- what users get back ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "y",
    [
        np.array([3, 1, 3]),
        np.array([True, False]),
        np.array([0.5, NAN]),
        np.array([3.0, NAN]),
        np.array(["b", None], object),
        np.array([True, None], object),
        np.array([[1, 2], [3, 4]]),
        np.array([["a", None], [None, "b"]], object),
        np.array([[0, 1], [1, 1]], np.int8),
        np.array([[0, NAN], [1, 1]]),
    ],
)
def test_users_get_back_what_they_gave(y):
    back = target_from(y)[0].to_array()
    assert back.dtype == y.dtype
    assert back.shape == y.shape
    pd.testing.assert_frame_equal(pd.DataFrame(back), pd.DataFrame(y))


def test_mixed_targets_come_back_as_a_frame():
    frame = pd.DataFrame({"kind": pd.Categorical(["a", None]), "size": [NAN, 1.5]})
    pd.testing.assert_frame_equal(target_from(frame)[0].to_array(), frame)


@pytest.mark.parametrize(
    ("levels", "kind"),
    [((1, 2), "i"), ((0.5, 1.0), "f"), ((False, True), "b"), (("a", "b"), "O"), (((1, 2), (3, 4)), "O")],
)
def test_decode_keeps_the_type_of_levels(levels, kind):
    found = decode(np.array([1, 0, 1]), levels)
    assert found.dtype.kind == kind
    assert found.tolist() == [levels[1], levels[0], levels[1]]
    holes = decode(np.array([1, -1]), levels).tolist()
    assert holes[0] == levels[1]
    assert np.isnan(holes[1]) if kind in "if" else holes[1] is None


# -- label sets ---------------------------------------------------------------------------------------


def test_what_counts_as_unknown_and_as_a_label_domain():
    assert all(map(is_unknown, (None, NAN, np.float64(NAN), pd.NA, pd.NaT)))
    assert not any(map(is_unknown, (0, -1, "", "nan", set(), False)))
    assert all(map(is_binary, ((), (0,), ("1",), (True, False), (1, 0), (0.0, 1.0))))
    assert not any(map(is_binary, ((0, 2), ("0", 1), ("no", "yes"), (-1, 1))))
