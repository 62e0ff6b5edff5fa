"""Growing forests and ranking features, beside scikit-learn's forests on the same cores."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

import omnirank as om
from benchmarks import Bar, Contestant, Figure, arithmetic_peak, benchmark, compare, figure, memory_bandwidth
from benchmarks._measure import median_ratio, median_seconds
from benchmarks.public_data import public_data
from omnirank.core.seeds import root_entropy
from omnirank.ensembles.plan import GrowingData, GrowingRules

SHARED = public_data()
N_RELEVANT = 10
WORKERS = 2


def linear_data(n: int, n_features: int, n_targets: int) -> tuple[np.ndarray, np.ndarray]:
    """Return normal features and noisy linear targets; the first ten features matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, n_features))
    coefficients = np.zeros((n_features, n_targets))
    coefficients[:N_RELEVANT] = rng.normal(size=(N_RELEVANT, n_targets))
    y = X @ coefficients + 0.5 * rng.normal(size=(n, n_targets))
    return X, y[:, 0] if n_targets == 1 else y


def rank(
    data: Any, ensemble: str = "random-forest", n_trees: int = 100, importance: str = "genie3", **parameters: Any
) -> Any:
    """Fit an EnsembleRanker with two workers."""
    data = data if isinstance(data, tuple) else (data,)
    settings = {"max_features": "sqrt", "random_state": 0, "n_jobs": WORKERS} | parameters
    return om.EnsembleRanker(importance, ensemble, n_trees, **settings).fit(*data)


def sklearn_forest(
    data: tuple[Any, Any], ensemble: str = "random-forest", n_trees: int = 100, max_features: Any = "sqrt"
) -> Any:
    """Fit scikit-learn's forest with the same settings."""
    from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

    X, y = data
    kind = RandomForestRegressor if ensemble == "random-forest" else ExtraTreesRegressor
    forest = kind(
        n_trees,
        max_features=int(np.ceil(np.sqrt(X.shape[1]))) if max_features == "sqrt" else 1.0,
        min_samples_leaf=2,
        bootstrap=True,
        random_state=0,
        n_jobs=WORKERS,
    )
    return forest.fit(X, y)


def share_found(fitted: Any) -> dict[str, float]:
    """Return the share of the relevant features among the best ten."""
    best = np.argsort(-fitted.feature_importances_)[:N_RELEVANT]
    return {"relevant features in the top ten": float(np.mean(best < N_RELEVANT))}


def against_sklearn(
    name: str,
    setup: Callable[[], Any],
    least: tuple[float, float],
    quick: bool,
    n_trees: int = 100,
    repetitions: int = 3,
) -> list:
    """Compare our forest, our extra trees and scikit-learn's two on the same data.

    ``least`` are the ratios that forests and extra trees should reach.
    """
    few = {"n_trees": 2} if quick else {"n_trees": n_trees}
    contestants = [
        Contestant("omnirank", setup, partial(rank, **few), share_found, warm_up=partial(rank_once, setup)),
        Contestant("scikit-learn", setup, partial(sklearn_forest, **few), share_found),
        Contestant(
            "omnirank extra trees",
            setup,
            partial(rank, ensemble="extra-trees", **few),
            share_found,
            warm_up=partial(rank_once, setup, ensemble="extra-trees"),
        ),
        Contestant(
            "scikit-learn extra trees", setup, partial(sklearn_forest, ensemble="extra-trees", **few), share_found
        ),
    ]
    bar = Bar(at_least=least[0], against="scikit-learn")
    result = compare(name, contestants, repetitions=repetitions, bar=bar, memory=not quick)
    ours, theirs = result.timings[2:]
    ratio = figure(f"{name}, extra trees", theirs.median / ours.median, "x", bar=Bar(at_least=least[1]))
    return [result, ratio]


def rank_once(setup: Callable[[], Any], ensemble: str = "random-forest") -> None:
    """Compile what the timed run needs."""
    rank(setup(), ensemble, n_trees=1)


def shape(n: int, n_features: int, n_targets: int, quick: bool) -> Callable[[], Any]:
    """Return the setup of data of that shape, tiny in a quick run."""
    return partial(linear_data, 200 if quick else n, n_features, n_targets)


@benchmark("forest-mtr")
def multi_target(quick: bool) -> list:
    """MTR, 5000 x 100, 16 targets, 100 trees."""
    return against_sklearn("forest-mtr", shape(5000, 100, 16, quick), (4, 2), quick, repetitions=7)


@benchmark("forest-regression-5000")
def regression_small(quick: bool) -> list:
    """Regression, 5000 x 100, 100 trees."""
    return against_sklearn("forest-regression-5000", shape(5000, 100, 1, quick), (4, 4), quick, repetitions=7)


@benchmark("forest-regression-20000")
def regression_middle(quick: bool) -> list:
    """Regression, 20000 x 50, 100 trees."""
    return against_sklearn("forest-regression-20000", shape(20_000, 50, 1, quick), (4, 4), quick)


