"""JSON of omnirank's own formats: a heading with name and version, and parsing that refuses what JSON does not have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from omnirank.core.errors import FileFormatError


def own_heading(name: str, version: int) -> dict[str, Any]:
    """Return what a file of ours starts with: the name and version of its format, and who wrote it.

    Examples
    --------
    >>> from omnirank.core.own_json import own_heading
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
    >>> from omnirank.core.own_json import check_heading
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
    >>> from omnirank.core.own_json import parsed_json
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
