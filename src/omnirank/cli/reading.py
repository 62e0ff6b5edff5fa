"""How commands read their data: one dataclass of options, one function for files, parts, tables and facts."""

# no postponed annotations: typer reads them as objects

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnirank.cli.options import option, pairs
from omnirank.cli.output import note
from omnirank.cli.writing import check_out
from omnirank.core.text import counted, did_you_mean

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset

_CONSTANTS = {"yes": True, "true": True, "no": False, "false": False, "none": None}
# Keywords that only data in parts have.
_OF_PARTS = {"max_memory", "scratch"}
_PARQUET = (".parquet", ".pq")


def _option(declaration: str, text: str, **more: Any) -> Any:
    return option(declaration, text, rich_help_panel="Reading the data", **more)


Ignore = Annotated[list[str] | None, _option("--ignore COLUMNS", "Columns to leave out.")]
Missing = Annotated[
    list[str] | None, _option("--missing TEXT", "Text of a missing cell besides NA, ?, ...; repeatable.")
]
Decimal = Annotated[str | None, _option("--decimal SIGN", "Decimal sign: . (default), a comma, or ., for either.")]
Censored = Annotated[str | None, _option("--censored HOW", "What <0.01 is: missing, limit or half of it.")]
Skip = Annotated[int | None, _option("--skip N", "Number of lines above the table.", min=0)]
Sheet = Annotated[str | None, _option("--sheet NAME", "Sheet of a workbook, by name or number from 1.")]
Read = Annotated[
    list[str] | None,
    _option(
        "--read KEY=VALUE", "Other keywords of om.load: nominal=site, encoding=cp1252, header=no, ...; repeatable."
    ),
]
_DATA = (
    "A file (CSV, TSV, Excel, ODS, ARFF, Parquet, AnnData, MATLAB, CLUS settings, facts), a folder of CSV or Parquet "
    "files, or the URL of a database."
)
_TARGET = (
    "Target columns: names, positions from 1, ranges (17-30, last, last:14) or patterns (y_*), separated by commas; of "
    "several tables table.column; of facts, their file. Without a target, features are ranked by how they cluster the "
    "data."
)
_KEY = "Columns that identify the examples; of several tables films=id, cast=film+nr, ratings.film=films, a=* (none)."


@dataclass(frozen=True)
class ReadOptions:
    """How a command reads its data: each field is an option (see `omnirank.cli.command.DataCommand`).

    Options that choose columns may be repeated.
    """

    data: Annotated[str, typer.Argument(metavar="DATA", help=_DATA)]
    target: Annotated[list[str] | None, _option("--target -t COLUMNS", _TARGET)] = None
    task: Annotated[str | None, _option("--task TASK", "The task (default: inferred from the target).")] = None
    ignore: Ignore = None
    key: Annotated[list[str] | None, _option("--key COLUMNS", _KEY)] = None
    groups: Annotated[
        list[str] | None, _option("--groups COLUMNS", "Columns of what belongs together, such as patients.")
    ] = None
    decimal: Decimal = None
    missing: Missing = None
    censored: Censored = None
    skip: Skip = None
    sheet: Sheet = None
    read: Read = None

    def keywords(self) -> dict[str, Any]:
        """Return the keywords of `omnirank.load` that were given.

        Examples
        --------
        >>> from omnirank.cli.reading import ReadOptions
        >>> ReadOptions("a.csv", ["x", "y"], read=["separator=\\\\t", "header=no"]).keywords()
        {'target': ['x', 'y'], 'separator': '\\t', 'header': False}
        """
        given = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in ("data", "read")}
        values: dict[str, Any] = {name: value for name, value in given.items() if value not in (None, [])}
        for name in {"target", "ignore", "key", "groups"} & values.keys():
            values[name] = values[name] if len(values[name]) > 1 else values[name][0]
        rare: dict[str, Any] = {
            name: _CONSTANTS.get(
                text.lower(), int(text) if name in ("header", "skip", "footer") and text.isdecimal() else text
            )
            for name, text in pairs("read", self.read).items()
        }
        if "missing" in rare:
            rare["missing"] = [*values.get("missing", []), rare["missing"]]
        values |= rare
        return values | ({"separator": "\t"} if values.get("separator") == "\\t" else {})

    def like(self, path: Path) -> "ReadOptions":
        """Return the options for another file or folder; a file is read whole, also where the first were parts."""
        whole = path.is_file()
        kept = [text for text in self.read or [] if not (whole and {*pairs("read", [text])} & _OF_PARTS)]
        return replace(self, data=str(path), read=kept)


