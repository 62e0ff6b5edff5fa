"""The parts (shards) of a large table: Parquet files."""

from __future__ import annotations

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
_BUFFER_BYTES = 2**18


class Facts(NamedTuple):
    """What is known of a part before its rows are read.

    Attributes
    ----------
    schema : pyarrow.Schema
        Names and types of the columns.
    group_rows : tuple of int
        Numbers of rows of the groups that can be read apart from each other.
    column_bytes : int
        Bytes of a column of the largest group, on average.
    """

    schema: Any
    group_rows: tuple[int, ...]
    column_bytes: int


class Part:
    """One part of a table, a Parquet file: its columns, and its rows in batches.

    Attributes
    ----------
    path, name : Path, str
        The file.
    state : list of int
        Its size and the time of its last change.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)
        self.state = self._stat()

    def _stat(self) -> list[int]:
        try:
            stat = self.path.stat()
        except FileNotFoundError:
            raise DataError(f"there is no file {self.name!r}{files_like(self.path)}") from None
        return [stat.st_size, stat.st_mtime_ns]

    @cached_property
    def facts(self) -> Facts:
        """What is known of the part before its rows are read."""
        _, parquet = import_pyarrow()
        try:
            with parquet.ParquetFile(self.path) as file:
                groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
                n_bytes = max((group.total_byte_size for group in groups), default=0)
                n_rows = tuple(group.num_rows for group in groups)
                return Facts(file.schema_arrow, n_rows, n_bytes // max(file.metadata.num_columns, 1))
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

    def check(self) -> None:
        """Raise a DataError where the file has changed since it was opened."""
        if self._stat() != self.state:
            raise DataError(f"shard {self.name} has changed since it was opened: open the shards again")

    def batches(
        self, columns: Sequence[str], n_rows: int, groups: Sequence[int], threads: bool = True
    ) -> Iterator[Any]:
        """Yield the rows in order, as record batches of pyarrow; a problem with the file is an error that names it.

        Parameters
        ----------
        columns : sequence of str
            Which columns, and in which order.
        n_rows : int
            Most rows of a batch.
        groups : sequence of int
            Numbers of the groups of rows that are read.
        threads : bool
            Whether pyarrow may use threads of its own. They are as many as there are cores, and each keeps memory.
        """
        _, parquet = import_pyarrow()
        self.check()
        # pages through small buffers: else whole column chunks of a row group, all of a file at worst, come into memory
        small = {"pre_buffer": False, "buffer_size": _BUFFER_BYTES}
        options = {"batch_size": n_rows, "columns": list(columns), "use_threads": threads}
        try:
            with parquet.ParquetFile(self.path, page_checksum_verification=True, **small) as file:
                for batch in file.iter_batches(row_groups=list(groups), **options):
                    batch.validate(full=True)
                    yield batch.select(list(columns))
        except DataError:
            raise
        except Exception as problem:  # damaged files meet pyarrow with many kinds of errors
            self.check()
            raise self._unreadable(problem) from None

    def _unreadable(self, problem: Exception) -> DataError:
        if self.path.suffix.lower() in _TEXT:
            advice = f"omnirank convert {self.name} FOLDER turns a CSV file into a folder of them"
            return FileFormatError(f"parts of a table are Parquet files: {advice}", path=self.path)
        return unreadable(problem, "a Parquet file", self.path)


def release_unused() -> None:
    """Give memory that pyarrow holds for reading on back to the system."""
    pyarrow, _ = import_pyarrow()
    pyarrow.default_memory_pool().release_unused()


def parts_of(source: Any) -> list[Part]:
    """Return the parts of what a user names, in the order of their names.

    Parameters
    ----------
    source : str, Path or sequence of them
        A folder (all Parquet files below it, except those whose name, or that of a folder, starts with "." or "_"), a
        pattern such as ``"parts/*.parquet"``, or files.

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
        return [Part(path) for path in _files(source)]
    if isinstance(source, list | tuple) and source and all(isinstance(entry, str | Path) for entry in source):
        return [Part(Path(entry)) for entry in source]
    raise DataTypeError(
        f"shards are a folder, a pattern or a list of Parquet files, not {type(source).__name__}: their paths"
    )


def _files(source: str | Path) -> list[Path]:
    path = Path(source)
    if path.is_dir():
        files = [file for file in path.rglob("*") if file.suffix.lower() in _ENDINGS]
        files = [file for file in files if not any(name[0] in "._" for name in file.relative_to(path).parts)]
        if not files:
            raise DataError(
                f"there is no Parquet file in the folder {str(path)!r}; omnirank convert makes some of a CSV file"
            )
        return sorted(files)
    if any(sign in str(path) for sign in "*?[") and not path.exists():
        from glob import glob

        matching = sorted(Path(name) for name in glob(str(path), recursive=True))
        if not matching:
            raise DataError(f"no file matches {str(path)!r}")
        return matching
    return [path]
