"""A database as relations with typed components, identifiers coded as integers.

A table with an identifier becomes one binary relation per column, ``column(object, value)``; a table without one,
whose foreign keys identify a row, one relation per column over those keys. A missing cell is no fact. Facts are in
canonical order, sorted lexicographically and each once. What is computed from a database (indexes of its facts,
features, values by object) is kept with it.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.text import did_you_mean
from omnirank.data.dataset import hash_arrays
from omnirank.data.table import Levels

if TYPE_CHECKING:
    from omnirank.relational.aggregation import Values
    from omnirank.relational.growing import CodedBlock
    from omnirank.relational.paths import Feature, Path, Step, Vocabulary

Kind = Literal["object", "numeric", "nominal"]
Facts = tuple[np.ndarray, ...]

# Bytes of the values, and of the coded features, that a database keeps.
_MEMORY = 1 << 28


@dataclass(frozen=True)
class Component:
    """One place of a relation.

    Parameters
    ----------
    name : str
        The column that it comes from.
    kind : "object", "numeric" or "nominal"
        An identifier, a number, or a value of a finite domain.
    type : str
        Type of the object (as a rule, the table that describes it), or name of the domain; components can be joined
        if they are objects of the same type.
    levels : tuple, optional
        Values of a nominal component, in their order.
    is_date : bool
        Whether its numbers are seconds since 1970-01-01 UTC.
    """

    name: str
    kind: Kind
    type: str
    levels: Levels | None = None
    is_date: bool = False


@dataclass(frozen=True, eq=False)
class Relation:
    """A named set of facts.

    Parameters
    ----------
    name : str
        ``table_column``, or the name of a predicate.
    table : str
        The table that it comes from.
    column : str or None
        The column behind it; None for a relation that only links objects or lists them.
    components : tuple of Component
        Its places.
    facts : tuple of ndarray
        One array per component, all of the same length: int32 codes of objects and levels, float64 numbers. Facts are
        all different (unless it is a bag) and in lexicographic order: the order of rows in a file changes nothing.
    times : ndarray or None
        When each fact was known, in the units of the examples' times (inf: not known when); None: always.
    is_bag : bool
        Whether a fact may stand there several times.
    """

    name: str
    table: str
    column: str | None
    components: tuple[Component, ...]
    facts: tuple[np.ndarray, ...]
    times: np.ndarray | None = None
    is_bag: bool = False

    @property
    def n_facts(self) -> int:
        """Number of facts."""
        return len(self.facts[0])

    @property
    def is_link(self) -> bool:
        """Whether it holds no value, only objects."""
        return all(component.kind == "object" for component in self.components)


@dataclass(frozen=True, eq=False)
class Index:
    """The facts of a relation in the order of the codes at some positions.

    Parameters
    ----------
    order : ndarray or None
        Facts in the order of their keys, equal keys as they are; None where all are in that order already.
    starts : ndarray
        Where the facts of each key start, and the end. With one position the keys are all codes, with several those
        that occur.
    keys : tuple of ndarray
        With several positions: for each but the first, the pairs (number of the part before, code) that occur, as one
        integer, sorted.
    sizes : tuple of int
        Number of codes at each position.
    """

    order: np.ndarray | None
    starts: np.ndarray
    keys: tuple[np.ndarray, ...]
    sizes: tuple[int, ...]

    def ranges(self, codes: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Return where the facts that agree with codes (one array per position, -1: none agrees) start and end."""
        place = codes[0].astype(np.int64)
        for column, size, keys in zip(codes[1:], self.sizes[1:], self.keys, strict=True):
            wanted = place * size + column
            found = np.searchsorted(keys, wanted)
            found[found == len(keys)] = 0
            known = (place >= 0) & (column >= 0) & (keys[found] == wanted if len(keys) else False)
            place = np.where(known, found, -1)
        ends = np.where(place >= 0, self.starts[place + 1], 0)
        return np.where(place >= 0, self.starts[place], 0), ends

    def facts(self, places: np.ndarray) -> np.ndarray:
        """Return the facts at some places of the order."""
        return places if self.order is None else self.order[places]

    @cached_property
    def most_facts(self) -> int:
        """The most facts that agree with a key."""
        return int(np.diff(self.starts).max()) if len(self.starts) > 1 else 0

    @property
    def is_functional(self) -> bool:
        """Whether at most one fact agrees with any key."""
        return self.most_facts <= 1

    @cached_property
    def is_total(self) -> bool:
        """Whether some fact agrees with every code; with several positions that is not known."""
        return not self.keys and (len(self.starts) == 1 or int(np.diff(self.starts).min()) >= 1)

    @cached_property
    def is_plain(self) -> bool:
        """Whether fact i is the one fact of code i, so that the facts are a column over the objects."""
        return self.order is None and self.is_functional and self.is_total


