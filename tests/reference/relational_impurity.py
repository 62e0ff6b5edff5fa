"""The gain of a test of a semi-supervised relational tree, from the facts: both parts of the impurity by their formula.

With w of the target and 1 - w of constructed features, whose values are those of `reference.relational.value`, and
unknown where there is nothing to aggregate.
"""

from __future__ import annotations

import math

import numpy as np

from omnirank.relational.paths import example_variables
from reference.relational import NONE, value
from reference.trees_semi_supervised import part, variable_columns


def cells_of(data, feature) -> tuple[np.ndarray, int]:
    """Values of a feature, NaN where there is nothing to aggregate; of codes also their number."""
    kinds = example_variables(data.example_types)
    examples = zip(*(codes.tolist() for codes in data.example_codes), strict=True)
    found = [value(data.database, feature, example, kinds) for example in examples]
    is_code = any(isinstance(cell, int) or cell == NONE for cell in found)
    cells = [math.nan if cell == NONE or math.isinf(cell) else float(cell) for cell in found]
    return np.array(cells), int(np.nanmax(cells)) + 1 if is_code and not np.isnan(cells).all() else 0


def gain(data, features, left: np.ndarray, w: float, weight: np.ndarray) -> float:
    """By how much the impurity of all examples falls if these go to the left, times their weight."""
    described = [variable_columns(*cells_of(data, feature)) for feature in features]
    columns, lambdas = part(described, np.ones(len(described)), 1 - w, weight)
    if data.target is not None:
        values, sizes = data.target.dense(), [len(levels or ()) for levels in data.target.levels]
        targets = [variable_columns(values[:, j], size) for j, size in enumerate(sizes)]
        more, own = part(targets, np.ones(len(targets)), w, weight)
        columns, lambdas = columns + more, lambdas + own
    total = 0.0
    for cells, share in zip(columns, lambdas, strict=True):
        known = ~np.isnan(cells) & (weight > 0)
        centred = np.where(known, cells - np.average(cells[known], weights=weight[known]), 0.0)
        parts = [weight[side & known] @ centred[side & known] for side in (left, ~left)]
        sizes = [weight[side & known].sum() for side in (left, ~left)]
        squares = sum(s * s / k for s, k in zip(parts, sizes, strict=True) if k > 0)
        total += share * weight.sum() / weight[known].sum() * squares
    return total
