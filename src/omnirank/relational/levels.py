"""Levels of nominal components: shared by a domain, and those of the data that a model was fitted to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from omnirank.data.table import Levels
from omnirank.relational.database import Relation
from omnirank.relational.facts import sorted_facts


def with_levels(relation: Relation, levels: Mapping[int, Levels]) -> Relation:
    """Return a relation with other levels of some components, which hold all the old ones.

    Parameters
    ----------
    relation : Relation
        The relation.
    levels : mapping of int to tuple
        For some positions, the new levels.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.relational.database import Component, Relation
    >>> from omnirank.relational.levels import with_levels
    >>> colour = Component("colour", "nominal", "colour", ("red",))
    >>> components = Component("id", "object", "r"), colour
    >>> relation = Relation("r", "r", "colour", components, (np.array([0]), np.array([0])))
    >>> with_levels(relation, {1: ("blue", "red")}).facts[1].tolist()
    [1]
    """
    components, facts = list(relation.components), list(relation.facts)
    for position, new in levels.items():
        old = components[position].levels or ()
        if old == new:
            continue
        place = {level: code for code, level in enumerate(new)}
        lookup = np.array([place[level] for level in old], np.int32)
        facts[position] = lookup[facts[position]] if len(facts[position]) else facts[position]
        components[position] = replace(components[position], levels=new)
    if components == list(relation.components):
        return relation
    arrays, times = sorted_facts(tuple(facts), relation.times)
    return replace(relation, components=tuple(components), facts=arrays, times=times)


def share_levels(relations: Iterable[Relation], domains: set[str]) -> list[Relation]:
    """Return relations in which nominal components of the same domain have the same levels.

    Parameters
    ----------
    relations : iterable of Relation
        The relations.
    domains : set of str
        Types of components that several relations may have.
    """
    relations = list(relations)
    found: dict[str, dict[object, None]] = {}
    for relation in relations:
        for component in relation.components:
            if component.kind == "nominal" and component.type in domains:
                found.setdefault(component.type, {}).update(dict.fromkeys(component.levels or ()))
    shared = {name: _ordered(levels) for name, levels in found.items()}
    return [
        with_levels(
            relation,
            {i: shared[c.type] for i, c in enumerate(relation.components) if c.kind == "nominal" and c.type in shared},
        )
        for relation in relations
    ]


def _ordered(levels: dict[object, None]) -> Levels:
    try:
        return tuple(sorted(levels))
    except TypeError:  # numbers and texts
        return tuple(sorted(levels, key=lambda level: (type(level).__name__, str(level))))
