"""Compact figures of the studies of few labels, from what their runs left.

    python studies/scripts/figures.py

Writes studies/results/*.csv for those studies whose raw figures or stores are there.
"""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from omnirank.core.errors import DataError
from omnirank.evaluation.experiments import read_results

HERE = Path(__file__).parent
FIGURES = HERE.parent / "results"
PLANS = HERE.parent / "plans"
MODES = ("same_examples", "oracle")
# A difference is clear beyond this many standard errors: 5 % for the six means (seeds and folds) there usually are.
CLEAR = 2.57


def _per_set(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean difference of each set and its standard error over seeds and folds, means over numbers of labels first."""
    keys = [name for name in ("set", "task", "hypothesis", "score", "variant") if name in frame]
    parts = frame.groupby([*keys, "seed", "fold"])[list(MODES)].mean()
    found = parts.groupby(level=keys).agg(["mean", "sem", "count"])
    found.columns = [mode if what == "mean" else f"{mode}_{what}" for mode, what in found.columns]
    return found.drop(columns="oracle_count").rename(columns={"same_examples_count": "n"}).reset_index()


def few_labels() -> pd.DataFrame:
    """Differences of half-supervised and "auto" rankings to supervised ones."""
    raw = pd.read_csv(HERE / "few_labels_raw.csv")
    place = ["set", "task", "hypothesis", "labelled", "seed", "fold", "score"]
    raw = raw.drop_duplicates([*place, "variant"])
    wide = raw.set_index([*place, "variant"])[[*MODES]].unstack()
    parts = []
    for variant in ("half", "auto"):
        part = pd.DataFrame({mode: wide[mode][variant] - wide[mode]["supervised"] for mode in MODES}).dropna()
        parts.append(part.reset_index().assign(variant=variant))
    long = pd.concat(parts, ignore_index=True)
    found = _per_set(long)
    used = raw[raw["variant"] == "auto"].groupby(["set", "score"])["level"].apply(lambda w: (w < 1).mean())
    seconds = raw[raw["score"] == "genie3"].groupby(["set", "variant"])["seconds"].median().unstack()
    found["used"] = [used[name, score] for name, score in zip(found["set"], found["score"], strict=True)]
    found["cost"] = [seconds.loc[name, "auto"] / seconds.loc[name, "half"] for name in found["set"]]
    by_count = long[long["variant"] == "auto"].groupby(["labelled", "score"])[list(MODES)].mean()
    by_count.round(5).to_csv(FIGURES / "few_labels_by_count.csv")
    return found


def variants() -> pd.DataFrame:
    """How often and by how much variants differ from the supervised ranking, over the sets."""
    rows = []
    with (HERE / "few_labels_variants_raw.jsonl").open() as file:
        for line in file:
            rows += _variant_rows(json.loads(line))
    found = _per_set(pd.DataFrame(rows))
    summary = []
    for (variant, score), part in found.groupby(["variant", "score"]):
        row: dict[str, object] = {"variant": variant, "score": score, "sets": len(part)}
        for mode in MODES:
            z = part[mode] / part[f"{mode}_sem"].where(part[f"{mode}_sem"] > 0)
            row |= {
                mode: part[mode].mean(),
                f"{mode}_sem": part[mode].sem(),
                f"{mode}_better": int((part[mode] > 1e-9).sum()),
                f"{mode}_worse": int((part[mode] < -1e-9).sum()),
                f"{mode}_clearly_better": int((z > CLEAR).sum()),
                f"{mode}_clearly_worse": int((z < -CLEAR).sum()),
            }
        summary.append(row)
    return pd.DataFrame(summary)


def _variant_rows(job: dict) -> list[dict]:
    values, info = dict(job["values"]), job["info"]
    levels = {float(w): value for w, value in info["loss"].items()}
    differences = {float(w): value for w, value in info["difference"].items()}
    noise = {float(w): value for w, value in info["standard_error"].items()}
    rule = {50: 0.25, 100: 0.5, 200: 0.75, 500: 0.75}
    for score in ("genie3", "symbolic"):
        supervised = values[f"w=1|{score}"]
        best = min(levels, key=lambda w: levels[w])
        values[f"w by loss|{score}"] = values[f"w={best:g}|{score}"]
        clearly = differences[best] + noise[best] < 0
        values[f"w by loss, if clear|{score}"] = values[f"w={best:g}|{score}"] if clearly else supervised
        for z in (0, 1):
            good = differences[0.5] + z * noise[0.5] < 0
            name = "if clear" if z else "if smaller loss"
            values[f"pairs, w=0.5, {name}|{score}"] = values[f"pairs, w=0.5|{score}"] if good else supervised
            values[f"w=0.5, {name}|{score}"] = values[f"w=0.5|{score}"] if good else supervised
        values[f"w grows with labels|{score}"] = values[f"w={rule[job['labelled']]:g}|{score}"]
        if "cv" in info:
            curve = {float(w): error for w, error in info["cv"].items()}
            chosen = max(w for w, error in curve.items() if error == min(curve.values()))
            values[f"w by cross-validation (one fold)|{score}"] = values[f"w={chosen:g}|{score}"]
    rows = []
    for name, (same, oracle) in values.items():
        variant, score = name.split("|")
        for own in ("genie3", "symbolic") if score == "none" else (score,):
            base = values[f"w=1|{own}"]
            place = {"set": job["set"], "variant": variant, "score": own, "seed": job["seed"], "fold": job["fold"][-1]}
            rows.append(place | {"same_examples": same - base[0], "oracle": oracle - base[1]})
    return rows


def judges() -> pd.DataFrame:
    """What comes of following each judge: differences to the supervised ranking, and true features of Madelon."""
    with (HERE / "few_labels_judges_raw.jsonl").open() as file:
        jobs = [json.loads(line) for line in file]
    rows = []
    for rule, followed in _RULES.items():
        for job in jobs:
            for score in ("genie3", "symbolic"):
                chosen = _followed(job, score, **followed)
                values, base = job["values"][f"{chosen}|{score}"], job["values"][f"1|{score}"]
                place = {"rule": rule, "set": job["set"], "score": score, "used": chosen != "1", "true": values[2]}
                if chosen == "out of bag":
                    place["used"] = job["level"] < 1
                rows.append(place | {mode: values[i] - base[i] for i, mode in enumerate(MODES)})
    frame = pd.DataFrame(rows)
    found = frame.groupby(["rule", "score", "set"], sort=False)[[*MODES, "used", "true"]].mean()
    found[[f"{mode}_sem" for mode in MODES]] = frame.groupby(["rule", "score", "set"], sort=False)[list(MODES)].sem()
    return found.reset_index()


def _followed(
    job: dict,
    score: str,
    judges: tuple[str, ...] = (),
    candidates: tuple[str, ...] = (),
    n: int = 16,
    k: int = 10,
    rest: str = "1",
) -> str:
    """The best candidate if it is clearly better by all judges, by two standard errors; else the rest."""
    told = job["told"]
    if candidates:
        judges = judges or (score,)
        best = min(candidates, key=lambda name: sum(told[f"{judge}|{n}|{k}|{name}"][0] for judge in judges))
        if all(gain < -2 * noise for gain, noise in (told[f"{judge}|{n}|{k}|{best}"] for judge in judges)):
            return best
    if rest == "forest":
        gain, noise = told[f"forest|{n}|0|0.5"]
        return "1+0.5" if gain < -2 * noise else "1"
    return rest


_BOTH = {"judges": ("genie3", "symbolic"), "candidates": ("0",)}
_RULES: dict[str, dict] = {
    "always w = 0": {"rest": "0"},
    "always w = 0.5": {"rest": "0.5"},
    "always pairs, w = 0.5": {"rest": "1+0.5"},
    "out of bag (before)": {"rest": "out of bag"},
    "forests of folds, pairs, w = 0.5": {"rest": "forest"},
    "neighbours, own score: pairs with 0 or 0.5": {"candidates": ("1+0", "1+0.5")},
    "neighbours, own score: 0 or 0.5": {"candidates": ("0", "0.5")},
    "neighbours, own score: 0": {"candidates": ("0",)},
    "neighbours, both scores: 0": _BOTH,
    "neighbours, both scores: 0, else forests of folds": _BOTH | {"rest": "forest"},
    "neighbours, both scores: 0, else out of bag (now)": _BOTH | {"rest": "out of bag"},
    "... by 5 neighbours": _BOTH | {"k": 5, "rest": "out of bag"},
    "... by 20 neighbours": _BOTH | {"k": 20, "rest": "out of bag"},
    "... by 8 trees": _BOTH | {"n": 8, "rest": "out of bag"},
    "... by Symbolic only": _BOTH | {"judges": ("symbolic",), "rest": "out of bag"},
}


def published() -> pd.DataFrame:
    """Differences of areas in the published set-up: semi-supervised minus supervised, positive is better."""
    study = read_results(PLANS / "few_labels_published.toml")["few labels, published"]
    rows = []
    for measure in ("f1_macro", "rrmse", "pooled_auprc"):
        for k in study.neighbor_counts:
            areas = study.table(measure, k)
            for name in areas.index:
                row = {"set": name, "measure": measure, "neighbors": k}
                for score in ("genie3", "symbolic", "equal weights"):
                    one = next(c for c in areas if c.startswith("SSL") and score in c)
                    other = next(c for c in areas if c.startswith("SL") and score in c)
                    row[score] = areas.loc[name, one] - areas.loc[name, other]
                    if measure == "rrmse":
                        row[score] *= -1
                rows.append(row)
    return pd.DataFrame(rows)


def ssl_trees() -> pd.DataFrame:
    """Means of the models by data set and number of labels, and their differences to the supervised model."""
    raw = pd.read_csv(HERE / "ssl_trees_raw.csv").drop_duplicates(
        ["set", "labelled", "repetition", "model", "supervision"]
    )
    raw["supervision"] = raw["supervision"].astype(str)
    base = raw[raw["supervision"] == "1.0"].set_index(["set", "labelled", "repetition", "model"])["auprc"]
    place = list(zip(raw["set"], raw["labelled"], raw["repetition"], raw["model"], strict=True))
    raw["difference"] = raw["auprc"] - base.loc[place].to_numpy()
    keys = ["set", "model", "labelled", "supervision"]
    found = raw.groupby(keys).agg(
        auprc=("auprc", "mean"),
        difference=("difference", "mean"),
        difference_sem=("difference", "sem"),
        nodes=("nodes", "mean"),
        used=("level", lambda w: (w < 1).mean()),
        seconds=("seconds", "median"),
        n=("auprc", "size"),
    )
    return found.reset_index()


def unsupervised() -> pd.DataFrame:
    """Errors of the unsupervised protocol: rankings, and ten random ones."""
    measure = "top_features_rmse"
    study = read_results(PLANS / "unsupervised_ensembles.toml")["unsupervised ensembles"]
    table = study.table(measure)
    chance = read_results(PLANS / "unsupervised_ensembles_random.toml")["unsupervised ensembles, random"]
    draws = chance.figures[chance.figures["measure"] == measure].groupby(["data", "seed"])["value"].mean()
    table["random"] = draws.groupby(level="data").mean()
    table["random_sd"] = draws.groupby(level="data").std()
    return table.rename_axis("set").reset_index()


def main() -> None:
    """Write what can be written."""
    FIGURES.mkdir(exist_ok=True)
    studies = {
        "few_labels": few_labels,
        "few_labels_variants": variants,
        "few_labels_judges": judges,
        "few_labels_published": published,
        "ssl_trees": ssl_trees,
        "unsupervised_ensembles": unsupervised,
    }
    for name, make in studies.items():
        try:
            frame = make()
        except (FileNotFoundError, DataError) as error:
            print(f"{name}: no raw figures ({error})")
            continue
        numbers = frame.select_dtypes("float").columns
        frame[numbers] = frame[numbers].round(5)
        frame.to_csv(FIGURES / f"{name}.csv", index=False)
        print(f"{name}: {len(frame)} rows")


if __name__ == "__main__":
    main()
