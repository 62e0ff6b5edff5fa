"""Memory of a fit beside the features, counted by NumPy's allocations: it depends on no other process."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import omnirank as om


def label_sets(X, rng):
    """Forty labels, about two per example: sets, not dense columns."""
    return (rng.random((len(X), 40)) < 0.05).astype(int)


def one_number(X, rng):
    return X[:, 0] + rng.normal(size=len(X))


def peak_memory(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture(autouse=True)
def _nothing_is_pickled(monkeypatch):
    monkeypatch.delenv("OMNIRANK_PICKLED_WORK", raising=False)  # pickles hold all data once more


@pytest.mark.slow
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    ("importance", "target", "most"),
    [("unbiased", one_number, 10), ("unbiased", label_sets, 11), ("permutation", one_number, 20)],
    ids=["default", "label sets", "permutation"],
)
def test_bytes_per_cell(importance, target, most, order):
    rng = np.random.default_rng(0)
    ranker = om.EnsembleRanker(importance, n_trees=1, max_depth=2, n_jobs=1, random_state=0)
    X = np.asarray(rng.normal(size=(3000, 300)), order=order)
    y = target(X, rng)
    ranker.fit(X[:100], y[:100])  # compiles the kernels
    # cells of the target are cells, too; of label sets, credit at the root needs them as numbers
    assert peak_memory(lambda: ranker.fit(X, y)) < most * (X.size + y.size)


@pytest.mark.slow
def test_bytes_per_cell_of_features_that_are_clustered():
    X = np.random.default_rng(0).normal(size=(700, 4000))
    y = np.where(np.arange(700) < 50, X[:, 0], np.nan)
    ranker = om.EnsembleRanker(n_trees=1, max_depth=2, supervision=0.5, n_jobs=1, random_state=0)
    ranker.fit(X[:60, :100], y[:60])
    assert peak_memory(lambda: ranker.fit(X, y)) < 24 * X.size  # by row, centred, codes; and products of rows


def test_whole_numbers_are_copied_once():
    X = np.arange(300_000).reshape(3000, 100)
    om.Dataset(X[:100])  # imports
    assert peak_memory(lambda: om.Dataset(X)) < 10 * X.size
