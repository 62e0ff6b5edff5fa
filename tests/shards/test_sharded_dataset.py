"""Data in parts: the same as in memory, however they are divided; and clear errors where parts do not agree."""

from __future__ import annotations

import json
import os
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import omnirank as om
from draws import draws
from omnirank.errors import DataError, DataTypeError, FileFormatError
from omnirank.shards.parts import Part
from omnirank.shards.source import Columns


def frame_of(n, seed=0, missing=0.2):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=n), "n": rng.integers(-3, 9, n)})
    frame["town"] = pd.Series(rng.choice(["Bled", "Kranj", "Piran", "Ptuj"], n), dtype=object)
    frame["wet"] = pd.Series(rng.random(n) < 0.5, dtype=object)
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, n), unit="h")
    frame["kind"] = pd.Series(rng.choice(["x", "y"], n), dtype=object)
    frame["count"] = rng.integers(0, 4, n)
    frame["size"] = frame["a"] * 2 + rng.normal(size=n)
    frame["l1"], frame["l2"] = rng.integers(0, 2, n), rng.integers(0, 2, n)
    for name in ("a", "town", "wet", "kind", "size"):
        frame.loc[rng.random(n) < missing, name] = None if frame[name].dtype == object else np.nan
    return frame


def written(folder, frame, cuts, schema=None):
    """Parts of a frame between the cuts, and the whole of it in one file."""
    (folder / "parts").mkdir(exist_ok=True)
    whole = pa.Table.from_pandas(frame, preserve_index=False, schema=schema)
    pq.write_table(whole, folder / "whole.parquet")
    ends = [0, *sorted(cuts), len(frame)]
    for i, (start, end) in enumerate(pairwise(ends)):
        part = pa.Table.from_pandas(frame.iloc[start:end], preserve_index=False, schema=schema)
        pq.write_table(part, folder / "parts" / f"{i:03}.parquet", row_group_size=7)
    return folder / "parts", folder / "whole.parquet"


def both(parts, target=None, max_memory=20_000, **options):
    """The data in memory, and the same that do not fit."""
    streamed = om.open_shards(parts, target, max_memory=max_memory, **options)
    assert not streamed.fits_in_memory
    return om.open_shards(parts, target, max_memory="1G", **options), streamed


def assert_same(found, expected):
    assert found.task == expected.task
    assert found.feature_names == expected.feature_names
    assert found.features.equals(expected.features)
    assert found.features.dtype == expected.features.dtype
    assert found.features.dates == expected.features.dates
    assert (found.target is None) == (expected.target is None)
    if expected.target is not None:
        assert found.target.names == expected.target.names
        assert found.target.levels == expected.target.levels
        assert found.target.is_labels == expected.target.is_labels
        assert np.array_equal(found.target.dense(), expected.target.dense(), equal_nan=True)
        assert np.array_equal(found.labelled, expected.labelled)
    assert found.fingerprint == expected.fingerprint


TARGETS = ["kind", "count", "size", "l1,l2", "kind,count", "size,a", "size,kind", "wet", "day", None]


@pytest.mark.slow
@draws(4)
@given(
    n=st.integers(2, 60),
    cuts=st.lists(st.integers(0, 60), max_size=5),
    missing=st.sampled_from([0.0, 0.2, 0.9]),
    target=st.sampled_from(TARGETS),
    seed=st.integers(0, 5),
    rows=st.integers(1, 30),
)
def test_parts_are_what_the_whole_is(tmp_path_factory, n, cuts, missing, target, seed, rows):
    folder = tmp_path_factory.mktemp("shards")
    frame = frame_of(n, seed, missing)
    parts, whole = written(folder, frame, [min(cut, n) for cut in cuts])
    expected = om.load(whole, target)
    data = om.open_shards(parts, target)
    assert data.task == expected.task
    assert [note for note in data.notes if "target" in note] == [note for note in expected.notes if "target" in note]
    assert_same(data.read(), expected)
    chosen = np.random.default_rng(seed).integers(0, n, rows)
    assert_same(data.take(chosen), expected.take(chosen))
    data.source.max_memory = 2000  # one row or a few at a time
    blocks = list(data.blocks())
    assert sum(block.n_examples for block in blocks) == n
    at = 0
    for block in blocks:
        assert_same(block, expected.take(np.arange(at, at + block.n_examples)))
        at += block.n_examples


