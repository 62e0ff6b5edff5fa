"""P values for every ranker: against permuted copies, or its own."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import omnirank as om
from omnirank.core.registry import methods
from omnirank.data.table import Table
from omnirank.errors import ParameterError
from omnirank.evaluation.significance import copies_p_values, feature_kinds, with_permuted_copies
from omnirank.testing import tiny_dataset
from reference.ensembles_cases import TASKS


def told(seed=0, n=100, n_noise=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2 + n_noise))
    return X, X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=n)


# -- copies -----------------------------------------------------------------------------------------------


def mixed():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "number": np.where(rng.random(30) < 0.2, np.nan, rng.normal(size=30)),
            "number (permuted)": rng.normal(size=30),
            "levels": pd.Categorical(rng.choice(list("abc"), 30)),
        }
    )


def test_copies_have_the_same_values_in_orders_of_their_own():
    data = om.Dataset(mixed(), np.arange(30.0))
    doubled = with_permuted_copies(data, np.random.default_rng(0))
    table = doubled.features
    assert table.names[:4] == (*data.feature_names, "number (permuted)_2")
    assert table.levels == data.features.levels * 2
    assert doubled.y.tolist() == data.y.tolist()
    for f in range(3):
        np.testing.assert_array_equal(table.column(f), data.features.column(f))
        np.testing.assert_array_equal(np.sort(table.column(f + 3)), np.sort(table.column(f)))
        assert not np.array_equal(table.column(f + 3), table.column(f), equal_nan=f < 2)
    twins = om.Dataset(np.repeat(np.arange(50.0)[:, None], 2, axis=1))
    pair = with_permuted_copies(twins, np.random.default_rng(0)).features
    assert not np.array_equal(pair.column(2), pair.column(3)), "features that go together have copies that do"


def test_copies_of_sparse_features_stay_sparse():
    rng = np.random.default_rng(0)
    data = om.Dataset(sparse.random_array((40, 6), density=0.2, random_state=rng, format="csc"))
    doubled = with_permuted_copies(data, rng).features
    assert doubled.is_sparse
    assert doubled.matrix.has_canonical_format
    for f in range(6):
        np.testing.assert_array_equal(np.sort(doubled.column(f + 6)), np.sort(doubled.column(f)))
    assert (doubled.matrix[:, :6] != doubled.matrix[:, 6:]).nnz


def test_kinds_of_features():
    n = 40
    columns = [np.arange(n) / 7, np.arange(n) % 2.0, np.r_[np.zeros(30), np.arange(10.0)], np.full(n, np.nan)]
    levels = [None] * 4
    columns += [np.arange(n) % 3, np.arange(n) % 20, np.r_[np.full(39, 0), -1]]
    levels += [tuple("abc"), tuple(map(str, range(20))), tuple("abc")]
    kinds = feature_kinds(Table.from_columns(list("abcdefg"), columns, levels))
    of_numbers = ["numbers", "two values", "mostly one value", "two values"]
    assert kinds == [*of_numbers, "few levels", "many levels", "two values"]


def test_p_values_of_copies_are_as_defined():
    """Straight from the formula, with loops."""
    rng = np.random.default_rng(0)
    copies, scores = rng.normal(size=(2, 6, 5)) * [1, 2, 3, 4, 5] * [[[1.0]], [[0.5]]]
    scores[:, 0] += 30
    scores[:, 3] -= 5
    kinds = ["a", "a", "b", "b", "b"]
    R, D = copies.shape
    z_copies = np.zeros((R, D))
    for f in range(D):
        for r in range(R):
            others = np.delete(copies[:, f], r)
            z_copies[r, f] = (copies[r, f] - others.mean()) / others.std(ddof=1)
    plain = [(scores[:, f].mean() - copies[:, f].mean()) / copies[:, f].std(ddof=1) for f in range(D)]
    expected = []
    for f in range(D):
        alike = [g for g in range(D) if kinds[g] == kinds[f]]
        below = [g for g in alike if plain[g] < 0] or [g for g in range(D) if plain[g] < 0]
        rho = sum(scores[:, g].var() for g in below) / sum(copies[:, g].var() for g in below)
        z = plain[f] / np.sqrt(1 - min(rho, 0.5) * (1 - 1 / R))
        p = (1 + (z_copies[:, alike] >= z).sum()) / (1 + R * len(alike))
        if z > z_copies[:, alike].max():
            p = min(p, (1 + (z_copies >= z).sum()) / (1 + R * D))
        expected.append(p)
    np.testing.assert_allclose(copies_p_values(scores, copies, kinds), expected)
    assert expected[0] == 1 / 31


def test_scores_without_any_spread_say_nothing():
    same = np.full((5, 3), 0.1) + 1e-17
    assert copies_p_values(same, same, ["a"] * 3).tolist() == [1, 1, 1]
    assert copies_p_values(same + np.array([0, 0, 1]), same, ["a"] * 3).tolist() == [1, 1, 1 / 16]


# -- every ranker -----------------------------------------------------------------------------------------


# What finds both relevant features of 100 examples; the others have p values too, but little power here, or no target.
POWERFUL = {"correlation", "genie3", "permutation", "relief", "rrelieff", "symbolic", "unbiased", "univariate"}


@pytest.mark.every(27)
@pytest.mark.parametrize("method", methods(), ids=lambda method: method.name)
def test_every_ranker_of_the_registry_gets_p_values(method):
    X, y = told()
    tasks = [task for task in ("regression", "classification", "multi-label") if task in method.tasks]
    supervised = "supervised" in method.supervision and tasks
    if not supervised:
        target = None
    elif tasks[0] == "regression":
        target = y
    else:
        target = np.where(y > 0, "a", "b") if tasks[0] == "classification" else np.column_stack([y > 0, y > 1])
    ranker = method.make()
    few = {"n_trees": 50, "n_iterations": 5} if "n_trees" in ranker.get_params() else {}
    ranker.set_params(random_state=0, **{k: v for k, v in few.items() if k in ranker.get_params()})
    ranking = om.significance(ranker, X, target, **({} if method.name in POWERFUL else {"n_rounds": 3}))
    assert ((ranking.p_values > 0) & (ranking.p_values <= 1)).all()
    assert ranking.scores.tolist() == ranker.fit(X, target).ranking_.scores.tolist()
    if method.name in POWERFUL | {"random", "uniform"}:
        assert set(ranking.relevant()) == ({"x0", "x1"} if method.name in POWERFUL else set())


@pytest.mark.slow
@pytest.mark.every(7)
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("method", ["genie3", "unbiased", "relief"])
def test_every_task_and_degree_of_supervision(task, method):
    data = tiny_dataset(task)
    some = data.hide_labels(np.arange(data.n_examples) % 2 > 0)
    options = {"n_trees": 4} if method != "relief" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for given in (data, some, om.Dataset(data.features)):
            ranker = om.make_ranker(method, random_state=0, **options)
            assert len(om.significance(ranker, given, n_rounds=3).p_values) == data.n_features


@pytest.mark.slow
def test_without_target_a_feature_that_goes_with_others_is_relevant():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, 1))
    X = np.hstack([x + 0.3 * rng.normal(size=(150, 2)), rng.normal(size=(150, 4))])
    trees = om.EnsembleRanker("unbiased", "extra-trees", n_trees=30, random_state=0)
    assert set(om.significance(trees, X).relevant(0.01)) == {"x0", "x1"}
    assert set(om.significance(trees.set_params(importance="genie3"), X).relevant()) == {"x0", "x1"}


def test_seeds_and_workers():
    X, y = told()
    ranker = om.EnsembleRanker("genie3", n_trees=5, random_state=3)
    one, two = (om.significance(ranker, X, y, n_rounds=4, n_jobs=n) for n in (1, 2))
    assert one == two
    assert one == om.significance(ranker, X, y, n_rounds=4, random_state=3)
    other = om.significance(ranker, X, y, n_rounds=4, random_state=4)
    assert other.scores.tolist() == one.scores.tolist()
    assert other.p_values.tolist() != one.p_values.tolist()
    assert not hasattr(ranker, "ranking_"), "the ranker is not changed"


def test_parameters_with_a_number_per_feature_hold_for_copies_too():
    X, y = told()
    y[::2] = np.nan
    weights = om.UnivariateRanker(adjusted=False).fit(X[1::2], y[1::2]).ranking_
    ranker = om.EnsembleRanker(n_trees=5, supervision=0.5, random_state=0)
    by_ranking, by_numbers = (
        om.significance(ranker.set_params(feature_weights=given), X, y, n_rounds=3)
        for given in (weights, weights.scores)
    )
    assert by_ranking.p_values.tolist() == by_numbers.p_values.tolist()


def test_hierarchies_and_weights_of_examples():
    data = tiny_dataset("hierarchical-multi-label")
    ranker = om.EnsembleRanker(n_trees=4, random_state=0, hierarchy=data.hierarchy)
    found = om.significance(ranker, data.features.to_frame(), data.y, n_rounds=3)
    assert found.task == "hierarchical-multi-label"
    X, y = told()
    trees = om.EnsembleRanker(n_trees=5, random_state=0)
    half = om.significance(trees, X, y, sample_weight=np.arange(100) % 2, n_rounds=3)
    whole = om.significance(trees, X[1::2], y[1::2], n_rounds=3)
    assert half.scores.tolist() == whole.scores.tolist()


def test_wrong_parameters():
    X, y = told()
    for wrong in ({"n_rounds": 2}, {"n_rounds": "many"}, {"method": "exact"}, {"n_jobs": 0}, {"random_state": -1}):
        with pytest.raises(ParameterError):
            om.significance(om.UnivariateRanker(), X, y, **wrong)
    with pytest.raises(ParameterError, match="UnivariateRanker has no p values of its own"):
        om.significance(om.UnivariateRanker(), X, y, method="analytic")


def test_traps_are_told_once():
    X, y = told()
    X = np.column_stack([X, np.ones(len(X))])
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        om.significance(om.ReliefRanker(random_state=0), X, y, n_rounds=3)
    assert [str(w.message) for w in heard] == [f"feature 'x{X.shape[1] - 1}' holds one value only"]


@pytest.mark.parametrize("method", ["auto", "copies"])
def test_a_seed_holds_for_a_ranker_without_one(method):
    X, y = told()
    ranker = om.EnsembleRanker(n_trees=5)
    one, two = (om.significance(ranker, X, y, method=method, n_rounds=3, random_state=0) for _ in range(2))
    assert one.scores.tolist() == two.scores.tolist()
    assert one.p_values.tolist() == two.p_values.tolist()
    assert ranker.random_state is None


def test_no_p_value_is_zero():
    X = np.random.default_rng(0).normal(size=(4000, 3))
    found = om.significance(om.EnsembleRanker(n_trees=20, random_state=0), X, (X[:, 0] > 0).astype(int))
    assert 0 < found.p_values[0] < 1e-300
