"""What the data are like: sizes, missing cells, suspicious columns, targets."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnirank.core.plurals import counted
from omnirank.data.dataset import Dataset
from omnirank.plots.style import BAR, short_names, tidy
from omnirank.report.section import Section
from omnirank.report.subject import Subject
from omnirank.report.tables import Column, rows_of
from omnirank.report.vector import inline_svg

_MOST_TARGETS = 16
_MOST_MISSING = 50
_MOST_CLASSES = 12
_WIDTH = 4


def data_check(subject: Subject) -> Section:
    """Return what there is to know about the data before trusting the ranking."""
    title, data = "Data check", subject.data
    if data is None:
        return Section("data", title, left_out=subject.found.no_data)
    facts = data.describe()
    pairs = [
        ("examples", str(facts["examples"])),
        ("labelled", str(facts["labelled"]) if data.target is not None else "no target"),
        ("numeric features", str(facts["numeric features"])),
        ("nominal features", str(facts["nominal features"])),
        ("missing cells", f"{facts['missing cells']} ({100 * facts['missing share']:.2g} %)"),
        ("constant features", _constant(subject, data)),
    ]
    pairs += [("targets", str(facts["targets"]))] if data.target is not None else []
    more = ("density", "label cardinality", "hierarchy", "hierarchy depth")
    pairs += [
        (name, f"{facts[name]:.3g}" if isinstance(facts[name], float) else str(facts[name]))
        for name in more
        if name in facts
    ]
    missing = missing_columns(data)
    return Section(
        "data",
        title,
        {
            "pairs": pairs,
            "notes": list(data.notes),
            "columns": missing,
            "rows": rows_of(missing) if missing else [],
            "picture": inline_svg(*targets_picture(data)) if data.target is not None else "",
            "left": max(0, data.n_targets - _MOST_TARGETS),
            "counts": data.target is not None and not data.target.is_labels,
        },
    )


def _constant(subject: Subject, data: Dataset) -> str:
    """How many features are constant; among the labelled examples more may be than among all."""
    n = len(subject.ranking.constant)
    few = data.target is not None and not data.labelled.all()
    return f"{n} among the labelled" if n and few else str(n)


def missing_columns(data: Dataset) -> list[Column]:
    """Return the table of the features with the most missing cells; nothing where there are none."""
    table = data.features
    suspects = np.flatnonzero(table.with_missing)
    if not len(suspects):
        return []
    counts = np.array([_n_missing(table, i) for i in suspects.tolist()])
    order = np.argsort(-counts, kind="stable")[:_MOST_MISSING]
    names = [table.names[suspects[i]] for i in order]
    shares = 100 * counts[order] / max(1, table.n_rows)
    return [
        Column("feature", names),
        Column("missing", counts[order].tolist(), number=True),
        Column("% of examples", [f"{share:.1f}" for share in shares], number=True),
    ]


def _n_missing(table: Any, i: int) -> int:
    column = np.asarray(table.column(i))
    return int(np.isnan(column).sum()) if column.dtype.kind == "f" else int((column < 0).sum())


def targets_picture(data: Dataset) -> tuple[Any, str]:
    """Return the axes of the distributions of the first targets, and what they show."""
    from matplotlib.figure import Figure

    target = data.target
    assert target is not None
    if target.is_labels:
        return _labels_picture(data), "how often the labels occur"
    n = min(target.n_targets, _MOST_TARGETS)
    columns = min(n, _WIDTH)
    rows = -(-n // columns)
    figure = Figure(figsize=(2.3 * columns if n > 1 else 3.6, 1.8 * rows if n > 1 else 2.4), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    values, titles = target.dense(), short_names(target.names[:n], 26)
    for i, ax in enumerate(axes):
        if i >= n:
            ax.set_axis_off()
            continue
        known = values[~np.isnan(values[:, i]), i]
        levels = target.levels[i]
        if levels is None:
            ax.hist(known, bins=20, color=BAR)
        else:
            counts = np.bincount(known.astype(int), minlength=len(levels))
            order = np.argsort(-counts, kind="stable")[:_MOST_CLASSES]
            names = short_names([str(levels[j]) for j in order], 14)
            ax.barh(range(len(order)), counts[order], color=BAR)
            ax.set_yticks(range(len(order)), names, fontsize="x-small", parse_math=False)
            ax.invert_yaxis()
        tidy(ax, grid="x")
        ax.tick_params(labelsize="x-small")
        ax.set_title(titles[i], fontsize="small", loc="left", parse_math=False)
    return axes[0], f"distributions of {counted(n, 'target')}"


def _labels_picture(data: Dataset) -> Any:
    """Bars of the shares of the most frequent labels."""
    from omnirank.plots.style import name_rows, new_axes

    target = data.target
    assert target is not None
    values = target.values
    cells = np.nansum(values.toarray() if target.is_sparse else values, axis=0)
    shares = np.asarray(cells).ravel() / max(1, int(target.labelled.sum()))
    order = np.argsort(-shares, kind="stable")[:_MOST_TARGETS]
    ax = new_axes(width=6.0, height=0.8 + 0.22 * len(order))
    ax.barh(range(len(order)), shares[order], color=BAR, height=0.7)
    tidy(ax, grid="x")
    name_rows(ax, [target.names[i] for i in order])
    ax.set_xlabel("share of the labelled examples")
    return ax
