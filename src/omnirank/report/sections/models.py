"""A small tree, and how the labels that there are were used."""

from __future__ import annotations

from omnirank.core.plurals import counted
from omnirank.core.supervision_words import supervision_lines
from omnirank.plots import plot_tree
from omnirank.report.findings import TREE
from omnirank.report.section import Section
from omnirank.report.subject import Subject
from omnirank.report.tables import listing
from omnirank.report.vector import inline_svg
from omnirank.trees.export import export_text
from omnirank.trees.tree_text import words_of


def small_tree(subject: Subject) -> Section:
    """Return a small tree over the best features."""
    title, model = "A small tree", subject.found.tree
    if model is None:
        return Section("tree", title, left_out=subject.found.missing.get(TREE, "none was grown"))
    names = words_of(model).feature_names
    used = [names[i] for i in dict.fromkeys(model.tree_.feature[model.tree_.feature >= 0].tolist())]
    content = {
        "picture": inline_svg(plot_tree(model), "a small tree"),
        "text": export_text(model),
        "over": f"the best {counted(len(names), 'feature')}" if len(names) < len(subject.ranking) else "all features",
        "used": listing(used),
    }
    return Section("tree", title, content, seconds=subject.found.costs.get(TREE))


def supervision(subject: Subject) -> Section | None:
    """Return the level of supervision and why it was chosen, where only some examples are labelled."""
    data, ranker = subject.data, subject.ranker
    if data is None or data.target is None or data.labelled.all():
        return None
    if ranker is None:
        lines = ["how the others were used is not known: give the fitted ranker, report(path, data, ranker=ranker)"]
    else:
        lines = supervision_lines(ranker) or ["the method has no level of supervision to choose"]
    content = {"lines": lines, "n": int(data.labelled.sum()), "all": data.n_examples}
    return Section("supervision", "Few labels", content)
