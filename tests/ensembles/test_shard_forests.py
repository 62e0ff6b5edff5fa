"""Forests on data that do not fit in memory: trees of random samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rankers.shard_files import LITTLE, frame_of, written

import omnirank as om
from draws import draws
from omnirank.errors import DataError, ParameterError
from omnirank.tasks import get_task

FEATURES = "a,b,c,d,e,n,town"
FRAME = frame_of()


def opened(folder, target, max_memory=LITTLE):
    return om.open_shards(folder, target, features=FEATURES, max_memory=max_memory)


def kind_of(target):
    return om.PCTForestClassifier if target in ("kind", "rare") or target.startswith("l1,l2") else om.PCTForestRegressor


def fitted(folder, target, **parameters):
    parameters = {"n_trees": 14, "random_state": 0} | parameters
    return kind_of(target)(**parameters).fit(opened(folder, target))


def means(forest):
    return forest.predict_means(om.Dataset(FRAME[FEATURES.split(",")]))


@pytest.mark.slow
@draws(1)
@given(
    cuts=st.lists(st.integers(0, 2000), max_size=6),
    group=st.sampled_from([37, 10**6]),
    n_jobs=st.sampled_from([1, 2]),
    target=st.sampled_from(["size", "kind"]),
)
def test_files_may_be_divided_in_any_way(tmp_path_factory, cuts, group, n_jobs, target):
    folder = tmp_path_factory.mktemp("shards")
    expected = means(fitted(written(folder / "whole", FRAME), target))
    found = fitted(written(folder / "parts", FRAME, cuts, group), target, n_jobs=n_jobs)
    assert np.array_equal(means(found), expected)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["size", "kind", "l1,l2,never", "size,width", "size,kind"])
def test_forests_predict_nearly_as_those_in_memory(tmp_path, target):
    folder = written(tmp_path / "parts", frame_of(seed=1).assign(never=0.0))
    new = om.load(written(tmp_path / "new", FRAME.assign(never=0.0)) / "000.parquet", target, features=FEATURES)
    found = fitted(folder, target, n_trees=40)
    expected = kind_of(target)(n_trees=40, random_state=0).fit(opened(folder, target, "1G"))
    assert found.target_names_ == expected.target_names_
    assert found.task_ == expected.task_
    assert found._had_missing == expected._had_missing
    assert np.allclose(found._column_spread, expected._column_spread)
    assert found.feature_importances_.argmax() == expected.feature_importances_.argmax() == 0
    if target != "size,kind":
        assert found.score(new) > 0.75 * expected.score(new)  # trees of a hundred examples


@pytest.mark.slow
def test_a_class_that_few_samples_have(tmp_path):
    frame = FRAME.copy()
    frame["rare"] = np.where(frame.index > 1992, "a", np.where(frame["a"] > 0, "b", "c"))
    found = fitted(written(tmp_path / "parts", frame), "rare")
    assert found.classes_.tolist() == ["a", "b", "c"]
    assert means(found).shape == (2000, 3)
    assert found.predict_proba(FRAME[FEATURES.split(",")])[1993:, 0].mean() > 0.05


@pytest.mark.slow
def test_a_constant_target_is_told_once(tmp_path):
    frame = FRAME.copy()
    frame["kind"] = "x"
    with pytest.warns(UserWarning, match="one class or value only") as told:
        found = fitted(written(tmp_path / "parts", frame), "kind")
    assert len(told) == 1
    assert (means(found) == 1).all()


@pytest.mark.every(12)
@pytest.mark.parametrize("supervision", ["auto", 1, 0.5])
def test_few_labels(tmp_path, supervision):
    frame = FRAME.copy()
    frame.loc[np.random.default_rng(1).random(len(frame)) > 0.1, "size"] = np.nan
    folder = written(tmp_path / "parts", frame)
    found = fitted(folder, "size", supervision=supervision, n_jobs=2)
    assert np.array_equal(means(found), means(fitted(folder, "size", supervision=supervision)))
    assert np.corrcoef(means(found)[:, 0], FRAME["size"])[0, 1] > 0.6


@pytest.mark.slow
def test_forests_are_written_and_read(tmp_path):
    found = fitted(written(tmp_path / "parts", FRAME), "kind")
    found.save(tmp_path / "forest.omr")
    assert np.array_equal(means(om.load_model(tmp_path / "forest.omr")), means(found))


@pytest.mark.slow
def test_the_first_trees_are_those_of_a_smaller_forest(tmp_path):
    folder = written(tmp_path / "parts", FRAME)
    few, many = fitted(folder, "size", n_trees=3), fitted(folder, "size")
    for one, other in zip(few.trees_, many.trees_, strict=False):
        assert np.array_equal(one.threshold, other.threshold, equal_nan=True)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["size", "kind", "l1,l2", "size,kind"])
def test_out_of_bag_error_is_that_of_new_examples(tmp_path, target):
    folder = written(tmp_path / "parts", FRAME)
    found = fitted(folder, target, n_trees=40, oob_score=True, n_jobs=2)
    assert found.oob_error_ == fitted(folder, target, n_trees=40, oob_score=True).oob_error_
    assert not hasattr(found, "oob_decision_function_")
    assert not hasattr(found, "oob_prediction_")
    new = om.load(written(tmp_path / "new", frame_of(seed=5)) / "000.parquet", target, features=FEATURES)
    task = get_task(found.task_)
    truth = task.columns(new.target, new.hierarchy)
    expected = task.error(truth, found.predict_means(new), truth)
    assert found.oob_error_ == pytest.approx(expected, rel=0.25)
    assert not hasattr(fitted(folder, target), "oob_error_")


@pytest.mark.slow
def test_out_of_bag_error_is_made_of_trees_that_have_not_seen_a_row(tmp_path, monkeypatch):
    """A class drawn at random cannot be told: trees that have seen a row would know it."""
    judged, given = om.PCTForestClassifier._judged_out_of_bag, []

    def judge(self, training, trees, seen):
        given.append(seen)
        return judged(self, training, trees, seen)

    monkeypatch.setattr(om.PCTForestClassifier, "_judged_out_of_bag", judge)
    frame = FRAME.assign(kind=np.random.default_rng(0).choice(["x", "y"], len(FRAME)))
    folder = written(tmp_path / "parts", frame)
    parameters = {"n_trees": 40, "oob_score": True, "min_samples_leaf": 1}
    assert abs(fitted(folder, "kind", **parameters).oob_error_ - 0.5) < 0.12
    shares = given.pop().mean(axis=1)
    own = np.flatnonzero(shares)
    assert 1 < len(own) < 10
    assert len(set(np.diff(own))) == 1  # every so many trees are of the first sample
    assert np.abs(shares[own] - (1 - np.exp(-1))).max() < 0.1
    frame.loc[np.random.default_rng(1).random(len(frame)) > 0.08, "kind"] = None
    folder = written(tmp_path / "few", frame)
    shared = fitted(folder, "kind", **parameters, supervision=0.9, min_labelled_leaf=1)
    assert abs(shared.oob_error_ - 0.5) < 0.15
    assert (given.pop().mean(axis=1) == 1).any()  # other samples have the same labelled rows


def test_what_is_for_data_in_memory(tmp_path):
    folder = written(tmp_path / "parts", FRAME)
    data = opened(folder, "size")
    with pytest.raises(ParameterError, match="y must not be given"):
        om.PCTForestRegressor().fit(data, np.zeros(2000))
    with pytest.raises(ParameterError, match=r"sample_weight is for data in memory: .*data\.take"):
        om.PCTForestRegressor().fit(data, sample_weight=np.ones(2000))
    with pytest.raises(DataError, match="PCTForestClassifier does not handle regression"):
        om.PCTForestClassifier().fit(data)
    with pytest.raises(DataError, match="needs a target"):
        om.PCTForestRegressor().fit(opened(folder, None))
    with pytest.raises(DataError, match="MB in memory, more than"):
        om.PCTForestRegressor().transduce(data)
    with pytest.raises(DataError, match="MB in memory, more than"):
        om.PCTRegressor().fit(data)