@pytest.mark.slow
@draws(3)
@given(n=st.integers(1, 60), cuts=st.lists(st.integers(0, 60), max_size=5), seed=st.integers(0, 9))
def test_summaries_are_those_of_the_whole(tmp_path_factory, n, cuts, seed):
    folder = tmp_path_factory.mktemp("shards")
    frame = frame_of(n, seed)
    frame["a"] = frame["a"] * 1e-3 + 1e6  # a mean that is large against the spread
    parts, _ = written(folder, frame, [min(cut, n) for cut in cuts])
    summary = om.open_shards(parts, "kind").summary
    for name in ("a", "n", "size"):
        cells = frame[name].to_numpy(float)
        known = cells[~np.isnan(cells)]
        found = summary.loc[name]
        assert found["missing"] == pytest.approx(np.isnan(cells).mean())
        if len(known):
            assert (found["low"], found["high"]) == (known.min(), known.max())
            assert found["mean"] == pytest.approx(known.mean(), rel=1e-14)
            assert found["variance"] == pytest.approx(known.var(), rel=1e-9, abs=1e-30)
    assert summary.loc["town", "missing"] == pytest.approx(frame["town"].isna().mean())
    assert summary.loc["town", "n_levels"] == frame["town"].nunique()


def test_levels_of_one_part_only_and_parts_without_any(tmp_path):
    frame = frame_of(30, missing=0.0)
    frame.loc[:9, "town"] = None
    frame.loc[20:, "town"] = "Aachen"
    parts, whole = written(tmp_path, frame, [10, 10, 20])
    data = om.open_shards(parts, "kind")
    assert data.n_shards == 4
    assert_same(data.read(), om.load(whole, "kind"))
    frame["town"] = pd.Categorical(frame["town"], ["Piran", "Bled", "Aachen", "Ptuj", "Kranj"])
    parts, whole = written(tmp_path, frame, [13, 20, 25])
    for options in ({}, {"nominal": "n,count"}):
        assert_same(om.open_shards(parts, "size", **options).read(), om.load(whole, "size", **options))


def test_the_index_of_a_data_frame_is_no_feature(tmp_path):
    for i, frame in enumerate((frame_of(20), frame_of(20, seed=1).sort_values("n"))):
        frame.to_parquet(tmp_path / f"{i}.parquet")
    data, whole = om.open_shards(tmp_path, "kind"), om.load(tmp_path / "1.parquet", "kind")
    assert data.feature_names == whole.feature_names
    assert_same(data.take(range(20, 40)), whole)
    assert data.notes == whole.notes[:1] == ("the index of the data frame in the file is not read",)


def test_data_sets_of_omnirank_keep_target_and_hierarchy(tmp_path):
    hierarchy = om.Hierarchy(("p", "q", "r"), ((), (0,), (0,)))
    rng = np.random.default_rng(0)
    labels = hierarchy.close(rng.integers(0, 2, (30, 3)))
    data = om.Dataset(rng.normal(size=(30, 2)), labels, hierarchy=hierarchy, feature_names=["a", "b"])
    (tmp_path / "parts").mkdir()
    for i, rows in enumerate((slice(0, 10), slice(10, 30))):
        om.write_parquet(data.take(rows), tmp_path / "parts" / f"{i}.parquet")
    om.write_parquet(data, tmp_path / "whole.parquet")
    found = om.open_shards(tmp_path / "parts")
    assert found.hierarchy == hierarchy
    assert_same(found.read(), om.load(tmp_path / "whole.parquet"))


@pytest.mark.parametrize(
    ("key", "noted", "whose"),
    [
        *((b"omnirank", noted, "omnirank metadata") for noted in (b"{", b"[]", b'{"format": "omnirank-dataset"}')),
        (b"omnirank", b'{"format": "omnirank-dataset", "version": 9}', "omnirank metadata"),
        *((b"pandas", noted, "metadata of pandas") for noted in (b"{", b"[]", b"{}", b'{"index_columns": 3}')),
    ],
)
def test_malformed_notes_name_their_shard(tmp_path, key, noted, whose):
    table = pa.table({"a": [1.0, 2.0]}).replace_schema_metadata({key: noted})
    pq.write_table(table, tmp_path / "0.parquet")
    with pytest.raises(DataError, match=rf"0.parquet: the {whose} are malformed"):
        om.open_shards(tmp_path)


def test_doubtful_classes_are_doubtful_here_too(tmp_path):
    for name, values in {"many": np.arange(60), "few": np.arange(600) % 25}.items():
        frame = pd.DataFrame({"a": np.zeros(len(values)), "price": values})
        (tmp_path / name).mkdir()
        parts, whole = written(tmp_path / name, frame, [20])
        expected = om.load(whole, "price")._remarks.doubts
        assert om.open_shards(parts, "price").read()._remarks.doubts == expected
        assert bool(expected) == (name == "many")


