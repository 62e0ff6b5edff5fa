"""Relief of examples in parts that do not fit in memory: the bits of the same examples in memory."""

from __future__ import annotations

import logging
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import omnirank as om
from omnirank.errors import DataError, ParameterError
from shards.test_sharded_dataset import frame_of, written

RELIEF = {"relief": {}, "rrelieff": {"algorithm": "rrelieff"}, "relieff": {"algorithm": "relieff"}}


def both(parts, target, max_memory=3000, task="auto"):
    """The data in memory, and the same that do not fit."""
    streamed = om.open_shards(parts, target, max_memory=max_memory, task=task)
    assert not streamed.fits_in_memory
    return om.open_shards(parts, target, max_memory="1G", task=task), streamed


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


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    n=st.integers(20, 90),
    cuts=st.lists(st.integers(0, 90), max_size=5),
    missing=st.sampled_from([0.0, 0.2, 0.7]),
    target=st.sampled_from(["kind", "count", "size", "l1,l2", "kind,count", "size,a", "size,kind", "wet", None]),
    influence=st.sampled_from(["auto", None, (0.0, 1.0), (0.25, 0.5)]),
    memory=st.sampled_from([1000, 40_000, 150_000]),
    seed=st.integers(0, 5),
    iterations=st.sampled_from([1.0, 0.4, [3, 10]]),
    neighbors=st.sampled_from([None, 3, [1, 5]]),
    more=st.sampled_from([{}, {"missing": "distant"}, {"per_target": True}, {"sigma": 0.3, "first_iteration": 2}]),
)
def test_parts_give_the_bits_of_the_whole(
    tmp_path_factory, n, cuts, missing, target, influence, memory, seed, iterations, neighbors, more
):
    parts, _ = written(tmp_path_factory.mktemp("shards"), frame_of(n, seed, missing), [min(cut, n) for cut in cuts])
    whole, streamed = om.open_shards(parts, target, max_memory="1G"), om.open_shards(parts, target)
    streamed.source.max_memory = min(memory, streamed.n_bytes - 1)
    if "first_iteration" in more:
        iterations = 3
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
