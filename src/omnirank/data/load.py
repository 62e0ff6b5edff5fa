"""One function for every kind of file."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from omnirank.core.errors import DataError, DataTypeError, ParameterError, setting
from omnirank.core.text import files_like
from omnirank.core.types import PathLike
from omnirank.data.arff import read_arff
from omnirank.data.clus_settings import clus_roles, read_clus_data, read_clus_settings
from omnirank.data.column_choice import ColumnChoice, similar_columns
from omnirank.data.csv import read_delimited
from omnirank.data.dataset import Dataset, FileSource
from omnirank.data.files import Content
from omnirank.data.matlab import read_matlab
from omnirank.data.mulan import read_mulan_labels
from omnirank.data.parquet import read_parquet
from omnirank.data.roles import assign_roles, dataset_from, with_nominal
from omnirank.data.task_registry import is_unsupervised

FORMATS = {
    ".arff": "arff",
    ".csv": "delimited",
    ".tsv": "delimited",
    ".tab": "delimited",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".mat": "matlab",
    ".s": "clus",
}

_SQLITE = (".db", ".db3", ".sqlite", ".sqlite3")
# Files that omnirank writes and that are no data, by their ending: who reads them.
_OF_RESULTS = {
    ".json": "data are not read from JSON; a ranking is read by om.Ranking.load, omnirank report and compare-rankings",
    ".omr": "a model is no data: om.load_model and omnirank predict read it",
}
_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_BINARY = {"parquet": read_parquet, "matlab": read_matlab}


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
    kind = _checked_kind(path, given)
    if kind == "clus":
        settings = read_clus_settings(path, encoding)
        content = read_clus_data(settings, settings.data_file)
    elif kind == "delimited":
        content = read_delimited(
            path,
            separator=text_separator(path, separator),
            header=header,
            nominal=nominal,
            missing=missing,
            duplicates=duplicates,
            encoding=encoding,
            unused={"ignore": ignore, "key": key},
            used=None if features is None or labels is not None else {"features": features, "target": target},
        )
    elif kind == "arff":
        content = read_arff(
            path,
            hierarchy_kind=hierarchy_kind,
            hierarchy_separator=hierarchy_separator,
            duplicates=duplicates,
            encoding=encoding,
        )
    else:
        content = _BINARY[kind](path)
    if kind != "delimited":
        content = with_nominal(content, nominal)
    if kind == "clus":
        roles = clus_roles(settings, content)
    else:
        content = _marked_by_xml(content, labels, target)
        roles = assign_roles(content, target=target, features=features, key=key, ignore=ignore, strings=strings)
        if not roles.target and not is_unsupervised(task):
            roles = replace(roles, notes=(*roles.notes, *_label_file_beside(path)))
    data = dataset_from(content, roles, task=task, name=name)
    data.source = FileSource(str(given.pop("path")), _options(given))
    return data


def _checked_kind(path: Path, given: dict[str, Any]) -> str:
    """Kind of the file; options that files of other kinds have are refused."""
    kind, file = file_format(path, given["separator"]), path.name
    if kind != "delimited" and (given["header"] != "auto" or given["separator"] is not None or len(given["missing"])):
        raise ParameterError(f"header, separator and missing are for delimited text, not for {file}")
    if kind in _BINARY and given["encoding"] != "utf-8":
        raise ParameterError(f"encoding is for text files, not for {file}")
    if kind == "clus" and any(given[name] is not None for name in ("target", "labels", "features", "key", "ignore")):
        raise ParameterError("a settings file of CLUS names the columns itself: give target, ... for the data file")
    return kind


def _options(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `load` that are not its defaults."""
    defaults = {name: parameter.default for name, parameter in inspect.signature(load).parameters.items()}
    return {
        name: value
        for name, value in given.items()
        if not (value is defaults[name] or (isinstance(value, str | tuple | bool) and value == defaults[name]))
    }


def file_format(path: Path, separator: str | None = None) -> str:
    """Return the kind of a file by its ending: "arff", "delimited", "parquet", "matlab" or "clus".

    Examples
    --------
    >>> from pathlib import Path
    >>> from omnirank.data.load import file_format
    >>> file_format(Path("wq.arff.gz")), file_format(Path("adult.data"), separator=",")
    ('arff', 'delimited')
    """
    ending = _ending(path)
    if ending in FORMATS:
        return FORMATS[ending]
    if separator is not None:
        return "delimited"
    if ending in _SQLITE:
        raise ParameterError(f"{path.name}: a database of SQLite is named by its URL, sqlite:///{path}")
    if ending in _OF_RESULTS:
        raise ParameterError(f"{path.name}: {_OF_RESULTS[ending]}")
    known = ", ".join(FORMATS)
    text = f"for delimited text give {setting('separator')}"
    raise ParameterError(f"{path.name}: the ending {ending!r} is none of {known} (or with .gz); {text}")


def text_separator(path: Path, separator: str | None) -> str:
    """Return the character between the cells of a text file: as given, else that of its ending."""
    return separator or _SEPARATORS[_ending(path)]


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


def _ending(path: Path) -> str:
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return plain.suffix.lower()


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
            hint = similar_columns(name, content.names)
            raise DataError(f"{labels} lists the label {name!r}, but {content.path} has no such column{hint}")
    return replace(content, target=listed.names, label_order=listed.hierarchy)
