"""Tables as sets of facts, written straight from the rules of conversion, row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def facts_of_table(
    name: str, rows: Sequence[Row], key: Sequence[str], columns: Sequence[str]
) -> dict[str, set[tuple[Any, ...]]]:
    """One relation per column over the key; a missing cell is no fact; a table of keys alone is one relation."""
    found: dict[str, set[tuple[Any, ...]]] = {f"{name}_{column}": set() for column in columns}
    if not columns:
        found[name] = set()
    for row in rows:
        identifier = tuple(row[column] for column in key)
        if any(part is None for part in identifier):
            continue
        for column in columns:
            if row[column] is not None:
                found[f"{name}_{column}"].add((*identifier, row[column]))
        if not columns:
            found[name].add(identifier)
    return found


def decoded_facts(dataset: Any) -> dict[str, list[tuple[Any, ...]]]:
    """The facts of a data set's relations, with identifiers and levels in the place of codes."""
    found = {}
    for name, relation in dataset.database.relations.items():
        places = []
        for component, array in zip(relation.components, relation.facts, strict=True):
            if component.kind == "object":
                array = dataset.database.objects[component.type][array]
            elif component.levels is not None:
                array = [component.levels[code] for code in array]
            places.append([value.item() if hasattr(value, "item") else value for value in array])
        found[name] = list(zip(*places, strict=True))
    return found
