"""The page: sections with tables and pictures, put together with the script and the styles inside."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

from omnirank.core.errors import ParameterError
from omnirank.core.files import replacing
from omnirank.core.types import PathLike
from omnirank.plots.ranking import SMALLEST_P
from omnirank.plots.style import BAR, CHOSEN, FAINT, GRID, INK, printable, set_title

if TYPE_CHECKING:
    from jinja2 import Environment

PAGES = (".html", ".htm")
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
# Pictures wider than this, in pixels, scroll where less than a share of their width fits: their words would be dots.
_WIDE, _LEAST = 800, 0.6
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


# What a template shows; why there is nothing to show; or None, where the section does not apply.
Content = dict[str, Any] | str | None


class Section(NamedTuple):
    """A section of the page.

    Parameters
    ----------
    key : str
        Its anchor; the template is ``<key>.html``.
    title : str
        Its heading.
    content : mapping or str
        What the template shows; or why there is nothing to show.
    group : str
        The question that it answers, a heading in the list of sections.
    """

    key: str
    title: str
    content: Content
    group: str


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    title : str
        Heading.
    cells : sequence
        Texts or numbers.
    keys : sequence of float, optional
        Numbers by which the column is sorted, where cells are no plain numbers.
    number : bool
        Whether cells are numbers: these are aligned at the right, and the largest comes first.
    bars : sequence of float, optional
        Lengths of bars behind the cells, from 0 to 1.
    hint : str
        What the heading means.
    """

    title: str
    cells: Sequence[Any]
    keys: Sequence[float] | None = None
    number: bool = False
    bars: Sequence[float] | None = None
    hint: str = ""


def digits(value: float, n: int = 4) -> str:
    """Return a number with so many digits that count, zeros as well; nothing where it is not defined.

    Examples
    --------
    >>> from omnirank.report.page import digits
    >>> digits(0.123456), digits(0.65, 3), digits(float("nan")), digits(1234567.0), digits(1234.0)
    ('0.1235', '0.650', '', '1.235e+06', '1234')
    """
    return "" if np.isnan(value) else f"{value:#.{n}g}".removesuffix(".")


def probability(p: float) -> str:
    """Return a p value as people write it; below `SMALLEST_P` only that it is below.

    Examples
    --------
    >>> from omnirank.report.page import probability
    >>> probability(0.03456), probability(0.0041), probability(1.23456e-9), probability(1e-300)
    ('0.0346', '0.00410', '1.2e-09', '<1e-12')
    """
    return f"<{SMALLEST_P:.0e}" if p < SMALLEST_P else digits(p, 2 if p < 0.001 else 3)


def joined(names: Sequence[str]) -> str:
    """Return names in a row, between commas; between semicolons where a name has a comma itself.

    Examples
    --------
    >>> from omnirank.report.page import joined
    >>> joined(["a", "b"]), joined(["kidney, adult", "b"])
    ('a, b', 'kidney, adult; b')
    """
    return ("; " if any("," in name for name in names) else ", ").join(names)


def listing(names: Sequence[str], most: int | None = None) -> str:
    """Return names as a list in a sentence; of more than `most`, how many more there are.

    Examples
    --------
    >>> from omnirank.report.page import listing
    >>> listing(["a"]), listing(["a", "b", "c"]), listing(["a", "b", "c", "d"], most=2)
    ('a', 'a, b and c', 'a, b and 2 more')
    """
    if most is not None and len(names) > most:
        return f"{joined(names[:most])} and {len(names) - most} more"
    if len(names) > 1 and any("," in name for name in names):
        return f"{joined(names[:-1])}; and {names[-1]}"
    return " and ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), *names[-1:]])


