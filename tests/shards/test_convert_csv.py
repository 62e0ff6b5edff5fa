"""CSV files as folders of Parquet files: read in blocks, and the same data as in memory."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import omnirank as om
from draws import draws
from omnirank.errors import DataError, FileFormatError, ParameterError
from omnirank.shards import convert_csv as module
from omnirank.shards.convert_csv import convert_csv

CELLS = {
    "number": ["1.5", "-2", "1e3", "0.1", " 7", "?", ""],
    "integer": ["1", "2", "-30"],
    "text": ["red", "blue", "light blue", "NA", "Ü"],
    "boolean": ["True", "False"],
    "mixed booleans": ["True", "maybe", ""],
    "date": ["2020-01-31", "1999-12-01 12:30", "?"],
    "no date": ["2020-01-31", "2020-02-30"],
    "nothing": ["", "?"],
    "with missing": ["1", "2", ""],
}


@pytest.mark.slow
@draws(10)
@given(
    kinds=st.lists(st.sampled_from(sorted(CELLS)), min_size=2, max_size=5),
    n=st.integers(1, 25),
    seed=st.integers(0, 100),
    block=st.integers(1, 8),
    rows=st.integers(1, 12),
)
def test_folders_hold_what_the_file_holds(tmp_path_factory, kinds, n, seed, block, rows):
    folder = tmp_path_factory.mktemp("csv")
    rng = np.random.default_rng(seed)
    columns = [rng.choice(CELLS[kind], n) for kind in kinds]
    assume(any(set(row) - {"", "?"} for row in zip(*columns, strict=True)))  # else there is no row
    lines = [",".join(f"c{i}" for i in range(len(kinds))), *map(",".join, zip(*columns, strict=True))]
    path = folder / "data.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    expected = om.load(path, task="clustering")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK_ROWS", block)
        files = convert_csv(path, folder / "parts", rows_per_file=rows)
    assert all(len(pd.read_parquet(file)) <= rows for file in files)
    found = om.open_shards(folder / "parts", task="clustering").read()
    assert found.features.equals(expected.features)
    assert found.features.dates == expected.features.dates
    if n > 1:
        target = om.load(path, "c0")
        assert om.open_shards(folder / "parts", "c0").task == target.task


def test_options_are_those_of_reading(tmp_path):
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(b"a;code;a;y\n1;7;x;-\n-;8;z;5\n"))
    convert_csv(
        path,
        tmp_path / "parts",
        separator=";",
        missing=["-"],
        duplicates="number",
        nominal="code",
        ignore="a_2",
        target="y",
    )
    data = om.open_shards(tmp_path / "parts")
    assert data.feature_names == ("a", "code")
    assert data.feature_levels == (None, ("7", "8"))
    assert data.target_names == ("y",)


def test_files_without_names(tmp_path):
    (tmp_path / "data.csv").write_text("1,2\n3,4\n")
    convert_csv(tmp_path / "data.csv", tmp_path / "parts")
    assert om.open_shards(tmp_path / "parts").feature_names == ("x1", "x2")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a,b\n1,2\nx,3\n", r"line 3, column 1: text in columns of numbers: 'x'"),
        ("a,b\n1,2\n1e999,3\n", r"line 3, column 1: column 'a': '1e999' is infinite"),
        ("a,b\n1,2\n3\n", r"line 3: the row has 1 cell"),
        ("a,b\n", "there is no row of data"),
        ("a,a\n1,2\n", "two columns are called 'a'"),
        ("", "the file is empty"),
    ],
)
def test_malformed_files_leave_no_folder(tmp_path, monkeypatch, text, problem):
    monkeypatch.setattr(module, "_BLOCK_ROWS", 1)
    (tmp_path / "data.csv").write_text(text)
    with pytest.raises(FileFormatError, match=problem):
        convert_csv(tmp_path / "data.csv", tmp_path / "parts")
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


def test_errors_are_those_of_reading(tmp_path):
    (tmp_path / "data.csv").write_text("a,b\n1,2\nx,3\n1 kg,3\n")
    with pytest.raises(FileFormatError) as expected:
        om.load(tmp_path / "data.csv")
    with pytest.raises(FileFormatError) as found:
        convert_csv(tmp_path / "data.csv", tmp_path / "parts")
    assert str(found.value) == str(expected.value)


def test_what_cannot_be_written(tmp_path):
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="there is something at"):
        convert_csv(tmp_path / "data.csv", tmp_path)
    with pytest.raises(ParameterError, match=r"ignore='c'.*no such column"):
        convert_csv(tmp_path / "data.csv", tmp_path / "parts", ignore="c")
