"""A small tree, and how the labels that there are were used."""

from __future__ import annotations

from omnirank.core.supervision_words import supervision_lines
from omnirank.plots import plot_tree
from omnirank.report.findings import TREE
from omnirank.report.section import Section
from omnirank.report.subject import Subject
from omnirank.report.vector import inline_svg
from omnirank.trees.export import export_text


def small_tree(subject: Subject) -> Section:
    """Return a small tree over the best features."""
    title, model = "A small tree", subject.found.tree
    if model is None:
        return Section("tree", title, left_out=subject.found.missing.get(TREE, "none was grown"))
    content = {"picture": inline_svg(plot_tree(model), "a small tree"), "text": export_text(model)}
    return Section("tree", title, content, seconds=subject.found.costs.get(TREE))


def supervision(subject: Subject) -> Section | None:
    """Return the level of supervision and why it was chosen, where only some examples are labelled."""
    lines = [] if subject.ranker is None else supervision_lines(subject.ranker)
    data = subject.data
    if data is None or data.target is None or data.labelled.all():
        return None
    n = int(data.labelled.sum())
    content = {"lines": lines, "n": n, "all": data.n_examples}
    if not lines:
        content["lines"] = ["the method uses the labelled examples only, or has no level of supervision"]
    return Section("supervision", "Few labels", content)
