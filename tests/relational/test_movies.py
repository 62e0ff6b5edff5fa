"""The table of features of the movies database (fig. 2 of the ensembles paper), fast and from the definition."""

from __future__ import annotations

import math

import numpy as np
import pytest

from omnirank.relational.candidates import candidates
from omnirank.relational.evaluation import feature_columns
from omnirank.relational.paths import Feature, Step, example_variables
from reference.relational import value
from reference.relational_cases import Examples, movies

RATINGS = Step("ratings_movie", ((1, 0),))
USER = Step("ratings_user", ((0, 1),))
OF_USER = Step("ratings_user", ((1, 2),))
INF = math.inf
TABLE = {
    "count of ratings": (Feature((RATINGS,), None, ("count",)), [2, 1, 0]),
    "mean stars": (Feature((RATINGS, Step("ratings_stars", ((0, 1),))), 2, ("mean", "identity")), [2.5, 3, INF]),
    "max stars": (Feature((RATINGS, Step("ratings_stars", ((0, 1),))), 2, ("max", "identity")), [3, 3, -INF]),
    "mean user age": (
        Feature((RATINGS, USER, Step("users_age", ((0, 2),))), 3, ("mean", "identity", "identity")),
        [42, 62, INF],
    ),
    "min user age": (
        Feature((RATINGS, USER, Step("users_age", ((0, 2),))), 3, ("min", "identity", "identity")),
        [22, 62, INF],
    ),
    "different nations": (
        Feature((RATINGS, USER, Step("users_nation", ((0, 2),))), 3, ("count_unique", "identity", "identity")),
        [2, 1, 0],
    ),
    "sum of counts": (Feature((RATINGS, USER, OF_USER), None, ("sum", "identity", "count")), [3, 2, 0]),
    "mean of counts": (Feature((RATINGS, USER, OF_USER), None, ("mean", "identity", "count")), [1.5, 2, INF]),
    "mean of mean stars": (
        Feature(
            (RATINGS, USER, OF_USER, Step("ratings_stars", ((0, 3),))), 4, ("mean", "identity", "mean", "identity")
        ),
        [2.75, 2.5, INF],
    ),
    "walks to movies": (
        Feature((RATINGS, USER, OF_USER, Step("ratings_movie", ((0, 3),))), None, ("sum", "sum", "sum", "count")),
        [3, 2, 0],
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_features_have_the_values_of_the_table(name):
    feature, expected = TABLE[name]
    database = movies()
    kinds = example_variables(("movies",))
    assert [value(database, feature, (code,), kinds) for code in range(3)] == expected
    assert feature_columns(Examples(database, ("movies",)), [feature]).column(0).tolist() == expected


def test_walks_from_a_movie_lead_back_to_it_and_to_other_movies_of_its_raters():
    path = (RATINGS, USER, OF_USER, Step("ratings_movie", ((0, 3),)))
    reached = Feature(path, 4, ("sum", "sum", "sum", "count_unique"))
    different = Feature(path, 4, ("max", "max", "count_unique", "identity"))
    table = feature_columns(Examples(movies(), ("movies",)), [reached, different])
    # m1 by r1-u1-r1, m1 and m2 by r2-u3-r2 and r2-u3-r3: three walks, of which two movies are seen by u3.
    assert table.column(0).tolist() == [3, 2, 0]
    assert table.column(1).tolist() == [2, 2, -INF]


def test_names_and_sentences():
    from omnirank.relational.candidates import Bias

    found = {f.name: f.sentence for f in candidates(movies(), ("movies",), (), Bias(lookahead=4))}
    assert found["mean(ratings.stars)"] == "mean stars of its ratings"
    assert found["mean(ratings.user.age)"] == "mean age of the users of its ratings"
    assert found["count(ratings)"] == "number of its ratings"
    assert found["count_unique(ratings.user)"] == "number of different users of its ratings"
    assert found["mode(ratings.user.nation)"] == "most frequent nation of the users of its ratings"
    assert found["genre"] == "its genre"
    nested = "mean over its ratings of (mean stars of the ratings of its user)"
    assert found["mean(ratings.user.mean(ratings.stars))"] == nested


def test_facts_after_an_example_do_not_count():
    database = movies(times=True)
    feature = TABLE["mean of mean stars"][0]
    times = np.array([19950110.0, 19950121.0, 19950121.0])
    examples = Examples(database, ("movies",), times=times)
    # On the 10th, u3 had given 2 stars only; on the 21st, m2 sees all ratings.
    assert feature_columns(examples, [feature]).column(0).tolist() == [2.5, 2.5, INF]
    early = Examples(database, ("movies",), times=np.array([19950105.0, 19950120.0, 0.0]))
    assert feature_columns(early, [TABLE["count of ratings"][0]]).column(0).tolist() == [1, 0, 0]
