"""Fold schemes: who trains, who tests, who keeps a label."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import omnirank as om
from draws import draws
from omnirank.evaluation.folds import LABELLED_COUNTS, SCHEMES, deal_folds, labelled_in_fold, make_folds


def classes(n, seed=0, unlabelled=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]).astype(object)
    y[:unlabelled] = None
    return om.Dataset(rng.normal(size=(n, 2)), y, task="classification")


def labels(n, seed=0):
    rng = np.random.default_rng(seed)
    return om.Dataset(rng.normal(size=(n, 2)), (rng.random((n, 4)) < [0.5, 0.3, 0.1, 0.03]).astype(float))


def check_partition(folds, n):
    np.testing.assert_array_equal(np.sort(np.concatenate([fold.test for fold in folds])), np.arange(n))
    for fold in folds:
        assert not set(fold.train) & set(fold.test)
        assert len(fold.train) + len(fold.test) == n


@draws(10)
@given(
    n=st.integers(6, 60), n_folds=st.integers(2, 6), seed=st.integers(0, 99), kind=st.sampled_from([classes, labels])
)
def test_cross_validation_is_a_partition(n, n_folds, seed, kind):
    data = kind(n, seed)
    folds = make_folds(data, "cross-validation", n_folds=n_folds, random_state=seed)
    assert len(folds) == n_folds
    check_partition(folds, n)


def test_classes_are_spread_evenly():
    data = classes(203, unlabelled=40)
    strata = np.array([str(value) for value in data.y])
    for test in deal_folds(data, 5, np.random.default_rng(1)):
        for level in ("a", "b", "c", "None"):
            assert abs(np.mean(strata[test] == level) - np.mean(strata == level)) < 0.02


def test_rare_labels_are_spread_evenly():
    data = labels(400)
    y = np.asarray(data.y)
    rare = int(y[:, 3].sum())
    counts = [int(y[test, 3].sum()) for test in deal_folds(data, 4, np.random.default_rng(1))]
    assert max(counts) - min(counts) <= 1, rare
    sizes = [len(test) for test in deal_folds(data, 4, np.random.default_rng(1))]
    assert max(sizes) - min(sizes) <= 4
    plain = [int(y[test, 3].sum()) for test in deal_folds(data, 4, np.random.default_rng(1), stratify=False)]
    assert max(plain) - min(plain) > 1


# spec: number of labelled training examples where the test fold is one of the first r, and otherwise
TABLE = {50: (6, 5, 5, 49, 50), 100: (12, 11, 1, 99, 100), 200: (23, 22, 2, 199, 200), 350: (39, 38, 8, 349, 350)}
TABLE[500] = (56, 55, 5, 499, 500)


def test_published_remainders():
    data = classes(1000)
    folds = make_folds(data, "semi-supervised", random_state=3)
    assert len(folds) == 50
    for n_labelled, (more, fewer, r, without, with_all) in TABLE.items():
        assert [labelled_in_fold(n_labelled, 10, i) for i in range(10)] == [more] * r + [fewer] * (10 - r)
        found = [fold for fold in folds if fold.n_labelled == n_labelled]
        assert [len(fold.labelled) for fold in found] == [without] * r + [with_all] * (10 - r)
        for fold in found:
            assert set(fold.labelled) <= set(fold.train)


def test_labelled_sets_are_nested():
    folds = make_folds(classes(1000), "semi-supervised", random_state=3)
    for i in range(10):
        same = [fold for fold in folds if fold.key.endswith(f"fold={i}")]
        assert [fold.n_labelled for fold in same] == list(LABELLED_COUNTS)
        for smaller, larger in pairwise(same):
            assert set(smaller.labelled) < set(larger.labelled)
            np.testing.assert_array_equal(smaller.test, larger.test)


def test_small_folds_are_wholly_labelled():
    data = classes(60, unlabelled=6)
    for fold in make_folds(data, "semi-supervised", labelled=500, random_state=0):
        assert set(fold.labelled) == set(fold.train[data.labelled[fold.train]])


def test_labels_are_hidden_in_training_only():
    data = classes(100)
    fold = make_folds(data, "semi-supervised", labelled=[20], n_folds=5, random_state=0)[0]
    train, test = fold.training(data), fold.testing(data)
    np.testing.assert_array_equal(fold.train[train.labelled], fold.labelled)
    assert test.labelled.all()
    assert fold.training_with_all_labels(data).labelled.all()


def test_semi_supervised_split_is_nested():
    data = classes(100)
    folds = make_folds(data, "predefined", test=slice(70, None), labelled=[5, 50, 90], random_state=0)
    assert [len(fold.labelled) for fold in folds] == [5, 50, 70]
    assert set(folds[0].labelled) < set(folds[1].labelled) <= set(range(70))
    assert folds[0].test.tolist() == list(range(70, 100))


def test_transductive():
    data = classes(100, unlabelled=10)
    folds = make_folds(data, "transductive", labelled=[10, 30], repetitions=2, random_state=0)
    assert len(folds) == 4
    for fold in folds:
        assert len(fold.train) == 100
        assert sorted([*fold.labelled, *fold.test]) == list(range(10, 100))
    with pytest.raises(ValueError, match="leave none to test"):
        make_folds(data, "transductive", labelled=90)


@pytest.mark.parametrize(
    ("scheme", "params", "expected"),
    [
        ("transductive", {"repetitions": 1}, [9, 90 - 1]),
        ("predefined", {"test": slice(60, None)}, [6, 59]),
        ("semi-supervised", {"n_folds": 3, "stratify": False}, [6, 59]),
    ],
)
def test_labelled_examples_may_be_given_as_shares_of_those_that_can_be_labelled(scheme, params, expected):
    data = classes(100 if scheme == "transductive" else 90, unlabelled=10 if scheme == "transductive" else 0)
    shares = [0.1, 0.99]
    folds = make_folds(data, scheme, labelled=shares, random_state=0, **params)
    assert sorted({fold.n_labelled for fold in folds}) == expected
    same = make_folds(data, scheme, labelled=expected, random_state=0, **params)
    assert [fold.key for fold in folds] == [fold.key for fold in same]
    for one, other in zip(folds, same, strict=True):
        assert one.labelled.tolist() == other.labelled.tolist()


def test_split_is_that_of_the_data_set():
    data = classes(90)
    folds = make_folds(data, "split", repetitions=3, random_state=1)
    assert [len(fold.train) for fold in folds] == [60, 60, 60]
    assert len({tuple(fold.test) for fold in folds}) == 3
    assert set(folds[0].train) | set(folds[0].test) == set(range(90))


def test_consecutive_blocks_of_the_published_shuffle():
    rows = list(range(23))
    random.seed(123)
    random.shuffle(rows)
    folds = make_folds(classes(23), "consecutive")
    assert [len(fold.test) for fold in folds] == [3, 3, 3, 2, 2, 2, 2, 2, 2, 2]
    assert folds[0].test.tolist() == sorted(rows[:3])
    check_partition(folds, 23)


@pytest.mark.parametrize("scheme", [name for name in SCHEMES if name != "consecutive"])
def test_seeds_decide(scheme):
    data = classes(120)
    params = {"test": [1, 2]} if scheme == "predefined" else {}
    if scheme in ("predefined", "semi-supervised", "transductive"):
        params["labelled"] = [20, 40]
    runs = []
    for seed in (5, 5, 6):
        folds = make_folds(data, scheme, **params, random_state=seed)
        assert len({fold.key for fold in folds}) == len(folds)
        runs.append([(f.key, f.train.tolist(), f.test.tolist(), np.array(f.labelled).tolist()) for f in folds])
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_first_repetitions_do_not_depend_on_later_ones():
    data = classes(50)
    few, many = (make_folds(data, "cross-validation", repetitions=r, random_state=0) for r in (1, 3))
    for a, b in zip(few, many, strict=False):
        assert a.key == b.key
        np.testing.assert_array_equal(a.test, b.test)


@pytest.mark.parametrize(
    ("scheme", "params", "message"),
    [
        ("bootstrap", {}, "scheme='bootstrap': choose one of cross-validation"),
        ("cross-validation", {"n_folds": 1}, "n_folds=1: choose"),
        ("cross-validation", {"n_folds": 31}, "from 2 to 30 .the number of examples"),
        ("cross-validation", {"folds": 3}, "has no parameter 'folds'"),
        ("predefined", {}, "needs the parameter 'test'"),
        ("predefined", {"test": slice(None)}, "both parts"),
        ("semi-supervised", {"labelled": [5, 5]}, "labelled=.*, each once"),
        ("semi-supervised", {"labelled": 0}, "labelled=0: choose"),
        ("semi-supervised", {"labelled": 1.5}, "labelled=1.5: choose"),
        ("transductive", {"labelled": [0.1, 0.1001]}, "two of these are the same number"),
        ("split", {"repetitions": 0}, "repetitions=0: choose"),
    ],
)
def test_mistakes_are_named(scheme, params, message):
    with pytest.raises(ValueError, match=message):
        make_folds(classes(30), scheme, **params)
