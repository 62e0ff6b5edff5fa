"""Codes of identifiers, order of facts, cells of keys: the parts that conversion is made of."""

from __future__ import annotations

import warnings
from datetime import date
from decimal import Decimal
from uuid import UUID

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnirank.data.notes import warn_about
from omnirank.errors import DataError, DataTypeError, DataWarning
from omnirank.relational import RelationalDataset
from omnirank.relational.cells import KeyCells, code_composite, code_identifiers, key_cells, value_cells
from omnirank.relational.database import sorted_facts, unique_order

small, wide = st.integers(-5, 5), st.integers(-(2**62), 2**62)
columns_of_integers = st.lists(st.lists(st.none() | small) | st.lists(st.none() | wide), min_size=1, max_size=3)


def cells_of(values, dtype=np.int64, fill=0):
    known = np.array([value is not None for value in values], bool)
    filled = np.array([fill if value is None else value for value in values], dtype)
    return KeyCells(filled, None if known.all() else known)


@pytest.mark.slow
@given(columns_of_integers)
def test_codes_are_places_among_the_sorted_identifiers(columns):
    coded = code_identifiers([cells_of(column) for column in columns])
    expected = sorted({value for column in columns for value in column if value is not None})
    assert coded.identifiers.tolist() == expected
    for column, codes in zip(columns, coded.codes, strict=True):
        assert codes.dtype == np.int32
        assert codes.tolist() == [-1 if value is None else expected.index(value) for value in column]


@given(st.lists(st.lists(st.none() | st.text(max_size=3)), min_size=1, max_size=3))
def test_codes_of_texts(columns):
    coded = code_identifiers([cells_of(column, object, "") for column in columns])
    expected = sorted({value for column in columns for value in column if value is not None})
    assert coded.identifiers.tolist() == expected
    for column, codes in zip(columns, coded.codes, strict=True):
        assert codes.tolist() == [-1 if value is None else expected.index(value) for value in column]


@given(st.lists(st.lists(st.tuples(st.none() | wide, st.none() | small)), min_size=1, max_size=3))
def test_codes_of_several_cells(places):
    given_cells = [(cells_of([a for a, _ in rows]), cells_of([b for _, b in rows])) for rows in places]
    coded = code_composite(given_cells, ["a", "b"])
    expected = sorted({row for rows in places for row in rows if None not in row})
    assert coded.identifiers.tolist() == expected
    for rows, codes in zip(places, coded.codes, strict=True):
        assert codes.tolist() == [-1 if None in row else expected.index(row) for row in rows]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3))))
def test_facts_are_sorted_and_different(facts):
    arrays = tuple(np.array([fact[i] for fact in facts], np.int32) for i in range(2))
    times = np.array([fact[2] for fact in facts], float)
    found, earliest = sorted_facts(arrays, times)
    expected = sorted({fact[:2] for fact in facts})
    assert list(zip(*(array.tolist() for array in found), strict=True)) == expected
    assert earliest.tolist() == [min(t for *fact, t in facts if tuple(fact) == one) for one in expected]
    assert [a.tolist() for a in sorted_facts(arrays)[0]] == [a.tolist() for a in found]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3))), st.booleans())
def test_order_of_keys(keys, both):
    codes = [np.array([key[i] for key in keys], np.int32) for i in range(1 + both)]
    rows = [key[: 1 + both] for key in keys]
    order = unique_order(codes)
    if len(set(rows)) < len(rows):
        assert order is None
    else:
        assert [rows[i] for i in order] == sorted(rows)


def series(values, **options):
    return nw.from_native(pd.Series(values, **options), series_only=True)


@pytest.mark.parametrize(
    ("given_series", "expected"),
    [
        (series([2.0, None]), [2, None]),
        (series([1.5, 2.5]), [1.5, 2.5]),
        (series(["a", None]), ["a", None]),
        (series([UUID(int=1), None], dtype=object), [str(UUID(int=1)), None]),
        (series([b"\x01", b"\xff"], dtype=object), ["01", "ff"]),
        (series([1, None, 3], dtype=object), [1, None, 3]),
        (series([1, "a"], dtype=object), ["1", "a"]),
        (series([True, False]), [1, 0]),
        (series([True, None], dtype="boolean"), [1, None]),
        (series(pd.to_datetime(["1970-01-02", None])), [86400, None]),
        (series([2**63 + 1], dtype="uint64"), [str(2**63 + 1)]),
        (series([], dtype=object), []),
        (nw.from_native(pl.Series([1, None, 2]), series_only=True), [1, None, 2]),
        (nw.from_native(pl.Series(["b", None], dtype=pl.Categorical), series_only=True), ["b", None]),
    ],
)
def test_key_cells(given_series, expected):
    found = key_cells(given_series, "column 'id'")
    known = np.ones(len(found.values), bool) if found.known is None else found.known
    assert [value if k else None for value, k in zip(found.values.tolist(), known, strict=True)] == expected


def test_what_cannot_be_a_key_or_a_value():
    with pytest.raises(DataTypeError, match="column 'id' holds a list"):
        key_cells(series([[1], [2]], dtype=object), "column 'id'")
    with pytest.raises(DataError, match="infinite value among its identifiers"):
        key_cells(series([np.inf]), "column 'id'")
    with pytest.raises(DataError, match=r"infinite value \(inf\) in row 1"):
        value_cells(series([1.0, np.inf]), "column 'x'")


def test_values_of_databases():
    assert value_cells(series([Decimal("1.5"), None], dtype=object), "x").cells.tolist()[:1] == [1.5]
    assert value_cells(series([date(1970, 1, 2), None], dtype=object), "x").is_date
    assert value_cells(series([UUID(int=2)], dtype=object), "x").levels == (str(UUID(int=2)),)
    assert value_cells(series([None, None], dtype=object), "x").known.tolist() == [False, False]


def test_what_notes_say_is_warned_of_once():
    frame = pd.DataFrame({"id": np.arange(50), "x": 1.0, "y": np.arange(50) % 2})
    data = RelationalDataset.from_frames({"t": frame}, target="t.y")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warn_about(data)
        warn_about(data.take([0, 1]))
    assert [(w.category, str(w.message)) for w in told] == [(DataWarning, "feature 't.x' holds one value only")]
