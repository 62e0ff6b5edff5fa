"""Content keys: what a job computes, as a hash; the same work has the same key wherever it is planned."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

# Rooms that decide no result: a change there computes nothing anew. All others count, new ones too.
_WITHOUT_RESULTS = ("cli", "plots", "report", "testing")


def canonical_json(content: Any) -> str:
    """Return JSON that is the same for equal content: sorted keys, no spaces, numbers in full precision.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.keys import canonical_json
    >>> canonical_json({"b": 0.1, "a": [1, None]})
    '{"a":[1,null],"b":0.1}'
    """
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def content_key(content: Mapping[str, Any]) -> str:
    """Return the hash of a JSON-like content.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.keys import content_key
    >>> content_key({"seed": 0, "method": "genie3"}) == content_key({"method": "genie3", "seed": 0})
    True
    >>> content_key({"seed": 0}) == content_key({"seed": 1})
    False
    """
    return hashlib.blake2b(canonical_json(content).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@cache
def code_version() -> str:
    """Return the version of the code that computes results.

    That of the package; for development versions, which change under one number, with a hash of the sources.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.keys import code_version
    >>> code_version() == code_version()
    True
    """
    from omnirank import __version__

    return f"{__version__}+{_sources_hash()}" if "dev" in __version__ else __version__


def _sources_hash() -> str:
    package = Path(__file__).resolve().parents[2]
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(package.glob("*/**/*.py")):
        place = path.relative_to(package)
        if place.parts[0] not in _WITHOUT_RESULTS:
            digest.update(place.as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
