"""Where compiled kernels are kept: a folder for each set of kernel sources and each set of versions that compile them.

Numba itself looks at the file of the compiled function only: a change in a function that it calls would go unnoticed.
Two versions of the compiler would overwrite each other's files. Kinds of machine share a folder: file by file, code is
kept for the machine that it was compiled for.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import llvmlite
import numba
import numpy as np

from omnirank.core.kernel_parts import LINKED_ONLY

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
    versions = (sys.implementation.cache_tag, numba.__version__, llvmlite.__version__, np.__version__)
    settings = (LINKED_ONLY, numba.config.BOUNDSCHECK)
    digest = hashlib.blake2b(repr(versions + settings).encode(), digest_size=8)
    core = package / "core"
    for source in [core / "compiled.py", *sorted(core.glob("kernel_*.py")), *sorted(package.glob("*/kernels/*.py"))]:
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
