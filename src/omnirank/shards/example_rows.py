"""Rows that no file has, from which levels, target and task of a table in parts are told as in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from omnirank.data.table import Table
from omnirank.shards.columns import Columns
from omnirank.shards.summary import Summary

# Whole numbers are in doubt as classes where there are more of them, and more than one per so many examples.
_MANY = 20


def example_rows(columns: Columns, summary: Summary, names: Sequence[str], targets: Sequence[str]) -> Table:
    """Return rows in which every level and every class of the targets occurs, and a missing one where some are.

    Readers of files tell the task of a target, and whether it is doubtful, from its values. They get these rows in
    place of all, with classes that occur often enough where they do so in all.

    Parameters
    ----------
    columns : Columns
        The columns of all parts.
    summary : Summary
        What a pass over the parts found.
    names, targets : sequence of str
        The columns that are used, and those of them that are targets.
    """
    values = {name: _target_values(columns, summary, name) for name in targets}
    n_rows = max((len(own) for own in values.values()), default=1)
    levels = [summary.levels(name, columns) for name in names]
    number = np.float32 if columns.single else np.float64
    found = []
    for name, own in zip(names, levels, strict=True):
        if name in values:
            cells = values[name][np.minimum(np.arange(n_rows), len(values[name]) - 1)]
        else:
            cells = np.full(n_rows, -1.0 if own == () else 0.0)
        found.append(cells.astype(number) if own is None else np.where(np.isnan(cells), -1, cells).astype(np.int32))
    numbers = (name for name, own in zip(names, levels, strict=True) if own is None)
    dates = frozenset(name for name in numbers if columns.kinds[columns.names.index(name)] == "date")
    return replace(Table.from_columns(names, found, levels), dates=dates)


def _target_values(columns: Columns, summary: Summary, name: str) -> np.ndarray:
    found, levels = summary.columns[name], summary.levels(name, columns)
    if levels is None:
        counts = found.values or {}
        values = np.array(sorted(counts), np.float64)
        often = list(counts.values())
    else:
        values = np.arange(len(levels), dtype=np.float64)
        often = [found.levels.get(level, [0])[0] for level in levels]
    few = len(values) * _MANY <= found.n_known and min(often, default=0) > 1
    if len(values) > _MANY and few:
        values = np.tile(values, _MANY + 1)
    return values if found.n_known == summary.n_rows else np.append(values, np.nan)
