"""Graph-free baselines of data in parts that do not fit in memory: the scores of the same examples in memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import omnirank as om
from draws import draws
from shards.test_sharded_dataset import both, frame_of, written

RANKERS = [
    (om.DispersionRanker("variance"), "kind"),
    (om.DispersionRanker("dispersion"), "kind"),
    (om.DispersionRanker("dispersion"), None),
    (om.CorrelationRanker(), "size"),
    (om.CorrelationRanker(), "size,a"),
]


@pytest.mark.slow
@draws(2)
@given(
    n=st.integers(20, 90),
    cuts=st.lists(st.integers(0, 90), max_size=5),
    missing=st.sampled_from([0.0, 0.2, 0.7]),
    chosen=st.sampled_from(range(len(RANKERS))),
    memory=st.sampled_from([500, 3000]),
    seed=st.integers(0, 5),
)
# where "a" is known, "town" has one level: it explains nothing, and no rounding either
@example(n=51, cuts=[], missing=0.7, chosen=4, memory=500, seed=1)
def test_scores_are_those_of_the_whole(tmp_path_factory, n, cuts, missing, chosen, memory, seed):
    ranker, target = RANKERS[chosen]
    parts, _ = written(tmp_path_factory.mktemp("shards"), frame_of(n, seed, missing), [min(cut, n) for cut in cuts])
    whole, streamed = om.open_shards(parts, target, max_memory="1G"), om.open_shards(parts, target)
    streamed.source.max_memory = min(memory, streamed.n_bytes - 1)
    expected = ranker.fit(whole).ranking_
    found = ranker.fit(streamed).ranking_
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-9, atol=1e-12)
    assert (found.method, found.task) == (expected.method, expected.task)


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["variance", "dispersion"])
def test_large_numbers_and_constants(tmp_path, measure):
    frame = frame_of(60, missing=0.0)
    frame["huge"] = np.linspace(-1.0, 1.0, 60) * 1.7e308
    frame["far"] = 1e9 + np.arange(60) * 1e-3
    frame["one"] = 4.0
    frame["none"] = np.nan
    parts, _ = written(tmp_path, frame, [10, 10, 35])
    whole, streamed = both(parts, "kind", 2000)
    expected = om.DispersionRanker(measure).fit(whole).ranking_
    found = om.DispersionRanker(measure, n_jobs=2).fit(streamed).ranking_
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-9)
    assert found.scores[[found.names.index(name) for name in ("one", "none")]].tolist() == [0.0, 0.0]
