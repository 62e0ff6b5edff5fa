"""Rows of several blocks as one: in the same codes, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from omnirank.data.table import Table
from omnirank.data.target import Target


def target_like(found: Target, wanted: Target) -> Target:
    """Return the target of some rows in the codes of all."""
    if found.levels == wanted.levels:
        return found
    values = np.array(found.values)
    for v, (own, all_levels) in enumerate(zip(found.levels, wanted.levels, strict=True)):
        if own == all_levels or own is None or all_levels is None:
            continue
        code = {level: i for i, level in enumerate(all_levels)}
        known = ~np.isnan(values[:, v])
        values[known, v] = np.array([code[level] for level in own] or [0])[values[known, v].astype(np.intp)]
    return replace(found, levels=wanted.levels, values=values)


def stacked(tables: Sequence[Table]) -> Table:
    """Return the rows of several tables with the same columns and levels, one table after the other."""
    first = tables[0]
    return Table(
        first.names,
        first.levels,
        np.concatenate([table.numeric for table in tables]),
        np.concatenate([table.codes for table in tables]),
        dates=first.dates,
    )
