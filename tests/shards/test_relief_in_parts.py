"""Relief of examples in parts that do not fit in memory: the bits of the same examples in memory."""

from __future__ import annotations

import logging
import tracemalloc
import warnings

import joblib
import numpy as np
import pandas as pd
import pyarrow.dataset as pads
import pytest
from hypothesis import given
from hypothesis import strategies as st

import omnirank as om
from draws import draws
from omnirank.errors import DataError
from omnirank.relief.in_parts import target_facts
from shards.test_sharded_dataset import frame_of, written

TARGETS = ["kind", "count", "size", "l1,l2", "kind,count", "size,a", "size,kind", "wet", None]


def both(parts, target=None, max_memory=20_000, **options):
    """The data in memory, and the same that do not fit."""
    streamed = om.open_shards(parts, target, max_memory=max_memory, **options)
    assert not streamed.fits_in_memory
    return om.open_shards(parts, target, max_memory="1G", **options), streamed


def in_both(parts, target=None, max_memory=20_000, **parameters):
    """Rankers that were fitted to the data in memory and to the same that do not fit; their bits are the same."""
    fits = [fitted(om.ReliefRanker(random_state=0, **parameters), data) for data in both(parts, target, max_memory)]
    same_bits(fits[1].ranking_, fits[0].ranking_)
    assert (fits[0].algorithm_, fits[0].influence_) == (fits[1].algorithm_, fits[1].influence_)
    return fits


def same_bits(found, expected):
    assert np.array_equal(found.scores, expected.scores)
    assert found.state.to_json() == expected.state.to_json()
    assert found.seeds == expected.seeds
    assert found.parameters == expected.parameters
    assert (found.per_target is None) == (expected.per_target is None)
    if expected.per_target is not None:
        assert np.array_equal(found.per_target.scores, expected.per_target.scores)


def fitted(ranker, data):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*all Relief scores are 0")
        return ranker.fit(data)


def test_classes_are_counted_over_all_parts(tmp_path):
    frame = frame_of(60)
    parts, _ = written(tmp_path, frame, [20, 35])
    found = target_facts(both(parts, "kind", 2_000)[1])
    assert found.class_counts.tolist() == [(frame["kind"] == kind).sum() for kind in ("x", "y")]
    assert found.n_labelled == frame["kind"].notna().sum() < 60


@pytest.mark.slow
@draws(3)
@given(
    n=st.integers(20, 120),
    cuts=st.lists(st.integers(0, 90), max_size=5),
    missing=st.sampled_from([0.0, 0.2, 0.9]),
    target=st.sampled_from(TARGETS),
    influence=st.sampled_from(["auto", None, (0.0, 1.0), (0.25, 0.5)]),
    memory=st.sampled_from([1000, 5000, 10**9]),
    seed=st.integers(0, 5),
    iterations=st.sampled_from([1.0, 0.4, [3, 10]]),
    neighbors=st.sampled_from([None, 3, [1, 5]]),
    more=st.sampled_from([{}, {"missing": "distant"}, {"per_target": True}, {"sigma": 0.3}]),
)
def test_parts_give_the_bits_of_the_whole(
    tmp_path_factory, n, cuts, missing, target, influence, memory, seed, iterations, neighbors, more
):
    parts, _ = written(tmp_path_factory.mktemp("shards"), frame_of(n, seed, missing), [min(cut, n) for cut in cuts])
    whole, streamed = om.open_shards(parts, target, max_memory="1G"), om.open_shards(parts, target)
    streamed.source.max_memory = min(memory, streamed.n_bytes - 1)
    ranker = om.ReliefRanker(
        n_iterations=iterations, n_neighbors=neighbors, influence=influence, random_state=seed, **more
    )
    try:
        expected = fitted(ranker, whole)
    except DataError as error:
        with pytest.raises(DataError, match=str(error)[:40].replace("(", ".")):
            fitted(om.ReliefRanker(**ranker.get_params()), streamed)
        return
    try:
        found = fitted(om.ReliefRanker(**ranker.get_params()), streamed)
    except DataError as error:
        assert "labelled ones, and these take" in str(error)  # noqa: PT017
        return
    assert found.checkpoints_.keys() == expected.checkpoints_.keys()
    for key, ranking in expected.checkpoints_.items():
        same_bits(found.checkpoints_[key], ranking)
    assert (found.algorithm_, found.influence_) == (expected.algorithm_, expected.influence_)


