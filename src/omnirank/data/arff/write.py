"""Writing ARFF: dense or sparse rows as the data are held, label hierarchies as CLUS declares them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.errors import DataError
from omnirank.core.files import replacing
from omnirank.core.types import PathLike
from omnirank.data.arff.tokens import quote
from omnirank.data.dataset import Dataset
from omnirank.data.files import numbered
from omnirank.data.hierarchy.clus import declared_entries, label_cells
from omnirank.data.mulan import relation_with_labels
from omnirank.data.table import Table
from omnirank.data.target import Target

_ROWS = 1000
LABEL_LEVELS = ("0", "1")
_LARGEST_PLAIN = 1e15


def write_arff(data: Dataset | Table, path: PathLike, *, relation: str | None = None) -> None:
    """Write a table, or a data set with its target last, as an ARFF file (gzipped where it ends in .gz).

    Numbers are written so that reading gives the same bits. Levels become text. The relation name ends in
    ``-C -k``, the way of MEKA to say that the last k attributes are the target, so that
    :func:`omnirank.load` finds it; a label hierarchy becomes one attribute ``class hierarchical``, a tree
    where the label names are paths, else a DAG.

    Parameters
    ----------
    data : Dataset or Table
        What to write.
    path : str or Path
        The file; it appears whole or not at all.
    relation : str, optional
        Name of the relation; by default that of the data set.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import omnirank as om
    >>> from omnirank.data.arff.write import write_arff
    >>> data = om.Dataset([[1.5], [2.0]], ["a", None], feature_names=["the size"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "small.arff")
    ...     write_arff(data, path)
    ...     print(path.read_text())
    @relation 'data: -C -1'
    <BLANKLINE>
    @attribute 'the size' numeric
    @attribute y {a}
    <BLANKLINE>
    @data
    1.5,a
    2,?
    <BLANKLINE>
    """
    table = data if isinstance(data, Table) else data.features
    cells: Sequence[str] | None = None
    declaration, n_last = "", 0
    name = relation if relation is not None else "data" if isinstance(data, Table) else data.name
    if isinstance(data, Dataset) and data.target is not None:
        if data.hierarchy is not None:
            entries = declared_entries(data.hierarchy)
            attribute = quote(numbered("class", table.names))
            declaration = f"@attribute {attribute} hierarchical {','.join(map(quote, entries))}\n"
            cells = ["?" if c is None else quote(c) for c in label_cells(data.target, data.hierarchy)]
        else:
            table = _joined(table, target_table(data.target, table.is_sparse))
            n_last = data.n_targets
    if table.n_rows == 0 or table.n_columns == 0:
        raise DataError(f"a table of {table.n_rows} rows and {table.n_columns} columns cannot be written as ARFF")
    lines = _sparse_lines(table, cells) if table.is_sparse else _dense_lines(table, cells)
    try:
        with replacing(path) as file:
            file.write(f"@relation {quote(relation_with_labels(name, n_last))}\n\n".encode())
            for attribute, levels in zip(table.names, table.levels, strict=True):
                kind = "numeric" if levels is None else "{" + ",".join(_level_texts(attribute, levels)) + "}"
                file.write(f"@attribute {quote(attribute)} {kind}\n".encode())
            file.write(f"{declaration}\n@data\n".encode())
            for part in lines:
                file.write(part.encode())
    except UnicodeEncodeError as problem:
        raise DataError(f"a name or level holds a character that cannot be written: {problem}") from None


def _level_texts(name: str, levels: Sequence[Any]) -> list[str]:
    texts = [quote(str(level)) for level in levels]
    if len(set(texts)) < len(texts):
        raise DataError(f"column {name!r}: two of its levels are the same text, {levels!r}")
    return texts


def target_table(target: Target, as_sparse: bool = False) -> Table:
    """Return the target as columns: label sets are nominal 0/1 columns."""
    levels = [LABEL_LEVELS if target.is_labels else lev for lev in target.levels]
    if as_sparse:
        # In a sparse row an absent label is 0, so an unlabelled example needs its unknown cells written.
        matrix = sparse.lil_array(target.values) if target.is_sparse else target.dense()
        if target.is_sparse:
            matrix[np.flatnonzero(~target.labelled)] = np.nan
        return Table.from_sparse(sparse.csc_array(matrix), target.names, levels)
    values = target.dense()
    columns = [
        values[:, i] if lev is None else np.where(np.isnan(values[:, i]), -1, values[:, i]).astype(np.int32)
        for i, lev in enumerate(levels)
    ]
    return Table.from_columns(target.names, columns, levels)


def _joined(features: Table, target: Table) -> Table:
    both = set(features.names) & set(target.names)
    if both:
        raise DataError(f"{sorted(both)[0]!r} is the name of a feature and of a target: rename one of them")
    names, levels = (*features.names, *target.names), (*features.levels, *target.levels)
    if features.is_sparse:
        return Table.from_sparse(sparse.hstack([features.matrix, target.matrix], format="csc"), names, levels)
    columns = [table.column(i) for table in (features, target) for i in range(table.n_columns)]
    return Table.from_columns(names, columns, levels)


def _dense_lines(table: Table, labels: Sequence[str] | None) -> Iterator[str]:
    lookup = [
        None if lev is None else [*_level_texts(n, lev), "?"] for n, lev in zip(table.names, table.levels, strict=True)
    ]
    for start in range(0, table.n_rows, _ROWS):
        part = table.take(slice(start, start + _ROWS))
        columns = [
            _numbers(part.column(i), name) if texts is None else [texts[code] for code in part.column(i).tolist()]
            for i, (name, texts) in enumerate(zip(table.names, lookup, strict=True))
        ]
        if labels is not None:
            columns.append(list(labels[start : start + _ROWS]))
        yield "".join(",".join(row) + "\n" for row in zip(*columns, strict=True))


def _sparse_lines(table: Table, labels: Sequence[str] | None) -> Iterator[str]:
    rows = table.matrix.tocsr()
    rows.sort_indices()
    lookup = [None if lev is None else _level_texts(n, lev) for n, lev in zip(table.names, table.levels, strict=True)]
    for row in range(table.n_rows):
        here = slice(rows.indptr[row], rows.indptr[row + 1])
        entries = []
        for column, value in zip(rows.indices[here].tolist(), rows.data[here].tolist(), strict=True):
            texts = lookup[column]
            if value == 0:
                continue
            if texts is None:
                text = _numbers(np.array([value]), table.names[column])[0]
            else:
                text = "?" if value != value else texts[int(value)]
            entries.append(f"{column} {text}")
        if labels is not None:
            entries.append(f"{table.n_columns} {labels[row]}")
        yield "{" + ",".join(entries) + "}\n"


def _numbers(values: np.ndarray, name: str) -> list[str]:
    """The shortest texts that read as the same numbers."""
    if np.isinf(values).any():
        raise DataError(f"column {name!r} holds an infinite value, which ARFF cannot hold")
    return [_number(value) for value in values.tolist()]


def _number(value: float) -> str:
    if value != value:
        return "?"
    if value.is_integer() and abs(value) < _LARGEST_PLAIN and (value or str(value)[0] != "-"):
        return str(int(value))
    return repr(value)
