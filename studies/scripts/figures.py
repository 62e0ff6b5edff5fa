"""Compact figures of the studies of few labels, from what their runs left.

    python studies/scripts/figures.py

Writes studies/results/*.csv for those studies whose raw figures or stores are there.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError
from omnirank.ensembles.supervision import best_level
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


def levels() -> pd.DataFrame:
    """Mean differences to the supervised model by model, rule, set and number of labels."""
    rows = []
    for file, further in (("levels_raw.jsonl", False), ("levels_further_raw.jsonl", True)):
        for line in (HERE / file).read_text().splitlines():
            job = json.loads(line)
            quality = {float(w): value for w, value in job["quality"].items()}
            values = {"auto, further draws": job["auto"]["quality"]}
            used = {"auto, further draws": job["auto"]["level"] < 1}
            if not further:
                values, used = {"before": job["auto"]["quality"]}, {"before": job["auto"]["level"] < 1}
                values |= {f"w = {w:g}": value for w, value in quality.items() if w < 1}
                values["oracle"] = max(quality.values())
                for rule, (losses, errors) in _LEVEL_RULES.items():
                    if losses in job:
                        level = _level(job[losses], errors)
                        values[rule], used[rule] = quality[level], level < 1
            for rule, value in values.items():
                place = {name: job[name] for name in ("model", "set", "task", "labelled")} | {"rule": rule}
                rows.append(place | {"difference": value - quality[1.0], "used": used.get(rule, True)})
    by = pd.DataFrame(rows).groupby(["model", "rule", "set", "task", "labelled"], sort=False)
    return by.agg(difference=("difference", "mean"), used=("used", "mean"), n=("used", "size")).round(5).reset_index()


_LEVEL_RULES = {
    "one standard error (auto)": ("losses", 1.0),
    "minimum": ("losses", 0.0),
    "two standard errors": ("losses", 2.0),
    "neighbours, one standard error": ("neighbors", 1.0),
}


def _level(losses: dict, errors: float) -> float:
    """The level that the losses of the folds choose, as `best_level` does."""
    folds = {float(w): repetitions[0] for w, repetitions in losses.items()}
    ends = np.cumsum([len(fold) for fold in folds[1.0]])

    def of_folds(level: float) -> list:
        return [(np.arange(end - len(fold), end), np.array(fold)) for end, fold in zip(ends, folds[level], strict=True)]

    return best_level(sorted(folds, reverse=True), of_folds, np.ones(ends[-1]), errors).level


def levels_rankings() -> pd.DataFrame:
    """Mean differences of rankings to supervised ones by rule, draws and set, and their standard errors."""
    rows = []
    for draws in ("first", "fresh"):
        for line in (HERE / f"levels_rankings_{draws}_raw.jsonl").read_text().splitlines():
            job = json.loads(line)
            quality, losses = job["quality"], {w: [folds] for w, folds in job["losses"].items()}
            chosen = {f"w = {float(w):g}": w for w in job["losses"] if float(w) < 1}
            chosen |= {"mean of the scores of 1 and 1/2": "1, 1/2", "mean of all five scores": "all"}
            chosen["one standard error (auto)"] = str(_level(losses, 1.0))
            chosen["minimum"] = str(_level(losses, 0.0))
            for errors, name in ((0.5, "half a standard error"), (2.0, "two standard errors")):
                chosen[f"1/2, unless 1 is better by {name}"] = _from_half(losses, ("1.0",), errors)
            chosen["1/2, unless another is better by two standard errors"] = _from_half(losses, (*losses,), 2.0)
            best = max(quality[w] for w in losses)
            values = {rule: quality[w] for rule, w in chosen.items()} | {"oracle": best}
            for rule, value in values.items():
                place = {"rule": rule, "draws": draws, "set": job["set"], "used": chosen.get(rule) != "1.0"}
                rows.append(place | {"difference": value - quality["1.0"]})
    by = pd.DataFrame(rows).groupby(["rule", "draws", "set"], sort=False)
    named = {"difference": ("difference", "mean"), "sem": ("difference", "sem")}
    return by.agg(**named, used=("used", "mean"), n=("used", "size")).round(5).reset_index()


def _from_half(losses: dict, others: tuple[str, ...], errors: float) -> str:
    """Level 1/2, or the best of others if its losses are clearly smaller."""
    values = {w: np.concatenate(folds[0]) for w, folds in losses.items()}
    best = min((*others, "0.5"), key=lambda w: values[w].mean())
    gains = values["0.5"] - values[best]
    return best if gains.mean() > errors * gains.std(ddof=1) / np.sqrt(len(gains)) else "0.5"


SCORES = ("genie3", "symbolic", "permutation", "relief", "equal weights", "laplace", "sfss")


def published(plan: str = "few_labels_published", name: str = "few labels, published") -> pd.DataFrame:
    """Differences of areas in the published set-up: semi-supervised minus supervised, positive is better."""
    study = read_results(PLANS / f"{plan}.toml")[name]
    rows = []
    for measure in (name for name in study.measures if name in study.recorded):
        for k in study.neighbor_counts:
            areas = study.table(measure, k).dropna()
            for name in areas.index:
                row = {"set": name, "measure": measure, "neighbors": k}
                for score in (score for score in SCORES if any(score in column for column in areas)):
                    one = next(c for c in areas if c.startswith("SSL") and score in c)
                    other = next(c for c in areas if c.startswith("SL") and score in c)
                    row[score] = areas.loc[name, one] - areas.loc[name, other]
                    if measure == "rrmse":
                        row[score] *= -1
                rows.append(row)
    return pd.DataFrame(rows)


def further() -> pd.DataFrame:
    """The same of further sets."""
    return published("few_labels_further", "few labels, further")


def graphs() -> pd.DataFrame:
    """The same of rankings by graphs."""
    parts = [published(f"few_labels_graphs_{what}", f"few labels, graphs, {what}") for what in ("labels", "numbers")]
    return pd.concat(parts).query("measure != 'f1_macro'")


def ensembles() -> pd.DataFrame:
    """Areas of the scores by the ensembles in that set-up, more is better."""
    study = read_results(PLANS / "few_labels_ensembles.toml")["few labels, ensembles"]
    rows = []
    for measure in (name for name in study.measures if name in study.recorded):
        areas = study.table(measure, 40).dropna()
        for name, method in areas.stack().index:
            level, ensemble, *score = method.split()
            area = areas.loc[name, method] * (-1 if measure == "rrmse" else 1)
            place = {"set": name, "level": level, "ensemble": ensemble, "score": score[0] if score else "relief"}
            rows.append(place | {"area": area})
    # label sets have F1 as well; the measure of the study comes last
    return pd.DataFrame(rows).drop_duplicates(["set", "level", "ensemble", "score"], keep="last")


def ssl_trees(name: str = "ssl_trees") -> pd.DataFrame:
    """Means of the models by data set and number of labels, and their differences to the supervised model."""
    place = ["set", "labelled", "repetition", "model", "supervision"]
    raw = pd.read_csv(HERE / f"{name}_raw.csv").drop_duplicates(place)
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


def few_labels_rule() -> pd.DataFrame:
    """Differences of "auto" rankings to supervised ones, and how often unlabelled examples were used."""
    place = ["set", "score", "labelled", "seed", "fold"]
    raw = pd.read_csv(HERE / "few_labels_rule_raw.csv").drop_duplicates([*place, "variant"])
    both = raw.set_index([*place, "variant"]).unstack("variant").dropna()
    changes = pd.DataFrame({mode: both[mode]["auto"] - both[mode]["supervised"] for mode in MODES})
    changes["used"] = both["level"]["auto"] < 1
    by = changes.groupby(["set", "score"])
    found = by[[*MODES, "used"]].mean()
    for mode in MODES:
        # numbers of labels of one fold share examples: errors are over the folds' means
        folds = changes.groupby(["set", "score", "fold"])[mode].mean()
        found[f"{mode}_sem"] = folds.groupby(["set", "score"]).sem()
    return found.assign(n=by.size()).reset_index()


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


def unsupervised_grown() -> pd.DataFrame:
    """Errors of the same with fully grown trees."""
    study = read_results(PLANS / "unsupervised_grown.toml")["unsupervised, fully grown"]
    return study.table("top_features_rmse").rename_axis("set").reset_index()


def main() -> None:
    """Write what can be written."""
    FIGURES.mkdir(exist_ok=True)
    studies = {
        "few_labels": few_labels,
        "levels": levels,
        "levels_rankings": levels_rankings,
        "few_labels_published": published,
        "few_labels_rule": few_labels_rule,
        "few_labels_further": further,
        "few_labels_ensembles": ensembles,
        "few_labels_graphs": graphs,
        "ssl_trees": ssl_trees,
        "ssl_trees_variants": partial(ssl_trees, "ssl_trees_variants"),
        "unsupervised_ensembles": unsupervised,
        "unsupervised_grown": unsupervised_grown,
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
