"""What features add: the formula, proxies and truths, all kinds of features and targets, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

import omnirank as om
from omnirank.errors import DataError, ParameterError
from omnirank.evaluation.conditional import _Lines, covariance_p_value, p_values_given_others


def slow_p_value(one, other, weight, groups):
    """From the definition, with loops."""
    names = sorted(set(groups))
    products = []
    for a in range(one.shape[1]):
        for b in range(other.shape[1]):
            by_group = dict.fromkeys(names, 0.0)
            for i, g in enumerate(groups):
                by_group[g] += weight[i] * one[i, a] * other[i, b]
            products.append([by_group[g] for g in names])
    middles = [sum(row) / len(row) for row in products]
    spreads = [sum((r - m) ** 2 for r in row) ** 0.5 for row, m in zip(products, middles, strict=True)]
    S = sum((sum(row) / spread) ** 2 for row, spread in zip(products, spreads, strict=True))
    K, variance = len(products), 2 * (np.corrcoef(products) ** 2).sum()
    multiple = variance / (2 * K)
    return chi2(K / multiple).sf(S / multiple)


@pytest.mark.parametrize("n_groups", [40, 12])
def test_p_value_is_as_defined(n_groups):
    rng = np.random.default_rng(n_groups)
    one, other = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
    weight, groups = rng.exponential(size=40), np.arange(40) % n_groups
    found = covariance_p_value(one, other, weight, groups)
    np.testing.assert_allclose(found, slow_p_value(one, other, weight, groups), rtol=1e-9)


def test_lines_leave_out_features_and_examples():
    rng = np.random.default_rng(0)
    columns, values = [rng.normal(size=(30, k)) for k in (2, 1, 3)], rng.normal(size=(30, 2))
    weight = rng.exponential(size=30) + 0.1
    columns[2][:, 1] = 0
    lines = _Lines.on(columns, weight)
    for i in range(3):
        others = np.hstack([columns[j] for j in range(3) if j != i])
        others = others[:, others.std(axis=0) > 0]
        design = np.column_stack([np.ones(30), others / others.std(axis=0)])
        penalty = np.diag([0.0] + [weight.mean()] * others.shape[1])
        for k, left in enumerate(lines.residuals(values, i)[0]):
            w = np.where(np.arange(30) == k, 0.0, weight)
            fitted = np.linalg.solve(design.T @ (w[:, None] * design) + penalty, design.T @ (w[:, None] * values))
            np.testing.assert_allclose(left, values[k] - design[k] @ fitted, rtol=1e-7)


def proxies(kind, seed=0, n=200):
    """Two true features, a proxy of each, two of noise; one true feature nominal, cells missing."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    X = pd.DataFrame({"a": a, "b": b, "like a": a + rng.normal(size=n), "like b": b + rng.normal(size=n)})
    X[["n1", "n2"]] = rng.normal(size=(n, 2))
    X["level"] = rng.permutation(np.repeat(["u", "v"], n // 2))
    total = 1.5 * a + b**2 + 2 * (X["level"] == "u") + rng.normal(size=n)
    X.loc[rng.random(n) < 0.1, ["like a", "n1"]] = np.nan
    if kind == "classes":
        return X, np.where(total > total.median(), "yes", "no")
    if kind == "labels":
        return X, np.column_stack([total > 2, total > 0, a > 0]).astype(float)
    if kind == "few labels":
        return X, np.where(np.arange(n) % 4 > 0, total, np.nan)
    return X, total


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["numbers", "classes", "labels", "few labels"])
def test_truths_add_and_proxies_do_not(kind):
    found = []
    for seed in range(3):
        X, y = proxies(kind, seed)
        data = om.Dataset(X, y, task="multi-label" if kind == "labels" else "auto")
        found.append(p_values_given_others(data, np.r_[np.zeros(4), 1, 1, 0], None, seed, None))
    middle = np.median(found, axis=0)
    assert (middle[[0, 6]] < 0.05).all()
    assert (middle[[2, 3]] > 0.05).all()
    assert (middle[4:6] == 1).all()


@pytest.mark.slow
def test_noise_adds_nothing_where_many_are_asked():
    """Residuals of a regression on a quarter of the examples, two columns each, depend on each other: it was 0.2."""
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        data = om.Dataset(rng.normal(size=(120, 30)), rng.normal(size=120))
        found += p_values_given_others(data, np.zeros(30), None, seed, None).tolist()
    assert np.mean(np.array(found) < 0.05) < 0.05 + 2 * np.sqrt(0.05 * 0.95 / 180)


@pytest.mark.slow
def test_workers_weights_and_files(tmp_path):
    X, y = proxies("numbers")
    ranker = om.EnsembleRanker(n_trees=20, random_state=0)
    given = {"sample_weight": np.linspace(0.5, 2, 200), "groups": np.arange(200) // 2, "given": "others"}
    ranking = om.significance(ranker, X, y, **given)
    assert ranking == om.significance(ranker, X, y, n_jobs=2, **given)
    frame = ranking.to_frame().set_index("feature")
    assert frame.loc["a", "adds"]
    assert not frame.loc["like a", "adds"]
    assert frame.loc["like a", "relevant"]
    for name in ("ranking.json", "ranking.csv"):
        ranking.save(tmp_path / name)
        np.testing.assert_array_equal(om.Ranking.load(tmp_path / name).p_given_others, ranking.p_given_others)


@pytest.mark.slow
def test_unit_of_weights_changes_nothing():
    X, y = proxies("numbers", n=60)
    data, weight = om.Dataset(X[["a", "b", "like a"]], y), np.arange(60) % 3 + 1.0
    found = [p_values_given_others(data, np.zeros(3), unit * weight, 0, None) for unit in (1.0, 2.0**-6, 2.0**30)]
    assert np.ptp(found, axis=0).max() == 0


@pytest.mark.slow
def test_more_features_than_examples_are_asked_in_groups():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 100))
    X[:, 1:40] = X[:, :1] + 0.1 * rng.normal(size=(90, 39))
    found = p_values_given_others(om.Dataset(X, X[:, 0] + 0.5 * rng.normal(size=90)), np.zeros(100), None, 0, None)
    assert len(np.unique(found[:40])) == 1
    assert found[0] < 0.05
    assert (found == 1).sum() >= 39  # a quarter of 90 groups at most


def test_what_is_refused():
    X, y = proxies("numbers")
    with pytest.raises(DataError, match="have none"):
        om.significance(om.EnsembleRanker(n_trees=5), X, given="others")
    with pytest.raises(ParameterError, match="given='x3'"):
        om.significance(om.EnsembleRanker(n_trees=5), X, y, given="x3")
