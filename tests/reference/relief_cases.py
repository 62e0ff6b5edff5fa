"""Random data for Relief: features and targets of all kinds, as omnirank and as the reference take them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import omnirank as om
from reference import tasks_distances

NUMBERS = st.one_of(st.none(), st.integers(-3, 3).map(float), st.floats(-5, 5, width=16))
KNOWN_NUMBERS = st.one_of(st.integers(-3, 3).map(float), st.floats(-5, 5, width=16))
LEVELS = ("a", "b", "c")


def names(levels, missing=True):
    known = st.sampled_from(levels)
    return st.one_of(st.none(), known) if missing else known


def as_column(values, levels):
    if levels is None:
        return pd.Series([np.nan if v is None else v for v in values], dtype=float)
    return pd.Series(pd.Categorical(values, categories=list(levels)))


@st.composite
def features(draw, n):
    """A data frame, and columns (values, number of levels)."""
    kinds = draw(st.lists(st.sampled_from(["number", "known", "name", "pair"]), min_size=1, max_size=5))
    made = {
        "number": (NUMBERS, None),
        "known": (KNOWN_NUMBERS, None),
        "name": (names(LEVELS), LEVELS),
        "pair": (names(LEVELS[:2]), LEVELS[:2]),
    }
    frame, slow = {}, []
    for i, kind in enumerate(kinds):
        cell, levels = made[kind]
        values = draw(st.lists(cell, min_size=n, max_size=n))
        frame[f"x{i}"] = as_column(values, levels)
        slow.append((values, None if levels is None else len(levels)))
    return pd.DataFrame(frame), slow


@st.composite
def variables(draw, n, kinds, unknown):
    """A data frame of numbers and classes, and the reference's distance of two rows (None: nothing known)."""
    columns, frame = [], {}
    for j, kind in enumerate(kinds):
        levels = None if kind == "number" else LEVELS
        cell = KNOWN_NUMBERS if kind == "number" else names(LEVELS, missing=False)
        cell = st.one_of(st.none(), cell) if unknown else cell
        values = draw(st.lists(cell, min_size=n, max_size=n))
        columns.append(values)
        frame[f"y{j}"] = as_column(values, levels)
    nominal = [kind != "number" for kind in kinds]

    def distance(r, q):
        first, second = [c[r] for c in columns], [c[q] for c in columns]
        found = tasks_distances.value_distance(first, second, columns, nominal)
        return None if np.isnan(found) else found

    return pd.DataFrame(frame), distance, [any(c[r] is not None for c in columns) for r in range(n)]


@st.composite
def label_sets(draw, n, kind, unknown, weights=None, n_labels=4, mu=1.0):
    """A 0/1 matrix, and the reference's distance."""
    cell = st.sampled_from([0, 1, 1, None] if unknown else [0, 1])
    sets = draw(st.lists(st.lists(cell, min_size=n_labels, max_size=n_labels), min_size=n, max_size=n))
    weights = [1.0] * n_labels if weights is None else weights

    def distance(r, q):
        found = tasks_distances.set_distance(sets[r], sets[q], weights, kind, mu)
        return None if np.isnan(found) else found

    values = np.array([[np.nan if v is None else v for v in row] for row in sets], float)
    return values, distance, [any(v is not None for v in row) for row in sets]


def hierarchy():
    return om.Hierarchy.from_paths(["a", "a/b", "a/b/c", "a/d", "e", "e/f"])
