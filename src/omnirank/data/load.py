"""One function for every kind of file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, DataTypeError, FileFormatError, OmnirankError, ParameterError, setting
from omnirank.core.text import files_like, similar_names
from omnirank.core.types import PathLike
from omnirank.data.annotated import annotated_dataset, read_h5ad
from omnirank.data.arff import read_arff
from omnirank.data.clus_settings import read_clus
from omnirank.data.column_choice import ColumnChoice, choose_columns
from omnirank.data.containers import AnnotatedLike, is_annotated
from omnirank.data.csv import TextFormat, read_delimited
from omnirank.data.dataset import Dataset, FileSource
from omnirank.data.excel import WORKBOOKS, Workbook, read_sheet
from omnirank.data.files import Content, TextSource, file_ending, plain_name
from omnirank.data.header import separator_of
from omnirank.data.matlab import read_matlab
from omnirank.data.mulan import read_mulan_labels
from omnirank.data.parquet import read_parquet
from omnirank.data.roles import ROLES, assign_roles, dataset_from, with_nominal
from omnirank.data.task_registry import is_unsupervised

_ANNOTATED = ".h5ad"
# Settings that are looked for one after the other.
_MOST_FAULTS = 10


class Reader(NamedTuple):
    """What reads files of a kind: a function of the path, and the arguments of `load` that it takes."""

    read: Callable[..., Content]
    options: tuple[str, ...] = ()


_TEXT = (*TextFormat.__dataclass_fields__, "nominal", *ROLES)
_ARFF = Reader(read_arff, ("hierarchy_kind", "hierarchy_separator", "duplicates", "encoding"))
DELIMITED = Reader(read_delimited, _TEXT)
_SHEET = Reader(read_sheet, ("sheet", *(option for option in _TEXT if option not in ("separator", "encoding"))))
READERS = {
    ".arff": _ARFF,
    ".csv": DELIMITED,
    ".tsv": DELIMITED,
    ".tab": DELIMITED,
    ".parquet": Reader(read_parquet),
    ".pq": Reader(read_parquet),
    **dict.fromkeys(WORKBOOKS, _SHEET),
    ".mat": Reader(read_matlab),
    ".s": Reader(read_clus, ("encoding",)),
}
# Arguments of `load` that say how a file is read; a reader that does not take one refuses it.
_READING = {option for reader in READERS.values() for option in reader.options} - {*ROLES, "nominal"}
# Endings of files that are no tables, and what to do with them.
_NO_DATA = {
    ".json": "data are not read from JSON; a ranking is read by om.Ranking.load, omnirank report and compare-rankings",
    ".omr": "a model is no data: om.load_model and omnirank predict read it",
    ".sql": "statements of SQL are no data: give the URL of the database (sqlite:///FILE.db), or a CSV file",
    **dict.fromkeys(
        (".db", ".db3", ".sqlite", ".sqlite3"), "a database of SQLite is named by its URL, sqlite:///{path}"
    ),
}


def load(
    path: PathLike | AnnotatedLike,
    target: ColumnChoice | None = None,
    *,
    labels: PathLike | None = None,
    features: ColumnChoice | None = None,
    key: ColumnChoice | None = None,
    ignore: ColumnChoice | None = None,
    groups: ColumnChoice | None = None,
    nominal: ColumnChoice | None = None,
    task: str = "auto",
    header: str | bool | int = "auto",
    separator: str | None = None,
    decimal: str = ".",
    thousands: str = "",
    missing: Sequence[str] = (),
    censored: str = "error",
    units: str = "error",
    padded: str = "categories",
    skip: int | None = None,
    footer: int | None = None,
    sheet: str | int | None = None,
    encoding: str = "utf-8",
    strings: str = "error",
    duplicates: str = "error",
    hierarchy_kind: str = "auto",
    hierarchy_separator: str = "/",
    name: str | None = None,
) -> Dataset:
    r"""Read a file into a data set.

    The ending says what the file is: ARFF (``.arff``: dense, sparse, hierarchical), delimited text
    (``.csv``, ``.tsv``, ``.tab``; any ending when ``separator`` is given), workbooks (``.xlsx``, ``.xls``, ``.ods``),
    Parquet (``.parquet``, ``.pq``), AnnData (``.h5ad``: target and key are columns of ``obs``), MATLAB (``.mat`` with X
    and Y) or settings of CLUS (``.s``: the data file and the columns it names). Text may be gzipped (``.gz``).

    Numbers never become categories silently. Where cells of a text file or a sheet are not read as they are meant, the
    error lists everything that is in the way, with the call that reads the file.

    Columns are chosen by exact name, else by position from 1 (``1``), range (``17-30``, ``last``,
    ``last:14``), pattern (``label_*``) or regular expression (``re:^y\d+$``); several are separated by
    commas or given as a list.

    Parameters
    ----------
    path : str or Path, or AnnData
        The file, or an object with ``X``, ``obs`` and ``var_names``.
    target : column choice, optional
        The target columns. Without them: the hierarchical attribute, the labels of ``labels``, the labels
        that a relation name of MEKA counts (``-C``), Y of a MATLAB file, what a settings file says; else
        there is no target and the task is clustering. ``notes`` of the data set says what was taken.
    labels : str or Path, optional
        A label file of Mulan (``.xml``): its names are the target, and nested labels form a hierarchy.
    features : column choice, optional
        The features; by default all columns that are nothing else.
    key, ignore : column choice, optional
        Columns that identify the examples, and columns to leave out: neither is a feature.
    groups : column choice, optional
        Columns that say which examples belong together, such as patients or sites with repeated measurements, see
        :meth:`Dataset.with_groups`. They are no features.
    nominal : column choice, optional
        Columns to be taken as nominal although they hold numbers or are string attributes.
    task : str
        The task, or "auto" to infer it; "clustering" sets the target aside.
    header : {"auto", True, False} or int
        Whether delimited text or a sheet starts with a row of names, see :class:`omnirank.data.csv.TextFormat`. A
        number says in how many rows the names stand: groups above them, or units below.
    separator : str, optional
        The character between cells of delimited text; by default that of the ending.
    decimal : {".", ",", ".,"}
        The decimal sign of delimited text, and of numbers that are text in a sheet; ``".,"``: either.
    thousands : {"", ".", ",", " ", "'"}
        The sign between groups of three digits.
    missing : sequence of str
        What stands for a missing cell of delimited text or a sheet besides an empty one, ``?``, ``NA``, ``NaN``,
        ``N/A``, ``NULL`` and ``#N/A``.
    censored : {"error", "missing", "limit", "half"}
        What a value below a limit of detection (``<0.01``) is: an error, a missing cell, the limit or half of it.
        Values above a limit (``>100``) are the limit in both cases.
    units : {"error", "drop"}
        What to do with units in cells (``1.2 kg``, ``5 %``).
    padded : {"categories", "numbers"}
        What a column is in which all cells are digits, as many in each, some with leading zeros (``007``).
    skip : int, optional
        Number of lines or rows above the table. By default titles there are an error that says how many they are.
    footer : int, optional
        Number of rows below the table. By default sums and remarks there are an error that says how many they are.
    sheet : str or int, optional
        Name or number (from 1) of the sheet of a workbook; by default the first one.
    encoding : str
        The encoding of a text file, such as ``"cp1252"``. A byte that it does not have is an error.
    strings : {"error", "drop"}
        What to do with string attributes of an ARFF file that would be features.
    duplicates : {"error", "number"}
        What to do with a column name that was there before: raise, or call it ``name_2``, ``name_3``, ...
    hierarchy_kind : {"auto", "tree", "dag"}
        What a hierarchical attribute declares: paths, parent/child pairs, or what its entries look like.
    hierarchy_separator : str
        What stands between the labels of a path or pair.
    name : str, optional
        Name of the data set; by default that of the file without its endings.

    Returns
    -------
    Dataset
        The data. A malformed file is a FileFormatError with file, line and column; its ``cure`` has the arguments
        that are missing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import omnirank as om
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "plants.csv")
    ...     _ = path.write_text("height,colour,kind\n1.5,red,a\n0.5,blue,b\n")
    ...     om.load(path, target="last")
    <Dataset 'plants': 2 examples, 2 features, classification, 1 target, 2 labelled>
    """
    given = dict(locals())
    changed = _options(given)
    if is_annotated(path):
        return annotated_dataset(path, **_of_annotated(given, "data"))
    file = _existing(path)
    sheets = Workbook(file, sheet) if file_ending(file) in WORKBOOKS else None
    try:
        data = with_all_cures(lambda cure: _loaded(file, given | cure, sheets), str(path), changed)
    except ParameterError as error:
        if error.name == "key" and any(str(error.value) in str(one) for one in _several(groups)):  # read as keys
            raise ParameterError("groups", error.value, error.advice) from None
        raise
    data.source = FileSource(str(path), changed)
    return data


def _loaded(path: Path, given: dict[str, Any], source: Any) -> Dataset:
    """The data set in a file."""
    if file_ending(path) == _ANNOTATED:
        return annotated_dataset(read_h5ad(path), **_of_annotated(given, plain_name(path)))
    reader = reader_of(path, given["separator"])
    changed = _options(given)
    for option in _READING.intersection(changed) - set(reader.options):
        if changed[option] not in (None, (), []):
            endings = ", ".join(ending for ending, other in READERS.items() if option in other.options)
            raise ParameterError(f"{option} is for files that end in {endings}, not for {path.name}")
    labels, task, groups = given["labels"], given["task"], given["groups"]
    if groups is not None:
        given = given | {"key": [*_several(given["key"]), *_several(groups)]}
    chosen = given if labels is None else given | {"features": None}  # labels, which a file names, are not left out
    options = {option: chosen[option] for option in reader.options} | ({} if source is None else {"source": source})
    content = with_nominal(reader.read(path, **options), given["nominal"])
    if content.roles is not None:
        if any(given[role] is not None for role in (*ROLES, "labels")):
            raise ParameterError("a settings file of CLUS names the columns itself: give target, ... for the data file")
        roles = content.roles(content)
    else:
        content = _marked_by_xml(content, labels, given["target"])
        roles = assign_roles(content, given, given["strings"])
        if not roles.target and not is_unsupervised(task):
            roles = replace(roles, notes=(*roles.notes, *_label_file_beside(path)))
    data = dataset_from(content, roles, task=task, name=given["name"])
    return data if groups is None else data.with_groups(_group_numbers(content, groups))


def _several(choice: ColumnChoice | None) -> list[str | int]:
    return [] if choice is None else [choice] if isinstance(choice, str | int) else list(choice)


def _group_numbers(content: Content, groups: ColumnChoice) -> np.ndarray:
    """The group of each row: a number for each combination of cells."""
    names = [content.names[i] for i in choose_columns(groups, content.names, "groups")]
    keys = [content.texts[name] if name in content.texts else content.table.to_frame()[name] for name in names]
    numbers = pd.DataFrame({i: pd.factorize(cells)[0] for i, cells in enumerate(keys)})
    lacking = np.flatnonzero((numbers < 0).any(axis=1))
    if len(lacking):
        raise DataError(f"{content.path}: row {lacking[0] + 1} of the data has no group ({setting('groups', groups)})")
    return numbers.groupby(list(numbers.columns), sort=False).ngroup().to_numpy()


def _of_annotated(given: dict[str, Any], name: str) -> dict[str, Any]:
    """The arguments of `load` that AnnData take; an error about others."""
    taken = (*ROLES, "groups", "nominal", "duplicates", "task", "name")
    for option in _options(given):
        if option not in taken:
            raise ParameterError(f"{option} is not for AnnData: leave it out")
    return {option: given[option] for option in taken} | {"name": given["name"] or name}


def with_all_cures(read: Callable[[dict[str, Any]], Any], path: str, given: dict[str, Any]) -> Any:
    """Return what a function reads; where settings would cure its error, one error lists all that are needed.

    Parameters
    ----------
    read : function
        Reads the file with these settings and further ones.
    path : str
        The file.
    given : dict
        Settings that were given.
    """
    faults: list[Any] = []
    cure: dict[str, Any] = {}
    tried: list[dict[str, Any]] = []
    while len(faults) < _MOST_FAULTS:
        try:
            result = read(_merged(given, cure))
        except OmnirankError as error:
            added = {name: value for name, value in getattr(error, "cure", {}).items() if cure.get(name) != value}
            if not faults and not added:
                raise
            faults.append(error)
            cure = _merged(cure, added)
            if not added or cure in tried:  # no setting cures the last one, or each cures what another breaks
                cure = {}
                break
            tried.append(cure)
        else:
            if not faults:
                return result
            break
    first, *others = [fault for i, fault in enumerate(faults) if not _is_outdone(fault, faults[i + 1 :])]
    texts = [first.problem, *(str(error).removeprefix(f"{path}, ").removeprefix(f"{path}: ") for error in others)]
    settings = "".join(f", {name}={value!r}" for name, value in _merged(given, cure).items())
    call = f"\nThis reads it: om.load({path!r}{settings})" if cure else ""
    where = {"path": first.path, "line": first.line, "column": first.column}
    raise FileFormatError("; ".join(dict.fromkeys(texts)), **where, cure=cure, call=call) from None


def _is_outdone(fault: Any, later: list[Any]) -> bool:
    """Whether later errors cure the same in another way: decimal commas only, then both signs."""
    settings = {name: value for error in later for name, value in getattr(error, "cure", {}).items()}
    own = getattr(fault, "cure", {})
    return bool(own) and all(not isinstance(v, list) and settings.get(name, v) != v for name, v in own.items())


def _merged(given: dict[str, Any], added: dict[str, Any]) -> dict[str, Any]:
    """Settings with others, which come beside those of lists and instead of other ones."""
    merged = dict(given)
    for name, value in added.items():
        merged[name] = [*_several(merged.get(name)), *value] if isinstance(value, list) else value
    return merged


def _options(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `load`, besides the path, that are not its defaults."""
    defaults = {name: parameter.default for name, parameter in inspect.signature(load).parameters.items()}
    return {
        name: value
        for name, value in given.items()
        if name != "path"
        and not (value is defaults[name] or (isinstance(value, str | tuple | bool) and value == defaults[name]))
    }


