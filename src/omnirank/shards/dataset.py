"""A data set in parts, which need not fit in memory: opened, and read block by block."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, ParameterError, logger, setting
from omnirank.core.immutable import PickledWithoutCaches
from omnirank.core.seeds import stream
from omnirank.core.text import counted
from omnirank.core.types import PathLike
from omnirank.data.column_choice import ColumnChoice
from omnirank.data.dataset import Dataset, common_facts
from omnirank.data.estimator_input import recoded_like
from omnirank.data.files import Content, plain_name
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.infer import read_target
from omnirank.data.notes import RARE, Remarks
from omnirank.data.parquet import INDEX_NOTE
from omnirank.data.roles import Roles, assign_roles, dataset_from
from omnirank.data.table import Levels, Table, chosen_numbers, codes_of
from omnirank.data.target import Target
from omnirank.data.task_registry import task_target
from omnirank.shards.samples import OF_ALL, more_memory, row_bytes
from omnirank.shards.source import Columns, ShardSource, index_columns, noted_facts
from omnirank.shards.summary import Summary, summary_of

_KINDS = {"number": "numeric", "nothing": "numeric", "date": "date"}
# Whole numbers are in doubt as classes where there is more than one per so many examples, or a rare one.
_MANY = 20
# Number of the random stream by which a sample is drawn.
_SAMPLE = 4


class ShardedDataset(PickledWithoutCaches):
    """Examples in parts (Parquet files), read block by block; :func:`omnirank.open_shards` makes it.

    Types, levels, target and task are those that the same rows would have in memory.

    Parameters
    ----------
    source : ShardSource
        The parts.
    like : Dataset
        Some rows in memory, with the features, levels, target and task of all.
    summary : Summary
        What a pass over all rows found.
    scratch
        As in :func:`omnirank.open_shards`.

    Attributes
    ----------
    source : ShardSource
        The parts.
    scratch
        As given.
    name, task, hierarchy, notes
        As of a `Dataset`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> import omnirank as om
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for i in range(3):
    ...         frame = pd.DataFrame({"size": [i, i + 0.5], "kind": ["a", "b"]})
    ...         frame.to_parquet(pathlib.Path(folder, f"{i}.parquet"))
    ...     data = om.open_shards(folder, target="kind", name="plants")
    ...     print(data, data.take([5, 0]).X.ravel().tolist())
    <ShardedDataset 'plants': 6 examples in 3 shards, 1 feature, classification, 1 target> [2.5, 0.0]
    """

    def __init__(self, source: ShardSource, like: Dataset, summary: Summary, scratch: PathLike | None = None) -> None:
        self.source = source
        self.scratch = scratch
        self.name = like.name
        self.task = like.task
        self.hierarchy: Hierarchy | None = like.hierarchy
        self.n_shards, self.n_features, self.n_targets = len(source.parts), like.n_features, like.n_targets
        self.feature_names, self.target_names = like.feature_names, like.target_names
        self.feature_levels: tuple[Levels | None, ...] = like.features.levels
        self._like = like
        self._summary = summary

    @property
    def n_examples(self) -> int:
        """Number of examples."""
        return self.source.n_rows

    @property
    def n_labelled(self) -> int:
        """Number of examples with a known target value."""
        return self._summary.n_labelled if self.n_targets else 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know about how the data were taken."""
        return self._like._remarks.of_reader

    @property
    def summary(self) -> pd.DataFrame:
        """What is known of each feature and target: type, share of missing cells, range, mean, variance, levels."""
        rows = []
        for name in (*self.feature_names, *self.target_names):
            column, nominal = self._summary.columns[name], self.source.columns.is_nominal(name)
            missing = 1 - column.n_known / self.n_examples if self.n_examples else np.nan
            numbers = (column.low, column.high, column.mean, column.variance)
            numbers = numbers if not nominal and column.n_known else (np.nan,) * 4
            n_levels = len(self._summary.levels(name, self.source.columns) or ())
            rows.append((name, "nominal" if nominal else "numeric", missing, *numbers, n_levels))
        heads = ["column", "type", "missing", "low", "high", "mean", "variance", "n_levels"]
        return pd.DataFrame(rows, columns=heads).set_index("column")

    @property
    def example(self) -> Dataset:
        """Made-up rows with the features, levels, target and task of all: for methods that ask what the data are."""
        return self._like

    def blocks(self) -> Iterator[Dataset]:
        """Yield all examples in order, as data sets that are small enough for the memory allowed."""
        for table in self.tables():
            yield self.dataset_of(table)

    def tables(self, parts: Sequence[int] | None = None) -> Iterator[Table]:
        """Yield the cells of all examples in order: features, then targets, with the levels of all.

        Parameters
        ----------
        parts : sequence of int, optional
            Numbers of the parts that are read, by default all of them.
        """
        for table in self.source.blocks(self._names, parts):
            yield self._recoded(table)

    def targets(self) -> Iterator[Target]:
        """Yield the target of all examples in order, block by block; no feature is read."""
        columns = self._columns.select(np.arange(self.n_features, len(self._names)))
        for table in self.source.blocks(self.target_names):
            yield self._target(recoded_like(table, columns))

    def take(self, rows: Any) -> Dataset:
        """Return some examples (slice, mask or numbers) as a data set in memory, in the order asked for."""
        return self.dataset_of(self.table_of(chosen_numbers(rows, self.n_examples)))

    @cached_property
    def labelled(self) -> np.ndarray:
        """Which examples have a known target value; only targets are read."""
        if not self.n_targets:
            return np.zeros(self.n_examples, bool)
        return np.concatenate([target.labelled for target in self.targets()])

    def sample(self, entropy: int, without: Sequence[int] | np.ndarray = ()) -> Dataset:
        """Return all examples where they fit in memory, else as many as do, drawn at random, in their order.

        If there are enough of them, at least half of these are labelled.

        Parameters
        ----------
        entropy : int
            Root of the random streams.
        without : sequence of int
            Numbers of examples that are left out.
        """
        rows = np.setdiff1d(np.arange(self.n_examples), without)
        if self.fits_in_memory:
            return self.read().take(rows) if len(without) else self.read()
        most = max(2, self.source.max_memory * self.n_examples // self.n_bytes_of_fit)
        known = self.labelled[rows]
        n_known = int(known.sum())
        n_labelled = min(n_known, max(round(most * n_known / len(rows)), most // 2, most - len(rows) + n_known))
        logger.info("%r does not fit in memory: %d of its examples are used, drawn at random", self.name, most)
        rng = stream(entropy, _SAMPLE)
        drawn = [
            rng.choice(own, min(len(own), n), replace=False)
            for own, n in ((rows[known], n_labelled), (rows[~known], most - n_labelled))
        ]
        return self.take(np.sort(np.concatenate(drawn)))

    def select_features(self, features: Sequence[int | str] | np.ndarray) -> ShardedDataset:
        """Return the same examples with some features only, as `Dataset.select_features` does; no other is read."""
        return ShardedDataset(self.source, self._like.select_features(features), self._summary, self.scratch)

    def table_of(self, numbers: np.ndarray) -> Table:
        """Return the cells of some examples, as `tables` does, in the order asked for."""
        blocks = list(self.source.rows(numbers, self._names))
        if not blocks:
            raise DataError("no examples were asked for")
        places = np.concatenate([place for place, _ in blocks])
        joined = Table.joined([self._recoded(table) for _, table in blocks])
        back = np.empty(len(places), np.intp)
        back[places] = np.arange(len(places))
        return joined.take(back)

    @property
    def n_bytes(self) -> int:
        """What all examples take in memory while they are put together, about."""
        nominal = sum(self.source.columns.is_nominal(name) for name in self._names)
        cell = np.dtype(self._like.features.dtype).itemsize
        return 2 * self.n_examples * (4 * nominal + cell * (len(self._names) - nominal))

    @property
    def n_bytes_of_fit(self) -> int:
        """What all examples take in memory while trees grow on them, about; more than to read them."""
        clusters_features = self.n_labelled < self.n_examples
        return max(self.n_bytes, self.n_examples * row_bytes(self._like, clusters_features, OF_ALL))

    def in_memory(self) -> Dataset:
        """Return all examples as one data set, unless a fit takes more than ``max_memory``, which is an error."""
        if not self.fits_in_memory:
            raise DataError(self.why_not_in_memory)
        return self.read()

    @property
    def why_not_in_memory(self) -> str:
        """What to say where the examples do not fit in memory."""
        allowed = setting("max_memory", self.source.max_memory)
        return (
            f"{self.name!r} takes {self.n_bytes_of_fit / 2**20:.3g} MB in memory, more than {allowed}: {more_memory()}"
        )

    @property
    def fits_in_memory(self) -> bool:
        """Whether all examples, and what a fit makes of them, take at most ``max_memory``."""
        return self.n_bytes_of_fit <= self.source.max_memory

    @property
    def constant(self) -> tuple[str, ...]:
        """Names of the features with one known value or none."""
        return tuple(name for name in self.feature_names if self._summary.columns[name].n_values < 2)

    @property
    def fingerprint(self) -> str:
        """Hash of the files and of which of their columns are what."""
        text = repr([self.source.fingerprint, self.task, self.feature_names, self.target_names])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def describe(self) -> dict[str, Any]:
        """Return the facts about the data as `Dataset.describe` does, as far as they are known; no row is read.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import pandas as pd
        >>> import omnirank as om
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pd.DataFrame({"size": [1.5, None], "kind": ["a", "b"]}).to_parquet(pathlib.Path(folder, "0.parquet"))
        ...     facts = om.open_shards(folder, target="kind").describe()
        >>> facts["missing cells"], facts["classes"], facts["fits in memory"]
        (1, {'a': 1, 'b': 1}, True)
        """
        columns = self._summary.columns
        n_missing = sum(self.n_examples - columns[name].n_known for name in self.feature_names)
        facts = common_facts(self, self._like.features.is_nominal, self.n_labelled, n_missing)
        facts["shards"] = self.n_shards
        target = self._like.target
        if target is not None and task_target(self.task).is_one_class:
            counts = columns[self.target_names[0]].counts
            facts["classes"] = {str(level): counts.get(level, 0) for level in target.levels[0] or ()}
        if self.hierarchy is not None:
            facts |= self.hierarchy.describe()
        elif target is not None and target.is_labels and not any(columns[name].levels for name in self.target_names):
            own = [columns[name] for name in self.target_names]
            n_labels = sum(column.mean * column.n_known for column in own if column.n_known)
            facts["label cardinality"] = n_labels / max(1, self.n_labelled)
        memory = {"bytes in memory": self.n_bytes_of_fit, "bytes allowed": self.source.max_memory}
        return facts | memory | {"fits in memory": self.fits_in_memory}

    def read(self) -> Dataset:
        """Return all examples as one data set in memory."""
        if not self.n_examples:
            raise DataError("there are no examples in the shards")
        return self.dataset_of(Table.joined(list(self.tables())))

    @property
    def _names(self) -> tuple[str, ...]:
        return (*self.feature_names, *self.target_names)

    def _recoded(self, table: Table) -> Table:
        return recoded_like(table, self._columns)

    @cached_property
    def _columns(self) -> Table:
        """All columns with their levels, without cells."""
        levels = [self._summary.levels(name, self.source.columns) for name in self._names]
        empty = [np.empty(0, self._like.features.dtype if own is None else np.int32) for own in levels]
        return Table.from_columns(self._names, empty, levels)

    def dataset_of(self, table: Table) -> Dataset:
        """Return cells that `tables` or `table_of` returned as a data set."""
        n = self.n_features
        features, target = table.select(np.arange(n)), None
        features = replace(features, dates=self._like.features.dates)
        if self._like.target is not None:
            target = self._target(table.select(np.arange(n, table.n_columns)))
        remarks = Remarks(self.notes, self._like._remarks.doubts)
        return Dataset._of_checked(features, target, self.task, self.hierarchy, self.name, remarks)

    def _target(self, columns: Table) -> Target:
        target = read_target(columns, self.task, self.hierarchy, integers=True).target
        assert target is not None
        assert self._like.target is not None
        return target_like(target, self._like.target)

    def __len__(self) -> int:
        return self.n_examples

    def __repr__(self) -> str:
        target = f", {counted(self.n_targets, 'target')}" if self.n_targets else ""
        size = f"{counted(self.n_examples, 'example')} in {counted(self.n_shards, 'shard')}"
        return f"<ShardedDataset {self.name!r}: {size}, {counted(self.n_features, 'feature')}, {self.task}{target}>"


def target_like(target: Target, wanted: Target) -> Target:
    """Return the target of some rows in the codes of all."""
    if target.levels == wanted.levels:
        return target
    values = np.array(target.values)
    for v, (own, all_levels) in enumerate(zip(target.levels, wanted.levels, strict=True)):
        if own == all_levels or own is None or all_levels is None:
            continue
        code = {level: i for i, level in enumerate(all_levels)}
        known = ~np.isnan(values[:, v])
        values[known, v] = np.array([code[level] for level in own] or [0])[values[known, v].astype(np.intp)]
    return replace(target, levels=wanted.levels, values=values)


def check_given(estimator: Any, data: ShardedDataset, y: Any, sample_weight: Any) -> None:
    """Refuse what is not possible with data that do not fit in memory, or what the shards say themselves.

    Parameters
    ----------
    estimator : ranker or predictor
        Whose ``fit`` was called.
    data : ShardedDataset
        The data.
    y, sample_weight
        As given to ``fit``.
    """
    if y is not None:
        raise ParameterError("the shards hold their target: y must not be given as well")
    if getattr(estimator, "hierarchy", None) is not None:
        raise ParameterError("the shards hold their hierarchy: hierarchy must not be given as well")
    if sample_weight is not None:
        advice = "draw examples in proportion to their weights and take them (data.take)"
        raise ParameterError(f"sample_weight is for data in memory: {advice}")
    if estimator.task not in ("auto", data.task):
        advice = "open them with this task"
        raise ParameterError("task", estimator.task, f"the shards are opened for {data.task!r}: {advice}")


def open_shards(
    source: Any,
    target: ColumnChoice | None = None,
    *,
    features: ColumnChoice | None = None,
    key: ColumnChoice | None = None,
    ignore: ColumnChoice | None = None,
    nominal: ColumnChoice | None = None,
    task: str = "auto",
    max_memory: int | str | None = None,
    scratch: PathLike | None = None,
    name: str | None = None,
) -> ShardedDataset:
    """Open data that need not fit in memory: Parquet files.

    All parts are looked at before any work: those whose columns or types differ are named in the error. One pass over
    the rows then finds levels, ranges, means, variances and missing cells, which are kept beside the files (in the
    folder ``.omnirank``) for the next time; when a file changes, they are found anew.

    Parameters
    ----------
    source : str, Path or sequence of them
        A folder (all Parquet files below it), a pattern such as ``"parts/*.parquet"``, or files. ``omnirank convert``
        makes a folder of Parquet files of a CSV file of any size.
    target, features, key, ignore, nominal
        Which columns are what, as in :func:`omnirank.load`.
    task : str
        The task, or "auto" to infer it; "clustering" sets the target aside.
    max_memory : int, str or None
        What rows may take in memory, with all that a fit by two workers makes of them: bytes, or a text such as
        ``"500M"``; None: an eighth of the machine's memory. It decides whether all rows are read, and otherwise on how
        many of them a tree is grown: for the same result on another machine, give the same amount.
    scratch : str or Path, optional
        Folder for rows that are dealt out to samples while trees are grown, which takes no more room than the rows; by
        default where the system has temporary files. They are removed when the run ends.
    name : str, optional
        Name of the data set; by default that of the folder or file.

    Returns
    -------
    ShardedDataset
        With the types, levels, target and task that the same rows would have in memory.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> import omnirank as om
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for i in range(3):
    ...         frame = pd.DataFrame({"size": [i, i + 0.5], "kind": ["a", None]})
    ...         frame.to_parquet(pathlib.Path(folder, f"{i}.parquet"))
    ...     data = om.open_shards(folder, target="kind")
    ...     print(data.summary.loc["size", ["low", "high", "mean"]].tolist())
    ...     print([block.n_examples for block in data.blocks()])
    [0.0, 2.5, 1.25]
    [2, 2, 2]
    """
    parts = ShardSource(source, nominal, max_memory)
    content, roles = _roles(parts, target=target, features=features, key=key, ignore=ignore)
    used = [content.names[i] for i in (*roles.features, *roles.target)]
    targets = [content.names[i] for i in roles.target]
    summary = summary_of(parts, used, targets)
    content = replace(
        content,
        names=tuple(used),
        kinds=tuple(content.kind(column) for column in used),
        table=example_rows(parts.columns, summary, used, targets),
    )
    n = len(roles.features)
    roles = replace(roles, features=tuple(range(n)), target=tuple(range(n, len(used))))
    like = dataset_from(content, roles, task=task, name=name or _name_of(source))
    return ShardedDataset(parts, like, summary, scratch)


def _roles(parts: ShardSource, **choices: ColumnChoice | None) -> tuple[Content, Roles]:
    columns = parts.columns
    facts = noted_facts(parts.parts[0], columns.names)[0]
    kinds = [
        "nominal" if columns.is_nominal(name) else _KINDS[kind]
        for name, kind in zip(columns.names, columns.kinds, strict=True)
    ]
    content = Content(
        path=Path(parts.parts[0].name),
        names=columns.names,
        kinds=tuple(kinds),
        table=Table.from_numeric(np.empty((0, 0))),
        declared=False,
        integers=columns.integers,
        notes=(INDEX_NOTE,) if any(index_columns(part) for part in parts.parts) else (),
        **facts,
    )
    return content, assign_roles(content, choices)


def _name_of(source: Any) -> str:
    if isinstance(source, str | Path):
        path = Path(source)
        return path.name if path.is_dir() else plain_name(path)
    return "data"


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
    rows = []
    for name, own in zip(names, levels, strict=True):
        if name in values:
            cells = values[name][np.minimum(np.arange(n_rows), len(values[name]) - 1)]
        else:
            cells = np.full(n_rows, -1.0 if own == () else 0.0)
        rows.append(cells.astype(number) if own is None else codes_of(cells))
    numbers = (name for name, own in zip(names, levels, strict=True) if own is None)
    dates = frozenset(name for name in numbers if columns.kinds[columns.names.index(name)] == "date")
    return replace(Table.from_columns(names, rows, levels), dates=dates)


def _target_values(columns: Columns, summary: Summary, name: str) -> np.ndarray:
    column, levels = summary.columns[name], summary.levels(name, columns)
    if levels is None:
        counts = column.values or {}
        values = np.array(sorted(counts), np.float64)
        often = list(counts.values())
    else:
        values = np.arange(len(levels), dtype=np.float64)
        often = [column.levels.get(level, [0])[0] for level in levels]
    few = len(values) * _MANY <= column.n_known and min(often, default=0) >= RARE
    if few:
        values = np.tile(values, _MANY + 1)
    return values if column.n_known == summary.n_rows else np.append(values, np.nan)
