"""table_from: the same table from arrays, pandas, polars and pyarrow; types, missing cells, errors."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator

import omnirank as om
from omnirank.data import table as tables
from omnirank.data.columns import table_from
from omnirank.data.estimator_input import features_like, read_features
from omnirank.data.table import Table
from omnirank.errors import DataError, DataTypeError

NAN = np.nan
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
DAYS = [dt.date(1970, 1, 2), None, dt.date(1969, 12, 31)]
DAY_SECONDS = [86400.0, NAN, -86400.0]


def column_of(table, i=0):
    return table.column(i).tolist(), table.levels[i]


def same(cells, expected):
    assert cells == pytest.approx(expected, nan_ok=True)


# -- parity -------------------------------------------------------------------------------------------


COLUMNS = {
    "integers": ([3, 1, 2], [3, 1, 2], None),
    "floats": ([0.5, NAN, -1.0], [0.5, NAN, -1.0], None),
    "integers with a hole": ([3, None, 2], [3, NAN, 2], None),
    "strings": (["b", "a", "c"], [1, 0, 2], ("a", "b", "c")),
    "strings with a hole": (["b", None, "a"], [1, -1, 0], ("a", "b")),
    "empty string": (["", "a", None], [0, 1, -1], ("", "a")),
    "booleans": ([True, False, True], [1, 0, 1], (False, True)),
    "booleans with a hole": ([True, None, True], [1, -1, 1], (False, True)),
    "dates": (DAYS, DAY_SECONDS, None),
    "nothing": ([None, None, None], [NAN, NAN, NAN], None),
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("library", FRAMES)
def test_frames_give_the_same_column(library, kind):
    values, cells, levels = COLUMNS[kind]
    table = table_from(FRAMES[library]({"c": values}))
    found, found_levels = column_of(table)
    same(found, cells)
    assert found_levels == levels
    assert table.names == ("c",)


@pytest.mark.parametrize("kind", COLUMNS)
def test_lists_and_object_arrays_give_the_same_column_as_frames(kind):
    values, cells, levels = COLUMNS[kind]
    nested = [[value, 0.5] for value in values]
    for source in (nested, np.array(nested, dtype=object), tuple(map(tuple, nested))):
        found, found_levels = column_of(table_from(source))
        same(found, cells)
        assert found_levels == levels


STORED = {
    ("numbers", "Int64"): [1, None, 3],
    ("numbers", "int64[pyarrow]"): [1, None, 3],
    ("numbers", "float64"): [1, None, 3],
    ("numbers", object): [1, None, 3],
    ("decimals", object): [Decimal(1), None, Decimal(3)],
    **{("booleans", dtype): [True, None, False] for dtype in ("boolean", "bool[pyarrow]", object)},
    **{("strings", dtype): ["b", None, "a"] for dtype in ("str", "string", "string[pyarrow]", object, "category")},
}


@pytest.mark.parametrize(("kind", "dtype"), STORED)
def test_pandas_columns_of_every_storage(kind, dtype):
    cells, levels = column_of(table_from(pd.DataFrame({"c": pd.Series(STORED[kind, dtype], dtype=dtype)})))
    expected = {"booleans": ([1, -1, 0], (False, True)), "strings": ([1, -1, 0], ("a", "b"))}
    same(cells, expected.get(kind, ([1, NAN, 3], None))[0])
    assert levels == expected.get(kind, ([], None))[1]


LEVELS = ["c", "b", "unused", "a"]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"c": pd.Categorical(["b", None, "a"], categories=LEVELS)}),
        pl.DataFrame({"c": pl.Series(["b", None, "a"], dtype=pl.Enum(LEVELS))}),
        pa.table({"c": pa.DictionaryArray.from_arrays(pa.array([1, None, 3]), pa.array(LEVELS))}),
    ],
)
def test_declared_levels_keep_their_order_used_or_not(frame):
    assert column_of(table_from(frame)) == ([1, -1, 3], tuple(LEVELS))


def test_polars_categorical_does_not_depend_on_other_columns():
    before = pl.Series(["z", "c", "b"], dtype=pl.Categorical)
    series = pl.Series(["b", None, "c", "a"], dtype=pl.Categorical)
    assert len(before) == 3
    assert column_of(table_from(pl.DataFrame({"c": series}))) == ([1, -1, 2, 0], ("a", "b", "c"))


@pytest.mark.parametrize(
    ("categories", "levels"),
    [([3, None, 1], (1, 3)), ([True, None, False], (False, True)), ([0.5, None, 0.25], (0.25, 0.5))],
)
def test_categories_that_are_no_strings(categories, levels):
    assert column_of(table_from(pd.DataFrame({"c": pd.Categorical(categories)}))) == ([1, -1, 0], levels)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"c": pd.to_datetime(DAYS)}),
        pd.DataFrame({"c": pd.Series(DAYS, dtype=pd.ArrowDtype(pa.date32()))}),
        pd.DataFrame({"c": [pd.Timestamp(day) if day else None for day in DAYS]}, dtype=object),
        pl.DataFrame({"c": pl.Series(DAYS).cast(pl.Datetime("ms"))}),
        np.array([["1970-01-02"], ["NaT"], ["1969-12-31"]], dtype="datetime64[D]"),
    ],
)
def test_dates_are_seconds_since_1970(frame):
    found, levels = column_of(table_from(frame))
    same(found, DAY_SECONDS)
    assert levels is None


def test_dates_with_a_time_zone_are_seconds_in_utc():
    zone = "Europe/Ljubljana"
    stamps = pd.to_datetime(DAYS).tz_localize(zone)
    naive = pl.Series(DAYS).cast(pl.Datetime("us"))
    for frame in (
        pd.DataFrame({"c": stamps}),
        pd.DataFrame({"c": stamps.to_list()}, dtype=object),
        pl.DataFrame({"c": naive.dt.replace_time_zone(zone)}),
    ):
        same(column_of(table_from(frame))[0], [86400.0 - 3600, NAN, -86400.0 - 3600])


@pytest.mark.slow
@given(st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=1, max_size=8))
def test_strings_come_back_from_every_library(values):
    for make in FRAMES.values():
        column = pa.array(values, pa.string()) if make is pa.table else values
        schema = {"schema": {"c": pl.String}} if make is pl.DataFrame else {}
        table = table_from(make({"c": column}, **schema))
        if table.levels[0] is None:  # pandas cannot know that a column of None holds strings
            assert not any(value is not None for value in values)
            continue
        levels = (*table.levels[0], None)
        assert [levels[code] for code in table.column(0)] == values
        assert list(table.levels[0]) == sorted(set(values) - {None})


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_texts_keep_a_nul_at_their_end(make):
    assert table_from(make({"c": ["a\0", "a"]})).levels == (("a", "a\0"),)
    assert table_from(make({"c": ["\0", "", "a"]})).column(0).tolist() == [1, 0, 2]


# -- arrays -------------------------------------------------------------------------------------------


def test_numbers_beside_strings_in_a_list_stay_numbers():
    table = table_from([["a", NAN, 1], ["b", 1.5, None], [None, 2, 3]])
    assert table.levels == (("a", "b"), None, None)
    same(table.column(1).tolist(), [NAN, 1.5, 2])
    same(table.column(2).tolist(), [1, NAN, 3])


# -- nominal by request -------------------------------------------------------------------------------


def test_numbers_as_nominal():
    table = table_from(np.array([[3.0, 0.5], [NAN, 0.5], [1.0, 2.0]]), nominal=[0])
    assert column_of(table) == ([1, -1, 0], (1, 3))
    assert table.levels[1] is None
    assert table_from(pd.DataFrame({"a": [3, 1]}), nominal=["a"]).levels == ((1, 3),)
    assert table_from(pd.DataFrame({"a": ["x"]}), nominal=[0]).levels == (("x",),)


def test_sparse_numbers_as_nominal_have_zero_first():
    values = np.array([[0, -2.0], [7, 0], [NAN, 0.0]])
    table = table_from(sparse.csr_array(values), nominal=[0, 1])
    assert column_of(table) == ([0, 1, -1], (0, 7))
    assert column_of(table, 1) == ([1, 0, 0], (0, -2))
    again = table_from(table_from(sparse.csr_array(values), nominal=[0]), nominal=[0, 1])
    assert again.equals(table)


# -- errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, pd.DataFrame, lambda v: pl.DataFrame(v, orient="row")])
@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinite_cell_is_named(make, bad):
    values = np.array([[1.0, 2.0], [NAN, 0.0], [3.0, bad]])
    table = make(values)
    name = {"DataFrame": "column_1" if isinstance(table, pl.DataFrame) else "1"}.get(type(table).__name__, "x1")
    with pytest.raises(DataError, match=rf"column '{name}' holds an infinite value \(inf\) in row 2"):
        table_from(table)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.zeros(3), DataError, "Expected 2D array for the features, got 1D"),
        ("text", DataError, "got 0D"),
        ([[1, 2], [3]], DataError, "rows have different lengths"),
        ([[1, 2], np.array([3])], DataError, "rows have different lengths"),
        (np.zeros((1, 1), complex), DataError, "Complex data not supported"),
        (sparse.csr_array(np.ones((1, 1), complex)), DataError, "Complex data not supported"),
        (pl.LazyFrame({"a": [1]}), DataTypeError, r"LazyFrame is lazy: collect\(\) it first"),
        (np.zeros((0, 2)), DataError, r"0 sample\(s\) \(shape=\(0, 2\)\) while a minimum of 1 is required"),
        (np.zeros((2, 0)), DataError, r"0 feature\(s\) \(shape=\(2, 0\)\) while a minimum of 1 is required"),
        (pd.DataFrame(index=[0, 1]), DataError, r"0 feature\(s\) \(shape=\(2, 0\)\)"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), DataError, "two columns are called 'a'"),
        (pa.Table.from_arrays([pa.array([1])] * 2, names=["b", "b"]), DataError, "two columns are called 'b'"),
        (pd.DataFrame({"a": [None, 1, "x"]}), DataTypeError, "column 'a' holds a string beside a number in row 2"),
        (np.array([[{"k": 1}]], object), DataTypeError, "column 'x0' holds a dict in row 0: argument must be a string"),
        (pd.DataFrame({"a": [True, 2.5]}, dtype=object), DataTypeError, "a number beside a boolean in row 1"),
    ],
)
def test_errors(X, error, message):
    with pytest.raises(error, match=message):
        table_from(X)


def test_wrong_number_of_names():
    for X in (np.zeros((1, 2)), pd.DataFrame([[1, 2]]), sparse.csr_array((1, 2)), [["a", 1]]):
        with pytest.raises(DataError, match="1 column name for 2 columns"):
            table_from(X, ["a"])


# -- new data -----------------------------------------------------------------------------------------


def test_category_unseen_in_training_is_missing_with_one_warning():
    estimator = BaseEstimator()
    training = read_features(estimator, pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"]}), reset=True)
    new = pd.DataFrame({"a": ["y", "new"], "b": ["other", "u"]})
    with pytest.warns(UserWarning, match="not in the training data") as caught:
        table = features_like(estimator, new, training)
    assert len(caught) == 1
    assert table.codes.tolist() == [[1, -1], [-1, 0]]
    assert table.levels == training.levels
    assert isinstance(table, Table)


@pytest.mark.parametrize("dtype", [np.float64, np.int8])
@pytest.mark.parametrize("use", [om.Dataset, om.EnsembleRanker().fit, om.ReliefRanker().fit])
def test_more_rows_than_kernels_number_are_refused(use, dtype):
    rows = np.broadcast_to(np.zeros(1, dtype), (2**31, 1))  # takes no memory: copying it would fail
    with pytest.raises(DataError, match="the data have 2147483648 rows, more than 2147483647: use some"):
        use(rows, rows[:, 0])


def test_more_sparse_cells_than_kernels_number_are_refused(monkeypatch):
    cells, few = sparse.csr_array(np.eye(4)), np.eye(4)[:, :3]
    assert np.iinfo(np.uint32).max == tables._MOST_STORED
    monkeypatch.setattr(tables, "_MOST_STORED", 3)
    for X, y in ((cells, None), (few, cells)):
        with pytest.raises(DataError, match="the sparse matrix stores 4 cells, more than 3: use some of the rows or"):
            om.Dataset(X, y)


def test_more_sparse_cells_than_kernels_number_are_refused_before_they_are_copied():
    cells = sparse.csr_array((9, 2))
    cells.data, cells.indices = (np.broadcast_to(kind(1), 2**32) for kind in (np.float32, np.int64))
    cells.indptr = np.linspace(0, 2**32, 10).astype(np.int64)
    with pytest.raises(DataError, match="the sparse matrix stores 4294967296 cells"):
        om.EnsembleRanker().fit(cells, np.arange(9.0))


def test_more_sparse_columns_than_can_be_numbered_are_refused_before_they_are_copied():
    cells, few = sparse.coo_array(([1.0], ([0], [2**31])), shape=(4, 2**31 + 1)), np.eye(4)
    for X, y in ((cells, None), (cells.tocsr(), None), (few, cells)):
        for use in (om.Dataset, om.UnivariateRanker().fit):
            with pytest.raises(DataError, match="has 2147483649 columns, more than 2147483647: use some"):
                use(X, y)
