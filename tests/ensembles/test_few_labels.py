"""Rankings, predictors and clusters where few examples are labelled, or none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import omnirank as om
from omnirank.ensembles.clusterer import best_tests
from omnirank.ensembles.errors import error_measure
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.ensembles.scores import out_of_bag
from omnirank.ensembles.supervision import ToFit, resolve_feature_weights, resolve_supervision
from omnirank.errors import DataError, ParameterError
from omnirank.trees.prototypes import parents_of
from omnirank.trees.pruning import node_errors
from reference import ensembles_cases, trees_cases, trees_permutation
from reference.ensembles_cases import genie3_forest
from reference.trees_semi_supervised import problem_of, variable_columns, weighted_variance

pytestmark = pytest.mark.filterwarnings("ignore:feature .*identifier:UserWarning")


def few_labels(task, seed=0, n=40, n_labelled=20):
    rng = np.random.default_rng(seed)
    return ensembles_cases.random_dataset(rng, task, n).keep_labels(n_labelled, random_state=seed)


# -- the limits of supervision -----------------------------------------------------------------------------


@pytest.mark.parametrize("task", ensembles_cases.TASKS)
def test_full_supervision_is_the_supervised_tree_on_the_labelled_examples(task):
    data = few_labels(task)
    model = om.PCTClassifier if task in om.PCTClassifier.supported_tasks else om.PCTRegressor
    trees = [
        model(supervision=1, pruning=None, random_state=0).fit(part).tree_ for part in (data, data.take(data.labelled))
    ]
    for name in ("feature", "threshold", "gain", "weight", "missing_left", "subsets"):
        np.testing.assert_array_equal(getattr(trees[0], name), getattr(trees[1], name))
    one, other = (tree.values.toarray() if sparse.issparse(tree.values) else tree.values for tree in trees)
    np.testing.assert_array_equal(one, other)


def test_rankings_at_the_limits_are_those_without_unlabelled_examples_and_without_target():
    data = few_labels("multi-label")
    options = {"importance": "permutation", "n_trees": 5, "max_features": 2, "random_state": 0}
    supervised = genie3_forest(supervision=1, **options).fit(data)
    labelled = genie3_forest(**options).fit(data.take(data.labelled))
    unsupervised = genie3_forest(supervision=0, **options).fit(data)
    alone = genie3_forest(**options).fit(data.features.to_frame())
    for one, other in ((supervised, labelled), (unsupervised, alone)):
        for name in ("genie3", "symbolic"):
            np.testing.assert_array_equal(one.rankings_[name].scores, other.rankings_[name].scores)
        np.testing.assert_allclose(one.ranking_.scores, other.ranking_.scores, rtol=1e-12)
    assert (labelled.supervision_, alone.supervision_) == (1.0, 0.0)
    assert alone.task_ == "clustering"


@pytest.mark.slow
def test_targets_share_the_supervised_part_of_genie3():
    data = few_labels("multi-target-regression")
    parts = []
    for w in (0.0, 0.3, 1.0):
        ranking = genie3_forest(supervision=w, n_trees=5, per_target=True, random_state=0).fit(data).ranking_
        parts.append(ranking.per_target.scores.sum() / ranking.scores.sum())
        assert ranking.per_target.names == data.target_names
    assert parts[0] == 0
    assert 0 < parts[1] < 1
    assert parts[2] == pytest.approx(1)
    alone = genie3_forest(n_trees=5, per_target=True, random_state=0).fit(data.features.to_frame()).ranking_
    assert alone.per_target.names == data.feature_names
    np.testing.assert_allclose(alone.per_target.scores.sum(axis=0), alone.scores)


@pytest.mark.slow
def test_half_of_an_ensemble_is_the_smaller_ensemble():
    data = few_labels("regression", n=60)
    options = {"supervision": "auto", "random_state": 1}
    # from 50 trees on, the levels are compared in the same way whatever the size
    whole = genie3_forest(n_trees=100, **options).fit(data)
    half = genie3_forest(n_trees=50, **options).fit(data)
    assert half.supervision_curve_ == whole.supervision_curve_ != {}
    both = genie3_forest(n_trees=[50, 100], **options).fit(data)
    assert both.checkpoints_[50]["genie3"] == half.ranking_
    assert both.ranking_ == whole.ranking_
    assert whole.ranking_.parameters["supervision_level"] == whole.supervision_


# -- errors --------------------------------------------------------------------------------------------------


def leaf_prototype(data, grown, node, variable):
    """Mean or most frequent level of a variable's known values, in the node or its nearest ancestor with some."""
    columns, n_levels = variable
    parent = parents_of(grown)
    while True:
        place = slice(grown.first[node], grown.last[node])
        rows, weight = grown.rows[place].astype(int), grown.row_weight[place]
        known = ~np.isnan(columns[0][rows])
        if known.any():
            means = [np.average(c[rows][known], weights=weight[known]) for c in columns]
            return int(np.argmax(means)) if n_levels else means[0]
        node = parent[node]


