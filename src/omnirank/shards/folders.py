"""Folders for what is needed during a run only: removed when it ends, and by the next run where it was killed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from omnirank.core.errors import DataError, ParameterError, logger, setting
from omnirank.core.files import own_heading, replacing
from omnirank.core.types import PathLike
from omnirank.shards.dataset import ShardedDataset
from omnirank.shards.summary import KEPT_FOLDER

_SCRATCH_PREFIX = "omnirank-rows-"
_LOCK = "in-use"
_RUN_PREFIX = "run-"
_SEAL_BYTES = 16


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


@dataclass(frozen=True)
class Checkpoints:
    """Files of one run, each with the result of one task; picklable. Without a folder nothing is kept.

    Parameters
    ----------
    folder : Path or None
        Folder of this run.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from omnirank.shards.folders import Checkpoints
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = Checkpoints(pathlib.Path(folder, "run-1"))
    ...     kept.keep("sample-0", b"result")
    ...     kept.get("sample-0"), kept.get("sample-1")
    (b'result', None)
    """

    folder: Path | None

    def get(self, task: str) -> bytes | None:
        """Return the result of a task; None where it is not kept, or damaged."""
        if self.folder is None:
            return None
        path = self.folder / task
        try:
            content = path.read_bytes()
        except OSError:
            return None
        if _seal(content[_SEAL_BYTES:]) != content[:_SEAL_BYTES]:
            logger.warning("%s is damaged: it is computed again", path)
            return None
        return content[_SEAL_BYTES:]

    def keep(self, task: str, result: bytes) -> None:
        """Keep the result of a task; where that is not possible, the run goes on without."""
        if self.folder is None:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with replacing(self.folder / task) as file:
                file.write(_seal(result))
                file.write(result)
        except (OSError, DataError) as problem:
            logger.warning("the result of %s is not kept: %s", task, problem)

    def remove(self) -> None:
        """Remove all results: the run has ended."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


def _seal(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_SEAL_BYTES).digest()


def checkpoints_of(data: ShardedDataset, run: Mapping[str, Any], seeded: bool) -> Checkpoints:
    """Return the checkpoints of a run, those that are kept already and those to come.

    Parameters
    ----------
    data : ShardedDataset
        The data, which know where checkpoints are kept.
    run : mapping
        All that decides the results beside the data, for JSON: parameters, seed, samples.
    seeded : bool
        Whether the user gave a seed; results of fresh seeds never come up again.
    """
    if data.checkpoint is False:
        return Checkpoints(None)
    chosen = data.checkpoint not in (None, True)
    if not seeded or data.fingerprint is None:
        if chosen:
            why = "give random_state" if not seeded else "nothing tells whether data of this kind have changed"
            raise ParameterError("checkpoint", str(data.checkpoint), f"a run goes on only with the same seed: {why}")
        return Checkpoints(None)
    folder = Path(str(data.checkpoint)) if chosen else _beside(data)
    if folder is None:
        return Checkpoints(None)
    text = json.dumps([own_heading("omnirank-run", 1), data.fingerprint, dict(run)], sort_keys=True, default=repr)
    name = _RUN_PREFIX + hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    found = Checkpoints(folder / name)
    if chosen:
        _make(folder)
        _tell_others(folder, name)
    return found


def _beside(data: ShardedDataset) -> Path | None:
    folder = data.source.folder
    return folder / KEPT_FOLDER if folder is not None and os.access(folder, os.W_OK) else None


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise DataError(f"the folder {str(folder)!r} cannot be made: {problem.strerror or problem}") from None
    if not os.access(folder, os.W_OK):
        raise DataError(f"the folder {str(folder)!r} may not be written to: name another one ({setting('checkpoint')})")


def _tell_others(folder: Path, name: str) -> None:
    """Say so where the folder the user names holds a run, but another one."""
    kept = {path.name for path in folder.glob(f"{_RUN_PREFIX}*")}
    if kept and name not in kept:
        warnings.warn(
            f"{str(folder)!r} holds an unfinished run of other data, parameters or seed, or of another version: it is "
            "left as it is, and this run starts from the beginning",
            UserWarning,
            stacklevel=2,
        )
