"""Files of omnirank's own: they appear whole or not at all, JSON has a heading, arrays are in a zip with a JSON header.

Nothing in them is executed.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import secrets
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np

from omnirank.core.errors import DataError, FileFormatError
from omnirank.core.types import PathLike


def unfinished_path(path: Path) -> Path:
    """Return where a file is written before it takes its name: beside it, and at another place in every call.

    A rename is atomic within one file system only.
    """
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")


@contextmanager
def replacing(path: PathLike) -> Iterator[IO[bytes]]:
    """Open a file for writing bytes, gzipped where it ends in .gz; it takes its name when all is written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from omnirank.core.files import replacing
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "a.txt")
    ...     with replacing(path) as file:
    ...         _ = file.write(b"whole")
    ...     path.read_bytes()
    b'whole'
    """
    path = Path(path)
    if path.is_dir() or not path.name:
        raise DataError(f"cannot write {str(path)!r}: it is a folder; name a file in it")
    if not path.parent.is_dir():
        raise DataError(f"cannot write {str(path)!r}: there is no folder {str(path.parent)!r}")
    unfinished = unfinished_path(path)
    try:
        with unfinished.open("xb") as raw:
            if path.suffix.lower() == ".gz":
                # No name and time in the file: equal data give equal bytes.
                with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
                    yield packed  # type: ignore[misc]
            else:
                yield raw
            raw.flush()
            os.fsync(raw.fileno())
        os.replace(unfinished, path)
    except OSError as problem:
        raise DataError(f"cannot write {str(path)!r}: {problem.strerror or problem}") from None
    finally:
        unfinished.unlink(missing_ok=True)


def own_heading(name: str, version: int) -> dict[str, Any]:
    """Return what a file of ours starts with: the name and version of its format, and who wrote it.

    Examples
    --------
    >>> from omnirank.core.files import own_heading
    >>> list(own_heading("omnirank-tree", 1))
    ['format', 'version', 'package_version']
    """
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    try:
        package_version = version_of("omnirank")
    except PackageNotFoundError:  # run from a source folder
        package_version = "unknown"
    return {"format": name, "version": version, "package_version": package_version}


def check_heading(heading: Any, name: str, newest: int, *, what: str, path: str | Path | None = None) -> dict[str, Any]:
    """Return the heading where it is one of a version that is read; a clear error else.

    Parameters
    ----------
    heading : anything
        The outermost value of the file.
    name : str
        Name of the format.
    newest : int
        The newest version that is read.
    what : str
        What the file holds, such as "a tree".
    path : str or Path, optional
        The file.

    Examples
    --------
    >>> from omnirank.core.files import check_heading
    >>> check_heading({"format": "omnirank-tree", "version": 3}, "omnirank-tree", 1, what="a tree")
    Traceback (most recent call last):
    omnirank.core.errors.FileFormatError: written by omnirank of unknown version in version 3 of the format; ...
    """
    if not isinstance(heading, dict):
        raise FileFormatError(f"not {what}: the outermost value is not an object", path=path)
    if heading.get("format") != name:
        raise FileFormatError(f"not {what}: its format is not {name!r}", path=path)
    version = heading.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise FileFormatError(f"the version of the format is {version!r}, not a number from 1", path=path)
    if version > newest:
        writer = heading.get("package_version", "of unknown version")
        raise FileFormatError(
            f"written by omnirank {writer} in version {version} of the format; this omnirank reads versions "
            f"up to {newest}: upgrade it",
            path=path,
        )
    return heading


def parsed_json(text: str, path: str | Path | None = None, line: int | None = None) -> Any:
    """Return what a JSON text holds; whatever is wrong with it is a `FileFormatError`.

    NaN and infinities, which Python writes and JSON does not have, are refused.

    Examples
    --------
    >>> from omnirank.core.files import parsed_json
    >>> parsed_json("[1, NaN]")
    Traceback (most recent call last):
    omnirank.core.errors.FileFormatError: NaN is not a number of JSON
    """

    def refuse(constant: str) -> NoReturn:
        raise FileFormatError(f"{constant} is not a number of JSON", path=path, line=line)

    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        at = error.lineno if line is None else line
        raise FileFormatError(f"not valid JSON: {error.msg}", path=path, line=at, column=error.colno) from None
    except RecursionError:
        raise FileFormatError("not valid JSON: too many values within values", path=path, line=line) from None
    except FileFormatError:
        raise
    except ValueError as error:  # integers of thousands of digits
        raise FileFormatError(f"not valid JSON: {error}", path=path, line=line) from None


# -- arrays ----------------------------------------------------------------------------------------


_HEADER = "header.json"
# Floats that no narrower type holds are written byte by byte: signs and exponents repeat themselves, digits do not.
_BYTES = ".bytes"


def packed_arrays(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return the file that holds a header and arrays of numbers; equal contents give equal bytes.

    Every array is written in the narrowest type that keeps its bits (see `narrowest`).

    Parameters
    ----------
    header : mapping
        Facts that JSON holds, as `omnirank.core.files.own_heading` starts them.
    arrays : mapping of str to ndarray
        The arrays by name.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> from omnirank.core.files import packed_arrays
    >>> content = packed_arrays({"format": "example", "version": 1}, {"depth": np.array([3, 1])})
    >>> np.load(io.BytesIO(content))["depth"]
    array([3, 1], dtype=uint8)
    """
    # not ensure_ascii, which would read two lone surrogates as one character
    text = json.dumps(header, allow_nan=False, ensure_ascii=False).encode("utf-8", "surrogatepass")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", allowZip64=True) as archive:
        members = {_HEADER: text}
        for name, array in arrays.items():
            narrow, ending = narrowest(array), ""
            if narrow.dtype == np.float64:
                narrow, ending = np.moveaxis(narrow[..., None].view(np.uint8), -1, 0), _BYTES
            npy = io.BytesIO()
            np.save(npy, np.array(narrow, order="C"), allow_pickle=False)
            members[f"{name}{ending}.npy"] = npy.getvalue()
        for name, content in members.items():
            entry = zipfile.ZipInfo(name)  # of 1980: the time of writing is no content
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, compresslevel=1)
    return file.getvalue()


