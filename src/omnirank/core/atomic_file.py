"""Files that appear whole or not at all."""

from __future__ import annotations

import gzip
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from omnirank.core.errors import DataError
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
    >>> from omnirank.core.atomic_file import replacing
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
