"""Single trees and forests with and without unlabelled examples, judged transductively.

    python studies/scripts/ssl_trees.py DATA [SET ...]
    VARIANTS=1 python studies/scripts/ssl_trees.py DATA [SET ...]

DATA is the folder of the data sets. So many examples keep their labels; the others train without and test with them.
One line per data set, number of labels, repetition and model is added to ssl_trees_raw.csv beside this file; with
VARIANTS, of other models and also of hierarchies, to ssl_trees_variants_raw.csv.
"""

from __future__ import annotations

import csv
import os
import re
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import omnirank as om
from omnirank.evaluation.folds import make_folds
from omnirank.measures import measure

LABELLED = (50, 100, 200, 350, 500)
REPETITIONS = 10
SECONDS = float(os.environ.get("SECONDS_A_SET", "200"))
TREE_LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0, "auto", "cv")
FOREST_LEVELS = (0.5, 1.0, "auto")
FILES = {
    "emotions": "emotions.arff.gz",
    "scene": "scene-train.arff.gz",
    "genbase": "genbase.arff.gz",
    "medical": "medical.arff",
    "birds": "birds-train.arff.gz",
    "enron": "enron.arff.gz",
}
DERIVED = ("rivers", "cellcycle")
HIERARCHIES = {
    "enron_corr": "enron_corr.trainvalid",
    "pheno_GO": "pheno_GO.train",
    "cellcycle_GO": "cellcycle_GO.train",
    "diatoms": "diatoms.train",
    "imclef07d": "imclef07d.train",
}
VARIANTS = bool(os.environ.get("VARIANTS"))
# Those of the variants have fewer numbers of labels, and large sets are cut.
VARIANTS_LABELLED = (50, 200, 500)
MOST_EXAMPLES = 2000
FIELDS = ("set", "labelled", "repetition", "model", "supervision", "level", "auprc", "nodes", "gain", "standard_error")
FIELDS += ("seconds",)


def load(folder: Path, name: str) -> om.Dataset:
    """Return a set of labels; of numbers and of a hierarchy, which species occur and the functions at the top."""
    if name in HIERARCHIES:
        data = om.load(folder / "hmlc" / name / f"{HIERARCHIES[name]}.arff.gz")
        rows = np.random.default_rng(0).permutation(data.n_examples)[:MOST_EXAMPLES]
        return data.take(np.sort(rows))
    if name == "rivers":
        data = om.load(folder / "mtr" / "wq.arff.gz", target="last:14")
        return om.Dataset(data.X, (np.asarray(data.y) > 0).astype(int), task="multi-label")
    if name == "cellcycle":
        data = om.load(folder / "hmlc" / "cellcycle_FUN" / "cellcycle_FUN.train.arff.gz")
        top = data.y[:, data.hierarchy.roots].toarray()
        return om.Dataset(data.X, top.astype(int), task="multi-label")
    ignored = {"ignore": "protein"} if name == "genbase" else {}
    return om.load(folder / "mlc" / name / FILES[name], labels=folder / "mlc" / name / f"{name}.xml", **ignored)


def models() -> list[tuple[str, object, object]]:
    """Return kinds, names of levels, and models."""
    if not VARIANTS:
        trees = [("tree", w, om.PCTClassifier(pruning="m5", supervision=w, random_state=0)) for w in TREE_LEVELS]
        return trees + [("forest", w, forest(w)) for w in FOREST_LEVELS]
    options = {"pruning": "m5", "random_state": 0}
    found = [("tree", w, om.PCTClassifier(supervision=w, **options)) for w in (1.0, "cv")]
    weighted = om.PCTClassifier(supervision="cv", feature_weights="auto", **options)
    found += [("tree", "cv, FR", weighted), ("tree", "cv, D+T", om.PCTClassifier(supervision="cv", **options))]
    few = {"levels": [0, 0.25, 0.5, 0.75, 1]}
    return [*found, ("forest", 1.0, forest(1.0)), ("forest", "cv", forest(few))]


def forest(supervision: object) -> om.PCTForestClassifier:
    """Return a forest."""
    return om.PCTForestClassifier(n_trees=50, supervision=supervision, random_state=0, n_jobs=1)


def figures(model: object, train: om.Dataset, test: om.Dataset) -> dict:
    """Fit and judge one model."""
    start = time.process_time()
    model.fit(train)
    seconds = time.process_time() - start
    predicted = model.predict_proba(test)
    judged = {"training": train.target, "task": test.task, "hierarchy": test.hierarchy}
    found = measure(test.target, np.asarray(predicted), **judged)
    curve = model.supervision_curve_
    others = [loss for w, loss in curve.items() if w < 1]
    noise = re.search(r"standard error of the difference (\S+)$", model.supervision_reason_)
    return {
        "level": model.supervision_,
        "auprc": f"{found['pooled_auprc']:.5f}",
        "nodes": model.tree_.n_nodes if hasattr(model, "tree_") else "",
        "gain": f"{curve[1.0] - min(others):.5f}" if 1.0 in curve and others else "",
        "standard_error": noise.group(1) if noise else "",
        "seconds": f"{seconds:.3f}",
    }


def main(folder: Path, names: list[str], out: Path) -> None:
    """Run the study and add to its figures."""
    warnings.simplefilter("ignore")
    new = not out.exists()
    with out.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if new:
            writer.writeheader()
        for name in names or (*FILES, *DERIVED, *(HIERARCHIES if VARIANTS else ())):
            data = load(folder, name)
            start = time.process_time()
            counts = [n for n in (VARIANTS_LABELLED if VARIANTS else LABELLED) if n < data.n_examples - 100]
            folds = make_folds(data, "transductive", labelled=counts, repetitions=REPETITIONS, random_state=0)
            for fold in sorted(folds, key=lambda fold: fold.key.split("repetition=")[1]):
                train, test = fold.training(data), fold.testing(data)
                place = {"set": name, "labelled": fold.n_labelled, "repetition": fold.key.split("repetition=")[1]}
                for kind, w, model in models():
                    if kind == "forest" and name in HIERARCHIES:
                        continue
                    own = train.take(np.flatnonzero(train.labelled)) if w == "cv, D+T" else train
                    writer.writerow(place | {"model": kind, "supervision": w} | figures(model, own, test))
                file.flush()
                if time.process_time() - start > SECONDS:
                    break


if __name__ == "__main__":
    raw = "ssl_trees_variants_raw.csv" if VARIANTS else "ssl_trees_raw.csv"
    main(Path(sys.argv[1]), sys.argv[2:], Path(__file__).with_name(raw))
