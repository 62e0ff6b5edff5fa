"""How many trees are grown of data that do not fit in memory: as many as needed, within the time; which they are."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from tests.rankers.shard_files import LITTLE, frame_of, written

import omnirank as om
from omnirank.core.parallel import run_parallel
from omnirank.ensembles import sampled_growth
from omnirank.errors import ParameterError
from omnirank.rankers import _ensemble_in_parts as in_parts


@pytest.fixture
def shards(tmp_path):
    folder = written(tmp_path / "parts", frame_of(), [300, 1700])
    return om.open_shards(folder, "size", ignore="width,kind,l1,l2", max_memory=LITTLE)


@pytest.mark.slow
def test_trees_at_a_time_change_no_bit(shards):
    ranker = om.EnsembleRanker("genie3", n_trees="auto", checkpoints=[3, 20, 23], max_depth=3, random_state=0)
    auto = clone(ranker).fit(shards)
    assert auto.ranking_.parameters["n_samples"] > 1
    assert auto.n_trees_ > 23
    fixed = ranker.set_params(n_trees=auto.n_trees_).fit(shards)
    assert fixed.ranking_ == auto.ranking_
    assert fixed.checkpoints_ == auto.checkpoints_
    assert auto.certainty_.remark == ""


@pytest.mark.slow
def test_sums_so_far_are_sent_with_their_own_task_only(shards, monkeypatch):
    """What all tasks share goes to every worker of a cluster."""
    shared = []

    def run(function, items, *others, **options):
        shared.append(len(pickle.dumps(function)))
        return run_parallel(function, items, *others, **options)

    monkeypatch.setattr(sampled_growth, "run_parallel", run)
    om.EnsembleRanker("genie3", n_trees="auto", max_depth=3, random_state=0).fit(shards)
    assert len(shared) > 1
    assert max(shared) < min(shared) + 100


@pytest.mark.slow
def test_the_time_ends_it(shards, monkeypatch):
    clock = iter(np.arange(0, 1000, 10.0))

    class Clock:
        @staticmethod
        def monotonic():
            return next(clock)

    monkeypatch.setattr(in_parts, "time", Clock)
    ended = om.EnsembleRanker(n_trees=500, max_seconds=15, random_state=0).fit(shards)
    n_samples = ended.ranking_.parameters["n_samples"]
    assert ended.n_trees_ == 2 * max(10, n_samples)
    assert str(ended.certainty_).endswith("; the time ended before there were 500 trees")
    monkeypatch.undo()
    again = om.EnsembleRanker(n_trees=ended.n_trees_, random_state=0).fit(shards)
    assert again.ranking_ == ended.ranking_


@pytest.mark.slow
@pytest.mark.parametrize("parameter", [{"max_samples": 100}, {"max_memory": "1M"}])
def test_memory_is_a_matter_of_the_shards(shards, parameter):
    with pytest.raises(ParameterError, match="it is for data in memory"):
        om.EnsembleRanker(**parameter).fit(shards)
