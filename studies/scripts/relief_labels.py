"""Which distance of label sets should Relief use by default?

    python studies/scripts/relief_labels.py DATA

DATA is the folder of the data sets: nine of label sets, three hierarchies whose labels are taken as plain sets, and the
presence of species in water quality. At most 1,000 examples, at most 300 Relief iterations, five random splits in
halves. Writes the pooled AUPRC of 15 neighbours into studies/results/relief_labels.csv, one row per set and split.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import omnirank as om

OUT = Path(__file__).parent.parent / "results" / "relief_labels.csv"
DISTANCES = ("hamming", "f1", "accuracy", "subset")
MOST_EXAMPLES, MOST_ITERATIONS, SPLITS = 1000, 300, 5


def data_sets(folder: Path) -> Iterator[tuple[str, om.Dataset]]:
    """Yield the sets by name."""
    for place in sorted((folder / "mlc").iterdir()):
        file = next(path for path in sorted(place.glob("*.arff*"), reverse=True))
        yield place.name, om.load(file, labels=next(place.glob("*.xml")))
    for name in ("imclef07d", "pheno_FUN", "gasch1_FUN"):
        file = next((folder / "hmlc" / name).glob("*.train.arff.gz"))
        data = om.load(file, duplicates="number")
        yield name, om.Dataset(data.features, data.target, task="multi-label")
    water = om.load(folder / "mtr" / "wq.arff.gz", target="last:14")
    assert water.target is not None
    yield "wq, presence", om.Dataset(water.features, (water.target.values > 0).astype(int), task="multi-label")


def main(folder: Path) -> None:
    """Write the results of every set as soon as it is done."""
    warnings.simplefilter("ignore")
    rows = []
    for name, whole in data_sets(folder):
        kept = np.random.default_rng(0).permutation(whole.n_examples)[:MOST_EXAMPLES]
        data = whole.take(np.sort(kept))
        for split in range(SPLITS):
            train, test = data.split(0.5, random_state=split)
            n_iterations = min(MOST_ITERATIONS, train.n_examples)
            row: dict[str, object] = {"data": name, "split": split}
            for distance in DISTANCES:
                ranker = om.ReliefRanker(target_distance=distance, n_iterations=n_iterations, random_state=split)
                row[distance] = om.evaluate(ranker.fit(train).ranking_, train, test)["pooled_auprc"]
            row["equal"] = om.evaluate(np.ones(data.n_features), train, test)["pooled_auprc"]
            rows.append(row)
        pd.DataFrame(rows).round(4).to_csv(OUT, index=False, lineterminator="\n")
        print(name, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
