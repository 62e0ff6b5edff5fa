"""Ten-fold accuracy of relational bagging with each preset, and the relations that UWCSE's forest ranks first.

    python studies/scripts/relational.py FACTS DATA [SET ...] [--trees 50] [--presets AGG-All ...]

FACTS is a folder of the fact files of the re3py repository (uwcse, webkb, muta188, carcinogenesis:
``*_descriptive.txt``, ``*_target.txt``, ``*.s``), DATA the folder of the data sets. Adds the results of the sets, by
default all, to studies/results/relational.csv in place of older ones of the same settings; UWCSE with 50 trees also
writes relational_uwcse_ranking.csv.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import pandas as pd

from omnirank.evaluation.cross import BASELINE, evaluate_relational
from omnirank.relational import RelationalDataset, RelationalForest, RelationalRanker

FIGURES = Path(__file__).parent.parent / "results"
SETS = ("trains", "mutagenesis_42", "mutagenesis_188", "muta188", "uwcse", "carcinogenesis", "webkb")
PRESETS = ("AGG-All", "AGG-Exist", "NO-Rel")
SEED = 1
LOOKAHEAD = 2
# Pairs of terms of a linked page are hundreds of thousands of tests; most of the published runs had tests of one step.
LONGEST = {"webkb": 2}
PUBLISHED_TREES = 50
KEYS = ["set", "preset", "lookahead", "trees"]


def from_facts(folder: Path, name: str) -> RelationalDataset:
    """Return a set of the re3py repository, within its declared modes and aggregates."""
    files = (folder / f"{name}{end}" for end in ("_descriptive.txt", "_target.txt", ".s"))
    return RelationalDataset.from_facts(*files)


def mutagenesis(folder: Path, name: str) -> RelationalDataset:
    """Return the tables of the molecules; the class is derived from ``act``, types of atoms and bonds are codes."""
    kinds = {"atoms.atom_type": "nominal", "bonds.bond_type": "nominal"}
    return RelationalDataset.from_folder(
        folder / "relational" / name, target="drugs.active", exclude=["drugs.act"], types=kinds
    )


def load(name: str, facts: Path, data: Path) -> RelationalDataset:
    """Return a data set by name."""
    if name.startswith("mutagenesis"):
        return mutagenesis(data, name)
    if name == "trains":
        return RelationalDataset.from_folder(data / "relational" / "trains", target="trains.direction")
    return from_facts(facts, name)


def accuracies(name: str, data: RelationalDataset, preset: str, n_trees: int) -> dict[str, object]:
    """Cross-validate bagging."""
    model = RelationalForest(
        n_trees=n_trees,
        aggregates=preset,
        lookahead=LOOKAHEAD,
        max_path_length=LONGEST.get(name, 4),
        random_state=SEED,
    )
    start = time.process_time()
    found = evaluate_relational({"bagging": model}, data, n_folds=10, random_state=SEED).summary
    seconds = time.process_time() - start
    found = found[found["measure"] == "accuracy"].set_index("model")
    return {
        "set": name,
        "examples": data.n_examples,
        "preset": preset,
        "lookahead": LOOKAHEAD,
        "trees": n_trees,
        "accuracy": round(found.loc["bagging", "value"], 4),
        "standard_error": round(found.loc["bagging", "standard_error"], 4),
        "majority": round(found.loc[BASELINE, "value"], 4),
        "cpu_seconds": round(seconds, 1),
    }


def add(row: dict[str, object], out: Path) -> None:
    """Put a result into the file, in place of an older one of the same settings."""
    new = pd.DataFrame([row])
    if out.exists():
        new = pd.concat([pd.read_csv(out), new]).drop_duplicates(KEYS, keep="last")
    new.to_csv(out, index=False)


def main(given: argparse.Namespace) -> None:
    """Run the study."""
    warnings.simplefilter("ignore")  # NO-Rel has nothing to test on some sets
    for name in given.sets or SETS:
        dataset = load(name, given.facts, given.data)
        if name == "uwcse" and given.trees == PUBLISHED_TREES:
            ranking = RelationalRanker("genie3", n_trees=given.trees, random_state=SEED).fit(dataset).ranking_
            ranking.to_frame().round(3).to_csv(FIGURES / "relational_uwcse_ranking.csv", index=False)
        for preset in given.presets:
            row = accuracies(name, dataset, preset, given.trees)
            print(row, flush=True)
            add(row, FIGURES / "relational.csv")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("facts", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--trees", type=int, default=PUBLISHED_TREES)
    parser.add_argument("--presets", nargs="+", default=PRESETS)
    main(parser.parse_args())
