"""Results that several processes of a test run need, computed by one of them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LONGEST_S = 3600


def folder_of_run(factory: Any) -> Path:
    """Return a folder that all processes of this test run share; ``factory`` is pytest's ``tmp_path_factory``."""
    own: Path = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def computed_once(path: Path, compute: Callable[[], Any]) -> Any:
    """Return what ``compute`` returns, as JSON holds it: of processes that ask for the same file, one computes it.

    Parameters
    ----------
    path : Path
        File of the result.
    compute : callable
        Where it fails, each process tries for itself.
    """
    claim = path.with_suffix(".claimed")
    try:
        os.close(os.open(claim, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        deadline = time.monotonic() + LONGEST_S
        while claim.exists() and not path.exists() and time.monotonic() < deadline:
            time.sleep(0.2)
        return json.loads(path.read_text()) if path.exists() else compute()
    try:
        made = path.with_suffix(".made")
        made.write_text(json.dumps(compute()))
        made.rename(path)
    finally:
        if not path.exists():
            claim.unlink()
    return json.loads(path.read_text())