def mixed_error(data, grown, weight, rows):
    """error(row, leaf) of the features: squared or wrong, relative to the impurity, by mean over known values."""
    table = data.features
    cells = [np.asarray(table.column(f), float) for f in range(table.n_columns)]
    sizes = [0 if levels is None else len(levels) for levels in table.levels]
    cells = [np.where(x < 0, np.nan, x) if size else x for x, size in zip(cells, sizes, strict=True)]
    variables = [(variable_columns(x, size), size) for x, size in zip(cells, sizes, strict=True)]
    impurity = [sum(weighted_variance(c, weight) for c in columns) for columns, _ in variables]
    counted = sum(total > 0 for total in impurity)
    known = [weight[rows] @ ~np.isnan(x[rows]) for x in cells]

    def error(row, leaf):
        total = 0.0
        for x, variable, scale, mass in zip(cells, variables, impurity, known, strict=True):
            if scale > 0 and not np.isnan(x[row]):
                guess = leaf_prototype(data, grown, leaf, variable)
                wrong = float(guess != x[row]) if variable[1] else (x[row] - guess) ** 2
                total += wrong / scale / counted / mass
        return [total]

    return error


@pytest.mark.parametrize("weighted", [False, True])
def test_the_error_of_features_is_that_of_the_reference(weighted):
    rng = np.random.default_rng(3)
    data = om.Dataset(ensembles_cases.random_features(rng, 40))
    weight = rng.random(40) + 0.5 if weighted else None
    plan = GrowingData(data, 0, weight).plan(GrowingRules())
    counts = plan.counts(0)
    grown = plan.grow(0, counts)
    case = out_of_bag(plan, grown, counts, 0)
    found = error_measure(plan).growth(case)
    rows = case.order.rows.astype(int)
    problem = problem_of(data, 0.0, plan.weight)
    nodes = trees_cases.nodes_of(grown, problem)
    from omnirank.core.seeds import kernel_seed
    from omnirank.ensembles.scores import _PERMUTATION_KEY

    base, change = trees_permutation.error_sums(
        nodes,
        grown.right,
        problem.features,
        list(rows),
        plan.weight,
        mixed_error(data, grown, plan.weight, rows),
        kernel_seed(0, 0) ^ _PERMUTATION_KEY,
    )
    assert found.before == pytest.approx(base[0])
    np.testing.assert_allclose(found.growth, change[:, 0], atol=1e-12)
    assert found.growth.any()


@pytest.mark.slow
@pytest.mark.parametrize("task", ["classification", "regression", "multi-label", "mixed-targets"])
def test_both_parts_of_the_error_are_relative_to_a_constant_prediction(task):
    from omnirank.ensembles.errors import _default_model, feature_errors

    data = few_labels(task)
    plan = GrowingData(data, 0).plan(GrowingRules(supervision=0.3))
    counts = plan.counts(0)
    case = out_of_bag(plan, plan.grow(0, counts), counts, 0)
    target, features = error_measure(plan, "target"), feature_errors(plan)
    everything = _default_model(plan)
    default = target.growth(everything).before, features.growth(everything).before
    assert min(default) > 0
    y, x, both = target.growth(case), features.growth(case), error_measure(plan).growth(case)
    assert both.before == pytest.approx(0.3 * y.before / default[0] + 0.7 * x.before / default[1])
    np.testing.assert_allclose(both.growth, 0.3 * y.growth / default[0] + 0.7 * x.growth / default[1])
    assert error_measure(plan).growth(everything).before == pytest.approx(1.0)


