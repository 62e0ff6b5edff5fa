"""Generators: counts and roles, clusters, hidden values, words, known functions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_selection import chi2
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from draws import draws
from omnirank import datasets
from omnirank.data.generators import cut
from omnirank.data.task_registry import TASKS
from reference.data_generator_cases import ALL, SEVERAL_TARGETS, SUPERVISED, importances

ROLES = ("relevant", "redundant", "interacting", "irrelevant")
CLASSIC = [datasets.make_friedman, datasets.make_xor]


def counts_of(relevance):
    return {role: int(getattr(relevance, role).sum()) for role in ROLES}


# -- shapes, roles, seeds -----------------------------------------------------------------------------


def test_there_is_a_generator_for_every_task():
    assert set(ALL) == set(TASKS)


@pytest.mark.parametrize("task", sorted(ALL))
def test_shapes_names_and_roles(task):
    data, relevance = ALL[task](120, n_relevant=4, n_redundant=3, n_irrelevant=6, random_state=1)
    assert (data.task, data.n_examples, data.n_features) == (task, 120, 13)
    assert data.feature_names == tuple(f"x{i}" for i in range(1, 14))
    assert counts_of(relevance) == {"relevant": 4, "redundant": 3, "interacting": 0, "irrelevant": 6}
    assert np.array_equal(sum(getattr(relevance, role).astype(int) for role in ROLES), np.ones(13))
    assert np.array_equal(relevance.informative, relevance.relevant | relevance.redundant)
    assert data.labelled.all() == (task != "clustering")


@pytest.mark.parametrize("generator", [*ALL.values(), *CLASSIC])
def test_same_seed_same_data(generator):
    def make(seed):
        data, relevance = generator(60, random_state=seed)
        return data.fingerprint, relevance.informative.tolist()

    assert make(7) == make(7)
    assert make(7) != make(8)
    assert make(np.random.default_rng(3)) == make(np.random.default_rng(3))
    assert make(np.random.RandomState(3)) == make(np.random.RandomState(3))
    assert make(None) != make(None)


@pytest.mark.parametrize("generator", [*ALL.values(), *CLASSIC])
def test_order_of_features_is_random_unless_asked_otherwise(generator):
    plain, sorted_roles = generator(50, shuffle=False, random_state=0)
    shuffled, roles = generator(50, shuffle=True, random_state=0)
    assert sorted_roles.informative[: sorted_roles.informative.sum()].all()
    assert not np.array_equal(roles.informative, sorted_roles.informative)
    assert {tuple(column) for column in plain.X.T} == {tuple(column) for column in shuffled.X.T}


@pytest.mark.slow
@given(data=st.data(), task=st.sampled_from(sorted(ALL)), seed=st.integers(0, 2**64))
@draws(38)
def test_any_parameters_in_their_domain_give_what_they_say(data, task, seed):
    n = data.draw(st.integers(10, 40))
    options = {
        "n_relevant": data.draw(st.integers(1, 5)),
        "n_redundant": data.draw(st.integers(0, 4)),
        "n_irrelevant": data.draw(st.integers(0, 5)),
        "share_nominal": data.draw(st.floats(0, 1)),
        "missing_features": data.draw(st.floats(0, 0.999)),
        "noise": data.draw(st.floats(0, 3)),
    }
    if task != "clustering":
        options["labelled"] = data.draw(st.integers(0, n) | st.floats(0, 1))
        options["sparse"] = data.draw(st.booleans())
        if options["sparse"]:
            # Few rare words make fewer different scores than there are classes, unless there is noise.
            options["noise"] = 0.5
    if task in SEVERAL_TARGETS:
        options["missing_targets"] = data.draw(st.floats(0, 0.6))
    made, relevance = ALL[task](n, random_state=seed, **options)
    n_features = made.n_features
    assert counts_of(relevance) == {role: options.get(f"n_{role}", 0) for role in ROLES}
    assert made.features.is_nominal.sum() == round(options["share_nominal"] * n_features)
    assert made.features.n_missing == round(options["missing_features"] * (n * n_features))
    if task == "clustering":
        assert made.target is None
        return
    assert made.features.is_sparse == options["sparse"]
    labelled = options["labelled"]
    n_labelled = labelled if isinstance(labelled, int) else round(labelled * n)
    assert made.labelled.sum() == n_labelled
    hidden = (n - n_labelled) * made.n_targets
    hidden += round(options.get("missing_targets", 0) * n_labelled * made.n_targets)
    n_unknown = np.isnan(made.target.dense()).sum()
    if task == "hierarchical-multi-label":
        assert (n - n_labelled) * made.n_targets <= n_unknown <= hidden
    else:
        assert n_unknown == hidden


# -- clusters -----------------------------------------------------------------------------------------


def clusters_found(X, n_clusters):
    return GaussianMixture(n_clusters, n_init=5, random_state=0).fit_predict(X)


@pytest.mark.slow
def test_clusters_live_in_the_relevant_features():
    data, relevance = datasets.make_clusters(300, n_clusters=4, n_relevant=6, noise=0.2, random_state=1)
    first, second = data.X[:, relevance.relevant][:, :3], data.X[:, relevance.relevant][:, 3:]
    assert adjusted_rand_score(clusters_found(first, 4), clusters_found(second, 4)) > 0.95
    sizes = np.bincount(clusters_found(first, 4))
    assert sizes.tolist() == [75] * 4
    other = data.X[:, relevance.irrelevant]
    assert adjusted_rand_score(clusters_found(first, 4), clusters_found(other, 4)) < 0.1


# -- hidden labels, words -----------------------------------------------------------------------------


@pytest.mark.parametrize("task", sorted(SUPERVISED))
def test_fewer_labels_are_a_subset_and_features_stay(task):
    few, _ = SUPERVISED[task](100, labelled=10, random_state=0)
    more, _ = SUPERVISED[task](100, labelled=0.5, random_state=0)
    everything, _ = SUPERVISED[task](100, random_state=0)
    assert (few.labelled.sum(), more.labelled.sum(), everything.labelled.sum()) == (10, 50, 100)
    assert (few.labelled <= more.labelled).all()
    assert np.array_equal(few.X, everything.X)
    rows = more.labelled
    assert np.array_equal(more.target.dense()[rows], everything.target.dense()[rows])
    assert 0.1 < few.labelled[:50].mean() / few.labelled.mean() < 1.9, "labelled examples are spread"


@pytest.mark.slow
def test_words_are_in_their_share_of_the_examples():
    data, relevance = datasets.make_multi_label(2000, n_relevant=20, n_irrelevant=300, sparse=True, random_state=0)
    matrix = data.features.matrix
    assert set(np.unique(matrix.data)) == {1.0}
    frequency = matrix.sum(axis=0) / 2000
    tolerance = 5 * np.sqrt(0.05 * 0.95 / 2000)
    assert np.abs(frequency - 0.05).max() < tolerance
    assert abs(frequency[relevance.irrelevant].mean() - 0.05) < tolerance / 10
    assert data.target.is_sparse


# -- known from the literature ------------------------------------------------------------------------


def test_friedman_is_his_function():
    data, relevance = datasets.make_friedman(300, n_features=12, noise=0.0, shuffle=False, random_state=0)
    x1, x2, x3, x4, x5 = data.X[:, :5].T
    expected = 10 * np.sin(np.pi * x1 * x2) + 20 * (x3 - 0.5) ** 2 + 10 * x4 + 5 * x5
    assert np.allclose(data.y, expected)
    assert counts_of(relevance) == {"relevant": 5, "redundant": 0, "interacting": 0, "irrelevant": 7}
    assert data.X.min() >= 0
    assert data.X.max() <= 1
    noisy, _ = datasets.make_friedman(4000, noise=2.0, shuffle=False, random_state=0)
    quiet, _ = datasets.make_friedman(4000, noise=0.0, shuffle=False, random_state=0)
    assert np.isclose((noisy.y - quiet.y).std(), 2, rtol=0.05)


@pytest.mark.parametrize("n_interacting", [2, 3, 4])
def test_xor_shows_in_no_smaller_set_of_features(n_interacting):
    data, relevance = datasets.make_xor(320, n_interacting=n_interacting, random_state=0)
    bits = data.X[:, relevance.interacting]
    assert set(np.unique(data.X)) == {0.0, 1.0}
    assert np.array_equal(bits.sum(axis=1) % 2, data.y)
    assert np.allclose(chi2(bits, data.y)[0], 0)
    for left_out in range(n_interacting):
        rest = np.delete(bits, left_out, axis=1)
        for pattern in np.unique(rest, axis=0):
            assert data.y[(rest == pattern).all(axis=1)].mean() == 0.5


def test_xor_noise_is_the_share_of_wrong_classes():
    data, relevance = datasets.make_xor(200, noise=0.15, random_state=0)
    parity = data.X[:, relevance.interacting].sum(axis=1) % 2
    assert (parity != data.y).sum() == 30
    assert data.target.levels == ((0, 1),)


# -- targets ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_classes_are_of_equal_size_and_named(n_classes):
    data, _ = datasets.make_classification(70 * n_classes, n_classes=n_classes, random_state=0)
    names = [f"c{k}" for k in range(1, n_classes + 1)]
    assert data.describe()["classes"] == dict.fromkeys(names, 70)


@pytest.mark.parametrize("density", [0.05, 0.3, 0.8])
def test_label_density(density):
    data, _ = datasets.make_multi_label(200, n_labels=6, label_density=density, random_state=0)
    assert np.allclose(data.y.mean(axis=0), density)
    assert data.target_names == tuple(f"label{i}" for i in range(1, 7))


@pytest.mark.parametrize("kind", ["tree", "dag"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_label_sets_are_closed_under_the_hierarchy(kind, sparse, missing):
    data, _ = datasets.make_hierarchical_multi_label(
        n_labels=25, hierarchy=kind, sparse=sparse, missing_targets=missing, labelled=150, random_state=0
    )
    assert data.hierarchy.is_tree == (kind == "tree")
    assert data.target_names == data.hierarchy.labels
    values = data.target.dense()[data.labelled]
    for child, above in enumerate(data.hierarchy.parents):
        for parent in above:
            both = ~np.isnan(values[:, child]) & ~np.isnan(values[:, parent])
            assert (values[both, child] <= values[both, parent]).all()
            assert not np.isnan(values[values[:, child] == 1, parent]).any(), "a known 1 settles its ancestors"
            assert not np.isnan(values[values[:, parent] == 0, child]).any(), "a known 0 settles its descendants"
    assert (np.nansum(values, axis=0) > 0).mean() > 0.8
    assert np.isnan(values).any() == (missing > 0)


@given(
    st.lists(
        st.sampled_from([0.0, 0.5, 0.25, 1e-3, 2.0, 3.0]) | st.floats(-5, 5).map(lambda v: round(v, 6)),
        min_size=1,
        max_size=30,
    ),
    st.lists(st.floats(0.01, 0.99), min_size=1, max_size=5).map(sorted),
)
def test_cut_makes_intervals_of_which_none_is_empty(scores, shares):
    scores = np.array(scores)
    codes = cut(scores, shares)
    if np.unique(scores).size <= len(shares):
        assert codes is None
        return
    assert set(codes) == set(range(len(shares) + 1))
    order = np.argsort(scores)
    assert (np.diff(codes[order]) >= 0).all()
    for value in np.unique(scores):
        assert np.unique(codes[scores == value]).size == 1


# -- what the features tell -----------------------------------------------------------------------------


@pytest.mark.every(9)
@pytest.mark.parametrize("task", sorted(SUPERVISED))
@pytest.mark.parametrize("share_nominal", [0.0, 1.0])
def test_relevant_features_tell_more_than_irrelevant_ones(task, share_nominal):
    data, relevance = SUPERVISED[task](
        600, n_relevant=3, n_redundant=0, n_irrelevant=10, share_nominal=share_nominal, random_state=3
    )
    scores = importances(data)
    assert scores[relevance.relevant].min() > 1.5 * scores[relevance.irrelevant].max()


@pytest.mark.parametrize("sparse", [False, True])
def test_redundant_features_follow_a_relevant_one(sparse, monkeypatch):
    monkeypatch.setattr("omnirank.data.generators.WORD_SHARE", 0.3)
    data, relevance = datasets.make_regression(2000, n_relevant=3, n_redundant=5, sparse=sparse, random_state=0)
    correlation = np.abs(np.corrcoef(data.features.matrix.toarray().T if sparse else data.X.T))
    to_relevant = correlation[:, relevance.relevant]
    assert (to_relevant[relevance.redundant].max(axis=1) > 0.9).all()
    assert (to_relevant[relevance.redundant].max(axis=1) < 0.9999).all()
    assert (to_relevant[relevance.irrelevant] < 0.15).all()
    copied = np.bincount(to_relevant[relevance.redundant].argmax(axis=1), minlength=3)
    assert sorted(copied.tolist()) == [1, 2, 2], "relevant features are copied in turn"


def test_noise_is_relative_to_the_signal():
    quiet, _ = datasets.make_regression(4000, noise=0.0, random_state=0)
    loud, _ = datasets.make_regression(4000, noise=2.0, random_state=0)
    assert np.isclose(quiet.y.var(), 1, rtol=0.1)
    assert np.isclose(loud.y.var(), 5, rtol=0.1)
    assert np.isclose((loud.y - quiet.y).std(), 2, rtol=0.05)
    assert np.array_equal(quiet.X, loud.X)
