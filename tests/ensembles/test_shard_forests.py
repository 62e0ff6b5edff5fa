"""Forests on data that do not fit in memory: trees of random samples."""

from __future__ import annotations

import joblib
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.rankers.shard_files import LITTLE, frame_of, written

import omnirank as om
from omnirank.errors import DataError, ParameterError

FEATURES = "a,b,c,d,e,n,town"
FRAME = frame_of()


def opened(folder, target, max_memory=LITTLE):
    return om.open_shards(folder, target, features=FEATURES, max_memory=max_memory)


def kind_of(target):
    return om.PCTForestClassifier if target in ("kind", "l1,l2", "rare") else om.PCTForestRegressor


def fitted(folder, target, **parameters):
    parameters = {"n_trees": 14, "random_state": 0} | parameters
    return kind_of(target)(**parameters).fit(opened(folder, target))


def means(forest):
    return forest.predict_means(om.Dataset(FRAME[FEATURES.split(",")]))


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


def test_processes_give_the_bits_of_threads(tmp_path):
    folder = written(tmp_path / "parts", FRAME, [700])
    expected = means(fitted(folder, "size"))
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert np.array_equal(means(fitted(folder, "size")), expected)


@pytest.mark.parametrize("target", ["size", "kind", "l1,l2", "size,width", "size,kind"])
def test_forests_predict_nearly_as_those_in_memory(tmp_path, target):
    folder = written(tmp_path / "parts", frame_of(seed=1))
    new = om.load(written(tmp_path / "new", FRAME) / "000.parquet", target, features=FEATURES)
    found = fitted(folder, target, n_trees=40)
    expected = kind_of(target)(n_trees=40, random_state=0).fit(opened(folder, target, "1G"))
    assert found.target_names_ == expected.target_names_
    assert found.task_ == expected.task_
    assert found._had_missing == expected._had_missing
    assert np.allclose(found._column_spread, expected._column_spread)
    assert found.feature_importances_.argmax() == expected.feature_importances_.argmax() == 0
    if target != "size,kind":
        assert found.score(new) > 0.75 * expected.score(new)  # trees of a hundred examples


def test_a_class_that_few_samples_have(tmp_path):
    frame = FRAME.copy()
    frame["rare"] = np.where(frame.index > 1992, "a", np.where(frame["a"] > 0, "b", "c"))
    found = fitted(written(tmp_path / "parts", frame), "rare")
    assert found.classes_.tolist() == ["a", "b", "c"]
    assert means(found).shape == (2000, 3)
    assert found.predict_proba(FRAME[FEATURES.split(",")])[1993:, 0].mean() > 0.05


def test_a_constant_target_is_told_once(tmp_path):
    frame = FRAME.copy()
    frame["kind"] = "x"
    with pytest.warns(UserWarning, match="one class or value only") as told:
        found = fitted(written(tmp_path / "parts", frame), "kind")
    assert len(told) == 1
    assert (means(found) == 1).all()


@pytest.mark.parametrize("supervision", ["auto", 1, 0.5])
def test_few_labels(tmp_path, supervision):
    frame = FRAME.copy()
    frame.loc[np.random.default_rng(1).random(len(frame)) > 0.1, "size"] = np.nan
    folder = written(tmp_path / "parts", frame)
    found = fitted(folder, "size", supervision=supervision, n_jobs=2)
    assert np.array_equal(means(found), means(fitted(folder, "size", supervision=supervision)))
    assert np.corrcoef(means(found)[:, 0], FRAME["size"])[0, 1] > 0.6


def test_forests_are_written_and_read(tmp_path):
    found = fitted(written(tmp_path / "parts", FRAME), "kind")
    found.save(tmp_path / "forest.omr")
    assert np.array_equal(means(om.load_model(tmp_path / "forest.omr")), means(found))


def test_the_first_trees_are_those_of_a_smaller_forest(tmp_path):
    folder = written(tmp_path / "parts", FRAME)
    few, many = fitted(folder, "size", n_trees=3), fitted(folder, "size")
    for one, other in zip(few.trees_, many.trees_, strict=False):
        assert np.array_equal(one.threshold, other.threshold, equal_nan=True)


def test_what_is_for_data_in_memory(tmp_path):
    folder = written(tmp_path / "parts", FRAME)
    for name in ("oob_score", "warm_start"):
        with pytest.raises(ParameterError, match=f"{name}=True: it is for data in memory"):
            fitted(folder, "size", **{name: True})
    data = opened(folder, "size")
    with pytest.raises(ParameterError, match="y must not be given"):
        om.PCTForestRegressor().fit(data, np.zeros(2000))
    with pytest.raises(ParameterError, match="sample_weight is for data in memory"):
        om.PCTForestRegressor().fit(data, sample_weight=np.ones(2000))
    with pytest.raises(DataError, match="PCTForestClassifier does not handle regression"):
        om.PCTForestClassifier().fit(data)
    with pytest.raises(DataError, match="needs a target"):
        om.PCTForestRegressor().fit(opened(folder, None))
    with pytest.raises(DataError, match="MB in memory, more than"):
        om.PCTForestRegressor().transduce(data)
    with pytest.raises(DataError, match="MB in memory, more than"):
        om.PCTRegressor().fit(data)
