"""The tables on few labels: rankings, single trees and forests, and the rules that choose the level of supervision."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
from table_parts import HERE, markdown

from omnirank.evaluation.statistics import wilcoxon_test

BENCHMARKS = HERE.parent / "benchmarks" / "results"
CLEAR = 2.57


def read(name: str) -> pd.DataFrame:
    """Return one file of results."""
    return pd.read_csv(HERE / "results" / f"{name}.csv")


def difference(mean: float, sem: float) -> str:
    """Return a difference with its standard error; bold where it is clear."""
    text = f"{mean:+.4f}" + ("" if pd.isna(sem) else f" ± {sem:.4f}")
    return f"**{text}**" if sem > 0 and abs(mean) > CLEAR * sem else text


def like_for_like() -> str:
    """Rankings of "auto" and half-supervised ones, set by set, by falling clustering hypothesis."""
    found = read("few_labels")
    rows = []
    for (name, hypothesis), part in found.groupby(["set", "hypothesis"]):
        by = part.set_index(["score", "variant"])
        cells = [f"{hypothesis:.2f}", f"{by.loc[('genie3', 'auto'), 'used']:.0%}".replace("%", " %")]
        for score in ("genie3", "symbolic"):
            cells += [
                difference(by.loc[(score, "auto"), mode], by.loc[(score, "auto"), f"{mode}_sem"])
                for mode in ("same_examples", "oracle")
            ]
        rows.append((hypothesis, [name, *cells]))
    rows.sort(key=lambda row: -row[0])
    head = ["data set", "CH", "used", "Genie3, same examples", "Genie3, oracle", "Symbolic, same", "Symbolic, oracle"]
    return markdown(head, [row for _, row in rows])


def like_for_like_summary() -> str:
    """Means over the sets, clear wins and losses, and how gains go with the clustering hypothesis."""
    found = read("few_labels")
    rows = []
    for (variant, score), part in found.groupby(["variant", "score"]):
        named = {"auto": '"auto"', "half": "w = 0.5"}[variant]
        for mode, words in (("same_examples", "same examples"), ("oracle", "oracle")):
            z = part[mode] / part[f"{mode}_sem"].where(part[f"{mode}_sem"] > 0)
            rows.append(
                [
                    f"{named}, {score}, {words}",
                    str(len(part)),
                    f"{part[mode].mean():+.4f} ± {part[mode].sem():.4f}",
                    f"{part[mode].min():+.4f} to {part[mode].max():+.4f}",
                    f"{(part[mode] > 1e-9).sum()} / {(part[mode] < -1e-9).sum()}",
                    f"{(z > CLEAR).sum()} / {(z < -CLEAR).sum()}",
                    f"{part[mode].corr(part['hypothesis'], method='spearman'):+.2f}",
                ]
            )
    head = ["ranking", "sets", "mean difference", "range", "better / worse", "clearly", "correlation with CH"]
    return markdown(head, rows)


def by_count() -> str:
    """Mean differences of "auto" by number of labelled examples."""
    found = read("few_labels_by_count").set_index(["score", "labelled"])
    counts = sorted({n for _, n in found.index})
    rows = []
    for score in ("genie3", "symbolic"):
        for mode, words in (("same_examples", "same examples"), ("oracle", "oracle")):
            rows.append([f"{score}, {words}", *(f"{found.loc[(score, n), mode]:+.4f}" for n in counts)])
    return markdown(["labelled examples", *map(str, counts)], rows)


def levels() -> str:
    """What comes of each rule that chooses the level: means over the sets of their means."""
    rows = []
    for (model, rule), part in read("levels").groupby(["model", "rule"], sort=False):
        sets = part.groupby("set")["difference"].mean()
        worst = f"{sets.min():+.3f} ({sets.idxmin()})"
        told = [difference(sets.mean(), sets.sem()), f"{(sets > 0).sum()} / {(sets < 0).sum()}", worst]
        used = np.average(part["used"], weights=part["n"])
        rows.append([f"{model}: {rule}", str(part["n"].sum()), *told, f"{used:.0%}"])
    return markdown(["model: rule", "fits", "difference", "sets better / worse", "worst set", "used"], rows)


def levels_rankings() -> str:
    """What comes of each rule for rankings, on the draws by which rules were chosen and on fresh ones."""
    found = read("levels_rankings")
    rows = []
    for rule, part in found.groupby("rule", sort=False):
        cells = []
        for draws in ("first", "fresh"):
            own = part[part["draws"] == draws]
            worse = (own["difference"] < -2.57 * own["sem"]).sum()
            sides = f"{(own['difference'] > 0).sum()} / {(own['difference'] < 0).sum()} ({worse})"
            cells += [difference(own["difference"].mean(), own["difference"].sem()), sides]
        rows.append([rule, *cells, f"{np.average(own['used'], weights=own['n']):.0%}"])
    head = ["rule", "first draws", "sets better / worse (clearly)", "fresh draws", "better / worse (clearly)", "used"]
    return markdown(head, rows)


def levels_by_count() -> str:
    """What "auto" gains by number of labels."""
    own = read("levels").query("rule == 'one standard error (auto)'")
    means = own.groupby(["labelled", "model"])["difference"].agg(["mean", "sem"]).unstack()
    names = ["tree", "forest"]
    rows = [[str(n), *(difference(row["mean"][m], row["sem"][m]) for m in names)] for n, row in means.iterrows()]
    return markdown(["labels", *names], rows)


def published() -> str:
    """Differences in the published set-up, the printed ones in parentheses."""
    ours = pd.concat([read("few_labels_published"), read("few_labels_further")])
    ours = ours.set_index(["set", "measure", "neighbors"])
    printed = pd.read_csv(HERE / "published" / "ssl_differences.csv")
    rows = []
    for row in printed.to_dict("records"):
        place = row["set"], row["measure"]
        if (*place, 40) not in ours.index:
            continue
        own = ours.loc[(*place, 40)]
        cells = [f"{row[s]:+.3f}" if pd.isna(own[s]) else f"{own[s]:+.3f} ({row[s]:+.3f})" for s in _RANKINGS]
        cells = [cell if "(" in cell else f"({cell})" for cell in cells]
        rows.append([row["set"], *cells, f"{own['equal weights']:+.3f}", f"{ours.loc[(*place, 20)]['genie3']:+.3f}"])
    return markdown(["data set", *_RANKINGS.values(), "equal weights", "Genie3, 20NN"], rows)


def published_signs() -> str:
    """How often our differences have the sign of the printed ones, and their correlation."""
    ours = pd.concat([read("few_labels_published"), read("few_labels_further")])
    ours = ours[ours["neighbors"] == 40].set_index(["set", "measure"])
    printed = pd.read_csv(HERE / "published" / "ssl_differences.csv").set_index(["set", "measure"])
    rows = []
    for score, name in _RANKINGS.items():
        cells = []
        for own in (score, "equal weights"):
            both = printed[[score]].join(ours[own].rename("ours"), how="inner").dropna()
            agree = (both[score] * both["ours"] > 0).sum()
            cells += [f"{agree} of {len(both)}", f"{both[score].corr(both['ours'], method='spearman'):.2f}"]
        rows.append([name, *cells])
    return markdown(["printed ranking", "same sign", "correlation", "equal weights: same sign", "correlation"], rows)


def published_global() -> str:
    """How often differences are larger with 40 neighbours than with 20, beside the printed shares."""
    ours = pd.concat([read("few_labels_published"), read("few_labels_further")])
    ours = ours.set_index(["neighbors", "set", "measure"])[[*_RANKINGS, "equal weights"]]
    change = (ours.loc[40] - ours.loc[20]).reset_index()
    printed = pd.read_csv(HERE / "published" / "ssl_global.csv", dtype=str).set_index("task")["share"]
    tasks = {"f1_macro": "classes", "pooled_auprc": "label sets", "rrmse": "a number"}
    others = dict.fromkeys(("Enron-corr", "Gasch1-yeast-FUN", "Pheno-yeast-FUN"), "hierarchies")
    others |= dict.fromkeys(("Atp1d", "Edm1"), "several numbers")
    judged = pd.read_csv(HERE / "published" / "ssl_differences.csv")[["set", "measure"]].merge(change)
    judged["task"] = judged["set"].map(others).fillna(judged["measure"].map(tasks))
    rows = []
    for task in printed.index:
        own = judged[judged["task"] == task]
        pairs, equal = own[[*_RANKINGS]].stack().dropna(), own["equal weights"]
        shares = [f"{(pairs > 0).sum()} of {len(pairs)} ({(pairs > 0).mean():.2f})", printed[task]]
        rows.append([task, *shares, f"{(equal > 0).sum()} of {len(equal)}"])
    return markdown(["target", "rankings: ours", "printed", "equal weights"], rows)


_RANKINGS = {"genie3": "Genie3", "symbolic": "Symbolic", "permutation": "RForest", "relief": "Relief"}


def rule() -> str:
    """Rankings of today's rule minus supervised ones, by score and judge."""
    found = read("few_labels_rule")
    rows = []
    for score, name in (("unbiased", "default (extra trees)"), ("genie3", "Genie3, RF"), ("symbolic", "Symbolic, RF")):
        part = found[found["score"] == score]
        for mode, words in (("same_examples", "same examples"), ("oracle", "oracle")):
            z = part[mode] / part[f"{mode}_sem"].where(part[f"{mode}_sem"] > 0)
            sides = f"{(part[mode] > 1e-9).sum()} / {(part[mode] < -1e-9).sum()}"
            clear = f"{(z > _CLEAR_OF_THREE).sum()} / {(z < -_CLEAR_OF_THREE).sum()}"
            told = [difference(part[mode].mean(), part[mode].sem()), sides, clear]
            rows.append(
                [f"{name}, {words}", str(len(part)), *told, f"{np.average(part['used'], weights=part['n']):.0%}"]
            )
    return markdown(["ranking", "sets", "mean difference", "better / worse", "clearly", "used"], rows)


