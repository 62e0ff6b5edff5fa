"""Files of facts, one per line, ``name(argument, argument)``, and their settings, as relational learners write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from omnirank.core.errors import DataTypeError, FileFormatError
from omnirank.core.text import counted
from omnirank.core.types import PathLike
from omnirank.data.files import TextSource
from omnirank.relational.aggregation import AGGREGATES

# The shortest text between the parentheses after which nothing but a dot and a comment follows.
_FACT = re.compile(r"\s*([^\s(),'\"]+)\s*\((.*?)\)\s*\.?\s*(?:(?://|%).*)?$")
_COMMENT = re.compile(r"\s*(?:(?://|%).*)?$")
# A quote within quotes of its kind is doubled, or follows a backslash.
_QUOTED = re.compile(r"\s*(?:'((?:[^'\\]|\\.|'')*)'|\"((?:[^\"\\]|\\.|\"\")*)\")\s*(,|$)")
_ESCAPED = {"'": re.compile(r"\\(.)|'(')"), '"': re.compile(r"\\(.)|\"(\")")}
_BARE = re.compile(r"\s*([^,'\"]*?)\s*(,|$)")
MISSING = "?"
# Types are compared pair by pair, and each place may be the one that a step comes from.
_MOST_ARGUMENTS = 1000


@dataclass
class Predicate:
    """Facts of one name: for each place its arguments, fact by fact.

    Parameters
    ----------
    name : str
        The name.
    arguments : list of list of str
        One list per place.
    """

    name: str
    arguments: list[list[str]] = field(default_factory=list)

    @property
    def arity(self) -> int:
        """Number of places."""
        return len(self.arguments)

    @property
    def n_facts(self) -> int:
        """Number of facts."""
        return len(self.arguments[0])


def read_facts(paths: PathLike | Sequence[PathLike], encoding: str = "utf-8") -> dict[str, Predicate]:
    """Read one or several files of facts, plain or gzipped.

    A fact may end in a dot. ``//`` and ``%`` start a comment: a line, or what follows a fact. Arguments in quotes may
    hold commas and parentheses, and quotes that are doubled or follow a backslash. A fact with the argument ``?`` is
    not known, and left out.

    Parameters
    ----------
    paths : str, Path or sequence of those
        The files.
    encoding : str
        Their encoding.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from omnirank.relational.fact_files import read_facts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "facts.txt")
    ...     _ = path.write_text("likes(ana, 'eggs, ham'). // and more\\n% nothing\\nlikes(bob,beef)\\n")
    ...     read_facts(path)["likes"].arguments
    [['ana', 'bob'], ['eggs, ham', 'beef']]
    """
    found: dict[str, Predicate] = {}
    for path in files(paths):
        for line, text in TextSource(path, encoding).lines():
            fact = parsed_fact(text, path, line)
            if fact is None:
                continue
            name, arguments = fact
            predicate = found.get(name)
            if predicate is None:
                predicate = found[name] = Predicate(name, [[] for _ in arguments])
            if len(arguments) != predicate.arity:
                text = f"{name} has {counted(len(arguments), 'argument')} here, but {predicate.arity} before"
                raise FileFormatError(f"{text}: arguments that hold commas are put in quotes", path=path, line=line)
            if MISSING not in arguments:
                for place, argument in zip(predicate.arguments, arguments, strict=True):
                    place.append(argument)
    return found


def files(paths: PathLike | Sequence[PathLike]) -> list[Path]:
    """Return one or several paths as a list.

    Examples
    --------
    >>> from omnirank.relational.fact_files import files
    >>> [path.name for path in files("facts.txt")]
    ['facts.txt']
    """
    given = [paths] if isinstance(paths, str | Path) else paths
    if not isinstance(given, tuple | list) or not given:
        raise DataTypeError(f"give the path of a file of facts, or a list of them, not {given!r}")
    for path in given:
        if not isinstance(path, str | Path):
            raise DataTypeError(f"give paths of files of facts, not {type(path).__name__}")
    return [Path(path) for path in given]


def parsed_fact(text: str, path: Path, line: int) -> tuple[str, list[str]] | None:
    """Return the name and the arguments of a fact in a line; None for a line without one.

    Examples
    --------
    >>> from pathlib import Path
    >>> from omnirank.relational.fact_files import parsed_fact
    >>> parsed_fact("age(ana, 21).", Path("facts.txt"), 1)
    ('age', ['ana', '21'])
    """
    if _COMMENT.fullmatch(text):
        return None
    match = _FACT.fullmatch(text)
    if match is None:
        raise FileFormatError(f"{text.strip()[:60]!r} is no fact, such as likes(ana, beef).", path=path, line=line)
    name, inside = match.groups()
    if "'" not in inside and '"' not in inside:
        arguments = [part.strip() for part in inside.split(",")]
    else:
        arguments = _with_quotes(inside, path, line)
    if len(arguments) > _MOST_ARGUMENTS:
        text = f"{name} has {len(arguments)} arguments, more than {_MOST_ARGUMENTS}"
        raise FileFormatError(f"{text}: tables are best given as CSV files", path=path, line=line)
    if "" in arguments and "'" not in inside and '"' not in inside:
        raise FileFormatError(f"{name} has an empty argument: write ? for an unknown one", path=path, line=line)
    return name, arguments


def _with_quotes(inside: str, path: Path, line: int) -> list[str]:
    arguments, at = [], 0
    while True:
        match = _QUOTED.match(inside, at)
        if match is not None:
            quote = "'" if match[1] is not None else '"'
            quoted = match[1] if match[1] is not None else match[2]
            arguments.append(_ESCAPED[quote].sub(lambda found: found[1] or found[2], quoted))
        else:
            match = _BARE.match(inside, at)
            if match is None:
                raise FileFormatError(f"the quotes in {inside[:60]!r} do not match", path=path, line=line)
            arguments.append(match[1])
        at = match.end()
        if match[match.lastindex or 1] != ",":
            return arguments


Mode = tuple[str, ...]
_SECTIONS = ("relations", "aggregates", "atomtests")
# Sections of settings files that learners here have parameters for, or nothing like.
_OTHER_SECTIONS = {
    "treeparameters": "set max_depth (their depth - 1), min_samples_leaf and lookahead of the learner instead",
    "relationsconstructed": "write such relations as facts",
}
_AGGREGATES = {name.replace("_", ""): name for name in AGGREGATES} | {"countdistinct": "count_unique", "avg": "mean"}
# Ways to write nested lists in one package.
_NO_AGGREGATES = {
    "projection": "always done: every place of several is aggregated on its own",
    "flatten": "not done: groups are aggregated, not joined",
    "flattenunique": "not done: groups are aggregated, not joined",
}
_MODE_LINE = re.compile(r"\s*mode\s*:\s*(.*)$", re.IGNORECASE)
_DIRECTIONS = {"+": "old", "-": "any", "`": "any", "#": "c", "@": "c"}


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
        How a step may use each relation: "old", "any" or "c" for each argument. What the files call new may also be
        known.
    notes : list of str
        What is not used.
    """

    types: dict[str, tuple[str, ...]] = field(default_factory=dict)
    kinds_are_known: bool = True
    target: str | None = None
    aggregates: tuple[str, ...] | None = None
    modes: dict[str, list[Mode]] | None = None
    notes: list[str] = field(default_factory=list)


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
    >>> from omnirank.relational.fact_files import read_fact_settings
    >>> text = "[Relations]\\nkind(Movie, nominal)\\nyear(Movie, numeric)\\n[AtomTests]\\nyear(old, new)\\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "movies.s")
    ...     _ = path.write_text(text)
    ...     settings = read_fact_settings(path)
    >>> settings.target, settings.types["year"], settings.modes
    ('kind', ('Movie', 'numeric'), {'year': [('old', 'any')]})
    """
    if not isinstance(path, str | Path):
        raise DataTypeError(f"settings: give the path of a file, not {type(path).__name__}")
    path = Path(path)
    lines = list(TextSource(path, encoding).lines())
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
            if section in _OTHER_SECTIONS:
                settings.notes.append(f"section {text} of the settings is not used: {_OTHER_SECTIONS[section]}")
            elif section not in _SECTIONS:
                raise FileFormatError(
                    f"there is no section {text}: write [Relations], [Aggregates] or [AtomTests]", path=path, line=line
                )
            if section == "atomtests":
                settings.modes = settings.modes or {}
        elif section is None:
            raise FileFormatError("a settings file starts with [Relations]", path=path, line=line)
        elif section == "aggregates":
            _aggregate(settings, text, path, line)
        elif section in _OTHER_SECTIONS:
            settings.notes[-1] += f" ({text})"
        else:
            _relation(settings, section, text, path, line)
    if not settings.types:
        raise FileFormatError("[Relations] names no relation", path=path)
    return settings


def _aggregate(settings: FactSettings, text: str, path: Path, line: int) -> None:
    settings.aggregates = settings.aggregates or ()
    for name in re.split(r"[\s,]+", text.strip()):
        plain = name.lower().replace("_", "")
        if plain in _NO_AGGREGATES:
            settings.notes.append(f"aggregate {name} of the settings is {_NO_AGGREGATES[plain]}")
            continue
        if plain not in _AGGREGATES:
            raise FileFormatError(f"there is no aggregate {name!r}", path=path, line=line)
        settings.aggregates += (_AGGREGATES[plain],)


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
    assert settings.modes is not None  # the section has begun
    settings.modes.setdefault(name, []).append(tuple("any" if word == "new" else word for word in arguments))


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
