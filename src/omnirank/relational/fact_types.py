"""Types of the arguments of facts, where no settings declare them."""

from __future__ import annotations

from collections.abc import Mapping

from omnirank.data.arff.tokens import NUMBER
from omnirank.relational.fact_files import Predicate

Place = tuple[str, int]
NUMERIC, NOMINAL = "numeric", "nominal"


def infer_types(
    predicates: Mapping[str, Predicate], examples: Predicate, types: Mapping[str, tuple[str, ...]] | None = None
) -> dict[str, tuple[str, ...]]:
    """Return a type for each argument of each predicate: "numeric", "nominal..." or the name of a type of objects.

    Arguments that share a name are objects of one type. Numbers in the last of several places are numeric. A text that
    only occurs in the last of several places of one predicate is a nominal value; all others are objects.

    Parameters
    ----------
    predicates : mapping of str to Predicate
        The descriptive facts.
    examples : Predicate
        The arguments that identify the examples: objects.
    types : mapping of str to tuple of str, optional
        Which arguments are of the same type, where that is known; the target's too.

    Examples
    --------
    >>> from omnirank.relational.fact_files import Predicate
    >>> from omnirank.relational.fact_types import infer_types
    >>> likes = Predicate("likes", [["ana", "bob"], ["beef", "eggs"]])
    >>> knows = Predicate("knows", [["ana"], ["cid"]])
    >>> infer_types({"likes": likes, "knows": knows}, Predicate("vegan", [["ana", "cid"]]))
    {'likes': ('vegan.1', 'nominal likes.2'), 'knows': ('vegan.1', 'vegan.1'), 'vegan': ('vegan.1',)}
    """
    everything = {**predicates, examples.name: examples}
    places = {(name, i): set(p.arguments[i]) for name, p in everything.items() for i in range(p.arity)}
    roots = _joined(places, examples) if types is None else _declared(places, types)
    members: dict[str, list[Place]] = {}
    for place, root in roots.items():
        members.setdefault(root, []).append(place)
    of_examples = {roots[examples.name, i] for i in range(examples.arity)}
    names = {}
    for root, those in members.items():
        last = [everything[name].arity > 1 and i == everything[name].arity - 1 for name, i in those]
        values = set().union(*(places[place] for place in those))
        if root in of_examples or not all(last):
            names[root] = root
        elif values and all(map(NUMBER.fullmatch, values)):
            names[root] = f"{NUMERIC} {root}"
        else:
            names[root] = f"{NOMINAL} {root}" if len(those) == 1 else root
    return {name: tuple(names[roots[name, i]] for i in range(p.arity)) for name, p in everything.items()}


def _declared(places: Mapping[Place, set[str]], types: Mapping[str, tuple[str, ...]]) -> dict[Place, str]:
    return {(name, i): types[name][i] for name, i in places}


def _joined(places: Mapping[Place, set[str]], examples: Predicate) -> dict[Place, str]:
    """A name for each place, the same for places that share an argument.

    Numbers are shared by chance: a place that holds only numbers is joined to another one only if neither is the last
    of several, and all numbers of the one occur in the other.
    """
    arity: dict[str, int] = {}
    for name, i in places:
        arity[name] = max(arity.get(name, 0), i + 1)
    # the examples' places first, which give their type its name
    order = sorted(places, key=lambda place: (place[0] != examples.name, place))
    numbers = {place for place in order if places[place] and all(map(NUMBER.fullmatch, places[place]))}
    root: dict[Place, Place] = {}
    for place in order:
        root[place] = place
        own_last = place[1] == arity[place[0]] - 1 and arity[place[0]] > 1 and place[0] != examples.name
        for other in list(root):
            if root[other] == root[place] or (other in numbers) != (place in numbers):
                continue
            if place in numbers:
                other_last = other[1] == arity[other[0]] - 1 and arity[other[0]] > 1 and other[0] != examples.name
                same = not own_last and not other_last and _contained(places[place], places[other])
            else:
                same = not places[place].isdisjoint(places[other])
            if same:
                first, second = sorted((root[other], root[place]), key=order.index)
                root = {p: first if r == second else r for p, r in root.items()}
    return {place: f"{r[0]}.{r[1] + 1}" for place, r in root.items()}


def _contained(one: set[str], other: set[str]) -> bool:
    return one <= other or other <= one
