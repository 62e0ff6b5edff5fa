"""What Relief does by default, measured on data with known truths and on public data sets.

    python studies/scripts/defaults_relief.py DATA [PART ...]

DATA is the folder of the data sets; parts are truths, missing, hardly-known, few-labels, sets and hierarchies (all,
unless some are named). Writes them into studies/results/defaults_relief.json; a few minutes with one worker.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from relief_missing import treatments
from sklearn.metrics import roc_auc_score

import omnirank as om
from omnirank.evaluation.folds import make_folds

OUT = Path(__file__).parent.parent / "results" / "defaults_relief.json"
SEEDS = range(100, 105)
# The influence was settled after a look at the seeds above.
SEEDS_OF_FEW_LABELS = range(200, 205)
SHARES = (0.0, 0.1, 0.2, 0.4, 0.6)
MOST_EXAMPLES = 1000
BEFORE = {"algorithm": "rrelieff", "missing": "distant", "influence": (0.0, 1.0)}
make = om.datasets
Truth = tuple[om.Dataset, np.ndarray]


def relief(data: om.Dataset, **options: Any) -> np.ndarray:
    """Return the importances."""
    if data.hierarchy is not None and options == BEFORE:
        options = options | {"target_distance": "hamming"}
    return om.ReliefRanker(random_state=0, n_jobs=1, **options).fit(data).feature_importances_


# -- data with known truths -------------------------------------------------------------------------------


def known(generator: Callable[..., Any], *sizes: int, **options: Any) -> Callable[[int], Truth]:
    """Return a generator of data and of what is informative, by seed."""

    def made(seed: int) -> Truth:
        data, relevance = generator(*sizes, random_state=seed, **options)
        return data, relevance.informative

    return made


def waveform(seed: int) -> Truth:
    """Return three classes of mixed triangular waves, 21 features of them, and 19 of noise."""
    rng, place = np.random.default_rng(seed), np.arange(1, 22)
    waves = np.array([np.maximum(6 - np.abs(place - middle), 0) for middle in (7, 15, 11)])
    y, share = rng.integers(0, 3, 500), rng.random((500, 1))
    X = share * waves[[0, 0, 1]][y] + (1 - share) * waves[[1, 2, 2]][y] + rng.normal(size=(500, 21))
    informative = np.r_[(waves > 0).any(axis=0), np.zeros(19, bool)]
    return om.Dataset(np.hstack([X, rng.normal(size=(500, 19))]), y, task="classification"), informative


def one_of_three(seed: int) -> Truth:
    """Return two classes by the sign of one of three features, behind noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1000, 3))
    y = (X[:, 0] + rng.normal(size=1000) > 0).astype(int)
    return om.Dataset(X, y, task="classification"), np.array([True, False, False])


def madelon_like(seed: int) -> Truth:
    """Return clusters at the corners of a cube in five features, 15 combinations of these, and 80 of noise."""
    from sklearn.datasets import make_classification

    counts = {"n_informative": 5, "n_redundant": 15, "n_features": 100, "n_clusters_per_class": 16}
    X, y = make_classification(600, flip_y=0.01, shuffle=False, random_state=seed, **counts)
    return om.Dataset(X, y, task="classification"), np.arange(100) < 20


def many_levels(seed: int) -> Truth:
    """Return classes of numeric and nominal features, and nominal noise of 2 to 300 levels."""
    data, informative = known(make.make_classification, 500, n_irrelevant=8, share_nominal=0.5, noise=0.5)(seed)
    rng = np.random.default_rng(seed)
    frame = frame_of(data)
    counts = (2, 5, 10, 30, 50, 100, 300)
    for n_levels in counts:
        frame[f"noise {n_levels}"] = pd.Categorical.from_codes(
            rng.integers(0, n_levels, 500), [f"level {i}" for i in range(n_levels)]
        )
    return om.Dataset(frame, data.target, task=data.task), np.r_[informative, np.zeros(len(counts), bool)]


def classes_of_friedman(seed: int) -> Truth:
    """Return Friedman's function, above its median or not."""
    data, informative = known(make.make_friedman, 500, 20)(seed)
    y = data.target.values[:, 0]
    return om.Dataset(data.features, (y > np.median(y)).astype(int), task="classification"), informative


