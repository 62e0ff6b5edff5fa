"""Do unlabelled examples improve a ranking, like for like?

    python studies/scripts/few_labels.py DATA [SET ...]
    RULE=1 python studies/scripts/few_labels.py DATA [SET ...]

DATA is the folder of the data sets. Rankings of 30 trees with supervision 1, 0.5 and "auto", for 50, 100, 200 and 500
labelled examples, three folds and two seeds; judged by neighbours among the same labelled examples, and among all
training examples with all their labels ("oracle"). Large sets are cut to 2000 examples. One line per data set, number
of labels, seed and fold is added to few_labels_raw.csv beside this file. With RULE, supervision 1 and "auto" only, one
other seed, and the default score of extra trees beside the random forest, in few_labels_rule_raw.csv.
"""

from __future__ import annotations

import csv
import os
import sys
import time
import warnings
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

import omnirank as om
from omnirank.evaluation.folds import make_folds
from omnirank.evaluation.statistics import clustering_hypothesis

RULE = bool(os.environ.get("RULE"))
LABELLED = (50, 100, 200) if RULE else (50, 100, 200, 500)
MOST_EXAMPLES = 2000
SECONDS_A_SEED = float(os.environ.get("SECONDS_A_SEED", "14"))
SEEDS = (44,) if RULE else (42, 43)
LEVELS = {"supervised": 1, "auto": "auto"} if RULE else {"supervised": 1, "half": 0.5, "auto": "auto"}
FIELDS = (
    "set",
    "task",
    "hypothesis",
    "labelled",
    "seed",
    "fold",
    "variant",
    "score",
    "level",
    "same_examples",
    "oracle",
)
FIELDS += ("seconds",)


def data_sets(folder: Path) -> dict[str, partial]:
    """Return what reads each data set."""
    last = {"target": "last"}
    files = {
        "tic-tac-toe": ("classification/tic-tac-toe.arff", last),
        "page-blocks": ("classification/page-blocks.arff.gz", last),
        "ionosphere": ("classification/ionosphere.arff", last),
        "spambase": ("classification/spambase.arff.gz", last),
        "soybean": ("classification/soybean.arff.gz", last),
        "kr-vs-kp": ("classification/kr-vs-kp.arff.gz", last),
        "phishing": ("classification/phishing.csv.gz", {"target": "last", "nominal": "1-31", "header": False}),
        "mortgage": ("regression/mortgage.csv", {"target": 1}),
        "treasury": ("regression/treasury.csv", {"target": 1}),
        "abalone": ("regression/abalone.arff.gz", last),
        "cpu-act": ("regression/cpu-act.arff.gz", last),
        "pol": ("regression/pol.arff.gz", last),
        "wq": ("mtr/wq.arff.gz", {"target": "last:14"}),
        "edm": ("mtr/edm.arff", {"target": "last:2"}),
        "atp1d": ("mtr/atp1d.arff.gz", {"target": "last:6"}),
        "enb": ("mtr/enb.arff", {"target": "last:2"}),
        "scpf": ("mtr/scpf.arff", {"target": "last:3"}),
        "church": ("hmlc/church_FUN/church_FUN.train.arff.gz", {}),
        "pheno": ("hmlc/pheno_FUN/pheno_FUN.train.arff.gz", {}),
        "imclef07d": ("hmlc/imclef07d/imclef07d.train.arff.gz", {}),
    }
    labels = {"emotions": "emotions", "scene": "scene-train", "genbase": "genbase", "birds": "birds-train"}
    found = {name: partial(om.load, folder / path, **options) for name, (path, options) in files.items()}
    for name, file in labels.items():
        path = folder / "mlc" / name
        ignored = {"ignore": "protein"} if name == "genbase" else {}
        found[name] = partial(om.load, path / f"{file}.arff.gz", labels=path / f"{name}.xml", **ignored)
    found["digits"] = partial(om.datasets.load_sample, "digits")
    return found


def figures(data: om.Dataset, fold: object, seed: int) -> list[dict]:
    """Rank and judge one fold."""
    train, restored, test = fold.training(data), fold.training_with_all_labels(data), fold.testing(data)
    rows = []
    for variant, ensemble in product(LEVELS, ("random-forest", "extra-trees") if RULE else ("random-forest",)):
        start = time.process_time()
        options = {"supervision": LEVELS[variant], "random_state": seed, "n_jobs": 1}
        if ensemble == "extra-trees":
            ranker = om.EnsembleRanker(n_trees=30, **options)
        else:
            ranker = om.EnsembleRanker("genie3", ensemble, 30, **options)
            ranker._rules = {"normalize_targets": True}
        ranker.fit(train)
        seconds = time.process_time() - start
        kept = {"unbiased": ranker.ranking_} if ensemble == "extra-trees" else ranker.rankings_
        for score, ranking in kept.items():
            same = om.evaluate(ranking, train, test)
            oracle = om.evaluate(ranking, restored, test, neighbors="oracle")
            measure = next(iter(same))  # the first is the one by which rankings of the task are judged
            sign = -1 if measure == "rrmse" else 1
            rows.append(
                {
                    "labelled": fold.n_labelled,
                    "seed": seed,
                    "fold": fold.key.split("fold=")[1],
                    "variant": variant,
                    "score": score,
                    "level": ranker.supervision_,
                    "same_examples": f"{sign * same[measure]:.6f}",
                    "oracle": f"{sign * oracle[measure]:.6f}",
                    "seconds": f"{seconds:.3f}",
                }
            )
    return rows


def main(folder: Path, names: list[str], out: Path) -> None:
    """Run the study and add to its figures."""
    warnings.simplefilter("ignore")
    known = data_sets(folder)
    new = not out.exists()
    with out.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if new:
            writer.writeheader()
        for name in names or known:
            data = known[name]()
            if data.n_examples > MOST_EXAMPLES:
                rows = np.random.default_rng(0).permutation(data.n_examples)[:MOST_EXAMPLES]
                data = data.take(np.sort(rows))
            hypothesis = clustering_hypothesis(data, random_state=0)
            counts = [n for n in LABELLED if n < data.n_examples / 2]
            for seed in SEEDS:
                start = time.process_time()
                folds = make_folds(data, "semi-supervised", labelled=counts, n_folds=3, random_state=seed)
                for fold in sorted(folds, key=lambda fold: fold.key.split("fold=")[1]):
                    shared = {"set": name, "task": data.task, "hypothesis": f"{hypothesis:.4f}"}
                    try:
                        found = figures(data, fold, seed)
                    except om.errors.DataError as error:  # all labelled examples of one class
                        print(name, fold.key, error, file=sys.stderr)
                        continue
                    writer.writerows(shared | row for row in found)
                    file.flush()
                    if time.process_time() - start > SECONDS_A_SEED:
                        break


if __name__ == "__main__":
    raw = "few_labels_rule_raw.csv" if RULE else "few_labels_raw.csv"
    main(Path(sys.argv[1]), sys.argv[2:], Path(__file__).with_name(raw))
