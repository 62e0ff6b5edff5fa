"""Rankings by trees of data that do not fit in memory: random samples, whatever the files are like."""

from __future__ import annotations

import gc
import weakref

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rankers.shard_files import LITTLE, frame_of, opened, written

import omnirank as om
from draws import draws
from omnirank.ensembles.run import AskedLevel, growing_samples
from omnirank.ensembles.supervision import Supervision
from omnirank.errors import ConstantTargetError, DataError
from omnirank.shards.dealing import DealtRows, deal_rows
from omnirank.shards.samples import Samples, samples_within
from omnirank.shards.source import ShardSource


def ranked(folder, target="size", max_memory=LITTLE, n_jobs=None, **parameters):
    parameters = {"n_trees": 12, "random_state": 0} | parameters
    return om.EnsembleRanker(n_jobs=n_jobs, **parameters).fit(opened(folder, target, max_memory))


def same_bits(found, expected):
    assert found.names == expected.names
    assert np.array_equal(found.scores, expected.scores)
    assert np.array_equal(found.standard_errors, expected.standard_errors)
    assert found.parameters == expected.parameters
    assert found.seeds == expected.seeds


# -- samples ----------------------------------------------------------------------------------------------


@pytest.mark.every(16)
@pytest.mark.parametrize("target", ["size", "kind", "l1,l2", None])
def test_every_row_is_in_one_sample_as_it_is(tmp_path, target):
    frame = frame_of()
    data = opened(written(tmp_path / "parts", frame, [300, 300, 1500], group=128), target)
    samples = growing_samples(data, 0, "auto")
    dealt = deal_rows(data, samples, range(samples.n_samples), tmp_path)
    rows = np.arange(len(frame))
    groups = samples.groups(rows, np.full(len(frame), target is not None))
    for sample in range(samples.n_samples):
        found, expected = dealt.read(sample), data.take(rows[groups == sample])
        assert found.fingerprint == expected.fingerprint
        assert found.task == data.task
    sizes = np.bincount(groups, minlength=samples.n_samples)
    assert sizes.sum() == len(frame)
    assert samples.n_samples > 5
    assert abs(sizes - sizes.mean()).max() < 6 * np.sqrt(sizes.mean())


@pytest.mark.slow
@pytest.mark.every(16)
@pytest.mark.parametrize("at_once", [1, 3, 6])
@pytest.mark.parametrize("target", ["size", "l1,l2", None])
def test_samples_are_the_same_if_some_columns_are_read_at_a_time(tmp_path, monkeypatch, target, at_once):
    frame = frame_of()
    frame.loc[::3, "size"] = np.nan
    data = opened(written(tmp_path / "parts", frame, [300, 300, 1500], group=128), target)
    samples = growing_samples(data, 0, "auto")
    (tmp_path / "all").mkdir()
    monkeypatch.setattr(ShardSource, "columns_at_once", data.n_features + data.n_targets)
    whole = deal_rows(data, samples, range(samples.n_samples), tmp_path / "all")
    monkeypatch.setattr(ShardSource, "columns_at_once", at_once)
    (tmp_path / "some").mkdir()
    some = deal_rows(data, samples, range(samples.n_samples), tmp_path / "some")
    assert len(some.pieces) > len(whole.pieces)
    for sample in range(samples.n_samples):
        assert some.read(sample).fingerprint == whole.read(sample).fingerprint


def test_few_labelled_rows_are_in_all_samples():
    samples = samples_within(10**6, 1000, 0, n_labelled=100, n_unlabelled=10**5)
    assert samples.n_labelled == 1
    assert samples.n_unlabelled * 400 >= 10**5
    many = samples_within(10**6, 1000, 0, n_labelled=2000, n_unlabelled=10**5)
    assert (many.n_labelled, many.n_unlabelled % many.n_labelled) == (8, 0)


