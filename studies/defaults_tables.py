"""The tables behind the defaults: scores of ensembles on real data sets and on known truths."""

from __future__ import annotations

import pandas as pd
from table_parts import HERE, figures, markdown, number, p_text

from omnirank.evaluation.statistics import wilcoxon_test

# By which measure rankings of a data set are judged: the first that its task has; and whether larger is better.
_JUDGED_BY = {"pooled_auprc": 1, "f1_macro": 1, "rrmse": -1, "top_features_rmse": -1}
_BEFORE = "RF genie3"


def _results(study: str) -> tuple[pd.DataFrame, pd.Series]:
    """Return one row per data set, one column per method; and the measure of each data set."""
    found = figures(study)
    present = [measure for measure in _JUDGED_BY if measure in found]
    measure = found[present].notna().idxmax(axis=1)
    found = found.assign(measure=measure, value=[found.at[i, m] for i, m in measure.items()])
    table = found.pivot(index="data", columns="label", values="value").loc[list(dict.fromkeys(found["data"]))]
    return table, found.groupby("data")["measure"].first()


def _sets(study: str) -> str:
    table, measure = _results(study)
    names = {"pooled_auprc": "AUPRC", "f1_macro": "F1", "rrmse": "RRMSE", "top_features_rmse": "RMSE"}
    rows = [[data, names[measure[data]], *(f"{value:.4g}" for value in table.loc[data])] for data in table.index]
    return markdown(["data set", "measure", *table.columns], rows)


def _summary(study: str) -> str:
    """Average ranks, and data sets on which a method is better or worse than Genie3 of a random forest."""
    table, measure = _results(study)
    signed = table.mul(measure.map(_JUDGED_BY), axis=0)
    ranks = signed.rank(axis=1, ascending=False).mean().sort_values()
    rows = []
    for name, rank in ranks.items():
        cells = [name, number(rank, 2)]
        if name == _BEFORE:
            cells += ["", "", ""]
        else:
            gain = (signed[name] - signed[_BEFORE]) / signed[_BEFORE].abs()
            cells += [f"{(gain > 0).sum()} / {(gain < 0).sum()}", f"{gain.median():+.2%}".replace("%", " %")]
            cells.append(p_text(wilcoxon_test(signed[name], signed[_BEFORE]).p_value))
        rows.append(cells)
    return markdown(["method", "average rank", f"better / worse than {_BEFORE}", "median change", "p (Wilcoxon)"], rows)


def defaults_ensembles() -> str:
    """Summary of all labelled."""
    return _summary("defaults_ensembles")


def defaults_ensembles_sets() -> str:
    """Data set by data set."""
    return _sets("defaults_ensembles")


def defaults_few_labels() -> str:
    """Summary of few labels."""
    return _summary("defaults_few_labels")


def defaults_no_target() -> str:
    """Summary without a target."""
    return _summary("defaults_no_target")


def defaults_truths() -> str:
    """Areas of all methods."""
    return _areas("truths")


def defaults_relevance() -> str:
    """Areas of the default now and before, and of scores beside it."""
    return _areas("relevance")


def _areas(name: str) -> str:
    """Areas under the ROC curve, the best of a row in bold type."""
    found = pd.read_csv(HERE / "results" / f"{name}.csv")
    table = found.pivot(index="truth", columns="method", values="mean")
    table = table.loc[list(dict.fromkeys(found["truth"])), list(dict.fromkeys(found["method"]))]
    rows = [
        [truth, *(f"**{value:.3f}**" if value >= row.max() - 0.0005 else number(value) for value in row)]
        for truth, row in table.iterrows()
    ]
    rows.append(["mean", *(number(value) for value in table.mean())])
    return markdown(["truth", *table.columns], rows)


TABLES = [
    defaults_ensembles,
    defaults_ensembles_sets,
    defaults_few_labels,
    defaults_no_target,
    defaults_truths,
    defaults_relevance,
]