# -- sources -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_all_kinds_of_sources(tmp_path):
    frame = frame_of(40)
    parts, whole = written(tmp_path, frame, [10, 25])
    expected = om.load(whole, "size")
    files = sorted(parts.iterdir())
    sources = {"folder": parts, "text": str(parts), "pattern": str(parts / "*.parquet"), "files": files, "file": whole}
    for name, source in sources.items():
        assert_same(om.open_shards(source, "size").read(), expected), name


def test_hidden_files_are_no_shards(tmp_path):
    parts, _ = written(tmp_path, frame_of(10), [])
    (parts / "_tmp").mkdir()
    (parts / "_tmp" / "half.parquet").write_bytes(b"half")
    (parts / ".x.parquet").write_bytes(b"half")
    assert om.open_shards(parts, "kind").n_shards == 1


@pytest.mark.parametrize(
    ("source", "error", "problem"),
    [
        ("none", DataError, "there is no file 'none'"),
        ("empty", DataError, "there is no Parquet file in the folder 'empty'; omnirank convert"),
        ("*.pq", DataError, r"no file matches '\*\.pq'"),
        (3, DataTypeError, "shards are a folder, .*, not int"),
        ("text.parquet", FileFormatError, "text.parquet: not a Parquet file that can be read"),
    ],
)
def test_what_is_no_source(tmp_path, monkeypatch, source, error, problem):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(error, match=problem):
        om.open_shards(source)


# -- parts that do not agree -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda f: f.drop(columns="n"), r"not all shards are like .*001.parquet has no column 'n'"),
        (lambda f: f.assign(more=1), r"001.parquet has a column 'more' that .*000.parquet does not have"),
        (lambda f: f.assign(n="x"), r"001.parquet has a column 'n' of kind text, where others have number"),
        (lambda f: f.assign(town=1.5), r"001.parquet has a column 'town' of kind number, where others have text"),
        (lambda f: f.assign(town=[[1]] * len(f)), r"001.parquet: column 'town' is of type list"),
    ],
)
def test_parts_that_disagree_are_named(tmp_path, change, problem):
    parts, _ = written(tmp_path, frame_of(20, missing=0.0), [10])
    change(frame_of(10)).to_parquet(parts / "001.parquet")
    with pytest.raises((DataError, DataTypeError), match=problem):
        om.open_shards(parts, "kind")


def test_parts_may_have_their_columns_in_any_order_and_integers_beside_floats(tmp_path):
    frame = frame_of(20, missing=0.0)
    parts, _ = written(tmp_path, frame, [10])
    other = frame.iloc[10:].assign(n=frame["n"].iloc[10:] + 0.5)
    other[list(frame.columns)[::-1]].to_parquet(parts / "001.parquet")
    data = om.open_shards(parts, "kind")
    assert data.feature_names == om.load(tmp_path / "whole.parquet", "kind").feature_names
    assert data.read().features.column(1)[10:].tolist() == other["n"].tolist()


# -- parts that change -------------------------------------------------------------------------------------


def test_changes_after_opening_are_noticed(tmp_path):
    parts, _ = written(tmp_path, frame_of(20), [10])
    data = om.open_shards(parts, "kind")
    frame_of(11, seed=3).to_parquet(parts / "001.parquet")
    with pytest.raises(DataError, match=r"shard .*001.parquet has changed since it was opened"):
        list(data.blocks())
    (parts / "001.parquet").unlink()
    with pytest.raises(DataError, match=r"there is no file .*001.parquet"):
        data.read()


def test_damaged_parts_are_named(tmp_path):
    parts, _ = written(tmp_path, frame_of(2000), [1000])
    path = parts / "001.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 255
    content[len(content) // 3 + 1] ^= 255
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"001.parquet: not a Parquet file that can be read"):
        om.open_shards(parts, "kind")
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(FileFormatError, match=r"001.parquet: not a Parquet file"):
        om.open_shards(parts, "kind")


# -- what is kept ------------------------------------------------------------------------------------------


def kept(parts):
    return sorted((parts / ".omnirank").glob("*.json"))


def test_a_summary_is_kept_and_used_again(tmp_path, monkeypatch):
    parts, whole = written(tmp_path, frame_of(40), [10])
    first = om.open_shards(parts, "kind")
    assert len(kept(parts)) == 1

    def never(*_):
        raise AssertionError("the files are read again")

    with monkeypatch.context() as patch:
        patch.setattr("omnirank.shards.summary.summarize", never)
        second = om.open_shards(parts, "kind")
    pd.testing.assert_frame_equal(first.summary, second.summary)
    assert_same(second.read(), om.load(whole, "kind"))
    assert_same(om.open_shards(parts, "size").read(), om.load(whole, "size"))
    assert len(kept(parts)) == 2


