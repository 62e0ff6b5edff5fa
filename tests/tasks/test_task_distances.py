"""Target distances and mu against the formulas."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from omnirank.data.hierarchy import Hierarchy
from omnirank.data.infer import target_from
from omnirank.data.target import Target
from omnirank.tasks import get_task
from omnirank.tasks.target_distances import LabelSetDistances, ValueDistances, euclidean_mu
from reference import tasks_distances as reference

NAN = np.nan
SET_KINDS = ("hamming", "accuracy", "f1", "subset")


def of_all_pairs(distances, n):
    return distances(np.arange(n), np.tile(np.arange(n), (n, 1))).ravel()


def expected_of_sets(target, weights, kind, mu=1.0):
    rows = lists_of(target)
    return [reference.set_distance(a, b, weights, kind, mu) for a in rows for b in rows]


def target_distance(target, first, second, kind="auto", hierarchy=None, w0=0.75):
    """The distances of pairs."""
    distances = LabelSetDistances(target, kind, hierarchy, w0) if target.is_labels else ValueDistances(target)
    return distances(np.asarray(first), np.asarray(second)[:, None])[:, 0]


def lists_of(target):
    return [[None if math.isnan(v) else v for v in row] for row in target.dense().tolist()]


@st.composite
def label_sets(draw, n_labels=4):
    row = st.lists(st.sampled_from([0.0, 1.0, NAN]), min_size=n_labels, max_size=n_labels)
    values = np.array(draw(st.lists(row, min_size=1, max_size=6)))
    weights = np.array(draw(st.lists(st.sampled_from([1.0, 0.75, 0.3]), min_size=n_labels, max_size=n_labels)))
    return values, weights


@st.composite
def hierarchies_and_sets(draw):
    n_labels = draw(st.integers(1, 9))
    place = draw(st.permutations(range(n_labels)))
    most = draw(st.sampled_from([1, 3]))  # a tree or not
    parents = [()] * n_labels
    for i in range(1, n_labels):
        above = draw(st.sets(st.integers(0, i - 1), max_size=most))
        parents[place[i]] = tuple(place[p] for p in above)
    hierarchy = Hierarchy(tuple(f"n{i}" for i in range(n_labels)), tuple(parents))
    chosen = st.sets(st.sampled_from(hierarchy.labels), max_size=3)
    sets = draw(st.lists(st.one_of(st.none(), chosen), min_size=1, max_size=6))
    if not any(sets):
        sets = [*sets, {hierarchy.labels[0]}]
    return hierarchy, sets, draw(st.sampled_from([1.0, 0.75, 0.4]))


# -- label sets ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", SET_KINDS)
@given(label_sets())
def test_label_set_distances(kind, sets):
    values, weights = sets
    dense = Target.labels(values, list("abcd"))
    expected = expected_of_sets(dense, weights, kind)
    for target in (dense, Target.labels(sparse.csr_array(values), list("abcd"))):
        weighted = SimpleNamespace(weights=lambda w0: weights)
        found = of_all_pairs(LabelSetDistances(target, kind, weighted), len(values))
        assert found == pytest.approx(expected, nan_ok=True, abs=1e-12)
        assert np.all(np.isnan(found) | ((found >= 0) & (found <= 1)))


def test_weights_come_from_the_hierarchy():
    hierarchy = Hierarchy.from_paths(["a", "a/b", "c"])
    target = target_from([{"a"}, {"a/b"}], hierarchy=hierarchy)[0]
    assert of_all_pairs(LabelSetDistances(target, "hamming", hierarchy), 2)[1] == pytest.approx(0.75 / 2.75)
    assert of_all_pairs(LabelSetDistances(target, "hamming"), 2)[1] == pytest.approx(1 / 3)


# -- numbers and classes ------------------------------------------------------------------------------


@pytest.mark.slow
@given(st.data())
def test_numbers_and_classes(data):
    n = data.draw(st.integers(1, 6))
    number = st.lists(st.one_of(st.none(), st.floats(-5, 5, width=16)), min_size=n, max_size=n)
    kind = st.lists(st.one_of(st.none(), st.sampled_from("uvw")), min_size=n, max_size=n)
    columns = {"s": data.draw(number), "k": data.draw(kind), "t": data.draw(number)}
    frame = pd.DataFrame(columns).astype({"s": float, "k": pd.CategoricalDtype(list("uvw")), "t": float})
    distances = ValueDistances(target_from(frame, task="mixed-targets")[0])

    def expected(names):
        chosen = [columns[name] for name in names]
        rows = list(zip(*chosen, strict=True))
        nominal = [name == "k" for name in names]
        return [reference.value_distance(a, b, chosen, nominal) for a in rows for b in rows]

    assert of_all_pairs(distances, n) == pytest.approx(expected("skt"), nan_ok=True, abs=1e-9)
    for name, alone in zip("skt", distances.of_each(*np.divmod(np.arange(n * n), n)), strict=True):
        assert alone == pytest.approx(expected(name), nan_ok=True, abs=1e-9)


def test_every_distance_that_a_task_names_works():
    hierarchy = Hierarchy.flat(["a", "b"])
    for y, options in (
        (["a", "b"], {}),
        ([["a", "x"], ["b", "y"]], {}),
        ([0.5, 1.5], {}),
        ([[0.5, 1], [1, 2]], {}),
        (np.eye(2), {}),
        (np.eye(2), {"hierarchy": hierarchy}),
        (pd.DataFrame({"k": ["a", "b"], "s": [0.5, 1.5]}), {}),
    ):
        target, name = target_from(y, **options)
        for kind in get_task(name).distances:
            distance = get_task(name).distance(target, kind, **options)
            assert distance(np.array([0]), np.array([[1, -1]])).tolist() == [[1.0, pytest.approx(NAN, nan_ok=True)]]


# -- hierarchies --------------------------------------------------------------------------------------


def indices_of(hierarchy, sets):
    """Label sets as sets of positions, closed under ancestors."""
    return [
        set().union(*(reference.closure(hierarchy.parents, hierarchy.index(label)) for label in labels))
        for labels in sets
        if labels is not None
    ]


@pytest.mark.slow
@given(hierarchies_and_sets())
def test_mu_is_that_of_exhaustive_search(case):
    hierarchy, sets, w0 = case
    weights, target = hierarchy.weights(w0), target_from(sets, hierarchy=hierarchy)[0]
    mu = reference.exhaustive_mu(hierarchy.parents, indices_of(hierarchy, sets), weights)
    for same in (target, Target.labels(target.dense(), target.names)):
        assert euclidean_mu(same, hierarchy, weights) == pytest.approx(mu)
    found = of_all_pairs(LabelSetDistances(target, "euclidean-mu", hierarchy, w0), len(sets))
    assert found == pytest.approx(expected_of_sets(target, weights, "euclidean-mu", mu), nan_ok=True, abs=1e-12)


def test_mu_of_many_labels_of_a_dag_is_found_in_blocks():
    rng = np.random.default_rng(0)
    n_labels = 400
    parents = [tuple({int(p) for p in rng.integers(0, i, 2)}) if i else () for i in range(n_labels)]
    hierarchy = Hierarchy(tuple(f"n{i}" for i in range(n_labels)), tuple(parents))
    sets = [{f"n{i}"} for i in range(n_labels)]
    target = target_from(sets, hierarchy=hierarchy)[0]
    weights = hierarchy.weights()
    closed = hierarchy.ancestors.toarray()
    largest = max(((closed ^ row) @ weights).max() for row in closed)
    assert euclidean_mu(target, hierarchy, weights) == pytest.approx(1 / math.sqrt(largest))


def test_mu_of_a_dag_whose_farthest_labels_are_not_the_heaviest():
    """The 128 heaviest closures hold both a and b, so that they are closer to these than a is to b."""
    heavy = [(0, 1)] * 128
    hierarchy = Hierarchy(tuple(f"n{i}" for i in range(130)), ((), (), *heavy))
    sets = [{label} for label in hierarchy.labels]
    weights = np.array([2.0, 2.0] + [1.0] * 128)
    target = target_from(sets, hierarchy=hierarchy)[0]
    assert euclidean_mu(target, hierarchy, weights) == pytest.approx(1 / math.sqrt(4))


def test_mu_of_a_dag_stops_where_no_pair_can_be_farther_apart():
    hierarchy = Hierarchy(tuple(f"n{i}" for i in range(301)), (*[()] * 300, (0, 1)))
    target = target_from([{label} for label in hierarchy.labels[:300]], hierarchy=hierarchy)[0]
    assert euclidean_mu(target, hierarchy, np.ones(301)) == pytest.approx(1 / math.sqrt(2))


def test_unknown_labels_take_no_part_in_mu():
    hierarchy = Hierarchy.from_paths(["a", "a/b", "c"])
    for make in (np.array, sparse.csr_array):
        target = Target.labels(make([[1.0, NAN, 0.0], [0.0, 0.0, 1.0]]), hierarchy.labels)
        assert euclidean_mu(target, hierarchy, np.ones(3)) == pytest.approx(1 / math.sqrt(2))


@pytest.mark.slow
def test_thousands_of_labels_are_not_made_dense(monkeypatch):
    rng = np.random.default_rng(0)
    n_labels = 4125
    above = [int(rng.integers(max(0, i // 3 - 5), i // 2 + 1)) for i in range(n_labels - 1)]
    hierarchy = Hierarchy(tuple(map(str, range(n_labels))), ((), *((parent,) for parent in above)))
    sets = [{hierarchy.labels[i] for i in rng.integers(0, n_labels, 5)} for _ in range(1600)]
    target = target_from(sets, hierarchy=hierarchy)[0]
    ids = rng.integers(0, 1600, (1600, 15))
    all_distances = [LabelSetDistances(target, kind, hierarchy) for kind in (*SET_KINDS, "euclidean-mu")]
    monkeypatch.setattr(sparse.csr_array, "toarray", lambda *_, **__: pytest.fail("made dense"))
    for distances in all_distances:
        found = distances(np.arange(1600), ids)
        assert np.all((found >= 0) & (found <= 1))
