"""Dates stay dates: as levels, beside other columns and in joined data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import omnirank as om
from omnirank.data.columns import table_from
from omnirank.data.dataset import join_examples
from omnirank.data.parquet import write_parquet
from omnirank.data.table import Table
from omnirank.data.write import write_csv
from omnirank.errors import DataError

MOMENTS = ["2020-01-02 12:00:30", "2020-01-01", None, "2020-01-02 12:00:30.25"]
LEVELS = ("2020-01-01", "2020-01-02T12:00:30", "2020-01-02T12:00:30.250000")


@pytest.fixture
def frame():
    days = pd.to_datetime(pd.Series(["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04"]))
    moments = pd.to_datetime(pd.Series(MOMENTS), format="ISO8601")
    return pd.DataFrame({"moment": moments, "day": days, "size": [1.0, 2.0, 3.0, 4.0]})


def test_nominal_dates_have_their_texts_as_levels(frame, tmp_path):
    frame.to_parquet(tmp_path / "data.parquet")
    (tmp_path / "parts").mkdir()
    frame.iloc[:2].to_parquet(tmp_path / "parts" / "a.parquet")
    frame.iloc[2:].to_parquet(tmp_path / "parts" / "b.parquet")
    for table in (
        table_from(frame, nominal=["moment"]),
        om.load(tmp_path / "data.parquet", nominal="moment").features,
        om.open_shards(tmp_path / "parts", nominal="moment").in_memory().features,
    ):
        assert (table.levels, table.dates) == ((LEVELS, None, None), {"day"})
        assert table.column(0).tolist() == [1, 0, -1, 2]


def test_nominal_dates_of_sparse_tables():
    matrix = sparse.csc_array([[86400.0, 86400.0], [0.0, 43200.0]])
    table = Table(("a", "b"), (None, None), np.empty((2, 0)), np.empty((2, 0)), matrix, frozenset("ab"))
    found = table_from(table, nominal=["b"])
    assert (found.levels, found.dates) == ((None, ("1970-01-01", "1970-01-01T12:00:00", "1970-01-02")), {"a"})


def test_dates_stay_dates_beside_texts_that_become_nominal(tmp_path):
    path = tmp_path / "data.arff"
    path.write_text(
        "@relation r\n@attribute d date 'yyyy-MM-dd'\n@attribute e date 'yyyy-MM-dd'\n@attribute s string\n@data\n"
        "2020-01-01,2020-01-03,u\n2020-01-02,2020-01-04,v\n"
    )
    found = om.load(path, nominal="d,s").features
    assert (found.levels, found.dates) == ((("2020-01-01", "2020-01-02"), None, ("u", "v")), {"e"})


def test_joined_examples_keep_their_dates(frame):
    data = om.Dataset(frame)
    assert join_examples([data, data]).features.dates == {"moment", "day"}
    other = om.Dataset(frame.assign(day=[1.0, 2.0, 3.0, 4.0]))
    with pytest.raises(DataError, match="differ in names, order, levels or dates"):
        join_examples([data, other])


@pytest.mark.parametrize("write", [write_csv, write_parquet])
def test_written_dates_are_dates_again(frame, tmp_path, write):
    data = om.Dataset(frame)
    path = tmp_path / f"data.{'csv' if write is write_csv else 'parquet'}"
    write(data, path)
    again = om.load(path)
    assert again.features.dates == {"moment", "day"}
    np.testing.assert_array_equal(again.features.numeric, data.features.numeric)