@contextmanager
def drawing() -> Iterator[None]:
    """Set matplotlib for pictures of the page; axes take colours and fonts when they are made."""
    import matplotlib as mpl

    with mpl.rc_context(_SETTINGS), warnings.catch_warnings():
        # browsers have letters that the fonts of matplotlib lack
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def inline_svg(ax: Any, about: str) -> str:
    """Return the figure of some axes as an ``<svg>`` element: the same bytes each time, in colours of the page's theme.

    Parameters
    ----------
    ax : Axes
        What was drawn.
    about : str
        What it shows: its title.

    Examples
    --------
    >>> from omnirank.core.ranking.ranking import Ranking
    >>> from omnirank.report.page import drawing, inline_svg
    >>> with drawing():
    ...     text = inline_svg(Ranking(["a<b"], [1.0], "genie3").plot(), "scores")
    >>> text.startswith("<svg"), "a&lt;b" in text, "a<b" in text
    (True, True, False)
    """
    from matplotlib.text import Text

    file = BytesIO()
    figure = ax.get_figure(root=True)
    if len(figure.axes) > 1 and ax.get_title(loc="left"):  # several axes with titles of their own
        figure.suptitle(about, x=0.01, ha="left", fontsize="medium", parse_math=False)
    else:
        set_title(ax, about)
    for text in figure.findobj(Text):
        text.set_text(printable(text.get_text()))
    with drawing():
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    figure.clear()  # the page alone shows it, and pages have dozens
    root = ElementTree.fromstring(file.getvalue())
    for child in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(child)
    _follow_theme(root)
    _drop_idle_ids(root)
    for name, value in (("role", "img"), ("aria-label", about)):
        root.set(name, value)
    root.attrib.pop("version", None)
    # the page sets the width; the picture keeps its own as the largest
    pixels = float(root.attrib.pop("width").removesuffix("pt")) * 4 / 3
    root.attrib.pop("height")
    least = f";min-width:{_LEAST * pixels:.0f}px" if pixels > _WIDE else ""
    root.set("style", f"max-width:{pixels:.0f}px{least}")
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _LINK)
    return ElementTree.tostring(root, encoding="unicode")


def _follow_theme(root: Any) -> None:
    """Let colours follow the theme, in styles only: a name may look like a colour."""
    for element in root.iter():
        style = element.get("style")
        if style is None:
            continue
        style = _COLOUR.sub(lambda match: _THEME[match[0]], style)
        if element.tag == f"{{{_SVG}}}text":
            style = re.sub(r"font: ([\d.]+)px [^;]*", r"font-size: \1px", style)
            style = style if "fill:" in style else f"{style}; fill: var(--ink)"
        element.set("style", style)


def _drop_idle_ids(root: Any) -> None:
    """Drop the ids that nothing refers to: a page of several pictures would have them twice."""
    used = {
        name
        for element in root.iter()
        for key, value in element.attrib.items()
        if key != "id"
        for name in _REFERENCE.findall(value)
    }
    for element in root.iter():
        if element.get("id") not in used:
            element.attrib.pop("id", None)


def check_page(path: PathLike) -> None:
    """Refuse, before anything is fitted, a file that is no page or cannot be written.

    Examples
    --------
    >>> from omnirank.report.page import check_page
    >>> check_page("report.pdf")
    Traceback (most recent call last):
    omnirank.core.errors.ParameterError: report.pdf: a report is a page: the ending must be .html or .htm
    """
    file = Path(path)
    if file.is_dir():
        raise ParameterError(f"cannot write {path}: it is a folder; name a file in it, such as report.html")
    if file.suffix.lower() not in PAGES:
        raise ParameterError(f"{path}: a report is a page: the ending must be {' or '.join(PAGES)}")
    if not file.parent.is_dir():
        raise ParameterError(f"cannot write {path}: the folder {file.parent} does not exist")


def write_page(path: PathLike, title: str, sections: Sequence[Section]) -> None:
    """Write sections to an HTML file.

    Parameters
    ----------
    path : str or Path
        The file.
    title : str
        Title of the page.
    sections : sequence of Section
        In the order of the page.
    """
    static = files("omnirank.report").joinpath("static")
    script, style = (static.joinpath(name).read_text(encoding="utf-8") for name in ("report.js", "report.css"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment = _environment()
    bodies = {
        section.key: environment.get_template(f"{section.key}.html").render(section.content)
        for section in sections
        if isinstance(section.content, dict)
    }
    shown = {"title": title, "sections": sections, "bodies": bodies}
    text = environment.get_template("page.html").render(shown, script=script, style=style, digest=digest)
    with replacing(path) as file:
        # names may hold half a pair of surrogates, which no encoding takes
        file.write(text.encode("utf-8", errors="replace"))


@cache
def _environment() -> Environment:
    """The templates; all that they show is escaped, unless it is markup of ours."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("omnirank.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"island": island, "rows": _rows}
    return environment


def _rows(columns: Sequence[Column]) -> Iterator[tuple[tuple[Column, Any, float | None, float | None], ...]]:
    """The rows of a table: column, text, key and bar of each cell."""
    nothing = [None] * (len(columns[0].cells) if columns else 0)
    cells = [
        [(column, *parts) for parts in zip(column.cells, column.keys or nothing, column.bars or nothing, strict=True)]
        for column in columns
    ]
    return zip(*cells, strict=True)


def island(value: Any) -> Any:
    """Return JSON that can stand inside a script element, whatever texts it holds.

    Examples
    --------
    >>> from omnirank.report.page import island
    >>> str(island("</script>"))
    '"\\\\u003c/script\\\\u003e"'
    """
    from markupsafe import Markup

    text = json.dumps(value, ensure_ascii=True)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)