@dataclass(frozen=True)
class OptionalReadOptions(ReadOptions):
    """The same for a command that can do without data."""

    data: Annotated[str, _option("--data DATA", "The data that were ranked, as rank takes them.")] = ""


@cache
def reading_keys() -> frozenset[str]:
    """Return all keywords of the functions that read data."""
    from omnirank.data.load import load
    from omnirank.relational.dataset import RelationalDataset
    from omnirank.shards.dataset import open_shards

    readers: tuple[Callable[..., Any], ...] = (load, open_shards, RelationalDataset.from_folder)
    return frozenset(name for read in (*readers, RelationalDataset.from_facts) for name in _keywords(read))


def read_data(
    options: ReadOptions,
    *,
    tables: bool = False,
    parts: bool = False,
    into_memory: bool = True,
    writes: Sequence[Path | None] = (),
) -> Any:
    """Read the data that a user names.

    Parameters
    ----------
    options : ReadOptions
        The data and how to read them.
    tables, parts : bool
        Whether the command takes several tables, and Parquet files that are parts of one table.
    into_memory : bool
        Whether parts that fit in memory become a Dataset.
    writes : sequence of Path or None
        Files that the command writes: none of them may be the data.

    Returns
    -------
    Dataset, RelationalDataset or ShardedDataset
        The data.
    """
    from omnirank.data.load import load

    for path in writes:
        if path is not None:
            check_out(path, Path(options.data))
    given = options.keywords()
    kind = _kind(options.data, given)
    if kind == "parts" and parts:
        return _parts(options.data, given, into_memory)
    if kind in ("tables", "facts") and tables:
        return (_facts if kind == "facts" else _tables)(options.data, given)
    if kind in ("tables", "facts") or (kind == "parts" and not Path(options.data).is_file()):
        from omnirank.core.errors import DataError

        what = "a table in parts" if kind == "parts" else "several tables: omnirank features makes one table of them"
        raise DataError(f"this command reads one file, and {options.data!r} holds {what}")
    return call_reader(load, options.data, given, "one file")


def with_keys(data: "Dataset", options: ReadOptions) -> "Dataset":
    """Return a data set read with these options, with the columns of --key and --groups in front of its features."""
    from omnirank.data.dataset import Dataset
    from omnirank.data.load import load

    names = [*(options.key or []), *(options.groups or [])]
    if not names or Path(options.data).suffix == ".h5ad":
        return data
    keys = load(
        options.data, **replace(options, key=None, groups=None).keywords() | {"features": names, "nominal": names}
    )
    table = keys.features.beside(data.features)
    return Dataset(table, data.target, task=data.task, hierarchy=data.hierarchy, name=data.name)


def _kind(data: str, given: dict[str, Any]) -> str:
    """What the data are: several tables, parts of one table, facts or a file."""
    if "://" in data:
        return "tables"
    if given.keys() & _OF_PARTS or _is_in_parts(data, given.get("target")):
        return "parts"
    if Path(data).is_dir():
        return "tables"
    return "facts" if "settings" in given or _holds_facts(Path(data), given.get("separator")) else "file"


def _keywords(read: Callable[..., Any]) -> list[str]:
    from omnirank.data.csv import TextFormat

    names = list(inspect.signature(read).parameters)[1:]
    return [*names[:-1], *TextFormat.__dataclass_fields__] if names[-1] == "reading" else names


def call_reader(read: Callable[..., Any], source: str, given: dict[str, Any], what: str) -> Any:
    """Call a function that reads a source with the keywords given; refuse those that it does not have."""
    from omnirank.core.errors import ParameterError

    keys = _keywords(read)
    for name in given:
        if name not in keys:
            if name in ReadOptions.__dataclass_fields__:
                raise ParameterError(f"--{name} is not for {what}: leave it out")
            raise ParameterError(
                f"--read {name}: no such key for {what}{did_you_mean(name, keys)}; the keys are {', '.join(keys)}"
            )
    return read(source, **given)


# -- Parquet files that are parts of one table ------------------------------------------------------------------


def _parts(source: str, given: dict[str, Any], into_memory: bool) -> Any:
    from omnirank.shards.dataset import open_shards

    data = call_reader(open_shards, source, given, "Parquet files that are parts of one table")
    if not given.keys() & _OF_PARTS:
        files = counted(data.n_shards, "Parquet file")
        note(f"{source}: {files} with the same columns are read as one table; --target table.column reads several")
    return data.in_memory() if into_memory and data.fits_in_memory else data