CLASSES = {
    "two classes": known(make.make_classification, 500, n_irrelevant=20, noise=0.5),
    "four classes, half nominal": known(
        make.make_classification, 500, n_classes=4, n_irrelevant=20, share_nominal=0.5, noise=0.5
    ),
    "waveform": waveform,
    "one feature of three": one_of_three,
    "Friedman, two classes": classes_of_friedman,
    "exclusive or": known(make.make_xor, 500, 2, 8),
    "madelon-like": madelon_like,
    "noise of 2 to 300 levels": many_levels,
}
OTHERS = {
    "Friedman": known(make.make_friedman, 500, 20),
    "numbers, half nominal": known(make.make_regression, 500, n_irrelevant=20, share_nominal=0.5, noise=0.5),
    "several numbers": known(make.make_multi_target_regression, 500, n_irrelevant=20, noise=0.5),
    "label sets": known(make.make_multi_label, 500, n_irrelevant=20, share_nominal=0.3, noise=0.5),
    "hierarchy": known(make.make_hierarchical_multi_label, 500, n_irrelevant=20, noise=0.5),
}


def aucs(case: str, seed: int, informative: np.ndarray, found: dict[str, np.ndarray], **place: Any) -> dict[str, Any]:
    """Return the figures of one seed."""
    values = {name: float(roc_auc_score(informative, scores)) for name, scores in found.items()}
    return {"case": case, **place, "seed": seed, "auc": values}


