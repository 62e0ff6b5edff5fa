"""The attribute type ``hierarchical`` of CLUS: a declared label hierarchy, and a label set in each row.

A tree is declared by the paths of its labels (``01,01/01,01/01/03``), a DAG by its ``parent/child`` pairs
starting at ``root``. A row joins its labels by ``@``; ancestors are implied. ``?`` is an unlabelled row, and
``root`` alone (or another word, as CLUS calls it by ``EmptySetIndicator``) a labelled row without labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from omnirank.core.errors import DataError
from omnirank.core.parameters import TEXT, check, choice
from omnirank.data.hierarchy import Hierarchy, unknown_label
from omnirank.data.target import Target

HIERARCHY_KINDS = ("auto", "tree", "dag")
_ROOT, _SEPARATOR, _JOINT = "root", "/", "@"
_INSTEAD = "write .parquet"


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
    >>> from omnirank.data.hierarchy.clus import declare_labels
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


def declared_entries(hierarchy: Hierarchy) -> list[str]:
    """Return the paths of a tree whose label names are paths, else the parent/child pairs from ``root``.

    The pairs come in an order that gives back the order of the labels, where there is one; it always is for a
    hierarchy that was read from pairs.

    Examples
    --------
    >>> from omnirank.data.hierarchy.clus import declared_entries
    >>> from omnirank.data.hierarchy import Hierarchy
    >>> declared_entries(Hierarchy.from_paths(["a/b"]))
    ['a', 'a/b']
    >>> declared_entries(Hierarchy.from_edges([("a", "b")]))
    ['root/a', 'a/b']
    """
    for label in hierarchy.labels:
        if _JOINT in label or label != label.strip(" "):
            raise DataError(f"label {label!r}: no labels with {_JOINT} or outer blanks in ARFF: {_INSTEAD}")
    if _named_by_paths(hierarchy):
        return list(hierarchy.labels)
    for label in hierarchy.labels:
        if _SEPARATOR in label or label == _ROOT:
            raise DataError(f"label {label!r}: no labels with {_SEPARATOR}, nor {_ROOT!r}, in ARFF: {_INSTEAD}")
    return [_SEPARATOR.join(pair) for pair in _ordered_pairs(hierarchy)]


def _named_by_paths(hierarchy: Hierarchy) -> bool:
    if any(len(above) > 1 for above in hierarchy.parents):
        return False
    return all(
        name.rpartition(_SEPARATOR)[0] == (hierarchy.labels[above[0]] if above else "") and all(name.split(_SEPARATOR))
        for name, above in zip(hierarchy.labels, hierarchy.parents, strict=True)
    )


def _ordered_pairs(hierarchy: Hierarchy) -> list[tuple[str, str]]:
    """Edges from the root down, so that labels are first named in their order if that can be."""
    labels, parents, children = hierarchy.labels, hierarchy.parents, hierarchy.children
    pairs: dict[tuple[str, str], None] = {}
    n_named = 0

    def name(label: int, pair: tuple[str, str]) -> None:
        nonlocal n_named
        pairs[pair] = None
        n_named = max(n_named, label + 1)

    while n_named < len(labels):
        label = n_named
        above = [p for p in parents[label] if p < label]
        below = [c for c in children[label] if c <= label + 1]
        if not parents[label]:
            name(label, (_ROOT, labels[label]))
        elif above:
            name(label, (labels[above[0]], labels[label]))
        elif below:
            name(max(label, below[-1]), (labels[label], labels[below[-1]]))
        else:
            break
    for label in hierarchy.topological_order.tolist():
        for parent in [labels[p] for p in parents[label]] or [_ROOT]:
            pairs[parent, labels[label]] = None
    return list(pairs)


def label_cells(target: Target, hierarchy: Hierarchy) -> list[str | None]:
    """Return the cell of each example: its most specific labels joined by ``@``.

    An example without labels is written ``root``; None stands for an unlabelled one.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.hierarchy.clus import label_cells
    >>> from omnirank.data.hierarchy import Hierarchy
    >>> from omnirank.data.target import Target
    >>> hierarchy = Hierarchy.from_paths(["a", "a/b", "c"])
    >>> label_cells(Target.labels(np.array([[1, 1, 1], [0, 0, 0]]), hierarchy.labels), hierarchy)
    ['a/b@c', 'root']
    """
    if target.is_partial:
        row = int(np.flatnonzero(np.isnan(target.dense()).any(axis=1) & target.labelled)[0])
        raise DataError(
            f"example {row} has labels that are unknown while others are known: a hierarchical attribute "
            f"holds whole label sets only: {_INSTEAD}"
        )
    present = sparse.csr_array(target.values if target.is_sparse else np.nan_to_num(target.values))
    present.eliminate_zeros()
    present.sort_indices()
    cells: list[str | None] = []
    for row, labelled in enumerate(target.labelled.tolist()):
        own = present.indices[present.indptr[row] : present.indptr[row + 1]].tolist()
        above = {parent for label in own for parent in hierarchy.parents[label]}
        names = [hierarchy.labels[label] for label in own if label not in above]
        if labelled and not names and _ROOT in hierarchy.labels:
            raise DataError(f"example {row} has no label, written {_ROOT!r}, but that is a label here: {_INSTEAD}")
        cells.append((_JOINT.join(names) or _ROOT) if labelled else None)
    return cells