# 5 % for the means of three folds.
_CLEAR_OF_THREE = 4.3


def trees() -> str:
    """Single trees: quality by level."""
    return _models("tree", ["1.0", "0.75", "0.5", "0.25", "0.0", "auto", "cv"])


def forests() -> str:
    """Forests: quality by level."""
    return _models("forest", ["1.0", "0.5", "auto"])


def _models(kind: str, levels: list[str]) -> str:
    found = read("ssl_trees")
    found = found[found["model"] == kind].set_index(["set", "labelled", "supervision"])
    rows = []
    for name, labelled in dict.fromkeys((s, n) for s, n, _ in found.index):
        cells = [f"{found.loc[(name, labelled, w), 'auprc']:.3f}" for w in levels]
        for rule in (w for w in levels if w in ("auto", "cv")):
            own = found.loc[(name, labelled, rule)]
            cells += [difference(own["difference"], own["difference_sem"]), f"{own['used']:.0%}".replace("%", " %")]
        rows.append([f"{name}, {labelled} labels", *cells, str(int(own["n"]))])
    head = [
        "data",
        *(w if w in ("auto", "cv") else f"w = {float(w):g}" for w in levels),
        *(cell for w in levels if w in ("auto", "cv") for cell in (f"{w} - (w = 1)", f"{w} used")),
        "repetitions",
    ]
    return markdown(head, rows)


