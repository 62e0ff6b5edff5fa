"""Statistics of methods over data sets: ranks, tests, and `compare_methods`, which does it all.

Distributions come from scipy. Wilcoxon's test is exact for up to 50 data sets. Neither Friedman's test nor the normal
form of Wilcoxon's is corrected for ties, as in published studies; scipy's functions always correct.

References
----------
J. Demsar: Statistical comparisons of classifiers over multiple data sets. JMLR 7 (2006), for all tests
that compare methods.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from omnirank.core.blas_threads import one_blas_thread
from omnirank.core.errors import DataError, ParameterError
from omnirank.core.parameters import check, choice, count, number
from omnirank.core.ranking.certainty import adjusted_p_values
from omnirank.core.seeds import root_entropy, stream
from omnirank.core.text import Shown, counted
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.dataset import Dataset
from omnirank.data.table import Table
from omnirank.data.target import Target
from omnirank.tasks import PrototypeColumns, get_task, prototype_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown):
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
        best = self.values.max(axis=1) if self.larger_is_better else self.values.min(axis=1)
        means, wins = self.values.mean()[names], self.values.eq(best, axis=0).sum()[names]
        frame = pd.DataFrame({"average_rank": self.average_ranks, "mean": means, "wins": wins})
        return frame.join(self._tests(reference)).assign(differs=self.significant[reference]).rename_axis("method")

    def _tests(self, reference: str) -> pd.DataFrame:
        raw = self.p_values[reference].drop(reference)
        return pd.DataFrame({"wilcoxon_p": raw, "adjusted_p": adjusted_p_values(raw.to_numpy())})

    def against(self, reference: str | None = None) -> pd.DataFrame:
        """Return how the other methods do against one: wins, ties, losses, relative improvement, Wilcoxon's test.

        Parameters
        ----------
        reference : str, optional
            A method; by default the control, or else the best one.

        Returns
        -------
        DataFrame
            One row per other method: on how many data sets it wins, ties and loses; by how much it is better on
            average, relative to the reference; p values, plain and corrected by Benjamini and Hochberg.

        Examples
        --------
        >>> import pandas as pd
        >>> from omnirank.evaluation.statistics import compare_methods
        >>> table = pd.DataFrame({"SL": [0.5, 0.4, 0.6], "SSL": [0.6, 0.4, 0.75]})
        >>> compare_methods(table, larger_is_better=True).against("SL").loc["SSL"].round(3).to_dict()
        {'wins': 2.0, 'ties': 1.0, 'losses': 0.0, 'improvement': 0.15, 'wilcoxon_p': 0.5, 'adjusted_p': 0.5}
        """
        reference = reference or self.control or str(self.average_ranks.index[0])
        check("reference", reference, choice(*map(str, self.values.columns)))
        own, others = self.values[reference], self.values.drop(columns=reference)
        gains = others.sub(own, axis=0) * (1 if self.larger_is_better else -1)
        better = gains.div(own.abs().where(own != 0), axis=0).mean()
        counts = {"wins": (gains > 0).sum(), "ties": (gains == 0).sum(), "losses": (gains < 0).sum()}
        return pd.DataFrame(counts | {"improvement": better}).join(self._tests(reference)).rename_axis("method")

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
        rows = []
        for name, rank, mean, wins, *p_values, differs in self.to_frame().itertuples(name=None):
            tests = ["" if math.isnan(p) else f"{p:.3g}" for p in p_values]
            rows.append([str(name), f"{rank:.3f}", f"{mean:.4g}", f"{wins}", *tests, "yes" if differs else ""])
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
        significant=pd.DataFrame(apart, index=ranks.index, columns=ranks.index),
        groups=() if control is not None else _groups(list(ranks.index), apart),
        values=values,
        larger_is_better=larger_is_better,
    )


def _wilcoxon_p_values(values: pd.DataFrame) -> pd.DataFrame:
    names = values.columns
    p_values = np.ones((len(names), len(names)))
    for i in range(len(names)):
        for j in range(i):
            p_values[i, j] = p_values[j, i] = wilcoxon_test(values.iloc[:, i], values.iloc[:, j]).p_value
    return pd.DataFrame(p_values, index=names, columns=names)


def _groups(names: list[str], apart: np.ndarray) -> tuple[tuple[str, ...], ...]:
    """Largest runs of methods, in the order of their ranks, whose first and last do not differ."""
    ends = [max(np.flatnonzero(~apart[i]).tolist()) for i in range(len(names))]
    groups: list[tuple[str, ...]] = []
    reached = -1
    for start, end in enumerate(ends):
        if end > reached:
            groups.append(tuple(names[start : end + 1]))
            reached = end
    return tuple(groups)


def smallest_sufficient(tables: Mapping[str, pd.DataFrame], alpha: float = 0.05, **options: Any) -> dict[str, Any]:
    """Return for each measure the first method, such as the smallest size, that is not clearly worse than the best.

    Each method is compared with that of the best average rank by Wilcoxon's test; the p values of all measures are
    corrected together (Benjamini and Hochberg).

    Parameters
    ----------
    tables : mapping of str to DataFrame
        By measure: data sets as rows, methods as columns, the smallest first; larger values are better, except for the
        names of measures of which smaller ones are.
    alpha : float
        Level of significance.
    **options
        Of `compare_methods`.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from omnirank.evaluation.statistics import smallest_sufficient
    >>> noise = np.linspace(-0.01, 0.01, 10)
    >>> table = pd.DataFrame({1: 0.5 + noise, 10: 0.8 + noise, 50: 0.8 - noise / 2})
    >>> smallest_sufficient({"accuracy": table})
    {'accuracy': 10}
    """
    from omnirank.tasks.measuring import MEASURES

    places, p_values = [], []
    for name, table in tables.items():
        way = name not in MEASURES or MEASURES[name].larger_is_better
        compared = compare_methods(table, way, alpha, **options)
        best = compared.average_ranks.index[0]
        for method in table.columns[table.columns != best]:
            places.append((name, method))
            p_values.append(float(compared.p_values.loc[method, best]))
    worse = {place for place, p in zip(places, adjusted_p_values(p_values), strict=True) if p <= alpha}
    return {name: next(m for m in table.columns if (name, m) not in worse) for name, table in tables.items()}


def rounded(table: pd.DataFrame, *, decimals: int | None = None, digits: int | None = None) -> pd.DataFrame:
    """Return performances rounded before they are ranked, so that meaningless differences are ties.

    Parameters
    ----------
    table : DataFrame
        Data sets as rows, methods as columns.
    decimals : int, optional
        Decimals to keep, such as 3.
    digits : int, optional
        Significant digits to keep.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.evaluation.statistics import rounded
    >>> table = pd.DataFrame({"a": [0.01234], "b": [0.01232]})
    >>> rounded(table, decimals=3).loc[0].tolist(), rounded(table, digits=3).loc[0].tolist()
    ([0.012, 0.012], [0.0123, 0.0123])
    """
    if decimals is not None and digits is not None:
        raise ParameterError("round to decimals or to significant digits, not to both")
    if digits is not None:
        return table.map(lambda value: float(f"{value:.{digits - 1}e}"))
    return table if decimals is None else table.round(decimals)


def average_ranks(table: pd.DataFrame, larger_is_better: bool) -> pd.Series:
    """Return the mean over data sets of every method's rank.

    Parameters
    ----------
    table, larger_is_better
        As in `compare_methods`; methods with equal performance have their mean rank.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.evaluation.statistics import average_ranks
    >>> average_ranks(pd.DataFrame({"a": [0.9, 0.5], "b": [0.7, 0.5]}), larger_is_better=True).to_dict()
    {'a': 1.25, 'b': 1.75}
    """
    return checked_table(table).rank(axis=1, ascending=not larger_is_better).mean().rename("average rank")


def checked_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of performances as floats, or say what is wrong with it."""
    table = pd.DataFrame(table)
    if table.shape[1] < 2 or not len(table):
        raise DataError(f"a comparison needs at least one data set and two methods, not a table of shape {table.shape}")
    if not table.columns.is_unique:
        name = table.columns[table.columns.duplicated()][0]
        raise DataError(f"two methods are called {name!r}: rename one of the columns")
    try:
        values = table.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"performances must be numbers: {error}") from None
    if values.isna().to_numpy().any():
        place = np.argwhere(values.isna().to_numpy())[0]
        raise DataError(
            f"method {values.columns[place[1]]!r} has no value for data set {values.index[place[0]]!r}; leave out "
            "the data set, the method, or run what is missing"
        )
    return values


