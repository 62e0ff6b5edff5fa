"""Files of omnirank's own: they appear whole or not at all, and their JSON has a heading with name and version."""

from __future__ import annotations

import gzip
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn

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


def check_heading(
    heading: Any, name: str, versions: range, *, what: str, path: str | Path | None = None
) -> dict[str, Any]:
    """Return the heading where it is one of a version that is read; a clear error else.

    Parameters
    ----------
    heading : anything
        The outermost value of the file.
    name : str
        Name of the format.
    versions : range
        Versions that are read.
    what : str
        What the file holds, such as "a tree".
    path : str or Path, optional
        The file.

    Examples
    --------
    >>> from omnirank.core.files import check_heading
    >>> check_heading({"format": "omnirank-tree", "version": 3}, "omnirank-tree", range(1, 2), what="a tree")
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
    writer = heading.get("package_version", "of unknown version")
    if version >= versions.stop:
        raise FileFormatError(
            f"written by omnirank {writer} in version {version} of the format; this omnirank reads versions "
            f"up to {versions.stop - 1}: upgrade it",
            path=path,
        )
    if version < versions.start:
        raise FileFormatError(
            f"written by omnirank {writer} in version {version} of the format, which is read no more: write it again",
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
