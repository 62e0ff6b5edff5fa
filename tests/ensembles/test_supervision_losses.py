"""Losses by which levels of supervision are compared: what predicts an example must not have seen its label."""

from __future__ import annotations

import numpy as np
import pytest

import omnirank as om
from omnirank.core.seeds import stream
from omnirank.ensembles import supervision
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.ensembles.supervision import _compared, cross_validated_error, out_of_bag_losses, resolve_supervision
from omnirank.tasks import clustering_columns, get_task

RULES = GrowingRules(min_samples_leaf=1)


def numbers(seed=0, n=60, n_labelled=26):
    """Two targets, one of them of another scale, known for some examples."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.column_stack([X[:, 0] + 0.3 * rng.normal(size=n), 100 * X[:, 1] * X[:, 2]])
    return om.Dataset(X, y).keep_labels(n_labelled, random_state=seed)


def noise(n=120, n_labelled=60):
    """Two classes that no feature tells apart."""
    rng = np.random.default_rng(4)
    classes = rng.permutation(np.repeat(["a", "b"], n // 2))
    return om.Dataset(rng.normal(size=(n, 3)), classes).keep_labels(n_labelled, random_state=0)


def clustering_of(data):
    part = data.take(data.labelled)
    return clustering_columns(get_task(data.task).columns(part.target, data.hierarchy), None, True)


# -- cross-validation ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_errors_are_the_mean_over_folds_of_forests_without_the_fold(weighted):
    data, entropy, n_folds = numbers(), 5, 4
    weight = np.random.default_rng(1).integers(1, 5, data.n_examples) / 2 if weighted else None
    found = cross_validated_error(GrowingData(data, entropy, weight), RULES, [0.0, 0.5, 1.0], 6, n_folds)
    order = stream(entropy, 2**31).permutation(np.flatnonzero(data.labelled))
    for w, error in found.items():
        errors = []
        for fold in range(n_folds):
            test = order[fold::n_folds]
            rest = np.setdiff1d(np.arange(data.n_examples), test)
            forest = om.PCTForestRegressor(
                n_trees=6,
                max_features="sqrt",
                min_samples_leaf=1,
                supervision=w,
                min_labelled_leaf=0,
                random_state=entropy,
            )
            forest.fit(data.take(rest), sample_weight=None if weight is None else weight[rest])
            known = data.y[np.intersect1d(rest, np.flatnonzero(data.labelled))]
            off = (forest.predict(data.take(test)) - data.y[test]) ** 2
            errors.append(np.mean(off.mean(axis=0) / known.var(axis=0)))
        assert error == pytest.approx(np.mean(errors))


def test_cross_validation_cannot_predict_noise():
    """Forests that had seen the test fold would know most of its classes by heart."""
    found = cross_validated_error(GrowingData(noise(), 0), RULES, [0.5, 1.0], 20, 4)
    assert all(error > 0.35 for error in found.values()), found


def test_of_equal_errors_the_most_supervised_level_is_taken(monkeypatch):
    curve = {0.0: 0.3, 0.4: 0.1, 0.7: 0.1, 1.0: 0.2}
    monkeypatch.setattr(supervision, "cross_validated_error", lambda *_: curve)
    assert resolve_supervision("cv", GrowingData(numbers(), 0), RULES).level == 0.7


# -- out of bag ----------------------------------------------------------------------------------------------


def test_out_of_bag_losses_are_those_of_the_trees_that_have_not_seen_the_example():
    data, entropy = numbers(), 2
    losses = out_of_bag_losses(GrowingData(data, entropy), RULES, clustering_of(data), 30)
    part = data.take(data.labelled)
    forest = om.PCTForestRegressor(
        n_trees=30, max_features="sqrt", min_samples_leaf=1, oob_score=True, random_state=entropy
    ).fit(part)
    relative = (forest.oob_prediction_ - part.y) ** 2 / part.y.var(axis=0)
    np.testing.assert_allclose(losses, relative.mean(axis=1))


@pytest.mark.parametrize("single", [False, True])
def test_noise_is_not_predicted_out_of_bag(single):
    data = noise()
    for w in (0.5, 1.0):
        rules = GrowingRules(min_samples_leaf=1, supervision=w)
        losses = out_of_bag_losses(GrowingData(data, 0), rules, clustering_of(data), 20, single)
        assert np.nanmean(losses) > 0.9  # 1 is the loss of the mean


def test_levels_are_compared_from_twelve_trees_on():
    """A third of the trees may be spent on the choice, and four a level are the fewest that tell something."""
    data = numbers(n=24, n_labelled=12)
    found = {n: resolve_supervision("auto", GrowingData(data, 0), GrowingRules(), n_ranked=n) for n in (11, 12)}
    assert "fewer than 12 trees are too few" in found[11].reason
    assert not found[11].curve
    assert found[12].curve


# -- what is clear -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, 7.0])
@pytest.mark.parametrize(("factor", "chosen"), [(1.95, False), (2.05, True)])
def test_the_standard_error_is_that_of_a_mean_of_few_examples(factor, chosen, scale):
    """With three examples, dividing by n and not by n - 1 would make the threshold 1.63 standard errors."""
    away = np.array([-0.2, 0.05, 0.15])
    standard_error = away.std(ddof=1) / np.sqrt(3)
    supervised = np.array([0.6, 0.8, 0.7])
    losses = {0.5: supervised + away - factor * standard_error, 1.0: supervised}
    assert _compared(losses, np.full(3, scale)).chosen == chosen


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("ensemble", "compared"),
    [("extra-trees", "extra-trees"), ("random-forest", "random-forest"), ("bagging", "random-forest")],
)
@pytest.mark.parametrize("n_ranked", [60, None], ids=["ranking", "predictor"])
def test_levels_are_compared_by_the_ensemble_that_uses_them(monkeypatch, ensemble, compared, n_ranked):
    used = set()
    given = supervision.out_of_bag_losses

    def spy(data, rules, *others):
        used.add((rules.ensemble, rules.bootstraps))
        return given(data, rules, *others)

    monkeypatch.setattr(supervision, "out_of_bag_losses", spy)
    data = om.datasets.load_sample("linnerud").keep_labels(12, random_state=0)
    rules = GrowingRules(ensemble=ensemble, bootstrap=False)
    resolve_supervision("auto", GrowingData(data, entropy=0), rules, n_ranked=n_ranked)
    assert used == {(compared, True)}
