"""Comparison of methods over data sets: average ranks, tests and groups in one result."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from omnirank.core.errors import ParameterError
from omnirank.core.parameters import choice
from omnirank.core.plurals import counted
from omnirank.evaluation.statistics_ranks import average_ranks, checked_table, rounded
from omnirank.evaluation.statistics_tests import (
    FriedmanResult,
    bonferroni_dunn_distance,
    correct_p_values,
    friedman_test,
    nemenyi_distance,
    nemenyi_p_values,
    wilcoxon_test,
)
from omnirank.evaluation.table_text import latex_lines, latex_text, markdown_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Comparison:
    """How methods compare over data sets, as `compare_methods` returns it.

    Parameters
    ----------
    average_ranks : Series
        Average rank of each method, best first; 1 is the best possible.
    friedman : FriedmanResult
        Test of the hypothesis that all methods perform alike.
    alpha : float
        Level of significance.
    control : str or None
        The method with which all others are compared; None where all pairs are.
    critical_distance : float
        Average ranks that differ by at least this much differ significantly: Nemenyi's distance for all pairs,
        Bonferroni and Dunn's with a control. It counts only where Friedman's test rejects.
    p_values : DataFrame
        Of Wilcoxon's signed-rank test for each pair of methods.
    nemenyi_p_values : DataFrame
        Of Nemenyi's test for each pair of methods.
    significant : DataFrame of bool
        Pairs whose average ranks differ significantly: Friedman's test rejects and the distance is reached; with a
        control only pairs with it. For two methods: Wilcoxon's test rejects.
    groups : tuple of tuple of str
        Largest sets of methods, best first, of which no two differ significantly; methods that differ from all others
        stand alone. Empty with a control.
    values : DataFrame
        The performances that were ranked.
    larger_is_better : bool
        Direction of the measure.
    """

    average_ranks: pd.Series
    friedman: FriedmanResult
    alpha: float
    control: str | None
    critical_distance: float
    p_values: pd.DataFrame = field(repr=False)
    nemenyi_p_values: pd.DataFrame = field(repr=False)
    significant: pd.DataFrame = field(repr=False)
    groups: tuple[tuple[str, ...], ...]
    values: pd.DataFrame = field(repr=False)
    larger_is_better: bool

    @property
    def rejected(self) -> bool:
        """Whether methods differ at all, at the level ``alpha``."""
        return bool(self.p_value < self.alpha)

    @property
    def p_value(self) -> float:
        """Of the hypothesis that all methods perform alike: Friedman's test, Wilcoxon's for two methods."""
        if len(self.average_ranks) == 2:
            return float(self.p_values.to_numpy()[0, 1])
        return self.friedman.p_value

    def to_frame(self) -> pd.DataFrame:
        """Return one row per method, best first: rank, mean performance, wins, and the comparison with the reference.

        The reference is the control, or else the best method. Its p values are Wilcoxon's, corrected by Benjamini and
        Hochberg for the number of methods.
        """
        names = list(self.average_ranks.index)
        reference = self.control if self.control is not None else names[0]
        others = [name for name in names if name != reference]
        best = self.values.max(axis=1) if self.larger_is_better else self.values.min(axis=1)
        raw = self.p_values.loc[reference, others]
        adjusted = pd.Series(correct_p_values(raw.to_numpy(), self.alpha).adjusted, index=others)
        return pd.DataFrame(
            {
                "average_rank": self.average_ranks,
                "mean": self.values.mean()[names],
                "wins": self.values.eq(best, axis=0).sum()[names],
                "wilcoxon_p": raw.reindex(names),
                "adjusted_p": adjusted.reindex(names),
                "differs": self.significant.loc[reference, names],
            }
        ).rename_axis("method")

    def to_markdown(self) -> str:
        """Return the table and the tests as Markdown."""
        header, rows = self._cells()
        return "\n".join([*markdown_lines(header, rows), "", self.summary()])

    def to_latex(self) -> str:
        """Return the table as a LaTeX tabular, with the tests in a comment line above it."""
        header, rows = self._cells()
        head, *body = ([latex_text(cell) for cell in cells] for cells in (header, *rows))
        return "\n".join([f"% {self.summary()}", *latex_lines(head, body)])

    def summary(self) -> str:
        """Return the outcome in a sentence or two."""
        n, k = self.friedman.n_datasets, self.friedman.n_methods
        test = "Wilcoxon" if k == 2 else f"Friedman F = {self.friedman.f:.3g},"
        text = f"{counted(k, 'method')} on {counted(n, 'data set')}: {test} p = {self.p_value:.3g}"
        if not self.rejected:
            return f"{text}; no significant difference at {self.alpha:g}."
        if k == 2:
            return f"{text}; the difference is significant at {self.alpha:g}."
        name = "Nemenyi" if self.control is None else f"Bonferroni-Dunn (control {self.control})"
        return f"{text}; {name} critical distance {self.critical_distance:.4f} at {self.alpha:g}."

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the average ranks; see `omnirank.plots.plot_critical_difference`."""
        from omnirank.plots.methods import plot_critical_difference

        return plot_critical_difference(self, ax, **options)

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        header = ["method", "average rank", "mean", "wins", "Wilcoxon p", "adjusted p", "differs"]
        rows = [
            [
                str(row["method"]),
                f"{row['average_rank']:.3f}",
                f"{row['mean']:.4g}",
                f"{row['wins']}",
                "" if math.isnan(row["wilcoxon_p"]) else f"{row['wilcoxon_p']:.3g}",
                "" if math.isnan(row["adjusted_p"]) else f"{row['adjusted_p']:.3g}",
                "yes" if row["differs"] else "",
            ]
            for row in self.to_frame().reset_index().to_dict("records")
        ]
        return header, rows


