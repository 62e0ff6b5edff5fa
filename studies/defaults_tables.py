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


def defaults_no_target() -> str:
    """Summary without a target."""
    return _summary("defaults_no_target")


def defaults_truths() -> str:
    """Areas of all methods."""
    return _areas("truths")


def defaults_relevance() -> str:
    """Areas of the default and of scores beside it."""
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


def _with_error(value: float, error: float) -> str:
    return f"{number(value)} ± {number(error)}"


def defaults_n_trees() -> str:
    """Areas by the number of trees, means over all truths, and truths that many trees change."""
    found = pd.read_csv(HERE / "results" / "n_trees.csv")
    area, error, tied = (found.pivot(index="truth", columns="trees", values=name) for name in ("auc", "error", "tied"))
    rows = [["mean", *(number(value) for value in area.mean())]]
    chosen = (area[400] - area[100]).abs().sort_values(ascending=False).index[:6].union(["60 x 4,000"], sort=False)
    rows += [[truth, *map(_with_error, area.loc[truth], error.loc[truth])] for truth in chosen]
    rows.append(["largest share of tied scores", *(number(value) for value in tied.max())])
    return markdown(["truth", *(f"{n} trees" for n in area)], rows)


def defaults_wide() -> str:
    """Accuracy of held-out rows by the top 20."""
    found = pd.read_csv(HERE / "results" / "wide_public.csv")
    rows = []
    for name, part in found.groupby("set", sort=False):
        shape = f"{name} ({part['rows'].iloc[0]} x {part['features'].iloc[0]:,})"
        cells = part.set_index("method")
        own = _with_error(cells.at["default", "accuracy"], cells.at["default", "error"])
        others = ("F test", "Boruta", "random")
        differences = [f"{cells.at[m, 'difference']:+.3f} ± {cells.at[m, 'difference error']:.3f}" for m in others]
        rows.append([shape, own, *differences])
    return markdown(["set (training rows x features)", "default", "F test", "Boruta", "random"], rows)


def p_values_peers() -> str:
    """False discoveries and power."""
    found = pd.read_csv(HERE / "results" / "peers.csv")
    methods = ["default", "F test", "Boruta", "LightGBM", "corrected impurity", "stability selection"]
    methods = [method for method in methods if (found["method"] == method).any()]
    rows = []
    for setting, part in found.groupby("setting", sort=False):
        cells = part.set_index("method")
        rows.append([setting, *(_rates(cells, method) for method in methods)])
    return markdown(["data", *methods], rows)


def _rates(cells: pd.DataFrame, method: str) -> str:
    if method not in cells.index:
        return ""
    return f"{cells.at[method, 'fdr']:.2f} / {cells.at[method, 'power']:.2f}"


def p_values_settings() -> str:
    """Noise alone and beside signal, false discoveries and power."""
    found = pd.read_csv(HERE / "results" / "significance_settings.csv")
    rows = []
    for setting, part in found.groupby("setting", sort=False):
        of = part.set_index(["method", "beside"])
        noise = (
            " / ".join(f"{of.at[(m, beside), 'noise']:.3f}" for beside in ("nothing", "signal"))
            for m in ("default", "F")
        )
        rates = (f"{of.at[(m, 'signal'), 'fdr']:.2f} / {of.at[(m, 'signal'), 'power']:.2f}" for m in ("default", "F"))
        error = max(of.at[("default", beside), "error"] for beside in ("nothing", "signal"))
        rows.append([setting, *(cell for pair in zip(noise, rates, strict=True) for cell in pair), f"{error:.3f}"])
    header = ["rows", "noise", "FDR / power", "F test: noise", "F test: FDR / power", "error of noise"]
    return markdown(header, rows)


def p_values_adds() -> str:
    """What features add to all others: proxies with small p values, false discoveries and power of both tests."""
    found = pd.read_csv(HERE / "results" / "adds.csv")
    rows = []
    for target, part in found.groupby("target", sort=False):
        shares = part.mean(numeric_only=True)
        both = (f"{shares[f'{what}, adds']:.2f} / {shares[f'{what}, relevant']:.2f}" for what in ("false", "power"))
        rows.append([target, f"{shares['proxies']:.3f} ± {part['proxies'].sem():.3f}", *both])
    header = ["target", "proxies with p < 0.05", "false discoveries: adds / relevant", "power: adds / relevant"]
    return markdown(header, rows)


TABLES = [
    p_values_adds,
    defaults_n_trees,
    defaults_wide,
    p_values_peers,
    p_values_settings,
    defaults_ensembles,
    defaults_ensembles_sets,
    defaults_no_target,
    defaults_truths,
    defaults_relevance,
]
