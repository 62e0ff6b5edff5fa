"""The attribute type ``hierarchical`` of CLUS: a declared label hierarchy, and a label set in each row.

A tree is declared by the paths of its labels (``01,01/01,01/01/03``), a DAG by its ``parent/child`` pairs
starting at ``root``. A row joins its labels by ``@``; ancestors are implied. ``?`` is an unlabelled row, and
``root`` alone (or another word, as CLUS calls it by ``EmptySetIndicator``) a labelled row without labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from omnirank.core.errors import DataError
from omnirank.core.parameters import TEXT, check, choice
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.hierarchy_build import unknown_label

HIERARCHY_KINDS = ("auto", "tree", "dag")

_ROOT = "root"


@dataclass(frozen=True, eq=False)
class HierarchicalAttribute:
    """A hierarchical attribute and, once the rows are read, the label set of each.

    Parameters
    ----------
    name : str
        Name of the attribute.
    kind : {"tree", "dag"}
        How the hierarchy is declared.
    hierarchy : Hierarchy
        The labels; those of a tree are called by their full paths.
    rows : tuple
        The labels given in each row, or None where the row is unlabelled.
    empty : str or None
        What stands for a labelled row without labels, besides ``root``.
    no_part : str or None
        How the paths of a tree end that name no label below; with the separator before it.

    Examples
    --------
    >>> from omnirank.data.hierarchical_attribute import declare_labels
    >>> labels, notes = declare_labels("class", ["root/a", "root/b", "a/c", "b/c"])
    >>> labels.kind, labels.hierarchy.labels
    ('dag', ('a', 'b', 'c'))
    >>> labels.parse("b@c"), labels.parse("root")
    (('b', 'c'), ())
    """

    name: str
    kind: str
    hierarchy: Hierarchy
    rows: tuple[tuple[str, ...] | None, ...] = ()
    empty: str | None = None
    no_part: str | None = None

    def parse(self, cell: str) -> tuple[str, ...]:
        """Return the labels of one cell; an unknown one is a DataError."""
        known = self.hierarchy._positions
        names = tuple(_without(part.strip(" "), self.no_part) for part in cell.split("@"))
        for name in names:
            if name not in known:
                if names in ((_ROOT,), (self.empty,)):
                    return ()
                raise unknown_label(name, self.hierarchy.labels)
        return names

    def with_rows(self, rows: Sequence[tuple[str, ...] | None]) -> HierarchicalAttribute:
        """Return the attribute with the label sets of the rows."""
        return replace(self, rows=tuple(rows))


def declare_labels(
    name: str,
    entries: Sequence[str],
    kind: str = "auto",
    separator: str = "/",
    empty: str | None = None,
    no_label: str | None = None,
) -> tuple[HierarchicalAttribute, tuple[str, ...]]:
    """Return the attribute that a list of paths or pairs declares, and notes about it.

    Parameters
    ----------
    name : str
        Name of the attribute.
    entries : sequence of str
        Paths of a tree, or parent-child pairs of a DAG; a label alone has no parent.
    kind : {"auto", "tree", "dag"}
        "auto" takes the entries as a DAG when all are pairs and some start at ``root``.
    separator : str
        What stands between the parts of an entry.
    empty : str, optional
        What stands for a labelled row without labels, besides ``root``.
    no_label : str, optional
        A last part of a tree's paths that names no label: with "0", ``1/1/0`` is ``1/1``.
    """
    check("hierarchy_kind", kind, choice(*HIERARCHY_KINDS))
    check("hierarchy_separator", separator, TEXT)
    distinct = list(dict.fromkeys(entries))
    notes = []
    if len(distinct) < len(entries):
        notes.append(f"attribute {name!r} declares {len(entries) - len(distinct)} entries of its hierarchy again")
    if kind == "auto":
        pairs = all(entry.count(separator) == 1 for entry in distinct)
        rooted = any(entry.startswith(_ROOT + separator) for entry in distinct)
        kind = "dag" if pairs and rooted else "tree"
    if kind == "tree":
        ending = None if no_label is None else f"{separator}{no_label}"
        tree = Hierarchy.from_paths(dict.fromkeys(_without(entry, ending) for entry in distinct), separator)
        return HierarchicalAttribute(name, kind, tree, empty=empty, no_part=ending), tuple(notes)
    edges = []
    for entry in distinct:
        parts = entry.split(separator)
        if len(parts) == 1:
            parts = [_ROOT, entry]
        if len(parts) != 2 or not all(part.strip() for part in parts):
            raise DataError(f"{entry!r} is not a pair parent{separator}child, as a DAG needs it")
        edges.append((parts[0], parts[1]))
    dag = Hierarchy.from_edges(dict.fromkeys(edges), root=_ROOT)
    return HierarchicalAttribute(name, kind, dag, empty=empty), tuple(notes)


def _without(path: str, ending: str | None) -> str:
    """The path without an ending, however often it is there."""
    while ending is not None and path.endswith(ending):
        path = path.removesuffix(ending)
    return path
