"""Figures of matplotlib as inline SVG: the same bytes each time, with colours that follow the theme of the page."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any
from xml.etree import ElementTree

from omnirank.plots.style import BAR, CHOSEN, FAINT, GRID, INK, printable

_SVG = "http://www.w3.org/2000/svg"
_LINK = "http://www.w3.org/1999/xlink"
# What the pictures draw in these colours is drawn in those of the page, light or dark.
_THEME = {
    INK: "var(--ink)",
    GRID: "var(--line)",
    FAINT: "var(--faint)",
    BAR: "var(--bar)",
    CHOSEN: "var(--accent)",
    "#000000": "var(--ink)",
    "#ffffff": "var(--card)",
}
# Pixels of width below which the words of a wider picture cannot be read.
_READABLE = 520
_COLOUR = re.compile("|".join(_THEME))
_REFERENCE = re.compile(r"#([\w.-]+)")
_SETTINGS: Any = {
    "svg.fonttype": "none",  # text stays text: it can be searched, and is small
    "svg.hashsalt": "omnirank",
    "font.family": "sans-serif",
    "font.size": 9.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


@contextmanager
def drawing() -> Iterator[None]:
    """Set matplotlib for pictures of the page; axes take colours and fonts when they are made."""
    import matplotlib as mpl

    with mpl.rc_context(_SETTINGS), warnings.catch_warnings():
        # browsers have letters that the fonts of matplotlib lack
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def inline_svg(ax: Any, about: str) -> str:
    """Return the figure of some axes as an ``<svg>`` element for a page.

    Parameters
    ----------
    ax : Axes
        What was drawn.
    about : str
        What it shows, for those who do not see it.

    Examples
    --------
    >>> from omnirank.core.ranking import Ranking
    >>> from omnirank.report.vector import drawing, inline_svg
    >>> with drawing():
    ...     text = inline_svg(Ranking(["a<b"], [1.0], "genie3").plot(), "scores")
    >>> text.startswith("<svg"), "a&lt;b" in text, "a<b" in text
    (True, True, False)
    """
    from matplotlib.text import Text

    file = BytesIO()
    figure = ax.get_figure(root=True)
    for text in figure.findobj(Text):
        text.set_text(printable(text.get_text()))
    with drawing():
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    figure.clear()  # the page alone shows it, and pages have dozens
    root = ElementTree.fromstring(file.getvalue())
    for parent in root.iter():
        for child in [c for c in parent if c.tag in (f"{{{_SVG}}}metadata",)]:
            parent.remove(child)
    _themed(root)
    _without_idle_ids(root)
    for name, value in (("role", "img"), ("aria-label", about)):
        root.set(name, value)
    root.attrib.pop("version", None)
    # the page sets the width; the picture keeps its own as the largest, and on narrow screens scrolls below the least
    width = root.attrib.pop("width", "400pt").removesuffix("pt")
    root.attrib.pop("height", None)
    pixels = float(width) * 4 / 3
    root.set("style", f"max-width:{pixels:.0f}px;--least:{min(pixels, _READABLE):.0f}px")
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _LINK)
    return ElementTree.tostring(root, encoding="unicode")


def _themed(root: Any) -> None:
    """Let colours follow the theme, in styles only: a name may look like a colour."""
    for element in root.iter():
        style = element.get("style")
        if style is None:
            continue
        style = _COLOUR.sub(lambda found: _THEME[found[0]], style)
        if element.tag == f"{{{_SVG}}}text":
            style = re.sub(r"font: ([\d.]+)px [^;]*", r"font-size: \1px", style)
            style = style if "fill:" in style else f"{style}; fill: var(--ink)"
        element.set("style", style)


def _without_idle_ids(root: Any) -> None:
    """Drop the ids that nothing refers to: a page of several pictures would have them twice."""
    used = {
        name
        for element in root.iter()
        for key, value in element.attrib.items()
        if key != "id" and "#" in value
        for name in _REFERENCE.findall(value)
    }
    for element in root.iter():
        if element.get("id") is not None and element.get("id") not in used:
            del element.attrib["id"]
