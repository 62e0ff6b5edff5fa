"""The ARFF reader: dense or sparse rows, nominal, numeric, date, string and hierarchical attributes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np

from omnirank.core.errors import FileFormatError
from omnirank.core.types import PathLike
from omnirank.data.arff.blocks import DenseRows, GatheredRows, SparseRows
from omnirank.data.arff.header import Header, HeaderOptions, parse_header
from omnirank.data.arff.rows import Cells, RowReader
from omnirank.data.files import BLOCK_BYTES, Content, LineBlocks, TextSource, check_duplicates_option
from omnirank.data.mulan import labels_of_relation
from omnirank.data.table import Table

Blocks = Iterator[tuple[int, bytes]]


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
    exact: bool = False,
    block_bytes: int = BLOCK_BYTES,
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
    exact : bool
        Read row by row, without the fast reading of whole blocks. The result is the same.
    block_bytes : int
        How much text is held at a time.

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
    source = TextSource(path, encoding)
    size = source.size()
    text = LineBlocks(source, block_bytes)
    options = HeaderOptions(hierarchy_kind, hierarchy_separator, empty_label_set, no_label, duplicates)
    header = parse_header(text.lines(), path, options)
    cells = Cells(header.attributes, first_index)
    is_sparse, blocks = _peek(text.rest(), cells)
    if is_sparse is None:
        raise FileFormatError("there is no row after @data", path=path)
    in_table = np.sort(np.concatenate([cells.numbers, cells.nominals]))
    names = [header.names[i] for i in in_table]
    levels = [header.attributes[i].levels for i in in_table]
    if is_sparse:
        entries = SparseRows(cells, path)
        entries.read(blocks, exact=exact)
        return _content(path, header, entries, Table.from_sparse(entries.finished(), names, levels))
    rows = DenseRows(cells, *size, path)
    rows.read(blocks, exact=exact)
    return _content(path, header, rows, Table(tuple(names), tuple(levels), *rows.finished()))


def _peek(blocks: Blocks, cells: Cells) -> tuple[bool | None, Blocks]:
    """Whether the first row is sparse (None: there is no row), and the blocks from that row on."""
    reader = RowReader(cells)
    for first_line, block in blocks:
        for _, line in reader.rows(first_line, block):
            return line.startswith("{"), chain([(first_line, block)], blocks)
    return None, blocks


def _content(path: Path, header: Header, rows: GatheredRows, table: Table) -> Content:
    labels = None
    if rows.cells.labels is not None:
        declared = header.attributes[rows.cells.labels].labels
        assert declared is not None
        labels = declared.with_rows(rows.labels)
    target, notes = labels_of_relation(header.relation, header.names)
    dates = frozenset(a.name for a in header.attributes if a.kind == "date")
    return Content(
        path=path,
        names=header.names,
        kinds=tuple(a.kind for a in header.attributes),
        table=replace(table, dates=dates, rounded=frozenset(rows.reader.rounded)),
        declared=True,
        texts={header.names[i]: np.array(column, dtype=object) for i, column in rows.texts.items()},
        labels=labels,
        target=(labels.name,) if labels is not None else target,
        weights=_weights(rows),
        relation=header.relation,
        notes=(*header.notes, *(notes if labels is None else ())),
    )


def _weights(rows: GatheredRows) -> np.ndarray | None:
    if not rows.weights:
        return None
    weights = np.ones(rows.n_rows)
    for row, weight in rows.weights:
        weights[row] = weight
    return weights