@given(seed=st.integers(0, 2**64 - 1), n=st.integers(1, 50))
def test_groups_depend_on_nothing_but_the_number_of_the_row(seed, n):
    rows, labelled = np.arange(200), np.arange(200) % 3 > 0
    whole = Samples(seed, n, 3).groups(rows, labelled)
    assert np.array_equal(whole[70:90], Samples(seed, n, 3).groups(rows[70:90], labelled[70:90]))
    assert set(whole[labelled]) <= set(range(n))
    assert set(whole[~labelled]) <= {n, n + 1, n + 2}


# -- rankings ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@draws(1)
@given(
    cuts=st.lists(st.integers(0, 2000), max_size=6),
    group=st.sampled_from([37, 500, 10**6]),
    missing=st.sampled_from([0.0, 0.3]),
    n_jobs=st.sampled_from([1, 2, 3]),
    target=st.sampled_from(["size", "kind", "size,width"]),
)
def test_files_may_be_divided_in_any_way(tmp_path_factory, cuts, group, missing, n_jobs, target):
    folder = tmp_path_factory.mktemp("shards")
    frame = frame_of(missing=missing)
    expected = ranked(written(folder / "whole", frame), target)
    assert expected.ranking_.parameters["n_samples"] > 5
    found = ranked(written(folder / "parts", frame, cuts, group), target, n_jobs=n_jobs)
    same_bits(found.ranking_, expected.ranking_)
    same_bits(found.rankings_["genie3"], expected.rankings_["genie3"])


@pytest.mark.slow
def test_batches_change_nothing(tmp_path, monkeypatch):
    folder = written(tmp_path / "parts", frame_of(), [700])
    expected = ranked(folder).ranking_
    monkeypatch.setattr("omnirank.shards.dealing._BATCH_ROWS", 17)
    monkeypatch.setattr("omnirank.shards.dealing._BACK_BYTES", 100)
    assert ranked(folder).ranking_ == expected


@pytest.mark.slow
def test_trees_at_a_time_change_no_bit(tmp_path):
    folder, options = written(tmp_path / "parts", frame_of(), [300, 1700]), {"importance": "genie3", "max_depth": 3}
    auto = ranked(folder, n_trees="auto", **options)
    assert auto.ranking_.parameters["n_samples"] > 1
    assert auto.n_trees_ > 23
    assert auto.certainty_.remark == ""
    steps = ranked(folder, n_trees=[3, 20, 23, auto.n_trees_], **options)
    assert ranked(folder, n_trees=auto.n_trees_, **options).ranking_ == auto.ranking_ == steps.ranking_
    assert steps.checkpoints_[auto.n_trees_]["genie3"] == auto.ranking_


@pytest.mark.slow
def test_processes_give_the_bits_of_threads(tmp_path):
    folder = written(tmp_path / "parts", frame_of(), [700])
    expected = ranked(folder).ranking_
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert ranked(folder).ranking_ == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "ensemble"),
    [("size", "extra-trees"), ("kind", "random-forest"), ("l1,l2", "extra-trees"), ("size,kind", "random-forest")],
)
def test_the_features_that_matter_are_found_in_sorted_files(tmp_path, target, ensemble):
    frame = frame_of(4000, missing=0.05)
    found = ranked(written(tmp_path / "parts", frame, [1000, 2000, 3000]), target, n_trees=30, ensemble=ensemble)
    assert set(found.ranking_.top(3)) == {"a", "b", "town"}
    assert found.n_trees_ == 30
    assert (found.ranking_.standard_errors > 0).all()


@pytest.mark.every(8)
@pytest.mark.parametrize("importance", ["genie3", "symbolic", "permutation", "unbiased"])
def test_all_scores(tmp_path, importance):
    frame = frame_of()
    folder = written(tmp_path / "parts", frame)
    found = ranked(folder, importance=importance, per_target=importance != "symbolic", n_trees=20, n_jobs=2)
    expected = om.EnsembleRanker(importance, n_trees=20, random_state=0).fit(opened(folder, max_memory="1G"))
    assert np.corrcoef(found.ranking_.scores, expected.ranking_.scores)[0, 1] > 0.85
    if importance != "symbolic":
        assert np.allclose(found.ranking_.per_target.scores.sum(axis=0), found.ranking_.scores)


