"""CPU times of semi-supervised rankings, by ensemble and for Relief.

    python studies/scripts/few_labels_times.py

The data are those of plans/few_labels_ensembles.toml, halves of which train: with 50 labels, and with 500 or half of
what there is. One worker; the least of three fits after one that is not counted. Writes
studies/results/few_labels_times.csv.
"""

from __future__ import annotations

import time
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import omnirank as om
from omnirank.evaluation.experiments import read_plan
from omnirank.evaluation.experiments.fit import load_source

HERE = Path(__file__).resolve().parent
PLAN = HERE.parent / "plans" / "few_labels_ensembles.toml"


def models() -> dict[str, object]:
    """Return the rankings of the plan that use unlabelled examples."""
    found = {}
    for method in tomllib.loads(PLAN.read_text())["method"]:
        level, name = method["name"].split()
        if level == "SSL":
            options = method["parameters"] | {"random_state": 0, "n_jobs": 1}
            found[name] = om.ReliefRanker(**options) if name == "Relief" else om.EnsembleRanker("genie3", **options)
    return found


def main() -> None:
    """Measure and write."""
    warnings.simplefilter("ignore")
    rows = []
    for entry in read_plan(PLAN).data:
        data = load_source(entry.source).dataset
        order = np.random.default_rng(0).permutation(data.n_examples)
        train = data.take(np.sort(order[: data.n_examples // 2]))
        for words, labelled in (("few", 50), ("many", min(500, train.n_examples // 2))):
            part = train.keep_labels(labelled, random_state=0)
            for name, model in models().items():
                times = []
                for _ in range(4):
                    start = time.process_time()
                    model.fit(part)
                    times.append(time.process_time() - start)
                rows.append({"set": entry.name, "labels": words, "ranking": name, "seconds": round(min(times[1:]), 4)})
    pd.DataFrame(rows).to_csv(HERE.parent / "results" / "few_labels_times.csv", index=False)


if __name__ == "__main__":
    main()
