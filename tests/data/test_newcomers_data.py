"""What trips newcomers who bring data of their own: each has an answer that says what to do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import omnirank as om
from omnirank.errors import DataError, DataTypeError, DataWarning

FRAME = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [4.0, 1.0, 2.0, 0.0]})
Y = ["u", "v", "u", "v"]


def ranker(**options):
    return om.EnsembleRanker(n_trees=2, min_samples_leaf=1, random_state=0, **options)


@pytest.mark.parametrize(
    "use",
    [
        lambda lazy: ranker().fit(lazy, Y),
        lambda lazy: ranker().fit(FRAME, lazy),
        lambda lazy: om.Dataset(lazy, Y),
        lambda lazy: ranker().fit(FRAME, Y).transform(lazy),
        lambda lazy: om.PCTClassifier().fit(FRAME, Y).predict(lazy),
    ],
    ids=["fit", "y", "Dataset", "transform", "predict"],
)
def test_lazy_frames_are_to_be_collected(use):
    with pytest.raises(DataTypeError, match=r"LazyFrame is lazy: collect\(\) it first"):
        use(pl.from_pandas(FRAME).lazy())


@pytest.mark.parametrize("y", [[None] * 4, np.full(4, np.nan), pd.Series([pd.NA] * 4)])
def test_a_target_without_any_value_is_told(y):
    with pytest.warns(DataWarning, match="no value of the target is known: features are ranked without it"):
        assert ranker().fit(FRAME, y).task_ == "clustering"
    data = om.Dataset(FRAME, Y).hide_labels(slice(None))
    with pytest.warns(DataWarning, match="no value of the target is known"):
        ranker().fit(data)


def test_an_empty_text_among_label_sets():
    with pytest.raises(DataError, match=r"an empty text among the labels of row 1: .*set\(\) has no label"):
        om.Dataset(FRAME, [{"a"}, {"a", ""}, {"b"}, None])
    with pytest.raises(DataError, match="an empty text among the labels of row 2"):
        om.Dataset(FRAME, [["a"], ["a", "b"], [""], None])


def test_dates_of_a_file_are_those_of_a_frame(tmp_path):
    when = pd.Series(["2020-01-31", "1969-12-31", None, "2021-06-01"])
    clock = pd.Series(["2020-01-31 12:30", "2020-01-31T12:30:05", "2020-02-01 00:00:00.5", None])
    text = pd.Series(["2020-01-31", "soon", None, "2021-06-01"])
    FRAME.assign(when=when, clock=clock, text=text).to_csv(tmp_path / "d.csv", index=False)
    content = om.load(tmp_path / "d.csv").features
    frame = om.Dataset(
        FRAME.assign(when=pd.to_datetime(when), clock=pd.to_datetime(clock, format="ISO8601"), text=text)
    ).features
    assert content.equals(frame)
    assert content.dates == frame.dates == {"when", "clock"}
    assert content.levels[4] is not None
    as_asked = om.load(tmp_path / "d.csv", nominal="when").features
    assert as_asked.levels[2] == ("1969-12-31", "2020-01-31", "2021-06-01")
    assert as_asked.dates == {"clock"}
