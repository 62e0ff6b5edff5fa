"""Data of predictions beside those of training: dates, booleans and their texts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank.data.columns import table_from
from omnirank.data.estimator_input import columns_like
from omnirank.errors import DataError


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"wet": rng.random(40) < 0.5, "size": rng.normal(size=40)})


@pytest.fixture
def model(frame):
    return om.PCTRegressor(random_state=0).fit(frame, frame["wet"] * 2.0 + (frame["size"] > 0))


def test_dates_where_numbers_were_are_refused(model, frame, tmp_path):
    dated = frame.assign(size=pd.Timestamp("2020-01-01"))
    model.save(tmp_path / "model.omr")
    for fitted in (model, om.load_model(tmp_path / "model.omr")):
        with pytest.raises(DataError, match="feature 'size' was a number in training and holds dates now"):
            fitted.predict(dated)
        with pytest.raises(DataError, match="holds dates now"):
            fitted.predict(om.Dataset(dated))


def test_dates_where_dates_were_are_not(frame):
    dated = frame.assign(size=pd.date_range("2020-01-01", periods=40))
    fitted = om.PCTRegressor(random_state=0).fit(dated, np.arange(40.0))
    assert fitted.predict(dated).shape == (40,)


def test_columns_without_names_keep_their_dates():
    training = table_from(np.zeros((2, 2)))
    found = columns_like(table_from(pd.DataFrame({"a": [1.0], "b": [pd.Timestamp(0)]})), training, by_name=False)
    assert found.dates == {"x1"}


def test_booleans_and_their_texts_are_the_same(model, frame):
    texts = frame.assign(wet=frame["wet"].map(str))
    expected = model.predict(frame)
    np.testing.assert_array_equal(model.predict(texts), expected)
    of_texts = om.PCTRegressor(random_state=0).fit(texts, frame["wet"] * 2.0 + (frame["size"] > 0))
    np.testing.assert_array_equal(of_texts.predict(frame), expected)
    with pytest.warns(UserWarning, match="levels that were not in the training data"):
        model.predict(frame.assign(wet="perhaps"))
