"""What must not matter: the order of rows, the order of columns, and the kind of processor.

Draws of features and ties between equal tests go by the places of columns, and bootstraps by those of rows; without
them neither order changes more than the rounding of sums.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import omnirank as om
from reference.ensembles_cases import genie3_forest

N = 160
rng = np.random.default_rng(3)
NUMBERS = rng.normal(size=(N, 6))
KINDS = rng.choice(list("abcd"), N)
SIGNAL = NUMBERS[:, 0] + 0.5 * NUMBERS[:, 1] * (KINDS == "a") + 0.3 * NUMBERS[:, 2] + rng.normal(size=N) * 0.2
GAPS = rng.random((N, 6)) < 0.1
FEW_CELLS = np.where(rng.random((N, 6)) < 0.4, NUMBERS, 0.0)
FEW_CELLS[:, 0] = NUMBERS[:, 0]  # no two rows are equal: ties between neighbours go by their places
ROWS, COLUMNS = rng.permutation(N), rng.permutation(6)

TARGETS = {
    "regression": SIGNAL,
    "classification": np.digitize(SIGNAL, [-0.5, 0.5]).astype(str),
    "several": np.column_stack([SIGNAL, NUMBERS[:, 3] - SIGNAL]),
    "few-labels": np.where(np.arange(N) % 2 == 0, SIGNAL, np.nan),
    "unsupervised": None,
}


def frame():
    """Numbers with missing cells beside levels."""
    return pd.DataFrame(np.where(GAPS, np.nan, NUMBERS)).add_prefix("x").assign(kind=pd.Categorical(KINDS))


FEATURES = {"dense": lambda: NUMBERS, "sparse": lambda: FEW_CELLS, "mixed": frame}


def taken(X, rows=slice(None), columns=slice(None)):
    return X.iloc[rows, columns] if isinstance(X, pd.DataFrame) else X[rows][:, columns]


def one_tree(target, **parameters):
    """A tree of all rows that sees all features; few nodes, so that no two tests part the rows alike."""
    usual = {"ensemble": "bagging", "bootstrap": False, "n_trees": 1, "max_depth": 3, "min_samples_leaf": 10}
    if target == "few-labels":
        usual["supervision"] = 0.5
    return genie3_forest(**usual | {"max_features": "all", "random_state": 0} | parameters)


RANKERS = {
    "tree": one_tree,
    "relief": lambda target: om.ReliefRanker(random_state=0, n_iterations=1.0),
    "univariate": lambda target: om.UnivariateRanker(),
    "s-cls": lambda target: om.rankers.SCLSRanker(),
    "laplacian": lambda target: om.LaplacianRanker(task="clustering"),
    "spec": lambda target: om.rankers.SPECRanker(task="clustering"),
    "mcfs": lambda target: om.rankers.MCFSRanker(n_coefficients=2, task="clustering"),
    "udfs": lambda target: om.rankers.UDFSRanker(task="clustering", tol=1e-6),
}


def ranked(name, target, layout, rows=slice(None), columns=slice(None)):
    X, y = taken(FEATURES[layout](), rows, columns), TARGETS[target]
    X = sparse.csc_array(X) if layout == "sparse" else X
    return RANKERS[name](target).fit(X, None if y is None else y[rows]).feature_importances_


@pytest.mark.every(7)
@pytest.mark.parametrize("layout", FEATURES)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", RANKERS)
def test_the_order_of_rows(name, target, layout):
    usual = ranked(name, target, layout)
    assert np.ptp(usual) > 0
    np.testing.assert_allclose(ranked(name, target, layout, rows=ROWS), usual, rtol=1e-9, atol=1e-12)


# Counts of classes tie often: features that part them alike gain the same, and their places decide.
CASES = [(name, target) for name in RANKERS for target in TARGETS]


@pytest.mark.every(7)
@pytest.mark.parametrize("layout", FEATURES)
@pytest.mark.parametrize(("name", "target"), [case for case in CASES if case != ("tree", "classification")])
def test_the_order_of_columns(name, target, layout):
    columns = np.append(COLUMNS, 6)[[6, *range(6)]] if layout == "mixed" else COLUMNS
    usual = ranked(name, target, layout)
    np.testing.assert_allclose(ranked(name, target, layout, columns=columns), usual[columns], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("ensemble", ["random-forest", "extra-trees"])
@pytest.mark.parametrize("layout", FEATURES)
def test_draws_of_features_and_thresholds_do_not_depend_on_the_order_of_rows(layout, ensemble):
    X = FEATURES[layout]()
    found = []
    for rows in (slice(None), ROWS):
        cells = sparse.csc_array(taken(X, rows)) if layout == "sparse" else taken(X, rows)
        ranker = one_tree("regression", ensemble=ensemble, max_features=2, n_trees=3, max_depth=None)
        found.append(ranker.fit(cells, SIGNAL[rows]).feature_importances_)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)


@pytest.mark.parametrize("layout", FEATURES)
def test_evaluations_do_not_depend_on_the_order_of_rows_or_columns(layout):
    X = FEATURES[layout]()
    names = list(X.columns) if isinstance(X, pd.DataFrame) else [f"x{i}" for i in range(X.shape[1])]
    whole = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X, columns=names)
    weights = om.Ranking(names, np.arange(len(names)) + 1.0, "given")
    half = np.arange(N) < N // 2
    usual = om.evaluate(weights, om.Dataset(whole[half], SIGNAL[half]), om.Dataset(whole[~half], SIGNAL[~half]))
    order = np.concatenate([ROWS[half[ROWS]], ROWS[~half[ROWS]]])
    moved = whole.iloc[order, ::-1]
    parts = [om.Dataset(moved.iloc[h], SIGNAL[order][h]) for h in (slice(0, N // 2), slice(N // 2, None))]
    other = om.evaluate(weights, *parts)
    assert other == pytest.approx(usual, rel=1e-9)
