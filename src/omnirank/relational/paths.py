"""What a node of a relational tree tests: a path of relations from the example, and an aggregate for each step.

Tests have names, ``mean(ratings.stars)``, and sentences, "mean stars of its ratings".
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from omnirank.relational.aggregation import EXISTS, IDENTITY
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
    def text(self) -> bytes:
        """What orders a sample of paths, in every process alike."""
        return repr(self).encode()

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


def example_variables(example_types: tuple[str, ...]) -> tuple[Component, ...]:
    """Return the variables that identify an example."""
    return tuple(Component(kind, "object", kind) for kind in example_types)


def path_variables(database: Database, example_types: tuple[str, ...], path: Path) -> tuple[Component, ...]:
    """Return what each variable of a path is: those of the example first, then those of each step."""
    variables = list(example_variables(example_types))
    for step in path:
        relation = database.relation(step.relation)
        variables += [relation.components[position] for position in step.fresh(relation)]
    return tuple(variables)


def result_component(database: Database, example_types: tuple[str, ...], feature: Feature) -> Component | None:
    """Return the component whose values a feature gives (a level, a date, a number), or None where it counts.

    The values of ``sum`` and of counts are numbers of their own: they have no component.
    """
    if feature.variable is None or set(feature.aggregates) & {"count", "count_unique", "exists", "sum"}:
        return None
    return path_variables(database, example_types, feature.path)[feature.variable]


_ID_ENDING = re.compile(r"(?<=.)_(id|ID|Id)$|(?<=[a-z])I[dD]$")
_OVER = {"count": "number", "count_unique": "number of different values", "mode": "most frequent value"}
_OVER |= {"min": "minimum", "max": "maximum", "mean": "mean", "sum": "sum"}
_WORDS = _OVER | {"count": "number of", "count_unique": "number of different", "sum": "sum of", "mode": "most frequent"}


def describe(database: Database, example_types: tuple[str, ...], feature: Feature) -> Feature:
    """Return the feature with its name and its sentence, which are those of no other feature of the database.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.relational.database import Component, Database, Relation
    >>> from omnirank.relational.paths import Feature, Step, describe
    >>> rating, movie = Component("id", "object", "ratings"), Component("movie", "object", "movies")
    >>> codes = np.zeros(1, np.int32)
    >>> link = Relation("ratings_movie", "ratings", "movie", (rating, movie), (codes, codes))
    >>> stars = Relation("ratings_stars", "ratings", "stars", (rating, Component("stars", "numeric", "numeric")),
    ...                  (codes, np.ones(1)))
    >>> objects = {"ratings": np.array(["r1"]), "movies": np.array(["m1"])}
    >>> database = Database(objects, {"ratings_movie": link, "ratings_stars": stars})
    >>> path = (Step("ratings_movie", ((1, 0),)), Step("ratings_stars", ((0, 1),)))
    >>> feature = describe(database, ("movies",), Feature(path, 2, ("mean", "identity")))
    >>> feature.name, feature.sentence
    ('mean(ratings.stars)', 'mean stars of its ratings')
    """
    return PathWords(database, example_types, feature.path).describe(feature)


class Vocabulary(NamedTuple):
    """What steps through a database are called.

    Parameters
    ----------
    labels : dict of (str, int) to str
        For a relation and the one place that is given, the column, the table, or the relation where these could mean
        another step.
    plurals : set of (str, str)
        Tables and types of which the table refers to objects of the type in one column only: users, not user.
    """

    labels: dict[tuple[str, int], str]
    plurals: set[tuple[str, str]]

    @classmethod
    def of(cls, database: Database) -> Vocabulary:
        """Return the vocabulary of a database."""
        if database.caches.vocabulary is None:
            database.caches.vocabulary = cls(_labels(database), _clear_plurals(database))
        return database.caches.vocabulary

    def label(self, relation: Relation, positions: tuple[int, ...]) -> str:
        """Return what a step is called whose given places are these."""
        if len(positions) == 1:
            return self.labels[relation.name, positions[0]]
        return f"{relation.name}[{','.join(_place_name(relation, position) for position in positions)}]"


def _place_name(relation: Relation, position: int) -> str:
    """The name of a place; its number where the name is that of another place too."""
    names = [_plain(component) for component in relation.components]
    return names[position] if names.count(names[position]) == 1 else str(position + 1)


def _is_own(relation: Relation, position: int) -> bool:
    """Whether a place holds the object that the relation's table describes."""
    component = relation.components[position]
    return position == 0 and component.kind == "object" and component.type == relation.table


