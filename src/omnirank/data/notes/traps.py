"""Features that are not what they seem: constant, identifiers, dates, copies of the target.

What can be seen in a sample is looked for there, column by column at once; only the few suspects are looked at in full.
So the search costs little beside any fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from omnirank.data.notes.doubts import text_counts, what_numbers_have
from omnirank.data.notes.leaks import leaking_features
from omnirank.data.table import Table, is_made_up
from omnirank.data.target import Target

_LEAST_EXAMPLES = 20
_FIRST_BLOCK = 1000
# Whole numbers that all differ are identifiers where they fill at least this share of their range.
_FILLED = 1 / 3
_SHOWN = 3
_IDENTIFIER = re.compile(r"(^|[\W_])(id|nr|no|number|index|key|row|uuid)$|^(id|index|row|unnamed: 0)\b|[a-z](ID|Id)$")
_IDENTIFIER_ANY_CASE = re.compile(_IDENTIFIER.pattern.replace("|[a-z](ID|Id)$", ""), re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_DATE_TEXT = re.compile(r"\d{4}-\d\d?-\d\d?([ T].*)?|\d{1,2}[./]\d{1,2}[./]\d{4}( .*)?")
_TARGET_NAME = re.compile(r"(y|label|target|class|outcome|response)[_ ]?\d*", re.IGNORECASE)


class Trap(NamedTuple):
    """One feature, what it is (an entry of `KINDS`), and a detail for its note."""

    kind: str
    feature: str
    detail: str = ""

    @property
    def of_target(self) -> bool:
        """Whether it is a trap for this target only."""
        return KINDS[self.kind].of_target


class _Kind(NamedTuple):
    """What is said about features of a kind, in the singular and the plural; ``{}`` stands for the detail."""

    one: str
    many: str
    of_target: bool = False


KINDS = {
    "empty": _Kind("has no known value", "have no known value"),
    "constant": _Kind("holds one value only", "hold one value only"),
    "running": _Kind(
        "changes by the same step from row to row: it is a running number, leave it out of the ranking",
        "change by the same step from row to row: they are running numbers, leave them out of the ranking",
    ),
    "identifier": _Kind(
        "has another whole number in every example: is it an identifier? Leave it out of the ranking",
        "have another whole number in every example: are they identifiers? Leave them out of the ranking",
    ),
    "levels": _Kind(
        "has {}: is it an identifier? Leave it out of the ranking",
        "have about as many levels as there are examples: are they identifiers? Leave them out of the ranking",
    ),
    "date": _Kind(
        "is a date, taken as a number (seconds since 1970): its score tells of trends, not of seasons",
        "are dates, taken as numbers (seconds since 1970): their scores tell of trends, not of seasons",
    ),
    "date text": _Kind(
        "holds dates as text, taken as categories: turn them into numbers (days since the first, say), or leave it out",
        "hold dates as text, taken as categories: turn them into numbers (days since the first, say), or leave them "
        "out",
    ),
    "number text": _Kind(
        "is taken as categories, but {}: write plain numbers, with a decimal point, if it is a quantity",
        "are taken as categories, but in the first of them {}: write plain numbers, with a decimal point, if they are "
        "quantities",
    ),
    "leak": _Kind(
        "predicts {} (nearly) perfectly on its own, and can hide what other features tell: would it be known before "
        "the target? Else leave it out",
        "predict {} (nearly) perfectly, each on its own, and can hide what other features tell: would they be known "
        "before the target? Else leave them out",
        of_target=True,
    ),
    "other target": _Kind(
        "is called like a target: is it one ({})? Then name it as a target too, or leave it out",
        "are called like targets: are they ({})? Then name them as targets too, or leave them out",
        of_target=True,
    ),
}


def find_traps(features: Table, target: Target | None) -> tuple[Trap, ...]:
    """Return the features that are traps, in the order of `KINDS`; a feature is in one of them only.

    Parameters
    ----------
    features : Table
        The features.
    target : Target or None
        The target, if any.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.data.notes.traps import find_traps
    >>> columns = np.column_stack([np.arange(50), np.ones(50), np.random.default_rng(0).normal(size=50)])
    >>> [(trap.kind, trap.feature) for trap in find_traps(Table.from_numeric(columns), None)]
    [('constant', 'x1'), ('running', 'x0')]
    """
    if features.n_rows < _LEAST_EXAMPLES:
        return tuple(_empty_of_few(features))
    found: dict[str, Trap] = {}
    searches: list[Iterable[Trap]] = [_constant(features), _counting(features), _of_levels(features), _dates(features)]
    if target is not None:
        searches += [_leaks(features, target), _other_targets(features.names, target)]
    for search in searches:
        for trap in search:
            found.setdefault(trap.feature, trap)
    order = list(KINDS)
    return tuple(sorted(found.values(), key=lambda trap: order.index(trap.kind)))


def trap_notes(traps: Sequence[Trap]) -> tuple[str, ...]:
    """Return one sentence for each kind of trap.

    Examples
    --------
    >>> from omnirank.data.notes.traps import Trap, trap_notes
    >>> trap_notes([Trap("constant", name) for name in "abcde"])
    ("features 'a', 'b', 'c' and 2 more hold one value only",)
    """
    notes = []
    for name, kind in KINDS.items():
        mine = [trap for trap in traps if trap.kind == name]
        if mine:
            text = (kind.one if len(mine) == 1 else kind.many).format(mine[0].detail)
            notes.append(f"{_listed([trap.feature for trap in mine])} {text}")
    return tuple(notes)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    if len(names) == 1:
        return f"feature {shown}"
    more = len(names) - _SHOWN
    if more > 0:
        return f"features {shown} and {more} more"
    return f"features {' and '.join(shown.rsplit(', ', 1)) if len(names) == 2 else shown}"


# -- one value or none --------------------------------------------------------------------------------


def _constant(features: Table) -> Iterable[Trap]:
    for name, values in of_one_value(features):
        yield Trap("empty" if values is None else "constant", name)


def _empty_of_few(features: Table) -> Iterable[Trap]:
    """Of few examples only what is not there at all is worth a word."""
    return (trap for trap in _constant(features) if trap.kind == "empty")


def of_one_value(features: Table) -> Iterable[tuple[str, float | None]]:
    """Features with one known value, or none."""
    if features.is_sparse:
        yield from _sparse_of_one_value(features)
        return
    names = np.array(features.names, dtype=object)
    for block, chosen in ((features.numeric, ~features.is_nominal), (features.codes, features.is_nominal)):
        if not block.shape[1]:
            continue
        kept, value = _suspects_of_one_value(block)
        for slot, found in zip(kept.tolist(), value.tolist(), strict=True):
            yield str(names[chosen][slot]), None if np.isnan(found) else found


def _suspects_of_one_value(block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns in which all known cells are equal, and that value: NaN where none is known."""
    kept = np.arange(block.shape[1])
    value = np.full(block.shape[1], np.nan)
    start, size = 0, 20
    while start < len(block) and len(kept):
        rows = block[start : start + size]
        part = rows if len(kept) == block.shape[1] else rows[:, kept]
        if part.dtype.kind == "i":
            part = np.where(part < 0, np.nan, part)
        low, high = np.fmin(np.fmin.reduce(part, axis=0), value), np.fmax(np.fmax.reduce(part, axis=0), value)
        same = ~(high > low)
        kept, value = kept[same], low[same]
        start, size = start + size, max(_FIRST_BLOCK, 2 * size)
    return kept, value


