"""The parts (shards) of a large table: Parquet files, fragments of a pyarrow dataset."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from omnirank.core.errors import DataError, DataTypeError, FileFormatError
from omnirank.core.text import files_like
from omnirank.data.files import unreadable
from omnirank.data.parquet import import_pyarrow

_ENDINGS = (".parquet", ".pq")
_TEXT = (".csv", ".tsv", ".tab", ".gz")
_MOST_SHOWN = 200
_BUFFER_BYTES = 2**18


class Facts(NamedTuple):
    """What is known of a part before its rows are read.

    Attributes
    ----------
    schema : pyarrow.Schema
        Names and types of the columns.
    group_rows : tuple of int
        Numbers of rows of the groups that can be read apart from each other.
    column_bytes : int or None
        Bytes of a column of the largest group, on average; None where that is not known.
    """

    schema: Any
    group_rows: tuple[int, ...]
    column_bytes: int | None = None


class Part(ABC):
    """One part of a table: its name, its columns, and its rows in batches."""

    name: str
    # What changes when the part does, for JSON; None where nothing tells.
    state: list[Any] | None = None

    @cached_property
    def facts(self) -> Facts:
        """What is known of the part before its rows are read."""
        try:
            return self._facts()
        except Exception as problem:
            raise self._unreadable(problem) from None

    @property
    def schema(self) -> Any:
        """Names and types of the columns, as pyarrow has them."""
        return self.facts.schema

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self.facts.group_rows)

    @abstractmethod
    def _facts(self) -> Facts:
        """Return what is known of the part; whatever goes wrong becomes an error that names it."""

    @abstractmethod
    def _batches(
        self, columns: Sequence[str], n_rows: int, groups: Sequence[int] | None, threads: bool
    ) -> Iterator[Any]:
        """Yield the rows of groups in order, as record batches of pyarrow of at most that many; None: of all."""

    def check(self) -> None:
        """Raise a DataError where the part is no longer what it was."""
        return

    def batches(
        self, columns: Sequence[str], n_rows: int, groups: Sequence[int] | None = None, threads: bool = True
    ) -> Iterator[Any]:
        """Yield the rows in order, as record batches; a problem with the part is an error that names it.

        Parameters
        ----------
        columns : sequence of str
            Which columns, and in which order.
        n_rows : int
            Most rows of a batch.
        groups : sequence of int, optional
            Numbers of the groups of rows that are read, by default all of them.
        threads : bool
            Whether pyarrow may use threads of its own. They are as many as there are cores, and each keeps memory.
        """
        self.check()
        read = self._batches(columns, n_rows, groups, threads)
        while True:
            try:
                batch = next(read, None)
                if batch is None:
                    return
                batch.validate(full=True)
            except DataError:
                raise
            except Exception as problem:  # damaged files meet pyarrow with many kinds of errors
                self.check()
                raise self._unreadable(problem) from None
            yield batch

    def _unreadable(self, problem: Exception) -> DataError:
        what = f"{type(problem).__name__}: {problem}".split("\n")[0][:_MOST_SHOWN]
        return DataError(f"shard {self.name}: it cannot be read ({what})")


class ParquetFile(Part):
    """A Parquet file; its state is its size and the time of its last change."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)
        self.state = self._stat()

    def _stat(self) -> list[Any]:
        try:
            stat = self.path.stat()
        except FileNotFoundError:
            raise DataError(f"there is no file {self.name!r}{files_like(self.path)}") from None
        return [stat.st_size, stat.st_mtime_ns]

    def _facts(self) -> Facts:
        _, parquet = import_pyarrow()
        with parquet.ParquetFile(self.path) as file:
            groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
            n_bytes = max((group.total_byte_size for group in groups), default=0)
            n_rows = tuple(group.num_rows for group in groups)
            return Facts(file.schema_arrow, n_rows, n_bytes // max(file.metadata.num_columns, 1))

    def check(self) -> None:
        """Raise a DataError where the file has changed since it was opened."""
        if self._stat() != self.state:
            raise DataError(f"shard {self.name} has changed since it was opened: open the shards again")

    def _batches(
        self, columns: Sequence[str], n_rows: int, groups: Sequence[int] | None, threads: bool
    ) -> Iterator[Any]:
        _, parquet = import_pyarrow()
        # pages through small buffers: else whole column chunks of a row group, all of a file at worst, come into memory
        small = {"pre_buffer": False, "buffer_size": _BUFFER_BYTES}
        with parquet.ParquetFile(self.path, page_checksum_verification=True, **small) as file:
            chosen = None if groups is None else list(groups)
            options = {"batch_size": n_rows, "columns": list(columns), "use_threads": threads}
            for batch in file.iter_batches(row_groups=chosen, **options):
                yield batch.select(list(columns))

    def _unreadable(self, problem: Exception) -> DataError:
        if self.path.suffix.lower() in _TEXT:
            advice = f"omnirank convert {self.name} FOLDER turns a CSV file into a folder of them"
            return FileFormatError(f"parts of a table are Parquet files: {advice}", path=self.path)
        return unreadable(problem, "a Parquet file", self.path)


class Fragment(Part):
    """A fragment of a pyarrow dataset, with the columns that its place in the dataset stands for."""

    def __init__(self, fragment: Any, schema: Any, number: int) -> None:
        self._fragment, self._schema, self._number = fragment, schema, number
        self.name = str(getattr(fragment, "path", "")) or f"fragment {number}"

    def __reduce__(self) -> Any:
        """Rows that are in memory travel to worker processes: fragments of them cannot be pickled, but tables can."""
        if getattr(self._fragment, "path", None) is not None:
            return type(self), (self._fragment, self._schema, self._number)
        return _fragment_of_rows, (self._fragment.to_table(schema=self._schema), self._schema, self._number)

    def _facts(self) -> Facts:
        return Facts(self._schema, (int(self._fragment.count_rows()),))

    def _batches(
        self, columns: Sequence[str], n_rows: int, groups: Sequence[int] | None, threads: bool
    ) -> Iterator[Any]:
        options = {"schema": self._schema, "columns": list(columns), "batch_size": n_rows, "use_threads": threads}
        yield from self._fragment.to_batches(**options)


def _fragment_of_rows(rows: Any, schema: Any, number: int) -> Fragment:
    """A fragment of rows in memory."""
    from pyarrow.dataset import InMemoryDataset

    (fragment,) = InMemoryDataset(rows.combine_chunks()).get_fragments()
    return Fragment(fragment, schema, number)


def release_unused() -> None:
    """Give memory that pyarrow holds for reading on back to the system."""
    pyarrow, _ = import_pyarrow()
    pyarrow.default_memory_pool().release_unused()


def parts_of(source: Any) -> list[Part]:
    """Return the parts of what a user names, in the order of their names.

    Parameters
    ----------
    source : str, Path, sequence of them, or pyarrow dataset
        A folder (all Parquet files below it, except those whose name, or that of a folder, starts with "." or "_"), a
        pattern such as ``"parts/*.parquet"``, files, or a ``pyarrow.dataset.Dataset``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from omnirank.shards.parts import parts_of
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in "ba":
    ...         pd.DataFrame({"size": [1.5]}).to_parquet(pathlib.Path(folder, f"{name}.parquet"))
    ...     [pathlib.Path(part.name).name for part in parts_of(folder)]
    ['a.parquet', 'b.parquet']
    """
    import_pyarrow()
    if isinstance(source, str | Path):
        return [ParquetFile(path) for path in _files(source)]
    if hasattr(source, "get_fragments"):
        return [Fragment(fragment, source.schema, i) for i, fragment in enumerate(source.get_fragments())]
    if isinstance(source, list | tuple) and source and all(isinstance(entry, str | Path) for entry in source):
        return [ParquetFile(Path(entry)) for entry in source]
    raise DataTypeError(
        f"shards are a folder, a pattern or a list of Parquet files, or a pyarrow dataset, not {type(source).__name__}"
    )


def _files(source: str | Path) -> list[Path]:
    path = Path(source)
    if path.is_dir():
        found = [file for file in path.rglob("*") if file.suffix.lower() in _ENDINGS and not _is_hidden(file, path)]
        if not found:
            raise DataError(
                f"there is no Parquet file in the folder {str(path)!r}; omnirank convert makes some of a CSV file"
            )
        return sorted(found)
    if any(sign in str(path) for sign in "*?[") and not path.exists():
        from glob import glob

        matching = sorted(Path(name) for name in glob(str(path), recursive=True))
        if not matching:
            raise DataError(f"no file matches {str(path)!r}")
        return matching
    return [path]


def _is_hidden(file: Path, folder: Path) -> bool:
    return any(name.startswith((".", "_")) for name in file.relative_to(folder).parts)
