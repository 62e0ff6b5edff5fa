"""False discoveries and power of the default beside methods of other packages.

    python studies/scripts/peers.py own [n_seeds] [first_seed] [part of a setting]    # the default and the F test
    python studies/scripts/peers.py peers ...    # in an environment with the packages below

write rows of ``results/peers.csv``: by setting and method, over the data sets, the mean share of false discoveries, the
power, and the seconds of processor time. ``peers`` needs boruta, lightgbm and scikit-learn, but not omnirank:

* Boruta: `BorutaPy` with a random forest of depth 5, 50 rounds; confirmed features.
* LightGBM: gain of 100 trees; p values by gains with permuted targets (30 times; 5 for wide data), over all features.
* corrected impurity (as in ranger): that of 500 trees less that of permuted copies; p values by the negative ones.
* stability selection: the first q features of the lasso path in 100 halves; share of at least 0.75, q for at most one
  expected false discovery.

P values are corrected by Benjamini and Hochberg at 5 %.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control
from sklearn.feature_selection import f_classif, f_regression
from sklearn.linear_model import lars_path

FILE = Path(__file__).resolve().parents[1] / "results" / "peers.csv"


def linear(rng: np.random.Generator, classes: bool) -> tuple[np.ndarray, np.ndarray, int]:
    X = rng.normal(size=(250, 50))
    y = 0.5 * X[:, :5].sum(axis=1) + 2 * rng.normal(size=250)
    return X, (y > 0).astype(float) if classes else y, 5


def correlated(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
    """Noise in blocks of ten with correlation 0.8."""
    X = rng.normal(size=(250, 50))
    X[:, 10:] = np.sqrt(0.8) * np.repeat(X[:, 10:14], 10, axis=1) + np.sqrt(0.2) * X[:, 10:]
    return X, 0.5 * X[:, :5].sum(axis=1) + 2 * rng.normal(size=250), 5


def friedman(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
    X = rng.uniform(size=(250, 50))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, y + 2 * rng.normal(size=250), 5


def product(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
    X = rng.normal(size=(500, 50))
    return X, X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=500), 3


def imbalance(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
    y = np.arange(1020) < 20
    X = rng.normal(size=(1020, 50))
    X[y, :5] += 1.0
    return X, y.astype(float), 5


def few_levels(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
    """Half of the noise has three values, the true features two."""
    X = rng.normal(size=(250, 50))
    X[:, :5] = X[:, :5] > 0
    X[:, 5:28] = rng.integers(0, 3, (250, 23))
    return X, 1.1 * X[:, :5].sum(axis=1) + 2 * rng.normal(size=250), 5


def wide(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
    """60 x 4,000: twenty true features with effects of 0.9 to 1.6 standard deviations, noise in blocks."""
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 4000))
    X[:, 20:] = np.sqrt(0.5) * np.repeat(rng.normal(size=(60, 398)), 10, axis=1) + np.sqrt(0.5) * X[:, 20:]
    X[:, :20] += y[:, None] * np.linspace(0.9, 1.6, 20)
    return X, y.astype(float), 20


SETTINGS: dict[str, Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray, int]]] = {
    "classes, 250 x 50": lambda rng: linear(rng, True),
    "numbers, 250 x 50": lambda rng: linear(rng, False),
    "correlated noise, 250 x 50": correlated,
    "friedman, 250 x 50": friedman,
    "product, 500 x 50": product,
    "20 of 1,020": imbalance,
    "few levels, 250 x 50": few_levels,
    "wide, 60 x 4,000": wide,
}


def discovered(p_values: np.ndarray) -> np.ndarray:
    return np.asarray(false_discovery_control(np.clip(np.nan_to_num(p_values, nan=1.0), 0, 1)) <= 0.05)


def default(X: np.ndarray, y: np.ndarray, classes: bool, seed: int) -> np.ndarray:
    import omnirank as om

    target = y.astype(int).astype(str) if classes else y
    ranking = om.EnsembleRanker(p_values=True, random_state=seed, n_jobs=1).fit(X, target).ranking_
    return discovered(ranking.p_values)


def f_test(X: np.ndarray, y: np.ndarray, classes: bool, seed: int) -> np.ndarray:
    return discovered((f_classif if classes else f_regression)(X, y)[1])


def boruta(X: np.ndarray, y: np.ndarray, classes: bool, seed: int) -> np.ndarray:
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    forest = (RandomForestClassifier if classes else RandomForestRegressor)(
        n_estimators=100, max_depth=5, max_features="sqrt", random_state=seed, n_jobs=1
    )
    return np.asarray(BorutaPy(forest, n_estimators=100, max_iter=50, random_state=seed).fit(X, y).support_)


def lightgbm(X: np.ndarray, y: np.ndarray, classes: bool, seed: int) -> np.ndarray:
    import lightgbm as lgb

    rng = np.random.default_rng(seed)
    options = {"objective": "binary" if classes else "regression", "verbosity": -1, "num_threads": 1, "seed": seed}
    options |= {"num_leaves": 8, "min_data_in_leaf": 5, "learning_rate": 0.1}

    def gains(target: np.ndarray) -> np.ndarray:
        return np.asarray(lgb.train(options, lgb.Dataset(X, target), 100).feature_importance("gain"))

    rounds = min(30, max(5, 20_000 // X.shape[1]))
    null = np.sort(np.concatenate([gains(rng.permutation(y)) for _ in range(rounds)]))
    return discovered((1 + len(null) - np.searchsorted(null, gains(y))) / (1 + len(null)))


def corrected_impurity(X: np.ndarray, y: np.ndarray, classes: bool, seed: int) -> np.ndarray:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    rows, options = np.random.default_rng(seed).permutation(len(X)), {"random_state": seed, "n_jobs": 1}
    forest = (RandomForestClassifier if classes else RandomForestRegressor)(500, max_features="sqrt", **options)
    own, permuted = np.split(forest.fit(np.hstack([X, X[rows]]), y).feature_importances_, 2)
    scores = own - permuted
    null = np.sort(np.concatenate([-np.abs(scores[scores < 0]), np.abs(scores[scores < 0]), scores[scores == 0]]))
    return discovered(1 - np.searchsorted(null, scores) / max(len(null), 1))


def stability_selection(X: np.ndarray, y: np.ndarray, classes: bool, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    n, p = X.shape
    q, counts = max(1, int(np.sqrt(0.5 * p))), np.zeros(p)
    for _ in range(50):
        order = rng.permutation(n)
        for half in (order[: n // 2], order[n // 2 :]):
            Z, t = X[half], y[half] - y[half].mean()
            Z = (Z - Z.mean(axis=0)) / np.maximum(Z.std(axis=0), 1e-12)
            entered = lars_path(Z, t, method="lasso", max_iter=2 * q)[2]
            present = np.flatnonzero((np.cumsum(entered != 0, axis=1) > 0).sum(axis=0) <= q)
            counts[(entered[:, : present[-1] + 1] != 0).any(axis=1)] += 1
    return counts / 100 >= 0.75


METHODS = {
    "own": {"default": default, "F test": f_test},
    "peers": {
        "Boruta": boruta,
        "LightGBM": lightgbm,
        "corrected impurity": corrected_impurity,
        "stability selection": stability_selection,
    },
}


def main(part: str = "own", n_seeds: str = "10", first: str = "9000", only: str = "") -> None:
    """Compute, and write each row in place of the one before; ``only`` is part of a setting's name."""
    warnings.simplefilter("ignore")
    for name in (name for name in SETTINGS if only in name):
        for method, select in METHODS[part].items():
            found = []
            for seed in range(int(first), int(first) + int(n_seeds)):
                X, y, n_true = SETTINGS[name](np.random.default_rng(seed))
                start = time.process_time()
                chosen = select(X, y, len(np.unique(y)) == 2, seed)
                seconds = time.process_time() - start
                found.append((chosen[n_true:].sum() / max(chosen.sum(), 1), chosen[:n_true].mean(), seconds))
            (fdr, power, seconds), errors = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / np.sqrt(len(found))
            row = {"setting": name, "method": method, "data sets": len(found), "fdr": fdr, "fdr error": errors[0]}
            write(row | {"power": power, "power error": errors[1], "seconds": seconds})
            print(row | {"power": round(power, 3), "seconds": round(seconds, 1)}, flush=True)


def write(row: dict[str, object]) -> None:
    """Write a row in place of that of the same setting and method."""
    old = pd.read_csv(FILE) if FILE.exists() else pd.DataFrame([row])[:0]
    others = old[(old["setting"] != row["setting"]) | (old["method"] != row["method"])]
    table = pd.concat([others, pd.DataFrame([row]).round(4)])
    table["place"] = table["setting"].map(list(SETTINGS).index)
    table.sort_values("place", kind="stable").drop(columns="place").to_csv(FILE, index=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
