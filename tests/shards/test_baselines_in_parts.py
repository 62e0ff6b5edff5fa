"""Graph-free baselines of data in parts that do not fit in memory: the scores of the same examples in memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import omnirank as om
from draws import draws
from omnirank.errors import DataError
from omnirank.rankers.information import _chosen
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


BY_FEATURES = [
    (om.InformationRanker(), "kind"),
    (om.InformationRanker("chi2"), "kind"),
    (om.InformationRanker("symmetrical-uncertainty", n_bins=3), "kind,town"),
    (om.InformationRanker("mutual-information", random_state=0), "size"),
    (om.InformationRanker("mutual-information", random_state=0), "size,kind"),
]


@pytest.mark.slow
@draws(2)
@given(
    cuts=st.lists(st.integers(0, 90), max_size=5),
    missing=st.sampled_from([0.0, 0.2, 0.7]),
    chosen=st.sampled_from(range(len(BY_FEATURES))),
    n_blocks=st.integers(1, 6),
    seed=st.integers(0, 5),
)
def test_scores_by_features_have_the_bits_of_the_whole(tmp_path_factory, cuts, missing, chosen, n_blocks, seed):
    ranker, target = BY_FEATURES[chosen]
    parts, _ = written(tmp_path_factory.mktemp("shards"), frame_of(90, seed, missing), cuts)
    whole, streamed = om.open_shards(parts, target, max_memory="1G"), om.open_shards(parts, target)
    streamed.source.max_memory = _memory_for(streamed, -(-streamed.n_features // n_blocks))
    assert not streamed.fits_in_memory
    expected, found = ranker.fit(whole).ranking_, ranker.fit(streamed).ranking_
    assert found.scores.tolist() == expected.scores.tolist()
    assert (found.names, found.method, found.task) == (expected.names, expected.method, expected.task)


def test_unlabelled_examples_and_seeds_that_move_on(tmp_path):
    frame = frame_of(90, missing=0.2)
    frame.loc[::3, "size"] = np.nan
    parts, _ = written(tmp_path, frame, [30])
    whole, streamed = om.open_shards(parts, "size", max_memory="1G"), om.open_shards(parts, "size")
    streamed.source.max_memory = _memory_for(streamed, 1)
    rankers = [om.InformationRanker("mutual-information", random_state=np.random.default_rng(3)) for _ in range(2)]
    expected, found = (ranker.fit(data).ranking_ for ranker, data in zip(rankers, (whole, streamed), strict=True))
    assert found.scores.tolist() == expected.scores.tolist()


def test_memory_too_small_for_one_feature_is_refused_with_what_it_takes(tmp_path):
    parts, _ = written(tmp_path, frame_of(90), [30])
    data = om.open_shards(parts, "kind", max_memory=_memory_for(om.open_shards(parts, "kind"), 1))
    om.InformationRanker().fit(data)
    data.source.max_memory //= 3
    with pytest.raises(
        DataError, match=r"one feature of .* with its target takes .* MB in memory, more than max_memor"
    ):
        om.InformationRanker().fit(data)


def _memory_for(data, n_features):
    """Memory for so many features at a time, with one worker."""
    wanted = next(memory for memory in range(1000, 10**6, 500) if _features_at_once(data, memory) >= n_features)
    return min(wanted, data.n_bytes_of_fit - 1)


def _features_at_once(data, memory):
    data.source.max_memory = memory
    try:
        return len(_chosen(data, 1, 200)[0])
    except DataError:
        return 0
