"""The beginning of the page of results: a chart of the comparisons with other packages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

__all__ = ["headlines"]


class Headline(NamedTuple):
    """A comparison that stands for others, in words, the contestant it is about, and ours if that is not the first."""

    comparison: str
    what: str
    contestant: str
    ours: str = ""


CHOSEN = (
    Headline("church_FUN", "random forest, hierarchy of labels", "CLUS"),
    Headline("wq", "random forest, 14 targets", "CLUS"),
    Headline("forest-bibtex", "random forest, 159 labels of sparse texts", "scikit-learn on dense data"),
    Headline("forest-regression-20000", "random forest, one number, 20,000 x 50", "scikit-learn"),
    Headline("forest-mtr", "random forest, 16 numbers, 5000 x 100", "scikit-learn"),
    Headline("forest-extra-trees-20000x50", "extra trees, all features, 20,000 x 50", "scikit-learn"),
    Headline(
        "forest-regression-500000",
        "extra trees, 500,000 x 50, 20 trees",
        "scikit-learn extra trees",
        "omnirank extra trees",
    ),
    Headline("relief-regression-5000", "Relief for numbers, 5000 x 100", "scikit-rebate"),
    Headline("relief-classification", "Relief for classes, 2000 x 200", "fast-select"),
    Headline("dense ARFF", "reading a dense ARFF file", "liac-arff"),
)

DRAWING = """
```python hidden
import matplotlib.pyplot as plt

ratios = {
%s
}
figure, axes = plt.subplots(figsize=(8, 0.5 + 0.36 * len(ratios)), layout="constrained")
bars = axes.barh(list(ratios)[::-1], list(ratios.values())[::-1], color="#3b6ea5")
axes.bar_label(bars, fmt="%%.3g x", padding=3)
axes.axvline(1, color="black", linewidth=1)
axes.set_xscale("log")
axes.set_xlim(0.5, 3 * max(ratios.values()))
axes.set_title("time of other packages / time of omnirank")
axes.spines[["top", "right"]].set_visible(False)
```
"""


def headlines(records: Sequence[dict[str, Any]]) -> str:
    """Return the chart of the chosen comparisons that have been recorded."""
    ratios = {comparison["name"]: comparison["ratios"] for record in records for comparison in record["comparisons"]}
    known = [line for line in CHOSEN if line.contestant in ratios.get(line.comparison, {})]
    if not known:
        return ""
    chart = []
    for line in known:
        found = ratios[line.comparison]
        value = found[line.contestant]["value"] / (found[line.ours]["value"] if line.ours else 1)
        chart.append(f'    "{line.contestant.split()[0]}: {line.what}": {value:.4g},')
    return DRAWING % "\n".join(chart)
