"""What a relational data set reports about itself: tables, keys, links, how it was read, and columns that are traps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omnirank.core.errors import setting
from omnirank.data.notes import Trap, find_traps, trap_notes
from omnirank.data.table import Levels, Table
from omnirank.data.target import Target
from omnirank.data.task_registry import task_target
from omnirank.relational.cells import ValueCells
from omnirank.relational.inference import CALLED_LIKE_KEY
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
        columns = tuple((relation.column or relation.name, value_kind(relation)) for relation in relations)
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
        LinkSummary(r.name, r.components[0].type, r.components[1].type, *(_matches(r, i, database) for i in (0, 1)))
        for r in pairs
    ]


def _matches(relation: Relation, position: int, database: Database) -> tuple[int, float, int]:
    n_objects = database.n_objects(relation.components[position].type)
    counts = np.bincount(relation.facts[position], minlength=n_objects)
    return (int(counts.min()), float(counts.mean()), int(counts.max())) if n_objects else (0, 0.0, 0)


def value_kind(relation: Relation) -> str:
    """Return what the values of a relation are: numeric, date, or the number of levels."""
    component = relation.components[-1]
    if component.levels is None:
        return "date" if component.is_date else "numeric"
    return f"{len(component.levels)} levels"


# Levels are texts, not categories, where they have so many words in the mean.
_WORDS = 4
_LEAST_TEXTS = 20
_LOOKED_AT = 200
_SHOWN = 5
_IDENTIFIERS = ("running", "identifier", "levels")


@dataclass(eq=False)
class RelationalRemarks:
    """Remarks about a relational data set, shared by its views; traps are looked for when somebody asks first.

    Parameters
    ----------
    of_reader : tuple of str
        What the reader of the tables said.
    doubts : tuple of str
        What speaks against the inferred task.
    columns : mapping of str to ValueCells
        Cells of the target table by the name of their relation, in the order of the examples of the whole data set.
    target : Target or None
        The target of the whole data set.
    told : bool
        Whether somebody was warned.
    """

    of_reader: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    columns: Mapping[str, ValueCells] = field(default_factory=dict)
    target: Target | None = None
    told: bool = False
    _found: tuple[str, ...] | None = None

    def warnings(self, dataset: RelationalDataset, *, task_is_sure: bool = False) -> tuple[str, ...]:
        """Return what is worth a warning: doubts about the task, unless it is sure, and traps."""
        if self._found is None:
            relations = [r for r in dataset.database.relations.values() if (dataset.modes or {}).get(r.name, True)]
            own = {_column_name(r): self.columns[r.name] for r in relations if r.name in self.columns}
            traps = (
                *self._own_notes(own),
                *_other_notes([r for r in relations if r.name not in self.columns]),
                *_text_notes(relations),
            )
            self._found = (*_link_notes(dataset, self.of_reader), *traps)
        return (*(self.doubts if dataset.target is not None and not task_is_sure else ()), *self._found)

    def _own_notes(self, columns: Mapping[str, ValueCells]) -> tuple[str, ...]:
        """Notes about columns of the target table."""
        if not columns:
            return ()
        table = Table.from_columns(columns, [c.cells for c in columns.values()], [c.levels for c in columns.values()])
        return trap_notes(find_traps(table, self.target), of_tables=True)


def unreached_tables(dataset: RelationalDataset) -> list[str]:
    """Return the tables that no keys link to the table of the target; of facts, none.

    Examples
    --------
    >>> import pandas as pd
    >>> import omnirank as om
    >>> from omnirank.relational.summary import unreached_tables
    >>> frames = {"shops": pd.DataFrame({"y": ["a", "b"]}), "towns": pd.DataFrame({"id": [1, 2], "size": [5, 9]})}
    >>> unreached_tables(om.relational.RelationalDataset.from_frames(frames, target="shops.y"))
    ['towns']
    """
    tables = dataset.schema.tables if dataset.schema else {}
    known, reached = {("object", kind) for kind in dataset.example_types}, set()
    for relation in [*dataset.database.relations.values()] * len(tables):  # a pass reaches another table at least
        ends = {(c.kind, c.type) for c in relation.components if c.kind != "numeric"}
        if ends & known:
            known |= ends
            reached.add(relation.table)
    return [name for name in tables if name not in reached and not f"{dataset.target_name}.".startswith(f"{name}.")]


def _link_notes(dataset: RelationalDataset, of_reader: Iterable[str]) -> Iterable[str]:
    """A note on tables that nothing leads to, after those of the reader on columns that should."""
    if names := unreached_tables(dataset):
        yield from (note for note in of_reader if CALLED_LIKE_KEY in note)
        yield f"no keys link {', '.join(names)} to the table of the target: nothing there scores above 0"


def _other_notes(relations: Sequence[Relation]) -> Iterable[str]:
    """Notes about columns of other tables that hold one value, or another one in every row."""
    kinds = {r: trap.kind for r in relations if not r.is_link and r.column is not None and (trap := _trap(r))}
    constant = [relation for relation, kind in kinds.items() if kind in ("constant", "empty")]
    if constant:
        yield f"{_listed(constant)} one value only"
    names = [r for r, kind in kinds.items() if kind in _IDENTIFIERS and not r.components[-1].is_date]
    if names:
        text = "another value in (nearly) every row: identifiers?"
        yield f"{_listed(names)} {text} {setting('exclude', [_column_name(names[0])])} leaves it out"


def _trap(relation: Relation) -> Trap | None:
    component, cells = relation.components[-1], relation.facts[-1]
    table = Table.from_columns([relation.name], [cells], [component.levels])
    return next(iter(find_traps(table, None)), None) if len(cells) else None


def _text_notes(relations: Iterable[Relation]) -> Iterable[str]:
    texts = [r for r in relations if r.column is not None and _is_text(r.components[-1].levels)]
    if texts:
        yield (
            f"{_listed(texts)} texts of several words, taken as categories: each stands for itself; "
            f"{setting('exclude', [_column_name(texts[0])])} leaves it out"
        )


def _is_text(levels: Levels | None) -> bool:
    if levels is None or len(levels) < _LEAST_TEXTS:
        return False
    looked_at = levels[:: max(1, len(levels) // _LOOKED_AT)]
    return all(isinstance(level, str) for level in looked_at) and bool(
        np.mean([len(level.split()) for level in looked_at]) >= _WORDS
    )


def _listed(relations: Sequence[Relation]) -> str:
    shown = ", ".join(map(_column_name, relations[:_SHOWN]))
    if len(relations) == 1:
        return f"column {shown} holds"
    more = len(relations) - _SHOWN
    return f"columns {shown}{f' and {more} more' if more > 0 else ''} hold"


def _column_name(relation: Relation) -> str:
    """What a column is excluded by: a predicate by its name."""
    return relation.name if relation.column == relation.name else f"{relation.table}.{relation.column}"
