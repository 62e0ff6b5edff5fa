"""Data whose relevant features are known, with noise of every kind beside them.

    python studies/scripts/truths.py [n_seeds] [first_seed] [n_jobs]

ranks the features of each by the defaults and their alternatives, and writes the area under the ROC curve of relevant
against noise features into ``results/truths.csv``: one row per truth and method, a mean over the seeds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.datasets import load_digits
from sklearn.datasets import make_classification as hypercube
from sklearn.metrics import roc_auc_score

import omnirank as om

FIGURES = Path(__file__).resolve().parents[1] / "results" / "truths.csv"
LEVELS = (2, 10, 50, 300)

# A frame of features, the names of the relevant ones, and the target (None: there is none).
Truth = tuple[pd.DataFrame, list[str], object]


def noise(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return two columns of each kind of noise: normal, skewed, heavy-tailed, rounded, nominal of 2 to 300 levels."""
    columns: dict[str, object] = {}
    for i in range(2):
        columns[f"noise normal {i}"] = rng.normal(size=n)
        columns[f"noise skewed {i}"] = rng.lognormal(0, 1.5, n)
        columns[f"noise heavy-tailed {i}"] = rng.standard_t(2, n)
        columns[f"noise rounded {i}"] = rng.integers(0, 4, n).astype(float)
        for levels in LEVELS:
            columns[f"noise {levels} levels {i}"] = pd.Categorical(rng.integers(0, levels, n).astype(str))
    return pd.DataFrame(columns)


def among_noise(X: np.ndarray, y: object, rng: np.random.Generator, *, relevant: int | None = None) -> Truth:
    """Return the first columns as relevant, the others as noise, and more noise beside them."""
    relevant = X.shape[1] if relevant is None else relevant
    names = [f"x{i}" if i < relevant else f"noise {i}" for i in range(X.shape[1])]
    frame = pd.concat([pd.DataFrame(X, columns=names), noise(len(X), rng)], axis=1)
    return frame, names[:relevant], y


def sums(rng: np.random.Generator, n: int, targets: int) -> tuple[np.ndarray, np.ndarray]:
    """Return eight normal features and noisy sums of them, one column per target."""
    X = rng.normal(size=(n, 8))
    weights = rng.uniform(0.4, 1.5, (8, targets)) * rng.choice([-1, 1], (8, targets))
    return X, X @ weights + rng.normal(scale=1.5, size=(n, targets))


def classes(rng: np.random.Generator, n: int = 400) -> Truth:
    X, score = sums(rng, n, 1)
    return among_noise(X, np.digitize(score[:, 0], np.quantile(score, [1 / 3, 2 / 3])).astype(str), rng)


def numbers(rng: np.random.Generator, n: int = 400) -> Truth:
    X, score = sums(rng, n, 1)
    return among_noise(X, score[:, 0], rng)


def several_numbers(rng: np.random.Generator, n: int = 400) -> Truth:
    X, score = sums(rng, n, 4)
    return among_noise(X, score, rng)


def label_sets(rng: np.random.Generator, n: int = 400) -> Truth:
    X, score = sums(rng, n, 5)
    return among_noise(X, (score > np.quantile(score, 0.7, axis=0)).astype(int), rng)


def few_labels(rng: np.random.Generator) -> Truth:
    X, relevant, y = classes(rng, 600)
    y = np.asarray(y, dtype=object)
    y[rng.permutation(600)[60:]] = None
    return X, relevant, y


def few_numbers(rng: np.random.Generator) -> Truth:
    X, relevant, y = numbers(rng, 600)
    y = np.array(y)
    y[rng.permutation(600)[60:]] = np.nan
    return X, relevant, y


def clusters(rng: np.random.Generator) -> Truth:
    member = rng.integers(0, 4, 400)
    return among_noise(rng.normal(scale=2.5, size=(4, 8))[member] + rng.normal(size=(400, 8)), None, rng)


def waves(rng: np.random.Generator) -> Truth:
    """Breiman's waveforms: three classes, 21 points of two of three triangles; 19 points of noise."""
    at = np.arange(21)
    triangles = np.stack([np.maximum(6 - np.abs(at - centre), 0) for centre in (10, 14, 6)])
    y = rng.integers(0, 3, 500)
    share = rng.uniform(size=(500, 1))
    X = share * triangles[y] + (1 - share) * triangles[(y + 1) % 3] + rng.normal(size=(500, 21))
    # the first and the last point are zero in all triangles
    X = np.hstack([X[:, 1:20], X[:, [0, 20]], rng.normal(size=(500, 19))])
    return among_noise(X, y.astype(str), rng, relevant=19)


