"""Scores of single trees against their definitions, for every task."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from draws import draws
from omnirank.core.errors import DataError
from omnirank.data.dataset import Dataset
from omnirank.ensembles import errors as losses
from omnirank.ensembles import scores
from omnirank.ensembles.plan import ENSEMBLES, GrowingData, GrowingRules
from omnirank.ensembles.scores import SCORES, ScoredTree, ScoreOptions
from omnirank.trees.tree import tree_from_grown
from reference import ensembles_scores as reference
from reference.ensembles_cases import DAG, TASKS, TREE, random_dataset, random_weights

FEW = draws(1)
seeds = st.integers(0, 2**31)


def planned(data, weight=None, seed=0, **rules):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tiny data: levels look like identifiers
        return GrowingData(data, seed, weight).plan(GrowingRules(**rules))


def case_of(plan, weight, i=0):
    """A tree of the plan, and the same tree in the words of the reference."""
    counts = plan.counts(i)
    grown = plan.grow(i, counts)
    alpha = plan.columns.weights
    case = reference.Case(plan.dataset, weight, counts, alpha, plan.rules.normalize_targets)
    tree = reference.explicit_tree(tree_from_grown(grown, plan.dataset.features), case)
    return counts, grown, case, tree


def donors_of(plan, grown, counts, i=0):
    """Which row gives its value of each feature to each out-of-bag row."""
    order = scores.out_of_bag(plan, grown, counts, i).order
    n = len(order.rows)
    return [[int(order.shuffled[(k + order.shift[f]) % n]) for k in range(n)] for f in range(len(order.shift))]


def labelled(data):
    return data if data.labelled.all() else data.take(data.labelled)


@st.composite
def problems(draw, task):
    rng = np.random.default_rng(draw(seeds))
    hierarchy = draw(st.sampled_from([TREE, DAG])) if task == "hierarchical-multi-label" else None
    data = labelled(
        random_dataset(
            rng,
            task,
            n=draw(st.integers(12, 30)),
            unknown=draw(st.sampled_from([0.0, 0.25])),
            hierarchy=hierarchy,
            sparse_labels=draw(st.booleans()),
        )
    )
    weight = random_weights(rng, data.n_examples) if draw(st.booleans()) else None
    rules = {
        "ensemble": draw(st.sampled_from(ENSEMBLES)),
        "min_samples_leaf": draw(st.sampled_from([1, 2])),
        "normalize_targets": draw(st.booleans()),
    }
    try:
        return planned(data, weight, draw(seeds), **rules), weight
    except DataError:  # few examples may all have the same target
        reject()


@pytest.mark.every(2)
@pytest.mark.parametrize("task", TASKS)
@FEW
@given(data=st.data())
def test_genie3_and_symbolic_are_as_defined(task, data):
    plan, weight = data.draw(problems(task))
    _, grown, case, tree = case_of(plan, weight)
    expected = reference.genie3(tree, case)
    tolerance = {"rtol": 1e-9, "atol": 1e-10 * case.bag.sum()}
    np.testing.assert_allclose(scores.genie3(ScoredTree(plan, grown)).row, expected.sum(axis=0), **tolerance)
    by_target = scores.genie3(ScoredTree(plan, grown, options=ScoreOptions(per_target=True))).table
    np.testing.assert_allclose(by_target, expected, **tolerance)
    np.testing.assert_allclose(expected.sum(), reference.impurity_lost(tree, case), **tolerance)
    for depth_weight in (None, 0.5, 1.0):
        found = scores.symbolic(ScoredTree(plan, grown, options=ScoreOptions(symbolic_weight=depth_weight)))
        np.testing.assert_allclose(found.row, reference.symbolic(tree, case, depth_weight))


def errors_of(task):
    return [error for error, tasks in scores.ERRORS.items() if task in tasks]


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.every(4)
@pytest.mark.parametrize(("task", "error"), [(task, error) for task in TASKS for error in errors_of(task)])
@FEW
@given(data=st.data())
def test_permutation_is_as_defined(task, error, data):
    plan, weight = data.draw(problems(task))
    if error == "auprc":
        weight = None
        plan = planned(plan.dataset, None, plan.entropy, min_samples_leaf=2)
    _check_permutation(plan, weight, error)


def permutation_of(plan, grown, counts, error="auto", per_target=False):
    options, measure = ScoreOptions(per_target=per_target), losses.error_measure(plan, error, per_target)
    return scores.permutation(ScoredTree(plan, grown, counts, 0, options, measure))


def _check_permutation(plan, weight, error):
    counts, grown, case, tree = case_of(plan, weight)
    found, single, *_ = permutation_of(plan, grown, counts, error, per_target=True)
    whole, none, *_ = permutation_of(plan, grown, counts, error)
    assert none is None
    expected, expected_single = reference.permutation(tree, case, donors_of(plan, grown, counts), error)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(whole, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(single, expected_single, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("error", ["auto", "auprc"])
@pytest.mark.parametrize("unknown", [0.0, 0.2])
@pytest.mark.parametrize("sparse_labels", [False, True])
def test_permutation_of_label_sets_in_any_container(error, unknown, sparse_labels):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        for task, hierarchy in (("multi-label", None), ("hierarchical-multi-label", DAG)):
            data = labelled(random_dataset(rng, task, 25, unknown, hierarchy, sparse_labels))
            weight = None if error == "auprc" else random_weights(rng, data.n_examples)
            _check_permutation(planned(data, weight, seed), weight, error)


@pytest.mark.slow
def test_a_label_of_frequency_one_half_is_predicted():
    """49 of 98 rows have each of many labels: 49 / 98 is 1/2 exactly, also in sparse prototypes."""
    from scipy import sparse

    from omnirank.data.target import Target
    from omnirank.trees.prototypes import node_means

    X = np.zeros((98, 1))
    X[::2] = 1.0
    labels = sparse.csr_array(np.repeat((np.arange(98) < 49).astype(float)[:, None], 70, axis=1))
    data = Dataset(X, Target.labels(labels, [f"l{j}" for j in range(70)]), task="multi-label")
    plan = planned(data, bootstrap=False, max_depth=0)
    means, node_row = node_means(plan.grow(0), plan.columns)
    assert means.shape == (1, 70)
    assert (means.toarray() == 0.5).all()
    assert losses._predicted_sets(means, node_row).toarray().all()


def test_scores_of_a_single_leaf_are_zero():
    data = Dataset(np.zeros((6, 2)), np.arange(6.0) + 0.5)
    plan = planned(data)
    counts = plan.counts(0)
    grown = plan.grow(0, counts)
    tree = ScoredTree(plan, grown, options=ScoreOptions(per_target=True))
    assert not scores.genie3(tree).row.any()
    assert not scores.genie3(tree).table.any()
    assert not scores.symbolic(tree).row.any()
    found, single, undefined, _ = permutation_of(plan, grown, counts, per_target=True)
    assert not found.any()
    assert not single.any()
    assert not undefined


def test_every_permutation_is_equally_likely():
    """Chi-square over the 24 permutations of 4 rows, for each of two features."""
    from scipy.stats import chisquare

    from omnirank.ensembles.kernels.permutation import shuffle

    rows = np.array([3, 5, 8, 9], np.uint32)
    n_draws = 4800
    for f in range(2):
        seen: dict[tuple, int] = {}
        for seed in range(n_draws):
            order = shuffle(rows, 2, np.uint64(seed + 1))
            found = tuple(int(order.shuffled[(k + order.shift[f]) % 4]) for k in range(4))
            assert sorted(found) == rows.tolist()
            seen[found] = seen.get(found, 0) + 1
        assert len(seen) == 24
        assert chisquare(list(seen.values())).pvalue > 1e-4


@pytest.mark.every(9)
@pytest.mark.parametrize("ensemble", ENSEMBLES)
@pytest.mark.parametrize("values", ["words", "counts"])
def test_sparse_features_have_the_scores_of_dense_ones(ensemble, values):
    from scipy import sparse

    from omnirank.ensembles.scores import TreeScorer

    rng = np.random.default_rng(5)
    X = (rng.random((80, 12)) < 0.25) * (1.0 if values == "words" else rng.integers(1, 5, (80, 12)) / 2)
    labels = (X[:, :4] + rng.normal(size=(80, 4)) > 0.8).astype(int)
    found = []
    for features in (X, sparse.csr_array(X)):
        plan = planned(Dataset(features, labels), ensemble=ensemble)
        scorer = TreeScorer.make(plan, tuple(SCORES), ScoreOptions(per_target=True))
        found.append([scorer(i) for i in range(4)])
    for dense, thin in zip(*found, strict=True):
        for name in SCORES:
            np.testing.assert_allclose(thin[name].row, dense[name].row, rtol=1e-9, atol=1e-9)
        for name in (name for name, score in SCORES.items() if score.splits_by_target):
            np.testing.assert_allclose(thin[name].table, dense[name].table, rtol=1e-9, atol=1e-9)
