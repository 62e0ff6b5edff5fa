"""Target distances by kernels against the vectorised ones, influences, and the pairs that Relief looks at."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import omnirank as om
from draws import draws
from omnirank.data.infer import target_from
from omnirank.data.table import Table
from omnirank.data.target import Target
from omnirank.neighbors.cells import table_cells
from omnirank.neighbors.search import NeighborSearch, StoredNeighbors
from omnirank.relief.pairs import ClassPairs, DistancePairs, influences, nearest_labelled
from omnirank.tasks.target_distances import LabelSetDistances, ValueDistances
from reference.tasks_target_distance import target_distance

KINDS = ["hamming", "accuracy", "f1", "subset", "euclidean-mu"]


def all_pairs(target):
    n = target.n_examples
    return np.arange(n), np.tile(np.arange(n), (n, 1))


def check_against_vectorised(target, kind, hierarchy=None):
    rows, ids = all_pairs(target)
    distances = LabelSetDistances(target, kind, hierarchy) if target.is_labels else ValueDistances(target)
    found = distances(rows, ids)
    wanted = target_distance(target, np.repeat(rows, len(rows)), ids.ravel(), kind, hierarchy=hierarchy)
    np.testing.assert_allclose(found.ravel(), wanted, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@draws(10)
@given(seed=st.integers(0, 10**6), unknown=st.sampled_from([0.0, 0.3, 0.8]), thin=st.booleans())
def test_label_distances(kind, seed, unknown, thin):
    rng = np.random.default_rng(seed)
    hierarchy = om.Hierarchy.from_paths(["a", "a/b", "c", "c/d", "c/d/e"])
    chosen = [set(rng.choice(hierarchy.labels, rng.integers(0, 4)).tolist()) for _ in range(7)]
    values = target_from(chosen, hierarchy=hierarchy)[0].dense().astype(float)
    values[rng.random(values.shape) < unknown] = np.nan
    labelled = ~np.isnan(values).all(axis=1)
    if not labelled.any():
        return
    cells = sparse.csr_array(np.where(labelled[:, None], values, 0.0)) if thin else values
    target = Target.labels(cells, hierarchy.labels, labelled)
    check_against_vectorised(target, kind, hierarchy)
    if kind != "euclidean-mu":
        check_against_vectorised(target, kind)


@pytest.mark.parametrize("kinds", ["number", "class", "both"])
def test_value_distances(kinds):
    rng = np.random.default_rng(0)
    columns = {}
    if kinds != "class":
        columns |= {"a": np.where(rng.random(12) < 0.3, np.nan, rng.normal(size=12)), "b": np.full(12, 3.5)}
    if kinds != "number":
        columns["c"] = pd.Categorical(rng.choice(["p", "q", None], 12))
    order = sorted(columns, reverse=True)
    target = target_from(pd.DataFrame(columns)[order])[0]
    check_against_vectorised(target, "auto" if kinds == "both" else {"number": "absolute", "class": "hamming"}[kinds])
    distances = ValueDistances(target)
    rows, ids = all_pairs(target)
    each = distances.of_each(np.repeat(rows, 12), ids.ravel())
    for j in range(target.n_targets):
        alone = target_distance(target.select([j]), np.repeat(rows, 12), ids.ravel())
        np.testing.assert_allclose(each[j], alone, atol=1e-12)


def test_missing_neighbours_have_no_distance():
    target = target_from([1.5, 2.5])[0]
    assert np.isnan(ValueDistances(target)(np.array([0]), np.array([[-1]]))).all()
    labels = target_from(np.array([[0, 1], [1, 1]]))[0]
    assert np.isnan(LabelSetDistances(labels, "hamming")(np.array([0]), np.array([[-1]]))).all()


# -- influence --------------------------------------------------------------------------------------------


def test_distance_to_labelled_examples():
    rng = np.random.default_rng(0)
    cells = table_cells(Table.from_numeric(rng.normal(size=(600, 3))))
    labelled = rng.random(600) < 0.2
    far = nearest_labelled(cells, labelled, n_jobs=2)
    total = np.abs(cells.values[:, None] - cells.values[labelled]).sum(axis=2).min(axis=1)
    np.testing.assert_allclose(far, np.where(labelled, 0.0, total), atol=1e-12)


def test_influences_at_the_ends():
    labelled = np.array([True, False, False, False])
    assert influences(np.array([0.0, 2.0, 2.0, 2.0]), labelled, 0.2, 0.4).tolist() == pytest.approx([1, 0.3, 0.3, 0.3])
    assert influences(np.array([0.0, 1.0, 2.0, 3.0]), labelled, 0.0, 0.5).tolist() == [1.0, 0.5, 0.25, 0.0]
    assert influences(np.zeros(3), np.zeros(3, bool), 0.0, 0.5).tolist() == [1.0] * 3


# -- pairs ------------------------------------------------------------------------------------------------


def test_pairs_are_cut_by_place():
    cells = table_cells(Table.from_numeric(np.arange(6.0)[:, None] ** 2))
    rule = DistancePairs(NeighborSearch(cells), None, sigma=0.5)
    near, far = rule(np.array([0, 5]), [1, 3])
    assert near.ids.tolist() == [[1], [4]]
    assert far.ids.tolist() == [[2, 3], [3, 2]]
    np.testing.assert_allclose(far.weights, [np.exp([-1.0, -2.25])] * 2)


def test_misses_weigh_one_in_all():
    rng = np.random.default_rng(0)
    cells = table_cells(Table.from_numeric(rng.normal(size=(30, 3))))
    classes = np.array([0] * 20 + [1] * 8 + [2] * 2)
    [block] = ClassPairs(NeighborSearch(cells, classes), classes)(np.arange(30), [4])
    np.testing.assert_allclose(block.products.sum(axis=1), 1.0)
    np.testing.assert_allclose(block.weights.sum(axis=1), 2.0)
    assert block.fixed == (30.0, 60.0)


def test_stored_neighbours_are_the_same():
    rng = np.random.default_rng(0)
    cells = table_cells(Table.from_numeric(rng.normal(size=(300, 3))))
    search = NeighborSearch(cells)
    stored = StoredNeighbors(search, 7, n_jobs=2)
    rows = np.array([5, 299, 17])
    some = StoredNeighbors(search, 7, rows=np.array([299, 4, 5, 17]))
    for kept in (stored, some):
        for found, wanted in zip(kept.nearest(rows, 4), search.nearest(rows, 4), strict=True):
            np.testing.assert_array_equal(found, wanted)