def narrowest(array: np.ndarray) -> np.ndarray:
    """Return the array in the narrowest type of little-endian numbers that keeps the bits of every value.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.core.files import narrowest
    >>> [narrowest(np.array(values)).dtype.str for values in ([3, 300], [-1, 2], [2.0, 5.0], [0.5, -0.0], [0.1])]
    ['<u2', '|i1', '|u1', '<f4', '<f8']
    """
    array = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    kinds = {"f": ("u1", "<u2", "<u4", "<f4"), "u": ("u1", "<u2", "<u4"), "i": ("u1", "i1", "<u2", "<i2", "<u4", "<i4")}
    for kind in kinds.get(array.dtype.kind, ()):
        if np.dtype(kind).itemsize < array.itemsize and all(_keeps_bits(a, kind) for a in (array.ravel()[:64], array)):
            return array.astype(kind)
    return array


def _holds(kind: Any, least: int, most: int) -> bool:
    limits = np.iinfo(kind)
    return int(limits.min) <= least and most <= int(limits.max)


def _keeps_bits(array: np.ndarray, kind: str) -> bool:
    with np.errstate(invalid="ignore", over="ignore"):
        back = array.astype(kind).astype(array.dtype)
    bits = f"<u{array.itemsize}"
    return bool(np.array_equal(back.view(bits), array.view(bits)))


class StoredArrays:
    """The header and the arrays of a file, of which nothing is trusted: every array is asked for by type and shape.

    Parameters
    ----------
    content : bytes
        The file, whole.
    path : str or Path
        Where it was read from, for errors.
    name : str
        Name of the format.
    newest : int
        The newest version of it that is read.
    what : str
        What the file holds, such as "a model".

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.core.files import StoredArrays, packed_arrays
    >>> content = packed_arrays({"format": "example", "version": 1}, {"depth": np.array([3, 1])})
    >>> StoredArrays(content, "x", "example", 1, "an example").take("depth", np.int32, (2,))
    array([3, 1], dtype=int32)
    """

    def __init__(self, content: bytes, path: str | Path, name: str, newest: int, what: str) -> None:
        self.path = path
        try:
            self._archive = np.load(io.BytesIO(content), allow_pickle=False)
            text = self._archive[_HEADER].decode("utf-8", "surrogatepass")
        except Exception:  # what is damaged may raise anything
            self.refuse(f"not {what}: it is no zip file of arrays with a {_HEADER!r}, or a damaged one")
        self._left = set(self._archive.files) - {_HEADER}
        self.header = check_heading(parsed_json(text, path), name, newest, what=what, path=path)

    def refuse(self, problem: str) -> NoReturn:
        """Raise the error of a malformed file."""
        raise FileFormatError(problem, path=self.path) from None

    def has(self, name: str) -> bool:
        """Whether there is an array of that name, not taken yet."""
        return name in self._left or f"{name}{_BYTES}" in self._left

    def take(self, name: str, dtype: Any, shape: tuple[int | None, ...]) -> np.ndarray:
        """Return an array in a type that holds its values; None in a shape is any length.

        An array of whole numbers that holds others, or one of another shape, is a `FileFormatError`.
        """
        if not self.has(name):
            self.refuse(f"there is no array {name!r}")
        ending = "" if name in self._left else _BYTES
        self._left.remove(name + ending)
        try:
            array = self._archive[name + ending]
            if ending:
                array = np.moveaxis(array, 0, -1).astype(np.uint8, order="C", casting="no").view("<f8")[..., 0]
        except Exception:  # what is damaged may raise anything
            self.refuse(f"array {name!r} is damaged")
        wanted = np.dtype(dtype)
        if not isinstance(array, np.ndarray) or array.dtype.kind not in ("iu" if wanted.kind in "iu" else "iuf"):
            self.refuse(f"array {name!r} does not hold {'whole ' if wanted.kind in 'iu' else ''}numbers")
        if array.ndim != len(shape) or any(n not in (None, m) for n, m in zip(shape, array.shape, strict=True)):
            expected = " x ".join("any" if n is None else str(n) for n in shape)
            self.refuse(f"array {name!r} has shape {' x '.join(map(str, array.shape))}, not {expected}")
        if wanted.kind in "iu" and array.size and not _holds(wanted, int(array.min()), int(array.max())):
            self.refuse(f"array {name!r} holds a number that {wanted} does not hold")
        if wanted.kind == "f" and not np.isfinite(array).all():
            self.refuse(f"array {name!r} holds a number that is not finite")
        return np.array(array, wanted, order="C")  # a copy that can be written to: kernels are compiled for such arrays

    def finish(self) -> None:
        """Refuse a file in which there is more than was asked for."""
        if self._left:
            self.refuse(f"{sorted(self._left)[0]!r} does not belong into the file")
