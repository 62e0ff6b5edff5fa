"""What a file holds, before anyone says which columns are features and which the target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np

from omnirank.data.hierarchical_attribute import HierarchicalAttribute
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.table import Table

KINDS = ("numeric", "nominal", "date", "string", "key", "hierarchical")


@dataclass(frozen=True, eq=False)
class Content:
    """All columns of a file and the facts it declares.

    Parameters
    ----------
    path : Path
        The file.
    names, kinds : tuple of str
        Name and kind (one of ``KINDS``) of every column, in file order.
    table : Table
        The numeric, date and nominal columns. A date is its number of seconds since 1970-01-01 UTC.
    declared : bool
        Whether the file declares the kinds (ARFF), so that integers in a numeric column are numbers, or they
        were found from the cells.
    integers : frozenset of str
        Numeric columns that hold integers only and were not declared.
    texts : mapping of str to ndarray of object
        Cells (str, or None where missing) of each string and key column.
    labels : HierarchicalAttribute or None
        The hierarchical attribute: its hierarchy and the label set of each row.
    label_order : Hierarchy or None
        Hierarchy of the default target's 0/1 columns, where the file knows one.
    target : tuple of str
        The columns that the file itself marks as target.
    task : str
        Task of that target, or "auto".
    weights : ndarray or None
        Weight of each row, where the file has weights.
    relation : str
        Name that the file gives to its data.
    notes : tuple of str
        What the user should know about how the file was taken.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from omnirank.data.arff import read_arff
    >>> text = "@relation r\\n@attribute size real\\n@attribute id string\\n@data\\n1.5,'no. 7'\\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "small.arff")
    ...     _ = path.write_text(text)
    ...     content = read_arff(path)
    >>> content.kinds, content.table.names, content.texts["id"].tolist()
    (('numeric', 'string'), ('size',), ['no. 7'])
    """

    path: Path
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    table: Table
    declared: bool
    integers: frozenset[str] = frozenset()
    texts: Mapping[str, np.ndarray] = field(default_factory=lambda: MappingProxyType({}))
    labels: HierarchicalAttribute | None = None
    label_order: Hierarchy | None = None
    target: tuple[str, ...] = ()
    task: str = "auto"
    weights: np.ndarray | None = None
    relation: str = ""
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.n_rows

    def kind(self, name: str) -> str:
        """Return the kind of a column, by name."""
        return self.kinds[self.names.index(name)]


def column_kinds(table: Table) -> tuple[str, ...]:
    """Return the kind of each column of a table: numeric, nominal or date.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.content import column_kinds
    >>> from omnirank.data.table import Table
    >>> column_kinds(Table.from_columns(["size", "kind"], [np.ones(1), np.zeros(1)], [None, ("a",)]))
    ('numeric', 'nominal')
    """
    known = zip(table.names, table.levels, strict=True)
    return tuple("date" if name in table.dates else "numeric" if lev is None else "nominal" for name, lev in known)


def plain_name(path: Path) -> str:
    """Return the name of a file without the ending of its format.

    Examples
    --------
    >>> from pathlib import Path
    >>> from omnirank.data.content import plain_name
    >>> plain_name(Path("church_FUN.train.arff.gz"))
    'church_FUN.train'
    """
    without = Path(path.name.removesuffix(path.suffix)) if path.suffix.lower() == ".gz" else Path(path.name)
    return without.stem or "data"
