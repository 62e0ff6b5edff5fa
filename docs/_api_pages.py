"""Reference pages for the public names of a package, one page per name, written when the docs are built."""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["public_members", "public_names", "write_api_pages", "write_methods_table"]


def public_names(module: ModuleType) -> list[str]:
    """Names in ``__all__`` that a reader looks up (no dunder names)."""
    return [name for name in getattr(module, "__all__", ()) if not name.startswith("_")]


def public_members(cls: type, package: str) -> dict[str, str]:
    """Directive of each documented method and property that the package's own classes define.

    What is inherited from other libraries is documented there, with cross-references that only they resolve.
    """
    found: dict[str, str] = {}
    for base in reversed(inspect.getmro(cls)):
        if base.__module__.partition(".")[0] == package:
            own = {name: _member_directive(value) for name, value in vars(base).items() if name[0] != "_"}
            found |= {name: kind for name, kind in own.items() if kind}
    return found


def write_api_pages(package: ModuleType, folder: Path) -> None:
    """Write ``<name>.rst`` for every public name, and ``table.txt`` with the summary table of all."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    names = public_names(package)
    modules = [name for name in names if inspect.ismodule(getattr(package, name))]
    plain = [name for name in names if name not in modules]
    for name in names:
        (folder / f"{name}.rst").write_text(_page(package, name), encoding="utf-8")
    (folder / "table.txt").write_text(_table(package, plain, modules), encoding="utf-8")


def write_methods_table(methods: Iterable[Any], path: Path) -> None:
    """Write the table of registered methods: name, meaning of the scores, supervision, reference."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    rows = [("method", "scores", "supervision", "reference")]
    rows += [(f"``{m.name}``", m.summary, ", ".join(m.supervision), m.reference) for m in methods]
    for row in rows:
        lines += [f"   {'*' if i == 0 else ' '} - {cell}" for i, cell in enumerate(row)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _member_directive(value: Any) -> str:
    if not inspect.getdoc(value):
        return ""
    if isinstance(value, property | cached_property):
        return "autoproperty"
    is_method = inspect.isfunction(value) or isinstance(value, classmethod | staticmethod)
    return "automethod" if is_method else ""


def _page(package: ModuleType, name: str) -> str:
    thing = getattr(package, name)
    if inspect.ismodule(thing):
        entries = [_directive(thing, item) for item in public_names(thing)]
        title, lead = f"{package.__name__}.{name}", (inspect.getdoc(thing) or "") + "\n\n"
        return _title(title) + lead + "\n".join(entries)
    return _title(name) + _directive(package, name)


def _directive(module: ModuleType, name: str) -> str:
    thing = getattr(module, name)
    head = f".. currentmodule:: {module.__name__}\n\n"
    if not inspect.isclass(thing):
        kind = "autofunction" if callable(thing) else "autodata"
        return f"{head}.. {kind}:: {name}\n\n"
    kind = "autoexception" if issubclass(thing, BaseException) else "autoclass"
    members = public_members(thing, module.__name__.partition(".")[0])
    body = "".join(f"   .. {directive}:: {member}\n\n" for member, directive in members.items())
    return f"{head}.. {kind}:: {name}\n\n{body}"


def _table(package: ModuleType, names: list[str], modules: list[str]) -> str:
    blocks = [f".. currentmodule:: {package.__name__}\n"]
    if names:
        blocks.append(_summary(names))
    for name in modules:
        module = getattr(package, name)
        heading = f":doc:`{module.__name__} <generated/{name}>`"
        blocks += [f"{heading}\n\n.. currentmodule:: {module.__name__}\n", _summary(public_names(module))]
    return "\n".join(blocks)


def _summary(names: list[str]) -> str:
    return ".. autosummary::\n   :nosignatures:\n\n" + "".join(f"   {name}\n" for name in names)


def _title(text: str) -> str:
    return f"{text}\n{'=' * len(text)}\n\n"
