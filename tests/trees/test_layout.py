"""The layout follows from the cells, not from the container in which they came."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import omnirank as om
from omnirank.data import table as tables
from omnirank.data.table import Table
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.errors import DataError
from omnirank.trees import layout as spaces
from omnirank.trees.layout import non_zero_cells, sparse_codes

N = 120


def features(rng, density, kind):
    """Features with that share of non-zero cells: of 0 and 1, of several values, or with two dense columns."""
    X = (rng.random((N, 24)) < density).astype(float)
    if kind not in ("binary", "booleans"):
        X *= rng.integers(1, 5, X.shape) - 2.5
    if kind == "numeric among them":
        X[:, :2] = rng.normal(size=(N, 2))
    return X


def targets(rng, X):
    """One target for each kind of task."""
    signal = X[:, :6].sum(axis=1) + 0.4 * rng.normal(size=N)
    noisy = signal[:, None] + rng.normal(size=(N, 4))
    return {
        "classification": np.where(signal > np.median(signal), "a", "b"),
        "regression": signal + 0.25,
        "multi-target-regression": noisy,
        "multi-label": (noisy > np.median(noisy, axis=0)).astype(float),
        "clustering": None,
    }


def few(y, rng):
    """The target of a third of the examples; the first of several targets is unknown in some of them."""
    hidden = rng.random(N) < 0.66
    if y.dtype.kind == "U":
        return np.where(hidden, None, y)
    y = np.where(hidden if y.ndim == 1 else hidden[:, None], np.nan, y)
    if y.ndim > 1:
        y[::7, 0] = np.nan
    return y


def fitted(X, y, task, **parameters):
    ranker = om.EnsembleRanker("permutation", n_trees=12, task=task, random_state=3, **parameters).fit(X, y)
    return ranker, [ranker.rankings_[name].scores for name in sorted(ranker.rankings_)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["binary", "values", "numeric among them", "booleans"])
@pytest.mark.parametrize("density", [0.04, 0.13, 0.3, 0.6])
def test_arrays_and_sparse_containers_give_the_same_bits(kind, density):
    rng = np.random.default_rng(int(100 * density))
    X = features(rng, density, kind)
    others = [sparse.csr_array(X)]
    if kind == "booleans":
        others = [
            *(container(X > 0) for container in (sparse.csr_array, sparse.csc_array, sparse.coo_array, pd.DataFrame))
        ]
        assert all(om.Dataset(other).features.levels == ((False, True),) * 24 for other in others)
    for task, y in targets(rng, X).items():
        cases = [(y, {})]
        if y is not None:
            cases += [(y, {"ensemble": "extra-trees"}), (few(y, rng), {})]
            cases += [(few(y, rng), {"supervision": w, "min_labelled_leaf": 2}) for w in (0.0, 0.5)]
        for i, (labels, parameters) in enumerate(cases):
            dense, scores = fitted(X > 0 if kind == "booleans" else X, labels, task, **parameters)
            other, found = fitted(others[i % len(others)], labels, task, **parameters)
            assert (other.supervision_, other.supervision_curve_) == (dense.supervision_, dense.supervision_curve_)
            np.testing.assert_array_equal(scores, found)


@pytest.mark.slow
@pytest.mark.parametrize("density", [0.05, 0.5])
def test_predictions_do_not_depend_on_the_container(density):
    rng = np.random.default_rng(1)
    X = features(rng, density, "values")
    found = targets(rng, X)
    for model, y in ((om.PCTForestRegressor, found["regression"]), (om.PCTForestClassifier, found["multi-label"])):
        for labels in (y, few(y, rng)):
            means = [model(n_trees=5, random_state=0).fit(x, labels).predict_means(x) for x in (X, sparse.csr_array(X))]
            np.testing.assert_array_equal(*means)


def test_the_share_of_non_zero_cells_decides():
    rng = np.random.default_rng(0)
    y = rng.normal(size=N)
    expected = [("binary", 0.25, True), ("binary", 0.45, False), ("values", 0.08, True), ("values", 0.25, False)]
    for kind, density, on_cells in expected:
        X = features(rng, density, kind)
        for container in (X, sparse.csr_array(X)):
            coded = GrowingData(om.Dataset(container, y), 0).plan(GrowingRules()).coded
            assert (coded.kind == "Cells") == on_cells, (kind, density)


def test_cells_of_a_frame_with_binary_columns():
    frame = pd.DataFrame({f"c{i}": pd.Categorical(["no"] * 18 + ["yes"] * 2) for i in range(5)}).assign(n=0.0)
    frame.loc[3, "n"] = -2.5
    cells = non_zero_cells(om.Dataset(frame).features)
    np.testing.assert_array_equal(cells.toarray()[:, 5], frame["n"])
    np.testing.assert_array_equal(cells.toarray()[:, 0], np.repeat([0.0, 1.0], [18, 2]))


def test_missing_cells_and_third_levels_are_laid_out_in_full():
    sparse_cells = np.zeros((30, 4))
    sparse_cells[0] = 1.0
    assert non_zero_cells(Table.from_numeric(sparse_cells)) is not None
    missing = sparse_cells.copy()
    missing[3, 2] = np.nan
    for table in (Table.from_numeric(missing), Table.from_sparse(sparse.csc_array(missing))):
        assert non_zero_cells(table) is None
    levels = [None, None, None, ("a", "b", "c")]
    assert non_zero_cells(Table.from_sparse(sparse.csc_array(sparse_cells), levels=levels)) is None


def test_more_cells_than_kernels_number_are_refused(monkeypatch):
    """Also where they come from a dense table, of which the size says nothing."""
    monkeypatch.setattr(tables, "_MOST_STORED", 3)
    cells = sparse.csc_array(np.eye(4))
    for make in (
        lambda: sparse_codes(cells, [None] * 4),
        lambda: spaces._label_sets(cells, np.ones(4)),
        lambda: spaces._sparse_rows(cells, np.ones(4), None),
    ):
        with pytest.raises(DataError, match="the sparse matrix stores 4 cells, more than 3"):
            make()
