"""P values of the unbiased score beside Boruta and ranger, and what they cost beside Genie3 on the same trees.

The peers are no dependencies: ``pip install --no-deps --target FOLDER boruta``, and FOLDER in ``PYTHONPATH``; ranger is
asked through ``Rscript`` where that and the R package ranger are installed. What is not there is left out.
"""

from __future__ import annotations

import importlib.util
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import omnirank as om
from benchmarks import Bar, benchmark, figure
from omnirank.core.text import counted

N_TRUE = 13

_RANGER = """
d <- read.csv(commandArgs(TRUE)[1])
r <- ranger::ranger(y ~ ., d, num.trees = 100, importance = "impurity_corrected", num.threads = 1, seed = 0)
cat(proc.time()[["elapsed"]])
"""


def make_data(n: int = 2000, n_features: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of which 13 are relevant, with effects from strong to hardly visible."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, n_features))
    y = X[:, :N_TRUE] @ np.linspace(1.0, 0.1, N_TRUE) + 2 * rng.normal(size=n)
    return X, y


def relevant(data: tuple[Any, Any], n_trees: int = 100) -> set[int]:
    """Features that are relevant by the unbiased score of extra trees (Benjamini-Hochberg)."""
    ranker = om.EnsembleRanker("unbiased", "extra-trees", n_trees=n_trees, random_state=0, n_jobs=1)
    ranking = om.significance(ranker, *data)
    return {ranking.names.index(name) for name in ranking.relevant()}


def boruta(data: tuple[Any, Any], max_iter: int = 100) -> set[int]:
    """Features that BorutaPy confirms, with its recommended forests."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(max_depth=5, n_jobs=1)
    found = BorutaPy(forest, n_estimators="auto", max_iter=max_iter, random_state=0).fit(*data)
    return set(np.flatnonzero(found.support_).tolist())


@benchmark("significance")
def significance(quick: bool) -> list:
    """Relevant features of 2000 x 100: 100 times as fast as Boruta at the same detection, faster than ranger."""
    data = make_data(*((200, 20) if quick else (2000, 100)))
    seconds, found = ours(data, n_trees=5 if quick else 100)
    results: list = [figure("omnirank, 100 trees with p values", seconds, "s"), *detection("omnirank", found)]
    if importlib.util.find_spec("boruta") is None:
        print("BorutaPy is left out: boruta is not installed")
    else:
        start = time.perf_counter()
        confirmed = boruta(data, max_iter=5 if quick else 100)  # once: it takes minutes
        ratio = (time.perf_counter() - start) / seconds
        results.append(figure("BorutaPy / omnirank", ratio, bar=Bar(at_least=100)))
        results += detection("BorutaPy", confirmed)
    of_ranger = ranger_seconds(data)
    if of_ranger is None:
        print("ranger is left out: Rscript or its package ranger is not installed")
    else:
        results.append(
            figure("ranger impurity_corrected, 100 trees / omnirank", of_ranger / seconds, bar=Bar(at_least=1))
        )
    return results


def ours(data: tuple[Any, Any], n_trees: int) -> tuple[float, set[int]]:
    """Median seconds of five warm runs, and the features found."""
    seconds = []
    for _ in range(6):  # the first one compiles
        start = time.perf_counter()
        found = relevant(data, n_trees)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[1:]), found


def detection(name: str, found: set[int]) -> list:
    """How many of the true features are found, and how many others."""
    true = found & set(range(N_TRUE))
    return [figure(f"{name}: true features", len(true)), figure(f"{name}: other features", len(found - true))]


def ranger_seconds(data: tuple[np.ndarray, np.ndarray]) -> float | None:
    """Seconds that ranger takes for corrected importances without p values; None where it is not installed."""
    if shutil.which("Rscript") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        table, script = Path(folder, "data.csv"), Path(folder, "ranger.R")
        names = ",".join(["y", *(f"x{i}" for i in range(data[0].shape[1]))])
        np.savetxt(table, np.column_stack([data[1], data[0]]), delimiter=",", header=names, comments="")
        script.write_text(
            _RANGER.replace("r <-", "invisible(gc()); t0 <- proc.time()[[3]]; r <-").replace(
                'proc.time()[["elapsed"]]', "proc.time()[[3]] - t0"
            )
        )
        done = subprocess.run(["Rscript", str(script), str(table)], capture_output=True, text=True, check=False)
    return float(done.stdout) if done.returncode == 0 else None


@benchmark("significance-cost")
def cost(quick: bool) -> list:
    """CPU time of the unbiased score over Genie3 on the same trees: at most 1.3, with p values 1.6."""
    results = []
    for n, n_features, n_targets in ((2000, 100, 1), (5000, 100, 1), (2000, 100, 16), (20000, 50, 1)):
        for ensemble in ("extra-trees", "random-forest"):
            size = (300, 20, n_targets) if quick else (n, n_features, n_targets)
            without, with_p = cost_ratios(ensemble, *size, n_trees=3 if quick else 20, repetitions=3 if quick else 5)
            name = f"{ensemble} {n} x {n_features}, {counted(n_targets, 'target')}"
            results.append(figure(f"{name}: unbiased / Genie3", without, bar=Bar(at_most=1.3)))
            results.append(figure(f"{name}: with p values", with_p, bar=Bar(at_most=1.6)))
    return results


def cost_ratios(
    ensemble: str, n: int, n_features: int, n_targets: int, n_trees: int, repetitions: int
) -> tuple[float, float]:
    """Medians of CPU times over that of Genie3, in turns: the unbiased score without and with p values."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, n_features))
    y = X[:, :10] @ rng.normal(size=(10, n_targets)) + 2 * rng.normal(size=(n, n_targets))
    seconds: dict[tuple[str, bool], list[float]] = {}
    for _ in range(repetitions + 1):  # the first ones compile
        for importance, p_values in (("genie3", False), ("unbiased", False), ("unbiased", True)):
            ranker = om.EnsembleRanker(importance, ensemble, n_trees, p_values=p_values, random_state=0, n_jobs=1)
            start = time.process_time()
            ranker.fit(X, y[:, 0] if n_targets == 1 else y)
            seconds.setdefault((importance, p_values), []).append(time.process_time() - start)
    genie3, without, with_p = (statistics.median(values[1:]) for values in seconds.values())
    return without / genie3, with_p / genie3
