"""Sections that are there where features or labels have a structure: hierarchy, pixels, groups."""

from __future__ import annotations

import re

import numpy as np

from omnirank.plots import plot_group_shares, plot_hierarchy, score_map
from omnirank.report.section import Section
from omnirank.report.subject import Subject
from omnirank.report.tables import Column, digits, joined, rows_of
from omnirank.report.vector import inline_svg

_TWO_NUMBERS = re.compile(r"\D*(\d+)\D+(\d+)\D*")
_LEAST_SIDE = 2
_MOST_GROUPS = 200


def label_hierarchy(subject: Subject) -> Section | None:
    """Return the hierarchy of the labels, coloured by how much of the scores is theirs."""
    data, title = subject.data, "Label hierarchy"
    if data is None or data.hierarchy is None:
        return None
    scores = subject.ranking.per_target
    if scores is None or scores.names != data.hierarchy.labels:
        why = "the ranking has no scores by label: rank with per_target=True or --per-target"
        return Section("hierarchy", title, left_out=why)
    values = np.maximum(scores.scores, 0.0).sum(axis=1)
    total = values.sum()
    shares = 100 * values / total if total > 0 else values
    ax = plot_hierarchy(data.hierarchy, shares, what="% of all scores")
    largest = np.argsort(-shares, kind="stable")[:5]
    words = ", ".join(f"{data.hierarchy.labels[i]} ({shares[i]:.3g} %)" for i in largest)
    return Section("hierarchy", title, {"picture": inline_svg(ax, "labels coloured by importance"), "words": words})


def pixels(subject: Subject) -> Section | None:
    """Return the scores as an image, where the names of the features number the cells of a grid."""
    found = grid_of(subject.ranking.names)
    if found is None:
        return None
    order, shape = found
    ax = score_map(subject.ranking.scores[order], shape, title="")
    return Section("pixels", "Features as pixels", {"picture": inline_svg(ax, "scores by pixel"), "shape": shape})


def grid_of(names: tuple[str, ...]) -> tuple[np.ndarray, tuple[int, int]] | None:
    """Return the order of features that fill a grid row by row, and its shape; None where they do not.

    Examples
    --------
    >>> from omnirank.report.sections.structure import grid_of
    >>> order, shape = grid_of(("pixel_0_1", "pixel_0_0", "pixel_1_0", "pixel_1_1"))
    >>> order.tolist(), shape
    ([1, 0, 2, 3], (2, 2))
    >>> grid_of(("a1_1", "b1_2", "a2_1", "a2_2")) is None, grid_of(("height", "width")) is None
    (True, True)
    """
    found = [_TWO_NUMBERS.fullmatch(name) for name in names]
    if any(match is None for match in found):
        return None
    # the same words around the numbers, or they count different things
    if len({re.sub(r"\d+", "#", name) for name in names}) > 1:
        return None
    places = np.array([[int(number) for number in match.groups()] for match in found if match is not None])
    rows, columns = (np.unique(places[:, side]) for side in (0, 1))
    shape = len(rows), len(columns)
    cells = np.searchsorted(rows, places[:, 0]) * shape[1] + np.searchsorted(columns, places[:, 1])
    if min(shape) < _LEAST_SIDE or len(set(cells.tolist())) != len(names) or len(names) != shape[0] * shape[1]:
        return None
    return np.argsort(cells), shape


def groups(subject: Subject) -> Section | None:
    """Return the shares of the groups of features that the data name."""
    data = subject.data
    if data is None or not data.feature_groups:
        return None
    named = {name: data.feature_groups.get(name, "(no group)") for name in subject.ranking.names}
    ax = plot_group_shares(subject.ranking, named)
    return Section("groups", "Groups of features", {"picture": inline_svg(ax, "shares of groups in the scores")})


def redundant(subject: Subject) -> Section:
    """Return which features stand for each other."""
    title, found = "Redundant features", subject.redundancy
    if found is None:
        return Section("redundant", title, left_out=subject.found.no_data)
    several = [group for group in found.groups if group.others][:_MOST_GROUPS]
    columns = [
        Column("feature", [group.representative for group in several]),
        Column("stands also for", [joined(group.others) for group in several]),
        Column("features", [1 + len(group.others) for group in several], number=True),
        Column("least association", [digits(min(group.associations), 3) for group in several], number=True),
    ]
    content = {"summary": found.summary, "columns": columns, "rows": rows_of(columns) if several else []}
    return Section("redundant", title, content)