def compare_methods(
    table: pd.DataFrame,
    larger_is_better: bool,
    alpha: float = 0.05,
    control: str | None = None,
    *,
    decimals: int | None = None,
    digits: int | None = None,
) -> Comparison:
    """Compare methods over data sets.

    Friedman's test in the form of Iman and Davenport says whether methods differ at all. Which do follows from the
    critical distance of average ranks: Nemenyi's for all pairs, Bonferroni and Dunn's where all are compared with a
    control. Two methods are compared by Wilcoxon's signed-rank test, which is reported for all pairs as well.

    Parameters
    ----------
    table : DataFrame
        Performances: data sets as rows, methods as columns, no value missing.
    larger_is_better : bool
        Direction of the measure; False for losses and times.
    alpha : float
        Level of significance.
    control : str, optional
        A column.
    decimals, digits : int, optional
        Round performances to this number of decimals or significant digits before they are ranked.

    Returns
    -------
    Comparison
        With ``to_frame()``, ``to_markdown()``, ``to_latex()``, ``summary()`` and ``plot()``.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from omnirank.evaluation.statistics import compare_methods
    >>> gains = np.arange(10) / 100
    >>> table = pd.DataFrame({"forest": 0.9 - gains, "relief": 0.8 + gains / 2, "random": 0.5 + gains})
    >>> found = compare_methods(table, larger_is_better=True)
    >>> found.average_ranks.to_dict()
    {'forest': 1.3, 'relief': 1.7, 'random': 3.0}
    >>> found.groups
    (('forest', 'relief'), ('random',))
    """
    values = checked_table(rounded(checked_table(table), decimals=decimals, digits=digits))
    if control is not None and control not in values.columns:
        raise ParameterError("control", control, choice(*map(str, values.columns)).advice(control))
    friedman = friedman_test(values, larger_is_better)
    ranks = average_ranks(values, larger_is_better).sort_values(kind="stable")
    n_datasets, n_methods = values.shape
    distance = nemenyi_distance if control is None else bonferroni_dunn_distance
    critical = distance(n_methods, n_datasets, alpha)
    p_values = _wilcoxon_p_values(values[ranks.index])
    if n_methods == 2:
        apart = p_values.to_numpy() < alpha
    else:
        gaps = np.abs(ranks.to_numpy()[:, None] - ranks.to_numpy())
        apart = (gaps >= critical) & (friedman.p_value < alpha)
    if control is not None:
        own = np.asarray(ranks.index == control)
        apart &= own[:, None] | own
    return Comparison(
        average_ranks=ranks,
        friedman=friedman,
        alpha=alpha,
        control=control,
        critical_distance=critical,
        p_values=p_values,
        nemenyi_p_values=nemenyi_p_values(ranks, n_datasets),
        significant=pd.DataFrame(apart, index=ranks.index, columns=ranks.index),
        groups=() if control is not None else _groups(list(ranks.index), apart),
        values=values,
        larger_is_better=larger_is_better,
    )


def _wilcoxon_p_values(values: pd.DataFrame) -> pd.DataFrame:
    names = values.columns
    found = np.ones((len(names), len(names)))
    for i in range(len(names)):
        for j in range(i):
            found[i, j] = found[j, i] = wilcoxon_test(values.iloc[:, i], values.iloc[:, j]).p_value
    return pd.DataFrame(found, index=names, columns=names)


def _groups(names: list[str], apart: np.ndarray) -> tuple[tuple[str, ...], ...]:
    """Largest runs of methods, in the order of their ranks, whose first and last do not differ."""
    ends = [max(np.flatnonzero(~apart[i]).tolist()) for i in range(len(names))]
    found: list[tuple[str, ...]] = []
    reached = -1
    for start, end in enumerate(ends):
        if end > reached:
            found.append(tuple(names[start : end + 1]))
            reached = end
    return tuple(found)
