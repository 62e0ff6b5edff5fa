"""The distance of two examples, straight from its definition: walks over sets of facts, bags, and their matching."""

from __future__ import annotations

from fractions import Fraction

from omnirank.relational.paths import Step
from reference.relational import matches


def bags(database, path: tuple[Step, ...], example, kinds, until=None) -> dict[int, list]:
    """For each free place of the last step the values that walks from an example lead to."""
    walks = [(list(example), list(kinds))]
    last: dict[int, list] = {}
    for step in path:
        relation = database.relations[step.relation]
        fresh = step.fresh(relation)
        facts = [(b, k, fact) for b, k in walks for fact in matches(database, step, b, k, until)]
        last = {place: [fact[place] for *_, fact in facts] for place in fresh}
        if not fresh:
            last = {step.bound[0][0]: [0 for _ in facts]}
        walks = [(b + [f[p] for p in fresh], k + [relation.components[p] for p in fresh]) for b, k, f in facts]
    return last


def quantiles(values: list) -> list:
    """Ten values in order, each standing for a tenth of the bag."""
    ordered = sorted(values)
    return [ordered[int(Fraction(2 * i + 1, 20) * len(ordered))] for i in range(10)]


def cost(one: list, other: list, component, facts) -> float:
    """How badly two bags match."""
    if not one or not other:
        return float(bool(one) != bool(other))
    if component.kind != "numeric":
        return 1 - len({*one} & {*other}) / len({*one} | {*other})
    span = max(facts) - min(facts) or 1.0
    return sum(abs(a - b) / span for a, b in zip(quantiles(one), quantiles(other), strict=True)) / 10


def distance(database, paths, weights, one, other, kinds, until=(None, None)) -> float:
    """The distance of two examples: for each relation the mean over the walks that end in it."""
    total = 0.0
    for name, weight in weights.items():
        relation, costs = database.relations[name], []
        for path in (path for path in paths if path[-1].relation == name):
            first, second = (bags(database, path, e, kinds, t) for e, t in zip((one, other), until, strict=True))
            for place in first:
                column = relation.facts[place].tolist()
                costs.append(cost(first[place], second[place], relation.components[place], column) ** 2)
        total += weight * sum(costs) / len(costs) if costs else 0.0
    return total
