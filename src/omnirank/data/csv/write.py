"""Writing CSV: the features, then the target, under their names."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.files import replacing
from omnirank.core.types import PathLike
from omnirank.data.arff.tokens import NUMBER
from omnirank.data.arff.write import LABEL_LEVELS, target_table
from omnirank.data.columns import ISO_DATE, iso_texts
from omnirank.data.csv.text import MISSING_CELLS, PLAIN_NAME
from omnirank.data.dataset import Dataset
from omnirank.data.files import number_names
from omnirank.data.table import Levels

_ROWS = 10_000
_INSTEAD = "write .arff or .parquet"


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
    >>> from omnirank.data.csv.write import write_csv
    >>> data = om.Dataset([[1.5], [2.0]], ["a", None], feature_names=["the size"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "small.csv")
    ...     write_csv(data, path)
    ...     print(path.read_text())
    the size,y
    1.5,a
    2.0,
    <BLANKLINE>
    """
    if dataset.hierarchy is not None:
        raise DataError(f"a CSV file cannot hold the hierarchy of the labels: {_INSTEAD}")
    names = number_names([*dataset.feature_names, *dataset.target_names])
    target = dataset.target
    levels = [*dataset.features.levels]
    if target is not None:
        levels += [LABEL_LEVELS if target.is_labels else lev for lev in target.levels]
    texts = [None if lev is None else _texts(name, lev) for name, lev in zip(names, levels, strict=True)]
    # labels and classes that are whole numbers come back as they are
    numbers = {i for i in range(dataset.n_features, len(names)) if _are_whole(levels[i]) or levels[i] is LABEL_LEVELS}
    nominal = {i for i, known in enumerate(texts) if known is not None and i not in numbers}
    tell = any(_is_misread(text) for i in nominal for text in texts[i] or ()) or any(map(_is_misread_name, names))
    missing = "NA" if len(names) == 1 else ""  # a blank line is no row
    cells = [
        None if known is None else [*(_quoted(text, tell and i in nominal) for text in known), missing]
        for i, known in enumerate(texts)
    ]
    header = _header(names, nominal) if tell else [_quoted(name, False) for name in names]
    try:
        with replacing(path) as file:
            file.write(f"{','.join(header)}\n".encode())
            for start in range(0, dataset.n_examples, _ROWS):
                file.write(_lines(dataset.take(slice(start, start + _ROWS)), cells, missing).encode())
    except UnicodeEncodeError as problem:
        raise DataError(f"a name or level holds a character that cannot be written: {problem}") from None


def _texts(name: str, levels: Levels) -> list[str]:
    texts = [str(level) for level in levels]
    if len(set(texts)) < len(texts):
        raise DataError(f"column {name!r}: two of its levels are the same text, {levels!r}")
    return texts


def _are_whole(levels: Levels | None) -> bool:
    return levels is not None and all(isinstance(level, int) and not isinstance(level, bool) for level in levels)


def _is_misread(text: str) -> bool:
    """Whether a bare cell would not be read as text."""
    try:
        float(text)
        return True
    except ValueError:
        return text.strip(" ") in MISSING_CELLS or ISO_DATE.fullmatch(text) is not None


def _is_misread_name(name: str) -> bool:
    return not name or name != name.strip(" ") or NUMBER.fullmatch(name) is not None


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


def _lines(part: Dataset, cells: Sequence[list[str] | None], missing: str) -> str:
    tables = [part.features, *([] if part.target is None else [target_table(part.target)])]
    found = [table.column(i) for table in tables for i in range(table.n_columns)]
    dates = {i for i, name in enumerate(part.feature_names) if name in part.features.dates}
    columns = [
        _numbers(column, missing, i in dates) if known is None else [known[code] for code in column.tolist()]
        for i, (column, known) in enumerate(zip(found, cells, strict=True))
    ]
    return "".join(",".join(row) + "\n" for row in zip(*columns, strict=True))


def _numbers(values: np.ndarray, missing: str, are_dates: bool) -> list[str]:
    texts = np.array(iso_texts(values)) if are_dates else values.astype(str)
    return np.where(np.isnan(values), missing, texts).tolist()
