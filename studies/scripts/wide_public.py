"""Top 20 of wide public sets that no other study uses, judged by prediction of held-out rows.

    python studies/scripts/wide_public.py FOLDER [n_splits] [first_seed]

FOLDER has the wheels of aeon 1.6.0, chemotools 0.5.0 and scanpy 1.11.5, with data in them. A split trains on
half of the rows, at most 100, with all classes. Logistic regression on the 20 best features (in units of their standard
deviations) predicts the rest. ``results/wide_public.csv`` has the mean accuracy, its standard error over splits, and
that of the difference to the default. Boruta is a loop of our own: by how often, in ten rounds, the importance in a
forest of 100 trees exceeds that of all permuted copies, then by the mean importance.
"""

from __future__ import annotations

import io
import sys
import warnings
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import omnirank as om

RESULTS = Path(__file__).resolve().parents[1] / "results" / "wide_public.csv"
TOP = 20


def wheel(folder: Path, name: str) -> zipfile.ZipFile:
    (path,) = folder.glob(f"{name}-*.whl")
    return zipfile.ZipFile(path)


def series(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Time series of equal length: their points are the features."""
    cells = []
    for part in ("TRAIN", "TEST"):
        text = wheel(folder, "aeon").read(f"aeon/datasets/data/{name}/{name}_{part}.ts").decode()
        cells += [line.replace(":", ",").split(",") for line in text.splitlines() if line[:1] not in ("@", "#", "")]
    return np.array([row[:-1] for row in cells], float), np.array([row[-1] for row in cells])


def coffee(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    parts = (f"chemotools/datasets/data/coffee_{part}.csv" for part in ("spectra", "labels"))
    spectra, labels = (pd.read_csv(io.BytesIO(wheel(folder, "chemotools").read(part))) for part in parts)
    return spectra.to_numpy(float), labels["labels"].to_numpy(str)


def cells_of_blood(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Expression of 765 genes in 700 cells of ten types."""
    content = wheel(folder, "scanpy").read("scanpy/datasets/10x_pbmc68k_reduced.h5ad")
    with h5py.File(io.BytesIO(content)) as file:
        return np.array(file["X"], float), file["obs"]["bulk_labels"].astype(str)


def boruta(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    hits, means = np.zeros((2, X.shape[1]))
    for i in range(10):
        copies = rng.permuted(X, axis=0)
        forest = RandomForestClassifier(100, max_depth=5, random_state=i, n_jobs=1).fit(np.hstack([X, copies]), y)
        own, shadows = np.split(forest.feature_importances_, 2)
        hits, means = hits + (own > shadows.max()), means + own
    return np.lexsort((-means, -hits))


def orders(X: np.ndarray, y: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """Features by each method, the best ones first."""
    own = om.EnsembleRanker(random_state=seed, n_jobs=1).fit(X, y).ranking_
    return {
        "default": own.order,
        "F test": np.argsort(-np.nan_to_num(f_classif(X, y)[0]), kind="stable"),
        "Boruta": boruta(X, y, seed),
        "random": np.random.default_rng(seed).permutation(X.shape[1]),
    }


def main(folder: str, n_splits: str = "8", first: str = "0") -> None:
    """Rank, predict, and write the accuracies."""
    warnings.simplefilter("ignore")
    sets = {
        "blood cells": cells_of_blood(Path(folder)),
        "coffee": coffee(Path(folder)),
        "ACSF1": series(Path(folder), "ACSF1"),
        "OSULeaf": series(Path(folder), "OSULeaf"),
    }
    rows = []
    for name, (X, y) in sets.items():
        values: dict[str, list[float]] = {}
        for seed in range(int(first), int(first) + int(n_splits)):
            size = min(100, len(y) // 2)
            train, test = train_test_split(np.arange(len(y)), train_size=size, stratify=y, random_state=seed)
            for method, order in orders(X[train], y[train], seed).items():
                model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
                model.fit(X[train][:, order[:TOP]], y[train])
                values.setdefault(method, []).append(model.score(X[test][:, order[:TOP]], y[test]))
        for method, found in values.items():
            difference = np.subtract(found, values["default"])
            row = {"set": name, "rows": size, "features": X.shape[1], "method": method, "accuracy": np.mean(found)}
            row |= {"error": pd.Series(found).sem(), "difference": difference.mean()}
            rows.append(row | {"difference error": pd.Series(difference).sem()})
            print(rows[-1], flush=True)
    pd.DataFrame(rows).round(4).to_csv(RESULTS, index=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
