"""Constructed features written straight from their definition: recursion over sets of tuples, one example at a time."""

from __future__ import annotations

import math
from collections import Counter

from omnirank.relational.database import Database
from omnirank.relational.paths import Feature

INFINITE = {"min": math.inf, "mean": math.inf, "identity": math.inf, "max": -math.inf}
NONE = "<none>"


def fact_set(database: Database, name: str, until: float | None = None) -> set[tuple]:
    """Facts of a relation as tuples of Python values, objects and levels by their code, up to a time."""
    relation = database.relations[name]
    rows = list(zip(*(column.tolist() for column in relation.facts), strict=True))
    if until is None or relation.times is None:
        return set(rows)
    return {row for row, time in zip(rows, relation.times.tolist(), strict=True) if time <= until}


def constant_code(database: Database, component, value) -> int:
    """The code of a constant, -1 where there is none."""
    known = list(component.levels) if component.kind == "nominal" else database.objects[component.type].tolist()
    return known.index(value) if value in known else -1


def matches(database: Database, step, binding: list, kinds: list, until: float | None) -> list[tuple]:
    """Facts that agree with what is known."""
    relation = database.relations[step.relation]
    wanted = {}
    for position, variable in step.bound:
        wanted[position] = binding[variable]
        component = relation.components[position]
        if component.kind == "nominal" and binding[variable] >= 0:
            wanted[position] = constant_code(database, component, kinds[variable].levels[binding[variable]])
    for position, value in step.constants:
        wanted[position] = constant_code(database, relation.components[position], value)
    facts = fact_set(database, step.relation, until)
    return sorted(fact for fact in facts if all(fact[position] == code for position, code in wanted.items()))


def aggregated(name: str, values: list, nominal: bool):
    """One aggregate of a list; of an empty one what the definition says."""
    if name == "count":
        return float(len(values))
    if name == "count_unique":
        return float(len(set(values)))
    if name == "exists":
        return float(any(value > 0 for value in values))
    if name == "sum":
        return math.fsum(values)
    if nominal:  # mode, or the identity of one value
        counts = Counter(values)
        return min((-number, value) for value, number in counts.items())[1] if counts else NONE
    if not values:
        return INFINITE[name]
    if name == "mean":
        return math.fsum(values) / len(values)
    return {"min": min, "identity": min, "max": max}[name](values)


def value(database: Database, feature: Feature, example: tuple[int, ...], kinds, until: float | None = None):
    """The value of a feature for one example; levels by their code, nothing as ``<none>``."""

    def behind(k: int, binding: list, known: list):
        step, name = feature.path[k], feature.aggregates[k]
        relation = database.relations[step.relation]
        fresh = step.fresh(relation)
        components = [relation.components[position] for position in fresh]
        found = []
        for fact in matches(database, step, binding, known, until):
            longer = binding + [fact[position] for position in fresh]
            if k + 1 < len(feature.path):
                found.append(behind(k + 1, longer, known + components))
            else:
                found.append(1.0 if feature.variable is None else longer[feature.variable])
        defined = [v for v in found if v != NONE and not (isinstance(v, float) and math.isinf(v))]
        return aggregated(name, defined, _gives_codes(feature, k, known, components, database))

    return behind(0, list(example), list(kinds))


def _gives_codes(feature: Feature, k: int, known, components, database: Database) -> bool:
    """Whether step k passes on codes of levels or objects: no aggregate from it to the end makes numbers of them."""
    if feature.variable is None or any(name not in ("mode", "identity") for name in feature.aggregates[k:]):
        return False
    variables = list(known) + list(components)
    for step in feature.path[k + 1 :]:
        relation = database.relations[step.relation]
        variables += [relation.components[position] for position in step.fresh(relation)]
    return variables[feature.variable].kind != "numeric"
