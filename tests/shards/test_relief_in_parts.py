"""Samples of data in parts that do not fit in memory, and Relief of such samples."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from shards.test_sharded_dataset import assert_same, both, frame_of, written


@pytest.mark.parametrize(("target", "share"), [("kind", 1.0), ("kind", 0.2), ("l1,l2", 1.0), (None, 1.0)])
def test_a_sample_is_drawn_from_all_parts_and_has_labelled_examples(tmp_path, target, share):
    frame = frame_of(400, missing=0.1)
    frame["n"] = np.arange(400)  # tells which rows were drawn
    frame["kind"] = frame["kind"].where(np.random.default_rng(0).random(400) < share)
    parts, _ = written(tmp_path, frame, [100, 130, 300])
    whole, streamed = both(parts, target, 90_000)
    without = np.arange(0, 400, 9)
    found = streamed.sample(3, without)
    rows = found.features.column(found.feature_names.index("n")).astype(int)
    assert found.n_examples == 90_000 * 400 // streamed.n_bytes_of_fit < 300
    assert_same(found, whole.read().take(rows))
    assert (np.diff(rows) > 0).all()
    assert not np.isin(rows, without).any()
    assert np.histogram(rows, [0, 100, 200, 300, 400])[0].min() > 0.1 * len(rows)
    left = np.delete(whole.labelled, without).sum()
    assert found.labelled.sum() >= min(left, found.n_examples // 2)
    assert_same(streamed.sample(3, without), found)
    assert not np.array_equal(streamed.sample(4, without).features.column(1), found.features.column(1))
    assert_same(whole.sample(3), whole.read())
    assert_same(whole.sample(3, without), whole.read().take(np.delete(np.arange(400), without)))


@pytest.mark.every(3)
@pytest.mark.parametrize("target", ["kind", "size", "l1,l2", "size,kind", None])
@pytest.mark.parametrize("algorithm", ["auto", "relieff"])
def test_relief_ranks_a_sample(tmp_path, target, algorithm):
    if algorithm == "relieff" and target != "kind":
        return
    parts, _ = written(tmp_path, frame_of(300, missing=0.2), [40, 90])
    _, streamed = both(parts, target, 60_000)
    ranker = om.ReliefRanker(algorithm, n_iterations=50, per_target=True, random_state=7)
    expected = om.ReliefRanker(**ranker.get_params()).fit(streamed.sample(7)).ranking_
    found = ranker.fit(streamed).ranking_
    assert np.array_equal(found.scores, expected.scores)
    assert found.parameters == expected.parameters
    assert found.fingerprint == streamed.fingerprint
    assert found.constant == streamed.constant


@pytest.mark.slow
def test_all_examples_are_a_thousand_beyond_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("omnirank.rankers.relief._MOST_ITERATIONS", 30)
    parts, _ = written(tmp_path, frame_of(300, missing=0.0), [40, 90])
    _, streamed = both(parts, "size", 60_000)
    n = streamed.sample(0).n_examples
    assert n > 40
    with pytest.warns(UserWarning, match=rf"the neighbours of 30 of them are looked at, among {n} .*n_iterations=1.0"):
        found = om.ReliefRanker(n_iterations=[20, 1.0], random_state=0).fit(streamed)
    assert [m for m, _ in found.checkpoints_] == [20, 30]
    assert om.ReliefRanker(n_iterations=n, random_state=0).fit(streamed).n_iterations_ == n  # a number is a number


@pytest.mark.slow
def test_memory_is_bounded(tmp_path):
    rng = np.random.default_rng(0)
    for i in range(4):
        frame = pd.DataFrame(rng.normal(size=(10_000, 20))).rename(columns=str)
        frame["y"] = np.where(frame["0"] + rng.normal(size=10_000) > 0, "a", "b")
        frame.to_parquet(tmp_path / f"{i}.parquet", index=False)
    allowed = 4 * 2**20
    data = om.open_shards(tmp_path, "y", max_memory=allowed)
    assert data.n_bytes > 3 * allowed
    ranker = om.ReliefRanker(n_iterations=100, n_neighbors=5, random_state=0)
    ranker.fit(data)  # what is compiled once is not counted
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ranker.fit(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < allowed
