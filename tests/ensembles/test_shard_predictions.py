"""Predictions over parts: those of the same rows in memory, written part by part."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank.errors import DataError, FileFormatError, ParameterError
from tools.memory import PEAK, needs_peak


def frame_of(n, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"id": [f"r{i}" for i in range(n)], "a": rng.normal(size=n), "b": rng.normal(size=n)})
    frame["town"] = rng.choice(["Bled", "Kranj", "Piran"], n)
    frame["code"] = rng.integers(1, 4, n)
    frame.loc[rng.random(n) < 0.1, "b"] = np.nan
    return frame


FEATURES = ["a", "b", "town", "code"]


@pytest.fixture
def shards(tmp_path):
    frame = frame_of(100)
    folder = tmp_path / "new"
    (folder / "more").mkdir(parents=True)
    frame.iloc[:40].to_parquet(folder / "first.parquet", row_group_size=9)
    frame.iloc[40:40].to_parquet(folder / "more" / "empty.parquet")
    frame.iloc[40:].to_parquet(folder / "more" / "second.parquet")
    return folder, frame


def targets(frame):
    y = frame["a"] + (frame["town"] == "Bled") * 2
    return {
        "number": (om.PCTForestRegressor, y.to_numpy()),
        "numbers": (om.PCTForestRegressor, pd.DataFrame({"u": y, "v": frame["a"]})),
        "class": (om.PCTForestClassifier, np.where(y > 1, "yes", "no")),
        "numbered class": (om.PCTForestClassifier, (y > 1).astype(int).to_numpy() + 3),
        "classes": (om.PCTForestClassifier, pd.DataFrame({"u": y > 1, "v": frame["town"]}).astype(str)),
        "labels": (om.PCTForestClassifier, pd.DataFrame({"l1": y > 1, "l2": y > 0}).astype(int)),
        "mixed": (om.PCTForestRegressor, pd.DataFrame({"u": y, "v": (y > 1).astype(str)})),
    }


@pytest.mark.every(2)
@pytest.mark.parametrize("name", list(targets(frame_of(3))))
def test_parts_are_predicted_as_the_whole_is(shards, tmp_path, name):
    folder, frame = shards
    train = frame_of(120, seed=1)
    kind, y = targets(train)[name]
    model = kind(n_trees=3, random_state=0).fit(train[FEATURES], y)
    wanted = kind is om.PCTForestClassifier
    files = om.predict_shards(model, folder, tmp_path / "out", key="id", probabilities=wanted, max_memory=20_000)
    assert [file.relative_to(tmp_path / "out").as_posix() for file in files] == [
        "first.parquet",
        "more/empty.parquet",
        "more/second.parquet",
    ]
    found = pd.concat([pd.read_parquet(file) for file in files], ignore_index=True)
    assert found["id"].tolist() == frame["id"].tolist()
    expected = model.predict(frame[FEATURES])
    predicted = found[[str(n) for n in model.target_names_]].to_numpy()
    assert np.array_equal(predicted, np.reshape(np.asarray(expected), predicted.shape))
    if wanted:
        shares = model.predict_proba(frame[FEATURES])
        shares = np.hstack(shares) if isinstance(shares, list) else shares
        assert np.array_equal(found.filter(regex=r"^p\(").to_numpy(), shares)
    schemas = {str(pd.read_parquet(file).dtypes.to_dict()) for file in files}
    assert len(schemas) == 1


@pytest.mark.slow
def test_all_kinds_of_sources_and_clusters(shards, tmp_path):
    folder, frame = shards
    model = om.PCTClusterer(max_leaves=4).fit(frame[FEATURES])
    expected = model.predict(frame[FEATURES]).tolist()
    sources = [sorted(folder.rglob("*.parquet")), om.open_shards(folder, ignore="id")]
    for i, source in enumerate(sources):
        files = om.predict_shards(model, source, tmp_path / str(i))
        assert pd.concat([pd.read_parquet(file) for file in files])["cluster"].tolist() == expected


def test_features_without_names(shards, tmp_path):
    folder, frame = shards
    numbers = frame[["a", "b"]]
    model = om.PCTRegressor(random_state=0).fit(numbers.to_numpy(), frame["a"].to_numpy())
    files = om.predict_shards(model, folder, tmp_path / "out", key="id", ignore="town,code")
    found = pd.concat([pd.read_parquet(file) for file in files])
    assert found["y"].tolist() == model.predict(numbers.to_numpy()).tolist()
    with pytest.raises(DataError, match="there are 4 columns, but the model was fitted on 2"):
        om.predict_shards(model, folder, tmp_path / "other", key="id")


def test_unseen_levels_name_the_part(shards, tmp_path):
    folder, frame = shards
    model = om.PCTRegressor(random_state=0).fit(frame[FEATURES], frame["a"])
    frame.iloc[40:].assign(town="Celje").to_parquet(folder / "more" / "second.parquet")
    with pytest.warns(UserWarning, match=r"\(1 feature, first 'town': 'Celje' in second.parquet\)"):
        om.predict_shards(model, folder, tmp_path / "out")


def test_what_is_wrong_is_said_before_work_starts(shards, tmp_path):
    folder, frame = shards
    model = om.PCTRegressor(random_state=0).fit(frame.rename(columns={"b": "bb"})[["a", "bb"]], frame["a"])
    with pytest.raises(DataError, match="there is no column 'bb', which the model was fitted on"):
        om.predict_shards(model, folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    good = om.PCTRegressor(random_state=0).fit(frame[["a"]], frame["b"].fillna(0).rename("id"))
    with pytest.raises(DataError, match="new or empty folder"):
        om.predict_shards(good, folder, folder)
    with pytest.raises(ParameterError, match=r"key='id'.*also a column"):
        om.predict_shards(good, folder, tmp_path / "out", key="id")


@pytest.mark.parametrize("other", ["one.pq", "ONE.parquet"])
def test_parts_whose_predictions_would_share_a_file_are_refused(tmp_path, other):
    X = pd.DataFrame({"a": np.arange(6.0), "b": [0.0, 1.0] * 3})
    model = om.PCTRegressor().fit(X, X["a"])
    folder = tmp_path / "parts"
    folder.mkdir()
    X.to_parquet(folder / "one.parquet")
    X.to_parquet(folder / other)
    with pytest.raises(DataError, match=r"'one\.parquet': rename the parts"):
        om.predict_shards(model, folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    X = pd.DataFrame({"a": np.arange(6.0)})
    model = om.PCTRegressor().fit(X, X["a"])
    (tmp_path / "parts").mkdir()
    X.to_parquet(tmp_path / "parts" / "one.parquet")
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be made"):
        om.predict_shards(model, tmp_path / "parts", tmp_path / "file" / "out")


def test_a_damaged_part_is_named_and_what_was_done_is_kept(shards, tmp_path):
    folder, frame = shards
    model = om.PCTRegressor(random_state=0).fit(frame[FEATURES], frame["a"])
    path = folder / "more" / "second.parquet"
    content = bytearray(path.read_bytes())
    content[4:1204] = bytes(1200)  # its pages, not its schema
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"second.parquet: not a Parquet file that can be read"):
        om.predict_shards(model, folder, tmp_path / "out")
    done = sorted(file.name for file in (tmp_path / "out").rglob("*") if file.is_file())
    assert done == ["empty.parquet", "first.parquet"]


def test_a_full_disk_leaves_no_half_file(shards, tmp_path, monkeypatch):
    folder, frame = shards
    model = om.PCTRegressor(random_state=0).fit(frame[FEATURES], frame["a"])

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(DataError, match=r"cannot write .*first.parquet.*No space left"):
        om.predict_shards(model, folder, tmp_path / "out")
    assert [file for file in (tmp_path / "out").rglob("*") if file.is_file()] == []


_PROGRAM = """
import sys
import omnirank as om
model = om.load_model(sys.argv[1])
om.predict_shards(model, sys.argv[2], sys.argv[3] + "/warm", max_memory="4M")
before = peak()
om.predict_shards(model, sys.argv[4], sys.argv[3] + "/all", max_memory="4M")
print(peak() - before)
"""


@pytest.mark.slow
@needs_peak
def test_memory_does_not_grow_with_the_data(tmp_path):
    rng = np.random.default_rng(0)
    small, large = tmp_path / "small", tmp_path / "large"
    small.mkdir()
    large.mkdir()
    X = pd.DataFrame(rng.normal(size=(200_000, 20)), columns=[f"c{i}" for i in range(20)])
    X.iloc[:50_000].to_parquet(small / "0.parquet", row_group_size=20_000)
    for i in range(4):
        X.to_parquet(large / f"{i}.parquet", row_group_size=20_000)
    om.PCTRegressor(max_depth=3, random_state=0).fit(X.iloc[:500], X["c0"].iloc[:500]).save(tmp_path / "model")
    found = subprocess.run(
        [sys.executable, "-c", PEAK + _PROGRAM, *map(str, (tmp_path / "model", small, tmp_path, large))],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    grown = int(found.stdout) * 1024
    assert grown < 40e6, "the data are 128 MB"
