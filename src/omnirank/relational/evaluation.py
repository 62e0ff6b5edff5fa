"""Values of many features at once: matches of each step by index, aggregated from the last step to the first.

A step and all that follow it often depend on one variable only. Their values are then computed for each object once,
for all objects or, where few are asked for, for those alone, and kept within a bound. Where a step needs several
variables, or where the time of an example matters, the walks are written down, block by block. A value has the same
bits in all these ways: a group's values and their order are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omnirank.data.table import Levels, Table
from omnirank.relational.aggregation import NONE_LEVEL, Values, aggregate, count_matches
from omnirank.relational.database import Component, Database, Relation
from omnirank.relational.paths import Feature, Request, Step, describe, example_variables, result_component

if TYPE_CHECKING:
    from omnirank.relational.dataset import RelationalDataset, Signature
    from omnirank.relational.growing import RelationalConstruction

# Matches that are written down at a time; each takes some 256 bytes, with a few variables and values behind it.
BLOCK = 1 << 20
# From so many on, steps that differ in their constants only are counted together.
_MANY_CONSTANTS = 2
# All objects are evaluated, and kept, if at least one of this many is asked for.
FEW = 4


class Bindings(NamedTuple):
    """Rows of known variables.

    Parameters
    ----------
    columns : dict of int to ndarray
        Codes of the variables that are needed, by number.
    kinds : tuple of Component
        What each variable is, also of those that are not needed.
    n_rows : int
        Number of rows.
    times : ndarray or None
        The time up to which facts count, for each row.
    """

    columns: dict[int, np.ndarray]
    kinds: tuple[Component, ...]
    n_rows: int
    times: np.ndarray | None = None

    def part(self, start: int, end: int) -> Bindings:
        """Return some consecutive rows."""
        columns = {variable: column[start:end] for variable, column in self.columns.items()}
        return Bindings(columns, self.kinds, end - start, None if self.times is None else self.times[start:end])


class Found(NamedTuple):
    """Values of a request, taken by the rows only when they are asked for: there may be many more rows than objects."""

    values: Values
    aggregate: str
    rows: np.ndarray | None = None
    unknown: np.ndarray | None = None

    def by_rows(self) -> Values:
        """Return one value per row."""
        return self.values if self.rows is None else self.values.take(self.rows, self.unknown, self.aggregate)


class Evaluator:
    """Computes values of features of one database.

    Parameters
    ----------
    database : Database
        The facts.
    block : int
        Matches that are written down at a time.
    few : int
        Values are computed for all objects of a type if at least one of this many is asked for; 0 is never.
    """

    def __init__(self, database: Database, block: int = BLOCK, few: int = FEW) -> None:
        self.database = database
        self.block = block
        self.few = few

    def evaluate(self, requests: Sequence[Request], bindings: Bindings) -> dict[Request, Found]:
        """Return the values of each request, for one row per binding."""
        alike: dict[tuple[Any, ...], list[Request]] = {}
        for request in requests:
            alike.setdefault(request.path[0].without_values, []).append(request)
        found: dict[Request, Found] = {}
        for group in alike.values():
            together: dict[int, list[Request]] = {}
            walked = []
            for request in group:
                free = [variable for variable in request.variables if variable < len(bindings.kinds)]
                relations = [self.database.relation(step.relation) for step in request.path]
                timeless = bindings.times is None or all(relation.times is None for relation in relations)
                if len(free) == 1 and timeless:
                    together.setdefault(free[0], []).append(request)
                else:
                    walked.append(request)
            for variable, some in together.items():
                found |= self._by_object(some, variable, bindings)
            if walked:
                values = self._computed(walked, bindings)
                found |= {r: Found(values[r], r.aggregates[0]) for r in walked}
        return {request: found[request] for request in requests}

    # -- values by object ----------------------------------------------------------------------------

    def _by_object(self, requests: list[Request], variable: int, bindings: Bindings) -> dict[Request, Found]:
        """Values that depend on one variable: computed once per object, taken by the rows."""
        kind, codes = bindings.kinds[variable], bindings.columns[variable]
        own = {request: request.seen_from(variable, len(bindings.kinds)) for request in requests}
        domain = (kind.kind, kind.type if kind.kind == "object" else kind.levels)
        cache, n_objects = self.database.caches.values, self.database.domain_size(kind)
        values = {r: kept for r in own.values() if (kept := cache.get((domain, r))) is not None}
        missing = [r for r in dict.fromkeys(own.values()) if r not in values]
        unknown = codes < 0 if len(codes) and codes.min() < 0 else None  # objects that the database does not have
        places: dict[Request, tuple[np.ndarray, np.ndarray | None]] = dict.fromkeys(own.values(), (codes, unknown))
        if missing and (len(codes) * self.few < n_objects or not self.few):
            objects, rows = np.unique(codes, return_inverse=True)
            values |= self._computed(missing, Bindings({0: objects}, (kind,), len(objects)))
            places |= dict.fromkeys(missing, (rows, None))
        elif missing:
            every = Bindings({0: np.arange(n_objects, dtype=np.int32)}, (kind,), n_objects)
            for r, computed in self._computed(missing, every, whole=True).items():
                values[r] = computed
                cache.put((domain, r), computed)
        return {request: Found(values[r], r.aggregates[0], *places[r]) for request, r in own.items()}

    # -- values by walks -----------------------------------------------------------------------------

    def _computed(self, requests: list[Request], bindings: Bindings, whole: bool = False) -> dict[Request, Values]:
        """Values of requests whose first steps differ in their constants only."""
        counted = [r for r in requests if r.path[0].constants and len(r.path) == 1 and r.variable is None]
        found: dict[Request, Values] = {}
        if len(counted) >= _MANY_CONSTANTS:
            step = counted[0].path[0]
            of_part = partial(self._counted, counted, whole=whole)
            found = self._in_blocks(Step(step.relation, step.bound), bindings, of_part, whole)
        by_step: dict[Step, list[Request]] = {}
        for request in requests:
            if request not in found:
                by_step.setdefault(request.path[0], []).append(request)
        for step, some in by_step.items():
            found |= self._in_blocks(step, bindings, partial(self._of_matches, step, some, whole=whole), whole)
        return found

    def _in_blocks(
        self, step: Step, bindings: Bindings, of_part: Callable[[Bindings], dict[Request, Values]], whole: bool
    ) -> dict[Request, Values]:
        """Values of rows whose matches are written down, at most a block of them at a time; of all objects at once."""
        index = self.database.index(step.relation, step.given)
        if whole or bindings.n_rows * index.most_facts <= self.block:
            return of_part(bindings)
        starts, ends = self.ranges(step, bindings)
        until = np.cumsum(ends - starts)
        parts = []
        start = 0
        while start < bindings.n_rows:
            before = until[start - 1] if start else 0
            end = max(start + 1, int(np.searchsorted(until, before + self.block, side="right")))
            parts.append(of_part(bindings.part(start, end)))
            start = end
        return {
            request: Values(np.concatenate([part[request].array for part in parts]), first.n_codes)
            for request, first in parts[0].items()
        }

    def _counted(self, requests: list[Request], bindings: Bindings, whole: bool) -> dict[Request, Values]:
        """Numbers of matches of steps that differ in their constants: all matches without these, sorted out by them."""
        step, n = requests[0].path[0], bindings.n_rows
        relation = self.database.relation(step.relation)
        offsets, facts = self.matches(Step(step.relation, step.bound), bindings, whole)
        rows = np.repeat(np.arange(n), np.diff(offsets))
        given = np.zeros(len(rows), np.int64)
        wanted = np.zeros(len(requests), np.int64)
        for place, (position, _) in enumerate(step.constants):
            component = relation.components[position]
            size = self.database.domain_size(component) + 1  # the last one stands for a constant that is not known
            code_of = self.database.codes_of(component)
            codes = [code_of.get(request.path[0].constants[place][1], size - 1) for request in requests]
            wanted = wanted * size + np.array(codes)
            given = given * size + _picked(relation.facts[position], facts)
        different, number = np.unique(wanted, return_inverse=True)
        place_of = np.minimum(np.searchsorted(different, given), len(different) - 1)
        known = different[place_of] == given
        place_of, rows = place_of[known], rows[known]
        found: dict[Request, Values] = {}
        at_once = max(1, 32 * self.block // max(n, 1))
        for start in range(0, len(different), at_once):
            here = (place_of >= start) & (place_of < start + at_once)
            k = min(at_once, len(different) - start)
            counts = np.bincount((place_of[here] - start) * n + rows[here], minlength=k * n).reshape(k, n)
            counts = counts.astype(np.float64)
            for request, i in zip(requests, number.tolist(), strict=True):
                if start <= i < start + k:
                    plain = request.aggregates[0] == "count"
                    found[request] = Values(counts[i - start] if plain else (counts[i - start] > 0).astype(np.float64))
        return found

    def _of_matches(
        self, step: Step, requests: list[Request], bindings: Bindings, whole: bool
    ) -> dict[Request, Values]:
        """Values of requests that begin with the same step: its matches, what follows them, the outer aggregates."""
        relation = self.database.relation(step.relation)
        offsets, facts = self.matches(step, bindings, whole)
        fresh = dict(enumerate(step.fresh(relation), start=len(bindings.kinds)))
        wanted: dict[Request | int | None, list[str]] = {}
        inner = {}
        for request in requests:
            if len(request.path) == 1:
                wanted.setdefault(request.variable, []).append(request.aggregates[0])
            else:
                inner[request] = request.behind
                wanted.setdefault(inner[request], []).append(request.aggregates[0])
        behind: dict[Request, Found] = {}
        if inner:
            behind = self.evaluate(
                list(dict.fromkeys(inner.values())), self._extended(bindings, relation, fresh, offsets, facts, inner)
            )
        found: dict[Request | int | None, dict[str, Values]] = {}
        for what, names in wanted.items():
            if what is None:
                found[what] = count_matches(offsets, names)
                continue
            if isinstance(what, Request):
                values = behind.pop(what).by_rows()
            else:
                values = self._column(relation, fresh[what], facts)
            found[what] = self._reduced(step, relation, values, offsets, names, whole)
        return {r: found[inner.get(r, r.variable)][r.aggregates[0]] for r in requests}

    def _reduced(
        self, step: Step, relation: Relation, values: Values, offsets: np.ndarray, names: list[str], whole: bool
    ) -> dict[str, Values]:
        """Aggregates of groups; the identity of a column over all objects costs nothing."""
        index = self.database.index(step.relation, step.given)
        # not where levels were translated: some of them may have no match, others several
        plain = whole and names == ["identity"] and index.is_plain and offsets is index.starts
        if plain and (values.n_codes is not None or not np.isneginf(values.array).any()):
            return {"identity": values}
        return aggregate(values, offsets, names)

    def matches(self, step: Step, bindings: Bindings, whole: bool = False) -> tuple[np.ndarray, np.ndarray | None]:
        """Where the matches of each row start, and the facts that match (None: all facts as they are)."""
        from omnirank.relational.kernels.groups import expand

        relation = self.database.relation(step.relation)
        index = self.database.index(step.relation, step.given)
        if whole and not step.constants and len(step.given) == 1 and self._same_codes(step, relation, bindings):
            return index.starts, index.order
        offsets, places = expand(*self.ranges(step, bindings))
        facts = index.facts(places)
        if bindings.times is None or relation.times is None:
            return offsets, facts
        rows = np.repeat(np.arange(bindings.n_rows), np.diff(offsets))
        known = relation.times[facts] <= bindings.times[rows]
        counts = np.bincount(rows[known], minlength=bindings.n_rows)
        return np.concatenate([[0], np.cumsum(counts)]), facts[known]

    def ranges(self, step: Step, bindings: Bindings) -> tuple[np.ndarray, np.ndarray]:
        """Return where in the index of a step the matches of each row start and end."""
        relation = self.database.relation(step.relation)
        index = self.database.index(step.relation, step.given)
        codes = {}
        for position, variable in step.bound:
            component, kind = relation.components[position], bindings.kinds[variable]
            codes[position] = _joined(bindings.columns[variable], kind, component)
        for position, value in step.constants:
            code = self.database.codes_of(relation.components[position]).get(value, -1)
            codes[position] = np.full(bindings.n_rows, code, np.int32)
        return index.ranges([codes[position] for position in step.given])

    def _extended(
        self,
        bindings: Bindings,
        relation: Relation,
        fresh: dict[int, int],
        offsets: np.ndarray,
        facts: np.ndarray | None,
        inner: dict[Request, Request],
    ) -> Bindings:
        """Bindings after a step: a row for each match, with the variables that later steps need."""
        kinds = bindings.kinds + tuple(relation.components[position] for position in fresh.values())
        needed = {v for request in inner.values() for v in request.variables if v < len(kinds)}
        timed = bindings.times is not None
        rows = None
        if timed or any(variable not in fresh for variable in needed):
            rows = np.repeat(np.arange(bindings.n_rows), np.diff(offsets))
        columns = {}
        for variable in sorted(needed):
            if variable in fresh:
                columns[variable] = _picked(relation.facts[fresh[variable]], facts)
            else:
                columns[variable] = bindings.columns[variable][rows]
        times = bindings.times[rows] if timed and bindings.times is not None else None
        return Bindings(columns, kinds, int(offsets[-1]), times)

    # -- small questions -----------------------------------------------------------------------------

    def _column(self, relation: Relation, position: int, facts: np.ndarray | None) -> Values:
        component = relation.components[position]
        n_codes = None if component.kind == "numeric" else self.database.domain_size(component)
        return Values(_picked(relation.facts[position], facts), n_codes)

    def _same_codes(self, step: Step, relation: Relation, bindings: Bindings) -> bool:
        position, variable = step.bound[0]
        component, kind = relation.components[position], bindings.kinds[variable]
        return component.kind == "object" or component.levels == kind.levels


def _picked(column: np.ndarray, facts: np.ndarray | None) -> np.ndarray:
    return column if facts is None else column[facts]


def _joined(codes: np.ndarray, kind: Component, component: Component) -> np.ndarray:
    """Codes of a variable as codes of a component that it is joined to; levels are compared by their values."""
    if component.kind == "object" or kind.levels == component.levels:
        return codes
    places = {level: code for code, level in enumerate(component.levels or ())}
    translated = np.array([places.get(level, -1) for level in kind.levels or ()] + [-1], np.int32)
    return translated[codes]


def feature_columns(
    examples: RelationalDataset | RelationalConstruction,
    features: Sequence[Feature],
    *,
    levels: Mapping[Feature, Levels] | None = None,
    named: bool = True,
) -> Table:
    """Return a table with a row per example and a column per feature.

    Parameters
    ----------
    examples : RelationalDataset or RelationalConstruction
        A database and the examples in it; a code of -1 is an object that the database does not know.
    features : sequence of Feature
        What to compute.
    levels : mapping of Feature to tuple, optional
        Levels of nominal features as seen before, in training say; others are missing cells then. By default they are
        those of the database.
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
    found = Evaluator(examples.database).evaluate(requests, Bindings(codes, kinds, n_rows, times))
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


def columns_as_fitted(
    dataset: RelationalDataset, signature: Signature, features: Sequence[Feature], levels: Sequence[Levels | None]
) -> Table:
    """Return the features of new examples as columns, with the levels of the fit and one more, last, for "nothing".

    Parameters
    ----------
    dataset : RelationalDataset
        The examples.
    signature : Signature
        What is known of the data of the fit.
    features : sequence of Feature
        What to compute.
    levels : sequence of tuple or None
        Levels of each feature in the fit, None for a number.
    """
    used = {step.relation for feature in features for step in feature.path}
    dataset = dataset.aligned_with(signature.needed_of(dataset, used))
    known = {feature: own for feature, own in zip(features, levels, strict=True) if own is not None}
    extended = {feature: own if NONE_LEVEL in own else (*own, NONE_LEVEL) for feature, own in known.items()}
    return feature_columns(dataset, features, levels=extended)


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
    >>> from omnirank.relational.evaluation import empty_as_missing
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
