"""The judge of relational rankings: neighbours in a distance that relations weigh."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.relational.plain import one_table

import omnirank as om
from draws import draws
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import root_entropy, stream
from omnirank.errors import DataError, DataTypeError, ParameterError
from omnirank.evaluation.cross import evaluate_relational
from omnirank.evaluation.folds import labelled_folds
from omnirank.evaluation.relational import RelationalNeighbors
from omnirank.relational import RelationalDataset, RelationalForest, RelationalRanker
from omnirank.relational.candidates import Bias, Candidates
from omnirank.relational.paths import example_variables
from reference.evaluation_relational import distance
from reference.relational_cases import databases

MOVIES = om.datasets.make_movies(60, random_state=0)


def walks(data):
    found = Candidates(data.database, data.example_types, Bias(lookahead=2, modes=data.modes, max_candidates=None))
    return [path for paths in found.levels(()) for path in paths]


@draws(30)
@given(databases(with_times=True), st.data())
def test_distances_are_those_of_the_definition(database, draw):
    n = len(database.objects["a"])
    times = np.array(draw.draw(st.lists(st.sampled_from([0.0, 1.0, np.inf]), min_size=n, max_size=n)))
    data = RelationalDataset(database, ("a",), (np.arange(n, dtype=np.int32),), None, "clustering", times=times)
    weights = {name: draw.draw(st.sampled_from([0.0, 0.5, 2.0])) for name in database.relations}
    ranking = Ranking(tuple(weights), np.array([*weights.values()]), "own")
    found = RelationalNeighbors(ranking, data).distances(data, data)
    counted = {name: weight for name, weight in weights.items() if weight > 0} or dict.fromkeys(weights, 1.0)
    kinds, paths = example_variables(("a",)), walks(data)
    for i in range(n):
        for j in range(n):
            expected = distance(database, paths, counted, (i,), (j,), kinds, (times[i], times[j]))
            assert found[i, j] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_of_one_table_the_judge_is_that_of_tables():
    iris = om.datasets.load_sample("iris")
    train, test = (iris.take(rows) for rows in np.split(np.random.default_rng(0).permutation(150), [100]))
    ranking = om.UnivariateRanker().fit(train).ranking_
    whole = one_table(om.Dataset(iris.features, iris.y))
    named = Ranking(tuple(f"rows_{name}" for name in ranking.names), ranking.scores, "own")
    order = np.random.default_rng(0).permutation(150)
    judge = RelationalNeighbors(named, whole.take(order[:100]), n_neighbors=20)
    means = judge.predict_means(whole.take(order[100:]))
    right = np.array(iris.y)[order[100:]] == np.unique(iris.y)[means.argmax(axis=1)]
    # ranges are those of all examples here
    assert right.mean() == pytest.approx(om.evaluate(ranking, train, test, n_neighbors=20)["accuracy"], abs=0.021)


def test_a_good_ranking_beats_equal_weights():
    data = om.datasets.make_movies(120, random_state=1)
    ranker = RelationalRanker(by="column", n_trees=10, random_state=0)
    found = evaluate_relational({"ranked": ranker}, data, by="neighbors", n_folds=3, random_state=0)
    accuracy = found.summary[found.summary["measure"] == "accuracy"].set_index("model")["value"]
    assert accuracy["ranked"] > accuracy["equal weights"] > accuracy["constant"]
    assert len(found.rankings["ranked"]) == 3


def test_what_is_refused():
    judge = RelationalNeighbors(None, MOVIES)
    with pytest.raises(DataError, match="in the database of the training examples"):
        judge.predict_means(om.datasets.make_movies(60, random_state=0))
    tables = RelationalRanker(by="table", n_trees=2, random_state=0).fit(MOVIES).ranking_
    with pytest.raises(DataError, match="neighbours weigh relations"):
        RelationalNeighbors(tables, MOVIES).predict_means(MOVIES)
    with pytest.raises(ParameterError, match="by"):
        evaluate_relational({"forest": RelationalForest()}, MOVIES, by="trees")


@pytest.mark.slow
@pytest.mark.parametrize("by", ["forest", "neighbors"])
def test_relations_that_suffice_are_selected(by):
    data = om.datasets.make_movies(120, random_state=0)
    ranker = RelationalRanker(n_trees=10, random_state=0)
    found = om.select(ranker, data, by=by, n_folds=3, random_state=0)
    assert {"ratings_stars", "ratings_movie_id", "users_age"} <= set(found.names)
    assert len(found.names) < 12
    assert found.apply(data).feature_names == tuple(name for name in data.feature_names if name in found.names)
    assert not hasattr(ranker, "ranking_")
    # drop and refit: each size is a forest that sees these relations only, ranked without the test examples
    [fold, *_] = labelled_folds(data, 3, stream(root_entropy(0), 2**31 + 2))
    train, test = fold.training(data), fold.testing(data)
    own = RelationalRanker(n_trees=10, random_state=0).fit(train).ranking_
    if by == "forest":
        best = [name for name in data.feature_names if name in own.top(4)]  # trees depend on the order of relations
        kept = RelationalForest(n_trees=50, random_state=0).fit(train.select_features(best))
        value = (kept.predict(test) == test.y).mean()
        curve = om.select(ranker, data, by=by, sizes=[4], measure="accuracy", n_folds=3, random_state=0).curve
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
