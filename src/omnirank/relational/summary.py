"""What is in a relational data set: tables, keys, relations, and how many objects links lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omnirank.data.task_registry import task_target
from omnirank.relational.schema import ROWS

if TYPE_CHECKING:
    from omnirank.relational.database import Database, Relation
    from omnirank.relational.dataset import RelationalDataset


class LinkSummary(NamedTuple):
    """How many objects a link leads to, seen from both its ends.

    Parameters
    ----------
    relation, source, destination : str
        The relation, and the types of the objects that it links.
    forward, backward : (least, mean, most)
        Number of destinations of a source, and of sources of a destination.
    """

    relation: str
    source: str
    destination: str
    forward: tuple[int, float, int]
    backward: tuple[int, float, int]


class TableSummary(NamedTuple):
    """A table: what identifies its rows, what they refer to, and the kinds of the other columns."""

    name: str
    identifier: tuple[str, ...]
    references: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]


def describe(dataset: RelationalDataset) -> dict[str, Any]:
    """Return the facts about a data set as a flat dictionary, in reading order."""
    database, target = dataset.database, dataset.target
    relations = list(database.relations.values())
    facts: dict[str, Any] = {
        "name": dataset.name,
        "task": dataset.task,
        "examples": dataset.n_examples,
        "labelled": int(dataset.labelled.sum()),
        "targets": dataset.n_targets,
        "tables": len(table_names(dataset)),
        "relations": len(relations),
        "link relations": sum(relation.is_link for relation in relations),
        "facts": sum(relation.n_facts for relation in relations),
        "objects": {kind: len(identifiers) for kind, identifiers in database.objects.items()},
    }
    if target is not None and task_target(dataset.task).is_one_class:
        levels = target.levels[0] or ()
        counts = np.bincount(target.values[target.labelled, 0].astype(int), minlength=len(levels)).tolist()
        facts["classes"] = {str(level): count for level, count in zip(levels, counts, strict=True)}
    return facts


def table_names(dataset: RelationalDataset) -> list[str]:
    """Return the names of the tables, or of the predicates."""
    named = {relation.table for relation in dataset.database.relations.values()}
    return sorted(named | set(() if dataset.schema is None else dataset.schema.tables))


def tables(dataset: RelationalDataset) -> list[TableSummary]:
    """Return what is known of each table.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.relational.summary import tables
    >>> tables(om.datasets.make_movies(random_state=0))[-1]
    TableSummary(name='users', identifier=('id',), references=('nation_id -> nations',),
                 columns=(('age', 'numeric'), ('gender', '2 levels')))
    """
    found = []
    for name in table_names(dataset):
        relations = [r for r in dataset.database.relations.values() if r.table == name and not r.is_link]
        columns = tuple((relation.column or relation.name, _kind(relation)) for relation in relations)
        schema = None if dataset.schema is None else dataset.schema.tables.get(name)
        if schema is None:
            types = next(r for r in dataset.database.relations.values() if r.table == name).components
            found.append(TableSummary(name, tuple(c.type for c in types if c.kind == "object"), (), columns))
            continue
        references = tuple(f"{', '.join(key.columns)} -> {key.table}" for key in schema.foreign_keys)
        identifier = ("every row",) if schema.primary_key == ROWS else schema.primary_key
        found.append(TableSummary(name, identifier, references, columns))
    return found


def links(database: Database) -> list[LinkSummary]:
    """Return how many objects each link between two objects leads to.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.relational.summary import links
    >>> found = links(om.datasets.make_movies(random_state=0).database)
    >>> [(link.relation, link.forward, link.backward[0]) for link in found][0]
    ('ratings_movie_id', (1, 1.0, 1), 1)
    """
    pairs = [r for r in database.relations.values() if r.is_link and len(r.components) == 2]
    return [
        LinkSummary(
            relation.name,
            relation.components[0].type,
            relation.components[1].type,
            _matches(relation, 0, database),
            _matches(relation, 1, database),
        )
        for relation in pairs
    ]


def _matches(relation: Relation, position: int, database: Database) -> tuple[int, float, int]:
    n_objects = database.n_objects(relation.components[position].type)
    counts = np.bincount(relation.facts[position], minlength=n_objects)
    return (int(counts.min()), float(counts.mean()), int(counts.max())) if n_objects else (0, 0.0, 0)


def _kind(relation: Relation) -> str:
    component = relation.components[-1]
    if component.levels is None:
        return "date" if component.is_date else "numeric"
    return f"{len(component.levels)} levels"
