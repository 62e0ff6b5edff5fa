"""All features that a node may test: continuations of the inherited path, with every chain of aggregates that fits.

A `Bias` says which paths and aggregates are tried.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, Literal, NamedTuple
from zlib import crc32

from omnirank.core.errors import ParameterError, setting
from omnirank.core.parameters import check, choice, count
from omnirank.core.text import did_you_mean
from omnirank.data.notes import caller_outside
from omnirank.relational.aggregation import AGGREGATES, EXISTS, IDENTITY
from omnirank.relational.database import Component, Database, Index, Kind, Relation
from omnirank.relational.paths import Feature, Path, PathWords, Step, path_variables
from omnirank.relational.schema import mapping_given

Mode = tuple[str, ...]
_NAMES = (*AGGREGATES, EXISTS)
PRESETS = {"AGG-All": AGGREGATES, "AGG-Exist": (EXISTS,), "NO-Rel": ()}

_MODES_EXAMPLE = "{'ratings_stars': [('old', 'new')]}"


@dataclass(frozen=True)
class Bias:
    """Which constructed features are candidates.

    Parameters
    ----------
    aggregates : "AGG-All", "AGG-Exist", "NO-Rel" or sequence of str
        All aggregates; only whether there is a match of the whole path; only the columns of the target table. Or some
        of count, count_unique, min, max, mean, sum, mode and exists.
    lookahead : int
        How many steps a candidate may add to a prefix of the inherited path.
    max_path_length : int, optional
        The largest number of steps of a path.
    modes : mapping of str to sequences, optional
        For some relations the ways in which a step may use them. A way says for each component "old" (a variable that
        is known), "new" (a variable that the step introduces), "any" (either, as what settings files of facts call new)
        or "c" (each value of its domain, one step per value). An empty sequence excludes a relation. The others have
        one way per object component, with that one old and the rest new. A nominal component that is old joins equal
        levels of one domain.
    max_candidates : int or None
        The most candidates of one node. Shorter paths come first; of the length where room runs out, a sample of the
        paths is taken, with a warning where that is so in the root.

    Examples
    --------
    >>> from omnirank.relational import Bias
    >>> Bias(lookahead=1).allowed
    ('count', 'count_unique', 'min', 'max', 'mean', 'sum', 'mode')
    >>> Bias("AGG-Exist").allowed
    ('exists',)
    """

    aggregates: str | Sequence[str] = "AGG-All"
    lookahead: int = 2
    max_path_length: int | None = None
    modes: Mapping[str, Sequence[Mode]] | None = None
    max_candidates: int | None = 3_000

    def __post_init__(self) -> None:
        check("lookahead", self.lookahead, count(1))
        check("max_path_length", self.max_path_length, choice(None) | count(1))
        check("max_candidates", self.max_candidates, choice(None) | count(1))
        mapping_given("modes", self.modes, _MODES_EXAMPLE)
        if not isinstance(self.aggregates, Sequence):
            raise ParameterError("aggregates", self.aggregates, f"give one of {', '.join(PRESETS)}, or a list of names")
        given, known = ([self.aggregates], PRESETS) if isinstance(self.aggregates, str) else (self.aggregates, _NAMES)
        for name in given:
            check("aggregates", name, choice(*known))

    @property
    def allowed(self) -> tuple[str, ...]:
        """The aggregates, in a fixed order; the value of a step with one match needs none."""
        if isinstance(self.aggregates, str):
            return PRESETS[self.aggregates]
        return tuple(name for name in _NAMES if name in self.aggregates)

    @property
    def chains(self) -> tuple[Any, ...]:
        """What the features of a path depend on."""
        return isinstance(self.aggregates, str), self.allowed

    def within(self, modes: Mapping[str, Sequence[Mode]] | None, aggregates: Sequence[str] | None) -> Bias:
        """Return the bias with the modes and aggregates that a data set declares, where the defaults are given.

        Examples
        --------
        >>> from omnirank.relational import Bias
        >>> Bias().within(None, ("max", "count")).allowed
        ('count', 'max')
        >>> Bias("AGG-Exist").within(None, ("max", "count")).allowed
        ('exists',)
        """
        own = self.aggregates if aggregates is None or self.aggregates != "AGG-All" else aggregates
        return replace(self, modes=modes if self.modes is None else self.modes, aggregates=own)

    def modes_of(self, relation: Relation) -> tuple[Mode, ...]:
        """Return the ways in which a step may use a relation."""
        if self.modes is not None and relation.name in self.modes:
            return tuple(tuple(mode) for mode in self.modes[relation.name])
        kinds = [component.kind for component in relation.components]
        return tuple(
            tuple("old" if other == position else "new" for other in range(len(kinds)))
            for position, kind in enumerate(kinds)
            if kind == "object"
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
                fits = isinstance(mode, Sequence) and len(mode) == len(components)
                if not fits or any(word not in ("old", "new", "any", "c") for word in mode):
                    advice = f"say old, new, any or c for each of the {len(components)} components of {name}"
                    raise ParameterError("modes", mode, advice)
                if "old" not in mode:
                    raise ParameterError("modes", mode, "at least one component is old: a step continues from it")
                for word, component in zip(mode, components, strict=True):
                    if word in ("old", "c") and component.kind == "numeric":
                        raise ParameterError("modes", mode, f"the numbers of {component.name} can only be new")


# Aggregates of numbers that were aggregated before; a count of them is that of the shorter path.
_OUTER = ("min", "max", "mean", "sum")


def candidates(
    database: Database, example_types: tuple[str, ...], inherited: Path = (), bias: Bias | None = None
) -> tuple[Feature, ...]:
    """Return all features whose path continues some prefix of the inherited path by 1 to ``lookahead`` steps, named.

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

    Returns
    -------
    tuple of Feature
        Shorter paths first, then in the order of the relations in the database; the same for the same arguments.
    """
    bias = Bias() if bias is None else bias
    groups, is_cut = Candidates(database, example_types, bias).by_path(inherited)
    if is_cut:
        warn_of_cut(bias)
    words = [PathWords(database, example_types, group[0].path) for group in groups]
    return tuple(own.describe(feature) for own, group in zip(words, groups, strict=True) for feature in group)


def warn_of_cut(bias: Bias) -> None:
    """Say that there are more candidates than the limit."""
    assert bias.max_candidates is not None
    warnings.warn(
        f"there are more than {bias.max_candidates} candidate features: of the longest paths a sample is taken; "
        f"{setting('max_candidates', 2 * bias.max_candidates)} keeps more of them",
        UserWarning,
        stacklevel=caller_outside(),
    )


class _Chain(NamedTuple):
    """Aggregates from some step on: of which variable, what they give, and whether it is a value as it stands."""

    variable: int | None
    aggregates: tuple[str, ...]
    kind: Kind
    raw: bool


class Candidates:
    """The features that nodes may test, without names: of thousands of candidates, trees use a few.

    Steps that only check the example itself, with no variable to go on from, are not continued: below a test of such a
    check, what would follow is the same as without it, or nothing. So a tree tests the one check after the other.

    Parameters
    ----------
    database, example_types, bias
        As in :func:`candidates`.
    """

    def __init__(self, database: Database, example_types: tuple[str, ...], bias: Bias) -> None:
        bias.check_modes(database)
        self.database = database
        self.example_types = example_types
        self.bias = bias
        # kept with the database: many inherited paths lead to the same steps and features, and so do other fits
        joins = tuple(database.relations), example_types, repr(bias.modes)
        self._steps = database.caches.steps.setdefault(joins, {})
        # where the examples have a table, their columns are in it
        self._own_tables = {other.table for other in database.relations.values()} & set(example_types)
        chains = example_types, frozenset(self._own_tables), bias.chains
        self._features = database.caches.features.setdefault(chains, {})
        self._places = {name: place for place, name in enumerate(database.relations)}

    def __reduce__(self) -> tuple[Any, ...]:
        return Candidates, (self.database, self.example_types, self.bias)  # what is kept stays in its process

    def by_path(self, inherited: Path) -> tuple[list[tuple[Feature, ...]], bool]:
        """Return the features that continue an inherited path, those of a path together, shorter paths first.

        Also whether the limit leaves some out: of the paths of the length where room runs out, a sample is taken, which
        depends on nothing but the paths.
        """
        groups: list[tuple[Feature, ...]] = []
        room = self.bias.max_candidates
        for paths in self.levels(inherited):
            taken: dict[Path, tuple[Feature, ...]] = {}
            for path in paths if room is None else sorted(paths, key=_drawn):
                if path not in self._features:
                    self._features[path] = tuple(Feature(path, *chain) for chain in self._chains(path))
                group = self._features[path]
                if room is not None and len(group) > room:
                    taken[path] = group[:room]
                    return groups + [taken[path] for path in paths if taken.get(path)], True
                if group:
                    taken[path] = group
                    room = None if room is None else room - len(group)
            groups += [taken[path] for path in paths if path in taken]
        return groups, False

    @cached_property
    def _is_cut(self) -> bool:
        """Whether the limit leaves out candidates of the root: there is no room for longer paths then."""
        return self.by_path(())[1]

    def continued_part(self, inherited: Path) -> Path:
        """Return the shortest prefix of an inherited path that has the same candidates.

        A step to a number, say, leads no further: below a test of it, nodes have the candidates of the step before.
        """
        if self.bias.aggregates == "NO-Rel" or self._is_cut:
            return ()
        n = len(inherited)
        if self.bias.max_path_length is not None:  # a longer prefix adds longer paths only
            n = min(n, max(0, self.bias.max_path_length - self.bias.lookahead))
        while n and not self._extensions(inherited[:n]):
            n -= 1
        return inherited[:n]

    # -- paths ---------------------------------------------------------------------------------------

    def levels(self, inherited: Path) -> Iterator[list[Path]]:
        """Paths of the candidates, length by length."""
        bias = self.bias
        longest = len(inherited) + bias.lookahead
        if bias.max_path_length is not None:
            longest = min(longest, bias.max_path_length)
        if bias.aggregates == "NO-Rel":
            longest = 1
        frontier: dict[Path, int] = {(): 0}  # each path with the number of steps beyond the nearest prefix
        for length in range(1, longest + 1):
            prefix = inherited[:length] if length <= len(inherited) else None
            longer: dict[Path, int] = {}
            for path, beyond in frontier.items():
                if beyond < bias.lookahead:
                    longer |= dict.fromkeys(((*path, step) for step in self._extensions(path)), beyond + 1)
            if prefix is not None:
                in_order = prefix in longer
                longer[prefix] = 0
                if not in_order:
                    longer = dict(sorted(longer.items(), key=lambda item: [self._order(step) for step in item[0]]))
            frontier = longer
            yield list(frontier)

    def _order(self, step: Step) -> tuple[Any, ...]:
        """The key by which steps are sorted: relations in the order of the database."""
        return self._places[step.relation], step.bound, [(position, str(value)) for position, value in step.constants]

    def _extensions(self, path: Path) -> tuple[Step, ...]:
        """Steps that continue a path, sorted."""
        if path not in self._steps:
            # two modes may lead to the same step
            self._steps[path] = tuple(sorted(dict.fromkeys(self._found_extensions(path)), key=self._order))
        return self._steps[path]

    def _found_extensions(self, path: Path) -> Iterator[Step]:
        """Steps that continue a path: linked to its last step, none twice, none that leads straight back."""
        variables = path_variables(self.database, self.example_types, path)
        if path and len(variables) == len(self.example_types):  # checks of the example
            return
        linked = set(range(len(variables)))
        if path:
            n_fresh = len(path[-1].fresh(self.database.relation(path[-1].relation)))
            fresh = set(range(len(variables) - n_fresh, len(variables)))
            linked = fresh or {variable for _, variable in path[-1].bound}
        for relation in self.database.relations.values():
            for mode in self.bias.modes_of(relation):
                for step in self._mode_steps(relation, mode, variables):
                    is_linked = any(variable in linked for _, variable in step.bound)
                    if is_linked and step not in path and not self._leads_back(path, step):
                        yield step

    def _mode_steps(self, relation: Relation, mode: Mode, variables: tuple[Component, ...]) -> Iterator[Step]:
        """Steps that use a relation in one way."""
        choices: list[list[Any]] = []
        for word, component in zip(mode, relation.components, strict=True):
            if word == "c":
                choices.append(list(self.database.codes_of(component)))
                continue
            joined = [] if word == "new" or component.kind == "numeric" else variables
            kind = component.kind, component.type
            known = [i for i, variable in enumerate(joined) if (variable.kind, variable.type) == kind]
            choices.append(known if word == "old" else [None, *known])
        for chosen in product(*choices):
            bound = tuple((i, what) for i, what in enumerate(chosen) if mode[i] != "c" and what is not None)
            constants = tuple((position, what) for position, what in enumerate(chosen) if mode[position] == "c")
            yield Step(relation.name, bound, constants)

    def _leads_back(self, path: Path, step: Step) -> bool:
        """Whether a step can only match the fact of an earlier one: the same variables, of which one fact is known."""
        if not self._index(step).is_functional:
            return False
        n_known = len(self.example_types)
        for earlier in path:
            places = dict(earlier.bound)
            for position in earlier.fresh(self.database.relation(earlier.relation)):
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

    def _index(self, step: Step) -> Index:
        return self.database.index(step.relation, step.given)

    def _is_total(self, step: Step) -> bool:
        """Whether a step has a match for every object; facts with times may not be known yet, levels be of others."""
        relation = self.database.relation(step.relation)
        is_object = relation.components[step.given[0]].kind == "object"
        return is_object and relation.times is None and self._index(step).is_total

    # -- chains of aggregates ------------------------------------------------------------------------

    def _chains(self, path: Path) -> Iterator[tuple[int | None, tuple[str, ...]]]:
        """Variables and aggregates of a path; outer aggregates follow from what the inner ones give.

        A step with at most one match has one aggregate, which keeps its value, instead of all, which agree there.
        """
        if self.bias.aggregates == "NO-Rel" and not self._is_own_column(path[0]):
            return
        allowed = self.bias.allowed
        chains = list(self._last_step(path))
        for step in reversed(path[:-1]):
            single = self._index(step).is_functional
            chains = [
                _Chain(chain.variable, (name, *chain.aggregates), kind, chain.raw and name == IDENTITY)
                for chain in chains
                for name, kind in _outer(chain, single)
                if name == IDENTITY or name in allowed
            ]
        for chain in chains:
            if chain.kind != "object":
                yield chain.variable, chain.aggregates
        if EXISTS in allowed and not self._is_total(path[-1]):
            yield None, (EXISTS,) * len(path)

    def _last_step(self, path: Path) -> Iterator[_Chain]:
        step, allowed = path[-1], self.bias.allowed
        variables = path_variables(self.database, self.example_types, path)
        n_fresh = len(step.fresh(self.database.relation(step.relation)))
        single = self._index(step).is_functional
        values = range(len(variables) - n_fresh, len(variables))
        if single and self.bias.aggregates != "AGG-Exist":
            for variable in values:
                yield _Chain(variable, (IDENTITY,), variables[variable].kind, True)
        if "count" in allowed and not (single and self._is_total(step)):
            yield _Chain(None, ("count",), "numeric", False)
        if single:
            return
        for variable in values:
            for name in _innermost(variables[variable].kind, n_fresh, self.database.relation(step.relation).is_bag):
                if name in allowed:
                    yield _Chain(variable, (name,), "nominal" if name == "mode" else "numeric", False)

    def _is_own_column(self, step: Step) -> bool:
        """Whether a step leads to a value in the example's own row."""
        relation = self.database.relation(step.relation)
        ours = not self._own_tables or relation.table in self._own_tables
        whole = {variable for _, variable in step.bound} == set(range(len(self.example_types)))
        return ours and whole and not relation.is_link and self._index(step).is_functional


def _drawn(path: Path) -> int:
    """The place of a path in a random order."""
    return crc32(b"(%s%s)" % (b", ".join([step.text for step in path]), b"," * (len(path) == 1)))


def _innermost(kind: Kind, n_fresh: int, is_bag: bool) -> tuple[str, ...]:
    """Aggregates of the values of a variable; those of the only free place of a set of facts are all different."""
    different = ("count_unique",) if n_fresh > 1 or is_bag else ()
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