def reader_of(path: Path, separator: str | None = None) -> Reader:
    """Return what reads a file, by its ending; with a separator, files of any other ending are delimited text.

    Examples
    --------
    >>> from pathlib import Path
    >>> from omnirank.data.load import DELIMITED, reader_of
    >>> reader_of(Path("wq.arff.gz")).read.__name__, reader_of(Path("adult.data"), separator=",") == DELIMITED
    ('read_arff', True)
    """
    ending = file_ending(path)
    if ending in READERS:
        return READERS[ending]
    if separator is not None:
        return DELIMITED
    if ending in _NO_DATA:
        raise ParameterError(f"{path.name}: {_NO_DATA[ending].format(path=path)}")
    best = _separator_in(path)
    problem = f"the ending {ending!r} is none of {', '.join([*READERS, _ANNOTATED])}"
    if best:
        raise FileFormatError(
            f"{problem}; as text with {setting('separator', best)} it can be read", path=path, cure={"separator": best}
        )
    raise ParameterError(f"{path.name}: {problem}; save the data as CSV")


def _separator_in(path: Path) -> str:
    """The sign between the cells of a file, where it is text that consists of cells."""
    try:
        _, head = next(TextSource(path).blocks(), (1, b""))
    except DataError:
        return ""
    return separator_of(head.decode().split("\n")[:100])


