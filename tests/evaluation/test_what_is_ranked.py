"""What om.select, om.stability and om.significance say to things that are no rankers, and to equal scores."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest

import omnirank as om
from omnirank.errors import DataTypeError, ParameterError

ASKED = (om.select, om.stability, om.significance)


def noise(n=40, d=3):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.integers(0, 2, n)


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (
            RandomForestClassifier(),
            r"ranker=RandomForestClassifier\(\): give a ranker, such as .* om.methods\(\) lists",
        ),
        (SelectKBest(), "ranker=SelectKBest.*: give a ranker"),
        ("relief", r"ranker='relief': give a ranker, such as om.make_ranker\('relief'\)"),
        ("nothing", "ranker='nothing': give a ranker, such as"),
        (om.ReliefRanker, r"give a ranker, ReliefRanker\(\) instead of the class"),
        (None, "ranker=None: give a ranker"),
    ],
    ids=str,
)
def test_what_is_no_ranker_is_named(asked, wrong, advice):
    with pytest.raises(DataTypeError, match=advice):
        asked(wrong, *noise())


def test_significance_names_the_ranker_that_takes_no_weights():
    X, y = noise()
    with pytest.raises(ParameterError, match="LaplacianRanker takes no sample_weight"):
        om.significance(om.LaplacianRanker(), X, None, sample_weight=np.ones(len(y)))


@pytest.mark.filterwarnings("ignore:feature")
def test_equal_scores_are_no_certain_places():
    _, y = noise()
    found = om.stability(om.UnivariateRanker(), np.ones((40, 4)), y, n_resamples=20, random_state=0)
    assert found.summary.startswith("all scores are equal (")
    assert found.n_equal == 20


@pytest.mark.filterwarnings("ignore:feature")
def test_features_of_equal_scores_change_places():
    X, _ = noise(100)
    X = np.hstack([X[:, :1], np.ones((100, 4))])
    found = om.stability(om.UnivariateRanker(), X, X[:, 0], n_resamples=20, random_state=0)
    assert found.summary.startswith("the first is certain, ranks 2 to 5 change places")
    again = om.stability(om.UnivariateRanker(), X, X[:, 0], n_resamples=20, random_state=0, n_jobs=2)
    np.testing.assert_array_equal(found.ranks, again.ranks)


def test_names_that_differ_in_null_characters_are_different_features():
    X, y = noise(100)
    X = np.column_stack([y + 0.5 * X[:, 0], X[:, 1], X[:, 2]])
    data = om.Dataset(X, y, feature_names=["a", "a\0", "a\0\0"])
    ranker = om.UnivariateRanker(n_features_to_select="significant", random_state=0).fit(data)
    assert ranker.get_support().tolist() == [True, False, False]
    assert om.select(om.UnivariateRanker(), data, by="significance", random_state=0).mask.tolist() == [
        True,
        False,
        False,
    ]


@pytest.mark.slow
@pytest.mark.parametrize("ranker", [om.UnivariateRanker(), om.EnsembleRanker("genie3", n_trees=3, random_state=0)])
def test_p_values_of_dense_and_sparse_data_are_the_same(ranker):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 5)) < 0.3, rng.normal(size=(60, 5)), 0.0)
    X[:, 4] = rng.normal(size=60)
    y = (X[:, 0] + X[:, 4] > 0).astype(int)
    stored = sparse.csr_array(X)
    stored.data[3] = 0.0  # a stored zero is a zero
    X = stored.toarray()
    found = [om.significance(ranker, cells, y, random_state=0, n_rounds=4).p_values for cells in (X, stored)]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("wrong", [RandomForestClassifier(), om.ReliefRanker, 3])
def test_rankers_around_others_name_what_is_no_ranker(wrong):
    X, y = noise()
    with pytest.raises(ParameterError, match=r"base=.*: choose a ranker, or the name of a method"):
        om.ResampledRanker(wrong).fit(X, y)
    with pytest.raises(ParameterError, match=r"ranker=.*: choose a ranker, such as"):
        om.PerTargetRanker(wrong).fit(X, np.column_stack([X[:, 0] + y, X[:, 1]]))
