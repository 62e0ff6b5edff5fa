"""Files of facts: one fact per line, ``name(argument, argument)``, as relational learners write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from omnirank.core.errors import DataTypeError, FileFormatError
from omnirank.core.plurals import counted
from omnirank.core.types import PathLike
from omnirank.data.files import LineBlocks, TextSource

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
        for line, text in LineBlocks(TextSource(path, encoding)).lines():
            fact = parsed_fact(text, path, line)
            if fact is None:
                continue
            name, arguments = fact
            predicate = found.get(name)
            if predicate is None:
                predicate = found[name] = Predicate(name, [[] for _ in arguments])
            if len(arguments) != predicate.arity:
                raise FileFormatError(
                    f"{name} has {counted(len(arguments), 'argument')} here, but {predicate.arity} before: "
                    "arguments that hold commas are put in quotes",
                    path=path,
                    line=line,
                )
            if MISSING not in arguments:
                for place, argument in zip(predicate.arguments, arguments, strict=True):
                    place.append(argument)
    return found


def first_fact(path: Path) -> str | None:
    """Return the first fact of a file as it is written, None of a file without one; an error where it is no fact.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from omnirank.relational.fact_files import first_fact
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "facts.txt")
    ...     _ = path.write_text("% people\\nage(ana, 21).\\n")
    ...     first_fact(path)
    'age(ana, 21).'
    """
    for line, text in LineBlocks(TextSource(path)).lines():
        if parsed_fact(text, path, line) is not None:
            return text.strip()[:60]
    return None


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
        raise FileFormatError(
            f"{name} has {len(arguments)} arguments, more than {_MOST_ARGUMENTS}: tables are best given as CSV files",
            path=path,
            line=line,
        )
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