def tree_sizes() -> str:
    """Numbers of nodes of supervised and semi-supervised trees, the printed ones in parentheses."""
    printed = pd.read_csv(HERE / "published" / "ssl_tree_sizes.csv", dtype=str).set_index("set")
    found = pd.concat([read("ssl_trees"), read("ssl_trees_variants")])
    found = found[found["model"] == "tree"].drop_duplicates(["set", "labelled", "supervision"])
    nodes = found.set_index(["set", "labelled", "supervision"])["nodes"]
    rows = []
    for name in printed.index:
        cells = []
        for labelled in printed.columns:
            place = name, int(labelled)
            known = (*place, "cv") in nodes.index
            own = f"{nodes[(*place, '1.0')]:.3g} / {nodes[(*place, 'cv')]:.3g} " if known else ""
            cells.append(f"{own}({printed.loc[name, labelled]})")
        rows.append([name, *cells])
    return markdown(["data set", *(f"{n} labels" for n in printed.columns)], rows)


def tree_sizes_by_level() -> str:
    """Numbers of nodes by level, means over sets."""
    found = read("ssl_trees").query("model == 'tree'")
    levels = ["1.0", "0.75", "0.5", "0.25", "0.0"]
    nodes = found.pivot_table(index=["set", "labelled"], columns="supervision", values="nodes")[levels]
    means = nodes.groupby("labelled").mean()
    rows = [[f"{labelled} labels", *(f"{value:.0f}" for value in row)] for labelled, row in means.iterrows()]
    rows.append(["all", *(f"{value:.0f}" for value in nodes.mean())])
    return markdown(["", *(f"w = {float(w):g}" for w in levels)], rows)


