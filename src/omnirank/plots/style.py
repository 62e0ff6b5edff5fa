"""What all pictures share: colours, new figures, light axes, names that fit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#1f2d3d"
BAR = "#3b6ea5"
CHOSEN = "#c2571a"
FAINT = "#6b7785"
GRID = "#d9dde2"
PALE = 0.35
LONGEST_NAME = 32
# With more features the first ones would be a sliver of the axis: it is logarithmic.
LINEAR = 60
# Characters of a title of medium size that fit an inch.
_CHARACTERS_PER_INCH = 12
_SHORT_TITLE = 30
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def new_axes(width: float, height: float) -> Axes:
    """Return the axes of a new figure outside pyplot, so that no backend or display is touched."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").subplots()


def rank_axis(ax: Axes, n: int, label: str, left: float | None = None) -> None:
    """Make the horizontal axis one of n ranks: whole numbers, logarithmic where there are many, since the top matters.

    Parameters
    ----------
    ax : Axes
        The axes.
    n : int
        The last rank.
    label : str
        What the axis shows.
    left : float, optional
        Where the axis starts; it ends where the data do then. By default it runs from 1 to n.
    """
    from matplotlib.ticker import MaxNLocator

    if n > LINEAR:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
    else:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlim(*((1, max(2, n)) if left is None else (left, None)))
    ax.set_xlabel(label)


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Write names beside rows that go down from the top, without a line at their side."""
    ax.set_yticks(range(len(names)), short_names(names), parse_math=False)  # a name with $ signs is no formula
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def finish(ax: Axes, x: str = "", y: str = "", *, grid: str = "", legend: Any = "", title: str | None = None) -> Axes:
    """Label the axes, lay a grid, and put a legend and a title where they are wanted; return the axes.

    Parameters
    ----------
    ax : Axes
        What was drawn.
    x, y : str
        Labels; "" leaves what is there.
    grid : {"x", "y", ""}
        The direction of the grid; "": no axes at all.
    legend : str
        Where the legend stands; "": none.
    title : str, optional
        Title.
    """
    if x:
        ax.set_xlabel(x)
    if y:
        ax.set_ylabel(y)
    if grid:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis=grid, color=GRID, linewidth=0.8, zorder=0)  # type: ignore[arg-type]
        ax.set_axisbelow(True)
    else:
        ax.set_axis_off()
    if legend:
        ax.legend(frameon=False, loc=legend)
    if title is not None:
        set_title(ax, title)
    return ax


def no_frame(ax: Axes) -> None:
    """Hide the lines around the axes."""
    ax.spines[:].set_visible(False)


def colour_scale(ax: Axes, shown: Any, label: str, **place: Any) -> None:
    """Draw the scale of colours beside the axes, without a frame."""
    bar = ax.figure.colorbar(shown, ax=ax, **place)
    bar.outline.set_visible(False)
    bar.set_label(label)


def set_title(ax: Axes, text: str, **options: Any) -> None:
    """Set the title at the left of the axes, in as many lines as it needs to stay inside the figure."""
    import textwrap

    figure = ax.get_figure(root=True)
    assert figure is not None
    if len(text) > _SHORT_TITLE:
        # only the layout knows how much room names at the side leave
        figure.draw_without_rendering()
    room = figure.bbox.x1 - ax.get_window_extent().x0
    width = max(_SHORT_TITLE // 3, int(_CHARACTERS_PER_INCH * room / figure.dpi))
    lines = textwrap.wrap(printable(text), width, break_long_words=True) or [""]
    ax.set_title("\n".join(lines), loc="left", fontsize="medium", parse_math=False, **options)


def short_names(names: Sequence[str], longest: int = LONGEST_NAME) -> list[str]:
    """Return names that fit beside a picture: the middle of long ones is left out, and all stay different.

    Parameters
    ----------
    names : sequence of str
        The names.
    longest : int
        Number of characters that fit.

    Examples
    --------
    >>> from omnirank.plots.style import short_names
    >>> short_names(["width", "mean expression of gene 12 in the liver"], longest=20)
    ['width', 'mean expr… the liver']
    >>> short_names(["response to drug A (log IC50)", "response to drug B (log IC50)"], longest=16)
    ['respon…A…g IC50)', 'respon…B…g IC50)']
    """
    plain = [printable(" ".join(str(name).split())) for name in names]
    long = sorted({name for name in plain if len(name) > longest})
    shortened = dict(zip(long, _shortened(long, longest), strict=True))
    short = [shortened.get(name, name) for name in plain]
    places: dict[str, list[int]] = {}
    for i, text in enumerate(short):
        places.setdefault(text, []).append(i)
    for text, alike in places.items():
        if len({plain[i] for i in alike}) > 1:
            for number, i in enumerate(alike, start=1):
                short[i] = f"{text} #{number}"
    return short


def printable(text: str) -> str:
    """Return a text without what no SVG file can hold: control characters, and halves of pairs of surrogates.

    Examples
    --------
    >>> from omnirank.plots.style import printable
    >>> printable("bell\\x07"), printable("two\\nlines")
    ('bell�', 'two\\nlines')
    """
    return _UNPRINTABLE.sub("\ufffd", text)


def _shortened(names: Sequence[str], longest: int) -> list[str]:
    """Long names, all different, without their middle; or without what they begin and end with alike."""
    start = _common_start(names)
    end = _common_start([name[len(start) :][::-1] for name in names])[::-1]
    kept = longest // 2
    shows = all(min(len(name) - len(start), len(name) - len(end)) <= kept for name in names)
    if len(names) < 2 or shows or len(start) + len(end) < longest // 3:
        # what tells them apart is not in the middle, or they have little in common
        return [_without_middle(name, longest) for name in names]
    found = []
    for name in names:
        own = name[len(start) : len(name) - len(end)]
        left = longest - len(own) - bool(start) - bool(end)
        before = min(len(start), max(0, left // 2))
        after = min(len(end), max(0, left - before))
        first = start[:before] + "…" if before < len(start) else start
        last = "…" + end[len(end) - after :] if after < len(end) else end
        text = first + own + last
        found.append(text if len(text) <= longest + 2 else _without_middle(text, longest))
    return found


def _common_start(names: Sequence[str]) -> str:
    if not names:
        return ""
    first, last = min(names), max(names)
    n = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:n]


def _without_middle(name: str, longest: int) -> str:
    # ends of names tell more features apart than beginnings: probes, positions and units stand there
    end = longest // 2
    return f"{name[: longest - end - 1]}…{name[-end:]}"
