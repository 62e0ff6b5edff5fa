"""A label hierarchy and label sets as the attribute type ``hierarchical`` of CLUS writes them."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from omnirank.core.errors import DataError
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.target import Target

_ROOT, _SEPARATOR, _JOINT = "root", "/", "@"


def declared_entries(hierarchy: Hierarchy) -> list[str]:
    """Return the paths of a tree whose label names are paths, else the parent/child pairs from ``root``.

    The pairs come in an order that gives back the order of the labels, where there is one; it always is for a
    hierarchy that was read from pairs.

    Examples
    --------
    >>> from omnirank.data.hierarchical_write import declared_entries
    >>> from omnirank.data.hierarchy import Hierarchy
    >>> declared_entries(Hierarchy.from_paths(["a/b"]))
    ['a', 'a/b']
    >>> declared_entries(Hierarchy.from_edges([("a", "b")]))
    ['root/a', 'a/b']
    """
    for label in hierarchy.labels:
        if _JOINT in label or label != label.strip(" "):
            raise DataError(f"label {label!r}: a hierarchical attribute has no labels with {_JOINT} or outer blanks")
    if _named_by_paths(hierarchy):
        return list(hierarchy.labels)
    for label in hierarchy.labels:
        if _SEPARATOR in label or label == _ROOT:
            raise DataError(f"label {label!r}: pairs parent/child have no labels with {_SEPARATOR}, nor {_ROOT!r}")
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
    rest = hierarchy.topological_order.tolist()
    for label in rest:
        for parent in [labels[p] for p in parents[label]] or [_ROOT]:
            pairs[parent, labels[label]] = None
    return list(pairs)


def label_cells(target: Target, hierarchy: Hierarchy) -> list[str | None]:
    """Return the cell of each example: its most specific labels joined by ``@``.

    An example without labels is written ``root``; None stands for an unlabelled one.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.hierarchical_write import label_cells
    >>> from omnirank.data.hierarchy import Hierarchy
    >>> from omnirank.data.target import Target
    >>> hierarchy = Hierarchy.from_paths(["a", "a/b", "c"])
    >>> label_cells(Target.labels(np.array([[1, 1, 1], [0, 0, 0]]), hierarchy.labels), hierarchy)
    ['a/b@c', 'root']
    """
    if target.is_partial:
        row = _first_partial(target)
        raise DataError(
            f"example {row} has labels that are unknown while others are known: a hierarchical attribute "
            "holds whole label sets only"
        )
    values = target.values if target.is_sparse else np.where(np.isnan(target.values), 0.0, target.values)
    present = sparse.csr_array(values)
    present.eliminate_zeros()
    edges = [(child, parent) for child, above in enumerate(hierarchy.parents) for parent in above]
    rows, columns = zip(*edges, strict=True) if edges else ((), ())
    shape = (hierarchy.n_labels, hierarchy.n_labels)
    has_child = present @ sparse.csr_array((np.ones(len(edges)), (rows, columns)), shape=shape)
    specific = present - present.multiply(has_child > 0)
    specific = sparse.csr_array(specific)
    specific.eliminate_zeros()
    specific.sort_indices()
    cells: list[str | None] = []
    for row, labelled in enumerate(target.labelled.tolist()):
        indices = specific.indices[specific.indptr[row] : specific.indptr[row + 1]]
        names = [hierarchy.labels[i] for i in indices.tolist()]
        if labelled and not names and _ROOT in hierarchy.labels:
            raise DataError(f"example {row} has no label, which is written {_ROOT!r}: but that is a label here")
        cells.append((_JOINT.join(names) or _ROOT) if labelled else None)
    return cells


def _first_partial(target: Target) -> int:
    unknown = np.isnan(target.dense())
    return int(np.flatnonzero(unknown.any(axis=1) & target.labelled)[0])
