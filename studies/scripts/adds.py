"""What a feature adds to all others: false discoveries and power, where each true feature has a proxy.

    python studies/scripts/adds.py [n_draws] [first_seed]

250 examples and 50 features: five true ones, a proxy of each (correlation 0.9), and noise. Writes ``results/adds.csv``:
one row per target and draw, with the share of proxies with p < 0.05 in the second test, and for both tests the false
discoveries (proxies count as false) and the power at a false discovery rate of 5 %.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import omnirank as om

FILE = Path(__file__).resolve().parents[1] / "results" / "adds.csv"
N_ROWS, N_FEATURES, N_TRUE = 250, 50, 5
SIMILAR = 0.9
Truth = Callable[[np.random.Generator, np.ndarray], np.ndarray]


def number(rng: np.random.Generator, true: np.ndarray) -> np.ndarray:
    return true.sum(axis=1) + 2 * rng.normal(size=len(true))


def two_classes(rng: np.random.Generator, true: np.ndarray) -> np.ndarray:
    return np.where(number(rng, true) > 0, "yes", "no")


def five_labels(rng: np.random.Generator, true: np.ndarray) -> np.ndarray:
    return (true + rng.normal(size=true.shape) > 0).astype(int)


def friedman(rng: np.random.Generator, true: np.ndarray) -> np.ndarray:
    """Friedman's first function of uniform numbers that have the order of the true features."""
    a, b, c, d, e = (true.argsort(axis=0).argsort(axis=0).T + 0.5) / len(true)
    return 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e + rng.normal(size=len(true))


TARGETS: dict[str, Truth] = {
    "a number": number,
    "two classes": two_classes,
    "five labels": five_labels,
    "Friedman's function": friedman,
}


def row(name: str, seed: int) -> dict[str, float | str]:
    rng = np.random.default_rng([seed, list(TARGETS).index(name)])
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    true, proxies = slice(0, N_TRUE), slice(N_TRUE, 2 * N_TRUE)
    X[:, proxies] = SIMILAR * X[:, true] + np.sqrt(1 - SIMILAR**2) * X[:, proxies]
    ranker = om.EnsembleRanker(random_state=seed, n_jobs=1)
    tested = om.significance(ranker, X, TARGETS[name](rng, X[:, true]), given="others").to_frame()
    tested = tested.set_index("feature").loc[[f"x{i}" for i in range(N_FEATURES)]]
    shares: dict[str, float | str] = {"target": name, "seed": seed}
    shares["proxies"] = float((tested["p_given_others"].to_numpy()[proxies] < 0.05).mean())
    for column in ("adds", "relevant"):
        discovered = tested[column].to_numpy(dtype=bool)
        shares[f"false, {column}"] = float(discovered[N_TRUE:].sum() / max(discovered.sum(), 1))
        shares[f"power, {column}"] = float(discovered[true].mean())
    return shares


def main(n_draws: int = 20, first: int = 0) -> None:
    rows = [row(name, seed) for name in TARGETS for seed in range(first, first + n_draws)]
    pd.DataFrame(rows).round(4).to_csv(FILE, index=False)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