Kept = TypeVar("Kept", "Values", "CodedBlock")


class ValueCache(Generic[Kept]):
    """Keeps the values that were used last, up to a number of bytes.

    Parameters
    ----------
    n_bytes : int
        The bound.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.relational.aggregation import Values
    >>> from omnirank.relational.database import ValueCache
    >>> cache = ValueCache(16)
    >>> cache.put("a", Values(np.zeros(1)))
    >>> cache.put("b", Values(np.zeros(2)))
    >>> cache.get("a") is None, cache.get("b").array.tolist()
    (True, [0.0, 0.0])
    """

    def __init__(self, n_bytes: int) -> None:
        self.n_bytes = n_bytes
        self._kept: OrderedDict[Hashable, Kept] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Kept | None:
        """Return what is kept under a key, or None."""
        with self._lock:
            values = self._kept.get(key)
            if values is not None:
                self._kept.move_to_end(key)
            return values

    def put(self, key: Hashable, values: Kept) -> None:
        """Keep values, and forget those that were not used for longest where there is no room."""
        with self._lock:
            if key in self._kept or values.n_bytes > self.n_bytes:
                return
            self._kept[key] = values
            self._size += values.n_bytes
            while self._size > self.n_bytes:
                _, old = self._kept.popitem(last=False)
                self._size -= old.n_bytes


@dataclass(eq=False)
class Caches:
    """What was computed from a database and from parts of its relations, shared by features, fits and folds.

    Attributes
    ----------
    indexes : dict
        Indexes by relation and positions.
    object_codes : dict
        For types of objects, the code of each identifier.
    vocabulary : Vocabulary or None
        Names of steps.
    steps : dict
        For the relations, example types and rules of joining, the steps that continue a path.
    features : dict
        For the tables of the examples and aggregates, the features of a path.
    values : ValueCache of Values
        Values of features by object.
    blocks : ValueCache of CodedBlock
        Coded features of all objects.
    """

    indexes: dict[tuple[str, tuple[int, ...]], Index] = field(default_factory=dict)
    object_codes: dict[str, dict[object, int]] = field(default_factory=dict)
    vocabulary: Vocabulary | None = None
    steps: dict[Hashable, dict[Path, tuple[Step, ...]]] = field(default_factory=dict)
    features: dict[Hashable, dict[Path, tuple[Feature, ...]]] = field(default_factory=dict)
    values: ValueCache[Values] = field(default_factory=lambda: ValueCache(_MEMORY))
    blocks: ValueCache[CodedBlock] = field(default_factory=lambda: ValueCache(_MEMORY))


