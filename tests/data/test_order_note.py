"""A note where rows go along with those before them, and none where they are only sorted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import omnirank as om


def noted(X, y, **given):
    data = om.Dataset(X, y)
    return any("like the rows before" in note for note in (data.with_groups(**given) if given else data).notes)


def series(n=300, columns=6, share=0.8):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(n, columns))
    for i in range(1, n):
        values[i] = share * values[i - 1] + np.sqrt(1 - share**2) * values[i]
    return values[:, 1:], values[:, 0]


@pytest.mark.parametrize("target", ["number", "classes", "numbers", "few labels"])
def test_rows_in_time_are_noted(target):
    X, y = series()
    order = np.random.default_rng(1).permutation(300)
    known = np.where(np.arange(300) % 3 > 0, np.nan, 1.0)
    y = {"number": y, "classes": np.where(y > 0, "a", "b"), "numbers": np.column_stack([y, X[:, 0]])}.get(
        target, y * known
    )
    assert noted(X, y)
    assert not noted(X[order], y[order])
    assert not noted(X, y, groups=np.arange(300) // 20)


def test_rows_of_subjects_are_noted():
    X, y = np.repeat(np.random.default_rng(0).normal(size=(2, 60, 4)), 5, axis=1)
    rng = np.random.default_rng(1)
    assert noted(X + rng.normal(size=X.shape), y[:, 0] + rng.normal(size=300))


def test_rows_that_are_sorted_are_not():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 100)
    X = rng.normal(size=(300, 6)) + np.repeat([0, 1, 3], 100)[:, None]
    assert not noted(X, y)
    assert not noted(X, np.sort(X[:, 0] + rng.normal(size=300)))


def test_the_order_is_that_of_the_first_date():
    X, y = series()
    frame = pd.DataFrame(X).add_prefix("x").assign(day=pd.date_range("2020-01-01", periods=300))
    order = np.random.default_rng(1).permutation(300)
    data = om.Dataset(frame.iloc[order], y[order])
    assert any("in the order of 'day'" in note for note in data.notes)


def test_a_date_as_target_is_no_feature_to_order_by():
    days = pd.date_range("2021-01-01", periods=60).strftime("%Y-%m-%d")
    frame = pd.DataFrame({"x": np.random.default_rng(0).normal(size=60), "day": pd.to_datetime(days)})
    table = om.Dataset(frame).features
    assert table.dates == {"day"}
    assert not table.select([0]).dates
