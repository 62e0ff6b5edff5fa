"""Small random data sets of every task: missing and nominal features, ties, partly known targets, weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse

import omnirank as om
from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.target import Target

CLASSIFIER_TASKS = ("classification", "multi-target-classification", "multi-label", "hierarchical-multi-label")
REGRESSOR_TASKS = ("regression", "multi-target-regression", "mixed-targets")
TASKS = CLASSIFIER_TASKS + REGRESSOR_TASKS
TREE = Hierarchy.from_paths(["a", "a/b", "a/b/c", "a/d", "e", "e/f"])
DAG = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("e", "d"), ("e", "f")])


def random_features(rng, n, missing=0.15):
    """Numbers with ties, continuous numbers, a binary and a nominal feature with 5 levels."""
    frame = pd.DataFrame(
        {
            "ties": rng.integers(0, 4, n).astype(float),
            "number": rng.normal(size=n),
            "flag": pd.Categorical(rng.choice(["no", "yes"], n), categories=["no", "yes"]),
            "level": pd.Categorical(rng.choice(list("abcde"), n), categories=list("abcde")),
            "other": np.round(rng.normal(size=n), 1),
        }
    )
    for name in frame.columns:
        frame.loc[rng.random(n) < missing, name] = np.nan if frame[name].dtype == float else None
    return frame


def random_dataset(rng, task, n=24, unknown=0.2, hierarchy=None, sparse_labels=False):
    """A data set whose target depends on its features, with single target values unknown."""
    frame = random_features(rng, n)
    signal = np.nan_to_num(frame["ties"]) - 1.5 + np.nan_to_num(frame["number"])
    signal = signal + (frame["flag"] == "yes") + rng.normal(size=n)
    if task in ("multi-label", "hierarchical-multi-label"):
        target, hierarchy = random_labels(rng, signal, unknown, task, hierarchy, sparse_labels)
        return Dataset(frame, target, task=task, hierarchy=hierarchy)
    return Dataset(frame, random_target(rng, task, signal, unknown), task=task)


def random_labels(rng, signal, unknown, task, hierarchy, sparse_labels):
    hierarchy = (hierarchy or TREE) if task == "hierarchical-multi-label" else None
    names = [f"l{j}" for j in range(5)] if hierarchy is None else list(hierarchy.labels)
    labels = np.column_stack([signal + rng.normal(size=len(signal)) > rng.normal() for _ in names]).astype(float)
    if hierarchy is not None:
        labels = hierarchy.close(labels)
    hidden = rng.random(labels.shape) < unknown
    hidden[np.arange(len(labels)), rng.integers(0, len(names), len(labels))] = False
    labels[hidden] = np.nan
    if hierarchy is not None:
        labels = hierarchy.close(labels)
    if sparse_labels:
        return Target.labels(sparse.csr_array(labels), names), hierarchy
    return Target.labels(labels, names), hierarchy


def random_target(rng, task, signal, unknown):
    n = len(signal)
    kinds = {
        "classification": "c",
        "multi-target-classification": "ccd",
        "regression": "n",
        "multi-target-regression": "nnn",
        "mixed-targets": "ncn",
    }[task]
    columns = {}
    for j, kind in enumerate(kinds):
        noisy = signal + rng.normal(size=n)
        if kind == "n":
            cells = np.round(noisy, 2) * 10.0**j
        else:
            cells = np.array(list("xyz"))[np.digitize(noisy, [0.0] if kind == "d" else [-0.7, 0.7])].astype(object)
        hidden = rng.random(n) < (unknown if len(kinds) > 1 else 0.0)
        columns[f"t{j}"] = pd.Series(cells)
        columns[f"t{j}"][hidden] = np.nan if kind == "n" else None
    frame = pd.DataFrame(columns)
    for j, kind in enumerate(kinds):
        if kind != "n":
            frame[f"t{j}"] = pd.Categorical(frame[f"t{j}"], categories=list("xyz"))
    return frame


def random_weights(rng, n):
    """Weights whose sums are exact: halves, so that ties stay ties."""
    return rng.integers(1, 5, n) / 2


def genie3_forest(importance="genie3", ensemble="random-forest", *sizes, rules=None, **parameters):
    """An EnsembleRanker with the score and the trees of the literature, where nothing else is said; its own rules."""
    ranker = om.EnsembleRanker(importance, ensemble, *sizes, **parameters)
    ranker._rules = rules or {}
    return ranker
