"""The MATLAB 5 to 7 file format, as far as matrices of numbers go.

A header of 128 bytes, then elements: a tag (type, number of bytes) and data, padded to 8 bytes. A variable
is an element of type matrix, mostly packed in one of type compressed; its parts are elements again: flags,
dimensions, name, numbers. Everything is checked against the bytes at hand: the reader in SciPy can crash the
process on a damaged file.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15
_TAG = 8
# zlib packs no data better than this.
_BEST_RATIO = 1032
_SPARSE = 5
_KINDS = {1: "cell", 2: "struct", 3: "object", 4: "char", 16: "function", 17: "opaque"}
_NUMERIC_CLASSES = range(6, 16)
_COMPLEX = 0x0800
_STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}


class MatlabFormatError(ValueError):
    """The bytes are not a MATLAB file that can be read."""


@dataclass(frozen=True)
class OtherVariable:
    """A variable that is no matrix of numbers."""

    kind: str


def read_variables(content: bytes) -> dict[str, Any]:
    """Return the variables of a file: arrays, CSC matrices, or what else they are.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> from scipy.io import savemat
    >>> from omnirank.data.mat5 import read_variables
    >>> buffer = io.BytesIO()
    >>> savemat(buffer, {"X": np.array([[1.0, 2.0]]), "note": "text"})
    >>> read_variables(buffer.getvalue())
    {'X': array([[1., 2.]]), 'note': OtherVariable(kind='char')}
    """
    if len(content) < _HEADER or content[126:128] not in (b"IM", b"MI"):
        raise MatlabFormatError("it does not start with the header of a MATLAB 5 to 7 file")
    order = "<" if content[126:128] == b"IM" else ">"
    version = struct.unpack(order + "H", content[124:126])[0]
    if version != 0x0100:
        raise MatlabFormatError(f"version {version:#06x} of the format is not read: save it with the option -v7")
    variables: dict[str, Any] = {}
    for kind, data in _elements(memoryview(content)[_HEADER:], order):
        if kind == _COMPRESSED:
            [(kind, data)] = _elements(memoryview(_unpacked(data, order)), order)
        if kind != _MATRIX:
            raise MatlabFormatError(f"an element of type {kind} where a variable was expected")
        name, value = _variable(data, order)
        if name in variables:
            raise MatlabFormatError(f"the variable {name!r} is there twice")
        variables[name] = value
    return variables


def _unpacked(data: memoryview, order: str) -> bytes:
    """The one element in compressed data, of which no more is unpacked than it says it has."""
    unpacker = zlib.decompressobj()
    try:
        tag = unpacker.decompress(data, _TAG)
        if len(tag) < _TAG:
            raise MatlabFormatError("compressed data end too early")
        first, size = struct.unpack(order + "II", tag)
        if first >> 16:
            raise MatlabFormatError("a compressed element does not hold one variable")
        if size > _BEST_RATIO * (len(data) + 1):
            raise MatlabFormatError(f"{len(data)} compressed bytes cannot hold the {size} that they announce")
        content = unpacker.decompress(unpacker.unconsumed_tail, size) if size else b""
        # what follows is at most padding, of less than 8 bytes; asking for more lets zlib see the end
        more = b"" if unpacker.eof else unpacker.decompress(unpacker.unconsumed_tail, 8)
    except zlib.error as problem:
        raise MatlabFormatError(f"compressed data are damaged ({problem})") from None
    if len(content) < size:
        raise MatlabFormatError("compressed data end too early")
    if not unpacker.eof or len(more) > -size % 8 or any(more):
        raise MatlabFormatError("a compressed element does not hold one variable, or more than it announces")
    return tag + content


def _elements(data: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Yield (type, data) of the elements one after another."""
    at = 0
    while at + 8 <= len(data):
        first, size = struct.unpack_from(order + "II", data, at)
        if first >> 16:
            # A small element: type and size share four bytes, the data are the other four.
            kind, size, start = first & 0xFFFF, first >> 16, at + 4
            following = at + 8
            if size > 4:
                raise MatlabFormatError(f"a small element of {size} bytes")
        else:
            kind, start = first, at + 8
            following = start + (size if kind == _COMPRESSED else -(-size // 8) * 8)
        if start + size > len(data):
            raise MatlabFormatError("the file ends within an element")
        yield kind, data[start : start + size]
        at = following
    if any(data[at:]):
        raise MatlabFormatError("the file ends within an element")


def _variable(data: memoryview, order: str) -> tuple[str, Any]:
    elements = _elements(data, order)
    flags = _integers(elements, order)
    shape = tuple(int(n) for n in _integers(elements, order))
    kind, name_bytes = _following(elements)
    name = _decoded(name_bytes)
    if len(flags) != 2 or kind not in (1, 2, 16) or len(shape) < 2 or min(shape) < 0:
        raise MatlabFormatError("the head of a variable is damaged")
    number = int(flags[0]) & 0xFF
    if int(flags[0]) & _COMPLEX:
        return name, OtherVariable("complex")
    if number == _SPARSE:
        return name, _sparse(elements, shape, order)
    if number not in _NUMERIC_CLASSES:
        return name, OtherVariable(_KINDS.get(number, f"class {number}"))
    values = _numbers(elements, order)
    # Python integers: the product of damaged dimensions does not wrap around.
    if len(values) != math.prod(shape):
        raise MatlabFormatError(f"{name!r} has {len(values)} numbers for the dimensions {shape}")
    return name, values.reshape(shape, order="F")


def _decoded(name: memoryview) -> str:
    try:
        return bytes(name).decode("utf-8")
    except UnicodeDecodeError:
        raise MatlabFormatError("the name of a variable is damaged") from None


def _sparse(elements: Iterator[tuple[int, memoryview]], shape: tuple[int, ...], order: str) -> Any:
    rows, starts, values = _integers(elements, order), _integers(elements, order), _numbers(elements, order)
    if len(shape) != 2 or len(starts) != shape[1] + 1 or starts[0] != 0 or (np.diff(starts) < 0).any():
        raise MatlabFormatError("the columns of a sparse matrix are damaged")
    n_entries = int(starts[-1])
    if n_entries > min(len(rows), len(values)):
        raise MatlabFormatError("a sparse matrix ends too early")
    rows = rows[:n_entries]
    if n_entries and (rows.min() < 0 or rows.max() >= shape[0]):
        raise MatlabFormatError("a sparse matrix has an entry outside its rows")
    return sparse.csc_array((values[:n_entries].astype(np.float64), rows, starts), shape=shape)


def _following(elements: Iterator[tuple[int, memoryview]]) -> tuple[int, memoryview]:
    found = next(elements, None)
    if found is None:
        raise MatlabFormatError("a variable ends too early")
    return found


def _numbers(elements: Iterator[tuple[int, memoryview]], order: str) -> np.ndarray:
    kind, data = _following(elements)
    if kind not in _STORED:
        raise MatlabFormatError(f"numbers of type {kind}")
    dtype = np.dtype(order + _STORED[kind])
    if len(data) % dtype.itemsize:
        raise MatlabFormatError("the file ends within a number")
    return np.frombuffer(data, dtype).astype(dtype.newbyteorder("="), copy=False)


def _integers(elements: Iterator[tuple[int, memoryview]], order: str) -> np.ndarray:
    values = _numbers(elements, order)
    if values.dtype.kind == "f":
        raise MatlabFormatError("numbers with a fraction where integers were expected")
    return values.astype(np.int64)
