"""Compiled kernels on the disk: one file for each kernel, kind of arguments and kind of machine, checked when read.

Numba's own files trust the disk. A damaged one is an error at every call, for ever; a full disk loses a kernel that was
just compiled; and an index names the files, so that two processes that compile a kernel for different arguments may
each forget what the other has written, or give one the code of the other. Here a file is named after what it is for
and carries a checksum of that and of the code. Whatever is wrong with it, it is deleted and written again.

Files are in a folder for each set of kernel sources and each set of versions that compile them. Numba itself looks at
the file of the compiled function only: a change in a function that it calls would go unnoticed. Two versions of the
compiler would overwrite each other's files. Kinds of machine share a folder: file by file, code is kept for the machine
that it was compiled for.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import logging
import os
import pickle
import shutil
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np

from omnirank.core.numba_internals import INSTRUCTIONS, LINKED_ONLY, VERSIONS, FunctionCache, dumps, use_cache

_CHECKSUM_BYTES = 16

_logger = logging.getLogger("omnirank.compiling")
_said: set[str] = set()


def keep_on_disk(dispatcher: Any, folder: str) -> None:
    """Read a function from a folder where it was compiled before, else write it there once it is compiled."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = folder
    try:
        use_cache(dispatcher, _KernelCache)
    except (OSError, RuntimeError) as reason:  # Numba's error where it may not make a folder is the latter
        _warn_not_kept(reason)
    finally:
        numba.config.CACHE_DIR = before


def warn_once(message: str, *details: object) -> None:
    """Warn of something that may hold for many kernels; once per process, later in the debug log."""
    level = logging.DEBUG if message in _said else logging.WARNING
    _said.add(message)
    _logger.log(level, message, *details)


def _warn_not_kept(reason: Exception) -> None:
    warn_once("compiled kernels stay in memory, later processes compile them again: they cannot be saved (%s)", reason)


class _KernelCache(FunctionCache or object):  # type: ignore[misc]
    """Numba's cache of one function, on files that may be damaged and disks that may be full."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _Files(Path(self.cache_path), function)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a compiled function; None if there is none that can be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception as reason:  # bytes that are no compiled function may raise anything
            self._cache_file.discard(reason)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a compiled function if the disk takes it."""
        try:
            super().save_overload(sig, data)
        except OSError as reason:
            _warn_not_kept(reason)


class _Files:
    """The files of one function, in the place of Numba's `IndexDataCacheFile`.

    Parameters
    ----------
    folder : Path
        Where they are.
    function : callable
        The function before it is compiled.
    """

    def __init__(self, folder: Path, function: Callable[..., Any]) -> None:
        self._folder = folder
        self._name = f"{function.__module__}.{function.__qualname__}".replace("<", "").replace(">", "")
        self._source = _source_hash(inspect.getfile(function))
        self._asked = folder

    def load(self, key: Any) -> Any:
        """Return what was saved for a key, None if nothing was."""
        self._asked = self._path(key)
        try:
            content = self._asked.read_bytes()
        except FileNotFoundError:
            return None
        body = content[_CHECKSUM_BYTES:]
        if content[:_CHECKSUM_BYTES] != _checksum(repr(key).encode() + body):
            raise ValueError("wrong checksum, or code for other arguments")
        return pickle.loads(body)

    def save(self, key: Any, data: Any) -> None:
        """Write the file of a key; others see all of it or nothing."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        body = dumps(data)
        written = path.with_name(f"{path.name}.tmp.{uuid.uuid4().hex[:16]}")
        try:
            written.write_bytes(_checksum(repr(key).encode() + body) + body)
            os.replace(written, path)
        except BaseException:
            _delete(written)
            raise

    def discard(self, reason: Exception) -> None:
        """Delete the file that was asked for last."""
        warn_once("a file of compiled kernels was damaged and is compiled again: %s (%r)", self._asked, reason)
        _delete(self._asked)

    def _path(self, key: Any) -> Path:
        named = hashlib.blake2b(repr((self._source, key)).encode(), digest_size=16).hexdigest()
        return self._folder / f"{self._name}-{named}.nbc"


def _checksum(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_CHECKSUM_BYTES).digest()


@functools.cache
def _source_hash(path: str) -> bytes:
    return _checksum(Path(path).read_bytes())


def _delete(path: Path) -> None:
    """Delete what is there, a file or a folder, if that is possible."""
    try:
        path.unlink(missing_ok=True)
    except OSError:
        shutil.rmtree(path, ignore_errors=True)


_UNUSED_AFTER_DAYS = 14


def kernel_folder() -> str | None:
    """Folder of the compiled kernels: beside the package, else in the user's cache; None if neither can be written."""
    package = Path(__file__).parent.parent
    name = f"kernels-{_digest(package)}"
    for place in _places(package):
        try:
            (place / name).mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=place / name):
                pass
        except OSError:
            continue
        _forget_old(place, name)
        return str(place / name)
    return None


def _digest(package: Path) -> str:
    """Hash of everything that decides about the code but the machine and the arguments."""
    versions = (sys.implementation.cache_tag, *VERSIONS, np.__version__)
    settings = (LINKED_ONLY, INSTRUCTIONS, numba.config.BOUNDSCHECK)
    digest = hashlib.blake2b(repr(versions + settings).encode(), digest_size=8)
    core = package / "core"
    for source in [
        core / "compiled.py",
        core / "kernel_cache.py",
        core / "numba_internals.py",
        *sorted(package.glob("*/kernels/*.py")),
    ]:
        digest.update(source.read_bytes())
    return digest.hexdigest()


def _places(package: Path) -> list[Path]:
    """Return where to look for a folder that can be written, best first."""
    places = [package / "__pycache__"]
    if os.environ.get("NUMBA_CACHE_DIR"):
        places.insert(0, Path(os.environ["NUMBA_CACHE_DIR"]) / "omnirank")
    with contextlib.suppress(RuntimeError):  # users of containers may have no home
        places.append(Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "omnirank")
    return places


def _forget_old(place: Path, current: str) -> None:
    """Delete kernels of other versions that nobody has used for a while. Other processes may be doing the same."""
    with contextlib.suppress(OSError):
        os.utime(place / current)
    oldest = time.time() - _UNUSED_AFTER_DAYS * 86400
    for folder in place.glob("kernels-*"):
        with contextlib.suppress(OSError):
            if folder.name != current and folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)
