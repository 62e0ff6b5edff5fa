"""What a relational data set has to say for itself: how it was read, and columns that are traps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from omnirank.core.errors import setting
from omnirank.data.notes.traps import Trap, find_traps, trap_notes
from omnirank.data.table import Levels, Table
from omnirank.data.target import Target
from omnirank.relational.cells import ValueCells

if TYPE_CHECKING:
    from omnirank.relational.database import Relation
    from omnirank.relational.dataset import RelationalDataset

# Levels are texts, not categories, where they have so many words in the mean.
_WORDS = 4
_LEAST_TEXTS = 20
_LOOKED_AT = 200
_SHOWN = 5
_IDENTIFIERS = ("running", "identifier", "levels")


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
    """

    def __init__(
        self,
        of_reader: tuple[str, ...] = (),
        doubts: tuple[str, ...] = (),
        columns: Mapping[str, ValueCells] | None = None,
        target: Target | None = None,
    ) -> None:
        self.of_reader = of_reader
        self.doubts = doubts
        self.told = False
        self._columns = dict(columns or {})
        self._target = target
        self._found: tuple[str, ...] | None = None

    def warnings(self, dataset: RelationalDataset, *, task_is_sure: bool = False) -> tuple[str, ...]:
        """Return what is worth a warning: doubts about the task, unless it is sure, and traps."""
        if self._found is None:
            relations = dataset.database.relations.values()
            others = [relation for relation in relations if relation.name not in self._columns]
            self._found = (*self._own_notes(), *_other_notes(others), *_text_notes(relations))
        return (*(self.doubts if dataset.target is not None and not task_is_sure else ()), *self._found)

    def _own_notes(self) -> tuple[str, ...]:
        """Notes about columns of the target table."""
        if not self._columns:
            return ()
        cells = list(self._columns.values())
        table = Table.from_columns(self._columns, [c.cells for c in cells], [c.levels for c in cells])
        return trap_notes(find_traps(table, self._target))


def _other_notes(relations: Sequence[Relation]) -> Iterable[str]:
    """Notes about columns of other tables that hold one value, or another one in every row."""
    found = {
        relation: _trap(relation) for relation in relations if not relation.is_link and relation.column is not None
    }
    constant = [r for r, trap in found.items() if trap is not None and trap.kind in ("constant", "empty")]
    if constant:
        yield f"{_listed(constant)} one value only"
    names = [
        r
        for r, trap in found.items()
        if trap is not None and trap.kind in _IDENTIFIERS and not r.components[-1].is_date
    ]
    if names:
        yield (
            f"{_listed(names)} another value in (nearly) every row: identifiers? {_excluding(names[0])} leaves it out"
        )


def _trap(relation: Relation) -> Trap | None:
    component, cells = relation.components[-1], relation.facts[-1]
    table = Table.from_columns([relation.name], [cells], [component.levels])
    return next(iter(find_traps(table, None)), None) if len(cells) else None


def _text_notes(relations: Iterable[Relation]) -> Iterable[str]:
    texts = [r for r in relations if r.column is not None and _is_text(r.components[-1].levels)]
    if texts:
        yield (
            f"{_listed(texts)} texts of several words, taken as categories: each stands for itself; "
            f"{_excluding(texts[0])} leaves it out"
        )


def _is_text(levels: Levels | None) -> bool:
    if levels is None or len(levels) < _LEAST_TEXTS:
        return False
    looked_at = levels[:: max(1, len(levels) // _LOOKED_AT)]
    return all(isinstance(level, str) for level in looked_at) and bool(
        np.mean([len(level.split()) for level in looked_at]) >= _WORDS
    )


def _listed(relations: Sequence[Relation]) -> str:
    shown = ", ".join(f"{r.table}.{r.column}" for r in relations[:_SHOWN])
    if len(relations) == 1:
        return f"column {shown} holds"
    more = len(relations) - _SHOWN
    return f"columns {shown}{f' and {more} more' if more > 0 else ''} hold"


def _excluding(relation: Relation) -> str:
    return setting("exclude", [f"{relation.table}.{relation.column}"])
