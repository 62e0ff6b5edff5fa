"""Constructed features as columns of a table over the examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from omnirank.data.table import Levels, Table
from omnirank.relational.aggregation import NONE_LEVEL
from omnirank.relational.database import Database
from omnirank.relational.evaluation import MEMORY, Bindings, Evaluator
from omnirank.relational.paths import Feature, example_variables, result_component
from omnirank.relational.wording import describe


class Examples(Protocol):
    """What is needed to evaluate features: a `RelationalDataset`, or anything with these attributes."""

    @property
    def database(self) -> Database:
        """The descriptive relations."""

    @property
    def example_types(self) -> tuple[str, ...]:
        """Types of the objects that identify an example."""

    @property
    def example_codes(self) -> tuple[np.ndarray, ...]:
        """Codes of these objects, one array per type; -1 is an object that the database does not know."""

    @property
    def times(self) -> np.ndarray | None:
        """The time up to which facts count, for each example."""


def feature_columns(
    examples: Examples,
    features: Sequence[Feature],
    *,
    levels: Mapping[Feature, Levels] | None = None,
    memory: int = MEMORY,
    named: bool = True,
) -> Table:
    """Return a table with a row per example and a column per feature.

    Parameters
    ----------
    examples : RelationalDataset
        A database and the examples in it.
    features : sequence of Feature
        What to compute.
    levels : mapping of Feature to tuple, optional
        Levels of nominal features as seen before, in training say; others are missing cells then. By default they are
        those of the database.
    memory : int
        Bytes for values by object that are kept for later calls, and about as many for matches that are written down
        at a time where values cannot be computed object by object.
    named : bool
        Whether the columns have the names of the features; where nobody reads them, numbers do.

    Returns
    -------
    Table
        Numbers are infinite where an aggregate has nothing to aggregate (minimum and mean +, maximum -), levels
        ``<none>``, which comes last.

    Raises
    ------
    DataError
        If the database lacks a relation of a feature, or two features have the same name.
    """
    n_rows = len(examples.example_codes[0])
    types = tuple(examples.example_types)
    if named:
        features = [f if f.name else describe(examples.database, types, f) for f in features]
    names = [feature.name if named else str(i) for i, feature in enumerate(features)]
    kinds = example_variables(types)
    codes = {number: np.asarray(column, np.int32) for number, column in enumerate(examples.example_codes)}
    times = examples.times
    if times is not None and np.isposinf(times).all():  # nothing is later
        times = None
    requests = [feature.request for feature in features]
    found = Evaluator(examples.database, memory).evaluate(requests, Bindings(codes, kinds, n_rows, times))
    columns: list[np.ndarray] = []
    column_levels: list[Levels | None] = []
    dates = set()
    for name, feature, request in zip(names, features, requests, strict=True):
        component = result_component(examples.database, types, feature)
        values = found[request].by_rows()
        if values.n_codes is None:
            columns.append(values.array)
            column_levels.append(None)
            if component is not None and component.is_date:
                dates.add(name)
            continue
        known = component.levels if component is not None and component.levels is not None else ()
        column, present = _levelled(values.array, known, None if levels is None else levels.get(feature))
        columns.append(column)
        column_levels.append(present)
    if not columns:
        return Table.from_numeric(np.empty((n_rows, 0)), ())
    table = Table.from_columns(names, columns, column_levels)
    return replace(table, dates=frozenset(dates))


def _levelled(codes: np.ndarray, levels: Levels, wanted: Levels | None) -> tuple[np.ndarray, Levels]:
    """Codes with a level of their own for "nothing"; where levels are given, codes into them."""
    empty = codes < 0
    if wanted is None:
        if not empty.any():
            return codes, levels
        if NONE_LEVEL in levels:
            return np.where(empty, levels.index(NONE_LEVEL), codes), levels
        return np.where(empty, len(levels), codes), (*levels, NONE_LEVEL)
    places: dict[Any, int] = {level: code for code, level in enumerate(wanted)}
    translated = np.array([places.get(level, -1) for level in (*levels, NONE_LEVEL)], np.int32)
    return translated[codes], wanted


def empty_as_missing(table: Table) -> Table:
    """Return a table made by `feature_columns` with missing cells where there was nothing to aggregate.

    Its arrays are changed: nobody else holds them.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.relational.columns import empty_as_missing
    >>> empty_as_missing(Table.from_numeric(np.array([[1.0], [-np.inf]]))).numeric.tolist()
    [[1.0], [nan]]
    """
    numeric, codes = table.numeric, table.codes
    numeric[np.isinf(numeric)] = np.nan
    levels = list(table.levels)
    for i in np.flatnonzero(table.is_nominal):
        known = levels[i] or ()
        if known[-1] == NONE_LEVEL:
            column = codes[:, table.slots[i]]
            column[column == len(known) - 1] = -1
            levels[i] = known[:-1]
    return replace(table, levels=tuple(levels))