_TIE_DECIMALS = 12
_P_VALUES = ("auto", "exact", "normal")
# Data sets up to which the exact distribution is the default, as in scipy.
_MOST_EXACT = 50


# -- more than two methods ------------------------------------------------------------------------


@dataclass(frozen=True)
class FriedmanResult:
    """Outcome of Friedman's test.

    Parameters
    ----------
    chi2, chi2_p_value : float
        Friedman's statistic and its p value, chi-squared with k - 1 degrees of freedom.
    f, p_value : float
        The less conservative statistic of Iman and Davenport and its p value, F distributed with k - 1 and
        (k - 1)(N - 1) degrees of freedom; this is the one to use.
    n_datasets, n_methods : int
        N and k.
    """

    chi2: float
    chi2_p_value: float
    f: float
    p_value: float
    n_datasets: int
    n_methods: int


def friedman_test(table: pd.DataFrame, larger_is_better: bool = True) -> FriedmanResult:
    """Test whether all methods perform alike.

    Parameters
    ----------
    table : DataFrame
        Performances: data sets as rows, methods as columns.
    larger_is_better : bool
        Direction of the measure.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.evaluation.statistics import friedman_test
    >>> table = pd.DataFrame({"a": [9, 8, 9, 7], "b": [5, 6, 9.5, 4], "c": [1, 2, 3, 3]})
    >>> result = friedman_test(table)
    >>> round(result.chi2, 3), round(result.f, 3), round(result.p_value, 4)
    (6.5, 13.0, 0.0066)
    """
    from scipy import stats

    n, k = checked_table(table).shape
    chi2 = 12 * n / (k * (k + 1)) * float(((average_ranks(table, larger_is_better) - (k + 1) / 2) ** 2).sum())
    left = n * (k - 1) - chi2
    f = (n - 1) * chi2 / left if left > 1e-12 * n * k else math.inf
    chi2_p_value = float(stats.chi2.sf(chi2, k - 1))
    if n == 1:  # a single data set leaves no degrees of freedom to F
        return FriedmanResult(chi2, chi2_p_value, math.nan, chi2_p_value, n, k)
    return FriedmanResult(chi2, chi2_p_value, f, float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))), n, k)


