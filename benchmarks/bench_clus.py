"""Rankings and times beside CLUS, the Java system in which these rankings were first written.

Its whole run is timed, start of the virtual machine and reading included, as its users wait for it; of omnirank the
fit. Rankings of two CLUS seeds say how well any implementation can agree with one of them.
"""

from __future__ import annotations

import gzip
import shutil
import tempfile
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import omnirank as om
from benchmarks import Bar, Comparison, Contestant, Figure, benchmark, compare, figure
from benchmarks._clus import SHARED, SLACK, arff_lines, call_clus, clus_jar, read_scores

WORKERS = 2
SEEDS = (1, 2)
SCORES = ("Genie3", "Symbolic")


@dataclass(frozen=True)
class Case:
    """A data set: its file, how it is read, and how many times as long CLUS should take."""

    name: str
    file: str
    options: dict[str, Any]
    bar: float


CASES = (
    Case("wq", "mtr/wq.arff.gz", {"target": "last:14"}, 5),
    Case("emotions", "mlc/emotions/emotions.arff.gz", {"labels": SHARED / "mlc/emotions/emotions.xml"}, 5),
    Case("flags", "mlc/flags/flags.arff", {"labels": SHARED / "mlc/flags/flags.xml"}, 5),
    Case("church_FUN", "hmlc/church_FUN/church_FUN.train.arff.gz", {}, 50),
    Case("ionosphere", "classification/ionosphere.arff", {"target": "last"}, 5),
    Case("mortgage", "regression/mortgage.csv", {"target": "1"}, 5),
)


# -- running CLUS -------------------------------------------------------------------------------------------


@dataclass
class Problem:
    """A data set, the folder in which CLUS works on it, and the rankings it has given, by seed and score."""

    name: str
    data: om.Dataset
    folder: Path
    n_trees: int
    runs: int = 0
    rankings: dict[int, dict[str, np.ndarray]] = field(default_factory=dict)


def prepare(case: Case, folder: Path, n_trees: int) -> Problem:
    """Read the data and write them as CLUS reads them."""
    path = SHARED / case.file
    data = om.load(path, **case.options)
    work = folder / case.name
    work.mkdir()
    arff = work / f"{case.name}.arff"
    if data.hierarchy is not None:  # CLUS's own format already
        with gzip.open(path, "rb") as source, arff.open("wb") as copy:
            shutil.copyfileobj(source, copy)
    else:
        arff.write_text("\n".join(arff_lines(data)) + "\n")
    return Problem(case.name, data, work, n_trees)


def settings(problem: Problem, seed: int) -> str:
    """Return the settings file of a run."""
    n, t = problem.data.n_features, problem.data.n_targets
    hierarchy = problem.data.hierarchy
    target = f"{n + 1}-{n + t}" if hierarchy is None else str(n + 1)
    lines = [
        "[General]",
        f"RandomSeed = {seed}",
        "[Data]",
        f"File = {problem.name}.arff",
        "[Attributes]",
        f"Descriptive = 1-{n}",
        f"Target = {target}",
        "[Tree]",
        "Heuristic = VarianceReduction",
        "[Ensemble]",
        "EnsembleMethod = RForest",
        f"Iterations = {problem.n_trees}",
        "SelectRandomSubspaces = SQRT",
        "FeatureRanking = [Genie3,Symbolic,RForest]",
        "SymbolicWeight = 0.5",
        "SortRankingByRelevance = No",
        f"NumberOfThreads = {WORKERS}",
    ]
    if hierarchy is not None:
        kind = "Tree" if hierarchy.is_tree else "DAG"
        lines += ["[Hierarchical]", f"Type = {kind}", "HSeparator = /", "WType = ExpAvgParentWeight", "WParam = 0.75"]
    if problem.data.task == "multi-label":
        lines += ["[Multilabel]", "MultiLabelRankingMeasure = HammingLoss"]
    return "\n".join(lines) + "\n"


def run_clus(problem: Problem) -> dict[str, np.ndarray]:
    """Run CLUS with the next seed and return its scores."""
    seed = SEEDS[problem.runs % len(SEEDS)]
    problem.runs += 1
    files = {score: f"runTrees{problem.n_trees}{score}.fimp" for score in SCORES}
    call_clus(problem.folder, settings(problem, seed), ["-forest"], list(files.values()))
    found = {score: read_scores(problem.folder / file, problem.data.n_features) for score, file in files.items()}
    problem.rankings[seed] = found
    return found


# -- the comparison -----------------------------------------------------------------------------------------


def rank(problem: Problem, importance: str = "permutation", seed: int = 0) -> Any:
    """Rank with the settings of CLUS."""
    ranker = om.EnsembleRanker(
        importance,
        n_trees=problem.n_trees,
        symbolic_weight=0.5,
        random_state=seed,
        n_jobs=WORKERS,
    )
    normalized = problem.data.hierarchy is None
    ranker._rules = {"tie_break": "first", "normalize_targets": normalized}
    return ranker.fit(problem.data)


def agreements(problem: Problem) -> list[Figure]:
    """Spearman correlation of our scores with CLUS's, over two seeds each, beside that of two CLUS seeds."""
    from scipy.stats import spearmanr

    first, second = (problem.rankings[seed] for seed in SEEDS)
    own = [rank(problem, "genie3", seed).rankings_ for seed in SEEDS]
    found = []
    for score in SCORES:
        among_clus = spearmanr(first[score], second[score]).statistic
        ours = [
            spearmanr(rankings[score.lower()].scores, theirs[score]).statistic
            for rankings in own
            for theirs in (first, second)
        ]
        label = f"{problem.name}, {score.lower()}"
        found += [
            figure(
                f"{label}: omnirank and CLUS",
                np.mean(ours),
                "Spearman",
                bar=Bar(at_least=round(among_clus - SLACK, 3)),
                spread=np.ptp(ours) / 2,
            ),
            figure(f"{label}: two seeds of CLUS", among_clus, "Spearman"),
        ]
    return found


def compared(problem: Problem, bar: float, quick: bool) -> list[Comparison | Figure]:
    """Time both on one data set, and compare the rankings."""
    same = partial(_same, problem)
    contestants = [
        Contestant("omnirank", same, rank),
        Contestant("CLUS", same, run_clus),
    ]
    times = compare(problem.name, contestants, repetitions=3, bar=Bar(at_least=bar), memory=False)
    return [times] if quick else [times, *agreements(problem)]


def _same(problem: Problem) -> Problem:
    return problem


@benchmark("clus")
def clus(quick: bool) -> list[Comparison | Figure]:
    """Random forests of 100 trees with three scores, beside CLUS: times, and agreement of the rankings."""
    jar = clus_jar()
    present = [case for case in CASES if (SHARED / case.file).exists()]
    if isinstance(jar, str) or not present:
        print(f"    skipped: {jar if isinstance(jar, str) else 'the benchmark data are not beside the checkout'}")
        return []
    found: list[Comparison | Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        for case in [c for c in present if c.name == "flags"] if quick else present:
            problem = prepare(case, Path(folder), 5 if quick else 100)
            found += compared(problem, case.bar, quick)
    return found
