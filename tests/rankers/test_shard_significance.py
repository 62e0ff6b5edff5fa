"""P values of data that do not fit in memory: sums over samples of the rows, and what they promise of noise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from tests.rankers.shard_files import frame_of, opened, written

import omnirank as om
from omnirank.ensembles.run import ScoreWork
from omnirank.errors import DataError, ParameterError
from omnirank.shards.samples import Samples


def ranker(n_trees=40, **parameters):
    return om.EnsembleRanker(n_trees=n_trees, **({"random_state": 0} | parameters))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return written(tmp_path_factory.mktemp("shards") / "parts", frame_of(seed=2), [300, 1500])


@pytest.mark.slow
@pytest.mark.parametrize("target", ["size", "kind", "l1,l2"])
def test_relevant_features_are_found_beyond_memory(folder, target):
    data = opened(folder, target)
    found = om.significance(ranker(), data)
    assert found.parameters["n_samples"] > 5
    assert set(found.relevant()) == {"a", "b", "town"}
    plain = ranker().fit(data)
    assert found.scores.tolist() == plain.ranking_.scores.tolist()
    assert plain.ranking_.p_values is None
    fitted = ranker(p_values=True).fit(data)
    assert fitted.ranking_.p_values.tolist() == found.p_values.tolist()
    assert fitted.rankings_["genie3"].p_values is None


def test_shards_that_fit_have_the_p_values_of_memory(folder):
    data = opened(folder, max_memory="1G")
    expected = om.significance(ranker(), data.read())
    assert om.significance(ranker(), data).p_values.tolist() == expected.p_values.tolist()


@pytest.mark.slow
def test_workers_and_sizes_change_no_bit(folder):
    data = opened(folder)
    whole = ranker([9, 30, 40], p_values=True).fit(data)
    for n_trees in (9, 30):
        few = ranker(n_trees, p_values=True, n_jobs=2).fit(data).ranking_
        assert few.p_values.tolist() == whole.checkpoints_[n_trees]["unbiased"].p_values.tolist()


@pytest.mark.slow
def test_few_labelled_rows_that_all_samples_share(tmp_path):
    frame = frame_of(1500)
    frame.loc[np.random.default_rng(1).random(len(frame)) > 0.08, "size"] = np.nan
    data = opened(written(tmp_path / "parts", frame))
    found = ranker(p_values=True, supervision=0.8).fit(data).ranking_
    assert found.parameters["n_samples"] > 5
    assert "a" in found.relevant()
    one = om.significance(ranker(supervision=0.8), data.read())
    assert abs(norm.isf(found.p_values[0]) - norm.isf(one.p_values[0])) < 3


def test_permuted_copies_need_all_examples(folder):
    for method, other in (("copies", ranker()), ("auto", om.UnivariateRanker())):
        with pytest.raises(DataError, match=r"permuted copies need all examples in memory.*EnsembleRanker"):
            om.significance(other, opened(folder), method=method)


def test_groups_of_samples_that_share_rows_are_added_before_they_are_squared():
    shared, apart = Samples(0, n_labelled=1, n_unlabelled=3), Samples(0, n_labelled=3, n_unlabelled=0)
    for samples, expected in ((shared, [(1 + 2 + 3) ** 2, 0]), (apart, [1 + 4 + 9, 0])):
        total = None
        for sample in range(3):
            sums = ScoreWork(None, None, (), None, samples)._by_example(sample)(200, 2)
            sums._blocks[next(iter(sums._blocks))][0, 0] = 1.0 + sample
            total = sums if total is None else total.merge(sums)
        assert total.squares().tolist() == expected


@pytest.mark.slow
def test_noise_has_p_values_above_alpha_beyond_memory(tmp_path):
    """Noise of several kinds beside a feature that tells something; about one in twenty lies below 0.05."""
    found = []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        n = 1200
        frame = pd.DataFrame(rng.normal(size=(n, 6)), columns=[f"x{i}" for i in range(6)])
        for i in range(5):
            frame[f"few{i}"] = (rng.random(n) < 0.1).astype(float)
            frame[f"levels{i}"] = pd.Series(rng.integers(0, 12, n).astype(str), dtype=object)
            frame[f"lacking{i}"] = np.where(rng.random(n) < 0.4, np.nan, rng.normal(size=n))
        frame["y"] = frame["x0"] + 2 * rng.normal(size=n)
        frame = frame.sort_values("y", ignore_index=True)
        data = om.open_shards(written(tmp_path / f"{seed}", frame), "y", max_memory=250_000)
        ranking = om.significance(ranker(20, random_state=seed), data)
        assert ranking.parameters["n_samples"] >= 4
        assert ranking.p_values[0] < 0.01
        found.append(ranking.p_values[1:])
    share = (np.array(found) < 0.05).mean()
    assert np.size(found) > 300
    assert 0.02 < share < 0.05 + 2 * np.sqrt(0.05 * 0.95 / np.size(found))


@pytest.mark.slow
def test_significant_features_are_kept_beyond_memory(tmp_path):
    data = opened(written(tmp_path / "parts", frame_of(), [700, 1300]))
    assert not data.fits_in_memory
    expected = om.significance(ranker(), data).relevant()
    assert 0 < len(expected) < data.n_features
    chosen = om.select(ranker(), data, by="significance")
    assert list(chosen.names) == expected
    fitted = ranker(n_features_to_select="significant").fit(data)
    assert set(fitted.get_feature_names_out()) == set(expected)


def test_what_needs_all_examples_to_choose_features_says_so(tmp_path):
    data = opened(written(tmp_path / "parts", frame_of(), [700, 1300]))
    with pytest.raises(DataError, match=r"by='neighbors': .* more than max_memory=.*by='significance'"):
        om.select(ranker(), data)
    with pytest.raises(DataError, match="permuted copies need all examples in memory"):
        om.select(om.UnivariateRanker(), data, by="significance")
    with pytest.raises(ParameterError, match=r"n_features_to_select='auto'.*or 'significant'"):
        ranker(n_features_to_select="auto").fit(data)
    with pytest.raises(ParameterError, match=r"n_features_to_select='significant'.*UnivariateRanker has no p values"):
        om.UnivariateRanker(n_features_to_select="significant").fit(data)