def ssl_variants_tests() -> str:
    """Trees with weights of features, and trees for hierarchies: wins, losses and exact p values."""
    printed = pd.read_csv(HERE / "published" / "ssl_tests.csv", dtype=str).set_index("pair")
    found = read("ssl_trees_variants").query("model == 'tree'")
    rows = []
    for hierarchies, words in ((False, "label sets"), (True, "hierarchies")):
        part = found[found["set"].isin(_HIERARCHIES) == hierarchies]
        for other, base, name in (("cv", "1.0", "cv"), ("cv, FR", "1.0", "FR"), ("cv, FR", "cv", "FR against cv")):
            cells = []
            for labelled in (50, 200, 500):
                own = part[part["labelled"] == labelled].pivot_table(index="set", columns="supervision", values="auprc")
                own = own.round(3)
                gain = own[other] - own[base]
                p_value = wilcoxon_test(own[other], own[base]).p_value
                counts = f"{(gain > 0).sum()} / {(gain == 0).sum()} / {(gain < 0).sum()}"
                cells.append(f"{counts}, p = {p_value:.2g} ({printed.loc[f'{words}, {name}', str(labelled)]})")
            rows.append([f"{words}: {name}", *cells])
    return markdown(["pair", "50 labels", "200 labels", "500 labels"], rows)


def ssl_shares() -> str:
    """Shares of sets and numbers of labels on which trees are better, equal or worse than supervised ones."""
    rows = [["printed, w by cross-validation", "", "52 %", "39 %", "9 %", "+40 %", "-7 %"]]
    rows += [_shares("ssl_trees", level, f"label sets: {name}") for level, name in _RULES.items()]
    rows.append(["printed, D+T", "", "36 %", "54 %", "11 %", "+4 %", ""])
    for kind, words in ((False, "four label sets below"), (True, "hierarchies below")):
        rows += [_shares("ssl_trees_variants", level, f"{words}: {level}", kind) for level in _VARIANTS]
    return markdown(
        ["rule", "pairs", "better", "equal", "worse", "mean gain where better", "mean loss where worse"], rows
    )


_RULES = {"cv": "cv", "auto": "auto", "0.5": "w = 0.5"}
_VARIANTS = ("cv", "cv, FR", "cv, D+T")
_HIERARCHIES = ("enron_corr", "pheno_GO", "cellcycle_GO", "diatoms", "imclef07d")


def _shares(name: str, level: str, words: str, hierarchies: bool | None = None) -> list[str]:
    found = read(name)
    if hierarchies is not None:
        found = found[found["set"].isin(_HIERARCHIES) == hierarchies]
    own = found[found["model"] == "tree"].pivot_table(index=["set", "labelled"], columns="supervision", values="auprc")
    gain = (own[level] - own["1.0"]) / own["1.0"]
    # printed areas have three digits: what rounds to the same is equal
    better, worse = gain[own[level].round(3) > own["1.0"].round(3)], gain[own[level].round(3) < own["1.0"].round(3)]
    shares = [len(better), len(gain) - len(better) - len(worse), len(worse)]
    cells = [f"{share / len(gain):.0%}".replace("%", " %") for share in shares]
    means = [f"{part.mean():+.0%}".replace("%", " %") if len(part) else "" for part in (better, worse)]
    return [words, str(len(gain)), *cells, *means]


def ssl_variants() -> str:
    """Trees with weights of features and of labelled examples only, and forests, by cross-validation."""
    found = read("ssl_trees_variants")
    own = found.pivot_table(index=["set", "labelled"], columns=["model", "supervision"], values="auprc")
    sizes = found.pivot_table(index=["set", "labelled"], columns=["model", "supervision"], values="nodes")
    repetitions = found.groupby(["set", "labelled"])["n"].min()
    columns = [("tree", level) for level in ("1.0", *_VARIANTS)] + [("forest", "1.0"), ("forest", "cv")]
    order = [*dict.fromkeys(s for s, _ in own.index if s not in _HIERARCHIES)]
    order += [s for s in _HIERARCHIES if s in own.index.get_level_values(0)]
    rows = []
    for place in sorted(own.index, key=lambda place: (order.index(place[0]), place[1])):
        cells = ["" if pd.isna(own.loc[place, c]) else f"{own.loc[place, c]:.3f}" for c in columns]
        nodes = " / ".join(f"{sizes.loc[place, ('tree', level)]:.0f}" for level in ("1.0", *_VARIANTS))
        rows.append([f"{place[0]}, {place[1]} labels", *cells, nodes, str(int(repetitions[place]))])
    head = [
        "data",
        "tree, w = 1",
        "cv",
        "cv, FR",
        "cv, D+T",
        "forest, w = 1",
        "cv",
        "nodes of the trees",
        "repetitions",
    ]
    return markdown(head, rows)