def sign(rng: np.random.Generator) -> Truth:
    """One of three features decides; nothing else is there."""
    X = rng.normal(size=(1000, 3))
    y = np.where(X[:, 0] + rng.normal(size=1000) > 0, "yes", "no")
    return pd.DataFrame(X, columns=["x0", "noise 1", "noise 2"]), ["x0"], y


def friedman(rng: np.random.Generator) -> Truth:
    X = rng.uniform(size=(400, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return among_noise(X, y + rng.normal(size=400), rng, relevant=5)


def xor(rng: np.random.Generator) -> Truth:
    """Two binary features that tell only together."""
    X = rng.integers(0, 2, (400, 6)).astype(float)
    y = np.where(X[:, 0] != X[:, 1], "yes", "no")
    return pd.DataFrame(X, columns=["x0", "x1", *(f"noise {i}" for i in range(2, 6))]), ["x0", "x1"], y


def madelon(rng: np.random.Generator) -> Truth:
    """Clusters on the corners of a hypercube, as in madelon: five features and ten combinations of them."""
    X, y = hypercube(
        600, 40, n_informative=5, n_redundant=10, n_clusters_per_class=8, shuffle=False,
        random_state=int(rng.integers(2**31)),
    )  # fmt: skip
    return among_noise(X, y.astype(str), rng, relevant=15)


def digits(rng: np.random.Generator) -> Truth:
    """Digits; relevant are the 30 pixels that differ most between the digits."""
    X, y = load_digits(return_X_y=True)
    rows = rng.permutation(len(X))[:600]
    between = np.stack([X[y == c].mean(axis=0) for c in range(10)]).var(axis=0)
    return among_noise(X[rows][:, np.argsort(-between)[:30]], y[rows].astype(str), rng)


def nominal(rng: np.random.Generator) -> Truth:
    """Relevant features of 2 to 50 levels, each level with its own effect."""
    n, score, columns = 600, np.zeros(600), {}
    for i, levels in enumerate((2, 2, 5, 5, 15, 50)):
        codes = rng.integers(0, levels, n)
        score += rng.permutation(np.linspace(-1.5, 1.5, levels))[codes]
        columns[f"x{i}"] = pd.Categorical(codes.astype(str))
    y = np.where(score + rng.normal(size=n) > 0, "yes", "no")
    return pd.concat([pd.DataFrame(columns), noise(n, rng)], axis=1), list(columns), y


def named(X: np.ndarray, relevant: np.ndarray, y: object) -> Truth:
    """Return a truth without further noise."""
    names = [f"x{i}" if i in set(relevant.tolist()) else f"noise {i}" for i in range(X.shape[1])]
    return pd.DataFrame(X, columns=names), [names[i] for i in relevant], y


def wide(n: int, n_features: int) -> Callable[[np.random.Generator], Truth]:
    """Return a truth of few examples: 20 features differ by 0.9 to 1.6 SD, all are in blocks of correlation 0.5."""

    def draw(rng: np.random.Generator) -> Truth:
        blocks = np.repeat(rng.normal(size=(n, n_features // 10)), 10, axis=1)
        X = np.sqrt(0.5) * (blocks + rng.normal(size=(n, n_features)))
        relevant, second = rng.permutation(n_features)[:20], np.arange(n) % 2
        X[:, relevant] += np.outer(second, rng.uniform(0.9, 1.6, 20))
        return named(X, relevant, np.where(second, "yes", "no"))

    return draw


def product(rng: np.random.Generator) -> Truth:
    X = rng.normal(size=(500, 50))
    return named(X, np.arange(3), X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=500))


def nested(rng: np.random.Generator) -> Truth:
    """One feature says which of two others counts, one of them up or down by a fourth."""
    X = rng.normal(size=(400, 40))
    y = np.where(X[:, 0] > 0, X[:, 1], np.where(X[:, 2] > 0, X[:, 3], -X[:, 3]))
    return named(X, np.arange(4), y + 0.5 * rng.normal(size=400))


def weak(rng: np.random.Generator) -> Truth:
    X = rng.normal(size=(150, 60))
    return named(X, np.arange(10), 0.35 * X[:, :10].sum(axis=1) + rng.normal(size=150))


def skewed_target(rng: np.random.Generator) -> Truth:
    X = rng.normal(size=(250, 50))
    return named(X, np.arange(5), np.exp(0.6 * X[:, :5].sum(axis=1) + 1.2 * rng.normal(size=250)))


def skewed_features(rng: np.random.Generator) -> Truth:
    X = rng.normal(size=(250, 50))
    return named(np.exp(1.5 * X), np.arange(5), 0.35 * X[:, :5].sum(axis=1) + rng.normal(size=250))


def rare_class(rng: np.random.Generator) -> Truth:
    X, rare = rng.normal(size=(520, 50)), np.arange(520) < 20
    X[rare, :5] += 0.8
    return named(X, np.arange(5), np.where(rare, "yes", "no"))


def three_levels(rng: np.random.Generator) -> Truth:
    X = rng.integers(0, 3, (250, 50)).astype(float)
    return named(X, np.arange(5), 0.25 * X[:, :5].sum(axis=1) + rng.normal(size=250))


def rare_labels(rng: np.random.Generator) -> Truth:
    X = rng.normal(size=(300, 60))
    score = X[:, :8] @ rng.normal(size=(8, 40)) + 3 * rng.normal(size=(300, 40))
    return named(X, np.arange(8), (score > np.quantile(score, 0.95, axis=0)).astype(int))


def copies(rng: np.random.Generator) -> Truth:
    """Ten copies of one feature, and two weaker ones."""
    X = rng.normal(size=(200, 50))
    X[:, 1:10] = X[:, :1] + 0.05 * rng.normal(size=(200, 9))
    return named(X, np.arange(12), X[:, 0] + 0.5 * X[:, 10:12].sum(axis=1) + rng.normal(size=200))


def missing(share: float, by_class: bool) -> Callable[[np.random.Generator], Truth]:
    """Return a truth with this share of the cells missing, of one class only or of all examples."""

    def draw(rng: np.random.Generator) -> Truth:
        X, relevant, y = classes(rng)
        y = np.where(np.asarray(y) == "0", "no", "yes")
        for name in X:
            hidden = rng.uniform(size=len(X)) < share
            X[name] = X[name].mask(hidden & (y == "yes") if by_class and name in relevant else hidden)
        return X, relevant, y

    return draw


TRUTHS: dict[str, Callable[[np.random.Generator], Truth]] = {
    "classes": classes,
    "numbers": numbers,
    "several numbers": several_numbers,
    "label sets": label_sets,
    "few classes": few_labels,
    "few numbers": few_numbers,
    "no target": clusters,
    "waveform": waves,
    "one of three": sign,
    "friedman": friedman,
    "xor": xor,
    "madelon-like": madelon,
    "digits": digits,
    "nominal": nominal,
    "60 x 4,000": wide(60, 4000),
    "30 x 2,000": wide(30, 2000),
    "product": product,
    "nested": nested,
    "ten weak": weak,
    "skewed target": skewed_target,
    "skewed features": skewed_features,
    "rare class": rare_class,
    "three levels": three_levels,
    "rare labels": rare_labels,
    "copies": copies,
    **{f"missing {s:.0%}": missing(s, False) for s in (0.2, 0.4, 0.6)},
    **{f"missing {s:.0%}, by class": missing(s, True) for s in (0.2, 0.4, 0.6)},
}


def methods(seed: int) -> dict[str, object]:
    """Return the rankers that are compared, by name."""
    forest = {"n_trees": 100, "random_state": seed, "n_jobs": 1}
    found: dict[str, object] = {}
    for ensemble, short in (("random-forest", "RF"), ("extra-trees", "ET")):
        for importance in ("genie3", "permutation", "unbiased"):
            found[f"{importance}, {short}"] = om.EnsembleRanker(importance, ensemble, **forest)
    found["relief"] = om.ReliefRanker(random_state=seed, n_jobs=1)
    found["univariate"] = om.UnivariateRanker()
    return found


def areas_of(name: str, seeds: range) -> list[tuple[str, str, float]]:
    """Return the areas of all methods on a truth, by seed."""
    rows = []
    for seed in seeds:
        X, relevant, y = TRUTHS[name](np.random.default_rng(seed))
        for method, ranker in methods(seed).items():
            try:
                scores = ranker.fit(X, y).ranking_.scores
            except (om.errors.DataError, om.errors.TaskError):  # a method that does not take such data
                continue
            rows.append((name, method, roc_auc_score(X.columns.isin(relevant), scores)))
    print(name, flush=True)
    return rows


def main(n_seeds: int = 10, first: int = 1000, n_jobs: int = 1) -> None:
    """Rank, and write the areas."""
    work = (delayed(areas_of)(name, range(first, first + n_seeds)) for name in TRUTHS)
    rows = [row for of_truth in Parallel(n_jobs)(work) for row in of_truth]
    areas = pd.DataFrame(rows, columns=["truth", "method", "auc"])
    table = areas.groupby(["truth", "method"], sort=False)["auc"].agg(["mean", "std", "size"]).round(4)
    table.to_csv(FIGURES)
    print(table["mean"].unstack().reindex(TRUTHS).round(3).to_string())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