def _sparse_of_one_value(features: Table) -> Iterable[tuple[str, float | None]]:
    matrix = features.matrix
    stored = np.diff(matrix.indptr)
    for f in np.flatnonzero((stored == 0) | (stored == features.n_rows)).tolist():
        cells = matrix.data[matrix.indptr[f] : matrix.indptr[f + 1]]
        known = cells[~np.isnan(cells)]
        if not len(cells):
            yield features.names[f], 0.0
        elif not len(known) or (known == known[0]).all():
            yield features.names[f], float(known[0]) if len(known) else None


# -- identifiers --------------------------------------------------------------------------------------


def _counting(features: Table) -> Iterable[Trap]:
    """Running numbers, and whole numbers of which no two examples have the same."""
    if features.is_sparse or not features.numeric.shape[1]:
        return
    block, n = features.numeric, features.n_rows
    names = [name for name, nominal in zip(features.names, features.is_nominal, strict=True) if not nominal]
    first = block[:_LEAST_EXAMPLES]
    whole = (first == np.round(first)).all(axis=0)
    distinct = _all_differ(first)
    for slot in np.flatnonzero(whole & distinct).tolist():
        cells = block[:, slot]
        if not (cells == np.round(cells)).all():
            continue
        with np.errstate(over="ignore"):  # numbers near the largest float: no steps of one size, and a large range
            steps, span = np.diff(cells), cells.max() - cells.min()
        if np.isfinite(steps[0]) and (steps == steps[0]).all():
            yield Trap("running", names[slot])
            continue
        dense = n >= 2 * _LEAST_EXAMPLES and n >= _FILLED * (span + 1)
        if (dense or _is_called_identifier(names[slot])) and _all_differ(cells):
            yield Trap("identifier", names[slot])


