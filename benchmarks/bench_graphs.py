"""Rankers on graphs beside scikit-feature, and on scene and on large data.

scikit-feature is no dependency, and under another licence: ``pip install --no-deps --target FOLDER
skfeature-chappers``, and FOLDER in ``PYTHONPATH``. Without it, omnirank is timed alone, with a message.
"""

from __future__ import annotations

import importlib.util
import time
from functools import partial
from typing import Any

import numpy as np

import omnirank as om
from benchmarks import Bar, Contestant, benchmark, compare, figure
from benchmarks._measure import median_seconds
from benchmarks.public_data import public_data
from omnirank.data.dataset import join_examples

SHARED = public_data()
WORKERS = 2
PEER = "scikit-feature"
N_TRUE = 20


def make_data(n: int, n_features: int) -> np.ndarray:
    """Return standard normal features, of which the first twenty are shifted by the cluster of the example."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, n_features))
    X[:, :N_TRUE] += rng.normal(scale=3.0, size=(5, N_TRUE))[np.arange(n) % 5]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def rank(X: Any, method: str, **parameters: Any) -> np.ndarray:
    """Return the scores of a ranker with two workers."""
    return om.make_ranker(method, random_state=0, n_jobs=WORKERS, **parameters).fit(X).ranking_.scores


def peer_laplacian(X: np.ndarray) -> np.ndarray:
    """Return places by scikit-feature's Laplacian score, in the heat kernel of 5 Euclidean neighbours."""
    from skfeature.function.similarity_based.lap_score import lap_score

    return np.asarray(lap_score(X, mode="rank", W=_peer_graph(X)))


def peer_spec(X: np.ndarray) -> np.ndarray:
    """Return scikit-feature's SPEC scores (style 0), turned, in a kernel that is as wide as ours."""
    from skfeature.function.similarity_based.SPEC import spec
    from sklearn.metrics.pairwise import rbf_kernel

    # small scores are good, as its authors say; its own ranking puts the largest first
    return -np.asarray(spec(X, style=0, mode="raw", W=rbf_kernel(X, gamma=1 / (2 * X.shape[1]))))


def peer_mcfs(X: np.ndarray, n_coefficients: int) -> np.ndarray:
    """Return the coefficients of scikit-feature's MCFS."""
    from skfeature.function.sparse_learning_based.MCFS import mcfs

    return np.abs(mcfs(X, n_selected_features=n_coefficients, mode="raw", W=_peer_graph(X), n_clusters=5)).max(axis=1)


def _peer_graph(X: np.ndarray) -> Any:
    from skfeature.utility.construct_W import construct_W

    # its kernel is exp(-d^2 / (2 t^2)), and the median squared distance about twice the number of features
    width = float(np.sqrt(X.shape[1]))
    return construct_W(X, metric="euclidean", neighbor_mode="knn", weight_mode="heat_kernel", k=5, t=width)


def share_found(scores: np.ndarray) -> dict[str, float]:
    """Return the share of the features with clusters among the best twenty."""
    return {"features with clusters in the top twenty": float(np.mean(np.argsort(-scores)[:N_TRUE] < N_TRUE))}


def beside_peer(name: str, ours: Any, theirs: Any, at_least: float, quick: bool) -> Any:
    """Compare on 5000 x 1000."""
    setup = partial(make_data, *((200, 40) if quick else (5000, 1000)))
    contestants = [
        Contestant("omnirank", setup, ours, share_found),
        Contestant(PEER, setup, theirs, share_found, ("skfeature",)),
    ]
    bar = Bar(at_least=at_least, against=PEER)
    return compare(name, contestants, repetitions=3, bar=bar, memory=not quick)


@benchmark("graphs-laplacian")
def laplacian(quick: bool) -> list:
    """Laplacian score, 5000 x 1000: at least 5 times as fast as scikit-feature."""
    return [beside_peer("graphs-laplacian", partial(rank, method="laplacian"), peer_laplacian, 5, quick)]


@benchmark("graphs-spec")
def spec(quick: bool) -> list:
    """SPEC with the kernel of all pairs, 5000 x 1000: at least 10 times as fast as scikit-feature."""
    X = make_data(*((200, 40) if quick else (5000, 1000)))
    seconds = median_seconds(partial(rank, X, "spec"), repetitions=3)
    results: list = [figure("omnirank, wall time", seconds, "s")]
    if importlib.util.find_spec("skfeature") is None:
        print(f"{PEER} is left out: it is not installed")
        return results
    start = time.perf_counter()
    found = share_found(peer_spec(X))  # once: it takes minutes
    ratio = (time.perf_counter() - start) / seconds
    results.append(figure(f"{PEER} / omnirank", ratio, bar=Bar(at_least=10)))
    of_both = (("omnirank", share_found(rank(X, "spec"))), (PEER, found))
    return results + [figure(f"{who}: {what}", value) for who, told in of_both for what, value in told.items()]


@benchmark("graphs-mcfs")
def mcfs(quick: bool) -> list:
    """MCFS with 5 clusters and 50 coefficients, 5000 x 1000: at least 3 times as fast as scikit-feature."""
    n = 10 if quick else 50
    ours = partial(rank, method="mcfs", n_clusters=5, n_coefficients=n)
    return [beside_peer("graphs-mcfs", ours, partial(peer_mcfs, n_coefficients=n), 3, quick)]


def load_scene(labelled: float) -> Any:
    """Return all of scene, a share of it labelled."""
    folder = SHARED / "mlc" / "scene"
    parts = [om.load(folder / f"scene-{part}.arff.gz", labels=folder / "scene.xml") for part in ("train", "test")]
    return join_examples(parts).keep_labels(labelled, random_state=0)


@benchmark("graphs-scene")
def scene(quick: bool) -> list:
    """S-CLS on scene with 10 % labelled under 1 s, 3-3FS under 30 s; with all labelled for orientation."""
    if not SHARED.is_dir():
        return []
    results: list = []
    few = {"n_iterations": 4} if quick else {}
    cases: list[tuple[str, str, float, dict[str, Any], Bar | None]] = [
        ("S-CLS, 10 % labelled", "s-cls", 0.1, {}, Bar(at_most=1.0)),
        ("3-3FS, 10 % labelled", "3-3fs", 0.1, few, Bar(at_most=30.0)),
        ("3-3FS, all labelled", "3-3fs", 1.0, few, None),
    ]
    for name, method, labelled, parameters, bar in cases:
        run = partial(rank, method=method, **parameters)
        contestant = Contestant("omnirank", partial(load_scene, labelled), run)
        result = compare(name, [contestant], repetitions=3, memory=not quick)
        results += [result, figure(f"{name}, wall time", result.timings[0].median, "s", bar=bar)]
    return results


@benchmark("graphs-large")
def large(quick: bool) -> list:
    """Laplacian score, 50,000 x 500: under 60 s and 2 GB."""
    setup = partial(make_data, *((500, 30) if quick else (50_000, 500)))
    contestant = Contestant("omnirank", setup, partial(rank, method="laplacian"), share_found)
    result = compare("graphs-large", [contestant], repetitions=3, memory=not quick)
    results: list = [result, figure("50,000 x 500, wall time", result.timings[0].median, "s", bar=Bar(at_most=60.0))]
    peak = result.timings[0].peak_memory_bytes
    if peak is not None:
        results.append(figure("50,000 x 500, peak memory above the data", peak / 2**30, "GB", bar=Bar(at_most=2.0)))
    return results
