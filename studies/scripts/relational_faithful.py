"""How much folds and conventions matter for relational accuracies and rankings.

    python studies/scripts/relational_faithful.py FACTS [folds] [conventions] [ties] [models]

FACTS is the folder of `relational.py`, with the fold files of the re3py repository as ``SET.folds`` and its recorded
rankings of UWCSE (``results/bagging/uwcse/fold*/results/experiment_genie3.txt``) as ``uwcse_genie3_0.txt`` and so on.
Writes studies/results/relational_folds.csv, relational_conventions.csv, relational_ties.csv and relational_models.csv.
"""

from __future__ import annotations

import argparse
import re
import time
import warnings
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd

from omnirank.evaluation.cross import evaluate_relational
from omnirank.evaluation.folds import Fold, read_folds
from omnirank.relational import (
    RelationalBoosting,
    RelationalDataset,
    RelationalForest,
    RelationalRanker,
    RelationalTree,
)
from omnirank.relational.candidates import Candidates
from relational import FIGURES, LONGEST, SEED, from_facts

TREES = 50
SETS = ("uwcse", "muta188", "carcinogenesis", "webkb")


def entries(facts: Path, name: str, data: RelationalDataset) -> list[list[int]]:
    """Rows of the published folds, with entries that are repeated."""
    row = {str(one): i for i, one in enumerate(data.example_ids)}
    parts: list[list[int]] = [[]]
    for line in (facts / f"{name}.folds").read_text().splitlines():
        if set(line.strip()) == {"|"}:
            parts.append([])
        elif line.strip() and not line.startswith("|"):
            parts[-1].append(row[line.strip()])
    return [part for part in parts if part]


def published(facts: Path, name: str, data: RelationalDataset) -> list[Fold]:
    """The published folds as they stand: all entries of the other folds train, also those that test."""
    parts = entries(facts, name, data)
    trains = [np.concatenate([np.array(o) for j, o in enumerate(parts) if j != i]) for i in range(len(parts))]
    return [Fold(t, np.array(p), None, f"fold={i}") for i, (t, p) in enumerate(zip(trains, parts, strict=True))]


def accuracy(model: object, data: RelationalDataset, **folds: object) -> tuple[float, float]:
    """Mean accuracy and its standard error over folds."""
    found = evaluate_relational({"model": model}, data, random_state=SEED, **folds).summary
    row = found[(found["model"] == "model") & (found["measure"] == "accuracy")].iloc[0]
    return round(row["value"], 4), round(row["standard_error"], 4)


def by_folds(facts: Path) -> pd.DataFrame:
    """Accuracies on published folds, on these without what is tested, and on folds that are a partition."""
    rows = []
    for name in SETS:
        data = from_facts(facts, name)
        parts = entries(facts, name, data)
        kinds = {
            "published": published(facts, name, data),
            "without leak": read_folds(facts / f"{name}.folds", data.example_ids),
        }
        leaked = [np.isin(fold.test, fold.train).mean() for fold in kinds["published"]]
        for preset in ("AGG-All", "NO-Rel"):
            model = RelationalForest(
                n_trees=TREES, aggregates=preset, max_path_length=LONGEST.get(name, 4), random_state=SEED
            )
            for kind, folds in [*kinds.items(), ("own", None)]:
                value = accuracy(model, data, **({"n_folds": 10} if folds is None else {"folds": folds}))
                leak = round(float(np.mean(leaked)), 3) if kind == "published" else 0.0
                entry = sum(map(len, parts)), len({row for part in parts for row in part})
                rows.append((name, preset, kind, *value, leak, *entry))
                print(rows[-1], flush=True)
    return pd.DataFrame(
        rows, columns=["set", "preset", "folds", "accuracy", "standard_error", "leak", "entries", "distinct"]
    )


def recorded(facts: Path, fold: int) -> dict[str, float]:
    """The recorded Genie3 scores of the relations."""
    text = (facts / f"uwcse_genie3_{fold}.txt").read_text()
    text = text[text.index("Attributes summed") : text.index("Aggregators")]
    return {found[1]: float(found[2]) for found in re.finditer(r"^(\S+) *: *([\d.e+-]+) ;", text, re.MULTILINE)}