def nemenyi_distance(n_methods: int, n_datasets: int, alpha: float = 0.05) -> float:
    """Return the critical difference of average ranks in Nemenyi's test of all pairs of methods.

    CD = q sqrt(k (k + 1) / (6 N)), with q the quantile of the studentised range over sqrt 2.

    Parameters
    ----------
    n_methods, n_datasets : int
        k and N.
    alpha : float
        Level of significance.

    Examples
    --------
    >>> from omnirank.evaluation.statistics import nemenyi_distance
    >>> round(nemenyi_distance(4, 14), 2)
    1.25
    """
    from scipy.stats import studentized_range

    error = _standard_error(n_methods, n_datasets, alpha)
    return error * float(studentized_range.ppf(1 - alpha, n_methods, np.inf)) / math.sqrt(2)


def bonferroni_dunn_distance(n_methods: int, n_datasets: int, alpha: float = 0.05) -> float:
    """Return the critical difference of average ranks when all methods are compared with one control only.

    Parameters
    ----------
    n_methods, n_datasets, alpha
        As in `nemenyi_distance`; the control is one of the methods.

    Examples
    --------
    >>> from omnirank.evaluation.statistics import bonferroni_dunn_distance
    >>> round(bonferroni_dunn_distance(4, 14, alpha=0.1), 2)
    1.04
    """
    from scipy.stats import norm

    error = _standard_error(n_methods, n_datasets, alpha)
    return error * float(norm.isf(alpha / (2 * (n_methods - 1))))


def _standard_error(n_methods: int, n_datasets: int, alpha: float) -> float:
    check("alpha", alpha, number(above=0, below=1))
    if n_methods < 2 or n_datasets < 1:
        raise ParameterError(f"{n_methods} methods on {n_datasets} data sets cannot be compared")
    return math.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets))


# -- two methods ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class WilcoxonResult:
    """Outcome of Wilcoxon's signed-rank test.

    Parameters
    ----------
    first, second : float
        Sums of the ranks of differences in favour of larger values of the first and of the second method.
    z : float
        Normal statistic.
    p_value : float
        Two-sided p value.
    n : int
        Number of differences.
    """

    first: float
    second: float
    z: float
    p_value: float
    n: int


