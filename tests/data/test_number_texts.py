"""Columns that are left out may hold anything; numbers with a comma or a unit are told."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank.data.notes.doubts import what_numbers_have
from omnirank.errors import FileFormatError, ParameterError

N = 40
VALUES = np.round(np.random.default_rng(0).normal(size=N), 2)
MIXED = [f"{value} kg" if i % 2 else str(value) for i, value in enumerate(VALUES)]


def file(tmp_path, separator=",", **columns):
    kind = np.where(np.random.default_rng(1).random(N) < 0.5, "a", "b")
    frame = pd.DataFrame({"x": np.arange(N) % 7 / 3, **columns, "kind": kind})
    frame.to_csv(tmp_path / "data.csv", sep=separator, index=False)
    return tmp_path / "data.csv"


@pytest.mark.parametrize("left_out", [{"ignore": "w"}, {"key": "w"}, {"features": "x"}])
def test_columns_that_are_left_out_may_hold_anything(tmp_path, left_out):
    path = file(tmp_path, w=MIXED)
    data = om.load(path, "kind", **left_out)
    assert data.feature_names == ("x",)
    assert data.features.levels == (None,)


@pytest.mark.parametrize("wrong", ["ignore", "key", "features"])
def test_columns_that_are_not_there_are_named_by_their_parameter(tmp_path, wrong):
    with pytest.raises(ParameterError, match=f"{wrong}='zz': there is no such column"):
        om.load(file(tmp_path), "kind", **{wrong: "zz"})


def test_text_in_a_column_of_numbers_says_what_it_looks_like(tmp_path):
    with pytest.raises(FileFormatError, match=r"20 of 20 such cells look like numbers with 'kg'.*ignore='w' leaves"):
        om.load(file(tmp_path, w=MIXED), "kind")


def test_decimal_commas_and_units_of_features_are_told(tmp_path):
    commas = [str(value).replace(".", ",") for value in VALUES + 0.001]
    notes = om.load(file(tmp_path, ";", w=commas), "kind", separator=";").notes
    assert any(note.startswith("feature 'w' is taken as categories, but 40 of 40 cells") for note in notes), notes
    notes = om.load(file(tmp_path, w=[f"{value} kg" for value in VALUES]), "kind").notes
    assert any("40 of 40 cells look like numbers with 'kg'" in note for note in notes), notes


def test_a_target_of_decimal_commas_is_told():
    X = np.random.default_rng(0).normal(size=(N, 2))
    y = [str(value).replace(".", ",") for value in VALUES + 0.001]
    assert any("with a comma" in note for note in om.Dataset(X, y).notes)


@pytest.mark.parametrize(
    "texts",
    [["1st", "2nd", "3rd", "4th"], ["18-25", "26-40", "41-60"], ["12A", "13B", "14C"], ["S", "M"], ["x1", "x2", "x3"]],
)
def test_other_texts_are_no_numbers(texts):
    assert what_numbers_have(dict.fromkeys(texts, 10)) == ""


@pytest.mark.parametrize(("texts", "what"), [(["5 %", "7%", "1.5%"], "'%'"), (["$5", "$ 6.5", "$7"], "'$'")])
def test_percent_and_currencies(texts, what):
    assert f"numbers with {what}" in what_numbers_have(dict.fromkeys(texts, 1))