# -- the level of supervision --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["numbers", "mixed", "sparse", "booleans", "missing"])
@pytest.mark.parametrize("task", ["regression", "multi-label", "few labels"])
def test_level_0_is_the_ranking_without_target_bit_for_bit(kind, task):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    y = rng.random((80, 3)) < 0.4 if task == "multi-label" else X[:, 0] + rng.normal(size=80)
    if task == "few labels":
        y[::2] = np.nan
    if kind == "mixed":
        X = pd.DataFrame(X, columns=list("abcde")).assign(f=rng.choice(list("uvw"), 80))
    elif kind == "sparse":
        X = sparse.csr_array(np.where(rng.random(X.shape) < 0.2, X, 0.0))
    elif kind == "booleans":
        X = X > 0.5
    elif kind == "missing":
        X[rng.random(X.shape) < 0.1] = np.nan
    options = {"n_trees": 8, "random_state": 0}
    for importance in ("permutation", "unbiased"):
        without = genie3_forest(importance, **options).fit(X).rankings_
        level_0 = genie3_forest(importance, supervision=0, **options).fit(X, y).rankings_
        for name, ranking in without.items():
            assert level_0[name].scores.tolist() == ranking.scores.tolist(), name


@pytest.mark.slow
def test_where_the_level_comes_from():
    data = few_labels("classification", n=60)
    rules = GrowingRules()
    found = resolve_supervision("auto", GrowingData(data, 0), rules, ToFit(10))
    assert found.level in found.curve
    assert set(found.curve) <= {0.0, 0.25, 0.5, 0.75, 1.0}
    assert resolve_supervision(0.3, GrowingData(data, 0), rules, ToFit(10)).level == 0.3
    assert resolve_supervision("auto", GrowingData(data.take(data.labelled), 0), rules, ToFit(10)).level == 1
    alone = om.Dataset(data.features)
    assert resolve_supervision("auto", GrowingData(alone, 0), rules, ToFit(10)).level == 0
    with pytest.raises(DataError, match="needs a target"):
        resolve_supervision(0.5, GrowingData(alone, 0), rules, ToFit(10))
    same = om.Dataset(np.arange(12.0).reshape(6, 2), [1.0, 1.0, 1.0] + [np.nan] * 3, task="regression")
    found = resolve_supervision("auto", GrowingData(same, 0), rules, ToFit(10))
    assert found.reason == "the known target values are all the same"
    lone = om.Dataset(np.arange(40.0).reshape(20, 2), [1.0, 2.0] + [np.nan] * 18, task="regression")
    assert 1.0 not in resolve_supervision("auto", GrowingData(lone, 0), rules, ToFit(10)).curve


@pytest.mark.slow
def test_weights_of_features():
    data = few_labels("regression", n=60)
    options = {"n_trees": 5, "supervision": 0.5, "random_state": 0}
    ranking = om.UnivariateRanker(adjusted=False).fit(data).ranking_
    by_ranking = genie3_forest(feature_weights=ranking, **options).fit(data)
    by_numbers = genie3_forest(feature_weights=ranking.scores.tolist(), **options).fit(data)
    plain = genie3_forest(**options).fit(data)
    np.testing.assert_allclose(by_ranking.feature_importances_, by_numbers.feature_importances_)
    assert (by_ranking.feature_importances_ != plain.feature_importances_).any()
    assert by_ranking.ranking_.parameters["feature_weights"] == by_numbers.ranking_.parameters["feature_weights"]
    automatic = genie3_forest(feature_weights="auto", **options).fit(data)
    assert (automatic.feature_importances_ != plain.feature_importances_).any()
    with pytest.raises(DataError, match="there is no target"):
        genie3_forest(feature_weights="auto").fit(data.features.to_frame())
    with pytest.raises(DataError, match="no feature 'ties'"):
        genie3_forest(feature_weights=om.Ranking(("a",), [1.0], "mine"), supervision=0.5).fit(data)
    with pytest.raises(ParameterError, match="not negative"):
        genie3_forest(feature_weights=[-1.0] * 5, supervision=0.5).fit(data)


@pytest.mark.parametrize(("scores", "weights"), [([-1, 2, 4], [0, 0.5, 1]), ([-1, -2, -1], [1, 1, 1])])
def test_negative_scores_of_a_ranking_count_as_nothing(scores, weights):
    data = GrowingData(om.datasets.load_sample("linnerud"), 0)
    ranking = om.Ranking(data.dataset.feature_names, scores, "mine")
    assert resolve_feature_weights(ranking, data, GrowingRules()).feature_weights.tolist() == weights


