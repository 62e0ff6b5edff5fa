"""All features that a node may test: continuations of the inherited path, with every chain of aggregates that fits."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, Literal, NamedTuple

from omnirank.core.errors import ParameterError, setting
from omnirank.core.parameters import FLAG, check, choice, count
from omnirank.core.suggestions import did_you_mean
from omnirank.data.remarks import caller_outside
from omnirank.relational.aggregation import AGGREGATES, EXISTS, IDENTITY
from omnirank.relational.database import Component, Database, Index, Kind, Relation, index_of
from omnirank.relational.paths import Feature, Path, PathWords, Step, path_variables, relation_of
from omnirank.relational.schema import mapping_given

Mode = tuple[str, ...]
PRESETS = ("AGG-All", "AGG-Exist", "NO-Rel")

_MODES_EXAMPLE = "{'ratings_stars': [('old', 'new')]}"


@dataclass(frozen=True)
class Bias:
    """Which constructed features are candidates.

    Parameters
    ----------
    preset : "AGG-All", "AGG-Exist" or "NO-Rel"
        All aggregates; only whether there is a match of the whole path; only the columns of the target table.
    aggregates : sequence of str, optional
        The aggregates to use instead of those of the preset: count, count_unique, min, max, mean, sum, mode, exists.
    lookahead : int
        How many steps a candidate may add to a prefix of the inherited path.
    max_path_length : int, optional
        The largest number of steps of a path.
    modes : mapping of str to sequences, optional
        For some relations the ways in which a step may use them. A way says for each component "old" (a variable that
        is known), "new" (a variable that the step introduces) or "c" (each value of its domain, one step per value). An
        empty sequence excludes a relation. The others have one way per object component, with that one old and the
        rest new.
    dedupe_functional : bool
        Whether a step with at most one match has one aggregate that keeps its value (and a count, where it may have no
        match) instead of all the aggregates, which agree there.
    nominal_joins : bool
        Whether components of the same nominal domain may be joined too.
    max_candidates : int or None
        The most candidates of one node; longer paths are left out first, with a warning.

    Examples
    --------
    >>> from omnirank.relational.candidates import Bias
    >>> Bias(lookahead=1).allowed
    ('count', 'count_unique', 'min', 'max', 'mean', 'sum', 'mode')
    >>> Bias("AGG-Exist").allowed
    ('exists',)
    """

    preset: str = "AGG-All"
    aggregates: Sequence[str] | None = None
    lookahead: int = 2
    max_path_length: int | None = None
    modes: Mapping[str, Sequence[Mode]] | None = None
    dedupe_functional: bool = True
    nominal_joins: bool = False
    max_candidates: int | None = 10_000

    def __post_init__(self) -> None:
        check("preset", self.preset, choice(*PRESETS))
        check("lookahead", self.lookahead, count(1))
        check("max_path_length", self.max_path_length, choice(None) | count(1))
        check("dedupe_functional", self.dedupe_functional, FLAG)
        check("nominal_joins", self.nominal_joins, FLAG)
        check("max_candidates", self.max_candidates, choice(None) | count(1))
        mapping_given("modes", self.modes, _MODES_EXAMPLE)
        if not isinstance(self.aggregates, Sequence | None) or isinstance(self.aggregates, str):
            raise ParameterError("aggregates", self.aggregates, "give a list of names, such as ['count', 'mean']")
        for name in self.aggregates or ():
            check("aggregates", name, choice(*AGGREGATES, EXISTS))

    @property
    def allowed(self) -> tuple[str, ...]:
        """The aggregates, in a fixed order; the value of a step with one match needs none."""
        if self.aggregates is not None:
            return tuple(name for name in (*AGGREGATES, EXISTS) if name in self.aggregates)
        return {"AGG-All": AGGREGATES, "AGG-Exist": (EXISTS,), "NO-Rel": ()}[self.preset]

    @cached_property
    def modes_key(self) -> str:
        """The modes as a key of tables."""
        return repr(self.modes)

    def within(self, modes: Mapping[str, Sequence[Mode]] | None, aggregates: Sequence[str] | None) -> Bias:
        """Return the bias with the modes and aggregates that a data set declares, where none are given.

        The presets other than AGG-All say themselves what is aggregated.

        Examples
        --------
        >>> from omnirank.relational.candidates import Bias
        >>> Bias().within(None, ("max", "count")).allowed
        ('count', 'max')
        >>> Bias("AGG-Exist").within(None, ("max", "count")).allowed
        ('exists',)
        """
        own = aggregates if self.aggregates is None and self.preset == "AGG-All" else self.aggregates
        return replace(self, modes=modes if self.modes is None else self.modes, aggregates=own)

    def modes_of(self, relation: Relation) -> tuple[Mode, ...]:
        """Return the ways in which a step may use a relation."""
        if self.modes is not None and relation.name in self.modes:
            return tuple(tuple(mode) for mode in self.modes[relation.name])
        joined = ("object", "nominal") if self.nominal_joins else ("object",)
        kinds = [component.kind for component in relation.components]
        return tuple(
            tuple("old" if other == position else "new" for other in range(len(kinds)))
            for position, kind in enumerate(kinds)
            if kind in joined
        )

    def check_modes(self, database: Database) -> None:
        """Refuse modes that do not fit the relations of a database."""
        for name, modes in (self.modes or {}).items():
            if name not in database.relations:
                hint = did_you_mean(name, list(database.relations))
                raise ParameterError("modes", name, f"the database has no such relation{hint}")
            components = database.relations[name].components
            if isinstance(modes, str) or not isinstance(modes, Sequence):
                raise ParameterError(
                    "modes", {name: modes}, f"give a list of modes for each relation, such as {_MODES_EXAMPLE}"
                )
            for mode in modes:
                advice = f"say old, new or c for each of the {len(components)} components of {name}"
                if (
                    not isinstance(mode, Sequence)
                    or len(mode) != len(components)
                    or any(word not in ("old", "new", "c") for word in mode)
                ):
                    raise ParameterError("modes", mode, advice)
                if "old" not in mode:
                    raise ParameterError("modes", mode, "at least one component is old: a step continues from it")
                for word, component in zip(mode, components, strict=True):
                    if word != "new" and component.kind == "numeric":
                        raise ParameterError("modes", mode, f"the numbers of {component.name} can only be new")


# Aggregates of numbers that were aggregated before; a count of them is that of the shorter path.
_OUTER = ("min", "max", "mean", "sum")


def candidates(
    database: Database,
    example_types: tuple[str, ...],
    inherited: Path = (),
    bias: Bias | None = None,
    *,
    named: bool = True,
) -> tuple[Feature, ...]:
    """Return all features whose path continues some prefix of the inherited path by 1 to ``lookahead`` steps.

    Steps that only check the example itself, with no variable to go on from, are not continued: below a test of such a
    check, what would follow is the same as without it, or nothing. So a tree tests the one check after the other.

    Parameters
    ----------
    database : Database
        The facts; which steps have at most one match is seen from them.
    example_types : tuple of str
        Types of the objects that identify an example.
    inherited : tuple of Step
        Path of the test of the parent; empty in the root.
    bias : Bias, optional
        What is tried.
    named : bool
        Whether the features have names and sentences. Of thousands of candidates, trees use a few.

    Returns
    -------
    tuple of Feature
        Shorter paths first, then in the order of the relations in the database; the same for the same arguments.
    """
    bias = Bias() if bias is None else bias
    groups, is_cut = candidates_by_path(database, example_types, inherited, bias, named)
    if is_cut:
        warn_of_cut(bias)
    return tuple(feature for group in groups for feature in group)


def candidates_by_path(
    database: Database, example_types: tuple[str, ...], inherited: Path, bias: Bias, named: bool
) -> tuple[list[tuple[Feature, ...]], bool]:
    """Return the candidates of :func:`candidates`, those of a path together, and whether the limit leaves some out."""
    bias.check_modes(database)
    key = ("features", example_types, bias.preset, bias.allowed, bias.dedupe_functional, named)
    known: dict[Path, tuple[Feature, ...]] = database._indexes.setdefault(key, {})
    groups: list[tuple[Feature, ...]] = []
    room = bias.max_candidates
    for path in _continued(database, example_types, inherited, bias):
        group = known.get(path)
        if group is None:  # kept: many inherited paths lead to it
            group = known[path] = _features(database, example_types, path, bias, named)
        if room is not None and len(group) > room:
            return [*groups, group[:room]] if room else groups, True
        if group:
            groups.append(group)
            room = None if room is None else room - len(group)
    return groups, False


def warn_of_cut(bias: Bias) -> None:
    """Say that there are more candidates than the limit."""
    assert bias.max_candidates is not None
    warnings.warn(
        f"there are more than {bias.max_candidates} candidate features: the longest paths are left out; "
        f"{setting('max_candidates', 2 * bias.max_candidates)} keeps more of them",
        UserWarning,
        stacklevel=caller_outside(),
    )


def continued_part(database: Database, example_types: tuple[str, ...], inherited: Path, bias: Bias) -> Path:
    """Return the shortest prefix of an inherited path that has the same candidates.

    A step to a number, say, leads no further: below a test of it, nodes have the candidates of the step before.
    """
    if bias.preset == "NO-Rel":
        return ()
    n = len(inherited)
    if bias.max_path_length is not None:  # a longer prefix adds longer paths only
        n = min(n, max(0, bias.max_path_length - bias.lookahead))
    while n and not _known_extensions(database, example_types, inherited[:n], bias):
        n -= 1
    return inherited[:n]


def _features(
    database: Database, example_types: tuple[str, ...], path: Path, bias: Bias, named: bool
) -> tuple[Feature, ...]:
    """All features of one path."""
    features = (Feature(path, *chain) for chain in _chains(database, example_types, path, bias))
    if not named:
        return tuple(features)
    words = PathWords(database, example_types, path)
    return tuple(words.describe(feature) for feature in features)


# -- paths -------------------------------------------------------------------------------------------


def _continued(database: Database, example_types: tuple[str, ...], inherited: Path, bias: Bias) -> list[Path]:
    """Paths of the candidates, shortest first; not many more than there may be candidates."""
    longest = len(inherited) + bias.lookahead
    if bias.max_path_length is not None:
        longest = min(longest, bias.max_path_length)
    if bias.preset == "NO-Rel":
        longest = 1
    order = _step_order(database)
    found: list[Path] = []
    frontier: dict[Path, int] = {(): 0}  # each path with the number of steps beyond the nearest prefix
    for length in range(1, longest + 1):
        prefix = inherited[:length] if length <= len(inherited) else None
        longer: dict[Path, int] = {}
        for path, beyond in frontier.items():
            if beyond < bias.lookahead:
                for step in _known_extensions(database, example_types, path, bias):
                    longer[(*path, step)] = beyond + 1
        if prefix is not None and prefix not in longer:
            longer[prefix] = bias.lookahead
            longer = {path: longer[path] for path in sorted(longer, key=lambda path: [order(step) for step in path])}
        if prefix is not None:
            longer[prefix] = 0
        frontier = longer
        found += frontier
        if bias.max_candidates is not None and len(found) > bias.max_candidates:
            break
    return found


def _step_order(database: Database) -> Callable[[Step], tuple[Any, ...]]:
    """Return the key by which steps are sorted: relations in the order of the database."""
    places = {name: place for place, name in enumerate(database.relations)}

    def order(step: Step) -> tuple[Any, ...]:
        return places[step.relation], step.bound, [(position, str(value)) for position, value in step.constants]

    return order


def _known_extensions(database: Database, example_types: tuple[str, ...], path: Path, bias: Bias) -> tuple[Step, ...]:
    """Steps that continue a path, sorted; they are kept, since many inherited paths have prefixes in common."""
    key = ("steps", example_types, bias.nominal_joins, bias.modes_key)
    known: dict[Path, tuple[Step, ...]] = database._indexes.setdefault(key, {})
    if path not in known:
        known[path] = tuple(sorted(_extensions(database, example_types, path, bias), key=_step_order(database)))
    return known[path]


def _extensions(database: Database, example_types: tuple[str, ...], path: Path, bias: Bias) -> Iterator[Step]:
    """Steps that continue a path: linked to its last step, none twice, none that leads straight back."""
    variables = path_variables(database, example_types, path)
    if path and len(variables) == len(example_types):  # checks of the example
        return
    linked = set(range(len(variables)))
    if path:
        n_fresh = len(path[-1].fresh(relation_of(database, path[-1])))
        fresh = set(range(len(variables) - n_fresh, len(variables)))
        linked = fresh or {variable for _, variable in path[-1].bound}
    for relation in database.relations.values():
        for mode in bias.modes_of(relation):
            for step in _steps(database, relation, mode, variables, linked):
                if step not in path and not _leads_back(database, example_types, path, step):
                    yield step


def _steps(
    database: Database, relation: Relation, mode: Mode, variables: tuple[Component, ...], linked: set[int]
) -> Iterator[Step]:
    choices: list[list[Any]] = []
    for word, component in zip(mode, relation.components, strict=True):
        if word == "old":
            choices.append([i for i, known in enumerate(variables) if _joins(known, component)])
        elif word == "c":
            domain = component.levels if component.kind == "nominal" else database.objects[component.type].tolist()
            choices.append(list(domain or ()))
        else:
            choices.append([None])
    for chosen in product(*choices):
        bound = tuple((position, what) for position, what in enumerate(chosen) if mode[position] == "old")
        constants = tuple((position, what) for position, what in enumerate(chosen) if mode[position] == "c")
        if any(variable in linked for _, variable in bound):
            yield Step(relation.name, bound, constants)


def _joins(known: Component, component: Component) -> bool:
    return known.kind == component.kind and known.kind != "numeric" and known.type == component.type


def _leads_back(database: Database, example_types: tuple[str, ...], path: Path, step: Step) -> bool:
    """Whether a step can only match the fact of an earlier one: the same variables, of which one fact is known."""
    if not _index(database, step).is_functional:
        return False
    n_known = len(example_types)
    for earlier in path:
        relation = relation_of(database, earlier)
        places = dict(earlier.bound)
        for position in earlier.fresh(relation):
            places[position] = n_known
            n_known += 1
        constants = dict(earlier.constants)
        if (
            earlier.relation == step.relation
            and all(places.get(position) == variable for position, variable in step.bound)
            and all(position in constants and constants[position] == value for position, value in step.constants)
        ):
            return True
    return False


def _index(database: Database, step: Step) -> Index:
    return index_of(database, relation_of(database, step), step.given)


def _is_total(database: Database, step: Step) -> bool:
    """Whether a step has a match for every object; facts with times may not be known yet."""
    return relation_of(database, step).times is None and _index(database, step).is_total


# -- chains of aggregates ----------------------------------------------------------------------------


class _Chain(NamedTuple):
    """Aggregates from some step on: of which variable, what they give, and whether it is a value as it stands."""

    variable: int | None
    aggregates: tuple[str, ...]
    kind: Kind
    raw: bool


def _chains(
    database: Database, example_types: tuple[str, ...], path: Path, bias: Bias
) -> Iterator[tuple[int | None, tuple[str, ...]]]:
    """Variables and aggregates of a path; outer aggregates follow from what the inner ones give."""
    if bias.preset == "NO-Rel" and not _own_column(database, example_types, path[0]):
        return
    allowed = bias.allowed
    chains = list(_last_step(database, example_types, path, bias))
    for step in reversed(path[:-1]):
        single = bias.dedupe_functional and _index(database, step).is_functional
        chains = [
            _Chain(chain.variable, (name, *chain.aggregates), kind, chain.raw and name == IDENTITY)
            for chain in chains
            for name, kind in _outer(chain, single)
            if name == IDENTITY or name in allowed
        ]
    for chain in chains:
        if chain.kind != "object":
            yield chain.variable, chain.aggregates
    if EXISTS in allowed and not _is_total(database, path[-1]):
        yield None, (EXISTS,) * len(path)


def _last_step(database: Database, example_types: tuple[str, ...], path: Path, bias: Bias) -> Iterator[_Chain]:
    step = path[-1]
    relation, index, allowed = relation_of(database, step), _index(database, step), bias.allowed
    variables = path_variables(database, example_types, path)
    fresh = step.fresh(relation)
    single = (bias.dedupe_functional or bias.preset == "NO-Rel") and index.is_functional
    values = range(len(variables) - len(fresh), len(variables))
    if single and (bias.preset != "AGG-Exist" or bias.aggregates is not None):
        for variable in values:
            yield _Chain(variable, (IDENTITY,), variables[variable].kind, True)
    if "count" in allowed and not (single and _is_total(database, step)):
        yield _Chain(None, ("count",), "numeric", False)
    if single:
        return
    for variable in values:
        for name in _innermost(variables[variable].kind, len(fresh)):
            if name in allowed:
                yield _Chain(variable, (name,), "nominal" if name == "mode" else "numeric", False)


def _innermost(kind: Kind, n_fresh: int) -> tuple[str, ...]:
    """Aggregates of the values of a variable; those of the only free place of a relation are all different."""
    different = ("count_unique",) if n_fresh > 1 else ()
    return different + {"object": (), "nominal": ("mode",), "numeric": _OUTER}[kind]


def _outer(chain: _Chain, single: bool) -> list[tuple[str, Kind]]:
    """Aggregates that may follow, and what they give."""
    if single:
        return [(IDENTITY, chain.kind)]
    numeric: Literal["numeric"] = "numeric"
    of_values: list[tuple[str, Kind]] = [("count_unique", numeric)] if chain.raw else []
    if chain.kind == "numeric":
        return of_values + [(name, numeric) for name in _OUTER]
    if chain.kind == "object":
        return of_values
    counts: list[tuple[str, Kind]] = [("count", numeric), ("count_unique", numeric)]
    return [*(of_values if chain.raw else counts), ("mode", "nominal")]


def _own_column(database: Database, example_types: tuple[str, ...], step: Step) -> bool:
    """Whether a step leads to a value in the example's own row."""
    relation = relation_of(database, step)
    tables = {other.table for other in database.relations.values()} & set(example_types)
    ours = not tables or relation.table in tables
    whole = {variable for _, variable in step.bound} == set(range(len(example_types)))
    return ours and whole and not relation.is_link and _index(database, step).is_functional
