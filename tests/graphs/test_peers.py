"""Results of scikit-feature where it computes the same: recorded figures, since it is no dependency.

They were obtained with the public repository jundongl/scikit-feature (commit 48cffad), NumPy 2, on `data()`::

    W = construct_W(X, metric="euclidean", neighbor_mode="knn", weight_mode="heat_kernel", k=5, t=1.5)
    lap_score(X, W=W)
    spec(X, style=style, W=rbf_kernel(X, gamma=0.1))  # for NumPy 2, D[i, i] = X_sum[i] reads D[i, i] = X_sum[i, 0]
    abs(mcfs(X, n_selected_features=3, W=W, n_clusters=2)).max(axis=1)

Its W has 1 on the diagonal, and its kernel is exp(-d^2 / (2 t^2)). Its NDFS and UDFS are not compared: the one
subtracts W from the degrees row by row, the other puts all neighbourhoods in the places of the first ones.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import omnirank as om
from omnirank.graphs.affinity import neighbor_edges
from omnirank.graphs.quotients import laplacian_scores
from omnirank.graphs.regressions import embedding, sparse_fits

LAPLACIAN = [0.31178657554074, 0.24315088509275, 0.30153596325131, 0.26120779435047, 0.33374028432277, 0.32636757896163]
SPEC = {
    "phi1": [
        0.78019078368947,
        0.77126906526183,
        0.80007438809423,
        0.79429711924900,
        0.80037211157881,
        0.80440805167634,
    ],
    "phi2": [
        0.78019531675102,
        0.77352528511716,
        0.80033057165841,
        0.79477829552894,
        0.80298888032053,
        0.80475949066098,
    ],
    "phi3": [
        0.71940588141144,
        0.88761164254329,
        0.35882872594918,
        0.28870652665710,
        0.68425583027846,
        0.49229873102407,
    ],
}
MCFS = [0.016342324131148, 0.032826412576533, 0.025948476126997, 0.023544677367030, 0.01156595377119, 0.0]


def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    X[:, 0] += 3 * (np.arange(40) % 2)
    X[:, 3] += 2 * (np.arange(40) % 3)
    return (X - X.mean(axis=0)) / X.std(axis=0)


def with_loops(X):
    return neighbor_edges(X, 5).heat(2 * 1.5**2) + sparse.eye_array(len(X))


def test_laplacian_score():
    np.testing.assert_allclose(laplacian_scores(data(), with_loops(data())), LAPLACIAN, rtol=1e-10)


@pytest.mark.parametrize("form", SPEC)
def test_spec(form):
    found = om.SPECRanker(form, n_vectors=3, width=10.0).fit(data()).criterion_
    np.testing.assert_allclose(found, SPEC[form], rtol=1e-10)


def test_mcfs():
    found = sparse_fits(data(), embedding(with_loops(data()), 2), 3)
    np.testing.assert_allclose(np.abs(found).max(axis=1), MCFS, rtol=1e-8, atol=1e-12)
