"""Another database of the same schema, made comparable with the one that a model was fitted to."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omnirank.core.errors import DataError, DataWarning
from omnirank.core.suggestions import did_you_mean
from omnirank.data.remarks import caller_outside
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
    relations: dict[str, Relation] = {}
    unseen: dict[str, list[str]] = {}
    for name, components in signature.relations.items():
        relation = dataset.database.relations.get(name)
        where = signature.columns[name]
        if relation is None:
            hint = did_you_mean(name, list(dataset.database.relations))
            raise DataError(f"there is no {where}, which the model was fitted to (relation {name!r}){hint}")
        relations[name] = _as_fitted(relation, components, where, unseen)
    if unseen:
        _tell(unseen)
    if all(relations[name] is dataset.database.relations.get(name) for name in relations) and len(relations) == len(
        dataset.database.relations
    ):
        return dataset
    objects = dataset.database.objects
    return dataset._with(database=Database(objects, relations))


def _as_fitted(
    relation: Relation, components: tuple[Component, ...], where: str, unseen: dict[str, list[str]]
) -> Relation:
    if [c.type for c in relation.components if c.kind == "object"] != [
        c.type for c in components if c.kind == "object"
    ]:
        raise DataError(f"{where} has other keys than in the data that the model was fitted to")
    if not relation.n_facts:
        empty = tuple(array.astype(_dtype(c)) for array, c in zip(relation.facts, components, strict=True))
        return replace(relation, components=components, facts=empty)
    levels = {}
    for position, (here, there) in enumerate(zip(relation.components, components, strict=True)):
        if here.kind != there.kind:
            raise DataError(f"{where} is {here.kind} here, but {there.kind} in the data that the model was fitted to")
        if there.levels is not None and here.levels != there.levels:
            known = set(there.levels)
            new = [level for level in here.levels or () if level not in known]
            if new:
                unseen[where] = [str(level) for level in new]
            levels[position] = (*there.levels, *new)
    return with_levels(relation, levels) if levels else relation


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
