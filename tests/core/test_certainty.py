"""Which first features are those of a run with infinitely many trees, and how often that is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import omnirank as om
from omnirank.core.errors import DataError, ParameterError
from omnirank.core.ranking.accumulators import MeanAccumulator
from omnirank.core.ranking.certainty import Certainty, certain_sizes, certainty_of
from omnirank.core.ranking.ranking import Ranking
from reference.certainty import certain_sizes as slow_sizes


def ranking_of(trees, **others):
    trees = np.asarray(trees, float)
    names = [f"x{i}" for i in range(trees.shape[1])]
    return Ranking.from_state(names, MeanAccumulator.empty(len(names)).update(trees), "genie3", **others)


scores = st.lists(st.tuples(st.integers(-20, 20), st.integers(0, 6)), min_size=1, max_size=9)


@given(scores, st.integers(2, 60), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_intervals_and_pairs_agree(found, n, confidence):
    x, s = np.array(found, float).T
    assert certain_sizes(x, s / 4, n, confidence) == slow_sizes(x, s / 4, n, confidence)


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [-0.95, 0.0, 0.95])
def test_wrong_statements_are_as_rare_as_promised(correlation):
    """Pairs of nearly equal features are where statements go wrong; scores of a tree compete or go together."""
    rng = np.random.default_rng(0)
    expected = np.repeat(np.arange(0, 20, 2.0), 2) + np.tile([0.0, 1e-6], 10)
    right = {k: set(np.argsort(-expected)[:k]) for k in range(1, 20)}
    wrong = made = 0
    for _ in range(1000):
        shared, own = rng.normal(size=(30, 10, 1)), rng.normal(size=(30, 10, 2))
        sign = np.array([1, np.sign(correlation)])
        noise = np.sqrt(abs(correlation)) * shared * sign + np.sqrt(1 - abs(correlation)) * own
        ranking = ranking_of(expected + noise.reshape(30, 20))
        sizes = ranking.certainty().sizes
        made += len(sizes)
        wrong += any(set(ranking.order[:k]) != right[k] for k in sizes)
    assert made >= 9 * 900
    assert wrong <= 50 + 2 * np.sqrt(1000 * 0.05 * 0.95)


def test_equal_features_are_never_told_apart():
    assert certain_sizes(np.array([1.0, 1.0, 0.0, 0.0]), np.zeros(4), 10) == (2,)
    assert ranking_of([[3.0, 1.0], [3.0, 1.0]]).certainty().sizes == (1,)


def test_constant_features_are_last_in_every_run():
    trees = np.random.default_rng(0).normal([5.0, -1.0, 0.0], 0.1, size=(20, 3))
    assert ranking_of(trees, constant=("x2",)).certainty().sizes == (1,)
    assert ranking_of(trees).certainty().sizes == (1, 2)


def test_a_file_knows_it_too(tmp_path):
    ranking = om.EnsembleRanker(n_trees=30, random_state=0).fit(om.datasets.load_sample("iris")).ranking_
    ranking.save(tmp_path / "ranking.json")
    assert om.Ranking.load(tmp_path / "ranking.json").certainty() == ranking.certainty()
    ranking.save(tmp_path / "ranking.csv")
    with pytest.raises(DataError, match="not known how sure"):
        om.Ranking.load(tmp_path / "ranking.csv").certainty()
    with pytest.raises(ParameterError, match="confidence=1"):
        ranking.certainty(1)


def test_one_tree_is_certain_of_nothing():
    assert certainty_of(ranking_of([[3.0, 1.0]])).summary == (
        "no first features are certain to be those of a full run with 95 % confidence (1 tree)"
    )


@pytest.mark.parametrize(
    ("sizes", "first", "others"),
    [
        ((1,), "the first is the first", ""),
        ((20, 30), "the first 20 are the first 20", "; the same holds for the first 30"),
        ((40, 50), "the first 40 are the first 40", "; the same holds for the first 50"),
        ((1, 2, 3, 4), "the first 4 are the first 4", "; the same holds for the first 1, 2 and 3"),
        (range(1, 8), "the first 7 are the first 7", "; the same holds for the first 1, 2 and 3, and 3 others"),
    ],
)
def test_words(sizes, first, others):
    assert str(Certainty(tuple(sizes), 0.95, 9)) == f"{first} of a full run with 95 % confidence (9 trees){others}"
