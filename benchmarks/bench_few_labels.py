"""Semi-supervised forests: features as clustering columns, sparse features, many columns, the choice of the level."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

import omnirank as om
from benchmarks import Bar, Contestant, benchmark, compare, figure
from benchmarks.bench_forests import SHARED, load_bibtex, rank, rank_once
from omnirank.ensembles.plan import GrowingData, GrowingRules

SHARE_LABELLED = 0.1


def load_scene() -> Any:
    """Return scene with one label in ten."""
    folder = SHARED / "mlc" / "scene"
    parts = [om.load(folder / f"scene-{part}.arff.gz", labels=folder / "scene.xml") for part in ("train", "test")]
    X, y = (np.vstack([getattr(part, name) for part in parts]) for name in ("X", "y"))
    return om.Dataset(X, y, task="multi-label").keep_labels(SHARE_LABELLED, random_state=0)


def targets_like_features() -> tuple[np.ndarray, np.ndarray]:
    """Return scene's features, also as targets: as many columns, all known."""
    X = np.asarray(load_scene().X)
    return X, X


def load_sparse() -> Any:
    """Return bibtex with one label in ten."""
    return load_bibtex().keep_labels(SHARE_LABELLED, random_state=0)


def wide_data(n: int = 1000, n_features: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """Return more features than examples, one target in ten known."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, n_features))
    y = X[:, :5].sum(axis=1) + 0.5 * rng.normal(size=n)
    y[rng.permutation(n)[n // 10 :]] = np.nan
    return X, y


def column_by_column(data: Any, **parameters: Any) -> Any:
    """Rank without products of rows."""
    with patch("omnirank.trees.layout._MOST_GRAM_ROWS", 0):
        return rank(data, **parameters)


def cost_per_column(n_trees: int) -> float:
    """Return the time to grow a semi-supervised tree over that of a supervised one, both by clustering column.

    Trees are grown in turns, on one worker; their medians count.
    """
    X, y = targets_like_features()
    rules = GrowingRules(max_features="sqrt")
    semi = GrowingData(load_scene(), 0).plan(replace(rules, supervision=0.5))
    supervised = GrowingData(om.Dataset(X, y, task="multi-target-regression"), 0).plan(rules)
    seconds: dict[str, list[float]] = {"semi": [], "supervised": []}
    for tree in range(n_trees + 1):
        for name, plan in (("semi", semi), ("supervised", supervised)):
            start = time.perf_counter()
            plan.grow(tree)
            seconds[name].append(time.perf_counter() - start)
    medians = {name: np.median(values[1:]) for name, values in seconds.items()}  # the first ones compile
    return float(medians["semi"] / (X.shape[1] + 6) / (medians["supervised"] / X.shape[1]))


@benchmark("few-labels-scene")
def scene(quick: bool) -> list:
    """Label sets, scene, one label in ten, w = 0.5, 100 trees: under 3 s."""
    if not SHARED.is_dir():
        return []
    few = {"n_trees": 2 if quick else 100}
    semi = partial(rank, supervision=0.5, **few)
    result = compare(
        "few-labels-scene",
        [Contestant("omnirank", load_scene, semi, warm_up=partial(once, load_scene))],
        memory=not quick,
    )
    return [
        result,
        figure("scene, 10 % labelled, wall time", result.timings[0].median, "s", bar=Bar(at_most=3.0)),
        figure(
            "scene, growing by clustering column / supervised trees of 294 targets",
            cost_per_column(2 if quick else 40),
            "x",
            bar=Bar(at_most=1.05),  # no more, up to noise
        ),
    ]


@benchmark("few-labels-bibtex")
def bibtex(quick: bool) -> list:
    """Sparse features, bibtex, one label in ten, w = 0.5, 100 trees: under 20 s and 2 GB."""
    if not SHARED.is_dir():
        return []
    semi = partial(rank, supervision=0.5, n_trees=1 if quick else 100)
    contestant = Contestant("omnirank", load_sparse, semi, warm_up=partial(once, load_sparse))
    result = compare("few-labels-bibtex", [contestant], repetitions=3, memory=not quick)
    return [
        result,
        figure("bibtex, 10 % labelled, wall time", result.timings[0].median, "s", bar=Bar(at_most=20.0)),
    ]


@benchmark("few-labels-gram")
def gram(quick: bool) -> list:
    """More columns than examples, 1000 x 2000: products of rows against column by column."""
    setup = partial(wide_data, 100, 200) if quick else wide_data
    few = {"n_trees": 2 if quick else 100, "supervision": 0.5}
    contestants = [
        Contestant("omnirank", setup, partial(rank, **few), warm_up=partial(once, setup)),
        Contestant("column by column", setup, partial(column_by_column, **few), warm_up=partial(once, setup)),
    ]
    return [
        compare(
            "few-labels-gram",
            contestants,
            repetitions=3,
            bar=Bar(at_least=2, against="column by column"),
            memory=not quick,
        )
    ]


# Examples, features, labels; seconds on two quiet cores.
AUTO = {(500, 300, 40): 2, (500, 3000, 40): 10, (72, 7000, 20): 10, (2000, 20000, 100): 60, (20000, 50, 200): 10}


def two_classes(n: int, n_features: int, n_labelled: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features of eight groups that depend on a hidden number each, and classes of two groups, few known."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(n, 8))
    X = rng.normal(size=(n, n_features))
    X[:, : n_features // 2] += hidden[:, np.arange(n_features // 2) % 8]
    y = np.where(hidden[:, 0] + hidden[:, 1] > 0, "a", "b").astype(object)
    y[rng.permutation(n)[n_labelled:]] = None
    return X, y


def rank_few(data: Any, n_trees: int, supervision: Any) -> Any:
    """Rank as by default, with two workers."""
    return om.EnsembleRanker(n_trees=n_trees, supervision=supervision, random_state=0, n_jobs=2).fit(*data)


def self_training(data: Any, n_trees: int) -> Any:
    """Return importances of scikit-learn's self-trained forest."""
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.semi_supervised import SelfTrainingClassifier

    X, y = data
    codes = np.where(y == None, -1, y == "b").astype(int)  # noqa: E711
    forest = ExtraTreesClassifier(n_trees, random_state=0, n_jobs=2)
    return SelfTrainingClassifier(forest).fit(X, codes).estimator_.feature_importances_


@benchmark("few-labels-auto")
def auto(quick: bool) -> list:
    """Rankings by default, 100 trees: choosing the level of supervision, beside supervised ones and self-training."""
    results, few = [], {"n_trees": 5 if quick else 100}
    for (n, n_features, n_labelled), seconds in AUTO.items():
        setup = partial(two_classes, *((60, 40, 20) if quick else (n, n_features, n_labelled)))
        name = f"{n} x {n_features}, {n_labelled} labels"
        warm_up = partial(warm, partial(two_classes, 80, 3 * 80 if n_features > n else 20, 20))
        contestants = [
            Contestant("omnirank, auto", setup, partial(rank_few, supervision="auto", **few), warm_up=warm_up),
            Contestant("omnirank, supervised", setup, partial(rank_few, supervision=1, **few), warm_up=warm_up),
            Contestant("scikit-learn, self-training", setup, partial(self_training, **few), requires=("sklearn",)),
        ]
        result = compare(f"few-labels-auto, {name}", contestants, repetitions=3, memory=not quick)
        results += [result, figure(f"auto, {name}, wall time", result.timings[0].median, "s", bar=Bar(at_most=seconds))]
        if result.timings[0].peak_memory_bytes is not None:
            peak = result.timings[0].peak_memory_bytes / 2**30
            results.append(figure(f"auto, {name}, peak memory", peak, "GB", bar=Bar(at_most=2)))
    return results


def warm(setup: Any) -> None:
    """Compile what the timed run needs, at every level."""
    for level in ("auto", 0, 0.5, 1):
        rank_few(setup(), 1, level)


def once(setup: Any) -> None:
    """Compile what the timed run needs."""
    rank_once(setup)
    rank(setup(), n_trees=1, supervision=0.5)
    column_by_column(setup(), n_trees=1, supervision=0.5)
