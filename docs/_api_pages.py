"""Reference pages for the public names of a package, one page per name, written when the docs are built."""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import omnirank
from omnirank.clus.settings import FOLLOWED
from omnirank.measures import measures_of, primary_measure

__all__ = [
    "public_members",
    "public_names",
    "write_api_pages",
    "write_measures_table",
    "write_methods_table",
    "write_settings_table",
    "write_table",
]


Groups = Mapping[str, Sequence[str]]


def public_names(module: ModuleType) -> list[str]:
    """Names in ``__all__`` that a reader looks up (no dunder names); without it, what the module itself defines.

    Rankers that the package itself names are left to its pages.
    """
    own = [name for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__]
    named = omnirank.__all__ if module is omnirank.rankers else ()
    return [name for name in getattr(module, "__all__", own) if not name.startswith("_") and name not in named]


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


def write_api_pages(package: ModuleType, modules: Sequence[ModuleType], groups: Groups, folder: Path) -> None:
    """Write a page for every public name and module, and ``table.txt`` with the summary tables of all.

    A public name that no group holds is an error, and so is one that is not there.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    named = [name for names in groups.values() for name in names]
    public = [name for name in public_names(package) if not inspect.ismodule(getattr(package, name))]
    if sorted(named) != sorted(public):
        raise ValueError(f"groups of the reference and public names differ by {sorted(set(named) ^ set(public))}")
    for name in named:
        (folder / f"{name}.rst").write_text(_title(name) + _directive(package, name), encoding="utf-8")
    for module in modules:
        (folder / f"{module.__name__}.rst").write_text(_module_page(module), encoding="utf-8")
    (folder / "table.txt").write_text(_table(package, groups, modules), encoding="utf-8")


def write_methods_table(methods: Iterable[Any], path: Path) -> None:
    """Write the table of registered methods: name, meaning of the scores, supervision, reference."""
    rows = [(f"``{m.name}``", m.summary, ", ".join(m.supervision), m.reference) for m in methods]
    write_table(("method", "scores", "supervision", "reference"), rows, path)


def write_measures_table(tasks: Iterable[str], path: Path) -> None:
    """Write the table of measures: name, title, better direction, tasks (bold: their primary measure), definition."""
    of_tasks: dict[Any, list[str]] = {}
    for task in tasks:
        for measure in measures_of(task):
            is_primary = measure == primary_measure(task)
            of_tasks.setdefault(measure, []).append(f"**{task}**" if is_primary else task)
    rows = [
        (f"``{m.name}``", m.title, "larger" if m.larger_is_better else "smaller", ", ".join(names), m.definition)
        for m, names in of_tasks.items()
    ]
    write_table(("measure", "called", "better", "tasks", "definition"), rows, path)


def write_settings_table(path: Path) -> None:
    """Write the table of CLUS's settings that are followed, by section."""
    rows = [(f"``[{name}]``", ", ".join(f"``{setting}``" for setting in own)) for name, own in FOLLOWED.items()]
    write_table(("section", "followed"), rows, path)


def write_table(heading: Sequence[str], rows: Iterable[Sequence[str]], path: Path) -> None:
    """Write a table of reStructuredText, for pages to include."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in [heading, *rows]:
        lines += [f"   {'*' if i == 0 else ' '} - {cell}" for i, cell in enumerate(row)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _member_directive(value: Any) -> str:
    if not inspect.getdoc(value):
        return ""
    if isinstance(value, property | cached_property):
        return "autoproperty"
    is_method = inspect.isfunction(value) or isinstance(value, classmethod | staticmethod)
    return "automethod" if is_method else ""


def _module_page(module: ModuleType) -> str:
    entries = [_directive(module, item) for item in public_names(module)]
    return _title(module.__name__) + f"{inspect.getdoc(module) or ''}\n\n" + "\n".join(entries)


def _directive(module: ModuleType, name: str) -> str:
    thing = getattr(module, name)
    head = f".. currentmodule:: {module.__name__}\n\n"
    if not inspect.isclass(thing):
        kind = f".. autofunction:: {name}" if callable(thing) else f".. autodata:: {name}\n   :no-value:"
        return f"{head}{kind}\n\n"
    kind = "autoexception" if issubclass(thing, BaseException) else "autoclass"
    members = public_members(thing, module.__name__.partition(".")[0])
    body = "".join(f"   .. {directive}:: {member}\n\n" for member, directive in members.items())
    return f"{head}.. {kind}:: {name}\n\n{body}"


def _table(package: ModuleType, groups: Groups, modules: Sequence[ModuleType]) -> str:
    blocks = []
    for title, names in groups.items():
        blocks += [f".. rubric:: {title}\n", f".. currentmodule:: {package.__name__}\n", _summary(names)]
    for module in modules:
        heading = f":doc:`{module.__name__} <generated/{module.__name__}>`"
        lead = (inspect.getdoc(module) or "").partition("\n\n")[0]
        blocks += [f".. rubric:: {module.__name__}\n", f"{heading}: {lead}\n"]
        blocks += [f".. currentmodule:: {module.__name__}\n", _summary(public_names(module))]
    return "\n".join(blocks)


def _summary(names: Sequence[str]) -> str:
    return ".. autosummary::\n   :nosignatures:\n\n" + "".join(f"   {name}\n" for name in names)


def _title(text: str) -> str:
    return f"{text}\n{'=' * len(text)}\n\n"