def ssl_tests() -> str:
    """How often "auto" and half-supervised models are better, and Wilcoxon's test over the sets."""
    found, printed = read("ssl_trees"), read("printed_ssl_tests").set_index("labelled")
    rows = []
    for labelled in sorted(found["labelled"].unique()):
        for kind in ("tree", "forest"):
            part = found[(found["model"] == kind) & (found["labelled"] == labelled)]
            own = part.pivot_table(index="set", columns="supervision", values="auprc")
            cells = []
            for level in ("cv", "auto", "0.5"):
                if level not in own:
                    cells += ["", "", ""]
                    continue
                gain = own[level] - own["1.0"]
                p_value = wilcoxon_test(own[level], own["1.0"]).p_value
                cells += [f"{(gain > 0).sum()} / {(gain < 0).sum()}", f"{gain.mean():+.4f}", f"{p_value:.3f}"]
            rows.append([f"{kind}, {labelled} labels", str(len(own)), *cells, f"{printed.loc[labelled, kind]:g}"])
    rules = ("cv", "auto", "w = 0.5")
    told = [cell for rule in rules for cell in (f"{rule}: better / worse", "mean gain", "p")]
    return markdown(["model", "sets", *told, "p printed"], rows)


def unsupervised_ensembles() -> str:
    """Errors of unsupervised rankings, those of fully grown trees and the printed ones."""
    found, grown = (read(name).set_index("set") for name in ("unsupervised_ensembles", "unsupervised_grown"))
    grown = grown.dropna()
    printed = read("printed_unsupervised").set_index("set")
    names = {score: next(c for c in found if score in c) for score in ("genie3", "symbolic", "permutation")}
    rows = []
    for name in found.index:
        cells = [f"{found.loc[name, column]:.4g}" for column in names.values()]
        cells.append(f"{found.loc[name, 'random']:.4g} ± {found.loc[name, 'random_sd']:.2g}")
        for score in ("genie3", "permutation"):
            cells.append(f"{grown.loc[name, names[score]]:.4g}" if name in grown.index else "")
            cells.append(f"{printed.loc[name, score]:g}" if name in printed.index else "")
        rows.append([name, *cells])
    ends = [f"{score} {what}" for score in ("Genie3", "permutation") for what in ("fully grown", "printed")]
    return markdown(["data set", "Genie3", "Symbolic", "permutation", "random", *ends], rows)


def madelon() -> str:
    """Share of the true features among the top 20."""
    found = read("madelon")
    table = found.groupby(["case", "score"], sort=False)["share"].agg(["mean", "min", "max"])
    rows = []
    for case in found["case"].unique():
        parts = [table.loc[(case, score)] for score in ("genie3", "symbolic", "permutation")]
        rows.append([case, *(f"{p['mean']:.2f} ({p['min']:.2f} to {p['max']:.2f})" for p in parts)])
    return markdown(["labels", "Genie3", "Symbolic", "permutation"], rows)


def beside_clus() -> str:
    """Agreement with CLUS: as we rank, and with its rules, beside two of its seeds."""
    found = json.loads((BENCHMARKS / "clus-few-labels.json").read_text())["figures"]
    by_case: dict[str, dict[str, str]] = {}
    for item in found:
        case, _, what = item["name"].partition(": ")
        if item["unit"] != "Spearman":
            continue
        by_case.setdefault(case, {})[what] = f"{item['value']:.2f} ± {item['spread']:.2f}"
    kinds = ("omnirank and CLUS", "omnirank with its rules, and CLUS", "two seeds of CLUS")
    rows = [[case, *(cells.get(kind, "") for kind in kinds)] for case, cells in by_case.items()]
    return markdown(["data, level", *kinds], rows)


TABLES = [
    beside_clus,
    like_for_like,
    like_for_like_summary,
    by_count,
    levels,
    levels_by_count,
    levels_rankings,
    published,
    published_signs,
    published_global,
    rule,
    trees,
    forests,
    tree_sizes,
    tree_sizes_by_level,
    ssl_variants_tests,
    ssl_shares,
    ssl_variants,
    ssl_tests,
    unsupervised_ensembles,
    madelon,
]
