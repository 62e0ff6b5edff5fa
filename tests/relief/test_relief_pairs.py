"""Influences, and the pairs that Relief looks at."""

from __future__ import annotations

import numpy as np
import pytest

from omnirank.data.table import Table
from omnirank.neighbors.cells import table_cells
from omnirank.neighbors.search import NeighborSearch, StoredNeighbors
from omnirank.relief.pairs import ClassPairs, DistancePairs, influences, nearest_labelled

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
