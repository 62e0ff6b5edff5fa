"""What a data set has to say for itself: how it was read, doubts about the task, traps, rows that depend on each other.

Traps are features that are not what they seem: constant, identifiers, dates, copies of the target. Doubts are about
tasks that values alone suggest: whole numbers that are quantities, classes that became floats.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from omnirank.core.blas_threads import one_blas_thread
from omnirank.core.errors import DataWarning, setting
from omnirank.core.text import counted
from omnirank.data.notes.leaks import leaking_features
from omnirank.data.notes.order import order_note
from omnirank.data.numbers import NumberFormat, is_censored, looks_like_number, unit_of
from omnirank.data.resampling import copies_note
from omnirank.data.table import LARGEST_EXACT, Levels, Table, is_made_up
from omnirank.data.target import Target
from omnirank.data.task_registry import task_named, task_target

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset


class Remarks:
    """Remarks about a data set, shared by all views of its rows, so that what was told once is not told again.

    Traps are looked for when somebody asks first, in the view that is at hand then.

    Parameters
    ----------
    of_reader : tuple of str
        What the reader of a file said.
    doubts : tuple of str
        What speaks against the inferred task.
    from_file : bool
        Whether the data were read by `omnirank.load`, so that notes can name its arguments.
    """

    def __init__(self, of_reader: tuple[str, ...] = (), doubts: tuple[str, ...] = (), from_file: bool = False) -> None:
        self.of_reader = of_reader
        self.from_file = from_file
        self.doubts = doubts
        self.told = False
        self._traps: tuple[Trap, ...] | None = None
        self._dependent: tuple[str, ...] = ()

    def warnings(self, dataset: Dataset, *, task_is_sure: bool = False) -> tuple[str, ...]:
        """Return what is worth a warning: doubts about the task, unless it is sure, and traps."""
        if self._traps is None:
            self._traps = find_traps(dataset.features, dataset.target)
            if dataset.given_groups is None:
                self._dependent = copies_note(dataset.groups) + order_note(dataset.features, dataset.target)
        supervised = dataset.target is not None
        told = [trap for trap in self._traps if supervised or not trap.of_target]
        return (
            *(self.doubts if supervised and not task_is_sure else ()),
            *(() if dataset.target is None else class_notes(dataset.target)),
            *trap_notes(told, self.from_file),
            *self._dependent,
        )

    def hints(self, dataset: Dataset) -> tuple[str, ...]:
        """Return notes without a warning: copies of features, values that repeat a few times, features in rows."""
        features, known = dataset.features, {trap.feature for trap in self._traps or ()}
        traps = near_copies(features)
        if dataset.given_groups is None:
            traps += [trap for trap in _repeated(features) if trap.feature not in known]
        named = features.names[:1] == tuple(known) and features.is_nominal[0] and features.n_columns > _TURNED
        is_turned = named and dataset.target is None and features.n_rows > _TURNED * features.n_columns
        return trap_notes(traps, self.from_file) + ((_TRANSPOSE,) if is_turned else ())

    def for_features(self, names: Sequence[str]) -> Remarks:
        """Return the remarks about some of the features."""
        part = Remarks(self.of_reader, self.doubts, self.from_file)
        part.told = self.told
        if self._traps is not None:
            chosen = set(names)
            part._traps = tuple(trap for trap in self._traps if trap.feature in chosen)
            part._dependent = self._dependent
        return part


class Remarked(Protocol):
    """A data set with remarks: one table, or several."""

    _remarks: Any


def warn_about(dataset: Remarked, task_is_sure: bool = False) -> None:
    """Warn of what `Dataset.notes` says about task and features, once per data set, whatever is fitted to parts of it.

    Functions that hand parts of a data set to workers call it before: what a worker told, nobody else would know.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.data.notes import warn_about
    >>> data = om.Dataset(np.column_stack([np.arange(60.0), np.arange(60) % 7]))
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     warn_about(data)
    ...     warn_about(data.take(slice(30)))
    >>> [str(warning.message) for warning in told]
    ["feature 'x0' changes by the same step from row to row: it is a running number, ..."]
    """
    remarks = dataset._remarks
    if remarks.told:
        return
    remarks.told = True  # before warning, which may raise
    for text in remarks.warnings(dataset, task_is_sure=task_is_sure):
        warnings.warn(text, DataWarning, stacklevel=caller_outside())


def share_remarks(data: Dataset, origin: Dataset) -> Dataset:
    """Let a data set made of another one share its remarks: what was told of the origin is not told again."""
    data._remarks = origin._remarks
    return data


def caller_outside() -> int:
    """The stack level of the first caller that is neither omnirank nor scikit-learn, which wraps some methods."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("omnirank", "sklearn"):
        level, frame = level + 1, frame.f_back
    return level


