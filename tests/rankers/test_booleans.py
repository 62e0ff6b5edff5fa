"""Booleans are nominal features, in an array, a data frame or a sparse matrix."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import omnirank as om


def containers(share):
    rng = np.random.default_rng(5)
    X = rng.random((120, 6)) < share
    X[:, 1] = X[:, 0] ^ (rng.random(120) < 0.1)
    y = X[:, 0] + rng.normal(size=120)
    frame = pd.DataFrame(X, columns=[f"x{i + 1}" for i in range(6)])
    return [X, frame, sparse.csr_array(X), sparse.csc_array(X), sparse.coo_array(X)], y


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.08, 0.5])
@pytest.mark.parametrize("case", ["no target", "few labels", "labels"])
@pytest.mark.parametrize("ensemble", ["random-forest", "extra-trees"])
def test_all_containers_give_the_same_bits(share, case, ensemble):
    Xs, y = containers(share)
    y[1::2] = np.nan if case == "few labels" else y[1::2]
    level = 0.5 if case == "few labels" else "auto"
    found = []
    for X in Xs:
        ranker = om.EnsembleRanker("permutation", ensemble, n_trees=10, supervision=level, random_state=0)
        ranker.fit(X) if case == "no target" else ranker.fit(X, y)
        found.append({name: ranking.scores.tolist() for name, ranking in ranker.rankings_.items()})
    assert all(other == found[0] for other in found[1:])


def test_sparse_booleans_are_nominal():
    data = om.Dataset(sparse.csr_array(np.eye(3, dtype=bool)), [1, 2, 3])
    assert data.features.levels == ((False, True),) * 3
    assert data.features.is_sparse
