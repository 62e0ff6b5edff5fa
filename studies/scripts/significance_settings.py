"""P values of the default where rows are not alike: classes out of balance, weights, few labels, dependent rows.

    python studies/scripts/significance_settings.py [n_seeds] [first_seed] [part of a setting's name]

writes ``results/significance_settings.csv``: for each setting, alone and beside five true features, the share of noise
with p < 0.05, and at a false discovery rate of 5 % (Benjamini and Hochberg) the mean share of false discoveries and
the power; F is the F test (of the labelled rows, without weights and groups).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control
from sklearn.feature_selection import f_classif, f_regression

import omnirank as om

FILE = Path(__file__).resolve().parents[1] / "results" / "significance_settings.csv"
N_FEATURES, N_TRUE = 50, 5

# Features, target, and what is given besides (sample_weight, groups).
Case = tuple[np.ndarray, np.ndarray, dict[str, Any]]


def imbalance(rng: np.random.Generator, effect: float, balanced: bool) -> Case:
    y = np.arange(1020) < 20
    X = rng.normal(size=(1020, N_FEATURES))
    X[y, :N_TRUE] += 1.0 * effect
    weight = {"sample_weight": np.where(y, 510 / 20, 510 / 1000)} if balanced else {}
    return X, np.where(y, "yes", "no"), weight


def classes_and_weights(rng: np.random.Generator, effect: float, made: Callable[..., np.ndarray] | None) -> Case:
    X = rng.normal(size=(250, N_FEATURES))
    score = 0.5 * effect * X[:, :N_TRUE].sum(axis=1) + 2 * rng.normal(size=250)
    return X, score, {} if made is None else {"sample_weight": made(rng, X, score)}


def other_shape(rng: np.random.Generator, effect: float, shape: str) -> Case:
    """Numbers whose distribution is not normal."""
    X = rng.normal(size=(250, N_FEATURES))
    told = 0.4 * effect * X[:, :N_TRUE].sum(axis=1)
    if shape == "log-normal":
        return X, np.exp(1.2 * (told + rng.normal(size=250))), {}
    if shape == "heavy tails":
        return X, told + rng.standard_t(2, 250), {}
    return X, told + rng.normal(size=250) + 6 * (rng.uniform(size=250) < 0.5), {}


def few_labels(rng: np.random.Generator, effect: float, correlated: bool) -> Case:
    X = rng.normal(size=(300, N_FEATURES))
    if correlated:
        X[:, 1::2] = 0.7 * X[:, ::2] + 0.7 * X[:, 1::2]
    y = effect * X[:, :N_TRUE:2].sum(axis=1) + 1.5 * rng.normal(size=300)
    y[80:] = np.nan
    return X, y, {}


def subjects(rng: np.random.Generator, effect: float, given: bool, target: str) -> Case:
    """Fifty subjects with five rows; features and target have effects of the subject."""
    subject = np.repeat(np.arange(50), 5)
    X = rng.normal(size=(50, N_FEATURES))[subject] + rng.normal(size=(250, N_FEATURES))
    shared = 0.5 * effect * X[:, :N_TRUE].sum(axis=1)
    if target == "constant":
        means = np.bincount(subject, shared) / 5
        y = (means + 1.5 * rng.normal(size=50))[subject]
    else:
        y = shared + 1.5 * rng.normal(size=50)[subject] + 1.5 * rng.normal(size=250)
    return X, y, {"groups": subject} if given else {}


def copies(rng: np.random.Generator, effect: float, share: float) -> Case:
    X, y, _ = classes_and_weights(rng, effect, None)
    rows = np.concatenate([np.arange(250), rng.permutation(250)[: round(share * 250)]])
    return X[rows], y[rows], {}


def in_time(rng: np.random.Generator, effect: float, block: int) -> Case:
    """First order autoregression (coefficient 0.8) in features and noise of the target."""

    def series(columns: int) -> np.ndarray:
        values = rng.normal(size=(350, columns))
        for i in range(1, 350):
            values[i] = 0.8 * values[i - 1] + 0.6 * values[i]
        return values[100:]

    X = series(N_FEATURES)
    y = 0.5 * effect * X[:, :N_TRUE].sum(axis=1) + 2 * series(1)[:, 0]
    return X, y, {"groups": np.arange(250) // block} if block else {}


SETTINGS: dict[str, Callable[[np.random.Generator, float], Case]] = {
    "numbers": lambda rng, e: classes_and_weights(rng, e, None),
    "log-normal numbers": lambda rng, e: other_shape(rng, e, "log-normal"),
    "errors of heavy tails": lambda rng, e: other_shape(rng, e, "heavy tails"),
    "numbers in two heaps": lambda rng, e: other_shape(rng, e, "two heaps"),
    "20 of 1,020": lambda rng, e: imbalance(rng, e, False),
    "20 of 1,020, balancing weights": lambda rng, e: imbalance(rng, e, True),
    "random weights": lambda rng, e: classes_and_weights(rng, e, lambda r, X, y: r.exponential(size=250)),
    "heavy random weights": lambda rng, e: classes_and_weights(rng, e, lambda r, X, y: r.lognormal(0, 1.5, 250)),
    "weights by a noise feature": lambda rng, e: classes_and_weights(rng, e, lambda r, X, y: np.exp(X[:, -1])),
    "weights by the target": lambda rng, e: classes_and_weights(rng, e, lambda r, X, y: np.exp(y / 2)),
    "few labels": lambda rng, e: few_labels(rng, e, False),
    "few labels, correlated features": lambda rng, e: few_labels(rng, e, True),
    "subjects, no groups given": lambda rng, e: subjects(rng, e, False, "effect"),
    "subjects": lambda rng, e: subjects(rng, e, True, "effect"),
    "subjects with one target": lambda rng, e: subjects(rng, e, True, "constant"),
    "10 % of rows copied": lambda rng, e: copies(rng, e, 0.1),
    "every row twice": lambda rng, e: copies(rng, e, 1.0),
    "rows in time": lambda rng, e: in_time(rng, e, 0),
    "rows in time, groups of 10": lambda rng, e: in_time(rng, e, 10),
    "rows in time, groups of 25": lambda rng, e: in_time(rng, e, 25),
}


def f_test(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """P values of the F test, by the labelled rows."""
    if y.dtype.kind == "U":
        return np.asarray(f_classif(X, y)[1])
    known = ~np.isnan(y)
    return np.asarray(f_regression(X[known], y[known])[1])


def judged(p: np.ndarray, n_true: int) -> tuple[float, float, float]:
    """Share of noise below 0.05; false discoveries and power at a false discovery rate of 5 %."""
    found = false_discovery_control(p) <= 0.05
    return (
        (p[n_true:] < 0.05).mean(),
        found[n_true:].sum() / max(found.sum(), 1),
        found[:n_true].mean() if n_true else 0,
    )


def rows_of(name: str, seeds: range) -> list[dict[str, Any]]:
    """Rows of one setting, alone and beside true features."""
    rows = []
    for beside in (False, True):
        values: dict[str, list[tuple[float, float, float]]] = {"default": [], "F": []}
        n_true = (3 if name.startswith("few") else N_TRUE) if beside else 0
        for seed in seeds:
            X, y, given = SETTINGS[name](np.random.default_rng([seed, beside]), float(beside))
            if beside and n_true == 3:  # true ones first
                X = X[:, np.argsort(~np.isin(np.arange(N_FEATURES), [0, 2, 4]), kind="stable")]
                if "correlated" in name:
                    X = X[:, [0, 1, 2, *range(6, N_FEATURES)]]  # without those that go along
            ranker = om.EnsembleRanker(p_values=True, random_state=seed, n_jobs=1)
            values["default"].append(judged(ranker.fit(X, y, **given).ranking_.p_values, n_true))
            values["F"].append(judged(f_test(X, y), n_true))
        for method, found in values.items():
            noise, false, power = np.mean(found, axis=0)
            error = np.std([one[0] for one in found], ddof=1) / np.sqrt(len(found))
            row = {"setting": name, "beside": "signal" if beside else "nothing", "method": method}
            row |= {"data sets": len(found), "noise": noise, "error": error, "fdr": false, "power": power}
            rows.append(row)
            print(row, flush=True)
    return rows


def main(n_seeds: str = "30", first: str = "5000", only: str = "") -> None:
    """Compute, and write the rows in place of those of the same settings."""
    warnings.simplefilter("ignore")
    seeds = range(int(first), int(first) + int(n_seeds))
    chosen = [name for name in SETTINGS if only in name]
    table = pd.DataFrame([row for name in chosen for row in rows_of(name, seeds)]).round(4)
    if FILE.exists():
        old = pd.read_csv(FILE)
        table = pd.concat([old[~old["setting"].isin(chosen)], table])
    table["place"] = table["setting"].map(list(SETTINGS).index)
    table.sort_values("place", kind="stable").drop(columns="place").to_csv(FILE, index=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
