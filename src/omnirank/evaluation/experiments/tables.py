"""Tables of data sets and methods: their order, and as text in Markdown and LaTeX."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from omnirank.evaluation.experiments.store import Member, column_name
from omnirank.evaluation.statistics import latex_lines, latex_text, markdown_lines


class PlanOrder:
    """The order of data sets, methods and choices in a plan."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self._data = {name: i for i, name in enumerate(facts["data"])}
        # stores of earlier versions have no columns: the choices of a grid come by name, at the place of the method
        self._columns = {name: i for i, name in enumerate(facts.get("columns") or facts["methods"])}

    def data(self, name: str) -> int:
        """Return the place of a data set."""
        return self._data.get(name, len(self._data))

    def column(self, name: str) -> tuple[int, str]:
        """Return the place of a column of a table: a method, or a choice of one."""
        method = self._columns.get(name.partition(" (")[0], len(self._columns))
        return self._columns.get(name, method), name

    def member(self, member: Member) -> tuple[Any, ...]:
        """Return the place of a job."""
        return self.data(member.data), self.column(column_name(member.method, member.choice)), member


def shown_numbers(table: pd.DataFrame, digits: int = 4) -> pd.DataFrame:
    """Return the cells as text with that many significant digits; empty where a value is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.evaluation.experiments.tables import shown_numbers
    >>> shown_numbers(pd.DataFrame({"a": [0.123456, None]})).values.tolist()
    [['0.1235'], ['']]
    """
    return table.map(lambda value: "" if math.isnan(value) else f"{value:.{digits}g}")


def best_in_rows(table: pd.DataFrame, larger_is_better: bool) -> pd.DataFrame:
    """Return which cells hold the best value of their row."""
    best = table.max(axis=1) if larger_is_better else table.min(axis=1)
    return table.eq(best, axis=0)


def markdown_table(table: pd.DataFrame, larger_is_better: bool | None = None) -> str:
    """Return a table as Markdown, the best value of each row in bold where a direction is given.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.evaluation.experiments.tables import markdown_table
    >>> print(markdown_table(pd.DataFrame({"x": [0.5], "y": [0.25]}, index=["iris"]), larger_is_better=True))
    | data set | x | y |
    | --- | ---: | ---: |
    | iris | **0.5** | 0.25 |
    """
    cells = _marked(table, larger_is_better, "**{}**")
    return "\n".join(markdown_lines(["data set", *map(str, table.columns)], cells))


def latex_table(table: pd.DataFrame, larger_is_better: bool | None = None) -> str:
    r"""Return a table as a LaTeX tabular, the best value of each row in bold where a direction is given.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.evaluation.experiments.tables import latex_table
    >>> print(latex_table(pd.DataFrame({"k_1": [0.5]}, index=["iris"]), larger_is_better=True))
    \begin{tabular}{lr}
    \hline
    data set & k\_1 \\
    \hline
    iris & \textbf{0.5} \\
    \hline
    \end{tabular}
    """
    cells = _marked(table, larger_is_better, r"\textbf{{{}}}")
    header = ["data set", *(latex_text(str(name)) for name in table.columns)]
    return "\n".join(latex_lines(header, ([latex_text(name), *row] for name, *row in cells)))


def _marked(table: pd.DataFrame, larger_is_better: bool | None, mark: str) -> list[list[str]]:
    """The rows as text: name of the data set and cells."""
    shown = shown_numbers(table)
    if larger_is_better is not None:
        shown = shown.where(~best_in_rows(table, larger_is_better), shown.map(mark.format))
    return [[str(name), *row] for name, row in zip(shown.index, shown.to_numpy().tolist(), strict=True)]
