"""One function for every kind of file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from omnirank.core.errors import DataError, DataTypeError, ParameterError, setting
from omnirank.core.text import files_like, similar_names
from omnirank.core.types import PathLike
from omnirank.data.arff import read_arff
from omnirank.data.clus_settings import read_clus
from omnirank.data.column_choice import ColumnChoice
from omnirank.data.csv import read_delimited
from omnirank.data.dataset import Dataset, FileSource
from omnirank.data.files import Content, file_ending
from omnirank.data.matlab import read_matlab
from omnirank.data.mulan import read_mulan_labels
from omnirank.data.parquet import read_parquet
from omnirank.data.roles import assign_roles, dataset_from, with_nominal
from omnirank.data.task_registry import is_unsupervised

_ROLES = ("target", "features", "key", "ignore")


class Reader(NamedTuple):
    """What reads files of a kind: a function of the path, and the arguments of `load` that it takes."""

    read: Callable[..., Content]
    options: tuple[str, ...] = ()


_ARFF = Reader(read_arff, ("hierarchy_kind", "hierarchy_separator", "duplicates", "encoding"))
DELIMITED = Reader(read_delimited, ("separator", "header", "missing", "duplicates", "encoding", "nominal", *_ROLES))
READERS = {
    ".arff": _ARFF,
    ".csv": DELIMITED,
    ".tsv": DELIMITED,
    ".tab": DELIMITED,
    ".parquet": Reader(read_parquet),
    ".pq": Reader(read_parquet),
    ".mat": Reader(read_matlab),
    ".s": Reader(read_clus, ("encoding",)),
}
# Arguments of `load` that say how a file is read; a reader that does not take one refuses it.
_READING = ("header", "separator", "missing", "encoding", "duplicates", "hierarchy_kind", "hierarchy_separator")
# Endings of files that are no tables, and what to do with them.
_NO_DATA = {
    ".json": "data are not read from JSON; a ranking is read by om.Ranking.load, omnirank report and compare-rankings",
    ".omr": "a model is no data: om.load_model and omnirank predict read it",
    **dict.fromkeys(
        (".db", ".db3", ".sqlite", ".sqlite3"), "a database of SQLite is named by its URL, sqlite:///{path}"
    ),
}


def load(
    path: PathLike,
    target: ColumnChoice | None = None,
    *,
    labels: PathLike | None = None,
    features: ColumnChoice | None = None,
    key: ColumnChoice | None = None,
    ignore: ColumnChoice | None = None,
    nominal: ColumnChoice | None = None,
    task: str = "auto",
    header: str | bool = "auto",
    separator: str | None = None,
    missing: Sequence[str] = (),
    encoding: str = "utf-8",
    strings: str = "error",
    duplicates: str = "error",
    hierarchy_kind: str = "auto",
    hierarchy_separator: str = "/",
    name: str | None = None,
) -> Dataset:
    r"""Read a file into a data set.

    The ending says what the file is: ARFF (``.arff``: dense, sparse, hierarchical), delimited text
    (``.csv``, ``.tsv``, ``.tab``; any ending when ``separator`` is given), Parquet (``.parquet``, ``.pq``),
    MATLAB (``.mat`` with X and Y) or settings of CLUS (``.s``: the data file and the columns it names). Each
    may be gzipped (``.gz``).

    Columns are chosen by exact name, else by position from 1 (``1``), range (``17-30``, ``last``,
    ``last:14``), pattern (``label_*``) or regular expression (``re:^y\d+$``); several are separated by
    commas or given as a list.

    Parameters
    ----------
    path : str or Path
        The file.
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
    nominal : column choice, optional
        Columns to be taken as nominal although they hold numbers or are string attributes.
    task : str
        The task, or "auto" to infer it; "clustering" sets the target aside.
    header : {"auto", True, False}
        Whether delimited text starts with a row of names, see :func:`omnirank.data.csv.read_delimited`.
    separator : str, optional
        The character between cells of delimited text; by default that of the ending.
    missing : sequence of str
        What stands for a missing cell of delimited text besides an empty one, ``?``, ``NA`` and ``NaN``.
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
        The data. A malformed file is a FileFormatError with file, line and column.

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
    path = _existing(path)
    changed = _options(given)
    reader = reader_of(path, separator)
    for option in _READING:
        if changed.get(option) not in (None, (), []) and option not in reader.options:
            endings = ", ".join(ending for ending, other in READERS.items() if option in other.options)
            raise ParameterError(f"{option} is for files that end in {endings}, not for {path.name}")
    chosen = given if labels is None else given | {"features": None}  # labels, which a file names, are not left out
    content = with_nominal(reader.read(path, **{option: chosen[option] for option in reader.options}), nominal)
    if content.roles is not None:
        if any(given[role] is not None for role in (*_ROLES, "labels")):
            raise ParameterError("a settings file of CLUS names the columns itself: give target, ... for the data file")
        roles = content.roles(content)
    else:
        content = _marked_by_xml(content, labels, target)
        roles = assign_roles(content, target=target, features=features, key=key, ignore=ignore, strings=strings)
        if not roles.target and not is_unsupervised(task):
            roles = replace(roles, notes=(*roles.notes, *_label_file_beside(path)))
    data = dataset_from(content, roles, task=task, name=name)
    data.source = FileSource(str(given["path"]), changed)
    return data


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
    text = f"for delimited text give {setting('separator')}"
    raise ParameterError(f"{path.name}: the ending {ending!r} is none of {', '.join(READERS)} (or with .gz); {text}")


def _existing(given: PathLike) -> Path:
    """The path of one file that is there."""
    if not isinstance(given, str | Path):
        kind = type(given).__name__
        raise DataTypeError(f"load reads one file: give its path, not {kind}; om.Dataset(X, y) takes arrays and frames")
    path = Path(given)
    if path.is_dir():
        several = "omnirank features (RelationalFeatures) makes one table of several, om.open_shards one of its parts"
        raise DataError(f"{str(path)!r} is a folder: give one file of it; {several}")
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
