"""Code of users behind a job: the modules of a method and a task, with whatever of theirs they import."""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path

from omnirank.core.registry import get_method
from omnirank.evaluation.experiments.learners import PREDICTORS
from omnirank.tasks import get_task

# Folders of packages that were installed, also where another environment lends them.
_INSTALLED = {"site-packages", "dist-packages"}


def own_code(use: str, task: str) -> str:
    """Return a hash of the users' code behind a method and a task; "" where both are omnirank's.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.own_code import own_code
    >>> own_code("genie3", "regression")
    ''
    """
    rankers = [] if use in PREDICTORS else [get_method(use).ranker.partition(":")[0]]
    return sources_hash([*rankers, type(get_task(task)).__module__])


def sources_hash(roots: Sequence[str]) -> str:
    """Return a hash of the files of `own_modules`; "" where there are none."""
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
