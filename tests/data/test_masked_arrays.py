"""Masked arrays of numpy: a masked cell is missing or unlabelled, and no weight or score is masked."""

from __future__ import annotations

import numpy as np
import pytest

import omnirank as om
from omnirank.errors import DataError

N = 30


def masked(values, first=4):
    mask = np.zeros(np.shape(values), bool)
    mask[:first] = True
    return np.ma.masked_array(values, mask=mask)


def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, 3)), rng


def test_masked_cells_of_features_are_missing():
    X, _ = data()
    for values in (X, (10 * X).astype(int), X > 0):
        table = om.Dataset(masked(values)).features
        assert table.with_missing == (True, True, True)
        assert sum(np.isnan(cell) if cell.dtype.kind == "f" else cell < 0 for cell in table.column(0)) == 4


@pytest.mark.parametrize("kind", ["numbers", "classes", "texts", "labels"])
def test_masked_targets_are_unlabelled(kind):
    X, rng = data()
    classes = rng.integers(0, 2, N)
    y = {
        "numbers": X[:, 0],
        "classes": classes,
        "texts": np.array(["a", "b"])[classes],
        "labels": rng.integers(0, 2, (N, 2)),
    }[kind]
    assert om.Dataset(X, masked(y)).labelled.sum() == N - 4


def test_transform_keeps_masked_cells_missing():
    X, _ = data()
    ranker = om.UnivariateRanker(n_features_to_select=3).fit(X, X[:, 0] + X[:, 1])
    assert np.isnan(ranker.transform(masked(X))[:4]).all()


def test_masked_weights_are_refused():
    X, _ = data()
    with pytest.raises(DataError, match=r"sample_weight\[0\] is nan"):
        om.UnivariateRanker().fit(X, X[:, 0] + X[:, 1], sample_weight=masked(np.ones(N)))


def test_masked_scores_are_refused():
    with pytest.raises(DataError, match="scores must be known: there are masked ones"):
        om.Ranking(["a", "b"], masked([1.0, 2.0], 1), "m")
