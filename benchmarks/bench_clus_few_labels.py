"""Semi-supervised rankings beside CLUS: how well Symbolic scores agree, one example in five labelled.

Two rules of CLUS's semi-supervised trees are not ours, so agreement is measured twice: as we rank, and with its rules.

* CLUS splits no node whose labelled examples weigh less than two leaves, or all have the same target. That leaves out
  most of what unlabelled examples tell where labels are few. Trees that are grown without the rule and then cut where
  it holds are the trees that are grown with it, because it looks at nothing but the node.
* In CLUS a class or label that is known for a share r of the examples counts r times as much as a number does that is
  known for as many, so that w stands for w r / (w r + 1 - w). Here w means the same for every kind of target.

CLUS's Genie3 sums the gains of all attributes in their own units, and is not compared.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

import omnirank as om
from benchmarks import Bar, Figure, benchmark, figure
from benchmarks._clus import SHARED, SLACK, arff_lines, call_clus, clus_jar, read_scores
from benchmarks.bench_clus import CASES
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.ensembles.scores import ScoredTree, ScoreOptions, symbolic
from omnirank.trees.prototypes import membership
from omnirank.trees.pruning import without_subtrees

NAMES = ("wq", "emotions", "ionosphere", "mortgage")
LEVELS = (0.0, 0.5, 1.0)
SHARE_LABELLED = 0.2
SEEDS = (1, 2, 3, 4)
# CLUS's MinimalWeight, our min_samples_leaf
LEAST = 2
DEPTH_WEIGHT = 0.5
# Trees that start alike: CLUS estimates the variance of a branch with one labelled example or none in its own way.
LEAST_SAME = 0.85


@dataclass(frozen=True)
class Problem:
    """Partly labelled data, the folder in which CLUS works on them, and the size of the forests."""

    name: str
    data: om.Dataset
    folder: Path
    n_trees: int


def settings(problem: Problem, level: float, seed: int, further: Sequence[str]) -> str:
    """Return a settings file."""
    n, t = problem.data.n_features, problem.data.n_targets
    lines = [
        "[General]",
        f"RandomSeed = {seed}",
        "[Data]",
        "File = data.arff",
        "[Attributes]",
        f"Descriptive = 1-{n}",
        f"Target = {n + 1}-{n + t}",
        f"Clustering = 1-{n + t}",
        "[Model]",
        f"MinimalWeight = {LEAST}",
        "[Tree]",
        "Heuristic = VarianceReduction",
        "[SemiSupervised]",
        "SemiSupervisedMethod = PCT",
        f"PossibleWeights = {level}",
        *further,
    ]
    if problem.data.task == "multi-label":
        lines += ["[Multilabel]", "MultiLabelRankingMeasure = HammingLoss"]
    return "\n".join(lines) + "\n"


def clus_scores(problem: Problem, level: float, seed: int) -> np.ndarray:
    """Return CLUS's Symbolic scores."""
    forest = [
        "[Ensemble]",
        "EnsembleMethod = RForest",
        f"Iterations = {problem.n_trees}",
        "SelectRandomSubspaces = SQRT",
        "FeatureRanking = Symbolic",
        f"SymbolicWeight = {DEPTH_WEIGHT}",
        "SortRankingByRelevance = No",
        "NumberOfThreads = 1",
    ]
    file = f"runTrees{problem.n_trees}Symbolic.fimp"
    call_clus(problem.folder, settings(problem, level, seed, forest), ["-forest", "-ssl"], [file])
    return read_scores(problem.folder / file, problem.data.n_features)


def our_scores(problem: Problem, level: float, seed: int) -> np.ndarray:
    """Return our Symbolic scores, with the settings of CLUS."""
    ranker = om.EnsembleRanker(
        "symbolic",
        n_trees=problem.n_trees,
        min_samples_leaf=LEAST,
        symbolic_weight=DEPTH_WEIGHT,
        supervision=level,
        random_state=seed,
        n_jobs=1,
    )
    ranker._rules = {"tie_break": "first"}
    return ranker.fit(problem.data).ranking_.scores


def scores_by_clus_rules(problem: Problem, level: float, seed: int) -> np.ndarray:
    """Return the Symbolic scores of our trees, stopped where CLUS stops, at the level that CLUS's one stands for."""
    data = problem.data
    level = level_of_clus(data, level)
    rules = GrowingRules(min_samples_leaf=LEAST, tie_break="first", supervision=level)
    plan = GrowingData(data, seed).plan(rules)
    options = ScoreOptions(symbolic_weight=DEPTH_WEIGHT)
    total = np.zeros(data.n_features)
    for i in range(problem.n_trees):
        grown = plan.grow(i)
        tree = ScoredTree(plan, without_subtrees(grown, stopped(grown, data)), options=options)
        total += symbolic(tree).row
    return total / problem.n_trees


def level_of_clus(data: om.Dataset, level: float) -> float:
    """Return the level that CLUS's one stands for."""
    if data.task not in ("classification", "multi-label"):
        return level
    share = float(data.labelled.mean())
    return level * share / (level * share + 1 - level)


def stopped(grown: Any, data: om.Dataset) -> np.ndarray:
    """Return which nodes CLUS does not split: few labelled examples, or the same target in all of them."""
    assert data.target is not None
    labelled = data.labelled
    values = np.where(labelled[:, None], data.target.dense(), 0.0)
    members = membership(grown, np.arange(len(grown.feature)), data.n_examples)
    known = members @ labelled.astype(float)
    sums, squares = members @ values, members @ values**2
    scatter = squares * known[:, None] - sums**2
    same = (scatter <= 1e-9 * np.maximum(squares * known[:, None], 1e-300)).all(axis=1)
    return (grown.feature < 0) | (known < 2 * LEAST) | same


