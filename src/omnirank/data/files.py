"""Files: opened and unpacked, text in blocks of whole lines, and what a file holds before columns have roles.

No more than one block of text is in memory.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import zlib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, FileFormatError, ParameterError, setting
from omnirank.core.parameters import check, choice
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.hierarchy.clus import HierarchicalAttribute
from omnirank.data.table import Table

if TYPE_CHECKING:
    from omnirank.data.roles import Roles

BLOCK_BYTES = 1 << 20
# Blocks of whole lines, each with the number of its first line.
Blocks: TypeAlias = Iterable[tuple[int, bytes]]
# Exact reading of decimal numbers is the default of pandas from 3.1 on, where the option is deprecated.
EXACT_NUMBERS: dict[str, str] = {}
if tuple(int(part) for part in pd.__version__.split(".")[:2]) < (3, 1):  # pragma: no cover
    EXACT_NUMBERS["float_precision"] = "round_trip"

# Before the text of a quoted cell, where quotes mean text: pandas does not tell which cells were quoted.
MARK = "\x1f"
_GZIP_MAGIC = b"\x1f\x8b"
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes, unpacking gzip; system and gzip errors become omnirank's.

    Examples
    --------
    >>> import gzip, pathlib, tempfile
    >>> from omnirank.data.files import opened
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "a.csv.gz")
    ...     _ = path.write_bytes(gzip.compress(b"1,2"))
    ...     with opened(path) as file:
    ...         file.read()
    b'1,2'
    """
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == _GZIP_MAGIC
            raw.seek(0)
            if packed:
                with gzip.open(raw) as unpacked:
                    yield unpacked  # type: ignore[misc]
            else:
                yield raw
    except (gzip.BadGzipFile, zlib.error, EOFError) as problem:
        raise FileFormatError(f"the gzip data are damaged ({problem})", path=path) from None
    except FileNotFoundError:
        raise DataError(f"there is no file {str(path)!r}") from None
    except OSError as problem:
        raise DataError(f"cannot read {str(path)!r}: {problem.strerror or problem}") from None


def read_whole(path: Path) -> bytes:
    """Return all bytes of a file, unpacked."""
    with opened(path) as file:
        return file.read()


def memory_size() -> int:
    """Return the bytes of memory of this machine; where that is unknown, more than any machine has.

    Examples
    --------
    >>> from omnirank.data.files import memory_size
    >>> memory_size() > 0
    True
    """
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not on Windows
        return 2**50


def _n_line_ends(block: bytes) -> int:
    return block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")


def _checked_encoding(encoding: str) -> str:
    """Return the name that Python has for an encoding in which ASCII is ASCII."""
    try:
        name = codecs.lookup(encoding).name.removesuffix("-sig")
        if "a\n".encode(name) == b"a\n":
            return name
    except (LookupError, TypeError, ValueError):
        pass
    advice = "give one that contains ASCII, such as 'utf-8', 'cp1252' or 'latin-1'; save UTF-16 as UTF-8"
    raise ParameterError("encoding", encoding, advice)


