"""The tables of semi-supervised rankings, like for like."""

from __future__ import annotations

import pandas as pd
from table_parts import figures, markdown, number, outcome, p_text, published

from omnirank.evaluation.cross import curve_area
from omnirank.evaluation.statistics import compare_methods, wilcoxon_test

TASKS = {"classes": "f1_macro", "numbers": "rrmse", "labels": "pooled_auprc"}
COMMON = [
    "equal weights",
    "random",
    "supervised RF genie3",
    "supervised RF unbiased",
    "RF genie3",
    "RF unbiased",
    "supervised Relief",
    "Relief",
    "S-CLS",
]
OWN = {"classes": ["SFSS", "SEFR"], "numbers": ["STR-Laplace"], "labels": ["SFSS"]}
BASE = "supervised RF unbiased"


def _areas(task: str) -> pd.DataFrame:
    """Areas under the curves over the numbers of labels, more is better: data sets as rows, methods as columns."""
    found = figures(f"semi_supervised_{task}")
    sign = -1 if task == "numbers" else 1
    curves = found.sort_values("labelled").groupby(["data", "method"])[TASKS[task]]
    areas = curves.apply(lambda values: sign * curve_area(values))
    return areas.unstack("method").loc[list(dict.fromkeys(found["data"])), [*COMMON, *OWN[task]]]


def _by_set(task: str) -> str:
    table = _areas(task).abs()
    rows = [[method, *(number(value) for value in table[method])] for method in table]
    return markdown(["ranking", *table.index], rows)


def semi_supervised_classes() -> str:
    """F1 of classes."""
    return _by_set("classes")


def semi_supervised_numbers() -> str:
    """RRMSE of numbers."""
    return _by_set("numbers")


def semi_supervised_labels() -> str:
    """Area under the precision-recall curve of label sets."""
    return _by_set("labels")


def semi_supervised_ranks() -> str:
    """Average ranks over all sets, and each method against the supervised forest."""
    table = pd.concat([_areas(task)[COMMON] for task in TASKS])
    found = compare_methods(table, larger_is_better=True)
    rows = []
    for name, rank in found.average_ranks.items():
        better = table[name] - table[BASE]
        counts = "" if name == BASE else f"{(better > 0).sum()} / {(better < 0).sum()}"
        p = "" if name == BASE else p_text(wilcoxon_test(table[name], table[BASE], "normal").p_value)
        rows.append([name, number(rank, 2), counts, p])
    head = ["ranking", "average rank", "better / worse than supervised RF unbiased", "p (Wilcoxon)"]
    return markdown(head, rows) + "\n\n" + outcome(found)


def semi_supervised_rivals() -> str:
    """The methods that not all tasks have, against the forests, Relief and S-CLS on the same sets."""
    rows = []
    for task, own in OWN.items():
        table = _areas(task)
        for rival in own:
            for name in ("equal weights", "supervised RF unbiased", "RF genie3", "Relief", "S-CLS"):
                better = table[rival] - table[name]
                counts = f"{(better > 0).sum()} / {(better < 0).sum()}"
                rows.append([f"{rival} against {name}", task, counts, f"{better.mean():+.4f}"])
    return markdown(["pair", "target", "better / worse", "mean difference"], rows)


def semi_supervised_printed() -> str:
    """Average ranks of semi-supervised rankings among themselves, beside the printed ones."""
    printed = published("semi_supervised_ranks")
    names = {"Genie3": "RF genie3", "Relief": "Relief", "S-CLS": "S-CLS", "SFSS": "SFSS", "STR-Laplace": "STR-Laplace"}
    columns = {"label sets": "labels", "a number": "numbers", "classes": "classes"}
    ours = {}
    for shown, task in columns.items():
        known = [name for name in names if not pd.isna(printed.loc[name, shown])]
        table = _areas(task)[[names[name] for name in known]]
        ranks = table.rank(axis=1, ascending=False).mean()
        ours[shown] = dict(zip(known, ranks, strict=True))
    rows = []
    for name in names:
        cells = [name]
        for shown in columns:
            known = name in ours[shown]
            cells += [number(ours[shown][name], 2), printed.loc[name, shown]] if known else ["", ""]
        rows.append(cells)
    head = ["ranking"]
    for shown in columns:
        head += [f"{shown}: ours", "printed"]
    return markdown(head, rows)


def semi_supervised_sefr() -> str:
    """F1 of Genie3 less that of SEFR, beside the printed differences."""
    table, printed = _areas("classes"), published("sefr_differences")
    gain = table["RF genie3"] - table["SEFR"]
    rows = [[data, f"{gain[data]:+.4f}", printed["Genie3 minus SEFR"].get(data, "")] for data in gain.index]
    return markdown(["data set", "Genie3 minus SEFR", "printed"], rows)


TABLES = [
    semi_supervised_classes,
    semi_supervised_numbers,
    semi_supervised_labels,
    semi_supervised_ranks,
    semi_supervised_rivals,
    semi_supervised_printed,
    semi_supervised_sefr,
]