def wilcoxon_test(first: ArrayLike, second: ArrayLike, method: str = "auto") -> WilcoxonResult:
    """Test whether two methods perform alike, from their performances on the same data sets.

    Zero differences are ranked and split evenly between both sides. Differences that agree to 1e-12 of the largest
    performance are ties. The exact p value is the share of all assignments of signs to the ranks of the other
    differences, with their ties, whose rank sums are at least as uneven as the observed ones.

    Parameters
    ----------
    first, second : array-like
        Performances.
    method : {"auto", "exact", "normal"}
        How the p value is computed: exactly, or by the normal approximation. "auto" is exact for up to 50
        data sets and normal for more.

    Examples
    --------
    Five wins of five are not significant at 0.05, although the normal approximation claims it:

    >>> from omnirank.evaluation.statistics import wilcoxon_test
    >>> wins = [1, 2, 3, 4, 5]
    >>> wilcoxon_test(wins, [0] * 5).p_value, round(wilcoxon_test(wins, [0] * 5, "normal").p_value, 3)
    (0.0625, 0.043)
    """
    from scipy.stats import norm, rankdata

    check("method", method, choice(*_P_VALUES))
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or not len(a):
        raise DataError(f"performances of shapes {a.shape} and {b.shape} cannot be compared in pairs")
    # Differences of rounded numbers, such as 0.3 - 0.2 and 0.2 - 0.1, must tie.
    scale = max(float(np.abs(a).max()), float(np.abs(b).max())) or 1.0
    difference = np.round((a - b) / scale, _TIE_DECIMALS)
    if np.isnan(difference).any():
        raise DataError("a performance is missing: leave out its data set")
    n = len(difference)
    ranks = rankdata(np.abs(difference))
    zero = ranks[difference == 0].sum() / 2
    plus, minus = ranks[difference > 0].sum() + zero, ranks[difference < 0].sum() + zero
    variance = n * (n + 1) * (2 * n + 1) / 24
    z = (min(plus, minus) - n * (n + 1) / 4) / math.sqrt(variance) if variance > 0 else 0.0
    if method == "exact" or (method == "auto" and n <= _MOST_EXACT):
        p_value = _exact_p_value(ranks[difference != 0], min(plus, minus) - zero)
    else:
        p_value = min(1.0, 2 * float(norm.sf(abs(z))))
    return WilcoxonResult(float(plus), float(minus), float(z), p_value, n)


def _exact_p_value(ranks: np.ndarray, smaller_sum: float) -> float:
    """Twice the probability that ranks with random signs have at most this sum of positive ones."""
    # mean ranks of ties are multiples of a half
    steps = np.rint(2 * ranks).astype(np.int64)
    shares = np.zeros(int(steps.sum()) + 1)
    shares[0] = 1.0
    for step in steps.tolist():
        shares[step:] += shares[:-step].copy()
        shares /= 2
    return min(1.0, 2 * float(shares[: round(2 * smaller_sum) + 1].sum()))


# -- many tests -----------------------------------------------------------------------------------


