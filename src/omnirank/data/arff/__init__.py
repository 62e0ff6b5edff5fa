"""The ARFF reader: dense or sparse rows, nominal, numeric, date, string and hierarchical attributes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from omnirank.core.errors import FileFormatError
from omnirank.core.types import PathLike
from omnirank.data.arff.header import parse_header
from omnirank.data.arff.rows import Rows
from omnirank.data.files import Content, TextSource, check_duplicates_option
from omnirank.data.hierarchy.clus import declare_labels
from omnirank.data.mulan import labels_of_relation


def read_arff(
    path: PathLike,
    *,
    hierarchy_kind: str = "auto",
    hierarchy_separator: str = "/",
    empty_label_set: str | None = None,
    no_label: str | None = None,
    first_index: int = 0,
    duplicates: str = "error",
    encoding: str = "utf-8",
) -> Content:
    """Read an ARFF file, plain or gzipped.

    Keywords and types are read in any case. Cells are separated by commas or tabs, may be quoted by ``'`` or
    ``"`` with backslash escapes, and ``?`` is missing; comments start with ``%`` at the start of a line.
    Rows are all dense or all sparse (``{index value, ...}``, indices from 0, an absent cell is 0 or the
    first declared value). A row may end in a weight, ``{w}``. Dates become seconds since 1970-01-01 UTC.

    Parameters
    ----------
    path : str or Path
        The file.
    hierarchy_kind : {"auto", "tree", "dag"}
        How a hierarchical attribute is declared: by paths, by parent/child pairs, or as its entries look.
    hierarchy_separator : str
        What stands between the labels of a path or pair.
    empty_label_set : str, optional
        What stands for no labels at all in the cells of a hierarchical attribute, besides ``root``.
    no_label : str, optional
        A last part of the paths of a tree that names no label: with "0", ``1/1/0`` is ``1/1``.
    first_index : int
        Index of the first attribute in sparse rows: 0, or 1 in files for CLUS.
    duplicates : {"error", "number"}
        What to do with an attribute name that was declared before: raise, or call it ``name_2``, ``name_3``,
        ...
    encoding : str
        The encoding of the file.

    Returns
    -------
    Content
        All columns. A malformed file is a FileFormatError with the line, and the column: that of the cell
        for a row, the character for the header.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from omnirank.data.arff import read_arff
    >>> text = "@relation r\\n@attribute a {x,y}\\n@attribute b real\\n@data\\ny,1\\n?,2.5\\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "small.arff")
    ...     _ = path.write_text(text)
    ...     print(read_arff(path).table.to_frame())
         a    b
    0    y  1.0
    1  NaN  2.5
    """
    path = Path(path)
    check_duplicates_option(duplicates)
    lines = TextSource(path, encoding).lines()
    declare = partial(
        declare_labels, kind=hierarchy_kind, separator=hierarchy_separator, empty=empty_label_set, no_label=no_label
    )
    header = parse_header(lines, path, declare, duplicates)
    rows = Rows(header.attributes, path, first_index)
    rows.read(lines)
    if not rows.n_rows:
        raise FileFormatError("there is no row after @data", path=path)
    labels = None
    if rows.label_column is not None:
        labels = replace(header.attributes[rows.label_column].labels, rows=tuple(rows.labels))  # type: ignore[type-var]
    target, notes = labels_of_relation(header.relation or "", header.names)
    dates = frozenset(a.name for a in header.attributes if a.kind == "date")
    weights = np.ones(rows.n_rows) if rows.weights else None
    if weights is not None:
        weights[list(rows.weights)] = list(rows.weights.values())
    return Content(
        path=path,
        names=header.names,
        kinds=tuple(a.kind for a in header.attributes),
        table=replace(rows.table(), dates=dates, rounded=frozenset(rows.rounded)),
        declared=True,
        texts={header.names[i]: np.array(column, dtype=object) for i, column in rows.texts.items()},
        labels=labels,
        target=(labels.name,) if labels is not None else target,
        weights=weights,
        relation=header.relation or "",
        notes=(*header.notes, *(notes if labels is None else ())),
    )
