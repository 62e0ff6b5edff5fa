"""Indexes, and values by object that are kept within a bound."""

from __future__ import annotations

import numpy as np
import pytest

from omnirank.relational.aggregation import Values, aggregate
from omnirank.relational.candidates import Bias, candidates
from omnirank.relational.database import ValueCache
from omnirank.relational.evaluation import feature_columns
from reference.relational_cases import Examples, database, movies, nominal, number, relation, thing


def test_values_used_last_are_kept():
    cache = ValueCache(24)
    for key in "abc":
        cache.put(key, Values(np.zeros(1)))
    assert cache.get("a") is not None
    cache.put("d", Values(np.ones(1)))
    assert [cache.get(key) is not None for key in "abcd"] == [True, False, True, True]
    cache.put("large", Values(np.zeros(4)))
    assert cache.get("large") is None
    assert cache.get("d") is not None


def test_columns_do_not_depend_on_the_memory():
    base = movies()
    features = candidates(base, ("movies",), (), Bias(lookahead=4))
    plenty = feature_columns(Examples(base, ("movies",)), features)
    assert base.caches.values.get((("object", "movies"), features[0].request)) is not None
    forgetful = movies()
    forgetful.caches.values = ValueCache(0)
    assert plenty.equals(feature_columns(Examples(forgetful, ("movies",)), features))
    assert forgetful.caches.values.get((("object", "movies"), features[0].request)) is None


def test_an_index_of_several_places_finds_what_agrees_with_all():
    rows = [(0, 0, 1.0), (0, 1, 2.0), (1, 1, 3.0), (1, 1, 4.0)]
    triple = relation("t", None, [thing("a", "a"), thing("b", "b"), number("x")], rows)
    base = database({"a": ["a0", "a1", "a2"], "b": ["b0", "b1"]}, triple)
    index = base.index(triple.name, (0, 1))
    codes = [np.array([1, 0, 2, -1, 1, 0], np.int32), np.array([1, 1, 0, 0, 0, -1], np.int32)]
    starts, ends = index.ranges(codes)
    assert (ends - starts).tolist() == [2, 1, 0, 0, 0, 0]
    assert triple.facts[2][index.facts(np.arange(starts[0], ends[0]))].tolist() == [3, 4]
    assert not index.is_functional
    assert base.index(triple.name, (0, 1)) is index


def test_an_index_knows_functions_and_columns():
    link = relation("b", "a", [thing("id", "b"), thing("a", "a")], [(0, 1), (1, 1), (2, 0)])
    base = database({"a": ["a0", "a1", "a2"], "b": ["b0", "b1", "b2"]}, link)
    forward, back = base.index(link.name, (0,)), base.index(link.name, (1,))
    assert (forward.is_functional, forward.is_total, forward.is_plain) == (True, True, True)
    assert (back.is_functional, back.is_total, back.is_plain) == (False, False, False)
    empty = relation("e", "a", [thing("id", "b"), thing("a", "a")], [])
    index = database({"a": ["a0"], "b": []}, empty).index(empty.name, (0,))
    assert (index.is_functional, index.is_total) == (True, True)


@pytest.mark.parametrize("size", [5, 24, 25, 400])
def test_different_numbers_are_counted_in_groups_of_all_sizes(size):
    rng = np.random.default_rng(size)
    values = rng.integers(0, 9, size).astype(float)
    values[::5] = np.inf
    found = aggregate(
        Values(np.concatenate([values, values[::-1]])), np.array([0, size, 2 * size, 2 * size]), ["count_unique"]
    )
    known = len(set(values[np.isfinite(values)]))
    assert found["count_unique"].array.tolist() == [known, known, 0]


def test_the_first_of_equally_frequent_levels_is_the_mode():
    codes = np.array([2, 1, 1, 2, 0, -1, -1, -1], np.int32)
    found = aggregate(Values(codes, 3), np.array([0, 5, 8]), ["mode", "count", "count_unique"])
    assert found["mode"].array.tolist() == [1, -1]
    assert found["count"].array.tolist() == [5, 0]
    assert found["count_unique"].array.tolist() == [3, 0]


def test_a_level_called_none_takes_in_what_is_empty():
    base = database({"a": ["a0", "a1"]}, relation("a", "x", [thing("id", "a"), nominal("x", "<none>", "p")], [(0, 1)]))
    table = feature_columns(Examples(base, ("a",)), candidates(base, ("a",), (), Bias("NO-Rel")))
    assert table.to_frame()["x"].tolist() == ["p", "<none>"]


def test_strided_values_have_the_same_bits():
    values = np.random.default_rng(0).normal(size=1000) * 1e6
    table = np.stack([values, values], axis=1)
    offsets = np.array([0, 10, 1000])
    plain, strided = (aggregate(Values(v), offsets, ["sum", "mean"]) for v in (values, table[:, 0]))
    assert [plain[name].array.tobytes() for name in plain] == [strided[name].array.tobytes() for name in plain]