@benchmark("forest-regression-500000")
def regression_large(quick: bool) -> list:
    """Regression, 500,000 x 50, 20 trees: ranks no longer fit 16 bits."""
    setup = shape(500_000, 50, 1, quick)
    return against_sklearn("forest-regression-500000", setup, (6, 3), quick, n_trees=20)


@benchmark("forest-large-shapes")
def large_shapes(quick: bool) -> list[Figure]:
    """CPU seconds per tree, on one core, without the ranking of features, of shapes that fill memory.

    2,000,000 x 100; 200,000 x 500 with 16 targets; 1,000,000 x 1000 binary features, of which 1 % are not zero.
    """
    n = 300 if quick else 1
    shapes = {
        "2,000,000 x 100": partial(linear_data, 2_000_000 // n, 100, 1),
        "200,000 x 500, 16 targets": partial(linear_data, 200_000 // n, 500, 16),
        "1,000,000 x 1000, sparse": partial(sparse_data, 1_000_000 // n, 1000),
    }
    found = []
    for name, setup in shapes.items():
        for ensemble in ("random-forest", "extra-trees"):
            plan = GrowingData(om.Dataset(*setup()), root_entropy(0)).plan(GrowingRules(ensemble, max_features="sqrt"))
            seconds = _cpu_per_tree(plan, 1 if quick else 3)
            found.append(figure(f"{name}, {ensemble}", seconds, "s"))
    return found


def _ones(size: int) -> np.ndarray:
    return np.ones(size)


def sparse_data(n: int, n_features: int) -> tuple[Any, np.ndarray]:
    """Return binary features, of which 1 % are 1, and a noisy linear target; the first ten features matter."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((n, n_features), density=0.01, rng=rng, format="csr", data_sampler=_ones)
    return X, X[:, :N_RELEVANT].sum(axis=1) + 0.1 * rng.normal(size=n)


def _cpu_per_tree(plan: Any, n_trees: int) -> float:
    """CPU seconds of growing a tree, by the least of some."""
    plan.grow(0)
    seconds = []
    for i in range(n_trees):
        start = time.process_time()
        plan.grow(i)
        seconds.append(time.process_time() - start)
    return min(seconds)


@benchmark("forest-growth-rows")
def growth_with_rows(quick: bool) -> list[Figure]:
    """From 100,000 to 2,000,000 rows x 50, ranking of features included: at most 15 % more than n log n.

    And the share of the memory bandwidth of one core that growing reaches at 500,000 rows: each row of a node reads a
    rank for every feature drawn, of 4 bytes in nodes of more than 65,534 rows, else of 2.
    """
    small, middle, large = (1000, 2000, 4000) if quick else (100_000, 500_000, 2_000_000)
    n_trees = 2 if quick else 4
    ratio = median_ratio(
        partial(rank, linear_data(large, 50, 1), n_trees=n_trees),
        partial(rank, linear_data(small, 50, 1), n_trees=n_trees),
        1 if quick else 3,
    )
    expected = large * np.log(large) / (small * np.log(small))
    plan = GrowingData(om.Dataset(*linear_data(middle, 50, 1)), root_entropy(0)).plan(GrowingRules())
    seconds, tree = _cpu_per_tree(plan, 3), plan.grow(0)
    size = (tree.last - tree.first)[tree.feature >= 0].astype(np.int64)
    n_bytes = plan.settings.max_features * int((size * np.where(size > 65_534, 4, 2)).sum())
    bandwidth = memory_bandwidth(1, mebibytes=8 if quick else 256)
    return [
        figure(f"{small:,} to {large:,} rows, over n log n", ratio / expected, "x", bar=Bar(at_most=1.15)),
        figure("ranks read while growing", n_bytes / seconds / 1e9, "GB/s"),
        figure("share of the memory bandwidth of one core", 100 * n_bytes / seconds / bandwidth, "%"),
    ]


@benchmark("forest-extra-trees")
def extra_trees(quick: bool) -> list:
    """Extra trees that try all features, 100 trees: 5000 x 100, 20,000 x 50, and 5000 x 100 with 16 targets."""
    n_trees = 2 if quick else 100
    all_features = {"ensemble": "extra-trees", "n_trees": n_trees, "max_features": "all"}
    found = []
    for n, n_features, n_targets in ((5000, 100, 1), (20_000, 50, 1), (5000, 100, 16)):
        setup = shape(n, n_features, n_targets, quick)
        contestants = [
            Contestant("omnirank", setup, partial(rank, **all_features), share_found, warm_up=partial(rank_all, setup)),
            Contestant("scikit-learn", setup, partial(sklearn_forest, **all_features), share_found),
        ]
        name = f"forest-extra-trees-{n}x{n_features}" + (f"x{n_targets}" if n_targets > 1 else "")
        bar = Bar(at_least=3.5, against="scikit-learn")
        found.append(compare(name, contestants, repetitions=3, bar=bar, memory=not quick))
    return found


def rank_all(setup: Callable[[], Any]) -> None:
    """Compile what the timed run of `extra_trees` needs."""
    rank(setup(), "extra-trees", n_trees=1, max_features="all")


def load_bibtex() -> Any:
    """Return the bibtex data set."""
    folder = SHARED / "mlc" / "bibtex"
    return om.load(folder / "bibtex.arff.gz", labels=folder / "bibtex.xml")


def sklearn_on_dense(dataset: Any, n_trees: int = 100) -> Any:
    """Fit scikit-learn's forest on the densified data."""
    return sklearn_forest((dataset.X.toarray(), dataset.target.dense()), n_trees=n_trees)


@benchmark("forest-bibtex")
def bibtex(quick: bool) -> list:
    """MLC, bibtex (7395 x 1836 sparse, 159 labels), 100 trees; scikit-learn gets the densified data."""
    if not SHARED.is_dir():
        return []
    few = {"n_trees": 1 if quick else 100}
    contestants = [
        Contestant("omnirank", load_bibtex, partial(rank, **few), warm_up=partial(rank_once, load_bibtex)),
        Contestant("scikit-learn on dense data", load_bibtex, partial(sklearn_on_dense, **few)),
        Contestant(
            "omnirank extra trees",
            load_bibtex,
            partial(rank, ensemble="extra-trees", **few),
            warm_up=partial(rank_once, load_bibtex, ensemble="extra-trees"),
        ),
    ]
    bar = Bar(at_least=20, against="scikit-learn on dense data")
    return [compare("forest-bibtex", contestants, repetitions=3, bar=bar, memory=not quick)]


def load_gene_ontology() -> Any:
    """Return the training part of cellcycle_GO."""
    return om.load(SHARED / "hmlc" / "cellcycle_GO" / "cellcycle_GO.train.arff.gz")


@benchmark("forest-gene-ontology")
def gene_ontology(quick: bool) -> list:
    """HMLC, cellcycle_GO (train part, 4125 classes), 100 trees: under 1 s and 1 GB."""
    if not SHARED.is_dir():
        return []
    few = {"n_trees": 1 if quick else 100}
    contestants = [
        Contestant(
            "omnirank", load_gene_ontology, partial(rank, **few), warm_up=partial(rank_once, load_gene_ontology)
        ),
        Contestant(
            "omnirank extra trees",
            load_gene_ontology,
            partial(rank, ensemble="extra-trees", **few),
            warm_up=partial(rank_once, load_gene_ontology, ensemble="extra-trees"),
        ),
    ]
    result = compare("forest-gene-ontology", contestants, repetitions=5, memory=not quick)
    return [result, figure("cellcycle_GO, wall time", result.timings[0].median, "s", bar=Bar(at_most=1.0))]


@benchmark("forest-permutation")
def permutation(quick: bool) -> list:
    """The permutation score on top of growing, 100 features: at most as long as growing."""
    data = linear_data(200 if quick else 5000, 100, 1)
    n_trees = 2 if quick else 100
    growing = median_seconds(partial(rank, data, n_trees=n_trees))
    both = median_seconds(partial(rank, data, n_trees=n_trees, importance="permutation"))
    return [figure("permutation score / growing", (both - growing) / growing, "x", bar=Bar(at_most=1.0))]


@benchmark("forest-growth")
def growth(quick: bool) -> list[Figure]:
    """What doubling the examples, the features or the dense targets costs."""
    size, n_trees = (200, 2) if quick else (5000, 100)

    def fit(n: int, n_features: int, n_targets: int) -> Callable[[], Any]:
        return partial(rank, linear_data(n, n_features, n_targets), n_trees=n_trees)

    base = fit(size, 100, 16)
    costs = {
        "twice the examples": (fit(2 * size, 100, 16), base, 2.3),
        "twice the features": (fit(size, 200, 16), base, 1.5),
        "twice the targets, 64 to 128": (fit(size, 100, 128), fit(size, 100, 64), 2.05),
    }
    repetitions = 1 if quick else 9
    return [
        figure(name, median_ratio(twice, once, repetitions), "x", bar=Bar(at_most=bar))
        for name, (twice, once, bar) in costs.items()
    ]


@benchmark("forest-peak-share")
def peak_share(quick: bool) -> list[Figure]:
    """Share of the arithmetic peak that the split search reaches at 116 dense columns, on one core.

    Each row of a node costs, for every feature drawn, one addition, one multiplication and one addition a column
    (the running sum and its square).
    """
    X, y = linear_data(200 if quick else 5000, 100, 116)
    plan = GrowingData(om.Dataset(X, y), root_entropy(0)).plan(GrowingRules())
    trees = [plan.grow(i) for i in range(3)]
    start = time.perf_counter()
    for i in range(len(trees)):
        plan.grow(i)
    seconds = time.perf_counter() - start
    rows = sum(int((t.last - t.first)[t.feature >= 0].astype(np.int64).sum()) for t in trees)
    flops = rows * plan.settings.max_features * 3 * 120  # 116 columns, padded to 120
    peak = arithmetic_peak("float64", 1, rounds=200 if quick else 20_000)
    return [
        figure("split search at 116 columns", flops / seconds / 1e9, "Gflop/s"),
        figure("share of the float64 peak of one core", 100 * flops / seconds / peak, "%"),
    ]
