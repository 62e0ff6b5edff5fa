"""Cells of tables as text in Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Sequence


def markdown_row(cells: Sequence[str]) -> str:
    r"""Return one row of a Markdown table.

    Examples
    --------
    >>> from omnirank.evaluation.table_text import markdown_row
    >>> markdown_row(["iris", "0.9"])
    '| iris | 0.9 |'
    """
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


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
