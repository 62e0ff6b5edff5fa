"""The plain functions that build a `Hierarchy`, check and order it.

Every ``structure_from_...`` returns ``(labels, parents)``: the names in column order, and for each label the
indices of its parents. What makes a hierarchy valid (no cycle, no edge given twice, ...) is checked once, by
`check_structure` and `sort_topologically`, whatever the source.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.errors import DataError, DataTypeError, setting
from omnirank.core.immutable import first_repeated
from omnirank.core.parameters import TEXT, check, choice
from omnirank.core.text import counted, there_are
from omnirank.data.containers import checked_sparse
from omnirank.data.table import numbered_names

Structure = tuple[list[str], list[list[int]]]
Downwards = Sequence[tuple[int, Sequence[int]]]  # each label with its parents, parents before children
_MAX_LABELS_IN_MESSAGE = 10


def label_name(value: Any) -> str:
    """Return a label's name: a string as it is, an integer in decimal digits.

    Examples
    --------
    >>> from omnirank.data.hierarchy.structure import label_name
    >>> label_name("GO:0008150"), label_name(7)
    ('GO:0008150', '7')
    """
    if isinstance(value, str):
        name = str(value)
    elif isinstance(value, int | np.integer) and not isinstance(value, bool):
        name = str(int(value))
    else:
        raise DataTypeError(
            f"a label name must be a string (or an integer), not {value!r} of type {type(value).__name__}"
        )
    if not name.strip():
        raise DataError(f"a label has an empty name ({name!r}): every label needs a name")
    return name


def unknown_label(name: str, labels: Iterable[str], where: str = "") -> DataError:
    """Return the error for a label that the hierarchy lacks, with the labels that look like it.

    Examples
    --------
    >>> from omnirank.data.hierarchy.structure import unknown_label
    >>> str(unknown_label("mamal", ["mammal", "bird"], "example 3"))
    "example 3: unknown label 'mamal'; similar labels: 'mammal'"
    """
    labels = list(labels)
    similar = get_close_matches(name, labels, n=3)
    if similar:
        hint = "similar labels: " + ", ".join(map(repr, similar))
    else:
        hint = f"{there_are(len(labels), 'label')}: {_listing(labels)}"
    return DataError(f"{where}{': ' if where else ''}unknown label {name!r}; {hint}")


def structure_from_paths(paths: Iterable[Any], separator: str, implied: str) -> Structure:
    """Return the tree whose labels are the given paths, in their order.

    A prefix that is not listed itself comes right before the first path that needs it.
    """
    check("implied", implied, choice("add", "error"))
    check("separator", separator, TEXT)
    listed = _names(paths, "path")
    known = set(listed)
    parent_of: dict[str, str | None] = {}
    for path in listed:
        parts = path.split(separator)
        if not all(part.strip() for part in parts):
            raise DataError(f"path {path!r} has an empty label name before or after a separator {separator!r}")
        prefixes = [separator.join(parts[:end]) for end in range(1, len(parts) + 1)]
        missing = [prefix for prefix in prefixes if prefix not in known]
        if missing and implied == "error":
            raise DataError(f"path {path!r}: {missing[0]!r} is not listed; list it or use {setting('implied', 'add')}")
        above = dict(zip(prefixes, [None, *prefixes], strict=False))
        parent_of.update((prefix, above[prefix]) for prefix in [*missing, path])
    positions = {label: i for i, label in enumerate(parent_of)}
    return list(parent_of), [[] if parent is None else [positions[parent]] for parent in parent_of.values()]


def paths_of_tree(labels: Sequence[str], downwards: Downwards, separator: str) -> list[str]:
    """Return the paths from which `structure_from_paths` makes this tree: the names themselves, or joined."""
    parents: list[list[int]] = [[] for _ in labels]
    joined = list(labels)
    for label, above in downwards:
        parents[label] = list(above)
        if above:
            joined[label] = f"{joined[above[0]]}{separator}{labels[label]}"
    for paths in (list(labels), joined):
        try:
            if structure_from_paths(paths, separator, "error") == (paths, parents):
                return paths
        except DataError:
            continue
    raise DataError(f"label names contain the separator {separator!r}: choose another separator")


def structure_from_edges(edges: Iterable[Any], root: Any = None, labels: Iterable[Any] | None = None) -> Structure:
    """Return the hierarchy of (parent, child) pairs; the edges of an artificial root are dropped."""
    artificial = None if root is None else label_name(root)
    given = None if labels is None else _names(labels, "label")
    if given is not None and artificial in given:
        raise DataError(f"the artificial root {artificial!r} is also listed as a label: leave it out of labels")
    positions = {} if given is None else {name: i for i, name in enumerate(given)}
    parents: list[list[int]] = [[] for _ in positions]

    def position(name: str, number: int) -> int:
        if name not in positions:
            if given is not None:
                raise unknown_label(name, given, f"edge {number}")
            positions[name] = len(positions)
            parents.append([])
        return positions[name]

    below_root: set[str] = set()
    for number, edge in enumerate(edges, start=1):
        parent, child = _pair(edge, number)
        if child == artificial:
            raise DataError(f"edge {number}: {parent!r} is a parent of the artificial root {artificial!r}")
        if parent != artificial:
            from_index = position(parent, number)  # first, so that a parent appears before its child
            parents[position(child, number)].append(from_index)
            continue
        if child in below_root:
            raise DataError(f"the edge {parent!r} -> {child!r} is given twice: remove one of the two")
        below_root.add(child)
        position(child, number)
    return list(positions), parents


def structure_from_graph(graph: Any) -> Structure:
    """Take the nodes and edges of a directed networkx graph as they are."""
    if not hasattr(graph, "is_directed"):
        raise DataTypeError(f"expected a networkx.DiGraph, got {type(graph).__name__}")
    if not graph.is_directed():
        raise DataError("the graph is undirected: give a networkx.DiGraph with edges parent -> child")
    return structure_from_edges(graph.edges(), labels=graph.nodes())


def structure_from_array(array: Any, labels: Iterable[Any] | None = None) -> Structure:
    """Return the hierarchy of a vector of parents or of an adjacency matrix."""
    if sparse.issparse(array):
        matrix: Any = sparse.coo_array(checked_sparse(array, "array"))
        _check_square(matrix.shape)
        parents = _parents_of_adjacency(matrix.shape[0], matrix.data, *matrix.coords)
    else:
        values = _dense(array)
        if values.ndim == 1:
            parents = _parents_of_vector(values)
        else:
            _check_square(values.shape)
            above, below = np.nonzero(values)
            parents = _parents_of_adjacency(len(values), values[above, below], above, below)
    names = list(numbered_names(len(parents), "label")) if labels is None else _names(labels, "label")
    if len(names) != len(parents):
        raise DataError(f"{len(names)} label names for an array of {len(parents)} labels")
    return names, parents


def check_structure(labels: Sequence[Any], parents: Sequence[Any]) -> None:
    """Raise a DataError unless names differ and every parent is another label, given once."""
    if not labels:
        raise DataError("a hierarchy needs at least one label")
    if len(labels) != len(parents):
        raise DataError(f"{counted(len(labels), 'label')}, but parents of {counted(len(parents), 'label')}")
    _names(labels, "label")
    for child, above in enumerate(parents):
        name = labels[child]
        for parent in above:
            if not 0 <= parent < len(labels):
                raise DataError(f"label {name!r}: parent {parent} is out of range (0 to {len(labels) - 1})")
            if parent == child:
                raise DataError(f"label {name!r} is its own parent: remove the edge {name!r} -> {name!r}")
        again = first_repeated(above)
        if again is not None:
            raise DataError(f"the edge {labels[above[again]]!r} -> {name!r} is given twice: remove one of the two")


def sort_topologically(
    labels: Sequence[str], parents: Sequence[Sequence[int]], children: Sequence[Sequence[int]]
) -> list[int]:
    """Return the labels with parents before children; a cycle is an error that names its labels."""
    waiting = [len(above) for above in parents]
    order = [label for label, count in enumerate(waiting) if count == 0]
    for label in order:  # grows while it is read: a queue
        for child in children[label]:
            waiting[child] -= 1
            if waiting[child] == 0:
                order.append(child)
    if len(order) < len(labels):
        raise DataError(f"the hierarchy has a cycle: {_cycle(labels, parents, waiting)}")
    return order


# -- helpers ------------------------------------------------------------------------------------------


def _names(values: Iterable[Any], kind: str) -> list[str]:
    if isinstance(values, str):
        raise DataTypeError(f"{kind}s: expected several names, got the single string {values!r}")
    names = [label_name(value) for value in values]
    again = first_repeated(names)
    if again is not None:
        raise DataError(f"{kind} {names[again]!r} is given twice: {kind}s must differ")
    return names


def _pair(edge: Any, number: int) -> tuple[str, str]:
    try:
        if isinstance(edge, str):
            raise TypeError
        parent, child = edge
    except (TypeError, ValueError):
        raise DataError(f"edge {number} is not a (parent, child) pair: {edge!r}") from None
    return label_name(parent), label_name(child)


def _check_square(shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise DataError(
            f"an array of shape {shape} is no hierarchy: give one parent index per label (-1 for a root) "
            "or a square adjacency matrix"
        )


def _parents_of_vector(values: np.ndarray) -> list[list[int]]:
    if values.dtype.kind not in "iu" and values.size:
        raise DataError(f"parent indices must be integers (-1 for a root), not {values.dtype}")
    if values.size and values.min() < -1:
        label = int(np.flatnonzero(values < -1)[0])
        raise DataError(f"entry {label} of the parents is {values[label]}: give an index, or -1 for a root")
    return [[] if parent == -1 else [parent] for parent in values.tolist()]


def _parents_of_adjacency(n_labels: int, values: np.ndarray, above: np.ndarray, below: np.ndarray) -> list[list[int]]:
    if values.dtype.kind not in "biuf":
        raise DataError(f"an adjacency matrix must hold numbers or booleans, not {values.dtype}")
    if np.isnan(values).any():
        raise DataError("the adjacency matrix has missing entries (NaN): use 0 for no edge")
    parents: list[list[int]] = [[] for _ in range(n_labels)]
    edge = values != 0
    for parent, child in zip(above[edge].tolist(), below[edge].tolist(), strict=True):
        parents[child].append(parent)
    return parents


def _dense(array: Any) -> np.ndarray:
    try:
        return np.asarray(array)
    except ValueError:
        raise DataError("the rows of the adjacency matrix have different lengths") from None


def _cycle(labels: Sequence[str], parents: Sequence[Sequence[int]], waiting: Sequence[int]) -> str:
    # A label still waiting has a parent still waiting, so the walk upwards must meet itself.
    step: dict[int, int] = {}
    label = next(label for label, count in enumerate(waiting) if count > 0)
    while label not in step:
        step[label] = len(step)
        label = next(parent for parent in parents[label] if waiting[parent] > 0)
    upwards = list(step)[step[label] :]
    downwards = [labels[i] for i in [label, *reversed(upwards)]]
    return _listing(downwards, " -> ")


def _listing(names: Sequence[str], joint: str = ", ") -> str:
    shown = [repr(name) for name in names]
    if len(shown) > _MAX_LABELS_IN_MESSAGE:
        shown = [*shown[: _MAX_LABELS_IN_MESSAGE - 1], "...", shown[-1]]
    return joint.join(shown)
