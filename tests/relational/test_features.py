"""`RelationalFeatures`: a database as a table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import omnirank as om
from omnirank.errors import DataError, DataTypeError, ParameterError
from omnirank.relational import RelationalDataset, RelationalFeatures
from omnirank.relational.candidates import Bias, candidates

MOVIES = pd.DataFrame({"id": ["m1", "m2", "m3"], "genre": ["thriller", "drama", "drama"], "year": [1990, 1991, 1992]})
RATINGS = pd.DataFrame(
    {
        "id": ["r1", "r2", "r3", "r4"],
        "movie_id": ["m1", "m1", "m2", "m2"],
        "stars": [3.0, 2.0, 3.0, np.nan],
        "day": ["sat", "sun", "sun", "sun"],
    }
)


def frames(movies=MOVIES, ratings=RATINGS):
    return {"movies": movies, "ratings": ratings}


TYPES = {"ratings.stars": "numeric", "movies.year": "numeric", "ratings.day": "nominal"}


def data(types=TYPES, **changes) -> RelationalDataset:
    keys = {"movies": "id", "ratings": "id", "ratings.movie_id": "movies"}
    return RelationalDataset.from_frames(frames(**changes), target="movies.genre", keys=keys, types=types)


def test_the_table_has_a_row_per_example_with_its_identifier():
    features = RelationalFeatures(lookahead=2, aggregates=["count", "mean", "mode"])
    frame = features.fit_transform(data())
    assert frame.index.tolist() == ["m1", "m2", "m3"]
    assert frame.index.name == "movies"
    assert frame["year"].tolist() == [1990, 1991, 1992]
    assert frame["count(ratings)"].tolist() == [2, 2, 0]
    assert frame["mode(ratings.day)"].tolist()[:2] == ["sat", "sun"]
    assert list(frame.columns) == features.get_feature_names_out().tolist()


def test_nothing_to_aggregate_is_missing():
    names = ["mean(ratings.stars)", "max(ratings.stars)", "mode(ratings.day)", "sum(ratings.stars)"]
    missing = RelationalFeatures(features=names).fit_transform(data())
    assert missing.iloc[2].isna().tolist() == [True, True, True, False]
    assert np.isfinite(missing["mean(ratings.stars)"].dropna()).all()


def test_a_table_is_a_data_set_for_any_ranker_and_file(tmp_path):
    table = RelationalFeatures().fit(data()).to_dataset(data())
    assert table.task == "classification"
    assert table.y.tolist() == ["thriller", "drama", "drama"]
    assert om.make_ranker("univariate").fit(table).ranking_.names == table.feature_names
    om.write_parquet(table, tmp_path / "movies.parquet")
    again = om.load(tmp_path / "movies.parquet", target=table.target_names[0])
    assert again.feature_names == table.feature_names
    assert again.y.tolist() == table.y.tolist()


def test_another_database_of_the_same_schema_is_transformed_as_it_is_alone():
    features = RelationalFeatures().fit(data())
    movies = pd.DataFrame({"id": ["x", "y"], "genre": ["drama", "drama"], "year": [2000, 2001]})
    ratings = pd.DataFrame({"id": [1, 2, 3], "movie_id": ["x", "x", "y"], "stars": [1.0, 5, 4], "day": ["sun"] * 3})
    frame = features.transform(data(movies=movies, ratings=ratings))
    assert frame.loc["x", "mean(ratings.stars)"] == 3
    assert frame["mode(ratings.day)"].tolist() == ["sun", "sun"]
    assert frame["mode(ratings.day)"].cat.categories.tolist() == ["sat", "sun"]


def test_levels_that_were_not_fitted_are_missing_with_a_warning():
    features = RelationalFeatures(features=["mode(ratings.day)"]).fit(data())
    other = data(ratings=RATINGS.assign(day=["sat", "sat", "mon", "mon"]))
    with pytest.warns(UserWarning, match=r"values that the data of the fit did not have.* ratings.day \(mon\)"):
        frame = features.transform(other)
    assert frame.iloc[:, 0].tolist()[0] == "sat"
    assert frame.iloc[:, 0].isna().tolist() == [False, True, True]


def test_features_can_be_chosen_by_name_or_as_they_are():
    known = candidates(data().database, ("movies",), (), Bias())
    chosen = RelationalFeatures(features=[known[1], "year", known[1]]).fit(data())
    assert chosen.get_feature_names_out().tolist() == [known[1].name, "year"]
    only = RelationalFeatures(features=known[:2]).fit(data())
    assert only.features_ == known[:2]
    with pytest.raises(ParameterError, match=r"at most 2 steps.*did you mean 'mean\(ratings.stars\)'"):
        RelationalFeatures(features=["mean(ratings.star)"]).fit(data())


def test_other_data_are_refused():
    with pytest.raises(DataTypeError, match="takes a RelationalDataset, not DataFrame"):
        RelationalFeatures().fit(MOVIES)
    features = RelationalFeatures().fit(data())
    keys = {"movies": "id", "ratings": "id", "ratings.movie_id": "movies"}
    by_rating = RelationalDataset.from_frames(frames(), target="ratings.stars", keys=keys)
    with pytest.raises(DataError, match="the examples are ratings, but the model was fitted to movies"):
        features.transform(by_rating)
    texts = RelationalDataset.from_frames(
        frames(ratings=RATINGS.assign(stars=["a", "b", "c", "d"])), target="movies.genre", keys=keys
    )
    with pytest.raises(DataError, match=r"ratings.stars is nominal here, but numeric"):
        features.transform(texts)
    with pytest.raises(DataError, match="there is no feature to construct"):
        RelationalFeatures(features=[]).fit(data())


def test_the_order_of_rows_changes_no_bit():
    base = RelationalFeatures(lookahead=3).fit_transform(data())
    mixed = data(movies=MOVIES.sample(frac=1, random_state=1), ratings=RATINGS.sample(frac=1, random_state=2))
    other = RelationalFeatures(lookahead=3).fit_transform(mixed)
    pd.testing.assert_frame_equal(base, other, check_exact=True)


def test_an_estimator_with_the_manners_of_scikit_learn():
    features = RelationalFeatures(lookahead=3, aggregates=("mean",))
    assert clone(features).get_params() == features.get_params()
    with pytest.raises(ValueError, match="not fitted"):
        features.transform(data())


def test_movies_are_told_apart_by_a_constructed_feature():
    movies = om.datasets.make_movies(random_state=0)
    table = RelationalFeatures(lookahead=3).fit(movies).to_dataset(movies)
    assert "mean(ratings.user.age)" in table.feature_names
    assert om.make_ranker("univariate").fit(table).ranking_.top(1) == ["mean(ratings.stars)"]


def test_relations_that_no_feature_uses_may_be_missing_or_new():
    features = RelationalFeatures(features=["mean(ratings.stars)"]).fit(data())
    expected = features.transform(data())
    without = data(ratings=RATINGS.drop(columns="day"), types={"ratings.stars": "numeric"})
    pd.testing.assert_frame_equal(features.transform(without), expected)
    with pytest.raises(DataError, match=r"there is no ratings.stars, which the model was fitted to"):
        features.transform(data(ratings=RATINGS.drop(columns="stars"), types={"ratings.day": "nominal"}))


def test_a_tie_between_categories_is_broken_as_in_the_fitted_database():
    days = RATINGS.assign(day=["sun", "zzz", "sun", "sun"])
    features = RelationalFeatures(features=["mode(ratings.day)"]).fit(data(ratings=days))
    other = data(ratings=RATINGS.assign(day=["aaa", "sun", "sun", "sun"]))
    with pytest.warns(UserWarning, match="aaa"):
        frame = features.transform(other)
    assert frame.iloc[:, 0].tolist()[0] == "sun"
