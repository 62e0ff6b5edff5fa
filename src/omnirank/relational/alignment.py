"""Another database of the same schema, made comparable with the one that a model was fitted to."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omnirank.core.errors import DataError, DataWarning
from omnirank.core.suggestions import did_you_mean
from omnirank.data.notes import caller_outside
from omnirank.data.table import Levels
from omnirank.relational.database import Component, Database, Relation
from omnirank.relational.levels import with_levels

if TYPE_CHECKING:
    from omnirank.relational.dataset import RelationalDataset

_SHOWN = 3


@dataclass(frozen=True)
class Signature:
    """What a model must know of the data that it was fitted to.

    Parameters
    ----------
    example_types : tuple of str
        Types of the objects that identify an example.
    relations : mapping of str to tuple of Component
        The components of each relation, with their levels.
    columns : mapping of str to str
        For each relation, the table and column behind it, as messages name them.
    """

    example_types: tuple[str, ...]
    relations: Mapping[str, tuple[Component, ...]]
    columns: Mapping[str, str]

    @classmethod
    def of(cls, dataset: RelationalDataset) -> Signature:
        """Return the signature of a data set."""
        relations = dataset.database.relations
        columns = {name: r.table if r.column is None else f"{r.table}.{r.column}" for name, r in relations.items()}
        return cls(dataset.example_types, {name: r.components for name, r in relations.items()}, columns)

    def needed_of(self, dataset: RelationalDataset, used: Collection[str]) -> Signature:
        """Return what a data set must have: all the relations, or only those used where it has others than these."""
        if set(self.relations) == set(dataset.database.relations):
            return self
        return replace(self, relations={name: parts for name, parts in self.relations.items() if name in used})


def aligned(dataset: RelationalDataset, signature: Signature) -> RelationalDataset:
    """Return a data set with the relations and levels of a signature.

    Levels that the signature does not know are put behind the others, so that no set of known ones holds them; a
    warning tells of them. Relations that it does not have are dropped.

    Parameters
    ----------
    dataset : RelationalDataset
        The data.
    signature : Signature
        What a model knows.
    """
    if dataset.example_types != signature.example_types:
        raise DataError(
            f"the examples are {' and '.join(dataset.example_types)}, but the model was fitted to "
            f"{' and '.join(signature.example_types)}"
        )
    found = {name: _found(dataset.database, name, signature) for name in signature.relations}
    unseen, domains = _unseen(found, signature)
    if unseen:
        _tell(unseen)
    relations = {name: _as_fitted(relation, signature.relations[name], domains) for name, relation in found.items()}
    known = dataset.database.relations
    if len(relations) == len(known) and all(relation is known[name] for name, relation in relations.items()):
        return dataset
    return dataset._with(database=Database(dataset.database.objects, relations))


def _found(database: Database, name: str, signature: Signature) -> Relation:
    """The relation of a name, of the kinds that the model knows."""
    where, components = signature.columns[name], signature.relations[name]
    relation = database.relations.get(name)
    if relation is None:
        hint = did_you_mean(name, list(database.relations))
        raise DataError(f"there is no {where}, which the model was fitted to (relation {name!r}){hint}")
    if _objects(relation.components) != _objects(components):
        raise DataError(f"{where} has other keys than in the data that the model was fitted to")
    for here, there in zip(relation.components, components, strict=True):
        if here.kind != there.kind and relation.n_facts:
            raise DataError(f"{where} is {here.kind} here, but {there.kind} in the data that the model was fitted to")
    return relation


def _objects(components: tuple[Component, ...]) -> list[str | None]:
    return [component.type if component.kind == "object" else None for component in components]


def _unseen(found: Mapping[str, Relation], signature: Signature) -> tuple[dict[str, list[str]], dict[str, Levels]]:
    """Levels that the signature does not have, by column; and all levels of each domain, those last."""
    unseen: dict[str, list[str]] = {}
    domains: dict[str, Levels] = {}
    for name, relation in found.items():
        for here, there in zip(relation.components, signature.relations[name], strict=True):
            if there.levels is None or here.levels is None:
                continue
            known = set(there.levels)
            new = [level for level in here.levels if level not in known]
            if new:
                unseen[signature.columns[name]] = [str(level) for level in new]
            before = domains.get(there.type, there.levels)
            domains[there.type] = (*before, *(level for level in new if level not in set(before)))
    return unseen, domains


def _as_fitted(relation: Relation, components: tuple[Component, ...], domains: Mapping[str, Levels]) -> Relation:
    if not relation.n_facts:
        empty = tuple(array.astype(_dtype(c)) for array, c in zip(relation.facts, components, strict=True))
        return replace(relation, components=components, facts=empty)
    levels = {i: domains[c.type] for i, c in enumerate(components) if c.levels is not None}
    return with_levels(relation, levels)


def _dtype(component: Component) -> str:
    return "float64" if component.kind == "numeric" else "int32"


def _tell(unseen: Mapping[str, list[str]]) -> None:
    shown = [
        f"{where} ({', '.join(levels[:_SHOWN])}{', ...' if len(levels) > _SHOWN else ''})"
        for where, levels in unseen.items()
    ]
    warnings.warn(
        f"values that the data of the fit did not have, taken as members of no set: {'; '.join(shown)}",
        DataWarning,
        stacklevel=caller_outside(),
    )