def _labels(database: Database) -> dict[tuple[str, int], str]:
    """Labels of all steps with one given place: the shortest that is clear among steps from the same type."""
    steps = [(relation, i) for relation in database.relations.values() for i in range(len(relation.components))]
    forms = [
        {(r.name, i): _short(r, i) for r, i in steps},
        {(r.name, i): f"{r.table}[{_place_name(r, i)}]" for r, i in steps},
        {(r.name, i): r.name for r, i in steps},
        {(r.name, i): f"{r.name}[{_place_name(r, i)}]" for r, i in steps},
    ]
    source = {(r.name, i): (r.components[i].kind, r.components[i].type) for r, i in steps}
    labels: dict[tuple[str, int], str] = {}
    for form in forms:
        taken = Counter((source[key], label) for key, label in form.items() if key not in labels)
        others = {(source[key], label) for key, label in labels.items()}
        for key, label in form.items():
            place = source[key], label
            if key not in labels and taken[place] == 1 and place not in others:
                labels[key] = label
    return forms[-1] | labels


def _short(relation: Relation, position: int) -> str:
    if _is_own(relation, position) and relation.column is not None:
        return _plain(relation.components[-1]) if len(relation.components) == 2 else relation.column
    # back along a link of a table to itself, its rows are not those that one comes from
    is_kin = relation.components[position].type == relation.table
    return f"{relation.table}[{_place_name(relation, position)}]" if is_kin else relation.table


def _plain(component: Component) -> str:
    """The name of a component; of one that holds objects without the ending that says so: user, not user_id."""
    return _ID_ENDING.sub("", component.name) if component.kind == "object" else component.name


def _clear_plurals(database: Database) -> set[tuple[str, str]]:
    columns: dict[tuple[str, str], set[str]] = {}
    for relation in database.relations.values():
        for position, component in enumerate(relation.components):
            if component.kind == "object" and not _is_own(relation, position):
                columns.setdefault((relation.table, component.type), set()).add(component.name)
    return {place for place, names in columns.items() if len(names) == 1}


