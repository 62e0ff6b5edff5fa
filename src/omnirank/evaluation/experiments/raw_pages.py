"""Rows of a damaged SQLite file, page by page, without following the trees that lead to them.

SQLite itself stops at the first damaged page and cannot reach what lies behind it. A page that holds rows says so in
its first byte and lists its cells, so that every page that is whole gives its rows, whatever happened to the others.
All tables of a store are WITHOUT ROWID: their rows are the cells of index pages, and inner pages hold rows too. The
format is described at https://www.sqlite.org/fileformat2.html; numbers in brackets are its sections.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_MAGIC = b"SQLite format 3\0"
_USUAL_SIZE = 4096
_INNER, _LEAF = 0x02, 0x0A
_WAL_MAGICS = (0x377F0682, 0x377F0683)
_WAL_HEADER, _FRAME_HEADER = 32, 24
_INTEGER_BYTES = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 8: 0, 9: 0}


class _DamagedError(Exception):
    """These bytes are no row."""


def readable_rows(path: Path) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of all pages of an SQLite file that can be read, and of the log beside it.

    Rows of indices are among them, and pages are not checked: it is for the caller to tell rows by their shape, and to
    judge whether they are whole.

    Parameters
    ----------
    path : Path
        The file; it is only read.

    Examples
    --------
    >>> import pathlib, sqlite3, tempfile
    >>> from omnirank.evaluation.experiments.raw_pages import readable_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "a.sqlite")
    ...     connection = sqlite3.connect(path)
    ...     _ = connection.execute("CREATE TABLE t (name TEXT PRIMARY KEY, value REAL) WITHOUT ROWID")
    ...     _ = connection.execute("INSERT INTO t VALUES ('a', 0.5), ('b', NULL)")
    ...     connection.commit()
    ...     connection.close()
    ...     list(readable_rows(path))
    [('a', 0.5), ('b', None)]
    """
    pages = _Pages(path)
    free = pages.free()
    for number in range(1, pages.n_pages + 1):
        if number not in free:
            yield from pages.rows(number)


class _Pages:
    """The pages of a file, those in the log instead of older ones."""

    def __init__(self, path: Path) -> None:
        self._content = path.read_bytes()
        self.size, reserved = _page_size(self._content)
        self._usable = self.size - reserved
        self._logged = _logged_pages(path.with_name(path.name + "-wal"), self.size)
        self.n_pages = max([len(self._content) // self.size, *self._logged])

    def page(self, number: int) -> bytes:
        """Return the bytes of a page, numbered from 1."""
        if number in self._logged:
            return self._logged[number]
        found = self._content[(number - 1) * self.size : number * self.size] if number > 0 else b""
        if len(found) < self.size:
            raise _DamagedError
        return found

    def free(self) -> set[int]:
        """Return the pages that hold nothing any more (1.5): old rows are still in them."""
        found: set[int] = set()
        try:
            trunk = struct.unpack_from(">I", self.page(1), 32)[0]
            while trunk and trunk not in found:
                content = self.page(trunk)
                following, n = struct.unpack_from(">II", content)
                if n > self.size // 4 - 2:
                    break
                found |= {trunk, *struct.unpack_from(f">{n}I", content, 8)}
                trunk = following
        except (_DamagedError, struct.error):
            pass
        return found

    def rows(self, number: int) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a page, where it is one of an index and they can be read (1.6)."""
        try:
            page = self.page(number)
        except _DamagedError:
            return
        start = 100 if number == 1 else 0
        kind = page[start]
        if kind not in (_INNER, _LEAF):
            return
        n_cells = int.from_bytes(page[start + 3 : start + 5], "big")
        listed = start + (12 if kind == _INNER else 8)
        if listed + 2 * n_cells > self.size:
            return
        for at in struct.unpack_from(f">{n_cells}H", page, listed):
            try:
                yield _row(self._payload(page, at + (4 if kind == _INNER else 0)))
            except (_DamagedError, IndexError, struct.error, UnicodeDecodeError):
                continue

    def _payload(self, page: bytes, at: int) -> bytes:
        """The bytes of a row: what its page holds, and the chain of pages that hold the rest."""
        size, at = _varint(page, at)
        most = (self._usable - 12) * 64 // 255 - 23
        local = size
        if size > most:
            least = (self._usable - 12) * 32 // 255 - 23
            local = least + (size - least) % (self._usable - 4)
            local = local if local <= most else least
        if at + local > self.size or size > self.n_pages * self.size:
            raise _DamagedError
        parts = [page[at : at + local]]
        n_found = local
        following = 0 if local == size else struct.unpack_from(">I", page, at + local)[0]
        while n_found < size:  # every round adds bytes, so that a chain that bites its tail ends as well
            content = self.page(following)
            following = struct.unpack_from(">I", content)[0]
            part = content[4 : min(self._usable, 4 + size - n_found)]
            parts.append(part)
            n_found += len(part)
        return b"".join(parts)


def _page_size(content: bytes) -> tuple[int, int]:
    """Bytes of a page, and how many of them are reserved at its end; the usual ones where the head is damaged."""
    if content[:16] == _MAGIC and len(content) >= 100:
        size = int.from_bytes(content[16:18], "big")
        size = 65536 if size == 1 else size
        if size >= 512 and size & (size - 1) == 0:
            return size, content[20] if size - content[20] >= 480 else 0
    return _USUAL_SIZE, 0


def _logged_pages(log: Path, size: int) -> dict[int, bytes]:
    """The newest committed pages in the write-ahead log (4.1)."""
    content = log.read_bytes() if log.is_file() else b""
    if len(content) < _WAL_HEADER:
        return {}
    magic, _, page_size = struct.unpack_from(">III", content)
    if magic not in _WAL_MAGICS or page_size != size:
        return {}
    found: dict[int, bytes] = {}
    waiting: dict[int, bytes] = {}
    for at in range(_WAL_HEADER, len(content) - _FRAME_HEADER - size + 1, _FRAME_HEADER + size):
        number, n_pages = struct.unpack_from(">II", content, at)
        if content[at + 8 : at + 16] != content[16:24] or not number:
            break  # frames of an earlier use of the log
        waiting[number] = content[at + _FRAME_HEADER : at + _FRAME_HEADER + size]
        if n_pages:
            found |= waiting
            waiting = {}
    return found


# -- records (2) ------------------------------------------------------------------------------------------


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = 0
    for i in range(8):
        byte = content[at + i]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + i + 1
    return value << 8 | content[at + 8], at + 9


def _row(payload: bytes) -> tuple[Any, ...]:
    head, at = _varint(payload, 0)
    if not at <= head <= len(payload):
        raise _DamagedError
    kinds = []
    while at < head:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    found = []
    for kind in kinds:
        value, at = _value(payload, at, kind)
        found.append(value)
    if at != len(payload):
        raise _DamagedError
    return tuple(found)


def _value(payload: bytes, at: int, kind: int) -> tuple[Any, int]:
    size = _INTEGER_BYTES.get(kind, 8 if kind == 7 else (kind - 12) // 2)
    if kind in (10, 11) or at + size > len(payload):
        raise _DamagedError
    part = payload[at : at + size]
    value: Any
    if kind == 0:
        value = None
    elif kind == 7:
        value = struct.unpack(">d", part)[0]
    elif kind < 10:
        value = kind - 8 if kind in (8, 9) else int.from_bytes(part, "big", signed=True)
    else:
        value = part.decode("utf-8") if kind % 2 else part
    return value, at + size