def _is_in_parts(source: str, target: str | list[str] | None) -> bool:
    """Whether files are parts of one table: a pattern, or a folder of Parquet files with the same columns.

    A schema file means several tables, and so does a target with the name of one of the files.
    """
    from omnirank.core.errors import OmnirankError

    path = Path(source)
    if not path.is_dir():
        return any(sign in source for sign in "*?[") and not path.exists()
    from omnirank.relational.readers import NAMES
    from omnirank.shards.parts import parts_of
    from omnirank.shards.source import agreed_columns

    files = [file for file in path.iterdir() if file.is_file() and not file.name.startswith((".", "_"))]
    if any(file.name in NAMES for file in files) or not all(file.suffix.lower() in _PARQUET for file in files):
        return False
    tables = {file.stem for file in files}
    if any(name in tables or name.partition(".")[0] in tables for name in _names(target)):
        return False
    try:
        agreed_columns(parts_of(path))
    except OmnirankError:
        return False
    return True


# -- several tables -------------------------------------------------------------------------------------------


def _names(texts: str | list[str] | None) -> list[str]:
    joined = texts if isinstance(texts, str) else ",".join(texts or [])
    return [part.strip() for part in joined.split(",") if part.strip()]


def _types_of(text: str) -> dict[str, str]:
    """Kinds of columns: ``a.b`` is nominal, ``a.b=numeric`` what is said."""
    return {name: kind or "nominal" for name, _, kind in (part.partition("=") for part in _names(text))}


def _tables(source: str, given: dict[str, Any]) -> Any:
    """Read a database or a folder; relational data sets have keywords of their own."""
    from omnirank.relational.dataset import RelationalDataset

    convert: dict[str, tuple[str, Callable[[str], Any]]] = {
        "target": ("target", lambda text: names[0] if len(names := _names(text)) == 1 else names),
        "key": ("keys", keys_of),
        "nominal": ("types", _types_of),
        "ignore": ("exclude", _names),
        "time": ("time", _names),
        "tables": ("tables", _names),
    }
    keywords: dict[str, Any] = {}
    for name, value in given.items():
        keyword, converted = convert.get(name, (name, lambda value: value))
        keywords[keyword] = converted(value)
    if "://" in source:
        return call_reader(RelationalDataset.from_database, source, {"target": None} | keywords, "a database")
    return call_reader(RelationalDataset.from_folder, source, keywords, "several tables")


def keys_of(text: str | list[str]) -> dict[str, Any]:
    """Return the keys in a text: ``movies=id,ratings.film=movies,orders=*``; without a value there are none.

    Examples
    --------
    >>> from omnirank.cli.reading import keys_of
    >>> keys_of("lines=order+nr, ratings.film=movies, a.b=, back.order+nr=lines")
    {'lines': ['order', 'nr'], 'ratings.film': 'movies', 'a.b': None, ('back', ('order', 'nr')): 'lines'}
    """
    from omnirank.core.errors import ParameterError

    keys: dict[str, Any] = {}
    for part in _names(text):
        name, equals, value = part.partition("=")
        if not equals:
            raise ParameterError("key", text, "of several tables write table=column, or table.column=other table")
        columns = [column.strip() for column in value.split("+")]
        table, _, several = name.strip().partition(".")
        given: Any = (table, tuple(several.split("+"))) if "+" in several else name.strip()
        keys[given] = None if not value.strip() else columns[0] if len(columns) == 1 else columns
    return keys


# -- facts ----------------------------------------------------------------------------------------------------


def _holds_facts(path: Path, separator: str | None) -> bool:
    """Whether a file with an ending of no other format starts with a fact."""
    from omnirank.core.errors import DataError, ParameterError
    from omnirank.data.load import reader_of

    try:
        reader_of(path, separator)
    except (DataError, ParameterError):
        from omnirank.data.files import TextSource
        from omnirank.relational.fact_files import parsed_fact

        if not path.is_file():
            return False
        try:  # any bytes are Latin-1: whether they are what the user says is for the reader to find out
            lines = TextSource(path, "latin-1").lines()
            return any(parsed_fact(text, path, line) is not None for line, text in lines)
        except DataError:
            return False
    return False


def _facts(source: str, given: dict[str, Any]) -> Any:
    from omnirank.core.errors import ParameterError
    from omnirank.relational.dataset import RelationalDataset

    files = _names(given.pop("target", None))
    if len(files) not in (1, 2):
        raise ParameterError(
            f"{Path(source).name} holds facts: name the file of the target's facts by --target, or two files of "
            "positive and negative facts"
        )
    given["target_facts"] = files[0] if len(files) == 1 else (files[0], files[1])
    if "ignore" in given:
        given["exclude"] = _names(given.pop("ignore"))
    if "nominal" in given:
        given["types"] = _types_of(given.pop("nominal"))
    return call_reader(RelationalDataset.from_facts, source, given, "facts")
