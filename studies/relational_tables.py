"""The table of relational bagging: our accuracies beside the published ones."""

from __future__ import annotations

from typing import Any

import pandas as pd
from table_parts import HERE, markdown, published

PUBLISHED = {
    "carcinogenesis": "CARCINOGENESIS",
    "uwcse": "UWCSE",
    "webkb": "WEBKB",
    "muta188": "MUTAGENESIS",
    "mutagenesis_188": "MUTAGENESIS",
}


def relational_accuracies() -> str:
    """Ten-fold accuracies by set and preset, their standard errors, and the share of the largest class."""
    printed = published("relational_bagging")
    rows = []
    for row in pd.read_csv(HERE / "results" / "relational.csv").itertuples():
        theirs = printed.loc[PUBLISHED[row.set], row.preset] if row.set in PUBLISHED else ""
        ours = f"{row.accuracy:.3f} ± {row.standard_error:.3f}"
        rows.append(
            [f"{row.set}: {row.preset}", row.trees, ours, theirs, f"{row.majority:.3f}", f"{row.cpu_seconds:.1f}"]
        )
    return markdown(["set, preset", "trees", "ours", "published (50 trees)", "largest class", "seconds"], rows)


def _rows(name: str) -> pd.DataFrame:
    return pd.read_csv(HERE / "results" / f"relational_{name}.csv")


def _with_error(row: Any) -> str:
    return f"{row.accuracy:.3f} ± {row.standard_error:.3f}"


def relational_folds() -> str:
    """Accuracies of bagging on the published folds, on these without what is tested, and on our own."""
    rows = []
    for (name, preset), part in _rows("folds").groupby(["set", "preset"], sort=False):
        by_kind = {row.folds: row for row in part.itertuples()}
        first = by_kind["published"]
        rows.append(
            [
                f"{name}: {preset}",
                f"{first.entries} / {first.distinct}",
                f"{first.leak:.0%}",
                *(_with_error(by_kind[kind]) for kind in ("published", "without leak", "own")),
            ]
        )
    return markdown(
        ["set, preset", "entries / distinct", "tested in training", "published folds", "without leak", "own"], rows
    )


def relational_ensembles() -> str:
    """Accuracies of trees, forests and boosting beside the published ones."""
    printed = published("relational_ensembles")
    rows = []
    for name, part in _rows("models").groupby("set", sort=False):
        own = {row.model: row for row in part.itertuples()}
        rows.append([name, *(f"{_with_error(own[m])} ({printed.loc[PUBLISHED[str(name)], m]})" for m in printed)])
    return markdown(["set", *printed], rows)


def relational_conventions() -> str:
    """Agreement with recorded rankings, one convention at a time."""
    rows = [[r.convention, *(f"{x:.3f}" for x in r[2:])] for r in _rows("conventions").itertuples()]
    return markdown(["conventions", "Pearson", "smallest of ten folds", "total variation"], rows)


def relational_ties() -> str:
    """How far the order of candidates and the seed move rankings."""
    rows = [
        [f"{r.set}: {r.tie_break}", f"{r.shuffled:.3f}", f"{r.another_seed:.3f}"] for r in _rows("ties").itertuples()
    ]
    return markdown(["set, ties", "shuffled candidates (largest of 3)", "another seed"], rows)


def relational_left_out() -> str:
    """Correlations of scores with what is lost without a relation: means over seeds and halves."""
    scores = ("Genie3", "unbiased", "permutation")
    measured = [f"{score}, {of}" for of in ("rank", "Pearson") for score in scores]
    columns = ["set", "seed", "half", *measured, "relations", *scores, "refits"]
    found = pd.read_csv(HERE / "results" / "relational_left_out.csv", names=columns).groupby("set", sort=False)
    means, errors = found[measured].mean(), found[measured].sem()
    rows = [
        [name, *(f"{m:.2f} ± {e:.2f}" for m, e in zip(means.loc[name], errors.loc[name], strict=True))]
        for name in means.index
    ]
    return markdown(["set", *measured], rows)


TABLES = [
    relational_accuracies,
    relational_folds,
    relational_conventions,
    relational_ties,
    relational_left_out,
    relational_ensembles,
]
