"""Write the tables of the reproductions: from stores to CSV files, and from these into the pages.

python studies/tables.py            results/*.csv into the pages beside this script
python studies/tables.py collect    first the stores of plans/*.toml, where they are, into results/*.csv

A table stands in its page between the comments ``<!-- table NAME -->`` and ``<!-- end -->``; nothing in between is
written by hand. The published results are in published/*.csv.
"""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pandas as pd

from omnirank.evaluation.experiments import read_results
from omnirank.evaluation.experiments.results import StudyResults, read_rankings

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import defaults_tables  # noqa: E402 - beside this script
import few_labels_ranks_tables  # noqa: E402
import few_labels_tables  # noqa: E402
import hmlc_tables  # noqa: E402
import mlc_tables  # noqa: E402
import mtr_tables  # noqa: E402
import ranges  # noqa: E402
import relational_tables  # noqa: E402
import semi_supervised_tables  # noqa: E402
import three_way_tables  # noqa: E402
import ties  # noqa: E402
import unsupervised_rivals_tables  # noqa: E402
import unsupervised_tables  # noqa: E402

# Which plans give the results of which file, and which measure has a standard deviation beside its mean.
STUDIES = {
    "mtr": (["mtr_small"], "rrmse"),
    "mtr_rf1": (["mtr_rf1"], "rrmse"),
    "mtr_relief_str": (["mtr_relief_str"], "rrmse"),
    "mlc": (["mlc_small"], "pooled_auprc"),
    "mlc_trees": (["mlc_trees"], "pooled_auprc"),
    "hmlc": (["hmlc_small"], "pooled_auprc"),
    "hmlc_trees": (["hmlc_trees"], "pooled_auprc"),
    "unsupervised": (
        ["unsupervised_small", "unsupervised_random", "unsupervised_more", "unsupervised_more_random"],
        "top_features_rmse",
    ),
    "defaults_ensembles": (["defaults_ensembles"], "rrmse"),
    "defaults_no_target": (["defaults_no_target"], "top_features_rmse"),
    "unsupervised_relief_settings": (["unsupervised_relief_settings"], "top_features_rmse"),
    "unsupervised_widths": (["unsupervised_widths"], "top_features_rmse"),
    "unsupervised_rivals": (
        ["unsupervised_rivals", "unsupervised_rivals_madelon", "unsupervised_udfs"],
        "top_features_rmse",
    ),
    "three_way": (["three_way", "three_way_enron", "three_way_all"], "f1_micro"),
    "three_way_shares": (["three_way_shares"], "f1_micro"),
    "three_way_neighbors": (["three_way_neighbors"], "f1_micro"),
    "semi_supervised_classes": (["semi_supervised_classes"], "f1_macro"),
    "semi_supervised_numbers": (["semi_supervised_numbers"], "rrmse"),
    "semi_supervised_labels": (["semi_supervised_labels"], "pooled_auprc"),
}
# Those with one row per number of labelled examples.
BY_LABELLED = ("three_way_shares", "semi_supervised_classes", "semi_supervised_numbers", "semi_supervised_labels")
# Results beyond the plans, which explain differences.
EXPLANATIONS = {"mlc": ranges.main, "unsupervised": ties.main}
TABLES = {
    function.__name__.replace("_", "-"): function
    for module in (
        mtr_tables,
        mlc_tables,
        hmlc_tables,
        unsupervised_tables,
        defaults_tables,
        unsupervised_rivals_tables,
        semi_supervised_tables,
        three_way_tables,
        relational_tables,
        few_labels_ranks_tables,
        few_labels_tables,
    )
    for function in module.TABLES
}
TABLES |= runpy.run_path(str(HERE / "scripts" / "defaults_relief_tables.py"))["TABLES"]
PLACE = ["data", "method", "choice"]
MARKED = re.compile(r"(<!-- table:? (?P<name>[\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def figures_of(study: StudyResults, store: Path, primary: str, by_labelled: bool = False) -> pd.DataFrame:
    """Return one row per data set and method: means over folds and seeds, all of which weigh the same.

    With ``by_labelled``, there is one row per number of labelled examples.

    ``n`` is their number, ``deviation`` the standard deviation of the primary measure over them, ``seconds`` the
    median of a fit, ``positive`` the mean share of features with a positive score, where rankings are kept.
    """
    place = [*PLACE, "labelled"] if by_labelled else PLACE
    values = study.figures.pivot_table(index=place, columns="measure", values="value", aggfunc="mean")
    of_primary = study.figures[study.figures["measure"] == primary].groupby(place)["value"]
    found = values.round(6)
    found.insert(0, "n", of_primary.size())
    found.insert(1, "deviation", of_primary.std().round(6))
    found.insert(2, "seconds", study.jobs.groupby(place)["seconds"].median().round(4))
    if not by_labelled:
        found.insert(3, "positive", positive_shares(study, store).round(4))
    found.columns.name = None
    order = {name: i for i, name in enumerate(study.facts["data"])}
    return found.reset_index().sort_values(place, key=lambda column: column.map(order).fillna(0), kind="stable")


def positive_shares(study: StudyResults, store: Path) -> pd.Series:
    """Return the mean share of features with a positive score."""
    shares = {}
    for data, method in study.jobs[["data", "method"]].drop_duplicates().itertuples(index=False):
        try:
            rankings = read_rankings(store, study.name, data, method)
        except ValueError:  # not kept
            continue
        kept = pd.Series({name: (ranking.scores > 0).mean() for name, ranking in rankings.items()})
        # the names start with the choice: "n_iterations=0.01 seed=0 fold=0"
        for choice, values in kept.groupby(kept.index.str.replace(r" ?seed=.*", "", regex=True)):
            shares[data, method, choice] = values.mean()
    index = pd.MultiIndex.from_tuples(list(shares), names=PLACE) if shares else None
    return pd.Series(list(shares.values()), index=index, dtype=float)


def collect() -> None:
    """Write the results of the stores that are there."""
    for name, (plans, primary) in STUDIES.items():
        stores = [HERE / "plans" / f"{plan}.sqlite" for plan in plans]
        found = [(study, store) for store in stores if store.is_file() for study in read_results(store)]
        if len(found) < len(stores) or not all((study.jobs["state"] == "done").all() for study, _ in found):
            print(f"{name}: not all jobs of its plans are done; its results are left as they are")
            continue
        parts = [figures_of(study, store, primary, name in BY_LABELLED) for study, store in found]
        (HERE / "results").mkdir(exist_ok=True)
        pd.concat(parts).to_csv(HERE / "results" / f"{name}.csv", index=False, lineterminator="\n")
        print(f"{name}: {sum(map(len, parts))} rows")
        EXPLANATIONS.get(name, lambda: None)()


def with_tables(page: str) -> str:
    """Return a page with its tables made anew; those of p_values.md have scripts of their own."""

    def filled(found: re.Match[str]) -> str:
        if found["name"] not in TABLES:
            return found[0]
        return f"{found[1]}\n{TABLES[found['name']]()}\n\n{found[3]}"

    return MARKED.sub(filled, page)


def main(arguments: list[str]) -> None:
    """Collect where asked to, then write the pages."""
    if arguments not in ([], ["collect"]):
        raise SystemExit(__doc__)
    if arguments:
        collect()
    for path in sorted(HERE.glob("*.md")):
        path.write_text(with_tables(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
