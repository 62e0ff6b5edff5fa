"""Settings of fact files: types of arguments, aggregates and modes, in the forms of two families of learners."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from omnirank.core.errors import DataTypeError, FileFormatError
from omnirank.core.types import PathLike
from omnirank.data.files import LineBlocks, TextSource
from omnirank.relational.fact_files import parsed_fact

Mode = tuple[str, ...]
_SECTIONS = ("relations", "aggregates", "atomtests")
_AGGREGATES = {
    "count": "count",
    "countunique": "count_unique",
    "countdistinct": "count_unique",
    "min": "min",
    "max": "max",
    "mean": "mean",
    "avg": "mean",
    "sum": "sum",
    "mode": "mode",
}
# Ways to write nested lists in one package, which have no counterpart here.
_NO_AGGREGATES = ("projection", "flatten", "flattenunique")
_MODE_LINE = re.compile(r"\s*mode\s*:\s*(.*)$", re.IGNORECASE)
_DIRECTIONS = {"+": "old", "-": "new", "`": "new", "#": "c", "@": "c"}


@dataclass
class FactSettings:
    """What a settings file says about facts.

    Parameters
    ----------
    types : dict of str to tuple of str
        Types of the arguments of each predicate, the target's among them: those that start with ``numeric`` and
        ``nominal`` are values, all others objects.
    kinds_are_known : bool
        Whether the names of the types say what they are.
    target : str or None
        The predicate that is the target.
    aggregates : tuple of str or None
        The aggregates to use.
    modes : dict of str to list of modes or None
        How a step may use each relation: "old", "new" or "c" for each argument.
    """

    types: dict[str, tuple[str, ...]] = field(default_factory=dict)
    kinds_are_known: bool = True
    target: str | None = None
    aggregates: tuple[str, ...] | None = None
    modes: dict[str, list[Mode]] | None = None


def read_fact_settings(path: PathLike, encoding: str = "utf-8") -> FactSettings:
    """Read a settings file: sections ``[Relations]``, ``[Aggregates]``, ``[AtomTests]``, or lines ``mode: r(+a, -b).``.

    Parameters
    ----------
    path : str or Path
        The file.
    encoding : str
        Its encoding.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from omnirank.relational.fact_settings import read_fact_settings
    >>> text = "[Relations]\\nkind(Movie, nominal)\\nyear(Movie, numeric)\\n[AtomTests]\\nyear(old, new)\\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "movies.s")
    ...     _ = path.write_text(text)
    ...     settings = read_fact_settings(path)
    >>> settings.target, settings.types["year"], settings.modes
    ('kind', ('Movie', 'numeric'), {'year': [('old', 'new')]})
    """
    if not isinstance(path, str | Path):
        raise DataTypeError(f"settings: give the path of a file, not {type(path).__name__}")
    path = Path(path)
    lines = list(LineBlocks(TextSource(path, encoding)).lines())
    if any(_MODE_LINE.match(text) for _, text in lines):
        return _with_modes(lines, path)
    return _with_sections(lines, path)


def _with_sections(lines: list[tuple[int, str]], path: Path) -> FactSettings:
    settings = FactSettings()
    section = None
    for line, text in lines:
        text = text.partition("//")[0].strip()
        if not text:
            continue
        if text.startswith("["):
            section = text.strip("[]").strip().lower()
            if section not in _SECTIONS:
                raise FileFormatError(
                    f"there is no section {text}: write [Relations], [Aggregates] or [AtomTests]", path=path, line=line
                )
            if section == "atomtests":
                settings.modes = settings.modes or {}
        elif section is None:
            raise FileFormatError("a settings file starts with [Relations]", path=path, line=line)
        elif section == "aggregates":
            settings.aggregates = _aggregate(settings.aggregates or (), text, path, line)
        else:
            _relation(settings, section, text, path, line)
    if not settings.types:
        raise FileFormatError("[Relations] names no relation", path=path)
    return settings


def _aggregate(known: tuple[str, ...], text: str, path: Path, line: int) -> tuple[str, ...]:
    for name in re.split(r"[\s,]+", text.strip()):
        plain = name.lower().replace("_", "")
        if plain in _NO_AGGREGATES:
            continue
        if plain not in _AGGREGATES:
            raise FileFormatError(f"there is no aggregate {name!r}", path=path, line=line)
        known = (*known, _AGGREGATES[plain])
    return known


def _relation(settings: FactSettings, section: str, text: str, path: Path, line: int) -> None:
    fact = parsed_fact(text, path, line)
    assert fact is not None
    name, arguments = fact
    if section == "relations":
        settings.target = settings.target or name
        settings.types[name] = tuple(arguments)
        return
    if name not in settings.types:
        raise FileFormatError(f"[Relations] does not name {name!r}", path=path, line=line)
    if len(arguments) != len(settings.types[name]) or not set(arguments) <= {"old", "new", "c"}:
        raise FileFormatError(
            f"{name} has {len(settings.types[name])} arguments: say old, new or c for each", path=path, line=line
        )
    modes = settings.modes if settings.modes is not None else {}
    modes.setdefault(name, []).append(tuple(arguments))
    settings.modes = modes


def _with_modes(lines: list[tuple[int, str]], path: Path) -> FactSettings:
    """Settings by lines ``mode: name(+type, -type, #type).``; other lines are about other learners."""
    settings = FactSettings(kinds_are_known=False, modes={})
    for line, text in lines:
        match = _MODE_LINE.match(text)
        if match is None:
            continue
        fact = parsed_fact(match[1], path, line)
        if fact is None:
            continue
        name, arguments = fact
        wrong = next((argument for argument in arguments if argument[:1] not in _DIRECTIONS), None)
        if wrong is not None:
            raise FileFormatError(
                f"the mode of {name} has {wrong!r}: write +type, -type or #type", path=path, line=line
            )
        types = tuple(argument[1:].strip().lower() for argument in arguments)
        if settings.types.setdefault(name, types) != types:
            raise FileFormatError(f"the modes of {name} name other types than before", path=path, line=line)
        mode = tuple(_DIRECTIONS[argument[0]] for argument in arguments)
        assert settings.modes is not None
        modes = settings.modes.setdefault(name, [])
        if mode not in modes:
            modes.append(mode)
    return settings