class TextSource:
    """A text file whose encoding is checked while it is read.

    ``notes`` is what errors and notes say of the source besides its name: nothing, here.

    Parameters
    ----------
    path : Path
        A plain or gzipped text file, with or without byte order mark.
    encoding : str
        Its encoding; a byte that it does not have is an error with its line and the character in it.
    """

    notes: tuple[str, ...] = ()

    def __init__(self, path: Path, encoding: str = "utf-8") -> None:
        self.path = path
        self.encoding = _checked_encoding(encoding)

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        r"""Yield (number of its first line, from 1; whole lines as UTF-8, each ending in ``\n``)."""
        line = 1
        with opened(self.path) as file:
            if (start := file.read(2)) in _UTF16_MARKS:  # as spreadsheets write "Unicode text"
                file = io.BytesIO((start + file.read()).decode("utf-16", "replace").encode())
            else:
                file.seek(0)
            while block := file.read(BLOCK_BYTES):
                block += file.readline()  # so that neither a character, a line nor a CR LF pair is cut
                self._check(block, line)
                if line == 1:
                    block = block.removeprefix(codecs.BOM_UTF8)
                if b"\r" in block:
                    block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
                if self.encoding != "utf-8" and not block.isascii():
                    block = block.decode(self.encoding).encode("utf-8")
                if not block.endswith(b"\n"):
                    block += b"\n"
                yield line, block
                line += block.count(b"\n")

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield (line number, line without its end)."""
        for first_line, block in self.blocks():
            yield from enumerate(block[:-1].decode("utf-8").split("\n"), start=first_line)

    def _check(self, block: bytes, first_line: int) -> None:
        """Raise an error about the first byte that is no text of the encoding."""
        if first_line == 1 and block.startswith(b"PK\x03\x04"):
            raise FileFormatError("a zip archive, no text: is it a workbook? Call it .xlsx or .ods", path=self.path)
        if b"\0" in block:
            line = first_line + _n_line_ends(block[: block.index(b"\0")])
            raise FileFormatError("a NUL byte: this is not a text file", path=self.path, line=line)
        if block.isascii():
            return
        try:
            block.decode(self.encoding)
        except UnicodeDecodeError as error:
            before = block[: error.start]
            text = before[max(before.rfind(b"\n"), before.rfind(b"\r")) + 1 :].decode(self.encoding, "replace")
            name = "UTF-8" if self.encoding == "utf-8" else self.encoding
            other = next(one for one in ("utf-8", "cp1252", "latin-1") if _decodes(block, one))
            advice = f"{setting('encoding', other)} names the encoding of the file"
            raise FileFormatError(
                f"the byte 0x{block[error.start]:02x} is not {name}; {advice}",
                path=self.path,
                line=first_line + _n_line_ends(before),
                column=len(text.removeprefix("\ufeff")) + 1,
                cure={"encoding": other},
            ) from None


def _decodes(block: bytes, encoding: str) -> bool:
    try:
        return bool(block.decode(encoding))
    except UnicodeDecodeError:
        return False


class BlockStream(io.RawIOBase):
    """Blocks of a text as one stream of bytes."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = iter(blocks)
        self._block = memoryview(b"")

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer."""
        while not self._block:
            following = next(self._blocks, None)
            if following is None:
                return 0
            self._block = memoryview(following[1])
        n = min(len(buffer), len(self._block))
        buffer[:n] = self._block[:n]
        self._block = self._block[n:]
        return n


@dataclass(frozen=True, eq=False)
class Content:
    """All columns of a file and the facts it declares.

    Parameters
    ----------
    path : Path
        The file.
    names, kinds : tuple of str
        Name of every column, in file order, and its kind: numeric, nominal, date, string, key or hierarchical.
    table : Table
        The numeric, date and nominal columns. A date is its number of seconds since 1970-01-01 UTC.
    declared : bool
        Whether the file declares the kinds (ARFF), so that integers in a numeric column are numbers, or they
        were found from the cells.
    integers : frozenset of str
        Numeric columns that hold integers only and were not declared.
    texts : mapping of str to ndarray of object
        Cells (str, or None where missing) of each string and key column.
    labels : HierarchicalAttribute or None
        The hierarchical attribute: its hierarchy and the label set of each row.
    label_order : Hierarchy or None
        Hierarchy of the default target's 0/1 columns, where the file knows one.
    target : tuple of str
        The columns that the file itself marks as target.
    task : str
        Task of that target, or "auto".
    weights : ndarray or None
        Weight of each row, where the file has weights.
    relation : str
        Name that the file gives to its data.
    notes : tuple of str
        What the user should know about how the file was taken.
    roles : function, optional
        What gives the columns their roles, where the file itself does.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from omnirank.data.arff import read_arff
    >>> text = "@relation r\\n@attribute size real\\n@attribute id string\\n@data\\n1.5,'no. 7'\\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "small.arff")
    ...     _ = path.write_text(text)
    ...     content = read_arff(path)
    >>> content.kinds, content.table.names, content.texts["id"].tolist()
    (('numeric', 'string'), ('size',), ['no. 7'])
    """

    path: Path
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    table: Table
    declared: bool
    integers: frozenset[str] = frozenset()
    texts: Mapping[str, np.ndarray] = field(default_factory=lambda: MappingProxyType({}))
    labels: HierarchicalAttribute | None = None
    label_order: Hierarchy | None = None
    target: tuple[str, ...] = ()
    task: str = "auto"
    weights: np.ndarray | None = None
    relation: str = ""
    notes: tuple[str, ...] = ()
    roles: Callable[[Content], Roles] | None = None

    @classmethod
    def of_table(cls, path: Path, table: Table, **facts: Any) -> Content:
        """The content of a file whose columns are all in a table, of undeclared kinds."""
        levels = zip(table.names, table.levels, strict=True)
        kinds = ("date" if n in table.dates else "numeric" if own is None else "nominal" for n, own in levels)
        return cls(path, table.names, tuple(kinds), table, declared=False, **facts)

    def kind(self, name: str) -> str:
        """Return the kind of a column, by name."""
        return self.kinds[self.names.index(name)]


def unreadable(problem: Exception, what: str, path: Path) -> FileFormatError:
    """Return the error about a file that another library cannot read: damaged ones meet it with many kinds of errors.

    Examples
    --------
    >>> from pathlib import Path
    >>> from omnirank.data.files import unreadable
    >>> str(unreadable(EOFError("too short"), "a Parquet file", Path("a.parquet")))
    'a.parquet: not a Parquet file that can be read (EOFError: too short)'
    """
    reason = f"{type(problem).__name__}: {problem}".split("\n")[0][:200]
    return FileFormatError(f"not {what} that can be read ({reason})", path=path)


def plain_name(path: Path) -> str:
    """Return the name of a file without the ending of its format.

    Examples
    --------
    >>> from pathlib import Path
    >>> from omnirank.data.files import plain_name
    >>> plain_name(Path("church_FUN.train.arff.gz"))
    'church_FUN.train'
    """
    without = Path(path.name.removesuffix(path.suffix)) if path.suffix.lower() == ".gz" else Path(path.name)
    return without.stem or "data"


def file_ending(path: Path) -> str:
    """Return the ending of a file in lower case, that before .gz where it is packed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from omnirank.data.files import file_ending
    >>> file_ending(Path("wq.ARFF.gz"))
    '.arff'
    """
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return plain.suffix.lower()


def duplicates_hint() -> str:
    """Return how a second column of the same name is read."""
    return f"{setting('duplicates', 'number')} reads it as a column of its own, called name_2"


def check_duplicates_option(duplicates: str) -> None:
    """Raise unless the option is "error" or "number"."""
    check("duplicates", duplicates, choice("error", "number"))


def numbered(name: str, taken: Container[str]) -> str:
    """Return the name, with the smallest number from 2 on that makes it new where it is taken.

    Examples
    --------
    >>> from omnirank.data.files import numbered
    >>> numbered("a", {"a", "a_2"})
    'a_3'
    """
    unique, count = name, 1
    while unique in taken:
        count += 1
        unique = f"{name}_{count}"
    return unique


def number_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names, repeated ones numbered.

    Examples
    --------
    >>> from omnirank.data.files import number_names
    >>> number_names(["a", "b", "a"])
    ('a', 'b', 'a_2')
    """
    unique: dict[str, None] = {}
    for name in names:
        unique[numbered(name, unique)] = None
    return tuple(unique)


def marked(blocks: Blocks, separator: str) -> Iterator[tuple[int, bytes]]:
    r"""Yield the blocks with a mark before the text of every quoted cell.

    Examples
    --------
    >>> from omnirank.data.files import marked
    >>> list(marked([(1, b'"a",b\n')], ","))
    [(1, b'"\x1fa",b\n')]
    """
    inside, sign = False, separator.encode()
    for line, block in blocks:
        first, *parts = block.split(b'"')
        marked, before = [first], first if inside else b"\n" + first
        for part in parts:
            text = before if sign == b" " else before.rstrip(b" ")
            starts = not inside and text.endswith((b"\n", sign))
            # within quotes, a quote is doubled: it closes the cell and opens it again
            inside = starts or (not inside and not before)
            marked.append(MARK.encode() + part if starts else part)
            before = part
        yield line, b'"'.join(marked)
