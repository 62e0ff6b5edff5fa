"""Data sets written as CSV come back as they were."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import sparse

import omnirank as om
from omnirank.data.csv import read_delimited, read_frame
from omnirank.data.table import Table
from omnirank.data.write import write_csv
from omnirank.errors import DataError
from omnirank.shards.convert_csv import convert_csv
from omnirank.testing import tiny_dataset


def test_numbers_names_and_missing_cells_come_back(tmp_path, monkeypatch):
    monkeypatch.setattr("omnirank.data.write._ROWS", 7)  # several blocks
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a, b": rng.normal(size=20) * 1e-7, "kind": ["x y", 'say "no"'] * 10, "whole": np.arange(20.0)}
    )
    frame.loc[3, "a, b"] = np.nan
    frame.loc[4, "kind"] = None
    data = om.Dataset(frame, rng.normal(size=20), target_names=["price"])
    for name in ("data.csv", "data.csv.gz"):
        write_csv(data, tmp_path / name)
        again = om.load(tmp_path / name, "price")
        assert again.feature_names == data.feature_names
        np.testing.assert_array_equal(again.y, data.y)
        pd.testing.assert_frame_equal(again.X.astype(object), data.X.astype(object))
    assert gzip.decompress((tmp_path / "data.csv.gz").read_bytes()) == (tmp_path / "data.csv").read_bytes()


def test_label_sets_and_unlabelled_examples(tmp_path):
    data = om.Dataset(
        sparse.csr_array([[0.0, 1.5], [2.0, 0.0], [0.0, 0.0]]), [[1, 0], [0, 1], [1, 1]], target_names=["l1", "x1"]
    ).hide_labels([1])
    write_csv(data, tmp_path / "labels.csv")
    assert (tmp_path / "labels.csv").read_text().splitlines() == [
        "x0,x1,l1,x1_2",
        "0,1.5,1,0",
        "2,0,,",
        "0,0,1,1",
    ]


def test_hierarchies_are_refused(tmp_path):
    data = tiny_dataset("hierarchical-multi-label")
    with pytest.raises(DataError, match=r"write \.arff or \.parquet"):
        write_csv(data, tmp_path / "labels.csv")
    assert not (tmp_path / "labels.csv").exists()


NASTY = ["", " ", "NA", "?", "nan", "1", "02", "1e3", "inf", "true", "True", "2020-01-31", '"', '""', ",", ";", "a,b"]
NASTY += [
    "\n",
    "a\nb",
    '"\n"',
    "'",
    "'1",
    "#",
    "=1+1",
    "\ufeff",
    "\ufeffa",
    "\x1f",
    "\x1f1",
    "\x85",
    "\u2028",
    "ä",
    "😀",
    " 1",
    "1 ",
]
TEXTS = st.sampled_from(NASTY) | st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=4)


@st.composite
def tables(draw):
    """Nominal columns with any text for levels, and columns of numbers, all with missing cells."""
    n_rows, n_columns = draw(st.integers(1, 5)), draw(st.integers(2, 4))
    names = draw(st.lists(TEXTS | st.sampled_from("abcd"), min_size=n_columns, max_size=n_columns, unique=True))
    columns, levels = [], []
    for _ in range(n_columns):
        known = sorted(draw(st.none() | st.sets(TEXTS, min_size=1, max_size=n_rows)) or [])
        if known:  # every level occurs
            codes = draw(st.permutations([*range(len(known)), *([-1] * (n_rows - len(known)))]))
            columns.append(np.array(codes, np.int32))
        else:
            columns.append(
                np.array(draw(st.lists(st.sampled_from([0.1, -2.0, 1e300]), min_size=n_rows, max_size=n_rows)))
            )
        levels.append(tuple(known) or None)
    return Table.from_columns(names, columns, levels)


@pytest.mark.slow
@given(tables())
@example(Table.from_columns(["a", "b"], [np.array([0, 1, 2]), np.array([0, 1, 0])], [("1", "2", "NA"), ("", "x")]))
def test_any_level_comes_back(tmp_path_factory, table):
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    try:
        write_csv(om.Dataset(table), path)
    except DataError as problem:
        assume("rename columns" not in str(problem))
        raise
    found = read_delimited(path).table
    assert found.names == table.names
    for i, (levels, known) in enumerate(zip(found.levels, table.levels, strict=True)):
        assert levels is None if known is None else set(levels) == set(known), path.read_text()
        if known is None:
            np.testing.assert_array_equal(found.column(i), table.column(i))
        else:
            texts, expected = ([*lev, None] for lev in (levels, known))
            assert [texts[c] for c in found.column(i)] == [expected[c] for c in table.column(i)]


def test_doubtful_text_is_quoted_and_so_is_one_name(tmp_path):
    data = om.Dataset(pd.DataFrame({"a": [1.5, 2.0, 3.0], "b": ["1", "NA", None]}), ["0", "1", None])
    write_csv(data, tmp_path / "data.csv")
    assert (tmp_path / "data.csv").read_text() == 'a,"b",y\n1.5,"1","0"\n2,"NA","1"\n3,,\n'
    again = om.load(tmp_path / "data.csv", "y")
    assert (again.features.levels, again.target.levels) == ((None, ("1", "NA")), (("0", "1"),))
    assert read_frame(tmp_path / "data.csv")["b"].tolist()[:2] == ["1", "NA"]
    convert_csv(tmp_path / "data.csv", tmp_path / "parts", target="y")
    parts = om.open_shards(tmp_path / "parts").in_memory()
    assert (parts.features.levels, parts.target.levels) == ((None, ("1", "NA")), (("0", "1"),))


def test_what_a_csv_file_cannot_keep_is_refused(tmp_path):
    path = tmp_path / "data.csv"
    for frame in ({"a": ["1", "2"]}, {"1": ["1", "2"], "a": ["x", "y"]}):
        with pytest.raises(DataError, match=r"cannot keep text that looks like numbers .* rename columns"):
            write_csv(om.Dataset(pd.DataFrame(frame)), path)
    with pytest.raises(DataError, match=r"line end or NUL in 'a\\rb': write \.arff or \.parquet"):
        write_csv(om.Dataset(pd.DataFrame({"a": ["a\rb", "2"], "b": [1.0, 2.0]})), path)
    with pytest.raises(DataError, match="two of its levels are the same text"):
        write_csv(om.Dataset(pd.DataFrame({"a": pd.Categorical([1, "1"]), "b": [1.0, 2.0]})), path)
    assert not path.exists()


def test_a_missing_cell_of_a_single_column_is_no_blank_line(tmp_path):
    write_csv(om.Dataset(pd.DataFrame({"a": [1.5, None, 2.0]})), tmp_path / "data.csv")
    np.testing.assert_array_equal(om.load(tmp_path / "data.csv").features.column(0), [1.5, np.nan, 2.0])
