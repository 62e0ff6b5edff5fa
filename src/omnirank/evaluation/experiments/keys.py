"""Content keys: what a job computes, as a hash; the same work has the same key wherever it is planned."""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# Rooms that decide no result: a change there computes nothing anew. All others count, new ones too.
_WITHOUT_RESULTS = ("cli", "plots", "report", "testing")
# Folders of packages that were installed, also where another environment lends them.
_INSTALLED = {"site-packages", "dist-packages"}


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

    return f"{__version__}+{_package_hash()}" if "dev" in __version__ else __version__


def _package_hash() -> str:
    package = Path(__file__).resolve().parents[2]
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(package.glob("*/**/*.py")):
        place = path.relative_to(package)
        if place.parts[0] not in _WITHOUT_RESULTS:
            digest.update(place.as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


# -- code of users --------------------------------------------------------------------------------


def sources_hash(roots: Sequence[str]) -> str:
    """Return a hash of the files of `own_modules`; "" where there are none.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.keys import sources_hash
    >>> sources_hash(["omnirank.rankers.univariate"])
    ''
    """
    modules = own_modules(roots)
    digest = hashlib.blake2b(digest_size=16)
    for name, content in sorted(modules.items()):
        digest.update(f"{name} {len(content)};".encode())
        digest.update(content)
    return digest.hexdigest() if modules else ""


def own_modules(roots: Sequence[str]) -> dict[str, bytes]:
    """Return the content of modules and of all that they import, by name; the code is read, not run.

    Left out are omnirank, the standard library, and installed packages other than those of the roots. Imports by names
    that are computed are not seen.
    """
    tops = {root.partition(".")[0] for root in roots}
    modules: dict[str, bytes] = {}
    waiting, seen = list(roots), set(roots)
    while waiting:
        name = waiting.pop()
        spec = _spec(name, tops)
        if spec is None:
            continue
        package = name if spec.submodule_search_locations is not None else name.rpartition(".")[0]
        imported = {name.rpartition(".")[0]} - {""}
        if spec.origin is not None and Path(spec.origin).is_file():  # a folder without __init__.py has none
            modules[name] = Path(spec.origin).read_bytes()
            imported |= {_absolute(one, level, package) for one, level in _imports(modules[name])}
        waiting += imported - seen
        seen |= imported
    return modules


def _spec(name: str, tops: set[str]) -> ModuleSpec | None:
    """Where a module is, if it is a user's; nothing is imported."""
    top, *rest = name.split(".")
    if top == "omnirank" or top in sys.stdlib_module_names:
        return None
    try:
        spec = find_spec(top)
    except ValueError:  # a script, or a module made by hand
        return None
    if spec is None or (top not in tops and _is_installed(spec)):
        return None
    for part in rest:
        if spec is None or spec.submodule_search_locations is None:
            return None
        top = f"{top}.{part}"
        spec = PathFinder.find_spec(top, spec.submodule_search_locations)
    return spec


def _is_installed(spec: ModuleSpec) -> bool:
    places = (spec.origin or "", *(spec.submodule_search_locations or ()))
    return any(_INSTALLED & set(Path(place).parts) for place in places)


@lru_cache(maxsize=1000)
def _imports(content: bytes) -> list[tuple[str, int]]:
    """The names that code imports, each with its number of leading dots."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):  # a compiled module
        return []
    return list(dict.fromkeys(one for node in ast.walk(tree) for one in _imported(node)))


def _imported(node: ast.AST) -> Iterator[tuple[str, int]]:
    if isinstance(node, ast.Import):
        yield from ((alias.name, 0) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        start = node.module or ""
        yield start, node.level
        # what is imported from a package may be a module of it
        yield from (((f"{start}.{alias.name}").lstrip("."), node.level) for alias in node.names)


def _absolute(name: str, level: int, package: str) -> str:
    if not level:
        return name
    start = package.split(".")
    return ".".join(filter(None, [*start[: len(start) - level + 1], name]))
