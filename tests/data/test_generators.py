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
from omnirank.data.task_registry import TASKS
from reference.data_generator_cases import ALL, SEVERAL_TARGETS, SUPERVISED, importances, values_of

ROLES = ("relevant", "redundant", "interacting", "irrelevant")
CLASSIC = [datasets.make_friedman, datasets.make_xor]


def counts_of(relevance):
    return {role: int(getattr(relevance, role).sum()) for role in ROLES}


# -- shapes, roles, seeds -----------------------------------------------------------------------------


def test_there_is_a_generator_for_every_task():
    assert set(ALL) == set(TASKS)


@pytest.mark.parametrize("task", sorted(ALL))
def test_shapes_names_and_roles(task):
    data, relevance = ALL[task](120, n_relevant=4, n_redundant=3, n_irrelevant=6, n_interacting=5, random_state=1)
    assert (data.task, data.n_examples, data.n_features) == (task, 120, 18)
    assert data.feature_names == tuple(f"x{i}" for i in range(1, 19))
    assert counts_of(relevance) == {"relevant": 4, "redundant": 3, "interacting": 5, "irrelevant": 6}
    assert np.array_equal(sum(getattr(relevance, role).astype(int) for role in ROLES), np.ones(18))
    assert np.array_equal(relevance.informative, relevance.relevant | relevance.redundant | relevance.interacting)
    assert data.labelled.all() == (task != "clustering")


def test_roles_cannot_be_changed():
    _, relevance = datasets.make_regression(random_state=0)
    with pytest.raises(ValueError, match="read-only"):
        relevance.relevant[0] = True


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


def test_features_in_their_order_when_not_shuffled():
    _, relevance = datasets.make_regression(n_relevant=2, n_interacting=2, n_redundant=1, n_irrelevant=1, shuffle=False)
    order = [role for i in range(6) for role in ROLES if getattr(relevance, role)[i]]
    assert order == ["relevant", "relevant", "interacting", "interacting", "redundant", "irrelevant"]


@pytest.mark.slow
@given(data=st.data(), task=st.sampled_from(sorted(ALL)), seed=st.integers(0, 2**64))
@draws(38)
def test_any_parameters_in_their_domain_give_what_they_say(data, task, seed):
    n = data.draw(st.integers(10, 40))
    options = {
        "n_relevant": data.draw(st.integers(1, 5)),
        "n_redundant": data.draw(st.integers(0, 4)),
        "n_irrelevant": data.draw(st.integers(0, 5)),
        "n_interacting": data.draw(st.sampled_from([0, 2, 3, 4, 5, 6, 7])),
        "share_nominal": data.draw(st.floats(0, 1)),
        "missing_features": data.draw(st.floats(0, 0.999)),
        "noise": data.draw(st.floats(0, 3)),
    }
    if task != "clustering":
        options["labelled"] = data.draw(st.integers(0, n) | st.floats(0, 1))
        options["sparse"] = data.draw(st.booleans())
        if options["sparse"]:
            # Few rare words make fewer different scores than there are classes, unless there is noise.
            options |= {"n_interacting": 0, "noise": 0.5}
    if task in SEVERAL_TARGETS:
        options["missing_targets"] = data.draw(st.floats(0, 0.6))
    made, relevance = ALL[task](n, random_state=seed, **options)
    n_features = made.n_features
    assert counts_of(relevance) == {role: options[f"n_{role}"] for role in ROLES}
    assert made.features.is_nominal.sum() == round(options["share_nominal"] * n_features)
    assert made.features.n_missing == round(options["missing_features"] * n * n_features)
    if task == "clustering":
        assert made.target is None
        return
    assert made.features.is_sparse == options["sparse"]
    labelled = options["labelled"]
    n_labelled = labelled if isinstance(labelled, int) else round(labelled * n)
    assert made.labelled.sum() == n_labelled
    hidden = (n - n_labelled) * made.n_targets
    hidden += round(options.get("missing_targets", 0) * n_labelled * made.n_targets)
    if task == "hierarchical-multi-label":
        assert (n - n_labelled) * made.n_targets <= made.target.n_unknown <= hidden
    else:
        assert made.target.n_unknown == hidden


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


