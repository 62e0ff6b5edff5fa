"""The pass over the shards by several workers: the same bits, for any of them."""

from __future__ import annotations

import joblib
import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank.errors import DataError
from omnirank.shards import summary
from omnirank.shards.source import ShardSource
from omnirank.shards.summary import ColumnSummary


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """Three files, of which stretches of 50 rows are read apart."""
    monkeypatch.setattr(summary, "_STRETCH_ROWS", 50)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"far": 1e9 + rng.normal(size=400), "a": rng.normal(size=400)})
    frame.loc[::7, "a"] = np.nan
    frame["town"] = rng.choice(["Bled", "Kranj"], 400)
    frame.loc[390:, "town"] = "Piran"
    frame["kind"] = rng.integers(0, 3, 400)
    for i, rows in enumerate((slice(0, 150), slice(150, 160), slice(160, 400))):
        frame.iloc[rows].to_parquet(tmp_path / f"{i}.parquet", row_group_size=30)
    return tmp_path, frame


def opened(folder, target="kind"):
    for kept in (folder / ".omnirank").glob("*"):
        kept.unlink()
    return om.open_shards(folder, target)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_workers_change_no_bit(parts, backend):
    folder, _ = parts
    alone = opened(folder)
    assert len(alone.source.stretches(50)) > 3
    with joblib.parallel_config(backend=backend, n_jobs=2):
        found = opened(folder)
    pd.testing.assert_frame_equal(found.summary, alone.summary, check_exact=True)
    assert found.feature_levels == alone.feature_levels
    assert found.task == alone.task == "classification"


@pytest.mark.parametrize(("target", "at_once"), [("kind", 1), ("kind,town", 2), (None, 3)])
def test_columns_at_a_time_change_no_bit(parts, monkeypatch, target, at_once):
    folder, _ = parts
    together = opened(folder, target)
    monkeypatch.setattr(ShardSource, "columns_at_once", at_once)
    read = []
    real = ShardSource.batches_of
    monkeypatch.setattr(
        ShardSource,
        "batches_of",
        lambda source, stretch, names, n: (read.append(names), real(source, stretch, names, n))[1],
    )
    found = opened(folder, target)
    assert max(map(len, read)) <= at_once
    pd.testing.assert_frame_equal(found.summary, together.summary, check_exact=True)
    assert found.n_labelled == together.n_labelled
    assert found.feature_levels == together.feature_levels


def test_one_fraction_makes_numbers_of_all(parts):
    folder, frame = parts
    late = frame["kind"].astype(float)
    late.iloc[399] = 0.5
    frame.assign(kind=late).to_parquet(folder / "0.parquet", row_group_size=30)
    for i in (1, 2):
        (folder / f"{i}.parquet").unlink()
    assert opened(folder).task == "regression"


def test_too_many_classes_are_told_over_all_stretches(parts, monkeypatch):
    folder, frame = parts
    monkeypatch.setattr(summary, "_MOST_CLASSES", 100)
    for i in (1, 2):
        (folder / f"{i}.parquet").unlink()
    frame.assign(kind=np.arange(400)).to_parquet(folder / "0.parquet", row_group_size=30)
    with pytest.raises(DataError, match="'kind' has more than 100 different whole numbers"):
        opened(folder)


def test_blocks_of_one_part_are_taken_together():
    summary = ColumnSummary()
    for cells in ([-4.0, 9.0], [np.nan, 1.0], [2.0]):
        summary.add_numbers(np.array(cells), "a")
    assert (summary.n_known, summary.low, summary.high) == (4, -4.0, 9.0)
    assert summary.mean == pytest.approx(2.0)
    assert summary.variance == pytest.approx(np.var([-4.0, 9.0, 1.0, 2.0]))


@pytest.mark.parametrize("number", [0.5, 2.0**60])
def test_a_number_that_is_no_class_ends_the_counting_of_classes(number):
    summary = ColumnSummary(values={})
    summary.add_numbers(np.array([1.0, 2.0, 2.0]), "y")
    assert not summary.has_fractions
    assert summary.counts == {1.0: 1, 2.0: 2}
    summary.add_numbers(np.array([3.0, number]), "y")
    assert summary.has_fractions
    assert list(summary.counts) == [number]