class PathWords:
    """The steps of one path in words, for all features that take it.

    Parameters
    ----------
    database : Database
        The relations.
    example_types : tuple of str
        Types of the objects that identify an example.
    path : tuple of Step
        The path.
    """

    def __init__(self, database: Database, example_types: tuple[str, ...], path: Path) -> None:
        self.path = path
        self.variables: tuple[Component, ...] = path_variables(database, example_types, path)
        self._relations = [database.relation(step.relation) for step in path]
        self._fresh = [step.fresh(relation) for step, relation in zip(path, self._relations, strict=True)]
        self._n_known = [len(example_types)]
        for fresh in self._fresh:
            self._n_known.append(self._n_known[-1] + len(fresh))
        self._vocabulary = Vocabulary.of(database)
        self._at = 0  # the variable at which the path stands, while labels are made
        self._labels = [self._label(k) for k in range(len(path))]

    def describe(self, feature: Feature) -> Feature:
        """Return a feature of this path with its name and its sentence."""
        return replace(feature, name=self._name(feature), sentence=self._sentence(feature))

    def _label(self, k: int) -> str:
        """A step's label, with the constants, and the variables where they are not the ones before it."""
        step, relation = self.path[k], self._relations[k]
        label = self._vocabulary.label(relation, tuple(position for position, _ in step.bound))
        notes = [f"{_place_name(relation, position)}={value}" for position, value in step.constants]
        if len(step.bound) > 1 or step.bound[0][1] != self._at:
            notes += [f"{_place_name(relation, position)}=${variable}" for position, variable in step.bound]
        following = self._continued_by(k) if k + 1 < len(self.path) else None
        self._at = step.bound[0][1] if following is None else following
        return f"{label}[{','.join(notes)}]" if notes else label

    def _continued_by(self, k: int) -> int | None:
        """The variable of step k from which the path goes on."""
        new = range(self._n_known[k], self._n_known[k + 1])
        return next((variable for _, variable in self.path[k + 1].bound if variable in new), None)

    def _left_by(self, k: int, feature: Feature) -> int | None:
        """The variable of step k from which the path goes on or whose values are aggregated; None counts matches."""
        return feature.variable if k == len(self.path) - 1 else self._continued_by(k)

    # -- names ---------------------------------------------------------------------------------------

    def _name(self, feature: Feature) -> str:
        if EXISTS in feature.aggregates:
            return f"exists({'.'.join(self._piece(k, feature) for k in range(len(self.path)))})"
        text = ""
        closing = 0
        for k, aggregate in enumerate(feature.aggregates):
            text += "." if k else ""
            if aggregate != IDENTITY:
                text += f"{aggregate}("
                closing += 1
            text += self._piece(k, feature)
        return text + ")" * closing

    def _piece(self, k: int, feature: Feature) -> str:
        """A step in the name: its label, and the place from which the path goes on, where that is not clear."""
        label, variable, relation = self._labels[k], self._left_by(k, feature), self._relations[k]
        if variable is None:
            return label
        position = self._fresh[k][variable - self._n_known[k]]
        plain = _plain(relation.components[position])
        only = len(self._fresh[k]) == 1 and plain.isdecimal()
        if _is_own(relation, position) or label == plain or only:
            return label
        return f"{label}.{_place_name(relation, position)}"

    # -- sentences -----------------------------------------------------------------------------------

    def _sentence(self, feature: Feature) -> str:
        last = len(self.path) - 1
        if EXISTS in feature.aggregates:
            has = f"whether it has {self._nouns(0, True, feature)[-1]}"
            return has if last == 0 else f"whether there are {self._bare(0, last, feature)}"
        first = next((k for k, name in enumerate(feature.aggregates) if name != IDENTITY), None)
        return self._things(0, last, feature) if first is None else self._aggregated(0, first, feature)

    def _aggregated(self, start: int, k: int, feature: Feature) -> str:
        """The aggregate of step k in words, as seen from what step ``start`` starts from."""
        aggregate = feature.aggregates[k]
        last = len(self.path) - 1
        inner = next((j for j in range(k + 1, last + 1) if feature.aggregates[j] != IDENTITY), None)
        if inner is not None:
            things = self._things(start, k, feature)
            return f"{_OVER[aggregate]} over {things} of ({self._aggregated(k + 1, inner, feature)})"
        values = feature.variable is not None and self.variables[feature.variable].kind != "object"
        if aggregate == "count_unique" and values:
            return f"number of different values of {self._things(start, last, feature)}"
        if aggregate == "count" and _is_own(self._relations[last], self.path[last].given[0]):  # one value, or none
            return f"whether {self._things(start, last, feature)} is known"
        return f"{_WORDS[aggregate]} {self._bare(start, last, feature)}"

    def _bare(self, start: int, end: int, feature: Feature) -> str:
        """What steps lead to, without the article: "users of its ratings"."""
        return self._things(start, end, feature).removeprefix("the ")

    def _things(self, start: int, end: int, feature: Feature) -> str:
        """What steps ``start`` to ``end`` lead to: "the users of its ratings"."""
        text = ""
        many = False
        for k in range(start, end + 1):
            many = many or feature.aggregates[k] != IDENTITY
            for noun in self._nouns(k, many, feature):
                text = f"the {noun} of {text}" if text else f"its {noun}"
        return text

    def _nouns(self, k: int, many: bool, feature: Feature) -> list[str]:
        """What a step leads to, in words."""
        label, variable = self._labels[k], self._left_by(k, feature)
        if variable is None:
            return [label]
        component, relation = self.variables[variable], self._relations[k]
        position = self._fresh[k][variable - self._n_known[k]]
        plain = _place_name(relation, position)
        if _is_own(relation, position) or (len(self._fresh[k]) == 1 and plain.isdecimal()):
            return [label]
        plural = component.kind == "object" and many and (relation.table, component.type) in self._vocabulary.plurals
        noun = component.type if plural else plain
        return [noun] if label == plain else [label, noun]


def new_steps(path: Path, inherited: Path) -> range:
    """Return the numbers of the steps that a path adds to what is inherited; the last one always.

    Examples
    --------
    >>> from omnirank.relational.paths import Step, new_steps
    >>> stars, user, age = Step("stars", ((0, 0),)), Step("user", ((0, 1),)), Step("age", ((0, 2),))
    >>> new_steps((stars, user, age), (stars,)), new_steps((stars,), (stars, user)), new_steps((age,), (stars,))
    (range(1, 3), range(0, 1), range(0, 1))
    """
    shared = 0
    while shared < min(len(path) - 1, len(inherited)) and path[shared] == inherited[shared]:
        shared += 1
    return range(shared, len(path))