@pytest.mark.slow
def test_anchors_and_neighbours_none_of_which_is_labelled(tmp_path):
    """They count by their distance to labelled examples that are not among them."""
    parts, _ = written(tmp_path, frame_of(55, 0, 0.9), [42, 50])
    in_both(parts, "kind", 5000, n_iterations=[3, 10], n_neighbors=3)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("influence", ["auto", (0.5, 1.0)])
def test_every_task_with_few_labels(tmp_path, target, influence):
    frame = frame_of(300, missing=0.3)
    names = [] if target is None else target.split(",")
    for name in names:
        frame[name] = frame[name].where(np.arange(300) % 8 == 0)
    parts, _ = written(tmp_path, frame, [40, 40, 200])
    in_memory, _ = in_both(parts, target, 35_000, influence=influence, n_iterations=0.5, per_target=True)
    if influence == "auto":
        assert in_memory.influence_ is None
    elif target is not None:
        assert in_memory.influence_ == (0.5, 1.0)


@pytest.mark.slow
def test_fewer_labels_than_can_be_left_alone(tmp_path):
    frame = frame_of(200, missing=0.1)
    frame["kind"] = frame["kind"].where(np.arange(200) % 40 == 3)
    parts, _ = written(tmp_path, frame, [40, 90])
    in_memory, _ = in_both(parts, "kind", n_iterations=50)
    assert in_memory.influence_ == (0.0, 1.0)


def test_labelled_examples_that_do_not_fit_are_refused(tmp_path):
    parts, _ = written(tmp_path, frame_of(200, missing=0.3), [90])
    _, streamed = both(parts, "kind")
    with pytest.raises(DataError, match=r"labelled ones, and these take .* MB, more than half of max_memory=20000"):
        om.ReliefRanker(influence=(0.0, 1.0), n_iterations=10).fit(streamed)


@pytest.mark.every(8)
@pytest.mark.parametrize("algorithm", ["relieff", "rrelieff"])
def test_registered_forms(tmp_path, algorithm):
    parts, _ = written(tmp_path, frame_of(200, missing=0.3), [40, 90])
    in_memory, _ = in_both(parts, "kind", algorithm=algorithm, n_iterations=50)
    assert in_memory.algorithm_ == algorithm


@pytest.mark.every(5)
@pytest.mark.parametrize("distance", ["auto", "euclidean-mu", "hamming"])
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_hierarchies(tmp_path, distance, missing):
    hierarchy = om.Hierarchy(("p", "q", "r", "s"), ((), (0,), (0,), (2,)))
    rng = np.random.default_rng(0)
    labels = hierarchy.close(rng.random((150, 4)) < 0.3).astype(float)
    labels[100:] *= [1, 1, 0, 0]  # the deepest labels are in one part only
    labels[rng.random(150) < missing] = np.nan
    data = om.Dataset(rng.normal(size=(150, 3)), labels, hierarchy=hierarchy, feature_names=["a", "b", "c"])
    for i, rows in enumerate((slice(0, 90), slice(90, 150))):
        om.write_parquet(data.take(rows), tmp_path / f"{i}.parquet")
    in_both(tmp_path, max_memory=5000, target_distance=distance, n_iterations=[5, 30])


