"""Writing data sets as text: ARFF, dense or sparse as the data are held, with label hierarchies as in CLUS; and CSV."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

import numpy as np
from scipy import sparse

from omnirank.core.errors import DataError
from omnirank.core.files import replacing
from omnirank.core.types import PathLike
from omnirank.data.arff.tokens import NUMBER, quote
from omnirank.data.columns import iso_seconds, iso_texts
from omnirank.data.csv import MISSING_CELLS, PLAIN_NAME, is_float
from omnirank.data.dataset import Dataset
from omnirank.data.files import number_names, numbered
from omnirank.data.hierarchy.clus import declared_entries, label_cells
from omnirank.data.mulan import relation_with_labels
from omnirank.data.numbers import looks_like_number
from omnirank.data.table import LARGEST_EXACT, Levels, Table, codes_of
from omnirank.data.target import Target

_ROWS = 1000
_INSTEAD = "write .arff or .parquet"
LABEL_LEVELS = ("0", "1")


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
    >>> from omnirank.data.write import write_arff
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
            table = table.beside(target_table(data.target, table.is_sparse))
            n_last = data.n_targets
    if table.n_rows == 0 or table.n_columns == 0:
        raise DataError(f"a table of {table.n_rows} rows and {table.n_columns} columns cannot be written as ARFF")
    columns = list(zip(table.names, table.levels, strict=True))
    texts = [None if own is None else [*map(quote, _texts(column, own)), "?"] for column, own in columns]
    if table.is_sparse:
        lines = _sparse_lines(table, texts, cells)
    else:
        lines = _lines(table, texts, lambda values, i: _numbers(values, table.names[i]), cells)
    header = [f"@relation {quote(relation_with_labels(name, n_last))}\n\n"]
    for attribute, own in zip(table.names, texts, strict=True):
        kind = "numeric" if own is None else "{" + ",".join(own[:-1]) + "}"
        header.append(f"@attribute {quote(attribute)} {kind}\n")
    _write(path, chain(header, [f"{declaration}\n@data\n"], lines))


def _write(path: PathLike, parts: Iterable[str]) -> None:
    try:
        with replacing(path) as file:
            for part in parts:
                file.write(part.encode())
    except UnicodeEncodeError as problem:
        raise DataError(f"a name or level holds a character that cannot be written: {problem}") from None


def _texts(name: str, levels: Levels) -> list[str]:
    texts = [str(level) for level in levels]
    if len(set(texts)) < len(texts):
        raise DataError(f"column {name!r}: two of its levels are the same text, {levels!r}")
    return texts


def _lines(
    table: Table,
    lookup: Sequence[list[str] | None],
    numbers: Callable[[np.ndarray, int], list[str]],
    last: Sequence[str] | None = None,
) -> Iterator[str]:
    """Yield dense rows, some at a time; the lookup holds the texts of codes, in the end that of a missing cell."""
    for start in range(0, table.n_rows, _ROWS):
        part = table.take(slice(start, start + _ROWS))
        columns = [
            numbers(part.column(i), i) if texts is None else [texts[code] for code in part.column(i).tolist()]
            for i, texts in enumerate(lookup)
        ]
        if last is not None:
            columns.append(list(last[start : start + _ROWS]))
        yield "".join(",".join(row) + "\n" for row in zip(*columns, strict=True))


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
    columns = [values[:, i] if lev is None else codes_of(values[:, i]) for i, lev in enumerate(levels)]
    return Table.from_columns(target.names, columns, levels)


def _sparse_lines(table: Table, lookup: Sequence[list[str] | None], labels: Sequence[str] | None) -> Iterator[str]:
    rows = table.matrix.tocsr()
    rows.sort_indices()
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
    # digits alone beyond 2^53 would read as a whole number that floats round
    return repr(value).removesuffix(".0") if abs(value) <= LARGEST_EXACT else repr(value)


# -- CSV ------------------------------------------------------------------------------------------------


def write_csv(dataset: Dataset, path: PathLike) -> None:
    """Write a data set as a CSV file (gzipped where it ends in .gz), its target last; missing cells are empty.

    Numbers and dates are written so that reading gives the same bits; labels are 0 and 1, levels text. Where a level
    would be read as a number, a date or a missing cell, nominal cells are quoted, and so is a name of the header, by
    which :func:`omnirank.load` knows that quotes mean text here. Other programs read the same cells as ever. A label
    hierarchy does not fit a CSV file.

    Parameters
    ----------
    dataset : Dataset
        What to write.
    path : str or Path
        The file; it appears whole or not at all.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import omnirank as om
    >>> from omnirank.data.write import write_csv
    >>> data = om.Dataset([[1.5], [2.0]], ["a", None], feature_names=["the size"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "small.csv")
    ...     write_csv(data, path)
    ...     print(path.read_text())
    the size,y
    1.5,a
    2,
    <BLANKLINE>
    """
    if dataset.hierarchy is not None:
        raise DataError(f"a CSV file cannot hold the hierarchy of the labels: {_INSTEAD}")
    names = number_names([*dataset.feature_names, *dataset.target_names])
    table, n = dataset.features, dataset.n_features
    if dataset.target is not None:
        table = table.beside(replace(target_table(dataset.target, table.is_sparse), names=names[n:]))
    levels = table.levels
    texts = [None if lev is None else _texts(name, lev) for name, lev in zip(names, levels, strict=True)]
    # labels and classes that are whole numbers come back as they are
    numbers = {i for i in range(n, len(names)) if _are_whole(levels[i]) or levels[i] is LABEL_LEVELS}
    nominal = {i for i, known in enumerate(texts) if known is not None and i not in numbers}
    tell = any(_is_misread(text) for i in nominal for text in texts[i] or ()) or any(map(_is_misread_name, names))
    missing = "NA" if len(names) == 1 or _may_have_empty_row(table) else ""  # a line without a value is no row
    cells = [
        None if known is None else [*(_quoted(text, tell and i in nominal) for text in known), missing]
        for i, known in enumerate(texts)
    ]
    header = _header(names, nominal) if tell else [_quoted(name, False) for name in names]
    _write(path, chain([f"{','.join(header)}\n"], _lines(table, cells, partial(_csv_numbers, table, missing, n))))


def _may_have_empty_row(table: Table) -> bool:
    if table.is_sparse:
        return table.n_missing >= table.n_columns
    return bool((np.isnan(table.numeric).all(axis=1) & (table.codes < 0).all(axis=1)).any())


def _are_whole(levels: Levels | None) -> bool:
    return levels is not None and all(isinstance(level, int) and not isinstance(level, bool) for level in levels)


def _is_misread(text: str) -> bool:
    """Whether a bare cell would not be read as text."""
    is_number = is_float(text) or looks_like_number(text)
    return is_number or text.strip(" ") in MISSING_CELLS or iso_seconds([text]) is not None


def _is_misread_name(name: str) -> bool:
    return not name or name != name.strip(" \u00a0") or "\n" in name or NUMBER.fullmatch(name) is not None


def _quoted(text: str, always: bool) -> str:
    """The text as a cell, in quotes where it has to be."""
    if "\r" in text or "\0" in text:
        raise DataError(f"a CSV file cannot hold the line end or NUL in {text!r}: {_INSTEAD}")
    bare = text == text.strip() and not any(c in text for c in ',"\n') and not text.startswith("\ufeff")
    return text if bare and not always else '"' + text.replace('"', '""') + '"'


def _header(names: Sequence[str], nominal: Collection[int]) -> list[str]:
    """The names, some plain ones in quotes and some bare: quotes mean text in this file."""
    cells = [_quoted(name, _is_misread_name(name)) for name in names]
    bare = [i for i, cell in enumerate(cells) if cell[:1] != '"']
    plain = [i for i in bare if PLAIN_NAME.fullmatch(names[i])]
    if len(bare) < 2 or not plain:
        raise DataError(
            f"a CSV file of columns with these names ({', '.join(map(repr, names[:3]))}, ...) cannot keep text that "
            f"looks like numbers or missing cells: {_INSTEAD}, or rename columns"
        )
    marked = next((i for i in plain if i in nominal), plain[0])
    cells[marked] = _quoted(names[marked], True)
    return cells


def _csv_numbers(table: Table, missing: str, n: int, values: np.ndarray, i: int) -> list[str]:
    """The cells of a column; whole numbers of the n features, which come first, are written without .0."""
    if table.names[i] in table.dates:
        texts = np.array(iso_texts(values))
    else:
        texts = values.astype(str)
        whole = (values % 1 == 0) & (np.abs(values) < LARGEST_EXACT) & ~(np.signbit(values) & (values == 0))
        if i < n:
            texts[whole] = values[whole].astype(np.int64).astype(str)
    return np.where(np.isnan(values), missing, texts).tolist()
