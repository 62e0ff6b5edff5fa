"""A plain table as relational data, in two ways: as what may be constructed, and as a database of one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from omnirank.data.dataset import Dataset
from omnirank.data.table import Table
from omnirank.relational.database import Component, Database, Relation
from omnirank.relational.dataset import RelationalDataset
from omnirank.relational.growing import CodedBlock, code_groups


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

    def continued_part(self, path: tuple[Any, ...]) -> tuple[Any, ...]:
        return path

    def candidates(self, inherited: tuple[Any, ...]) -> Sequence[tuple[Column, ...]]:
        return [tuple(Column(i) for i in range(self.table.n_columns))]

    def coded(self, groups: Sequence[tuple[Column, ...]]) -> list[CodedBlock]:
        return code_groups(groups, self.columns, self.n_examples)

    def columns(self, features: Sequence[Column]) -> Table:
        return self.table.select([feature.number for feature in features])


def one_table(dataset: Dataset) -> RelationalDataset:
    """The database of one table whose rows are the examples: a relation per column; a missing cell is no fact."""
    n = dataset.n_examples
    example = Component("id", "object", "rows")
    relations = {}
    for i, (name, levels) in enumerate(zip(dataset.feature_names, dataset.features.levels, strict=True)):
        cells = dataset.features.column(i)
        known = cells >= 0 if levels is not None else ~np.isnan(cells)
        value = Component(name, "numeric", "numeric") if levels is None else Component(name, "nominal", name, levels)
        facts = np.flatnonzero(known).astype(np.int32), cells[known]
        relations[f"rows_{name}"] = Relation(f"rows_{name}", "rows", name, (example, value), facts)
    database = Database({"rows": np.arange(n)}, relations)
    codes = (np.arange(n, dtype=np.int32),)
    return RelationalDataset(
        database, ("rows",), codes, dataset.target, dataset.task, hierarchy=dataset.hierarchy, target_name="rows.y"
    )