def test_target_ranges_are_those_of_all(tmp_path):
    """The largest target belongs to an example that is nobody's neighbour."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    frame["y"] = frame["a"] + rng.normal(size=200)
    frame.loc[77] = [90.0, -90.0, 90.0, 1e4]
    parts, _ = written(tmp_path, frame, [100])
    in_both(parts, "y", 5000, n_neighbors=3, n_iterations=20)


@pytest.mark.slow
def test_single_precision_and_large_offsets(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 4)).astype(np.float32), columns=list("abcd"))
    frame["a"] = (frame["a"] * 1e-2 + 1e6).astype(np.float32)  # many ties
    parts, _ = written(tmp_path, frame, [10, 150])
    in_both(parts, "d", 3000, n_iterations=60)


@pytest.mark.every(8)
@pytest.mark.parametrize("missing", [0.0, 0.9])
def test_parameters_that_the_data_choose(tmp_path, missing):
    frame = frame_of(150, missing=0.1)
    frame["kind"] = frame["kind"].where(np.random.default_rng(0).random(150) >= missing)
    parts, _ = written(tmp_path, frame, [50])
    fits = in_both(parts, "kind", max_memory=40_000, n_neighbors="auto", influence="cv", n_iterations=40)
    assert fits[0].losses_ == fits[1].losses_


@pytest.mark.slow
def test_parameters_are_chosen_on_a_sample(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("omnirank.rankers.relief._MOST_SAMPLED", 60)
    monkeypatch.setattr("omnirank.rankers.relief._FEWEST_SAMPLED", 60)
    frame = frame_of(300, missing=0.1)
    frame["kind"] = frame["kind"].where(np.arange(300) % 5 == 0)
    parts, _ = written(tmp_path, frame, [50])
    _, streamed = both(parts, "kind")
    with caplog.at_level(logging.INFO, "omnirank"):
        found = [om.ReliefRanker("rrelieff", "auto", 20, random_state=s).fit(streamed) for s in (0, 0, 1)]
    assert "parameters are chosen on a sample of 60 examples" in caplog.text
    assert found[0].losses_ == found[1].losses_ != found[2].losses_
    assert np.array_equal(found[0].feature_importances_, found[1].feature_importances_)


@pytest.mark.every(8)
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_workers_change_no_bit(tmp_path, backend):
    parts, _ = written(tmp_path, frame_of(300), [40, 90, 130, 200, 260])
    _, streamed = both(parts, "kind")
    expected = om.ReliefRanker(n_iterations=150, random_state=0).fit(streamed)
    with joblib.parallel_config(backend, n_jobs=2):
        found = om.ReliefRanker(n_iterations=150, random_state=0).fit(streamed)
    same_bits(found.ranking_, expected.ranking_)


@pytest.mark.slow
def test_all_examples_are_a_thousand_beyond_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("omnirank.rankers.relief._MOST_ANCHORS", 100)
    parts, _ = written(tmp_path, frame_of(300), [40, 90])
    whole, streamed = both(parts, "size")
    with pytest.warns(UserWarning, match=r"the neighbours of 100 of them, .*, not those of all \d+ \(n_iterations=1.0"):
        found = om.ReliefRanker(n_iterations=[30, 1.0], random_state=0).fit(streamed)
    assert [m for m, _ in found.checkpoints_] == [30, 100]
    expected = om.ReliefRanker(n_iterations=[30, 100], random_state=0).fit(whole)
    same_bits(found.ranking_, expected.ranking_)
    n = om.ReliefRanker(n_iterations=300, random_state=0).fit(streamed).n_iterations_  # a number is a number
    assert n == om.load(tmp_path / "whole.parquet", "size").labelled.sum()


@pytest.mark.slow
def test_the_passes_are_told(tmp_path, caplog):
    parts, _ = written(tmp_path, frame_of(300), [40, 90])
    _, streamed = both(parts, "l1,l2", max_memory=2000)
    with caplog.at_level(logging.INFO, "omnirank"):
        om.ReliefRanker(n_iterations=150, random_state=0).fit(streamed)
    assert "150 examples in 3 blocks: their neighbours take 3 passes over the shards" in caplog.text


@pytest.mark.slow
def test_a_shard_that_changes_is_named(tmp_path):
    parts, _ = written(tmp_path, frame_of(100), [40])
    _, streamed = both(parts, "l1,l2", max_memory=2000)
    frame_of(11, seed=3).to_parquet(parts / "001.parquet")
    with pytest.raises(DataError, match=r"shard .*001.parquet has changed since it was opened"):
        om.ReliefRanker(n_iterations=10).fit(streamed)


@pytest.mark.slow
def test_a_pyarrow_dataset(tmp_path):
    parts, whole = written(tmp_path, frame_of(120), [40])
    expected = om.ReliefRanker(n_iterations=30, random_state=0).fit(om.load(whole, "size"))
    streamed = om.open_shards(pads.dataset(parts), "size", max_memory=5000)
    assert not streamed.fits_in_memory
    found = om.ReliefRanker(n_iterations=30, random_state=0, n_jobs=2).fit(streamed)
    assert np.array_equal(found.feature_importances_, expected.feature_importances_)


@pytest.mark.slow
def test_memory_is_bounded(tmp_path):
    rng = np.random.default_rng(0)
    for i in range(4):
        frame = pd.DataFrame(rng.normal(size=(10_000, 20))).rename(columns=str)
        frame["y"] = np.where(frame["0"] + rng.normal(size=10_000) > 0, "a", "b")
        frame.to_parquet(tmp_path / f"{i}.parquet", index=False)
    allowed = 2 * 2**20
    data = om.open_shards(tmp_path, "y", max_memory=allowed)
    assert data.n_bytes > 6 * allowed
    ranker = om.ReliefRanker(n_iterations=100, n_neighbors=5, random_state=0)
    ranker.fit(data)  # what is compiled once is not counted
    tracemalloc.start()
    try:
        ranker.fit(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < allowed
