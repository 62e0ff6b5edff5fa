"""What one pass over the rows tells of each column: range, mean, variance, levels and missing cells."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from omnirank.core.errors import DataError, OmnirankError, logger, setting
from omnirank.core.files import replacing
from omnirank.core.parallel import blocks, run_parallel
from omnirank.data.columns import number_levels
from omnirank.data.table import LARGEST_EXACT, Levels, Table
from omnirank.shards.source import Columns, ShardSource, Stretch

# More different whole numbers than this are no classes that anyone meant.
_MOST_CLASSES = 10**6
# Rows that a worker looks at, where a part has them, and rows that it reads at once; so many workers share the memory.
_STRETCH_ROWS = 2**18
_BATCH_ROWS = 2**16
_AT_ONCE = 8
# Of the files in which summaries are kept.
_VERSION = 1
# Folder beside the files in which things are kept.
KEPT_FOLDER = ".omnirank"


@dataclass
class ColumnSummary:
    """What is known of one column.

    Attributes
    ----------
    n_known : int
        Number of cells that are not missing.
    origin, offset, deviations : float
        The first known number, how far the mean of all is from it (so that nothing is lost where the numbers are large
        against their spread), and the sum of their squared deviations from the mean.
    low, high : float
        Smallest and largest known number.
    levels : dict
        Nominal: how often each level occurs, and the number of the first part that has it.
    values : dict or None
        Numbers of a target: how often each occurs, as long as they may be classes; else one that cannot be.
    has_fractions : bool
        Whether one was found that cannot be a class: no whole number, or a float that stands for several.
    """

    n_known: int = 0
    origin: float = 0.0
    offset: float = 0.0
    deviations: float = 0.0
    low: float = np.inf
    high: float = -np.inf
    levels: dict[Any, list[int]] = field(default_factory=dict)
    values: dict[float, int] | None = None
    has_fractions: bool = False

    @property
    def mean(self) -> float:
        """Mean of the known numbers; NaN without any."""
        return self.origin + self.offset if self.n_known else float("nan")

    @property
    def variance(self) -> float:
        """Biased variance of the known numbers; NaN without any."""
        return self.deviations / self.n_known if self.n_known else float("nan")

    @property
    def n_values(self) -> int:
        """Number of different known values, as far as 2."""
        if self.levels:
            return min(2, sum(count > 0 for count, _ in self.levels.values()))
        return 0 if not self.n_known else 1 if self.low == self.high else 2

    @property
    def counts(self) -> Mapping[Any, int]:
        """How often each level occurs, or each number of a target of classes."""
        return {level: count for level, (count, _) in self.levels.items()} if self.levels else self.values or {}

    def add_numbers(self, cells: np.ndarray, name: str) -> None:
        """Take further cells of a numeric column into account (NaN is missing)."""
        known = cells[~np.isnan(cells)].astype(np.float64, copy=False)
        if not len(known):
            return
        column = ColumnSummary(len(known), float(known[0]), low=float(known.min()), high=float(known.max()))
        with np.errstate(over="ignore", invalid="ignore"):
            from_first = known - column.origin
            column.offset = float(from_first.mean())
            column.deviations = float(((from_first - column.offset) ** 2).sum())
        if self.values is not None and not self.has_fractions:
            values, counts = np.unique(known, return_counts=True)
            no_class = values[(values != np.round(values)) | (np.abs(values) > LARGEST_EXACT)]
            column.has_fractions = len(no_class) > 0  # they are numbers, whatever the others are
            pairs = zip(values.tolist(), counts.tolist(), strict=True)
            column.values = {float(no_class[0]): 1} if column.has_fractions else dict(pairs)
        self.merge(column, name)

    def merge(self, other: ColumnSummary, name: str) -> None:
        """Take what is known of further rows of the column into account."""
        if other.n_known and not other.levels:
            if not self.n_known:
                self.origin = other.origin
            with np.errstate(over="ignore", invalid="ignore"):
                total = self.n_known + other.n_known
                apart = other.origin - self.origin + other.offset - self.offset
                self.deviations += other.deviations + apart * apart * self.n_known * other.n_known / total
            self.offset += apart * other.n_known / total
            self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.n_known += other.n_known
        for level, (count, part) in other.levels.items():
            self.levels.setdefault(level, [0, part])[0] += count
        if self.values is None or other.values is None or self.has_fractions:
            return
        if other.has_fractions:
            self.has_fractions, self.values = True, dict(other.values)
            return
        for value, count in other.values.items():
            self.values[value] = self.values.get(value, 0) + count
        if len(self.values) > _MOST_CLASSES:
            raise DataError(
                f"the target {name!r} has more than {_MOST_CLASSES} different whole numbers: if they are quantities, "
                f"say {setting('task', 'regression')}"
            )

    def add_levels(self, codes: np.ndarray, levels: Levels, part: int) -> None:
        """Take further cells of a nominal column into account (code -1 is missing)."""
        counts = np.bincount(codes[codes >= 0], minlength=len(levels))
        self.n_known += int(counts.sum())
        for level, count in zip(levels, counts.tolist(), strict=True):
            self.levels.setdefault(level, [0, part])[0] += count


@dataclass(frozen=True)
class Summary:
    """The columns of all parts as one pass over them found them.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    n_labelled : int
        Number of rows with a known value of a target.
    columns : dict
        What is known of each column, by name.
    """

    n_rows: int
    n_labelled: int
    columns: dict[str, ColumnSummary]

    def levels(self, name: str, columns: Columns) -> Levels | None:
        """Return the levels of a column in the order that they have in memory; None for numbers.

        Texts and numbers are sorted, booleans are False and True, categories are in the order of the files.
        """
        if not columns.is_nominal(name):
            return None
        levels = self.columns[name].levels
        kind = columns.kinds[columns.names.index(name)]
        if name in columns.levels:
            return tuple(columns.levels[name])
        if kind == "boolean":
            return (False, True)
        if kind in ("text", "date"):
            return tuple(sorted(levels))
        if name in columns.nominal:
            return number_levels(np.array(sorted(levels), np.float64))
        return tuple(levels)


def summarize(source: ShardSource, names: Sequence[str], targets: Iterable[str] = ()) -> Summary:
    """Return the summary of some columns after one pass over all parts.

    Where reading all columns together would take more than half of the memory, some are read at a time.

    Parameters
    ----------
    source : ShardSource
        The parts.
    names : sequence of str
        The columns.
    targets : iterable of str
        Columns of which the different numbers are counted, to tell the task by.
    """
    counted = tuple(targets)
    n_rows = int(np.clip(source.block_rows(names) // _AT_ONCE, 1, _BATCH_ROWS))
    work = partial(summarize_stretch, source, counted, n_rows)
    columns = {name: ColumnSummary(values={} if name in counted else None) for name in names}
    n_labelled = 0
    # by stretches whatever the workers, and in their order: so the sums are always the same
    tasks = list(product(_at_a_time(source, names, counted), source.stretches(_STRETCH_ROWS)))
    for part in run_parallel(work, tasks, description="reading shards"):
        n_labelled += part.n_labelled
        for name, column in part.columns.items():
            columns[name].merge(column, name)
    return Summary(source.n_rows, n_labelled, columns)


def _at_a_time(source: ShardSource, names: Sequence[str], targets: Sequence[str]) -> list[tuple[str, ...]]:
    """The columns that are read together: the targets, which tell what is labelled, and others, as there is room."""
    at_once = source.columns_at_once
    if at_once >= len(names):
        return [tuple(names)]
    others = [name for name in names if name not in targets]
    together = [tuple(others[i] for i in some) for some in blocks(len(others), -(-len(others) // at_once))]
    return [tuple(name for name in names if name in targets), *together] if targets else together


def summarize_stretch(
    source: ShardSource, targets: Sequence[str], n_rows: int, given: tuple[Sequence[str], Stretch]
) -> Summary:
    """Return the summary of some columns and rows of a part; batches have at most so many rows."""
    names, stretch = given
    counted = [name for name in targets if name in names]
    summaries = {name: ColumnSummary(values={} if name in counted else None) for name in names}
    n_labelled = 0
    for batch in source.batches_of(stretch, names, n_rows):
        table = source.columns.table(batch.cells, source.parts[batch.part])
        for i, (name, levels) in enumerate(zip(table.names, table.levels, strict=True)):
            if levels is not None:
                summaries[name].add_levels(table.column(i), levels, batch.part)
            elif not source.columns.is_nominal(name):
                summaries[name].add_numbers(table.column(i), name)
        n_labelled += int(known_rows(table, [table.index(name) for name in counted]).sum())
    return Summary(stretch.n_rows, n_labelled, summaries)


def known_rows(table: Table, columns: Iterable[int]) -> np.ndarray:
    """Return which rows of a table have a known cell in one of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.table import Table
    >>> from omnirank.shards.summary import known_rows
    >>> known_rows(Table.from_numeric(np.array([[1.0, np.nan], [np.nan, np.nan]])), [0, 1]).tolist()
    [True, False]
    """
    known = np.zeros(table.n_rows, bool)
    for i in columns:
        cells = table.column(i)
        known |= ~np.isnan(cells) if table.levels[i] is None else cells >= 0
    return known


def summary_of(source: ShardSource, names: Sequence[str], targets: Sequence[str]) -> Summary:
    """Return the summary of some columns: the one that is kept beside the data, else of a pass over them.

    A pass is kept in the folder ``.omnirank`` beside the files, where they may be written to. What is kept counts for
    files of the same names, sizes, times and types only; a file that cannot be read is not believed but made anew.

    Parameters
    ----------
    source, names, targets
        As in `omnirank.shards.summary.summarize`.
    """
    path = _path(source, names, targets)
    if path is not None and path.exists():
        try:
            return _read(path, source, names)
        except (OSError, ValueError, TypeError, LookupError) as problem:
            logger.info("%s is made anew: %s", path, problem)
    summary = summarize(source, names, targets)
    for part in source.parts:
        part.check()
    if path is not None:
        _write(summary, path)
    return summary


def _path(source: ShardSource, names: Sequence[str], targets: Sequence[str]) -> Path | None:
    if source.folder is None:
        return None
    text = json.dumps([_VERSION, source.fingerprint, list(names), list(targets)])
    return source.folder / KEPT_FOLDER / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"


def _write(summary: Summary, path: Path) -> None:
    columns = {name: [_pairs(value) for value in vars(own).values()] for name, own in summary.columns.items()}
    try:
        path.parent.mkdir(exist_ok=True)
        with replacing(path) as file:
            file.write(json.dumps([summary.n_labelled, columns]).encode())
    except (OmnirankError, OSError, TypeError) as problem:  # a folder that may only be read, levels JSON does not hold
        logger.info("what was found is not kept: %s", problem)


def _pairs(value: Any) -> Any:
    return list(value.items()) if isinstance(value, dict) else value


def _read(path: Path, source: ShardSource, names: Sequence[str]) -> Summary:
    n_labelled, columns = json.loads(path.read_bytes())
    summaries = {}
    for name in names:
        values: list[Any] = [dict(value) if isinstance(value, list) else value for value in columns[name]]
        summaries[name] = ColumnSummary(**dict(zip(vars(ColumnSummary()), values, strict=True)))
    return Summary(source.n_rows, n_labelled, summaries)