# -- predictors ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("task", ensembles_cases.TASKS)
def test_predictors_take_few_labels_in_every_task(task):
    data = few_labels(task)
    classes = task in om.PCTClassifier.supported_tasks
    tree = (om.PCTClassifier if classes else om.PCTRegressor)(supervision=0.5, random_state=0)
    assert len(tree.transduce(data)) == 20
    forest = (om.PCTForestClassifier if classes else om.PCTForestRegressor)(
        n_trees=10, supervision=0.5, oob_score=True, random_state=0
    ).fit(data)
    assert np.isfinite(forest.oob_error_)
    assert forest.supervision_ == 0.5
    assert len(forest.predict(data)) == 40


@pytest.mark.slow
def test_transduction_predicts_the_unlabelled_examples():
    data = few_labels("regression")
    tree = om.PCTRegressor(supervision=0.5, random_state=0)
    found = tree.transduce(data)
    np.testing.assert_array_equal(found, tree.predict(data.take(~data.labelled)))
    frame = om.PCTRegressor(supervision=0.5, random_state=0).transduce(data.features.to_frame(), data.y)
    np.testing.assert_array_equal(found, frame)
    with pytest.raises(DataError, match="nothing to predict"):
        tree.transduce(data.take(data.labelled))


def test_a_leaf_without_known_targets_predicts_like_its_nearest_ancestor_with_some():
    """Target by target: the two left groups are told apart by the features, but only one knows the second target."""
    x = np.repeat([0.0, 1.0, 5.0], 4)
    y = np.full((12, 2), np.nan)
    y[:4, 0], y[4:8, 0] = 1.0, 3.0
    y[4:8, 1], y[8:, 1] = 10.0, 40.0
    tree = om.PCTRegressor(supervision=0.2, pruning=None, min_labelled_leaf=0, random_state=0).fit(x[:, None], y)
    assert tree.get_n_leaves() == 3
    found = tree.predict([[0.0], [1.0], [5.0]])
    assert found.tolist() == [[1.0, 10.0], [3.0, 10.0], [2.0, 40.0]]  # 10 from the left half, 2 from the root


def test_errors_of_sparse_numbers_in_leaves():
    rng = np.random.default_rng(6)
    X = (rng.random((50, 6)) < 0.3) * rng.normal(size=(50, 6))
    plans = [
        GrowingData(om.Dataset(features), 0).plan(GrowingRules("bagging", bootstrap=False))
        for features in (sparse.csr_array(X), X)
    ]
    errors = [node_errors(plan.grow(0), plan.columns, plan.clustering, plan.weight) for plan in plans]
    np.testing.assert_allclose(errors[0], errors[1], atol=1e-9)


# -- clusters --------------------------------------------------------------------------------------------------


def test_clusters_are_leaves():
    rng = np.random.default_rng(7)
    frame = ensembles_cases.random_features(rng, 60)
    model = om.PCTClusterer(max_leaves=5, random_state=0).fit(frame)
    assert model.n_clusters_ == 5 == model.tree_.n_leaves
    assert sorted(set(model.labels_)) == list(range(5))
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
    assert om.export_text(model).count("cluster ") == 5
    assert model.cluster_prototypes_.shape == (5, 5)
    inside = frame[model.labels_ == 2]
    assert model.cluster_prototypes_["ties"][2] == pytest.approx(inside["ties"].mean())
    assert model.feature_importances_.sum() == pytest.approx(model.tree_.gain.sum())
    data = om.Dataset(frame, rng.normal(size=60))
    np.testing.assert_array_equal(om.PCTClusterer(max_leaves=5, random_state=0).fit(data).labels_, model.labels_)
    with pytest.raises(ParameterError, match="max_leaves=0"):
        om.PCTClusterer(max_leaves=0).fit(frame)


def test_few_leaves_are_those_of_the_best_tests():
    rng = np.random.default_rng(8)
    plan = GrowingData(om.Dataset(rng.normal(size=(40, 3))), 0).plan(GrowingRules("bagging", bootstrap=False))
    grown = plan.grow(0)
    n_leaves = int((grown.feature < 0).sum())
    gains = []
    for most in range(1, n_leaves + 2):
        tree = best_tests(grown, most)
        assert (tree.feature < 0).sum() == min(most, n_leaves)
        gains.append(tree.gain.sum())
    steps = np.diff(gains)
    assert (steps[:-1] > 0).all()
    assert steps[0] == pytest.approx(grown.gain[0])
    second = max(grown.gain[1], grown.gain[grown.right[0]])
    assert steps[1] == pytest.approx(second)
    assert best_tests(grown, None) is grown
