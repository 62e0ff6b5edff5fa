"""Which known name was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

# Parameters that have been given another name.
RENAMED = {"score": "importance"}


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return which known name was probably meant, in words; nothing where none is similar.

    Examples
    --------
    >>> from omnirank.core.suggestions import did_you_mean
    >>> did_you_mean("parameter", ["parameters", "grid"]), did_you_mean("x", ["parameters"])
    (" (did you mean 'parameters'?)", '')
    >>> did_you_mean("score", ["importance", "n_trees"])
    " (it is called 'importance' now)"
    """
    known = list(known)
    if RENAMED.get(str(name)) in known:
        return f" (it is called {RENAMED[str(name)]!r} now)"
    close = get_close_matches(str(name), known, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def files_like(path: str | Path) -> str:
    """Return a hint at the file of the same folder that is probably meant, or nothing."""
    path = Path(path)
    return did_you_mean(path.name, [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else [])
