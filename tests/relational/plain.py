"""A plain table as what may be constructed: every node has the same candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from omnirank.data.table import Table


@dataclass(frozen=True)
class Column:
    """A column of the table; below its tests nothing is inherited."""

    number: int
    path: tuple[Any, ...] = ()


@dataclass(frozen=True, eq=False)
class PlainConstruction:
    """The columns of a table."""

    table: Table

    @property
    def n_examples(self) -> int:
        return self.table.n_rows

    def candidates(self, inherited: tuple[Any, ...]) -> Sequence[Column]:
        return [Column(i) for i in range(self.table.n_columns)]

    def columns(self, features: Sequence[Column]) -> Table:
        return self.table.select([feature.number for feature in features])