def by_conventions(facts: Path) -> pd.DataFrame:
    """Agreement with the recorded rankings of UWCSE, each convention switched to ours in turn."""
    data = from_facts(facts, "uwcse")
    theirs = {"share": "all", "max_path_length": 2, "tie_break": "first"}
    fresh = {n: [tuple("new" if w == "any" else w for w in m) for m in ways] for n, ways in data.modes.items()}
    changes = {
        "all as recorded": {}, "ties: shared": {"tie_break": "share"}, "ties: random": {"tie_break": "random"},
        "order: shuffled": {"shuffled": 1},
        "new is never known": {"modes": fresh},
        "credit: new part only": {"share": "new"}, "paths of four steps": {"max_path_length": 4},
        "training without the tested": {"clean": True},
        "all ours": {"share": "new", "max_path_length": 4, "tie_break": "share", "clean": True},
    }  # fmt: skip
    rows = []
    for name, change in changes.items():
        given = theirs | change
        folds = read_folds(facts / "uwcse.folds", data.example_ids) if given.pop("clean", False) else None
        order = Shuffled(given.pop("shuffled")) if "shuffled" in given else nullcontext()
        found = []
        for i, fold in enumerate(folds or published(facts, "uwcse", data)):
            ranker = RelationalRanker("genie3", n_trees=TREES, random_state=i, **given)
            with order:
                ranking = ranker.fit(data.take(fold.train)).ranking_
            known = recorded(facts, i)
            found.append([ranking.scores, [known.get(relation, 0.0) for relation in ranking.names]])
        scores = np.array(found)
        scores /= scores.sum(axis=2, keepdims=True)
        own = [np.corrcoef(*pair)[0, 1] for pair in scores]
        mean = scores.mean(axis=0)
        moved = np.abs(mean[0] - mean[1]).sum() / 2
        rows.append((name, *np.round([np.corrcoef(*mean)[0, 1], min(own), moved], 3)))
        print(rows[-1], flush=True)
    return pd.DataFrame(rows, columns=["convention", "pearson", "smallest_of_folds", "total_variation"])


class Shuffled:
    """Candidates of nodes in another order."""

    def __init__(self, seed: int) -> None:
        self.seed, self.plain = seed, Candidates.by_path

    def __enter__(self) -> None:
        plain, seed = self.plain, self.seed

        def by_path(own: Candidates, inherited: object) -> object:
            groups, is_cut = plain(own, inherited)
            return [groups[i] for i in np.random.default_rng(seed).permutation(len(groups))], is_cut

        Candidates.by_path = by_path

    def __exit__(self, *_: object) -> None:
        Candidates.by_path = self.plain


def by_ties(facts: Path) -> pd.DataFrame:
    """Total variation between rankings: of shuffled candidates with the same bootstraps, and of another seed."""
    rows = []
    for name in SETS[:3]:
        for tie_break in ("first", "random", "share"):
            scores = []
            for shuffle, seed in [(0, 0), (1, 0), (2, 0), (3, 0), (0, 1)]:
                data = from_facts(facts, name)  # caches hold the order
                ranker = RelationalRanker("genie3", n_trees=TREES, tie_break=tie_break, random_state=seed)
                if shuffle:
                    with Shuffled(shuffle):
                        found = ranker.fit(data).ranking_.scores
                else:
                    found = ranker.fit(data).ranking_.scores
                scores.append(found / found.sum())
            moved = [round(float(np.abs(scores[0] - other).sum() / 2), 3) for other in scores[1:]]
            rows.append((name, tie_break, max(moved[:3]), moved[3]))
            print(rows[-1], flush=True)
    return pd.DataFrame(rows, columns=["set", "tie_break", "shuffled", "another_seed"])


def by_models(facts: Path) -> pd.DataFrame:
    """Single trees, forests and boosting on our folds."""
    rows = []
    for name in SETS[:3]:
        data = from_facts(facts, name)
        models = {
            "tree": RelationalTree(random_state=SEED), "bagging": RelationalForest(n_trees=TREES, random_state=SEED),
            "random forest": RelationalForest("random-forest", n_trees=TREES, random_state=SEED),
            "boosting": RelationalBoosting(n_trees=TREES, random_state=SEED),
        }  # fmt: skip
        for kind, model in models.items():
            start = time.process_time()
            rows.append((name, kind, *accuracy(model, data), round(time.process_time() - start, 1)))
            print(rows[-1], flush=True)
    return pd.DataFrame(rows, columns=["set", "model", "accuracy", "standard_error", "cpu_seconds"])


PARTS = {"folds": by_folds, "conventions": by_conventions, "ties": by_ties, "models": by_models}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("facts", type=Path)
    parser.add_argument("parts", nargs="*")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # folds that are no partition, candidates that are sampled
    for part in given.parts or PARTS:
        PARTS[part](given.facts).to_csv(FIGURES / f"relational_{part}.csv", index=False)
