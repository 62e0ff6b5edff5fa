"""Options of commands that also read several tables: a folder, a database, or files of facts."""

# no postponed annotations: typer reads them as objects

import copy
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from omnirank.cli.options import load_one_table, refuse_given, with_data

_PANEL = "Several tables"
_DATA = (
    "ARFF, CSV, TSV, Parquet, MATLAB or CLUS settings file (each may be gzipped); a folder of CSV or Parquet files, "
    "the URL of a database (sqlite:///shop.db), or a file of facts."
)
_TARGET = "Of several tables: table.column, or a table alone for examples without a target."
_KEY = (
    "Of several tables: movies=id, lines=order+nr (identifiers), ratings.film=movies (refers to a table), visits=* "
    "(each row is an object), ratings.year= (no key)."
)
_IGNORE = "Of several tables: tables, or table.column."
_NOMINAL = "Of several tables: table.column."
# Options of single tables that have no meaning for several.
_OF_ONE_TABLE = ("labels", "features", "header", "separator", "missing", "strings", "duplicates")


def _option(*names: str, text: str) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=_PANEL, show_default=False)


def with_any_data(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command on a Dataset or a RelationalDataset the options that say how to read it, as `with_data` does."""
    return with_data(command, load_any)


def load_any(
    time: Annotated[
        list[str] | None,
        _option("--time", text="Column that says when a row was known (table.column); may be repeated."),
    ] = None,
    target_facts: Annotated[
        list[Path] | None,
        _option("--target-facts", text="File of the target's facts; two files: positive and negative facts."),
    ] = None,
    settings: Annotated[
        Path | None, _option("--settings", text="Types of the arguments of facts, aggregates and modes.")
    ] = None,
    **of_one_table: Any,
) -> Any:
    """Read what a user names: one table, or several."""
    data = of_one_table["data"]
    if target_facts or settings is not None:
        return _facts(data, target_facts or [], settings, time, of_one_table)
    if not is_relational(data):
        refuse_given({"time": time}, load_one_table, "for several tables")
        _refuse_facts(Path(data), of_one_table["separator"])
        return load_one_table(**of_one_table)
    return _tables(data, time, of_one_table)


def _with_text(parameter: inspect.Parameter, text: str) -> inspect.Parameter:
    """An option of one table with what it means for several."""
    kind, option = get_args(parameter.annotation)
    option = copy.copy(option)
    option.help = f"{option.help} {text}"
    return parameter.replace(annotation=Annotated[kind, option])


def _signature() -> inspect.Signature:
    """The options of one table, with another text for the data, and those of several."""
    one = list(inspect.signature(load_one_table).parameters.values())
    data = one[0].replace(annotation=Annotated[str, typer.Argument(metavar="DATA", help=_DATA, show_default=False)])
    texts = {"target": _TARGET, "key": _KEY, "ignore": _IGNORE, "nominal": _NOMINAL}
    one = [_with_text(p, texts[p.name]) if p.name in texts else p for p in one]
    several = [p for p in inspect.signature(load_any).parameters.values() if p.kind is not p.VAR_KEYWORD]
    return inspect.Signature([data, *one[1:], *several])


load_any.__signature__ = _signature()  # type: ignore[attr-defined]


def is_relational(data: str) -> bool:
    """Whether what a user names is a database or a folder.

    Examples
    --------
    >>> from omnirank.cli.relational_options import is_relational
    >>> is_relational("sqlite:///shop.db"), is_relational("shop.csv")
    (True, False)
    """
    return "://" in data or Path(data).is_dir()


def _tables(data: str, time: list[str] | None, given: dict[str, Any]) -> Any:
    from omnirank.relational.dataset import RelationalDataset

    refuse_given({name: given[name] for name in _OF_ONE_TABLE}, load_one_table, "for one table")
    options: dict[str, Any] = {
        "target": _target(given["target"]),
        "keys": keys_of(given["key"]),
        "types": dict.fromkeys(_names(given["nominal"]), "nominal") or None,
        "exclude": _names(given["ignore"]) or None,
        "time": time or None,
        "task": given["task"],
    }
    if "://" in data:
        refuse_given({"encoding": given["encoding"]}, load_one_table, "for text files")
        return RelationalDataset.from_database(data, **options)
    return RelationalDataset.from_folder(data, encoding=given["encoding"], **options)


def _refuse_facts(path: Path, separator: str | None) -> None:
    """Say what is missing where a file starts with a fact."""
    from omnirank.core.errors import DataError, ParameterError
    from omnirank.data.load import file_format
    from omnirank.relational.fact_files import first_fact

    try:
        file_format(path, separator)
        return
    except ParameterError:
        if not path.is_file():
            return
    try:
        fact = first_fact(path)
    except DataError:
        return
    if fact is not None:
        raise ParameterError(f"{path.name} holds facts, such as {fact}: name the target's file by --target-facts")


def _facts(
    data: str, target_facts: list[Path], settings: Path | None, time: list[str] | None, given: dict[str, Any]
) -> Any:
    from omnirank.core.errors import ParameterError
    from omnirank.relational.dataset import RelationalDataset

    of_tables = {name: given[name] for name in (*_OF_ONE_TABLE, "target", "key", "nominal")} | {"time": time}
    refuse_given(of_tables, load_one_table, "for tables")
    if len(target_facts) not in (1, 2):
        raise ParameterError("--target-facts: give one file, or two of positive and negative facts")
    target = target_facts[0] if len(target_facts) == 1 else (target_facts[0], target_facts[1])
    shared = {"task": given["task"], "encoding": given["encoding"], "exclude": _names(given["ignore"]) or None}
    return RelationalDataset.from_facts(data, target, settings, **shared)


def keys_of(text: str | None) -> dict[str, Any] | None:
    """Return the keys that a user writes: ``movies=id,ratings.film=movies,orders=*``; without a value there are none.

    Examples
    --------
    >>> from omnirank.cli.relational_options import keys_of
    >>> keys_of("movies=id, lines=order+nr, ratings.film=movies, a.b=")
    {'movies': 'id', 'lines': ['order', 'nr'], 'ratings.film': 'movies', 'a.b': None}
    """
    from omnirank.core.errors import ParameterError

    found: dict[str, Any] = {}
    for part in _names(text):
        name, equals, value = part.partition("=")
        if not equals:
            raise ParameterError("key", text, "of several tables write table=column, or table.column=other table")
        columns = [column.strip() for column in value.split("+")]
        found[name.strip()] = None if not value.strip() else columns[0] if len(columns) == 1 else columns
    return found or None


def _target(text: str | None) -> Any:
    names = _names(text)
    return None if not names else names[0] if len(names) == 1 else names


def _names(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]
