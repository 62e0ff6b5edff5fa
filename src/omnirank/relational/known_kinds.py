"""New data are read as the data that they are like: a few rows may hold only categories that look like numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd

from omnirank.data.table import Levels
from omnirank.relational.dataset import RelationalDataset
from omnirank.relational.declared import Columns
from omnirank.relational.schema import Schema


def of_the_kinds_of(
    like: RelationalDataset, tables: Mapping[str, Columns], schema: Schema
) -> tuple[dict[str, Columns], Schema]:
    """Return tables and their schema with the kinds that the columns have in another data set.

    Parameters
    ----------
    like : RelationalDataset
        The other data set.
    tables : mapping of str to mapping of str to narwhals series
        The columns of each table.
    schema : Schema
        Keys, and the kinds that somebody has said.

    Examples
    --------
    >>> import pandas as pd
    >>> import omnirank as om
    >>> from omnirank.relational.declared import columns_of
    >>> from omnirank.relational.known_kinds import of_the_kinds_of
    >>> codes = pd.DataFrame({"id": [1, 2], "code": ["7", "x"], "y": ["a", "b"]})
    >>> data = om.RelationalDataset.from_frames({"shop": codes}, target="shop.y")
    >>> new = columns_of({"shop": pd.DataFrame({"id": [3], "code": [7]})})
    >>> tables, schema = of_the_kinds_of(data, new, data.schema)
    >>> tables["shop"]["code"].to_list(), schema.tables["shop"].columns["code"]
    (['7'], 'nominal')
    """
    found = {name: dict(columns) for name, columns in tables.items()}
    kinds = {name: dict(table.columns) for name, table in schema.tables.items()}
    for relation in like.database.relations.values():
        component, column = relation.components[-1], relation.column
        if column is None or component.kind == "object" or column not in kinds.get(relation.table, {}):
            continue
        if kinds[relation.table][column] is None:
            kinds[relation.table][column] = "date" if component.is_date else component.kind
        if _are_texts(component.levels) and found[relation.table][column].dtype.is_numeric():
            found[relation.table][column] = _written(found[relation.table][column])
    return found, replace(
        schema, tables={name: replace(table, columns=kinds[name]) for name, table in schema.tables.items()}
    )


def _are_texts(levels: Levels | None) -> bool:
    return bool(levels) and all(isinstance(level, str) for level in levels or ())


def _written(series: Any) -> Any:
    """Numbers as the texts that they were read from: whole ones without a point."""
    numbers = np.asarray(series.cast(nw.Float64).to_numpy(), np.float64).tolist()
    texts = [None if x != x else str(int(x)) if x.is_integer() else repr(x) for x in numbers]
    return nw.from_native(pd.Series(texts, dtype=object), series_only=True).alias(series.name)
