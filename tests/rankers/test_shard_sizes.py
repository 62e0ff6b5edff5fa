"""How many trees are grown of data that do not fit in memory: as many as needed; which they are."""

from __future__ import annotations

import pytest
from sklearn.base import clone
from tests.rankers.shard_files import LITTLE, frame_of, written

import omnirank as om


@pytest.fixture
def shards(tmp_path):
    folder = written(tmp_path / "parts", frame_of(), [300, 1700])
    return om.open_shards(folder, "size", ignore="width,kind,l1,l2", max_memory=LITTLE)


@pytest.mark.slow
def test_trees_at_a_time_change_no_bit(shards):
    ranker = om.EnsembleRanker("genie3", n_trees="auto", max_depth=3, random_state=0)
    auto = clone(ranker).fit(shards)
    assert auto.ranking_.parameters["n_samples"] > 1
    assert auto.n_trees_ > 23
    fixed = clone(ranker).set_params(n_trees=auto.n_trees_).fit(shards)
    steps = ranker.set_params(n_trees=[3, 20, 23, auto.n_trees_]).fit(shards)
    assert fixed.ranking_ == auto.ranking_ == steps.ranking_
    assert steps.checkpoints_[auto.n_trees_]["genie3"] == fixed.ranking_
    assert auto.certainty_.remark == ""