def test_a_summary_of_other_files_is_not_used(tmp_path):
    parts, _ = written(tmp_path, frame_of(40), [10])
    before = om.open_shards(parts, "kind").summary
    frame_of(10, seed=7).to_parquet(parts / "000.parquet")
    os.utime(parts / "000.parquet", ns=(1, 1))
    assert not om.open_shards(parts, "kind").summary.equals(before)


@pytest.mark.parametrize("damage", ["", "[", '{"format": "other"}', "half", "levels"])
def test_a_damaged_summary_is_made_anew(tmp_path, damage):
    parts, whole = written(tmp_path, frame_of(40), [10])
    before = om.open_shards(parts, "kind").summary
    (path,) = kept(parts)
    text = path.read_text()
    if damage == "half":
        damage = text[: len(text) // 2]
    elif damage == "levels":
        document = json.loads(text)
        document[1]["town"] = []
        damage = json.dumps(document)
    path.write_text(damage)
    again = om.open_shards(parts, "kind")
    pd.testing.assert_frame_equal(again.summary, before)
    assert_same(again.read(), om.load(whole, "kind"))
    assert path.read_text() == text


def test_a_folder_that_may_only_be_read(tmp_path, monkeypatch):
    parts, whole = written(tmp_path, frame_of(40), [10])

    def read_only(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.mkdir", read_only)
    assert_same(om.open_shards(parts, "kind").read(), om.load(whole, "kind"))
    assert kept(parts) == []


def test_only_groups_with_wanted_rows_are_read(tmp_path, monkeypatch):
    frame = frame_of(60, missing=0.0)
    parts, whole = written(tmp_path, frame, [30])  # groups of 7 rows
    data = om.open_shards(parts, "kind")
    read = []
    real = Part.batches

    def batches(self, columns, n_rows, groups, threads):
        read.extend((self.path.name, group) for group in groups)
        return real(self, columns, n_rows, groups, threads)

    monkeypatch.setattr(Part, "batches", batches)
    chosen = [59, 8, 9, 59, 30]
    assert_same(data.take(chosen), om.load(whole, "kind").take(chosen))
    assert read == [("000.parquet", 1), ("001.parquet", 0), ("001.parquet", 4)]


@pytest.mark.slow
def test_a_file_that_is_rewritten_while_it_is_read(tmp_path):
    parts, _ = written(tmp_path, frame_of(60), [30])
    data = om.open_shards(parts, "kind", max_memory=2000)
    blocks = data.blocks()
    next(blocks)
    os.utime(parts / "000.parquet", (1, 1))
    with pytest.raises(DataError, match=r"000\.parquet has changed"):
        list(blocks)


@pytest.mark.slow
@given(
    n=st.integers(0, 12),
    kinds=st.lists(st.sampled_from(["float", "missing", "nothing", "int", "text", "date", "single"]), max_size=6),
    nominal=st.booleans(),
)
def test_floats_that_take_the_short_way_are_those_by_way_of_pandas(n, kinds, nominal):
    made = {
        "float": pa.array(np.linspace(-1, 2, n)),
        "missing": pa.array([None if i % 2 else float(i) for i in range(n)], pa.float64()),
        "nothing": pa.array([None] * n, pa.float64()),
        "int": pa.array(range(n), pa.int32()),
        "text": pa.array([None if i % 3 == 0 else "ab"[i % 2] for i in range(n)], pa.string()),
        "date": pa.array([1000 * i for i in range(n)], pa.timestamp("us")),
        "single": pa.array(np.arange(n, dtype=np.float32)),
    }
    names = [f"{kind}{i}" for i, kind in enumerate(["float", *kinds])]
    batch = pa.record_batch([made[kind] for kind in ["float", *kinds]], names)
    chosen = frozenset(name for name in names if nominal and name.startswith(("float", "int")) and name != "float0")
    columns = Columns(tuple(names), ("number",) * len(names), frozenset(), False, chosen, {})
    found, expected = columns.table(batch, None), columns._typed(batch)
    assert (found.names, found.levels, found.dates) == (expected.names, expected.levels, expected.dates)
    assert found.numeric.dtype == np.float64
    np.testing.assert_array_equal(found.numeric, expected.numeric)
    np.testing.assert_array_equal(found.codes, expected.codes)