def test_unsupervised(tmp_path):
    frame = frame_of()
    frame["c"] = frame["a"] + 0.1 * frame["c"]
    folder = written(tmp_path / "parts", frame)
    found = ranked(folder, None, n_trees=20)
    assert set(found.ranking_.top(2)) == {"a", "c"}
    assert found.supervision_ == 0


@pytest.mark.every(3)
@pytest.mark.parametrize("supervision", ["auto", 1, 0.5])
def test_few_labels(tmp_path, supervision):
    frame = frame_of(1200)
    rng = np.random.default_rng(1)
    frame.loc[rng.random(len(frame)) > 0.07, "size"] = np.nan
    folder = written(tmp_path / "parts", frame, [900])
    found = ranked(folder, n_trees=24, supervision=supervision, n_jobs=2)
    assert found.ranking_.top(1) == ["a"]
    same_bits(ranked(folder, n_trees=24, supervision=supervision).ranking_, found.ranking_)
    if supervision == 1:
        assert found.ranking_.parameters["n_samples"] == 1  # all labelled rows fit
    if supervision == 0.5:
        assert found.ranking_.parameters["n_samples"] > 5


@pytest.mark.slow
@pytest.mark.parametrize("level", [Supervision(1.0, ""), Supervision(0.5, "")])
def test_a_sample_leaves_memory_before_the_next_comes(tmp_path, monkeypatch, level):
    """Without a collection of the garbage, which takes a second in a process that holds much."""
    frame = frame_of(1200)
    frame.loc[np.random.default_rng(1).random(len(frame)) > 0.4, "size"] = np.nan
    folder = written(tmp_path / "parts", frame)
    read, known, beside = DealtRows.read, [], []

    def noted(self, number):
        beside.append(sum(sample() is not None for sample in known))
        found = read(self, number)
        known.append(weakref.ref(found))
        return found

    monkeypatch.setattr(DealtRows, "read", noted)
    monkeypatch.setattr(AskedLevel, "of", lambda _, data: (level, data))
    gc.disable()
    try:
        ranked(folder, max_memory=100_000, n_trees=8, n_jobs=1)
    finally:
        gc.enable()
    assert len(known) > 3
    assert not any(beside)


@pytest.mark.slow
def test_a_class_that_few_samples_have(tmp_path):
    frame = frame_of()
    frame["kind"] = np.where(frame.index > len(frame) - 8, "rare", "frequent")
    found = ranked(written(tmp_path / "parts", frame), "kind", importance="genie3")
    assert found.n_undefined_ > 0
    assert (found.ranking_.scores > 0).any()
    frame["kind"] = "frequent"
    with pytest.raises(ConstantTargetError, match="one class or value only"):
        ranked(written(tmp_path / "others", frame), "kind")


@pytest.mark.slow
def test_trees_of_two_machines_merge(tmp_path):
    folder = written(tmp_path / "parts", frame_of())
    first, second = (ranked(folder, n_trees=n, random_state=seed).ranking_ for n, seed in ((9, 0), (16, 1)))
    merged = first.merge(second)
    for part in ("mean", "root", "other_mean"):
        parts = getattr(first.state, part), getattr(second.state, part)
        assert np.allclose(getattr(merged.state, part), (9 * parts[0] + 16 * parts[1]) / 25, rtol=1e-12)
    with pytest.raises(DataError, match="n_samples"):
        first.merge(ranked(folder, n_trees=16, random_state=1, max_memory=100_000).ranking_)


@pytest.mark.slow
def test_what_is_for_data_in_memory(tmp_path):
    folder = written(tmp_path / "parts", frame_of())
    with pytest.raises(DataError, match=r"room for samples of \d examples.*at least max_memory=\d+, or take some"):
        ranked(folder, max_memory=5000)


@pytest.mark.slow
def test_a_target_without_any_known_value(tmp_path):
    frame = frame_of()
    frame["size"] = np.nan
    assert ranked(written(tmp_path / "parts", frame), n_trees=2).supervision_ == 0
    frame["size"] = pd.array([pd.NA] * len(frame), "Int64")
    with pytest.raises(DataError, match="no example of 'others' has a known target value"):
        ranked(written(tmp_path / "others", frame))
