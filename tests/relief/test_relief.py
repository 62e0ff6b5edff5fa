"""ReliefRanker against its slow reference, for every task, distance, supervision, kind of data and of workers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import omnirank as om
from draws import draws
from omnirank.relief import sums
from omnirank.tasks.target_distances import euclidean_mu
from reference import relief_cases as cases
from reference import relief_scores as reference
from reference import tasks_distances

pytestmark = pytest.mark.filterwarnings("ignore:the (targets|features) of all neighbours:UserWarning")
SIZES = st.integers(2, 9)
KS = st.integers(1, 10)


MISSING = st.sampled_from(["left-out", "distant"])
DISTANCE_FORM = {"algorithm": "rrelieff", "influence": (0.0, 1.0)}


def expected(slow, distance, labelled, k, sigma=0.0, influence=(0.0, 1.0), missing="left-out"):
    n = len(labelled)
    weights = reference.influences(slow, labelled, *influence)
    return reference.relief(slow, range(n), k, distance, sigma, weights, missing)


def check(ranker, X, y, wanted):
    found = ranker.fit(X, y).feature_importances_
    np.testing.assert_allclose(found, wanted, atol=1e-9)
    return ranker


TASKS = [
    ("regression", ["number"]),
    ("classification", ["class"]),
    ("multi-target-regression", ["number", "number"]),
    ("multi-target-classification", ["class", "class"]),
    ("mixed-targets", ["class", "number"]),
]


@pytest.mark.every(4)
@pytest.mark.parametrize(("task", "kinds"), TASKS)
@draws(15)
@given(data=st.data())
def test_numbers_and_classes(task, kinds, data):
    n, k = data.draw(SIZES), data.draw(KS)
    X, slow = data.draw(cases.features(n))
    unknown, sigma = data.draw(st.booleans()), data.draw(st.sampled_from([0.0, 0.3]))
    influence = data.draw(st.sampled_from([(0.0, 1.0), (0.25, 0.5), (1.0, 1.0)]))
    y, distance, labelled = data.draw(cases.variables(n, kinds, unknown))
    missing = data.draw(MISSING)
    options = {"sigma": sigma, "influence": influence, "missing": missing, "task": task}
    ranker = om.ReliefRanker("rrelieff", n_neighbors=k, **options)
    if not any(labelled):
        assert ranker.fit(X, y).task_ == "clustering"
        return
    check(ranker, X, y, expected(slow, distance, labelled, k, sigma, influence, missing))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hamming", "accuracy", "f1", "subset"])
@draws(15)
@given(data=st.data())
def test_label_sets(kind, data):
    n, k = data.draw(SIZES), data.draw(KS)
    X, slow = data.draw(cases.features(n))
    y, distance, labelled = data.draw(cases.label_sets(n, kind, data.draw(st.booleans())))
    if not any(labelled):
        return
    missing = data.draw(MISSING)
    options = DISTANCE_FORM | {"missing": missing, "target_distance": kind}
    ranker = om.ReliefRanker(n_neighbors=k, task="multi-label", **options)
    wanted = expected(slow, distance, labelled, k, missing=missing)
    check(ranker, X, y, wanted)
    check(ranker, X, om.Dataset(X, sparse_labels(y), task="multi-label").target.dense(), wanted)
    found = ranker.fit(om.Dataset(X, sparse_labels(y), task="multi-label"))
    np.testing.assert_allclose(found.feature_importances_, wanted, atol=1e-9)


def sparse_labels(y):
    from omnirank.data.target import Target

    labelled = ~np.isnan(y).all(axis=1)
    values = sparse.csr_array(np.where(labelled[:, None], y, 0.0))
    return Target.labels(values, [f"y{j}" for j in range(y.shape[1])], labelled)


@pytest.mark.every(2)
@pytest.mark.parametrize("kind", ["hamming", "accuracy", "f1", "subset", "euclidean-mu"])
@draws(10)
@given(data=st.data())
def test_hierarchies(kind, data):
    n, k = data.draw(SIZES), data.draw(KS)
    X, slow = data.draw(cases.features(n))
    hierarchy = cases.hierarchy()
    chosen = st.lists(st.sampled_from(hierarchy.labels), max_size=3).map(set)
    dataset = om.Dataset(X, data.draw(st.lists(chosen, min_size=n, max_size=n)), hierarchy=hierarchy)
    sets = dataset.target.dense().astype(int).tolist()
    weights = hierarchy.weights()
    mu = euclidean_mu(dataset.target, hierarchy, weights)

    def distance(r, q):
        return tasks_distances.set_distance(sets[r], sets[q], weights.tolist(), kind, mu)

    found = om.ReliefRanker(n_neighbors=k, target_distance=kind).fit(dataset).feature_importances_
    np.testing.assert_allclose(found, expected(slow, distance, [True] * n, k), atol=1e-9)


@pytest.mark.slow
@draws(20)
@given(data=st.data())
def test_unsupervised(data):
    n, k = data.draw(SIZES), data.draw(KS)
    X, slow = data.draw(cases.features(n))
    for missing in ("left-out", "distant"):
        wanted = reference.relief(slow, range(n), k, lambda r, q: None, missing=missing)
        check(om.ReliefRanker(n_neighbors=k, missing=missing), X, None, wanted)


@draws(20)
@given(data=st.data())
def test_hits_and_misses(data):
    n, k = data.draw(st.integers(2, 12)), data.draw(KS)
    X, slow = data.draw(cases.features(n))
    classes = data.draw(st.lists(st.sampled_from("pqr"), min_size=n, max_size=n))
    sigma = data.draw(st.sampled_from([0.0, 0.3]))
    missing = data.draw(MISSING)
    ranker = om.ReliefRanker("relieff", n_neighbors=k, sigma=sigma, missing=missing)
    if len(set(classes)) == 1:
        assert not ranker.fit(X, classes).feature_importances_.any()
        return
    check(ranker, X, classes, reference.relieff(slow, classes, range(n), k, sigma, missing))


@draws(10)
@given(data=st.data())
def test_one_pass_gives_all_numbers_of_neighbours_and_iterations(data):
    n = data.draw(st.integers(4, 12))
    X, _ = data.draw(cases.features(n))
    y = data.draw(st.lists(st.sampled_from("pq"), min_size=n, max_size=n))
    algorithm = data.draw(st.sampled_from(["rrelieff", "relieff"]))
    options = {"sigma": data.draw(st.sampled_from([0.0, 0.2])), "random_state": 3}
    many = om.ReliefRanker(algorithm, [1, 3], [2, 1.0], **options).fit(X, y)
    assert set(many.checkpoints_) == {(2, 1), (2, 3), (n, 1), (n, 3)}
    for m, k in many.checkpoints_:
        one = om.ReliefRanker(algorithm, k, m, **options).fit(X, y)
        np.testing.assert_allclose(many.checkpoints_[m, k].scores, one.feature_importances_, atol=1e-12)
    assert many.ranking_ == many.checkpoints_[n, 3]


@pytest.mark.parametrize("kinds", [["number", "class", "number"], "labels"])
@draws(14)
@given(data=st.data())
def test_each_target_alone(kinds, data):
    """The same pairs and weights for every target; where it is unknown in one of both, the mean feature distance."""
    n, unknown = data.draw(st.integers(3, 9)), data.draw(st.booleans())
    X, slow = data.draw(cases.features(n))
    sigma, influence = data.draw(st.sampled_from([0.0, 0.4])), data.draw(st.sampled_from([(0.0, 1.0), (0.25, 0.5)]))
    if kinds == "labels":
        y, _, labelled = data.draw(cases.label_sets(n, "hamming", unknown, n_labels=3))
        columns, nominal, task = [[None if np.isnan(v) else v for v in c] for c in y.T], [True] * 3, "multi-label"
    else:
        y, _, labelled = data.draw(cases.variables(n, kinds, unknown))
        columns = [[None if pd.isna(v) else v for v in y[name]] for name in y.columns]
        nominal, task = [kind == "class" for kind in kinds], "mixed-targets"
    if not any(labelled):
        return
    missing = data.draw(MISSING)
    options = {"n_neighbors": 3, "sigma": sigma, "influence": influence, "missing": missing, "task": task}
    ranking = om.ReliefRanker(per_target=True, **options).fit(X, y).ranking_
    for j, (column, is_nominal) in enumerate(zip(columns, nominal, strict=True)):

        def distance(r, q, column=column, is_nominal=is_nominal):
            if column[r] is None or column[q] is None:
                return None
            return tasks_distances.value_distance([column[r]], [column[q]], [column], [is_nominal])

        wanted = expected(slow, distance, labelled, 3, sigma, influence, missing)
        np.testing.assert_allclose(ranking.per_target.scores[j], wanted, atol=1e-9)


def test_sparse_labels_alone():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), (rng.random((30, 5)) < 0.4).astype(float)
    dense = om.ReliefRanker(per_target=True, task="multi-label").fit(X, y).ranking_
    thin = om.ReliefRanker(per_target=True).fit(om.Dataset(X, sparse_labels(y), task="multi-label")).ranking_
    np.testing.assert_allclose(thin.per_target.scores, dense.per_target.scores)


# -- wide sparse data, few large blocks, processes ----------------------------------------------------------


def scores(X, y=None, **options):
    return om.ReliefRanker(**options).fit(X, y).feature_importances_


def wide_data(n=120, d=90, seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.random_array(
        (n, d), density=0.06, random_state=rng, data_sampler=lambda size: rng.normal(size=size)
    ).tocsr()
    X.data[rng.random(X.nnz) < 0.05] = np.nan
    return X, rng


@pytest.mark.parametrize(
    "options", [{}, {"algorithm": "relieff"}, {"sigma": 0.2, "n_neighbors": [3, 9], "n_iterations": [20, 1.0]}]
)
@pytest.mark.parametrize("hidden", [0.0, 0.5])
def test_wide_sparse_data_have_the_scores_of_dense_data(options, hidden):
    X, rng = wide_data()
    y = np.where(rng.random(120) < hidden, np.nan, rng.integers(0, 3, 120))
    thin, dense = (om.ReliefRanker(random_state=0, n_jobs=2, **options).fit(x, y) for x in (X, X.toarray()))
    assert thin.checkpoints_.keys() == dense.checkpoints_.keys()
    for key, ranking in dense.checkpoints_.items():
        assert ranking.scores.any()
        np.testing.assert_allclose(thin.checkpoints_[key].scores, ranking.scores, atol=1e-12)


def test_wide_sparse_data_by_target_and_without_one():
    X, rng = wide_data(seed=1)
    y = rng.normal(size=(120, 2))
    thin, dense = (om.ReliefRanker(per_target=True).fit(x, y).ranking_ for x in (X, X.toarray()))
    np.testing.assert_allclose(thin.per_target.scores, dense.per_target.scores, atol=1e-12)
    np.testing.assert_allclose(scores(X), scores(X.toarray()), atol=1e-12)


def test_few_large_blocks_give_the_same_sums(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(700, 5)), rng.normal(size=700)
    many = scores(X, y)
    sizes = []

    def run(work, items, *_, **__):
        sizes.extend(len(rows) for rows in items)
        return [work(rows) for rows in items]

    monkeypatch.setattr(sums, "run_parallel", run)
    monkeypatch.setattr(sums, "_MOST_SUMS", 1)
    np.testing.assert_allclose(scores(X, y), many, atol=1e-12)
    assert sum(sizes) == 700
    assert len(sizes) <= 8
