"""``omnirank info`` on several tables: keys, kinds of columns, and how many objects links lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnirank.cli.info import examples_in_words, listed, target_in_words, value_in_words
from omnirank.cli.output import say, table

if TYPE_CHECKING:
    from omnirank.relational.dataset import RelationalDataset


def show(dataset: RelationalDataset) -> None:
    """Print what is in a relational data set."""
    from omnirank.relational.summary import links, tables

    facts = dataset.describe()
    lines = {"task": facts["task"], "examples": examples_in_words(facts)}
    lines["objects of an example"] = ", ".join(dataset.example_types)
    if dataset.target is None:
        lines["target"] = "none: --target names one (table.column)"
    else:
        lines["targets" if facts["targets"] > 1 else "target"] = target_in_words(dataset)
    if "classes" in facts:
        lines["classes"] = value_in_words(facts["classes"])
    lines["relations"] = f"{facts['relations']}, {facts['link relations']} of them links; {facts['facts']} facts"
    say(dataset.name, style="bold")
    table((("", "left"), ("", "left")), list(lines.items()))
    rows = [
        (t.name, ", ".join(t.identifier), ", ".join(t.references), listed([f"{c} ({kind})" for c, kind in t.columns]))
        for t in tables(dataset)
    ]
    table((("table", "left"), ("identifier", "left"), ("refers to", "left"), ("columns", "left")), rows)
    found = links(dataset.database)
    if found:
        ends = [
            (link.relation, f"{_range(link.forward)} {link.destination}", f"{_range(link.backward)} {link.source}")
            for link in found
        ]
        table((("link", "left"), ("leads to", "left"), ("and back to", "left")), ends)
    for text in dataset.notes:
        say(f"note: {text}")


def _range(counts: tuple[int, float, int]) -> str:
    least, mean, most = counts
    return str(most) if least == most else f"{least} to {most} (mean {mean:.3g})"
