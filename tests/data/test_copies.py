"""Rows that repeat: which are copies, and what keeps them together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import omnirank as om
from omnirank.data.resampling import copy_groups, resampled_rows
from omnirank.errors import DataError
from omnirank.evaluation.cross import evaluate_folds
from omnirank.evaluation.folds import deal_folds, labelled_folds, make_folds
from omnirank.evaluation.significance import with_permuted_copies


def noise(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 4)), rng.integers(0, 2, n).astype(str)


def doubled(data, labels, rows):
    return om.Dataset(data[rows], labels[rows])


ROWS = np.array([*range(60), 5, 3, 5])
EXPECTED = [*range(60), 5, 3, 5]


def test_copies_share_a_group_in_any_layout():
    X, y = noise()
    X[X < -0.5] = 0.0
    X[X > 1] = np.nan
    assert doubled(X, y, ROWS).groups.tolist() == EXPECTED
    assert om.Dataset(sparse.csr_array(X[ROWS]), y[ROWS]).groups.tolist() == EXPECTED
    assert om.Dataset(np.asfortranarray(X[ROWS], np.float32), y[ROWS]).groups.tolist() == EXPECTED
    nominal = om.Dataset(np.column_stack([X, np.arange(60) % 7])[ROWS], y[ROWS], nominal=[4])
    assert nominal.groups.tolist() == EXPECTED


def test_signs_of_zero_and_bits_of_nan_are_no_difference():
    X, y = noise()
    X[:, 0], X[:, 1] = 0.0, np.nan
    X = X[ROWS]
    X[60, 0] = -0.0
    X[61:, 1] = -X[61:, 1]
    assert om.Dataset(X, y[ROWS]).groups.tolist() == EXPECTED


def test_another_cell_or_target_makes_another_example():
    X, y = noise()
    rows = np.array([*range(60), *range(30)])
    X, y = X[rows], y[rows]
    X[60, 3] += 1e-9
    y[61] = "other"
    found = om.Dataset(X, y).groups
    assert found[60:].tolist() == [60, 61, *range(2, 30)]
    swapped = np.vstack([noise()[0], noise()[0][:, ::-1]])
    assert om.Dataset(swapped).groups is None


def test_an_unlabelled_copy_belongs_to_the_labelled_one():
    X, y = noise()
    y = y.astype(object)
    y[3] = None
    y[10:30] = None
    data = om.Dataset(X[ROWS], [*y, None, "1", y[5]])
    assert data.groups.tolist() == EXPECTED
    data = om.Dataset(X[[*ROWS, 12, 12]], [*y, None, "1", y[5], None, None])
    assert data.groups.tolist() == [*EXPECTED, 12, 12]


@pytest.mark.parametrize("told", ["noise", "one feature", "nothing"])
@pytest.mark.parametrize("layout", ["binary", "one-hot", "nominal"])
def test_rows_of_few_values_coincide_by_chance(layout, told):
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 2, (300, 6)) if layout == "binary" else rng.integers(0, 4, (300, 3))
    y = {"noise": rng.integers(0, 2, 300), "one feature": cells[:, 0] > 0, "nothing": None}[told]
    X = np.hstack([np.eye(4)[column] for column in cells.T]) if layout == "one-hot" else cells.astype(float)
    assert len(np.unique(X, axis=0)) < 70
    assert om.Dataset(X, y, nominal=[0, 1, 2] if layout == "nominal" else None).groups is None


def test_copies_are_found_among_rows_that_coincide_by_chance():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (300, 12)).astype(float), rng.integers(0, 2, 300).astype(str)
    assert om.Dataset(X, y).groups is None
    assert om.Dataset(np.tile(X, (2, 1)), np.tile(y, 2)).groups is not None


def test_one_row_or_none_has_no_copy():
    for n in (0, 1):
        assert copy_groups(om.Dataset(np.zeros((2, 3))).features.take(slice(n)), None) is None


def test_groups_are_given_by_name_and_stay_with_their_rows():
    X, y = noise(6)
    data = om.Dataset(X, y).with_groups(["b", "a", "b", "c", "a", "d"])
    assert data.groups.tolist() == [0, 1, 0, 2, 1, 3]
    assert data.take([5, 4, 1]).groups.tolist() == [0, 1, 1]
    assert data.take([5, 3]).groups is None
    assert data.hide_labels([0]).groups.tolist() == data.select_features([1]).groups.tolist() == data.groups.tolist()
    assert data.take([1, 4, 0, 1]).with_groups([1, 2, 1, 2]).groups.tolist() == [0, 1, 0, 1]
    assert om.Dataset(X, y).fingerprint != data.fingerprint != data.with_groups(np.arange(6)).fingerprint
    apart = doubled(*noise(), ROWS).with_groups(np.arange(63))
    assert apart.groups is None


@pytest.mark.parametrize(
    ("groups", "message"), [([1, 2], "groups has the shape"), (["a", None, "b"], "no value for example 1")]
)
def test_groups_that_do_not_fit_are_refused(groups, message):
    with pytest.raises(DataError, match=message):
        om.Dataset(np.arange(3.0)[:, None]).with_groups(groups)


def test_many_copies_are_noted_once():
    X, y = noise()
    assert om.Dataset(X, y).notes == doubled(X, y, ROWS[:62]).notes == ()
    data = doubled(X, y, np.arange(120) % 60)
    [note] = data.notes
    assert note.startswith("50 % of the examples repeat others")
    with pytest.warns(UserWarning, match="repeat others"):
        om.UnivariateRanker().fit(data)


def test_copies_stay_in_one_half_and_one_fold():
    data = doubled(*noise(), np.arange(120) % 60)
    in_half = np.bincount(resampled_rows(np.zeros(120), 0.5, np.random.default_rng(0), data.groups), minlength=120)
    assert in_half.sum() == 60
    assert (in_half[:60] == in_half[60:]).all()
    drawn = np.bincount(resampled_rows(np.zeros(120), None, np.random.default_rng(0), data.groups), minlength=120)
    assert drawn.max() > 1
    assert (drawn[:60] == drawn[60:]).all()
    for fold in labelled_folds(data, 5, 0):
        assert sorted(fold.test % 60)[::2] == sorted(fold.test % 60)[1::2]
        assert len(fold.test) == 24
    with pytest.raises(DataError, match="5 folds need as many groups, there are 3"):
        deal_folds(data.with_groups(np.arange(120) % 3), 5, np.random.default_rng(0))
    assert [len(part) for part in data.with_groups(np.arange(120) % 2).split(0.5, random_state=0)] == [60, 60]


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize(
    ("scheme", "cut"),
    [("cross-validation", 0), ("semi-supervised", 0), ("split", 0), ("transductive", 1)],
)
def test_copies_and_groups_are_on_one_side_of_a_fold(scheme, cut, named):
    group = np.arange(320) % 80
    data = doubled(*noise(80), group)
    if named:
        data = om.Dataset(np.arange(320.0)[:, None], data.y).with_groups(group)
    params = {"labelled": [33]} if scheme in ("semi-supervised", "transductive") else {}
    for fold in make_folds(data, scheme, random_state=0, **params):
        taught = fold.labelled if scheme == "transductive" else fold.train
        assert len(set(group[taught]) & set(group[fold.test])) <= cut
    train, test = data.split(0.7, random_state=0)
    assert len(train) == 4 * 56
    assert len(test) == 4 * 24
    assert not set(map(tuple, train.X if not named else train.X % 80)) & set(
        map(tuple, test.X if not named else test.X % 80)
    )


def test_random_classes_of_copies_are_not_predicted():
    data = doubled(*noise(80), np.arange(320) % 80)
    found = evaluate_folds(om.UnivariateRanker(), data, make_folds(data, random_state=0), 1)
    assert found.summary["accuracy"][0] < 0.7


def test_few_different_rows_are_dealt_one_by_one():
    data = doubled(*noise(3), np.arange(12) % 3)
    assert [len(fold.test) for fold in make_folds(data, n_folds=4, random_state=0)] == [3] * 4
    same = doubled(*noise(1), np.zeros(12, int))
    assert [len(part) for part in same.split(0.5, random_state=0)] == [6, 6]


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_permuted_copies_repeat_where_rows_do(layout):
    X, y = noise()
    X[X < -0.8] = 0.0
    X[0, 0] = np.nan
    rows = np.array([*range(60), *range(20), 0])
    data = om.Dataset(X[rows] if layout == "dense" else sparse.csc_array(X[rows]), y[rows])
    made = with_permuted_copies(data, np.random.default_rng(0))
    copies = made.features.take(slice(None)).select(np.arange(4, 8))
    cells = np.column_stack([copies.column(f) for f in range(4)])
    np.testing.assert_array_equal(cells[60:80], cells[:20])
    np.testing.assert_array_equal(cells[80], cells[0])
    np.testing.assert_array_equal(np.sort(cells[:60], axis=0), np.sort(X, axis=0))
    assert not np.array_equal(cells[:60], X, equal_nan=True)
    assert made.groups.tolist() == data.groups.tolist()
