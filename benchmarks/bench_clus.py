"""Rankings and times beside CLUS, the Java system in which these rankings were first written.

CLUS is not part of omnirank: its jar is taken from the wheel ``pyclus`` with ``pip download``, into a temporary folder.
Its whole run is timed, start of the virtual machine and reading included, as its users wait for it; of omnirank the
fit. Rankings of two CLUS seeds say how well any implementation can agree with one of them.
"""

from __future__ import annotations

import ast
import gzip
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import omnirank as om
from benchmarks import Bar, Comparison, Contestant, Figure, benchmark, compare, figure

SHARED = Path(__file__).parents[2] / "shared" / "data"
CACHE = Path(tempfile.gettempdir()) / "omnirank-benchmark-clus"
WHEEL = "pyclus==1.0.2"
WORKERS = 2
SEEDS = (1, 2)
SCORES = ("Genie3", "Symbolic")
# "As closely as two seeds of CLUS agree", up to the noise of one pair of seeds.
SLACK = 0.05
# What CLUS's forests need to be opened of Java 17.
OPENED = [
    *(f"java.base/java.{name}" for name in ("lang", "lang.ref", "lang.reflect", "util", "util.concurrent")),
    *(f"java.base/java.util.{name}" for name in ("concurrent.atomic", "concurrent.locks", "regex", "stream")),
    *(f"java.base/java.{name}" for name in ("util.function", "text", "math", "io", "net", "nio", "time")),
    "java.base/java.nio.charset",
    "java.base/sun.nio.cs",
    "java.base/jdk.internal.misc",
    "java.logging/java.util.logging",
]


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


@cache
def clus_jar() -> Path | str:
    """Return the path of the jar, or why there is none."""
    if shutil.which("java") is None:
        return "java is not installed"
    jar = CACHE / "clus.jar"
    if jar.exists():
        return jar
    CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, WHEEL]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return f"{WHEEL} cannot be downloaded"
        [wheel] = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as content:
            content.extract("clus/clus.jar", folder)
        Path(folder, "clus", "clus.jar").replace(jar)
    return jar


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


def arff_lines(data: om.Dataset) -> list[str]:
    """Dense ARFF with plain names: x1, x2, ... and t1, t2, ..."""
    table, target = data.features, data.target
    kinds, columns = [], []
    for f, levels in enumerate(table.levels):
        cells = table.column(f)
        kinds.append((f"x{f + 1}", None if levels is None else [f"v{k}" for k in range(len(levels))]))
        columns.append([_cell(value, levels is not None, "v") for value in cells])
    values = target.dense()
    for j, levels in enumerate(target.levels):
        nominal = levels is not None or target.is_labels
        size = 2 if target.is_labels else len(levels or ())
        prefix = "" if target.is_labels else "c"
        kinds.append((f"t{j + 1}", [f"{prefix}{k}" for k in range(size)] if nominal else None))
        columns.append([_cell(value, nominal, prefix) for value in values[:, j]])
    header = [f"@attribute {name} {'numeric' if k is None else '{' + ','.join(k) + '}'}" for name, k in kinds]
    rows = [",".join(cells) for cells in zip(*columns, strict=True)]
    return ["@relation data", *header, "@data", *rows]


def _cell(value: Any, nominal: bool, prefix: str) -> str:
    if np.isnan(value) or (nominal and value < 0):
        return "?"
    return f"{prefix}{int(value)}" if nominal else repr(float(value))


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
    (problem.folder / "run.s").write_text(settings(problem, seed))
    opened = [f"--add-opens={package}=ALL-UNNAMED" for package in OPENED]
    command = ["java", "-Xmx12G", *opened, "-jar", str(clus_jar()), "-forest", "run.s"]
    done = subprocess.run(command, cwd=problem.folder, capture_output=True, text=True, check=False)
    files = {score: problem.folder / f"runTrees{problem.n_trees}{score}.fimp" for score in SCORES}
    if done.returncode or not all(file.exists() for file in files.values()):
        raise RuntimeError(f"CLUS failed on {problem.name}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    found = {score: read_scores(file, problem.data.n_features) for score, file in files.items()}
    problem.rankings[seed] = found
    return found


def read_scores(path: Path, n_features: int) -> np.ndarray:
    """Read the scores of a .fimp file, in the order of the features."""
    scores = np.zeros(n_features)
    lines = path.read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("---")) + 1
    for line in lines[start:]:
        if line.strip():
            cells = line.split("\t")
            scores[int(cells[0]) - 1] = ast.literal_eval(cells[-1])[0]
    return scores


# -- the comparison -----------------------------------------------------------------------------------------


def rank(problem: Problem, score: str = "permutation", seed: int = 0) -> Any:
    """Rank with the settings of CLUS."""
    ranker = om.EnsembleRanker(
        score,
        n_trees=problem.n_trees,
        symbolic_weight=0.5,
        tie_break="first",
        nominal_tests="greedy",
        normalize_targets=problem.data.hierarchy is None,
        random_state=seed,
        n_jobs=WORKERS,
    )
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