def over_seeds(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return means over seeds."""
    places: dict[str, list[dict[str, float]]] = {}
    for row in rows:
        place = {name: value for name, value in row.items() if name not in ("seed", "auc")}
        places.setdefault(json.dumps(place), []).append(row["auc"])
    return [
        json.loads(place) | {"seeds": len(found), "auc": pd.DataFrame(found).mean().round(4).to_dict()}
        for place, found in places.items()
    ]


def truths() -> Iterator[dict[str, Any]]:
    """Yield the defaults of before and of now, and what each of both changes does for classes."""
    for case, generate in {**CLASSES, **OTHERS}.items():
        for seed in SEEDS:
            data, informative = generate(seed)
            found = {"before": relief(data, **BEFORE), "now": relief(data)}
            yield aucs(case, seed, informative, found)


# -- missing cells ----------------------------------------------------------------------------------------


def frame_of(data: om.Dataset) -> pd.DataFrame:
    """Return the features as a data frame."""
    table, columns = data.features, {}
    for j, name in enumerate(data.feature_names):
        values, levels = table.column(j), table.levels[j]
        columns[name] = values if levels is None else pd.Categorical.from_codes(values.astype(int), list(levels))
    return pd.DataFrame(columns)


def with_holes(data: om.Dataset, share: float, which: np.ndarray | None, depends: bool, seed: int) -> om.Dataset:
    """Return the data with a share of the cells missing, in some features, by chance or more so for some targets."""
    rng = np.random.default_rng(seed)
    first = data.target.dense()[:, 0]
    high = first > np.median(first) if len(np.unique(first)) > 2 else first == 1
    often = min(0.95, 1.6 * share)
    seldom = max(0.0, (share - high.mean() * often) / (1 - high.mean()))
    p = np.where(high, often, seldom) if depends else np.full(data.n_examples, share)
    frame = frame_of(data)
    for j, name in enumerate(frame.columns):
        holes = rng.random(data.n_examples) < p
        if which is None or which[j]:
            frame[name] = frame[name].mask(holes)
    return om.Dataset(frame, data.target, task=data.task, hierarchy=data.hierarchy)


def missing() -> Iterator[dict[str, Any]]:
    """Yield all treatments of missing cells, by share, and by where and for which examples cells are missing."""
    names = ("two classes", "four classes, half nominal", "exclusive or")
    cases = {name: CLASSES[name] for name in names} | OTHERS
    for case, generate in cases.items():
        for share in SHARES:
            modes = ("by chance", "by target", "by target, true features", "by target, noise")
            for mode in modes if share else modes[:1]:
                for seed in SEEDS:
                    data, informative = generate(seed)
                    which = {modes[2]: informative, modes[3]: ~informative}.get(mode)
                    holes = with_holes(data, share, which, mode != modes[0], seed)
                    for form in ("relieff", "rrelieff") if case in CLASSES else ("rrelieff",):
                        yield aucs(case, seed, informative, treatments(holes, form), share=share, mode=mode, form=form)


def hardly_known() -> Iterator[dict[str, Any]]:
    """Yield the treatments where half of the noise features are hardly known."""
    for case, generate in {name: (CLASSES | OTHERS)[name] for name in ("two classes", "Friedman")}.items():
        for share in (0.8, 0.95, 0.99):
            for form in ("relieff", "rrelieff") if case in CLASSES else ("rrelieff",):
                for seed in SEEDS:
                    data, informative = generate(seed)
                    half = ~informative & (np.random.default_rng(seed).random(len(informative)) < 0.5)
                    holes = with_holes(data, share, half, False, seed)
                    yield aucs(case, seed, informative, treatments(holes, form), share=share, form=form)


# -- few labels -------------------------------------------------------------------------------------------


def few_labels() -> Iterator[dict[str, Any]]:
    """Yield what unlabelled examples do to rankings of partly labelled data."""
    for case, generate in {**CLASSES, **OTHERS}.items():
        for share in (0.06, 0.1, 0.2, 0.5):
            for seed in SEEDS_OF_FEW_LABELS:
                data, informative = generate(seed)
                data = data.keep_labels(share, random_state=seed)
                found = {"before": relief(data, **BEFORE), "now": relief(data), "cv": relief(data, influence="cv")}
                yield aucs(case, seed, informative, found, share=share)


# -- public data ------------------------------------------------------------------------------------------


def class_sets(folder: Path) -> dict[str, Callable[[], om.Dataset]]:
    """Return what reads each data set of classes."""
    last = {"target": "last"}
    arff = ("arrhythmia", "kr-vs-kp", "page-blocks", "sick", "soybean", "spambase")
    found = {name: partial(om.load, folder / "classification" / f"{name}.arff.gz", **last) for name in arff}
    found |= {
        n: partial(om.load, folder / "classification" / f"{n}.arff", **last) for n in ("ionosphere", "tic-tac-toe")
    }
    codes = last | {"header": False}
    found["phishing"] = partial(om.load, folder / "classification" / "phishing.csv.gz", nominal="1-31", **codes)
    found["coil2000"] = partial(om.load, folder / "classification" / "coil2000-train.tsv.gz", nominal="86", **codes)
    mats = ("Yale", "colon", "lung_small", "lymphoma", "madelon", "warpAR10P")
    found |= {name: partial(om.load, folder / "unsupervised" / f"{name}.mat") for name in mats}
    return found | {name: partial(make.load_sample, name) for name in ("breast-cancer", "digits", "iris", "wine")}


def at_most(data: om.Dataset, n: int) -> om.Dataset:
    """Return some of the examples."""
    return data.take(np.sort(np.random.default_rng(0).permutation(data.n_examples)[:n]))


def sets(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield how well neighbours predict that are weighted by the rankings, over three folds."""
    for name, load in class_sets(folder).items():
        data = at_most(load(), MOST_EXAMPLES)
        values: dict[str, list[float]] = {}
        for fold in make_folds(data, "cross-validation", n_folds=3, random_state=7):
            train, test = fold.training(data), fold.testing(data)
            rankings = {"before": relief(train, **BEFORE), "now": relief(train), "equal": np.ones(data.n_features)}
            for variant, scores in rankings.items():
                values.setdefault(variant, []).append(om.evaluate(scores, train, test)["accuracy"])
        yield {"set": name, "accuracy": {variant: round(float(np.mean(v)), 4) for variant, v in values.items()}}


def hierarchies(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield how well neighbours predict for each distance of label sets in a hierarchy."""
    for place in sorted((folder / "hmlc").iterdir()):
        files = {part: next(place.glob(f"*.{part}*.arff.gz")) for part in ("train", "test")}
        train, test = (om.load(file, duplicates="number") for file in files.values())
        train, test = at_most(train, 1600), at_most(test, 600)
        values = {}
        for distance in ("hamming", "f1", "accuracy", "euclidean-mu"):
            rankings = [
                om.ReliefRanker(target_distance=distance, n_iterations=0.4, random_state=seed, n_jobs=1).fit(train)
                for seed in (7, 8, 9)
            ]
            found = [om.evaluate(ranker.ranking_, train, test)["pooled_auprc"] for ranker in rankings]
            values[distance] = round(float(np.mean(found)), 4)
        values["equal"] = round(om.evaluate(np.ones(train.n_features), train, test)["pooled_auprc"], 4)
        yield {"set": place.name, "pooled_auprc": values}


def main(folder: Path, wanted: list[str]) -> None:
    """Run the parts and write their figures."""
    warnings.simplefilter("ignore")
    parts: dict[str, Callable[[], Iterator[dict[str, Any]]]] = {
        "truths": truths,
        "missing": missing,
        "hardly-known": hardly_known,
        "few-labels": few_labels,
        "sets": partial(sets, folder),
        "hierarchies": partial(hierarchies, folder),
    }
    kept = json.loads(OUT.read_text()) if OUT.exists() else {}
    for name in wanted or parts:
        rows = list(parts[name]())
        kept[name] = over_seeds(rows) if "seed" in rows[0] else rows
        lines = [f'"{part}": [\n' + ",\n".join(json.dumps(row) for row in rows) + "\n]" for part, rows in kept.items()]
        OUT.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
