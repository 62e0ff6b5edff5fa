"""Selections of relations."""

from __future__ import annotations

import numpy as np
import pytest

import omnirank as om
from omnirank.core.seeds import root_entropy, stream
from omnirank.errors import DataError, DataTypeError, ParameterError
from omnirank.evaluation.folds import labelled_folds
from omnirank.relational import RelationalForest, RelationalRanker

MOVIES = om.datasets.make_movies(60, random_state=0)


@pytest.mark.slow
def test_relations_that_suffice_are_selected():
    data = om.datasets.make_movies(120, random_state=0)
    ranker = RelationalRanker(n_trees=10, random_state=0)
    found = om.select(ranker, data, n_folds=3, random_state=0)
    assert {"ratings_stars", "ratings_movie_id", "users_age"} <= set(found.names)
    assert len(found.names) < 12
    assert found.apply(data).feature_names == tuple(name for name in data.feature_names if name in found.names)
    assert not hasattr(ranker, "ranking_")
    # drop and refit: each size is a forest that sees these relations only, ranked without the test examples
    [fold, *_] = labelled_folds(data, 3, stream(root_entropy(0), 2**31 + 2))
    train, test = fold.training(data), fold.testing(data)
    own = RelationalRanker(n_trees=10, random_state=0).fit(train).ranking_
    kept = RelationalForest(n_trees=50, random_state=0).fit(train.select_features(own.top(4)))
    value = (kept.predict(test) == test.y).mean()
    curve = om.select(ranker, data, by="forest", sizes=[4], measure="accuracy", n_folds=3, random_state=0).curve
    assert curve.values[0, 0] == pytest.approx(value)


def test_selections_of_relations_refuse_what_they_have_not():
    for wrong in ({"by": "significance"}, {"redundancy": 0.9}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            om.select(RelationalRanker(), MOVIES, **wrong)
    with pytest.raises(ParameterError, match="has no groups"):
        om.select(RelationalRanker(), MOVIES, groups=np.zeros(60))
    with pytest.raises(DataTypeError, match="RelationalRanker"):
        om.select(om.EnsembleRanker(), MOVIES)
    with pytest.raises(DataError, match=r"no relation 'rating_stars'.*ratings_stars"):
        MOVIES.select_features(["rating_stars"])