def correlations(pairs: Iterable[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return Spearman's correlation of each pair."""
    from scipy.stats import spearmanr

    return np.array([spearmanr(one, other).statistic for one, other in pairs])


def agreements(problem: Problem, level: float, seeds: tuple[int, ...]) -> list[Figure]:
    """Return means over all pairs of seeds: of CLUS, ours with CLUS's, and with CLUS's rules."""
    theirs = [clus_scores(problem, level, seed) for seed in seeds]
    among = correlations(combinations(theirs, 2))
    bar = Bar(at_least=round(among.mean() - SLACK, 3))
    label = f"{problem.name}, w = {level:g}"

    def agreement(what: str, rank: Any, bar: Bar | None) -> Figure:
        found = correlations(product([rank(problem, level, seed) for seed in seeds], theirs))
        return figure(f"{label}: {what}", found.mean(), "Spearman", bar=bar, spread=np.ptp(found) / 2)

    figures = [figure(f"{label}: two seeds of CLUS", among.mean(), "Spearman", spread=np.ptp(among) / 2)]
    if level == 1:  # labelled examples only: there is nothing to adjust
        return [agreement("omnirank and CLUS", our_scores, bar), *figures]
    figures.insert(0, agreement("omnirank with its rules, and CLUS", scores_by_clus_rules, bar))
    return [agreement("omnirank and CLUS", our_scores, None), *figures]


# -- first tests --------------------------------------------------------------------------------------------


def first_tests(name: str, data: om.Dataset, folder: Path, n_subsets: int) -> list[Figure]:
    """Return how often single trees start with CLUS's test: at the level that its one stands for, and at its one."""
    found = []
    for number, level in product(range(n_subsets), (0.5, 0.8)):
        rng = np.random.default_rng(number)
        part = data.take(np.sort(rng.permutation(data.n_examples)[:200]))
        features = part.features.select(np.sort(rng.permutation(data.n_features)[:8]))
        part = om.Dataset(features, part.target, task=data.task).keep_labels(SHARE_LABELLED, random_state=number)
        theirs = clus_division(prepared(f"{name}-{number}-{level:g}", part, folder, 1), level)
        found.append([(our_division(part, w) == theirs).mean() for w in (level_of_clus(part, level), level)])
    # thresholds are printed with few digits, and either side may be called the first
    same = np.abs(np.array(found) - 0.5) > 0.49
    figures = [figure(f"{name}: same first test", same[:, 0].mean(), "share of trees", bar=Bar(at_least=LEAST_SAME))]
    if data.task in ("classification", "multi-label"):
        figures.append(figure(f"{name}: same first test, with CLUS's w as ours", same[:, 1].mean(), "share of trees"))
    return figures


def clus_division(problem: Problem, level: float) -> np.ndarray:
    """Return on which side of the first test of CLUS's tree the examples are."""
    shown = ["[Constraints]", "MaxDepth = 2", "[Output]", "ShowModels = [Default, Pruned, Others, Original]"]
    call_clus(problem.folder, settings(problem, level, 1, shown), ["-ssl"], ["run.out"])
    test = re.search(r"Original Model\n\*+\n\nx(\d+) > (\S+)", (problem.folder / "run.out").read_text())
    if test is None:
        raise RuntimeError(f"CLUS grew no tree on {problem.name}")
    return problem.data.features.column(int(test[1]) - 1) > float(test[2])


def our_division(data: om.Dataset, level: float) -> np.ndarray:
    """Return on which side of the first test of our tree the examples are."""
    rules = GrowingRules(max_features=1.0, bootstrap=False, max_depth=1, tie_break="first", supervision=level)
    grown = GrowingData(data, 0).plan(rules).grow(0)
    right, side = grown.right[0], np.zeros(data.n_examples, bool)
    side[grown.rows[grown.first[right] : grown.last[right]].astype(int)] = True
    return side


def prepared(name: str, data: om.Dataset, folder: Path, n_trees: int) -> Problem:
    """Write the data as CLUS reads them, in a folder of their own."""
    work = folder / name
    work.mkdir()
    (work / "data.arff").write_text("\n".join(arff_lines(data)) + "\n")
    return Problem(name, data, work, n_trees)


@benchmark("clus-few-labels")
def clus_few_labels(quick: bool) -> list[Figure]:
    """Agreement with CLUS, one example in five labelled: Symbolic scores of 100 trees at w = 0, 0.5 and 1."""
    jar = clus_jar()
    present = [case for case in CASES if case.name in NAMES and (SHARED / case.file).exists()]
    if isinstance(jar, str) or not present:
        print(f"    skipped: {jar if isinstance(jar, str) else 'the benchmark data are not beside the checkout'}")
        return []
    found: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        for case in [c for c in present if c.name == "ionosphere"] if quick else present:
            whole = om.load(SHARED / case.file, **case.options)
            data = whole.keep_labels(SHARE_LABELLED, random_state=0)
            problem = prepared(case.name, data, Path(folder), 5 if quick else 100)
            for level in (0.5,) if quick else LEVELS:
                found += agreements(problem, level, SEEDS[:2] if quick else SEEDS)
            found += first_tests(case.name, whole, Path(folder), 1 if quick else 4)
    return found
