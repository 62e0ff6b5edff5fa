"""Relief where data or workers are of another kind: wide sparse data, few large blocks, processes."""

from __future__ import annotations

import joblib
import numpy as np
import pytest
from scipy import sparse

import omnirank as om
from omnirank.relief import sums


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


@pytest.mark.parametrize("kind", ["dense", "sparse", "auto"])
def test_processes_give_the_scores_of_threads(kind):
    X, rng = wide_data(n=130)
    y = np.where(np.arange(130) % 3 == 0, rng.normal(size=130), np.nan)
    X = X if kind == "sparse" else X.toarray()[:, :5]
    options = {"random_state": 0} | ({"n_neighbors": "auto"} if kind == "auto" else {})
    wanted = scores(X, y, **options)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        np.testing.assert_array_equal(scores(X, y, **options), wanted)


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
