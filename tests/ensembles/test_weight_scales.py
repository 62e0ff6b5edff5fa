"""Weights of any size: multiplying all of them, and the least weight of a leaf, by a power of two changes no tree."""

from __future__ import annotations

import numpy as np
import pytest

import omnirank as om
from omnirank.ensembles.plan import GrowingData, GrowingRules

POWERS = [-900, -400, -66, -3, 5, 70, 400]


def cases():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(80, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    one = X[:, 0] + rng.normal(size=80)
    one[np.isnan(one)] = 0.0
    few = one.copy()
    few[::3] = np.nan
    yield "number", X, one, 1.0
    yield "few labels", X, few, 0.5
    yield "labels", X, (rng.random((80, 5)) < 0.3).astype(int), 1.0
    yield "sparse", np.where(rng.random((80, 6)) < 0.15, rng.normal(size=(80, 6)), 0.0), one, 1.0


@pytest.mark.slow
@pytest.mark.parametrize("ensemble", ["random-forest", "extra-trees"])
@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case[0])
def test_a_power_of_two_changes_no_tree(case, ensemble):
    _, X, y, level = case
    weight = np.random.default_rng(2).integers(1, 9, 80) / 7
    rules = {"ensemble": ensemble, "supervision": level}

    def grown(scale):
        own = GrowingRules(min_samples_leaf=3 * scale, min_labelled_leaf=2 * scale, **rules)
        return GrowingData(om.Dataset(X, y), 0, weight * scale).plan(own).grow(1)

    plain = grown(1.0)
    assert len(plain.feature) > 3
    for power in POWERS:
        scale = 2.0**power
        tree = grown(scale)
        for name in ("feature", "cut", "right", "drawn", "rows"):
            np.testing.assert_array_equal(getattr(tree, name), getattr(plain, name))
        np.testing.assert_array_equal(tree.gain, plain.gain * scale)
        np.testing.assert_array_equal(tree.weight, plain.weight * scale)


def test_a_target_known_for_light_examples_alone_keeps_its_credit():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(40, 3)), np.repeat([1.0, 1e-18], 20)
    y = np.column_stack([rng.normal(size=40), np.where(weight < 1, X[:, 1], np.nan)])
    fitted = om.EnsembleRanker(n_trees=2, max_depth=1, per_target=True, random_state=0).fit(X, y, sample_weight=weight)
    assert fitted.ranking_.for_target("y2").top(1) == ["x1"]


@pytest.mark.parametrize("scale", [1e-120, 1e-20, 1e20, 1e90])
@pytest.mark.parametrize("importance", ["permutation", "unbiased"])
def test_scores_of_tiny_and_huge_weights(scale, importance):
    data = om.datasets.load_sample("linnerud")
    weight = np.full(data.n_examples, scale)
    options = {"importance": importance, "n_trees": 10, "random_state": 0}
    plain = om.EnsembleRanker(min_samples_leaf=2, **options).fit(data)
    scaled = om.EnsembleRanker(min_samples_leaf=2 * scale, **options).fit(data, sample_weight=weight)
    for name, ranking in plain.rankings_.items():
        factor = scale if name in ("genie3", "unbiased") else 1.0
        np.testing.assert_allclose(scaled.rankings_[name].scores, factor * ranking.scores, rtol=1e-9, err_msg=name)
        assert (scaled.rankings_[name].standard_errors > 0).any()


@pytest.mark.every(2)
@pytest.mark.parametrize("ensemble", ["random-forest", "extra-trees"])
@pytest.mark.parametrize("power", [12, 30])
def test_weights_that_differ_by_more_than_floats_tell_apart(ensemble, power):
    """A leaf's weight is a difference of sums: one that is nothing but rounding is no leaf."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    weight = 10.0 ** rng.uniform(-power, power, 150)
    ranker = om.EnsembleRanker(ensemble=ensemble, random_state=0)
    found = om.significance(ranker, X, X[:, 1] + X[:, 2], sample_weight=weight)
    assert ((found.p_values > 0) & (found.p_values <= 1)).all()


@pytest.mark.parametrize("scale", [1e-130, 1e-20, 1e90])
def test_p_values_of_tiny_and_huge_weights(scale):
    data = om.datasets.load_sample("linnerud")
    plain = om.significance(om.EnsembleRanker(n_trees=10, random_state=0), data)
    ranker = om.EnsembleRanker(min_samples_leaf=2 * scale, n_trees=10, random_state=0)
    scaled = om.significance(ranker, data, sample_weight=np.full(data.n_examples, scale))
    np.testing.assert_allclose(scaled.p_values, plain.p_values, rtol=1e-9)


def test_weights_without_a_reciprocal_are_zero():
    """Beside weights of 1: with them, what examples add to a score was no number, and p values were 1."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 3))
    ranker = om.EnsembleRanker(n_trees=20, random_state=0)
    none, tiny = (
        om.significance(ranker, X, X[:, 0] + X[:, 1], sample_weight=np.where(np.arange(150) < 30, 1.0, rest))
        for rest in (0.0, 5e-324)
    )
    assert none.p_values[0] < 0.05
    assert tiny.p_values.tolist() == none.p_values.tolist()
