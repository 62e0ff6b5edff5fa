"""The picture of a database: its kinds of objects, what is known of them, how they are linked, and scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from omnirank.core.errors import DataError
from omnirank.core.parameters import check, count
from omnirank.core.ranking.ranking import Ranking
from omnirank.plots.style import BAR, CHOSEN, FAINT, GRID, INK, finish, new_axes, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from omnirank.relational.dataset import RelationalDataset

# Inches: a box, the room between boxes, a line of text, the longest bar.
_WIDTH, _GAP, _LINE, _BAR = 3.6, 1.0, 0.22, 0.8
_LONGEST = 34


class _Row(NamedTuple):
    """A line of a box: a relation, the target, or how many are not drawn."""

    text: str
    kind: str = ""
    score: float | None = None
    leads_to: tuple[str, ...] = ()
    colour: str = INK


def plot_schema(
    dataset: RelationalDataset, ranking: Ranking | None = None, ax: Axes | None = None, k: int = 15
) -> Axes:
    """Draw what a database holds: a box for each kind of objects, a line for each relation, and curves for links.

    The examples stand at the left, and what is linked with them at the right, step by step. With a ranking, bars show
    the scores of relations, and curves are as thick as links score.

    Parameters
    ----------
    dataset : RelationalDataset
        The data.
    ranking : Ranking, optional
        Scores of relations, columns or links.
    ax : Axes, optional
        Where to draw; by default a new figure.
    k : int
        Most relations of a box: those with the largest scores.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.plots import plot_schema
    >>> ax = plot_schema(om.datasets.make_movies(random_state=0), k=2)
    >>> [text.get_text() for text in ax.texts if text.get_text()][:4]
    ['movies (200)', 'target: genre', 'year', 'numeric']
    """
    from omnirank.relational.dataset import check_relational

    check("k", k, count(1))
    check_relational(dataset, "plot_schema")
    scores = {} if ranking is None else dict(zip(ranking.names, ranking.scores.tolist(), strict=True))
    if scores and scores.keys().isdisjoint(dataset.database.relations):
        raise DataError(f"the ranking is of {next(iter(scores))!r} and others, not of relations of the data")
    boxes = _boxes(dataset, scores, k)
    columns = _columns(boxes, list(dict.fromkeys(dataset.example_types)))
    heights = [sum(_LINE * (len(boxes[kind]) + 2.5) for kind in column) for column in columns]
    ax = new_axes((_WIDTH + _GAP) * len(columns) - _GAP / 2, max(heights) + 0.2) if ax is None else ax
    places = {}
    for x, (column, height) in enumerate(zip(columns, heights, strict=True)):
        y = (max(heights) - height) / 2
        for kind in column:
            places[kind] = (_WIDTH + _GAP) * x, y
            y += _LINE * (len(boxes[kind]) + 2.5)
    most = max([0.0, *scores.values()]) or 1.0
    for kind, rows in boxes.items():
        title = f"{kind} ({len(dataset.database.objects[kind])})"
        _draw_box(ax, places[kind], title, rows, most, CHOSEN if kind in dataset.example_types else BAR)
        for i, row in enumerate(rows):
            for other in set(row.leads_to) - {kind}:
                thick = 0.8 + 3.0 * max(row.score or 0.0, 0.0) / most
                _draw_link(ax, places[kind], _LINE * (i + 1.5), places[other], thick)
    ax.set_xlim(-0.1, (_WIDTH + _GAP) * len(columns) - _GAP / 2 - 0.1)  # room for links within the last column
    ax.set_ylim(max(heights), -0.1)
    return finish(ax)


def _boxes(dataset: RelationalDataset, scores: dict[str, float], k: int) -> dict[str, list[_Row]]:
    """The lines of each kind of objects: relations stand with the first object that they are about."""
    from omnirank.relational.summary import value_kind

    boxes: dict[str, list[_Row]] = {kind: [] for kind in dataset.database.objects}
    for name, relation in dataset.database.relations.items():
        objects = [component.type for component in relation.components if component.kind == "object"]
        kind = "" if relation.is_link else value_kind(relation)
        plain = relation.column if relation.table == objects[0] and relation.column is not None else name
        text = f"{plain} → {', '.join(objects[1:])}" if objects[1:] else plain
        boxes[objects[0]].append(_Row(text, kind, scores.get(name), tuple(objects[1:])))
    for rows in boxes.values():
        best = sorted(rows, key=lambda row: -(row.score or 0.0))
        if left_out := best[k:]:
            links = tuple(other for row in left_out for other in row.leads_to)
            more = _Row(f"... and {len(left_out)} more", leads_to=links, colour=FAINT)
            rows[:] = [*(row for row in rows if row not in left_out), more]
    if dataset.target is not None:
        first = dataset.example_types[0]
        boxes[first].insert(0, _Row(f"target: {dataset.target_name.removeprefix(f'{first}.')}", colour=CHOSEN))
    return boxes


def _columns(boxes: dict[str, list[_Row]], first: list[str]) -> list[list[str]]:
    """Kinds of objects by the number of links between them and the examples; what is not linked stands last."""
    near: dict[str, list[str]] = {kind: [] for kind in boxes}
    for kind, rows in boxes.items():
        for other in (other for row in rows for other in row.leads_to):
            near[kind].append(other)
            near[other].append(kind)
    columns, seen = [first], set(first)
    while columns[-1]:
        following = dict.fromkeys(other for kind in columns[-1] for other in near[kind] if other not in seen)
        columns.append(list(following))
        seen |= set(following)
    return [column for column in [*columns, [kind for kind in boxes if kind not in seen]] if column]


def _draw_box(ax: Axes, place: tuple[float, float], title: str, rows: Sequence[_Row], most: float, colour: str) -> None:
    from matplotlib.patches import Rectangle

    x, y = place
    height = _LINE * (len(rows) + 1.2)
    ax.add_patch(Rectangle((x, y), _WIDTH, height, facecolor="#ffffff", edgecolor=colour, linewidth=1.2, zorder=2))
    ax.add_patch(Rectangle((x, y), _WIDTH, _LINE, facecolor=colour, zorder=2))
    style: dict[str, Any] = {"va": "center", "fontsize": "small", "zorder": 4, "parse_math": False}
    ax.text(x + 0.08, y + _LINE / 2, short_names([title])[0], color="#ffffff", fontweight="bold", **style)
    for i, (row, text) in enumerate(zip(rows, short_names([row.text for row in rows], _LONGEST), strict=True)):
        middle = y + _LINE * (i + 1.6)
        ax.text(x + 0.08, middle, text, color=row.colour, **style)
        if row.score is None:
            ax.text(x + _WIDTH - 0.08, middle, row.kind, color=FAINT, ha="right", **style)
            continue
        left, length = x + _WIDTH - _BAR - 0.08, _BAR * max(row.score, 0.0) / most
        ax.add_patch(Rectangle((left, middle - 0.07), _BAR, 0.14, facecolor=GRID, zorder=3))
        ax.add_patch(Rectangle((left, middle - 0.07), length, 0.14, facecolor=BAR, zorder=3))
        ax.text(left - 0.05, middle, f"{row.score:.3g}", color=FAINT, ha="right", **style)


def _draw_link(ax: Axes, own: tuple[float, float], down: float, other: tuple[float, float], thick: float) -> None:
    """Draw a curve from a line of a box to the title of another one, at the sides that face each other."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    start = own[0] + _WIDTH * (other[0] >= own[0]), own[1] + down
    end = other[0] + _WIDTH * (other[0] <= own[0]), other[1] + _LINE / 2
    bends = [point[0] + 0.6 * _GAP * (1 if point[0] > box[0] else -1) for point, box in ((start, own), (end, other))]
    path = Path([start, (bends[0], start[1]), (bends[1], end[1]), end], [1, 4, 4, 4])
    ax.add_patch(PathPatch(path, facecolor="none", edgecolor=BAR, linewidth=thick, alpha=0.5, zorder=1))
    ax.plot(*end, marker="o", markersize=3 + thick / 2, color=BAR, zorder=3)
