"""A database as relations with typed components, identifiers coded as integers.

A table with an identifier becomes one binary relation per column, ``column(object, value)``; a table without one,
whose foreign keys identify a row, one relation per column over those keys. A missing cell is no fact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from omnirank.core.errors import DataError
from omnirank.data.table import Levels

Kind = Literal["object", "numeric", "nominal"]


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
        all different and in lexicographic order, so that the order of rows in a file changes nothing.
    times : ndarray or None
        When each fact was known, in the units of the examples' times (inf: not known when); None: always.
    """

    name: str
    table: str
    column: str | None
    components: tuple[Component, ...]
    facts: tuple[np.ndarray, ...]
    times: np.ndarray | None = None

    @property
    def n_facts(self) -> int:
        """Number of facts."""
        return len(self.facts[0])

    @property
    def is_link(self) -> bool:
        """Whether it holds no value, only objects."""
        return all(component.kind == "object" for component in self.components)


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
    """

    objects: Mapping[str, np.ndarray]
    relations: Mapping[str, Relation]
    _indexes: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for relation in self.relations.values():
            for component in relation.components:
                if component.kind == "object" and component.type not in self.objects:
                    raise DataError(f"relation {relation.name!r} speaks of unknown objects {component.type!r}")
        object.__setattr__(self, "objects", MappingProxyType(dict(self.objects)))
        object.__setattr__(self, "relations", MappingProxyType(dict(self.relations)))

    def __reduce__(self) -> tuple[Any, ...]:
        # Indexes are made again where they are needed: a worker process should not receive them.
        return Database, (dict(self.objects), dict(self.relations))

    def n_objects(self, kind: str) -> int:
        """Number of objects of a type."""
        return len(self.objects[kind])
