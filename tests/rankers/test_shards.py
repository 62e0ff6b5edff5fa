"""Methods on data in parts: those that fit in memory give the bits that they give in memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank.errors import DataError, ParameterError
from reference import rankers_univariate as reference


def parts_of(folder, n=90, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    frame["town"] = rng.choice(["Bled", "Kranj", "Piran"], n)
    frame["wet"] = rng.random(n) < 0.5
    frame["kind"] = np.where(frame["a"] + (frame["town"] == "Bled") > 0.3, "x", "y")
    frame["size"] = frame["a"] * 2 + (frame["town"] == "Bled") + rng.normal(size=n)
    frame.loc[rng.random(n) < 0.2, "b"] = np.nan
    frame.loc[rng.random(n) < 0.2, "kind"] = None
    frame = frame.sort_values("size", ignore_index=True)
    (folder / "parts").mkdir()
    for i, rows in enumerate(np.array_split(np.arange(n), 4)):
        frame.iloc[rows].to_parquet(folder / "parts" / f"{i}.parquet", row_group_size=8)
    frame.to_parquet(folder / "whole.parquet")
    return folder / "parts", folder / "whole.parquet"


@pytest.mark.every(3)
@pytest.mark.parametrize("target", ["kind", "size", "a,size", None])
@pytest.mark.parametrize(
    "ranker",
    [
        om.EnsembleRanker(n_trees=5, random_state=0),
        om.ReliefRanker(random_state=0),
        om.UnivariateRanker(),
        om.rankers.RandomRanker(random_state=0),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_rankings_of_parts_that_fit_are_those_in_memory(tmp_path, ranker, target):
    parts, whole = parts_of(tmp_path)
    expected = ranker.fit(om.load(whole, target)).ranking_
    assert ranker.fit(om.open_shards(parts, target)).ranking_ == expected


def test_forests_of_parts_that_fit_are_those_in_memory(tmp_path):
    parts, whole = parts_of(tmp_path)
    data = om.open_shards(parts, "kind")
    forest = om.PCTForestClassifier(n_trees=5, random_state=0, supervision=1)
    expected = forest.fit(om.load(whole, "kind")).predict_proba(om.load(whole, "kind"))
    assert np.array_equal(forest.fit(data).predict_proba(data), expected)


@pytest.mark.slow
def test_more_than_fits_is_refused_in_words(tmp_path):
    parts, _ = parts_of(tmp_path)
    data = om.open_shards(parts, "size", max_memory="1K")
    for model in (om.PCTRegressor(), om.ResampledRanker(om.UnivariateRanker())):
        with pytest.raises(DataError, match=r"'parts' takes .* MB in memory, more than max_memory=1024.*take some of"):
            model.fit(data)


# -- data that do not fit ----------------------------------------------------------------------------------


@pytest.mark.every(16)
@pytest.mark.parametrize("adjusted", [True, False])
@pytest.mark.parametrize("target", ["kind", "size", "a,size", "town", "kind,wet", "size,kind", None])
def test_univariate_shares_add_up_over_parts(tmp_path, target, adjusted):
    parts, whole = parts_of(tmp_path)
    ranker = om.UnivariateRanker(adjusted=adjusted)
    expected = ranker.fit(om.load(whole, target)).ranking_
    data = om.open_shards(parts, target, max_memory=3000)
    assert not data.fits_in_memory
    assert len(list(data.blocks())) > 5
    found = ranker.fit(data).ranking_
    assert found.names == expected.names
    assert np.allclose(found.scores, expected.scores, rtol=1e-9, atol=1e-12)
    assert (found.task, found.targets, found.constant) == (expected.task, expected.targets, expected.constant)
    assert ranker.task_ == expected.task
    assert ranker.get_support().sum() == len(expected.names) // 2


def test_univariate_labels_that_are_constant_where_a_feature_is_known(tmp_path):
    rng = np.random.default_rng(0)
    labels = (rng.random((90, 6)) < 0.05).astype(float)
    labels[:2] = [[0.0], [1.0]]
    labels[rng.random((90, 6)) < 0.1] = np.nan
    X = rng.normal(size=(90, 4))
    X[labels[:, :4] == 1] = np.nan
    frame = pd.DataFrame(np.column_stack([X, labels]), columns=[*"abcd", *(f"y{i}" for i in range(6))])
    (tmp_path / "parts").mkdir()
    for i in range(3):
        frame.iloc[30 * i : 30 * i + 30].to_parquet(tmp_path / "parts" / f"{i}.parquet", row_group_size=5)
    data = om.open_shards(tmp_path / "parts", [f"y{i}" for i in range(6)], task="multi-label", max_memory=2000)
    assert not data.fits_in_memory
    cells = [[None if np.isnan(v) else v for v in frame[name]] for name in frame]
    expected = reference.scores(cells[:4], cells[4:], [1.0] * 90, [1.0] * 6)
    assert np.allclose(om.UnivariateRanker().fit(data).ranking_.scores, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("target", ["size", "size,a", None])
def test_univariate_outliers_where_other_features_are_unknown(tmp_path, target):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "size"])
    frame["town"] = rng.choice(["Bled", "Kranj", "Piran"], 60)
    frame["size"] += frame["b"] + (frame["town"] == "Bled")
    frame.loc[7, ["b", "town", "size"]] = [None, None, 1e9]  # sums over the others lose their digits to this one
    (tmp_path / "parts").mkdir()
    for i in range(3):
        frame.iloc[20 * i : 20 * i + 20].to_parquet(tmp_path / "parts" / f"{i}.parquet", row_group_size=5)
    frame.to_parquet(tmp_path / "whole.parquet")
    data = om.open_shards(tmp_path / "parts", target, max_memory=1000)
    assert not data.fits_in_memory
    for ranker in (om.UnivariateRanker(), om.CorrelationRanker())[: 1 + (target == "size")]:
        expected = ranker.fit(om.load(tmp_path / "whole.parquet", target)).ranking_
        assert np.allclose(ranker.fit(data).ranking_.scores, expected.scores, rtol=1e-9, atol=1e-12)
        assert target is None or expected.scores[list(expected.names).index("b")] > 0.1


def test_univariate_without_target_where_levels_are_constant_in_every_block(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60), "town": np.repeat(list("xyz"), 20)})
    frame["a"] += frame["town"] == "x"
    frame["one"] = pd.Series(np.where(np.arange(60) % 3, "same", None), dtype=object)
    (tmp_path / "parts").mkdir()
    for i in range(3):
        frame.iloc[20 * i : 20 * i + 20].to_parquet(tmp_path / "parts" / f"{i}.parquet", row_group_size=5)
    data = om.open_shards(tmp_path / "parts", max_memory=1000)
    assert not data.fits_in_memory
    expected = om.UnivariateRanker().fit(frame).ranking_
    assert np.allclose(om.UnivariateRanker().fit(data).ranking_.scores, expected.scores, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_what_is_for_data_in_memory(tmp_path):
    parts, _ = parts_of(tmp_path)
    data = om.open_shards(parts, "size", max_memory=1000)
    with pytest.raises(ParameterError, match="y must not be given"):
        om.UnivariateRanker().fit(data, np.zeros(90))
    with pytest.raises(ParameterError, match="sample_weight"):
        om.UnivariateRanker().fit(data, sample_weight=np.ones(90))
    with pytest.raises(ParameterError, match="n_features_to_select='auto'"):
        om.UnivariateRanker(n_features_to_select="auto").fit(data)
    with pytest.raises(ParameterError, match=r"task='clustering'.*open them with this task"):
        om.UnivariateRanker(task="clustering").fit(data)
