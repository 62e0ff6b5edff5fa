"""The layout of features: trees on all cells against trees on the non-zero ones, over shares of non-zero cells.

The shares from which all cells are faster are the constants of ``omnirank/trees/layout.py``.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse

import omnirank as om
from benchmarks import Bar, Contestant, benchmark, compare, figure
from benchmarks.bench_forests import rank, sklearn_forest
from omnirank.ensembles.plan import GrowingData, GrowingPlan, GrowingRules

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
FEATURES = ("two values", "ten values", "two values and 5 numeric columns")
TARGETS = ("one number", "16 numbers", "400 labels", "no target")
REPETITIONS = 5


def mostly_zero(share: float, kind: str, n: int = 2000, n_features: int = 200) -> np.ndarray:
    """Return features with this share of non-zero cells."""
    rng = np.random.default_rng(0)
    X = (rng.random((n, n_features)) < share).astype(np.float64)
    if kind == "ten values":
        X *= rng.integers(1, 11, X.shape)
    elif kind != "two values":
        X[:, :5] = rng.normal(size=(n, 5))
    return X


def dataset(X: np.ndarray, target: str) -> om.Dataset:
    """Return the features with a target that some of them tell."""
    rng = np.random.default_rng(1)
    n = len(X)
    if target == "no target":
        return om.Dataset(X)
    if target == "400 labels":
        return om.Dataset(X, label_sets(X, rng), task="multi-label")
    signal = X[:, :10] @ rng.normal(size=10)
    if target == "one number":
        return om.Dataset(X, signal + 0.3 * rng.normal(size=n), task="regression")
    y = signal[:, None] * rng.normal(size=16) + rng.normal(size=(n, 16))
    return om.Dataset(X, y, task="multi-target-regression")


def label_sets(X: np.ndarray, rng: Any, n_labels: int = 400) -> np.ndarray:
    """Return labels that examples with one of the features have more often."""
    told = X[:, rng.integers(0, X.shape[1], n_labels)] > 0
    return (rng.random(told.shape) < 0.02 + 0.1 * told).astype(np.int64)


def plan_of(data: om.Dataset, on_cells: bool) -> GrowingPlan:
    """Return a plan with this layout, whatever the share."""
    share = 1.0 if on_cells else -1.0
    constants = {"_MOST_OF_TWO_VALUES": share, "_MOST_OF_MORE_VALUES": share}
    with patch.multiple("omnirank.trees.layout", **constants):
        return GrowingData(data, 0).plan(GrowingRules())


def gain_of_cells(data: om.Dataset, repetitions: int) -> float:
    """Return the CPU time of a tree on all cells over that on the non-zero ones, the smallest of several each."""
    plans = [plan_of(data, on_cells) for on_cells in (False, True)]
    seconds = [np.inf, np.inf]
    for repetition in range(repetitions + 1):
        for side, plan in enumerate(plans):
            start = time.process_time()
            plan.grow(0)
            if repetition:  # the first ones compile
                seconds[side] = min(seconds[side], time.process_time() - start)
    return seconds[0] / seconds[1]


@benchmark("layout")
def shares(quick: bool) -> list:
    """2000 x 200 features, one tree: all cells / non-zero cells, by the share of non-zero cells."""
    found = []
    for target in TARGETS[-1:] if quick else TARGETS:
        for kind in FEATURES:
            for share in SHARES[::3] if quick else SHARES:
                data = dataset(mostly_zero(share, kind), target)
                ratio = gain_of_cells(data, 1 if quick else REPETITIONS)
                found.append(figure(f"{target}, {kind}, {share:.0%} non-zero", ratio, "x"))
    return found


def example(container: Any) -> tuple[Any, np.ndarray]:
    """Return 4000 x 300 binary features with 5 % ones and 400 label columns."""
    X = mostly_zero(0.05, "two values", 4000, 300)
    return container(X), label_sets(X, np.random.default_rng(1))


@benchmark("layout-container")
def containers(quick: bool) -> list:
    """4000 x 300 binary features, 5 % ones, 400 labels, 100 trees: an array takes as long as scipy.sparse."""
    n_trees = 2 if quick else 100
    few = partial(rank, n_trees=n_trees)
    return [
        compare(
            "layout-container",
            [
                Contestant("array", partial(example, np.asarray), few),
                Contestant("scipy.sparse", partial(example, sparse.csr_array), few),
                Contestant("scikit-learn", partial(example, np.asarray), partial(sklearn_forest, n_trees=n_trees)),
            ],
            bar=Bar(at_least=12, against="scikit-learn"),
            memory=not quick,
        )
    ]