def _existing(given: Any) -> Path:
    """The path of one file that is there."""
    if not isinstance(given, str | Path):
        kind = type(given).__name__
        raise DataTypeError(f"load reads one file: give its path, not {kind}; om.Dataset(X, y) takes arrays and frames")
    path = Path(given)
    if path.is_dir():
        several = "RelationalDataset.from_folder reads several tables, om.open_shards one table in parts"
        raise DataError(f"{str(path)!r} is a folder: give one file of it; {several}")
    if "://" in str(given):
        raise DataError(f"{given!r} names a database: RelationalDataset.from_database reads it")
    if str(path) == "-":
        raise DataError("data are not read from the standard input: give a file")
    if not path.exists():
        raise DataError(f"there is no file {str(path)!r}{files_like(path)}")
    return path


def _label_file_beside(path: Path) -> list[str]:
    """A note where a label file has the name of the data file."""
    listed = path.with_name(f"{path.name.removesuffix('.gz').rpartition('.')[0]}.xml")
    return [f"a label file lies beside it: {setting('labels', str(listed))} takes it"] if listed.is_file() else []


def _marked_by_xml(content: Content, labels: PathLike | None, target: ColumnChoice | None) -> Content:
    """The content with the labels of a Mulan file as its target."""
    if labels is None:
        return content
    if target is not None:
        raise ParameterError("target and labels are both given: the label file names the target")
    listed = read_mulan_labels(labels)
    known = set(content.names)
    for name in listed.names:
        if name not in known:
            hint = similar_names(name, content.names, "columns")
            raise DataError(f"{labels} lists the label {name!r}, but {content.path} has no such column{hint}")
    return replace(content, target=listed.names, label_order=listed.hierarchy)