def test_interacting_features_of_clusters_depend_on_the_cluster_only_together():
    data, relevance = datasets.make_clusters(
        2000, n_clusters=2, n_relevant=1, n_interacting=2, noise=0.05, random_state=0
    )
    cluster = data.X[:, relevance.relevant][:, 0] > 0
    signs = np.sign(data.X[:, relevance.interacting])
    assert abs(np.corrcoef(signs[:, 0], cluster)[0, 1]) < 0.07
    assert abs(np.corrcoef(signs[:, 1], cluster)[0, 1]) < 0.07
    assert abs(np.corrcoef(signs.prod(axis=1), cluster)[0, 1]) == pytest.approx(1)


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


def test_labelled_counts_integers_and_shares_floats():
    assert datasets.make_regression(50, labelled=1)[0].labelled.sum() == 1
    assert datasets.make_regression(50, labelled=1.0)[0].labelled.sum() == 50
    assert datasets.make_regression(50, labelled=0)[0].labelled.sum() == 0
    assert datasets.make_regression(50, labelled=np.int64(3))[0].labelled.sum() == 3


@pytest.mark.parametrize("task", SEVERAL_TARGETS)
def test_labelled_examples_keep_a_target_value(task):
    data, _ = SUPERVISED[task](100, labelled=80, missing_targets=0.66, random_state=0)
    assert data.labelled.sum() == 80
    assert data.target.is_partial


def test_missing_cells_leave_the_others_as_they_are():
    whole, _ = datasets.make_classification(100, share_nominal=0.4, random_state=0)
    holes, _ = datasets.make_classification(100, share_nominal=0.4, missing_features=0.3, random_state=0)
    a, b = values_of(whole), values_of(holes)
    known = ~np.isnan(b)
    assert known.mean() == pytest.approx(0.7)
    assert np.array_equal(a[known], b[known])
    assert known.mean(axis=0).min() > 0.4, "missing cells are spread over the features"


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.01, 0.2, 0.7])
def test_words_are_in_the_asked_share_of_the_examples(share):
    data, relevance = datasets.make_multi_label(
        2000, n_relevant=20, n_irrelevant=300, sparse=True, word_share=share, random_state=0
    )
    matrix = data.features.matrix
    assert set(np.unique(matrix.data)) == {1.0}
    frequency = matrix.sum(axis=0) / 2000
    tolerance = 5 * np.sqrt(share * (1 - share) / 2000)
    assert np.abs(frequency - share).max() < tolerance
    assert abs(frequency[relevance.irrelevant].mean() - share) < tolerance / 10
    assert data.target.is_sparse


def test_sparse_data_hold_nominal_words_missing_cells_and_hidden_labels():
    data, _ = datasets.make_multi_label(
        100,
        sparse=True,
        share_nominal=0.5,
        missing_features=0.1,
        labelled=60,
        missing_targets=0.2,
        random_state=0,
    )
    assert [levels for levels in data.features.levels if levels] == [("absent", "present")] * 10
    assert data.features.n_missing == 200
    assert data.target.is_sparse
    assert data.labelled.sum() == 60
    assert data.target.n_unknown == 40 * 5 + 60


def test_wide_text_is_made_without_a_dense_matrix():
    data, _ = datasets.make_multi_label(500, n_irrelevant=200_000, sparse=True, word_share=0.001, random_state=0)
    assert data.features.matrix.nnz == pytest.approx(100_000, rel=0.05)


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


def test_a_forest_finds_the_five_features_of_friedman():
    data, relevance = datasets.make_friedman(800, random_state=0)
    scores = importances(data)
    assert set(np.argsort(scores)[-5:]) == set(np.flatnonzero(relevance.relevant))


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