@dataclass(frozen=True, eq=False)
class Database:
    """All relations of a data set but the target, and the objects that they speak of.

    Parameters
    ----------
    objects : mapping of str to ndarray
        For each type of object its identifiers as given, sorted; an object's code is its place among them.
    relations : mapping of str to Relation
        The descriptive relations by name: tables in the order of their names, relations of a table in that of its
        columns.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.relational.database import Component, Database, Relation
    >>> components = (Component("rating", "object", "ratings"), Component("movie", "object", "movies"))
    >>> facts = (np.array([0, 1, 2], np.int32), np.array([1, 0, 1], np.int32))
    >>> link = Relation("ratings_movie", "ratings", "movie", components, facts)
    >>> objects = {"ratings": np.array(["r1", "r2", "r3"]), "movies": np.array(["m1", "m2"])}
    >>> index = Database(objects, {"ratings_movie": link}).index("ratings_movie", (1,))
    >>> index.order.tolist(), index.starts.tolist(), index.is_functional
    ([1, 0, 2], [0, 1, 3], False)
    """

    objects: Mapping[str, np.ndarray]
    relations: Mapping[str, Relation]
    caches: Caches = field(default_factory=Caches, init=False, repr=False)

    def __post_init__(self) -> None:
        for relation in self.relations.values():
            for component in relation.components:
                if component.kind == "object" and component.type not in self.objects:
                    raise DataError(f"relation {relation.name!r} speaks of unknown objects {component.type!r}")
        object.__setattr__(self, "objects", MappingProxyType(dict(self.objects)))
        object.__setattr__(self, "relations", MappingProxyType(dict(self.relations)))

    def __reduce__(self) -> tuple[Any, ...]:
        # Caches are filled again where they are needed: a worker process should not receive them.
        return Database, (dict(self.objects), dict(self.relations))

    def relation(self, name: str) -> Relation:
        """Return the relation of a name; a database without it is an error."""
        try:
            return self.relations[name]
        except KeyError:
            hint = did_you_mean(name, list(self.relations))
            raise DataError(f"the database has no relation {name!r}{hint}") from None

    def restricted(self, names: Sequence[str]) -> Database:
        """Return the database with some of its relations only, in this order; both keep what is computed from either.

        Examples
        --------
        >>> import omnirank as om
        >>> database = om.datasets.make_movies(random_state=0).database
        >>> part = database.restricted(["ratings_stars"])
        >>> list(part.relations), part.caches.values is database.caches.values
        (['ratings_stars'], True)
        """
        part = Database(self.objects, {name: self.relations[name] for name in names})
        object.__setattr__(part, "caches", replace(self.caches, vocabulary=None))
        return part

    def n_objects(self, kind: str) -> int:
        """Return the number of objects of a type."""
        return len(self.objects[kind])

    def domain_size(self, component: Component) -> int:
        """Return the number of codes that a component may hold."""
        return self.n_objects(component.type) if component.kind == "object" else len(component.levels or ())

    def codes_of(self, component: Component) -> dict[object, int]:
        """Return the codes of the identifiers or levels that a component may hold."""
        if component.kind == "nominal":
            return {level: code for code, level in enumerate(component.levels or ())}
        known = self.caches.object_codes
        if component.type not in known:
            identifiers = self.objects[component.type].tolist()
            known[component.type] = {one: code for code, one in enumerate(identifiers)}
        return known[component.type]

    def index(self, name: str, positions: tuple[int, ...]) -> Index:
        """Return the index of a relation by the codes at some positions."""
        known, key = self.caches.indexes, (name, positions)
        if key not in known:
            known[key] = _indexed(self, self.relation(name), positions)
        return known[key]

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all facts and identifiers."""
        digest = hashlib.sha256()
        for kind, identifiers in sorted(self.objects.items()):
            digest.update(repr(kind).encode())
            if identifiers.dtype.kind in "if":
                hash_arrays(digest, [identifiers])
            else:
                digest.update(repr(identifiers.tolist()).encode())
        for relation in self.relations.values():
            digest.update(repr((relation.name, relation.components)).encode())
            hash_arrays(digest, [*relation.facts, *([] if relation.times is None else [relation.times])])
        return digest.hexdigest()


def _indexed(database: Database, relation: Relation, positions: tuple[int, ...]) -> Index:
    from omnirank.relational.kernels.groups import group_codes

    sizes = tuple(database.domain_size(relation.components[position]) for position in positions)
    number = np.zeros(relation.n_facts, np.int64) if not positions else relation.facts[positions[0]]
    keys = []
    n_numbers = sizes[0] if sizes else 1
    for position, size in zip(positions[1:], sizes[1:], strict=True):
        pairs = number.astype(np.int64) * size + relation.facts[position]
        found, number = np.unique(pairs, return_inverse=True)
        keys.append(found)
        n_numbers = len(found)
    starts, order = group_codes(np.asarray(number, np.int32), n_numbers)
    return Index(order if len(order) else None, starts, tuple(keys), sizes)


def unique_order(codes: Sequence[np.ndarray]) -> np.ndarray | None:
    """Return the order that sorts rows by the codes of their keys; None where two rows have the same.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.relational.database import unique_order
    >>> unique_order([np.array([2, 0, 1])]).tolist(), unique_order([np.array([1, 1])])
    ([1, 2, 0], None)
    """
    if _increase(tuple(codes)):
        return np.arange(len(codes[0]))
    order = np.lexsort(tuple(codes)[::-1])
    return order if _increase(tuple(code[order] for code in codes)) else None


def sorted_facts(
    arrays: Facts, times: np.ndarray | None = None, as_bag: bool = False
) -> tuple[Facts, np.ndarray | None]:
    """Return facts in lexicographic order, each once (but in a bag), with the earliest time at which it was known.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.relational.database import sorted_facts
    >>> facts, times = sorted_facts((np.array([1, 0, 1]), np.array([5.0, 7.0, 5.0])), np.array([3.0, 1.0, 2.0]))
    >>> [array.tolist() for array in facts], times.tolist()
    ([[0, 1], [7.0, 5.0]], [1.0, 2.0])
    """
    if _increase(arrays):
        return arrays, times
    order = np.lexsort((arrays if times is None else (*arrays, times))[::-1])
    taken = tuple(array[order] for array in arrays)
    kept = np.ones(len(order), bool)
    if not as_bag:
        kept[1:] = np.any([array[1:] != array[:-1] for array in taken], axis=0)
    return tuple(array[kept] for array in taken), None if times is None else times[order][kept]


def _increase(arrays: Facts) -> bool:
    """Whether facts are in strictly lexicographic order."""
    equal = np.ones(max(0, len(arrays[0]) - 1), bool)
    less = np.zeros(len(equal), bool)
    for array in arrays:
        less |= equal & (array[:-1] < array[1:])
        equal &= array[:-1] == array[1:]
    return bool(less.all())


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
    >>> from omnirank.relational.database import with_levels
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
    arrays, times = sorted_facts(tuple(facts), relation.times, relation.is_bag)
    return replace(relation, components=tuple(components), facts=arrays, times=times)