def _all_differ(columns: np.ndarray) -> np.ndarray:
    """Whether no two cells of a column are equal; compared, since the difference of two numbers may be infinite."""
    ordered = np.sort(columns, axis=0)
    return np.asarray((ordered[1:] > ordered[:-1]).all(axis=0))


def _is_called_identifier(name: str) -> bool:
    return bool(_IDENTIFIER.search(name) or _IDENTIFIER_ANY_CASE.search(name))


def _of_levels(features: Table) -> Iterable[Trap]:
    """Nominal features with more levels in use than half the examples; dates among them."""
    if features.is_sparse:
        return
    for f in np.flatnonzero(features.is_nominal).tolist():
        levels = features.levels[f] or ()
        if _are_dates(levels):
            yield Trap("date text", features.names[f])
        elif (about := what_numbers_have(text_counts(levels, features.column(f)))) != "":
            yield Trap("number text", features.names[f], about)
        elif len(levels) > features.n_rows / 2:
            used = np.unique(features.column(f))
            n_used = int((used >= 0).sum())
            if n_used > features.n_rows / 2:
                yield Trap("levels", features.names[f], f"{n_used} levels for {features.n_rows} examples")


# -- dates --------------------------------------------------------------------------------------------


def _are_dates(levels: Sequence[object]) -> bool:
    """Whether all levels are dates."""
    return len(levels) > 2 and all(
        isinstance(level, str) and _DATE_TEXT.fullmatch(level) is not None for level in levels
    )


def _dates(features: Table) -> Iterable[Trap]:
    return (Trap("date", name) for name in features.names if name in features.dates)


# -- the target among the features --------------------------------------------------------------------


def _leaks(features: Table, target: Target) -> Iterable[Trap]:
    found = leaking_features(features, target)
    for f, t in found:
        detail = f"the target {target.names[t]!r}" if len(found) == 1 or target.n_targets == 1 else "one of the targets"
        yield Trap("leak", features.names[f], detail)


def _other_targets(names: Sequence[str], target: Target) -> Iterable[Trap]:
    """Features called like the target but for a number, or by a word for targets; not where half of them are.

    Labels have words for names, and features that are words may be called like anything.
    """
    if is_made_up(names):
        return
    stems = {stem for stem in map(_stem, target.names) if "#" in stem and re.search("[a-z]", stem)}
    found = [n for n in names if _stem(n) in stems or (not target.is_labels and _TARGET_NAME.fullmatch(n))]
    if 2 * len(found) > len(names):
        return
    for name in found:
        yield Trap("other target", name, f"the target is {target.names[0]!r}")


def _stem(name: str) -> str:
    return _NUMBER.sub("#", name.lower())
