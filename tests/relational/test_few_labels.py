"""Unlabelled examples in relational trees, forests and rankings, and rankings without a target."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.relational.plain import one_table
from tests.relational.test_learners import SINGLE, in_column_order, same_trees

import omnirank as om
from omnirank.ensembles.plan import GrowingRules
from omnirank.relational import Bias, RelationalFeatures, RelationalForest, RelationalRanker
from omnirank.relational.candidates import candidates
from omnirank.relational.training import RelationalGrowing
from reference.relational_impurity import gain

pytestmark = pytest.mark.slow  # kernels for two parts


def partly(data, n: int, seed: int = 0):
    """The same data with n labels."""
    return data.hide_labels(np.random.default_rng(seed).permutation(data.n_examples)[n:])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("w", [0.0, 0.3, 1.0])
def test_tests_gain_what_both_parts_of_the_impurity_lose(seed, w):
    rng = np.random.default_rng(seed)
    data = partly(om.datasets.make_movies(40, random_state=seed), 15, seed)
    data = replace(data, target=None, task="clustering") if seed == 5 else data
    if seed == 5 and w:
        return
    weight = rng.integers(1, 4, 40) / 2 if seed % 2 else np.ones(40)
    bias = Bias(aggregates=["count", "mean", "mode"], lookahead=2)
    growing = RelationalGrowing(data, 0, None if seed % 2 == 0 else weight, bias=bias)
    data, weight = (data.take(data.labelled), weight[data.labelled]) if w == 1 else (data, weight)
    rules = GrowingRules("bagging", bootstrap=False, max_features="all", min_samples_leaf=1, max_depth=1, supervision=w)
    found = growing.at_level(w).plan(rules).grow(0).grown
    left = np.isin(np.arange(len(weight)), found.rows[found.first[1] : found.last[1]])
    features = candidates(data.database, data.example_types, (), bias)
    assert len(features) < 300
    assert found.gain[0] == pytest.approx(gain(data, features, left, w, weight), rel=1e-9)
    for _ in range(20):  # no other way to divide them by a candidate gains more
        cells = growing.at_level(w).tables.cells([features[rng.integers(len(features))]])
        if not cells.is_nominal[0] and (below := cells.column(0) <= rng.choice(cells.column(0))).any():
            assert gain(data, features, below, w, weight) <= found.gain[0] * (1 + 1e-9)


@pytest.mark.parametrize("kind", ["classes", "numbers", "labels"])
@pytest.mark.parametrize("w", [0.5, 0.0])
def test_a_single_table_gives_the_trees_of_a_table(kind, w):
    dataset = SINGLE[kind].keep_labels(40, random_state=0)
    plain = om.PCTForestRegressor if kind == "numbers" else om.PCTForestClassifier
    shared = {"n_trees": 3, "min_samples_leaf": 1, "supervision": w, "random_state": 5}
    expected = plain("bagging", min_labelled_leaf=1, **shared).fit(dataset)
    found = RelationalForest(**shared).fit(one_table(dataset))
    for one, other in zip(in_column_order(found, dataset), expected.trees_, strict=True):
        same_trees(one, other)
    assert (found.supervision_, found.supervision_reason_) == (w, "given")


def test_the_level_is_chosen_as_in_a_table():
    dataset = SINGLE["classes"].keep_labels(30, random_state=0)
    shared = {"n_trees": 25, "min_samples_leaf": 1, "random_state": 5}
    for given in ("auto", {"levels": [0, 0.5, 1], "folds": 4}):
        expected = om.PCTForestClassifier("bagging", supervision=given, min_labelled_leaf=1, **shared).fit(dataset)
        found = RelationalForest(supervision=given, **shared).fit(one_table(dataset))
        assert found.supervision_ == expected.supervision_
        assert found.supervision_curve_ == pytest.approx(expected.supervision_curve_)
    whole = RelationalForest(n_trees=2, supervision="auto", random_state=0).fit(one_table(SINGLE["classes"]))
    assert whole.supervision_reason_ == "all examples are labelled"


def test_without_a_target_relations_are_ranked_by_how_they_cluster():
    data = replace(one_table(SINGLE["classes"]), target=None)
    confirmed = RelationalRanker(n_trees=10, random_state=0).fit(data)
    assert confirmed.ranking_.task == "clustering"
    assert confirmed.ranking_.scores.max() > 1
    assert (confirmed._ranking_at("genie3").scores > np.maximum(confirmed.ranking_.scores, 0)).all()
    permuted = RelationalRanker("permutation", n_trees=10, random_state=0).fit(data).ranking_
    assert (permuted.scores > 0).all()
    table = om.Dataset(SINGLE["classes"].features)
    plain = om.EnsembleRanker("genie3", ensemble="bagging", n_trees=10, min_samples_leaf=1)
    expected = plain.set_params(random_state=0).fit(table).ranking_
    found = RelationalRanker("genie3", n_trees=10, tie_break="random", random_state=0).fit(data).ranking_
    assert found.names == tuple(f"rows_{name}" for name in expected.names)
    np.testing.assert_allclose(found.scores, expected.scores)


def test_groups_of_relations_that_tell_the_same_rank_first_without_labels():
    frames = om.datasets.make_movies(100, as_frames=True, random_state=0)
    data = om.relational.RelationalDataset.from_frames(frames, target="movies", exclude=["movies.genre"])
    found = RelationalRanker(by="column", n_trees=20, random_state=0).fit(data).ranking_
    hidden = om.datasets.make_movies(100, random_state=0).hide_labels(slice(None))
    assert RelationalRanker(by="column", n_trees=20, random_state=0).fit(hidden).ranking_.top(5) == found.top(5)
    assert found.top(1) == ["ratings_stars"]  # counts, means and extremes of a movie's stars go together


def test_copies_of_the_data_bring_the_same_forest():
    data = partly(om.datasets.make_movies(80, random_state=0), 20)
    one, two = (RelationalForest(n_trees=6, supervision=0.5, random_state=3, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.fit(data).predict_proba(data), two.fit(data).predict_proba(data))
    constructed = RelationalFeatures().fit(data).to_dataset(data)
    assert len(constructed.feature_names) < 300
    table = om.PCTForestClassifier(
        "bagging", n_trees=6, supervision=0.5, min_samples_leaf=1, min_labelled_leaf=1, random_state=3
    )
    two_steps = RelationalForest(n_trees=6, max_path_length=2, supervision=0.5, random_state=3)
    expected, found = table.fit(constructed), two_steps.fit(data)
    for tree, other in zip(found.trees_, expected.trees_, strict=True):
        np.testing.assert_allclose(tree.gain, other.gain)
        np.testing.assert_array_equal(tree.weight, other.weight)
