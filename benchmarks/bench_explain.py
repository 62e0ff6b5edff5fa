"""What features contribute to predictions: `explain` beside SHAP's TreeExplainer, on the same forest of one number.

The peer is no dependency (``pip install shap``); without it, this benchmark is left out. SHAP reads the trees of our
forest as plain arrays, so that both explain the same predictions.
"""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import spearmanr

import omnirank as om
from benchmarks import Bar, benchmark, figure

N_TREES = 100


def correlated(n_examples: int) -> om.Dataset:
    """Numbers with a linear target, in which each of five relevant features has a copy with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_examples, 5))
    X = np.column_stack([X, X + 0.5 * rng.normal(size=X.shape), rng.normal(size=X.shape)])
    return om.Dataset(X, X[:, :5] @ np.arange(1.0, 6) + rng.normal(size=n_examples))


def data_sets(quick: bool) -> dict[str, om.Dataset]:
    """Data without missing cells, of numbers alone."""
    n = 200 if quick else 2000
    friedman = om.datasets.make_friedman(n, 20, random_state=0)[0]
    return {"Friedman": friedman, "copies": correlated(n), "diabetes": om.datasets.load_sample("diabetes")}


def plain(tree: Any) -> dict[str, Any]:
    """Return a tree as SHAP reads trees: arrays with an entry for each node, values of inner nodes included."""
    values = np.zeros(tree.n_nodes)
    stored = tree.value_row >= 0
    values[stored] = np.asarray(tree.values)[tree.value_row[stored], 0]
    left, right = (np.where(tree.is_leaf, -1, child) for child in (tree.left, tree.right))
    for node in np.flatnonzero(~tree.is_leaf)[::-1]:
        children = [left[node], right[node]]
        values[node] = np.average(values[children], weights=tree.weight[children])
    return {
        "children_left": left,
        "children_right": right,
        "children_default": right,
        "features": np.where(tree.is_leaf, -2, tree.feature),
        "thresholds": tree.threshold,
        "values": values[:, None],
        "node_sample_weight": tree.weight,
    }


def explainer_of(forest: om.PCTForestRegressor) -> Any:
    """SHAP's explainer of the mean over the trees, by the weights of the training examples in their nodes."""
    import shap

    trees = [plain(tree) for tree in forest._trees()]
    for tree in trees:
        tree["values"] = tree["values"] / len(trees)
    model = {"trees": trees, "internal_dtype": np.float64, "input_dtype": np.float64, "objective": "squared_error"}
    return shap.TreeExplainer({**model, "tree_output": "raw_value", "base_offset": 0.0})


def cpu_seconds(work: Callable[[Any], Any], data: Any) -> float:
    start = time.process_time()
    work(data)
    return time.process_time() - start


def agreement(ours: np.ndarray, theirs: np.ndarray) -> dict[str, float]:
    """Shares of equal signs: of all contributions, by their size, and of the largest of each row."""
    equal = np.sign(ours) == np.sign(theirs)
    rows = np.arange(len(ours))
    largest = np.abs(theirs).argmax(axis=1)
    return {
        "equal signs, all contributions": equal.mean(),
        "equal signs, weighted by SHAP value": np.average(equal, weights=np.abs(theirs)),
        "equal signs, largest SHAP value of each row": equal[rows, largest].mean(),
        "same largest feature": (np.abs(ours).argmax(axis=1) == largest).mean(),
        "rank correlation of mean absolute contributions": spearmanr(np.abs(ours).mean(0), np.abs(theirs).mean(0))[0],
    }


@benchmark("explain")
def explain(quick: bool) -> list:
    """Contributions to the predictions of 100 trees: faster than TreeExplainer, with its signs where they are large."""
    if importlib.util.find_spec("shap") is None:
        print("TreeExplainer is left out: shap is not installed")
        return []
    results: list = []
    for name, data in data_sets(quick).items():
        train, test = data.split(0.75, random_state=0)
        forest = om.PCTForestRegressor(n_trees=5 if quick else N_TREES, random_state=0, n_jobs=1).fit(train)
        explainer, X = explainer_of(forest), np.asarray(test.X, dtype=float)
        found, values = forest.explain(test), explainer.shap_values(X)
        if not np.allclose(values.sum(axis=1) + explainer.expected_value, forest.predict(test)):
            raise ValueError("SHAP does not explain the predictions of this forest")
        times = [
            (cpu_seconds(forest.explain, test), cpu_seconds(explainer.shap_values, X)) for _ in range(3 if quick else 5)
        ]
        label = f"{name}, {test.n_examples} x {test.n_features}"
        ratio = statistics.median(theirs / ours for ours, theirs in times)
        results.append(figure(f"{label}: TreeExplainer / omnirank, CPU time", ratio, bar=Bar(at_least=1)))
        agreed = agreement(found.contributions[..., 0], values)
        results += [figure(f"{label}: {what}", value) for what, value in agreed.items()]
    return results
