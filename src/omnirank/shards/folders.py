"""Folders for what is needed during a run only: removed when it ends, and by the next run where it was killed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from omnirank.core.errors import DataError, logger
from omnirank.core.types import PathLike

_SCRATCH_PREFIX = "omnirank-rows-"
_LOCK = "in-use"


@contextmanager
def scratch_folder(parent: PathLike | None = None) -> Iterator[Path]:
    """Yield a new folder, which is removed in the end whatever happens; folders of runs that were killed go too.

    Parameters
    ----------
    parent : str or Path, optional
        Where it is made; by default where the system has temporary files.

    Examples
    --------
    >>> from omnirank.shards.folders import scratch_folder
    >>> with scratch_folder() as folder:
    ...     print(folder.is_dir())
    True
    >>> folder.exists()
    False
    """
    base = Path(tempfile.gettempdir() if parent is None else parent)
    try:
        base.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(base)
        folder = Path(tempfile.mkdtemp(prefix=_SCRATCH_PREFIX, dir=base))
        lock = (folder / _LOCK).open("wb")
    except OSError as problem:
        raise DataError(f"no folder for rows can be made in {str(base)!r}: {problem.strerror or problem}") from None
    try:
        with lock:
            _is_locked_here(lock)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(base: Path) -> None:
    """Remove folders that no living process holds: the system gives up the locks of those that are killed."""
    for folder in base.glob(f"{_SCRATCH_PREFIX}*"):
        with suppress(OSError), (folder / _LOCK).open("rb+") as lock:
            if _is_locked_here(lock):
                logger.info("%s is left of a run that was killed: it is removed", folder)
                shutil.rmtree(folder, ignore_errors=True)


def _is_locked_here(file: IO[Any]) -> bool:
    """Lock a file for this process; False where another has locked it, or where there are no such locks."""
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
