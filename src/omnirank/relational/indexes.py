"""Which facts agree with what is known: an index for each relation and each set of given places, made when needed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from omnirank.relational.database import Component, Database, Relation


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


def domain_size(database: Database, component: Component) -> int:
    """Return the number of codes that a component may hold."""
    return database.n_objects(component.type) if component.kind == "object" else len(component.levels or ())


def index_of(database: Database, relation: Relation, positions: tuple[int, ...]) -> Index:
    """Return the index of a relation by the codes at some positions, which the database keeps.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.relational.database import Component, Database, Relation
    >>> from omnirank.relational.indexes import index_of
    >>> components = (Component("rating", "object", "ratings"), Component("movie", "object", "movies"))
    >>> facts = (np.array([0, 1, 2], np.int32), np.array([1, 0, 1], np.int32))
    >>> link = Relation("ratings_movie", "ratings", "movie", components, facts)
    >>> objects = {"ratings": np.array(["r1", "r2", "r3"]), "movies": np.array(["m1", "m2"])}
    >>> index = index_of(Database(objects, {"ratings_movie": link}), link, (1,))
    >>> index.order.tolist(), index.starts.tolist(), index.is_functional
    ([1, 0, 2], [0, 1, 3], False)
    """
    key = ("index", relation.name, positions)
    if key not in database._indexes:
        database._indexes[key] = _build(database, relation, positions)
    index: Index = database._indexes[key]
    return index


def _build(database: Database, relation: Relation, positions: tuple[int, ...]) -> Index:
    from omnirank.relational.kernels.group import group_codes

    sizes = tuple(domain_size(database, relation.components[position]) for position in positions)
    number = np.zeros(relation.n_facts, np.int64) if not positions else relation.facts[positions[0]]
    keys = []
    n_numbers = sizes[0] if sizes else 1
    for position, size in zip(positions[1:], sizes[1:], strict=True):
        pairs = number.astype(np.int64) * size + relation.facts[position]
        found, number = np.unique(pairs, return_inverse=True)
        keys.append(found)
        n_numbers = len(found)
    starts, order = group_codes(np.asarray(number, np.int32), n_numbers)
    in_order = not len(order)
    return Index(None if in_order else order, starts, tuple(keys), sizes)
