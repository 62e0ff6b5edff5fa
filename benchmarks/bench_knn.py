"""Judging rankings by weighted neighbours: beside scikit-learn, and beside the matrix products that both consist of."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import omnirank as om
from benchmarks import Bar, Contestant, benchmark, compare, figure
from benchmarks._measure import median_seconds
from benchmarks.public_data import public_data
from omnirank.core.parallel import run_parallel
from omnirank.data.table import Table
from omnirank.evaluation.evaluate import predictions
from omnirank.neighbors.weighted import weighted_neighbors

SHARED = public_data()
WORKERS = 2
K = 15
BLOCK = 512


def make_data(n: int, n_features: int) -> om.Dataset:
    """Return uniform features, three targets of the first of them, and weights as a ranking gives them."""
    rng = np.random.default_rng(0)
    X = rng.random((n, n_features))
    return om.Dataset(X, X[:, :3] + 0.1 * rng.normal(size=(n, 3)))


def weights_of(data: om.Dataset) -> np.ndarray:
    """Return weights that fall slowly."""
    return 1 / (1 + np.arange(data.n_features) / 50)


def by_omnirank(data: om.Dataset) -> np.ndarray:
    """Predict all examples from their 15 nearest, themselves included."""
    return predictions(weights_of(data), data, data, K, n_jobs=WORKERS).means[K]


def by_sklearn(data: om.Dataset) -> np.ndarray:
    """Predict the same with scikit-learn, weights applied by scaling."""
    from sklearn.neighbors import KNeighborsRegressor

    X = data.features.numeric
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0) * np.sqrt(weights_of(data))
    model = KNeighborsRegressor(K, algorithm="brute", n_jobs=WORKERS).fit(scaled, data.y)
    return model.predict(scaled)


def products_alone(data: om.Dataset, precision: Any) -> None:
    """Multiply the matrix with its transpose, by blocks of rows, one thread per worker."""
    X = data.features.numeric.astype(precision)
    run_parallel(partial(product_of_rows, X), range(0, len(X), BLOCK), WORKERS)


def product_of_rows(X: np.ndarray, start: int) -> float:
    """Multiply a block of rows with all rows; return one cell."""
    return np.matmul(X[start : start + BLOCK], X.T)[0, 0]


def mean_prediction(means: Any) -> dict[str, float]:
    """Return a number by which two results can be seen to agree."""
    return {} if means is None else {"mean of the predictions": float(np.mean(means))}


@benchmark("knn")
def knn(quick: bool) -> list:
    """Weighted kNN, 7000 x 300, k = 15, against scikit-learn (brute force, the same weights by scaling)."""
    setup = partial(make_data, *((300, 20) if quick else (7000, 300)))
    contestants = [
        Contestant("omnirank", setup, by_omnirank, mean_prediction),
        Contestant("scikit-learn", setup, by_sklearn, mean_prediction),
        Contestant("products alone, single precision", setup, partial(products_alone, precision=np.float32)),
        Contestant("products alone, double precision", setup, partial(products_alone, precision=np.float64)),
    ]
    result = compare("knn", contestants, repetitions=3 if quick else 9, memory=not quick)
    ours, others, single, double = (timing.median for timing in result.timings)
    return [
        result,
        figure("omnirank, time over that of its products", ours / single, "x", bar=Bar(at_most=2.5)),
        figure("scikit-learn, time over that of its products", others / double, "x"),
        figure("largest speed-up that single precision allows", others / single, "x"),
    ]


@benchmark("knn-counts")
def counts(quick: bool) -> list:
    """Five numbers of neighbours from one search, beside one number; and sparse features."""
    n = 300 if quick else 5000
    data = make_data(n, 100)
    several = {}
    for name, numbers in (("one", [40]), ("five", [5, 10, 15, 20, 40])):
        several[name] = median_seconds(
            lambda numbers=numbers: om.evaluate(weights_of(data), data, data, numbers, n_jobs=WORKERS), 3
        )
    from scipy import sparse

    X = sparse.random_array((n, 2000), density=0.01, rng=np.random.default_rng(0), format="csc")
    thin, thick = Table.from_sparse(X), Table.from_numeric(X.toarray())
    seconds = [
        median_seconds(lambda table=table: weighted_neighbors(table, table, np.ones(2000), K, WORKERS), 3)
        for table in (thin, thick)
    ]
    return [
        figure("five numbers of neighbours over one", several["five"] / several["one"], "x", bar=Bar(at_most=2.0)),
        figure("dense over sparse, 1 % of 2000 features stored", seconds[1] / seconds[0], "x", bar=Bar(at_least=1.0)),
    ]


@benchmark("knn-scene")
def scene(quick: bool) -> list:
    """One ranking of scene (2407 x 294) with 15 neighbours and all measures of label sets: under 1 s."""
    folder = SHARED / "mlc" / "scene"
    if not folder.is_dir():
        return []
    train, test = (om.load(folder / f"scene-{part}.arff.gz", labels=folder / "scene.xml") for part in ("train", "test"))
    scores = om.UnivariateRanker().fit(train).ranking_
    seconds = median_seconds(partial(om.evaluate, scores, train, test, K, n_jobs=WORKERS), 1 if quick else 9)
    return [figure("scene, wall time", seconds, "s", bar=Bar(at_most=1.0))]
