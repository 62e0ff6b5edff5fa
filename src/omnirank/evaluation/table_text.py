"""Cells of tables as text in Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown_row(cells: Sequence[str]) -> str:
    r"""Return one row of a Markdown table.

    Examples
    --------
    >>> from omnirank.evaluation.table_text import markdown_row
    >>> markdown_row(["iris", "0.9"])
    '| iris | 0.9 |'
    """
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def markdown_lines(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table: its first column is text, the others are numbers.

    Examples
    --------
    >>> from omnirank.evaluation.table_text import markdown_lines
    >>> markdown_lines(["data set", "x"], [["iris", "0.5"]])
    ['| data set | x |', '| --- | ---: |', '| iris | 0.5 |']
    """
    ruler = ["---"] + ["---:"] * (len(header) - 1)
    return [markdown_row(cells) for cells in (header, ruler, *rows)]


def latex_lines(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    r"""Return the lines of a LaTeX tabular: its first column is text, the others are numbers.

    Examples
    --------
    >>> from omnirank.evaluation.table_text import latex_lines
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
    >>> from omnirank.evaluation.table_text import latex_text
    >>> print(latex_text("k_1 & 5 %"))
    k\_1 \& 5 \%
    """
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(char, f"\\{char}" if char in "&%$#_{}" else char) for char in text)
