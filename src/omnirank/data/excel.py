"""Workbooks of spreadsheets: a sheet is read as the text that its cells are, with all that text files may need."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from omnirank.core.errors import FileFormatError, MissingDependencyError, ParameterError, setting
from omnirank.core.text import similar_names
from omnirank.core.types import PathLike
from omnirank.data.csv import read_delimited
from omnirank.data.files import Content, unreadable

# Endings of workbooks.
WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_SEPARATOR = "\t"


class Workbook:
    """The cells of a sheet, read once.

    Parameters
    ----------
    path : Path
        The workbook.
    sheet : str or int, optional
        Name or number (from 1) of the sheet; by default the first one.

    Attributes
    ----------
    rows : list of list
        The cells.
    notes : tuple of str
        Which sheet was taken, where there are several.
    decimal : str
        The decimal sign with which `blocks` writes numbers: that of the numbers that are text.
    """

    def __init__(self, path: Path, sheet: str | int | None = None) -> None:
        self.decimal = "."
        self._written: dict[str, bytes] = {}
        try:
            from python_calamine import CalamineWorkbook  # a tenth of the time of openpyxl
        except ImportError:
            raise MissingDependencyError(
                f"{path.name}: workbooks need further packages: pip install 'omnirank[excel]', or save the sheet as CSV"
            ) from None
        try:
            with CalamineWorkbook.from_path(str(path)) as book:
                names = book.sheet_names
                name = _sheet_name(names, sheet)
                self.rows = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
        except ParameterError:
            raise
        except Exception as problem:  # damaged files are met with many kinds of errors
            raise unreadable(problem, "a workbook", path) from None
        others = f"the sheets are {', '.join(map(repr, names))}"
        if not self.rows:
            raise FileFormatError(f"the sheet {name!r} is empty; {others}: {setting('sheet')} names one", path=path)
        self.notes = (f"{others}: {name!r} was read, {setting('sheet')} names another",) if len(names) > 1 else ()

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """Yield the sheet as text with tabs, a row per line."""
        if self.decimal not in self._written:
            text = io.StringIO()
            writer = csv.writer(text, delimiter=_SEPARATOR, lineterminator="\n")
            writer.writerows([self._text(cell) for cell in row] for row in self.rows)
            self._written = {self.decimal: text.getvalue().encode()}
        yield 1, self._written[self.decimal]

    def _text(self, cell: Any) -> str:
        if isinstance(cell, str):
            return " ".join(cell.split()) if "\n" in cell or "\t" in cell else cell
        if isinstance(cell, float):  # as all numbers of a sheet are
            return str(int(cell)) if cell.is_integer() else repr(cell).replace(".", self.decimal)
        if isinstance(cell, datetime):
            return cell.isoformat(" ").removesuffix(" 00:00:00")
        return str(cell)


def _sheet_name(names: list[str], sheet: str | int | None) -> str:
    if sheet is None:
        return names[0]
    if str(sheet) in names:
        return str(sheet)
    if str(sheet).isdecimal() and 1 <= int(sheet) <= len(names):
        return names[int(sheet) - 1]
    raise ParameterError("sheet", sheet, f"there is no such sheet{similar_names(str(sheet), names, 'sheets')}")


def read_sheet(
    path: PathLike,
    *,
    sheet: str | int | None = None,
    source: Workbook | None = None,
    decimal: str = ".",
    **options: Any,
) -> Content:
    """Read a sheet of a workbook (``.xlsx``, ``.xlsm``, ``.xlsb``, ``.xls``, ``.ods``).

    Numbers, dates and truth values have their types. Numbers that are text in the sheet are read like those of a text
    file. Merged cells hold their value in the first cell.

    Parameters
    ----------
    path : str or Path
        The workbook.
    sheet : str or int, optional
        Name or number (from 1) of the sheet; by default the first one.
    source : Workbook, optional
        Its cells, where they were read before.
    decimal, **options
        As in :func:`omnirank.data.csv.read_delimited`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from omnirank.data.excel import read_sheet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "lakes.xlsx")
    ...     pd.DataFrame({"lake": ["Bled", "Bohinj"], "pH": [7.5, None]}).to_excel(path, index=False)
    ...     print(read_sheet(path).table.to_frame())
         lake   pH
    0    Bled  7.5
    1  Bohinj  NaN
    """
    source = source or Workbook(Path(path), sheet)
    source.decimal = decimal[0]
    return read_delimited(path, separator=_SEPARATOR, source=source, decimal=decimal, **options)