# -- traps --------------------------------------------------------------------------------------------

_LEAST_EXAMPLES = 20
# Whole numbers that all differ are identifiers where they fill at least this share of their range.
_FILLED = 1 / 3
_SHOWN = 3
_IDENTIFIER = re.compile(r"(^|[\W_])(id|nr|no|number|index|key|row|uuid)$|^(id|index|row|unnamed: 0)\b|[a-z](ID|Id)$")
_IDENTIFIER_ANY_CASE = re.compile(_IDENTIFIER.pattern.replace("|[a-z](ID|Id)$", ""), re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_DATE_TEXT = re.compile(r"\d{4}-\d\d?-\d\d?([ T].*)?|\d{1,2}[./]\d{1,2}[./]\d{4}( .*)?|\d{1,2}:[0-5]\d.*")
_TARGET_NAME = re.compile(r"(y|label|target|class|outcome|response)[_ ]?\d*", re.IGNORECASE)


class Trap(NamedTuple):
    """One feature, what it is (an entry of `KINDS`), and a detail for its note."""

    kind: str
    feature: str
    detail: str = ""

    @property
    def of_target(self) -> bool:
        """Whether it is a trap for this target only."""
        return self.kind in _OF_TARGET


# What is said about features of a kind: {of one|of several} of them; <> stands for the detail.
KINDS = {
    "empty": "{has|have} no known value",
    "constant": "{holds|hold} one value only",
    "running": "{changes|change} by the same step from row to row: {it is a running number|they are running numbers}, "
    "leave {it|them} out of the ranking",
    "identifier": "{has|have} a different whole number in every row: {is it an identifier|are they identifiers}? Leave "
    "{it|them} out of the ranking",
    "levels": "{has <>: is it an identifier|have about as many levels as there are examples: are they identifiers}? "
    "Leave {it|them} out of the ranking",
    "date": "{is a date, taken as a number|are dates, taken as numbers} (seconds since 1970): {its score tells|their "
    "scores tell} of trends, not of seasons; leave {it|them} out if that is not wanted",
    "date text": "{holds|hold} dates or times as text, taken as categories: turn them into numbers (days since the "
    "first, minutes since midnight), or leave {it|them} out",
    "number text": "{is|are} taken as categories, but {<>|in the first of them <>}: write plain numbers, with a "
    "decimal point, if {it is a quantity|they are quantities}",
    "numbers": "{holds|hold} numbers as text, taken as categories: if {it is a quantity|they are quantities}, "
    "<> makes numbers of {it|the first}",
    "nan": "{has|have} the text 'nan' as a category: for missing values use None with dtype=object",
    "copy": "{is nearly a copy of <>|are nearly copies of earlier features (the first of <>)}: copies share one score; "
    "leave {it|them} out, or let select keep one of each (option redundancy)",
    "repeated": "{has <>|have few examples for each value}: if examples of one value belong together (repeated "
    "measurements), choose {it|them} as groups",
    "leak": "{predicts <> (nearly) perfectly|predict <> (nearly) perfectly, each} on its own, and can hide what other "
    "features tell: would {it|they} be known before the target? Else leave {it|them} out",
    "other target": "{is called like a target: is it one (<>)? Then name it as a target|are called like targets: are "
    "they (<>)? Then name them as targets} too, or leave {it|them} out",
}
# The argument of `omnirank.load` that leaves features of a kind out.
_ROLE_OF = {"running": "key", "identifier": "key", "levels": "key", "repeated": "groups"}
_MOST_NAMED = 8
_OF_TARGET = ("leak", "other target")
_NUMBERS = re.compile(r"\{([^|{}]*)\|([^{}]*)\}")
_OUT = re.compile(r"eave (?:it|them) out(?: of the ranking)?|as groups")


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
    >>> from omnirank.data.notes import find_traps
    >>> columns = np.column_stack([np.arange(50), np.ones(50), np.random.default_rng(0).normal(size=50)])
    >>> [(trap.kind, trap.feature) for trap in find_traps(Table.from_numeric(columns), None)]
    [('constant', 'x1'), ('running', 'x0')]
    """
    if features.n_rows < _LEAST_EXAMPLES:
        sure = ("empty", "numbers", "nan")  # of few examples, no other is
        return tuple(trap for trap in (*_constant(features), *_of_levels(features)) if trap.kind in sure)
    traps: dict[str, Trap] = {}
    searches: list[Iterable[Trap]] = [_constant(features), _counting(features), _of_levels(features)]
    searches.append(Trap("date", name) for name in features.names if name in features.dates)
    if target is not None:
        searches += [_leaks(features, target), _other_targets(features.names, target)]
    for search in searches:
        for trap in search:
            traps.setdefault(trap.feature, trap)
    order = list(KINDS)
    return tuple(sorted(traps.values(), key=lambda trap: order.index(trap.kind)))


def trap_notes(traps: Sequence[Trap], from_file: bool = False, of_tables: bool = False) -> tuple[str, ...]:
    """Return one sentence for each kind of trap, with the argument that leaves the features out.

    That of `omnirank.load`, or of relational data, where columns are named with their tables.

    Examples
    --------
    >>> from omnirank.data.notes import Trap, trap_notes
    >>> trap_notes([Trap("constant", name) for name in "abcde"])
    ("features 'a', 'b', 'c' and 2 more hold one value only",)
    >>> trap_notes([Trap("date text", "day")], from_file=True)[0][-30:]
    "or leave it out (ignore='day')"
    """
    notes = []
    for name, text in KINDS.items():
        mine = [trap for trap in traps if trap.kind == name]
        if mine:
            text = _NUMBERS.sub(r"\1" if len(mine) == 1 else r"\2", text).replace("<>", mine[0].detail)
            names = [trap.feature for trap in mine]
            if (from_file or of_tables) and len(names) <= _MOST_NAMED:
                role = setting(_ROLE_OF.get(name, "ignore"), names[0] if len(names) == 1 else names)
                role = setting("exclude", names) if of_tables else role
                text = _OUT.sub(rf"\g<0> ({role})".replace("\\", "\\\\").replace("\\\\g", "\\g"), text)
            notes.append(f"{_listed(names)} {text}")
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
        for slot, constant in zip(kept.tolist(), value.tolist(), strict=True):
            yield str(names[chosen][slot]), None if np.isnan(constant) else constant


def _suspects_of_one_value(block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns in which all known cells are equal, and that value: NaN where none is known."""
    kept = np.arange(block.shape[1])
    for rows in (block[:_LEAST_EXAMPLES], block):  # the first rows tell nearly all columns that vary
        part = rows[:, kept]
        part = np.where(part < 0, np.nan, part) if part.dtype.kind == "i" else part
        low, high = np.fmin.reduce(part, axis=0, initial=np.nan), np.fmax.reduce(part, axis=0, initial=np.nan)
        same = ~(high > low)
        kept, value = kept[same], low[same]
    return kept, value


def _sparse_of_one_value(features: Table) -> Iterable[tuple[str, float | None]]:
    matrix = features.matrix
    stored = np.diff(matrix.indptr)
    odd = np.flatnonzero(~(np.abs(matrix.data) > 0))  # stored zeros and missing cells
    others = stored - np.bincount(np.searchsorted(matrix.indptr, odd, "right") - 1, minlength=len(stored))
    for f in np.flatnonzero((others == 0) | (stored == features.n_rows)).tolist():
        cells = matrix.data[matrix.indptr[f] : matrix.indptr[f + 1]]
        known = cells[~np.isnan(cells)]
        if len(cells) < features.n_rows:
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
        called_so = _IDENTIFIER.search(names[slot]) or _IDENTIFIER_ANY_CASE.search(names[slot])
        if (dense or called_so) and _all_differ(cells):
            yield Trap("identifier", names[slot])


def _all_differ(columns: np.ndarray) -> np.ndarray:
    """Whether no two cells of a column are equal; compared, since the difference of two numbers may be infinite."""
    ordered = np.sort(columns, axis=0)
    return np.asarray((ordered[1:] > ordered[:-1]).all(axis=0))


def _of_levels(features: Table) -> Iterable[Trap]:
    """Nominal features with more levels in use than half the examples; dates and numbers among them."""
    if features.is_sparse:
        return
    for f in np.flatnonzero(features.is_nominal).tolist():
        levels = features.levels[f] or ()
        counts, is_text = text_counts(levels, features.column(f)), features.names[f] in features.texts
        if len(levels) > 2 and all(isinstance(level, str) and _DATE_TEXT.fullmatch(level) for level in levels):
            yield Trap("date text", features.names[f])
        elif (about := what_numbers_have(counts)) != "":
            yield Trap("number text", features.names[f], about)
        elif is_text and _are_numbers(counts):
            yield Trap("numbers", features.names[f], f"pd.to_numeric(frame[{features.names[f]!r}], errors='coerce')")
        elif is_text and counts.get("nan"):
            yield Trap("nan", features.names[f])
        elif len(levels) > features.n_rows / 2:
            used = np.unique(features.column(f))
            n_used = int((used >= 0).sum())
            if n_used > features.n_rows / 2:
                yield Trap("levels", features.names[f], f"{n_used} levels for {features.n_rows} examples")


# Columns with so many values and examples of each, and names of what is measured repeatedly.
_FEWEST_VALUES, _MOST_REPEATS = 10, 8
_REPEATED = re.compile(
    r"(?i)(^|[\W_])(patient|subject|person|donor|animal|mouse|site|plot|station|lake|participant|individual|family|"
    r"student)(id|s)?([\W_]|$)"
)
_TURNED = 10
_TRANSPOSE = "there are many more rows than columns: if rows are features, such as genes, transpose the table"


def _repeated(features: Table) -> Iterable[Trap]:
    """Columns called like what is measured repeatedly, or identifiers, in which nearly all values occur a few times."""
    for f, name in enumerate(() if features.is_sparse else features.names):
        if _REPEATED.search(name) or _IDENTIFIER_ANY_CASE.search(name):
            column = features.column(f)
            counts = np.unique(column[column == column], return_counts=True)[1]
            n, usual = len(counts), counts.sum() <= _MOST_REPEATS * len(counts)
            if n >= _FEWEST_VALUES and usual and np.mean(counts > 1) > _LEAST_NUMBERS:
                yield Trap("repeated", name, f"{n} values for {features.n_rows} examples")


# -- copies -------------------------------------------------------------------------------------------

# Features and rows that are looked at, and the least correlation of a copy: rounded numbers in other units.
_MOST_FEATURES, _MOST_ROWS = 500, 1000
_COPY = 0.999


def near_copies(features: Table) -> list[Trap]:
    """Return the numeric features that go along with an earlier one (nearly) perfectly: other units, for example.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.notes import near_copies
    >>> from omnirank.data.table import Table
    >>> celsius, rain = np.random.default_rng(0).normal(size=(2, 50))
    >>> columns = np.column_stack([celsius, rain, (1.8 * celsius + 32).round(1)])
    >>> near_copies(Table.from_numeric(columns, ["celsius", "rain", "fahrenheit"]))
    [Trap(kind='copy', feature='fahrenheit', detail="'celsius'")]
    """
    if features.is_sparse or not features.numeric.shape[1]:
        return []
    cells = features.numeric[:: features.n_rows // _MOST_ROWS + 1, :_MOST_FEATURES].astype(np.float64)
    slots = np.flatnonzero(np.isfinite(cells).sum(axis=0) >= _LEAST_EXAMPLES)
    if len(slots) < 2:
        return []
    with one_blas_thread(), np.errstate(all="ignore"):  # columns of one value, and numbers near the largest
        centred = np.nan_to_num(cells[:, slots] - np.nanmean(cells[:, slots], axis=0))
        pairs = np.argwhere(np.triu(np.abs(np.corrcoef(centred, rowvar=False)) >= _COPY, 1))
    names = np.array(features.names, dtype=object)[~features.is_nominal][slots]
    first = {later: earlier for earlier, later in pairs[::-1].tolist()}
    return [Trap("copy", names[later], repr(names[first[later]])) for later in sorted(first)]


# -- the target among the features --------------------------------------------------------------------


def _leaks(features: Table, target: Target) -> Iterable[Trap]:
    leaks = leaking_features(features, target)
    for f, t in leaks:
        detail = f"the target {target.names[t]!r}" if len(leaks) == 1 or target.n_targets == 1 else "one of the targets"
        yield Trap("leak", features.names[f], detail)


def _other_targets(names: Sequence[str], target: Target) -> Iterable[Trap]:
    """Features called like the target but for a number, or by a word for targets; not where half of them are.

    Labels have words for names, and features that are words may be called like anything.
    """
    if is_made_up(names):
        return
    stems = {stem for stem in map(_stem, target.names) if "#" in stem and re.search("[a-z]", stem)}
    alike = [n for n in names if _stem(n) in stems or (not target.is_labels and _TARGET_NAME.fullmatch(n))]
    if 2 * len(alike) > len(names):
        return
    for name in alike:
        yield Trap("other target", name, f"the target is {target.names[0]!r}")


def _stem(name: str) -> str:
    return _NUMBER.sub("#", name.lower())


def class_notes(target: Target) -> tuple[str, ...]:
    """Return what to know about classes: the text 'nan' among them, and classes of one labelled example.

    Examples
    --------
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.data.notes import class_notes
    >>> class_notes(target_from(["well"] * 39 + ["ill"])[0])[0][:41]
    "class 'ill' of 'y' has 1 labelled example"
    """
    notes = []
    for i in np.flatnonzero(target.is_nominal).tolist():
        name, levels, codes = target.names[i], target.levels[i] or (), target.values[:, i]
        counts = np.bincount(codes[codes >= 0].astype(np.intp), minlength=len(levels))
        known = dict(zip(levels, counts.tolist(), strict=True))
        if known.get("nan"):
            advice = "for missing values use None with dtype=object"
            notes.append(f"the text 'nan' is a class of {name!r} ({counted(known['nan'], 'example')}): {advice}")
        single = [level for level, count in known.items() if count == 1]
        if single and len(known) <= _MANY and counts.sum() >= _LEAST_EXAMPLES:
            notes.append(
                f"class {single[0]!r} of {name!r} has 1 labelled example: too few to show what sets the class apart; "
                "label more, or leave the class out"
            )
    return tuple(notes)


# -- doubts about the task ------------------------------------------------------------------------------

# More classes than this, and more than one per so many examples or rare ones, are more likely quantities.
_MANY = 10
_EXAMPLES_PER_CLASS = 20
RARE = 5
_MANY_FLOATS = 5
_SEPARATORS = (";", "|")
# Fewer such texts, or a smaller share of all, may be anything.
_LEAST = 3
_LEAST_SHARE = 0.5
_LEAST_NUMBERS = 0.8
_PLAIN = NumberFormat()


def doubts_about(
    table: Table, target: Target, task: str, texts_are_meant: bool = False, integers: bool = True
) -> tuple[str, ...]:
    """Return what speaks against a task that was inferred from undeclared values, one sentence each.

    Whole numbers are in doubt as classes where there are more than 10 of them and either more than one per 20 known
    examples or one that occurs less than 5 times, and those of float type where there are more than 5; so are numbers
    written as text, and an empty text as a class. Whole numbers of float type in several columns are in doubt as
    quantities where there are at most 20 of each and some are missing, since a missing cell is what turns integers into
    floats.

    Parameters
    ----------
    table : Table
        The target as given: numbers are numeric columns.
    target : Target
        The same as a target of the task.
    task : str
        The inferred task.
    texts_are_meant : bool
        Whether texts are classes on purpose: readers of files make numbers of them unless told otherwise.
    integers : bool
        Whether the numbers are of integer type.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.data.table import Table
    >>> from omnirank.data.notes import doubts_about
    >>> prices = np.arange(100, 140.0).reshape(-1, 1)
    >>> target, task = target_from(prices, names=["price"])
    >>> doubts_about(Table.from_numeric(prices, ["price"]), target, task)[0]
    "the whole numbers of 'price' are taken as 40 classes; if they are quantities, say task='regression'"
    """
    kind = task_target(task).kind
    if kind != "classes":
        return ()
    doubts: list[str] = []
    many = [i for i, levels in enumerate(target.levels) if levels is not None and _are_many(target, i, levels)]
    numbers = [
        i
        for i, levels in enumerate(target.levels)
        if table.levels[i] is None and (i in many or (not integers and len(levels or ()) > _MANY_FLOATS))
    ]
    texts = [i for i in many if not texts_are_meant and _are_numbers(_class_texts(target, i))]
    if numbers:
        quantities = setting("task", task_named("numbers", single=table.n_columns == 1))
        doubts.append(f"the whole numbers of {_taken(target, numbers)}; if they are quantities, say {quantities}")
    doubts += _label_sets(table)
    doubts += _numbers_with_more(target)
    if texts:
        taken = _taken(target, texts).replace("are taken", "are numbers written as text, taken")
        doubts.append(f"the values of {taken}; if they are quantities, pd.to_numeric(y, errors='coerce') gives them")
    return tuple(doubts)


def _label_sets(table: Table) -> list[str]:
    """Classes that look like label sets in one column: "p", "q", "p;q"."""
    for name, levels in zip(table.names, table.levels, strict=True):
        if not levels or not all(isinstance(level, str) for level in levels):
            continue
        for separator in _SEPARATORS:
            several = [level for level in levels if separator in level]
            labels = {label.strip() for level in levels for label in level.split(separator)}
            if several and len(labels) < len(levels) and "" not in labels:
                return [
                    f"the classes of {name!r} look like label sets ({several[0]!r}); if they are, give each label a "
                    f"column of 0 and 1 (pandas: frame[{name!r}].str.get_dummies({separator!r})), and none where "
                    f"unlabelled (.where(frame[{name!r}].notna()))"
                ]
    return []


def _numbers_with_more(target: Target) -> list[str]:
    """Classes that look like numbers with a comma or a unit."""
    for i, levels in enumerate(target.levels):
        about = what_numbers_have(_class_texts(target, i))
        if about:
            return [
                f"the values of {target.names[i]!r} are taken as {len(levels or ())} classes, but {about}: write plain "
                "numbers, with a decimal point, if they are quantities"
            ]
    return []


def _are_many(target: Target, i: int, levels: Levels) -> bool:
    if len(levels) <= _MANY:
        return False
    codes = target.values[:, i]
    known = codes[~np.isnan(codes)].astype(np.intp)
    return len(levels) * _EXAMPLES_PER_CLASS > len(known) or any(0 < count < RARE for count in np.bincount(known))


def _class_texts(target: Target, i: int) -> dict[str, int]:
    """How often each class of a variable occurs, where all classes are texts."""
    return text_counts(levels, np.nan_to_num(target.values[:, i], nan=-1)) if (levels := target.levels[i]) else {}


def _are_numbers(counts: Mapping[str, int]) -> bool:
    """Whether texts are (nearly) all numbers that floats hold, and not only a few whole ones, which may be codes."""
    read = {text: _PLAIN.value(text) for text, count in counts.items() if count}
    values = {text: value for text, value in read.items() if value is not None and abs(value) < LARGEST_EXACT}
    if sum(counts[text] for text in values) < max(_LEAST, _LEAST_NUMBERS * sum(counts.values())):
        return False
    return len(values) > _MANY or not all(value.is_integer() for value in values.values())


def _taken(target: Target, columns: Sequence[int]) -> str:
    largest = max(len(target.levels[i] or ()) for i in columns)
    if target.n_targets == 1:
        return f"{target.names[0]!r} are taken as {largest} classes"
    return f"{_named(target.names, columns)} are taken as classes ({largest} of them)"


def _named(names: Sequence[str], columns: Sequence[int]) -> str:
    others = len(columns) - 1
    return repr(names[columns[0]]) + (f" and {others} more target{'s' if others > 1 else ''}" if others else "")


def what_numbers_have(counts: Mapping[str, int]) -> str:
    """Return how many texts look like numbers with what, in words; nothing where it is not the case of half of them.

    Parameters
    ----------
    counts : mapping of str to int
        How often each text occurs in a column.

    Examples
    --------
    >>> from omnirank.data.notes import what_numbers_have
    >>> what_numbers_have({"1,5": 2, "2,0": 1, "3,25": 1})
    "4 of 4 cells look like numbers with a comma ('1,5')"
    >>> what_numbers_have({"1.2 kg": 1, "3 kg": 1, "12 kg": 1, "heavy": 1})
    "3 of 4 cells look like numbers with 'kg' ('1.2 kg')"
    >>> what_numbers_have({"red": 5, "blue": 5, "5th": 1})
    ''
    """
    totals: Counter[str] = Counter()
    first: dict[str, str] = {}
    for text, count in counts.items():
        kind = _kind(text)
        if kind and count:
            totals[kind] += count
            first.setdefault(kind, text)
    n = sum(counts.values())
    kind, count = max(totals.items(), key=lambda item: item[1], default=("", 0))
    if count < max(_LEAST, _LEAST_SHARE * n):
        return ""
    return f"{count} of {n} cells look like numbers with {kind} ({first[kind]!r})"


def _kind(text: str) -> str:
    """What a number has beside it; nothing where the text is no number, or one without more."""
    if not looks_like_number(text):
        return ""
    more = "<" if is_censored(text) else unit_of(text)
    return "a comma" if "," in text else repr(more) if more else ""


def text_counts(levels: Levels, codes: np.ndarray) -> dict[str, int]:
    """Return how often each level that is a text occurs; nothing where a level is none.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.notes import text_counts
    >>> text_counts(("a", "b"), np.array([1, 1, -1, 0]))
    {'a': 1, 'b': 2}
    """
    if not all(isinstance(level, str) for level in levels):
        return {}
    counts = np.bincount(codes[codes >= 0].astype(np.intp), minlength=len(levels))
    return dict(zip(map(str, levels), counts.tolist(), strict=True))
