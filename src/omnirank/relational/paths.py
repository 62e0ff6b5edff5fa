"""What a node of a relational tree tests: a path of relations from the example, and an aggregate for each step."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar

from omnirank.core.errors import DataError
from omnirank.core.suggestions import did_you_mean
from omnirank.relational.database import Component, Database, Relation


class HashedOnce:
    """Keys of many tables: a hash is computed once, and stays in its process, since that of a str does."""

    _compared: ClassVar[tuple[str, ...]]

    @cached_property
    def _hash(self) -> int:
        return hash(tuple([getattr(self, name) for name in self._compared]))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Step(HashedOnce):
    """One relation of a path, with what is known of its places.

    Parameters
    ----------
    relation : str
        Name of the relation.
    bound : tuple of (position, variable) pairs
        Places that hold a variable known before, in the order of positions. Variables are numbered: first those of
        the example, then those that each step introduces, in the order of its free places.
    constants : tuple of (position, value) pairs
        Places that hold a given level or identifier.

    Examples
    --------
    >>> from omnirank.relational.paths import Step
    >>> Step("ratings_movie", ((1, 0),))
    Step(relation='ratings_movie', bound=((1, 0),), constants=())
    """

    relation: str
    bound: tuple[tuple[int, int], ...]
    constants: tuple[tuple[int, Any], ...] = ()

    _compared = ("relation", "bound", "constants")
    __hash__ = HashedOnce.__hash__

    @cached_property
    def given(self) -> tuple[int, ...]:
        """Positions that a match must agree with."""
        return tuple(sorted([position for position, _ in self.bound] + [position for position, _ in self.constants]))

    @cached_property
    def without_values(self) -> tuple[Any, ...]:
        """What steps that differ in the values of their constants only have in common."""
        return self.relation, self.bound, tuple(position for position, _ in self.constants)

    def fresh(self, relation: Relation) -> tuple[int, ...]:
        """Return the positions that become variables."""
        given = self.given
        return tuple(position for position in range(len(relation.components)) if position not in given)


Path = tuple[Step, ...]


@dataclass(frozen=True)
class Request(HashedOnce):
    """What is to be computed for each binding of variables: a feature without its name, or what is behind its step.

    Parameters
    ----------
    path, variable, aggregates
        As in :class:`Feature`; variables that are known before are numbered first.
    """

    path: Path
    variable: int | None
    aggregates: tuple[str, ...]

    _compared = ("path", "variable", "aggregates")
    __hash__ = HashedOnce.__hash__

    @cached_property
    def behind(self) -> Request:
        """What is to be computed for each match of the first step."""
        return Request(self.path[1:], self.variable, self.aggregates[1:])

    @cached_property
    def variables(self) -> tuple[int, ...]:
        """The variables that its steps are bound to."""
        return tuple(sorted({variable for step in self.path for _, variable in step.bound}))

    def seen_from(self, variable: int, n_known: int) -> Request:
        """Return the request with the one known variable that it needs as number 0, and its own from 1 on."""
        if n_known == 1:
            return self
        key = variable, n_known
        if key not in self._renumbered:
            self._renumbered[key] = _renumbered(self, variable, n_known)
        return self._renumbered[key]

    @cached_property
    def _renumbered(self) -> dict[tuple[int, int], Request]:
        return {}


def _renumbered(request: Request, variable: int, n_known: int) -> Request:
    def number(old: int) -> int:
        return 0 if old == variable else old - n_known + 1

    path = tuple(
        Step(step.relation, tuple((position, number(old)) for position, old in step.bound), step.constants)
        for step in request.path
    )
    return Request(path, None if request.variable is None else number(request.variable), request.aggregates)


@dataclass(frozen=True)
class Feature(HashedOnce):
    """A function of an example: values reached by a path, aggregated step by step.

    With b the variables bound so far and match(r, b) the facts of r that agree with them, step k aggregates what the
    steps behind it give for each match, ``V_k(b) = a_k([V_{k+1}(b + t) for t in match(r_k, b)])``, and the last step
    the values of the variable. The feature is ``V_1`` of the example.

    Parameters
    ----------
    path : tuple of Step
        At least one step.
    variable : int or None
        The variable whose values are aggregated, one that the last step introduces; None counts matches.
    aggregates : tuple of str
        One per step, the outermost first.
    name : str
        Short name, ``mean(ratings.stars)``.
    sentence : str
        The same in words, "mean stars of its ratings".
    """

    path: Path
    variable: int | None
    aggregates: tuple[str, ...]
    name: str = field(default="", compare=False)
    sentence: str = field(default="", compare=False)

    _compared = ("path", "variable", "aggregates")
    __hash__ = HashedOnce.__hash__

    @cached_property
    def request(self) -> Request:
        """What an evaluator computes; kept, since a model asks for the same features again and again."""
        return Request(self.path, self.variable, self.aggregates)

    @property
    def size(self) -> int:
        """Number of steps."""
        return len(self.path)

    @property
    def relations(self) -> tuple[str, ...]:
        """Names of the relations along the path."""
        return tuple(step.relation for step in self.path)


def relation_of(database: Database, step: Step) -> Relation:
    """Return the relation of a step; a database without it is an error."""
    try:
        return database.relations[step.relation]
    except KeyError:
        hint = did_you_mean(step.relation, list(database.relations))
        raise DataError(f"the database has no relation {step.relation!r}{hint}") from None


def example_variables(example_types: tuple[str, ...]) -> tuple[Component, ...]:
    """Return the variables that identify an example."""
    return tuple(Component(kind, "object", kind) for kind in example_types)


def path_variables(database: Database, example_types: tuple[str, ...], path: Path) -> tuple[Component, ...]:
    """Return what each variable of a path is: those of the example first, then those of each step."""
    variables = list(example_variables(example_types))
    for step in path:
        relation = relation_of(database, step)
        variables += [relation.components[position] for position in step.fresh(relation)]
    return tuple(variables)


def result_component(database: Database, example_types: tuple[str, ...], feature: Feature) -> Component | None:
    """Return the component whose values a feature gives (a level, a date, a number), or None where it counts.

    The values of ``sum`` and of counts are numbers of their own: they have no component.
    """
    if feature.variable is None or set(feature.aggregates) & {"count", "count_unique", "exists", "sum"}:
        return None
    return path_variables(database, example_types, feature.path)[feature.variable]