def markdown_lines(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table: its first column is text, the others are numbers.

    Examples
    --------
    >>> from omnirank.evaluation.statistics import markdown_lines
    >>> markdown_lines(["data set", "x"], [["iris", "0.5"]])
    ['| data set | x |', '| --- | ---: |', '| iris | 0.5 |']
    """
    ruler = ["---"] + ["---:"] * (len(header) - 1)
    lines = (" | ".join(cell.replace("|", "\\|") for cell in cells) for cells in (header, ruler, *rows))
    return [f"| {line} |" for line in lines]


def latex_lines(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    r"""Return the lines of a LaTeX tabular: its first column is text, the others are numbers.

    Examples
    --------
    >>> from omnirank.evaluation.statistics import latex_lines
    >>> latex_lines(["data set", "x"], [["iris", "0.5"]])[2:5]
    ['data set & x \\\\', '\\hline', 'iris & 0.5 \\\\']
    """
    top, *body = (" & ".join(cells) + r" \\" for cells in (header, *rows))
    columns = "l" + "r" * (len(header) - 1)
    return [rf"\begin{{tabular}}{{{columns}}}", r"\hline", top, r"\hline", *body, r"\hline", r"\end{tabular}"]


def latex_text(text: str) -> str:
    r"""Return a text as LaTeX shows it.

    Examples
    --------
    >>> from omnirank.evaluation.statistics import latex_text
    >>> print(latex_text("k_1 & 5 %"))
    k\_1 \& 5 \%
    """
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(char, f"\\{char}" if char in "&%$#_{}" else char) for char in text)


# -- the clustering hypothesis ---------------------------------------------------------------------


_FORMS = ("variance", "std")
_N_CLUSTERS = 8


def clustering_hypothesis(
    data: Dataset,
    *,
    form: str = "variance",
    n_clusters: int | None = None,
    n_runs: int = 5,
    random_state: RandomState = None,
) -> float:
    """Return how far clusters of the features, found without the target, agree with it.

    One class: the adjusted Rand index of clusters and classes. Everything else: CH = 1 - mean over targets of v_j, with
    v_j the variance of the target within clusters relative to that in the data (for a nominal target the Gini index;
    for labels in a hierarchy a mean weighted by their weights).

    Parameters
    ----------
    data : Dataset
        Clusters are made of all examples, the agreement is that of the labelled ones. Features are not scaled, levels
        are indicators, and missing cells take the feature's mean.
    form : {"variance", "std"}
        As defined above, or with the square root of every v_j, which is what published values hold.
    n_clusters : int, optional
        By default the number of classes, 8 for other tasks.
    n_runs : int
        Runs of k-means from different starts; the best one counts.
    random_state : None, int, RandomState or Generator
        Seed of the starts.

    References
    ----------
    Petkovic, Dzeroski, Kocev: Feature ranking for semi-supervised learning. Machine Learning 112, 2023.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.statistics import clustering_hypothesis
    >>> data = om.Dataset([[0.0], [0.1], [5.0], [5.1]], ["a", "a", "b", "b"])
    >>> clustering_hypothesis(data, random_state=1)
    1.0
    """
    from sklearn.metrics import adjusted_rand_score

    if data.target is None or not data.labelled.any():
        raise DataError(f"{data.name} has no known target to compare clusters with")
    check("form", form, choice(*_FORMS))
    check("n_runs", n_runs, count(1))
    known = data.labelled
    target = data.target.take(known)
    task = get_task(data.task)
    columns, is_classes = task.columns(target, data.hierarchy), task.is_one_class
    if n_clusters is None:
        n_clusters = len(np.unique(target.values)) if is_classes else _N_CLUSTERS
    matrix = _feature_matrix(data.features)
    n_clusters = min(n_clusters, len(np.unique(matrix, axis=0)))
    entropy = root_entropy(random_state)
    agreements = []
    for run in range(n_runs):
        clusters = _clusters(matrix, n_clusters, stream(entropy, run))[known]
        agreements.append(
            adjusted_rand_score(target.values[:, 0], clusters)
            if is_classes
            else explained_by_clusters(columns, clusters, form)
        )
    return float(np.max(agreements))


def explained_by_clusters(columns: PrototypeColumns, clusters: np.ndarray, form: str = "variance") -> float:
    """Return the share of the target's variance that clusters explain; targets that are constant are left out.

    Parameters
    ----------
    columns : PrototypeColumns
        The coded target.
    clusters : ndarray of int
        Cluster of each example.
    form : {"variance", "std"}
        As in `clustering_hypothesis`.

    Returns
    -------
    float
        From 0 to 1; NaN where no target varies.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.target import Target
    >>> from omnirank.evaluation.statistics import explained_by_clusters
    >>> from omnirank.tasks import prototype_columns
    >>> target = Target.numeric(np.array([[0.0], [2.0], [4.0], [6.0]]), ["yield"])
    >>> explained_by_clusters(prototype_columns(target), np.array([0, 0, 1, 1]))
    0.8
    """
    values = columns.scaled(columns.dense())
    whole = columns.impurity
    away = pd.DataFrame(values - pd.DataFrame(values).groupby(clusters).transform("mean"))
    inside = np.bincount(columns.variable, (away**2).mean().fillna(0.0), minlength=columns.n_variables)
    varying = (whole > 0) & (columns.weights > 0)
    if not varying.any():
        return float("nan")
    left = inside[varying] / whole[varying]
    return float(1 - np.average(np.sqrt(left) if form == "std" else left, weights=columns.weights[varying]))


def _feature_matrix(table: Table) -> np.ndarray:
    values = pd.DataFrame(prototype_columns(Target.from_table(table)).dense(), dtype=np.float64)
    return values.fillna(values.mean()).fillna(0.0).to_numpy()


def _clusters(matrix: np.ndarray, n_clusters: int, random: np.random.Generator) -> np.ndarray:
    from sklearn.cluster import KMeans

    seed = int(random.integers(2**31))
    # one thread: its sums, and with them the clusters, do not depend on the number of cores
    with one_blas_thread(openmp=True):
        return KMeans(n_clusters, init="k-means++", n_init=1, random_state=seed).fit(matrix).labels_
