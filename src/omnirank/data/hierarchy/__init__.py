"""Label hierarchies, trees or DAGs: ancestor closure of label sets and label weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.errors import DataError, DataTypeError
from omnirank.core.immutable import PickledWithoutCaches, first_repeated
from omnirank.core.parameters import TEXT, check, number
from omnirank.core.text import counted, similar_names
from omnirank.data.containers import checked_sparse, is_unknown, unmasked

_BLOCK_CELLS = 1 << 22  # cells of a block of rows of a sparse matrix that is made dense
_MOST_SHOWN = 10
_Downwards = Sequence[tuple[int, Sequence[int]]]  # each label with its parents, parents before children


@dataclass(frozen=True, repr=False)
class Hierarchy(PickledWithoutCaches):
    """Labels and the parents of each; a tree (or several) or a directed acyclic graph.

    An example that has a label has all its ancestors too. An artificial root that only joins several trees
    is not a label. Hierarchies are immutable; two are equal when labels, their order and edges are equal.

    Parameters
    ----------
    labels : tuple of str
        The label names, all different; their order is the order of columns in label matrices.
    parents : tuple of tuple of int
        For each label the indices of its parents; none for a root. Kept in ascending order.

    See Also
    --------
    Hierarchy.from_paths, Hierarchy.from_edges, Hierarchy.flat

    Examples
    --------
    >>> from omnirank.data.hierarchy import Hierarchy
    >>> hierarchy = Hierarchy.from_paths(["animal/bird", "animal/mammal/cat", "plant"])
    >>> hierarchy
    Hierarchy(5 labels, tree, 2 roots, 3 leaves, depth 2)
    >>> hierarchy.labels
    ('animal', 'animal/bird', 'animal/mammal', 'animal/mammal/cat', 'plant')
    >>> hierarchy.parents
    ((), (0,), (0,), (2,), ())
    >>> hierarchy.close([[0, 0, 0, 1, 0]])
    array([[1, 0, 1, 1, 0]])
    >>> hierarchy.weights()
    array([1.    , 0.75  , 0.75  , 0.5625, 1.    ])
    """

    labels: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(label_name(label) for label in self.labels))
        object.__setattr__(self, "parents", tuple(tuple(sorted(map(index, above))) for above in self.parents))
        self._check_structure()
        self.topological_order  # noqa: B018 - a cycle is an error now, not at first use

    # -- construction -------------------------------------------------------------------------------

    @classmethod
    def from_paths(cls, paths: Iterable[Any], separator: str = "/") -> Hierarchy:
        """Build a tree from paths; the full paths are the label names.

        A prefix that is not listed itself is added, right before the first path that needs it.

        Parameters
        ----------
        paths : iterable of str
            One path per label, in any order, none twice (for a list with repetitions pass
            ``dict.fromkeys(paths)``); the order is kept.
        separator : str
            What stands between the levels of a path.

        Examples
        --------
        >>> from omnirank.data.hierarchy import Hierarchy
        >>> Hierarchy.from_paths(["a/b", "a/c", "a"]).labels
        ('a/b', 'a/c', 'a')
        >>> Hierarchy.from_paths(["a.b.c"], separator=".").labels
        ('a', 'a.b', 'a.b.c')
        """
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
            above = dict(zip(prefixes, [None, *prefixes], strict=False))
            parent_of.update((prefix, above[prefix]) for prefix in [*missing, path])
        positions = {label: i for i, label in enumerate(parent_of)}
        return cls(
            tuple(parent_of), tuple(() if above is None else (positions[above],) for above in parent_of.values())
        )

    @classmethod
    def from_edges(
        cls, edges: Iterable[Any], root: str | None = None, *, labels: Iterable[Any] | None = None
    ) -> Hierarchy:
        """Build a tree or DAG from (parent, child) pairs.

        Parameters
        ----------
        edges : iterable of pairs
            Names of parent and child; none twice.
        root : str, optional
            Name of an artificial root: it is no label, and its edges only list its children.
        labels : iterable of str, optional
            The labels in the desired order, including those that no edge mentions; by default the order of
            first appearance in the edges.

        Examples
        --------
        >>> from omnirank.data.hierarchy import Hierarchy
        >>> dag = Hierarchy.from_edges([("root", "a"), ("root", "b"), ("a", "c"), ("b", "c")], root="root")
        >>> dag.labels, dag.parents, dag.is_tree
        (('a', 'b', 'c'), ((), (), (0, 1)), False)
        """
        artificial = None if root is None else label_name(root)
        given = None if labels is None else _names(labels, "label")
        if given is not None and artificial in given:
            raise DataError(f"the artificial root {artificial!r} is also listed as a label: leave it out of labels")
        parents: dict[str, list[str]] = {name: [] for name in given or ()}
        below_root: set[str] = set()
        for count, edge in enumerate(edges, start=1):
            if isinstance(edge, str) or len(edge) != 2:
                raise DataError(f"edge {count} is not a (parent, child) pair: {edge!r}")
            parent, child = map(label_name, edge)
            if child == artificial:
                raise DataError(f"edge {count}: {parent!r} is a parent of the artificial root {artificial!r}")
            for name in (parent, child):
                if given is not None and name not in parents and name != artificial:
                    raise unknown_label(name, given, f"edge {count}")
            if parent == artificial and child in below_root:
                raise DataError(f"the edge {parent!r} -> {child!r} is given twice: remove one of the two")
            if parent == artificial:
                below_root.add(child)
                parents.setdefault(child, [])
            else:
                parents.setdefault(parent, [])  # first, so that a parent appears before its child
                parents.setdefault(child, []).append(parent)
        positions = {name: i for i, name in enumerate(parents)}
        return cls(tuple(parents), tuple(tuple(positions[name] for name in above) for above in parents.values()))

    @classmethod
    def flat(cls, labels: Iterable[Any]) -> Hierarchy:
        """Build the hierarchy without edges, every label a root: multi-label data as hierarchical data.

        Examples
        --------
        >>> from omnirank.data.hierarchy import Hierarchy
        >>> Hierarchy.flat(["sad", "happy"])
        Hierarchy(2 labels, tree, 2 roots, 2 leaves, depth 0)
        """
        return cls.from_edges([], labels=labels)

    def _check_structure(self) -> None:
        """Raise a DataError unless names differ and every parent is another label, given once."""
        labels, parents = self.labels, self.parents
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

    # -- structure ----------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        kind = "tree" if self.is_tree else "DAG"
        counts = [counted(len(self), "label"), kind, counted(len(self.roots), "root")]
        return f"Hierarchy({', '.join(counts)}, {counted(len(self.leaves), 'leaf')}, depth {self.depth.max()})"

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return len(self.labels)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """For each label the indices of its children, ascending."""
        below: list[list[int]] = [[] for _ in self.labels]
        for child, above in enumerate(self.parents):
            for parent in above:
                below[parent].append(child)
        return tuple(map(tuple, below))

    def describe(self) -> dict[str, Any]:
        """Return whether it is a tree, and how deep it is."""
        return {"hierarchy": "tree" if self.is_tree else "DAG", "hierarchy depth": int(np.max(self.depth)) + 1}

    @cached_property
    def is_tree(self) -> bool:
        """Whether every label has at most one parent (several roots make several trees)."""
        return all(len(above) <= 1 for above in self.parents)

    @cached_property
    def roots(self) -> np.ndarray:
        """Indices of the labels without parents, ascending."""
        return _frozen(np.array([i for i, above in enumerate(self.parents) if not above], dtype=np.intp))

    @cached_property
    def leaves(self) -> np.ndarray:
        """Indices of the labels without children, ascending."""
        return _frozen(np.array([i for i, below in enumerate(self.children) if not below], dtype=np.intp))

    @cached_property
    def topological_order(self) -> np.ndarray:
        """All label indices, parents before children."""
        waiting = [len(above) for above in self.parents]
        order = [label for label, n_parents in enumerate(waiting) if n_parents == 0]
        for label in order:  # grows while it is read: a queue
            for child in self.children[label]:
                waiting[child] -= 1
                if waiting[child] == 0:
                    order.append(child)
        if len(order) < len(self):
            names = [repr(name) for name, n_parents in zip(self.labels, waiting, strict=True) if n_parents > 0]
            raise DataError(f"the hierarchy has a cycle, at or below the labels {', '.join(names[:_MOST_SHOWN])}")
        return _frozen(np.array(order, dtype=np.intp))

    @cached_property
    def depth(self) -> np.ndarray:
        """Number of edges on the longest path from a root to each label; 0 for a root."""
        depth = [0] * len(self)
        for label, above in self._downwards():
            depth[label] = max((depth[parent] + 1 for parent in above), default=0)
        return _frozen(np.array(depth, dtype=np.intp))

    @cached_property
    def ancestors(self) -> sparse.csr_array:
        """Boolean matrix, label x label: row l marks the ancestors of l and l itself."""
        n_labels = len(self)
        rows: list[np.ndarray] = [np.empty(0, np.int32)] * n_labels
        for label, above in self._downwards():
            own = np.concatenate([*(rows[parent] for parent in above), np.array([label], np.int32)])
            rows[label] = np.unique(own) if len(above) > 1 else own
        starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
        indices = np.concatenate(rows)
        matrix = sparse.csr_array((np.ones(len(indices), bool), indices, starts), shape=(n_labels, n_labels))
        matrix.sort_indices()
        for part in (matrix.data, matrix.indices, matrix.indptr):
            _frozen(part)
        return matrix

    def index(self, label: Any, where: str = "") -> int:
        """Return the position of a label, by name; `where` it stands is for the error about an unknown one."""
        name = label_name(label)
        try:
            return self._positions[name]
        except KeyError:
            raise unknown_label(name, self.labels, where) from None

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.labels)}

    def _downwards(self) -> list[tuple[int, tuple[int, ...]]]:
        """Each label with its parents, parents before children."""
        return [(label, self.parents[label]) for label in self.topological_order.tolist()]

    # -- label sets ---------------------------------------------------------------------------------

    def weights(self, w0: float = 0.75) -> np.ndarray:
        r"""Return the weight of each label; the deeper a label lies, the smaller its weight.

        .. math:: w(l) = 1 \text{ for a root}, \qquad
            w(l) = w_0 \, \frac{1}{|parents(l)|} \sum_{p \in parents(l)} w(p)

        Parameters
        ----------
        w0 : float in (0, 1]
            Factor from a label to its children; with 1 all labels weigh the same.

        References
        ----------
        Vens, Struyf, Schietgat, Dzeroski, Blockeel: Decision trees for hierarchical multi-label classification. Machine
        Learning 73, 2008. Petkovic, Dzeroski, Kocev: Feature ranking for hierarchical multi-label classification with
        tree ensemble methods. Acta Polytechnica Hungarica 17(10), 2020. Sec. 2.1.

        Examples
        --------
        >>> from omnirank.data.hierarchy import Hierarchy
        >>> dag = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("b", "c")])
        >>> dag.weights(0.5)
        array([1.   , 0.5  , 0.375])
        """
        check("w0", w0, number(above=0, most=1))
        weights = [1.0] * len(self)
        for label, above in self._downwards():
            if above:
                weights[label] = float(w0) * sum(weights[parent] for parent in above) / len(above)
        return np.array(weights)

    def encode(self, label_sets: Iterable[Any]) -> tuple[sparse.csr_array, np.ndarray]:
        """Turn sets of label names into a 0/1 matrix, without adding ancestors (see `close`).

        Parameters
        ----------
        label_sets : iterable of iterables of str
            The labels of each example; an empty set is a labelled example without labels, None (or NaN)
            an unlabelled example.

        Returns
        -------
        matrix : csr_array of float64 of shape (n_examples, n_labels)
            1 for each label listed. The row of an unlabelled example is empty.
        labelled : ndarray of bool of shape (n_examples,)
            False for the unlabelled examples.

        Examples
        --------
        >>> from omnirank.data.hierarchy import Hierarchy
        >>> matrix, labelled = Hierarchy.from_paths(["a", "a/b"]).encode([["a/b"], [], None])
        >>> matrix.toarray().tolist(), labelled.tolist()
        ([[0.0, 1.0], [0.0, 0.0], [0.0, 0.0]], [True, True, False])
        """
        indices: list[int] = []
        starts = [0]
        labelled: list[bool] = []
        for i, label_set in enumerate(label_sets, start=1):
            missing = is_unknown(label_set)
            labelled.append(not missing)
            if not missing:
                where = f"example {i} (counted from 1)"
                if isinstance(label_set, str) or not isinstance(label_set, Iterable):
                    raise DataTypeError(f"{where}: {label_set!r} is not a set of label names")
                indices.extend(sorted({self.index(label, where) for label in label_set}))
            starts.append(len(indices))
        cells = (np.ones(len(indices)), np.array(indices, np.int32), np.array(starts))
        return sparse.csr_array(cells, shape=(len(labelled), len(self))), np.array(labelled, dtype=bool)

    def close(self, label_matrix: Any) -> Any:
        """Complete label sets so that no label stands without its ancestors.

        First a known 1 goes to all ancestors, whatever they held: in a set given by its most specific
        labels the 0 of an ancestor only says "not listed". Then a 0 that is left goes to all unknown
        descendants. So child <= parent wherever both are known; what the known cells do not settle stays
        unknown.

        Parameters
        ----------
        label_matrix : array-like or sparse of shape (n_examples, n_labels)
            0, 1 or NaN (unknown). In a sparse matrix an absent cell is 0 and a stored NaN is unknown.

        Returns
        -------
        array or sparse matrix
            A new matrix of the same kind and dtype.

        Examples
        --------
        >>> import numpy as np
        >>> from omnirank.data.hierarchy import Hierarchy
        >>> hierarchy = Hierarchy.from_paths(["a", "a/b", "a/b/c"])
        >>> hierarchy.close(np.array([[0, 1, np.nan], [np.nan, 0, np.nan], [np.nan, np.nan, 1]]))
        array([[ 1.,  1., nan],
               [nan,  0.,  0.],
               [ 1.,  1.,  1.]])
        """
        if sparse.issparse(label_matrix):
            checked_sparse(label_matrix, "label_matrix")  # what comes back has the format of what was given
            return self._close_sparse(label_matrix)
        values = _numbers(label_matrix)
        _check_cells(self.labels, values.shape, values, np.nonzero)
        downwards = self._downwards()
        present = np.ascontiguousarray((values == 1).T)  # one row per label: whole rows are combined below
        for label, above in reversed(downwards):
            for parent in above:
                present[parent] |= present[label]
        closed = present.T.astype(values.dtype, order="C")
        unknown = np.isnan(values)
        if unknown.any():
            closed[_still_unknown(present, unknown.T, downwards).T] = np.nan
        return closed

    def _close_sparse(self, label_matrix: Any) -> Any:
        matrix = sparse.csr_array(label_matrix, copy=True)
        matrix.sum_duplicates()
        _check_cells(self.labels, matrix.shape, matrix.data, lambda bad: [at[bad] for at in matrix.tocoo().coords])
        step = max(1, _BLOCK_CELLS // len(self))
        blocks = (matrix[start : start + step].toarray() for start in range(0, max(matrix.shape[0], 1), step))
        closed = sparse.vstack([sparse.csr_array(self.close(block)) for block in blocks], format="csr")
        if isinstance(label_matrix, sparse.spmatrix):
            closed = sparse.csr_matrix(closed)
        return closed.asformat(label_matrix.format)

    # -- other forms --------------------------------------------------------------------------------

    def to_edges(self) -> list[tuple[str, str]]:
        """Return the (parent, child) pairs by name, in the order of the children.

        Examples
        --------
        >>> from omnirank.data.hierarchy import Hierarchy
        >>> Hierarchy.from_paths(["a", "a/b"]).to_edges()
        [('a', 'a/b')]
        """
        return [(self.labels[p], self.labels[c]) for c, above in enumerate(self.parents) for p in above]


def _frozen(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


def label_name(value: Any) -> str:
    """Return a label's name: a string as it is, an integer in decimal digits.

    Examples
    --------
    >>> from omnirank.data.hierarchy import label_name
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
    >>> from omnirank.data.hierarchy import unknown_label
    >>> unknown_label("brid", ["bird", "cat"])
    DataError("unknown label 'brid'; did you mean 'bird'?")
    """
    labels = list(labels)
    return DataError(f"{where}{': ' if where else ''}unknown label {name!r}{similar_names(name, labels, 'labels')}")


def _names(values: Iterable[Any], kind: str) -> list[str]:
    if isinstance(values, str):
        raise DataTypeError(f"{kind}s: expected several names, got the single string {values!r}")
    names = [label_name(value) for value in values]
    again = first_repeated(names)
    if again is not None:
        raise DataError(f"{kind} {names[again]!r} is given twice: {kind}s must differ")
    return names


def _still_unknown(present: np.ndarray, unknown: np.ndarray, downwards: _Downwards) -> np.ndarray:
    """Cells (label x example) that neither a 1 below nor a 0 above settles."""
    possible = np.ascontiguousarray(present | unknown)
    for label, above in downwards:
        for parent in above:
            possible[label] &= possible[parent]
    return possible & ~present


def _numbers(label_matrix: Any) -> np.ndarray:
    try:
        values = np.asarray(unmasked(label_matrix))
        return values if values.dtype.kind in "biuf" else values.astype(np.float64)
    except (TypeError, ValueError):
        kind = type(label_matrix).__name__
        raise DataTypeError(f"a label matrix is a table of 0, 1 and NaN: this {kind} is none") from None


def _check_cells(labels: Sequence[str], shape: tuple[int, ...], cells: np.ndarray, places: Callable[..., Any]) -> None:
    if len(shape) != 2 or shape[1] != len(labels):
        raise DataError(f"label matrix of shape {shape}: give one column for each of the {len(labels)} labels")
    bad = ~((cells == 0) | (cells == 1) | np.isnan(cells))
    if bad.any():
        rows, columns = places(bad)
        place = f"row {rows[0]} (counted from 0), label {labels[columns[0]]!r}"
        raise DataError(f"label matrix, {place}: {cells[bad][0]} is neither 0 nor 1 nor NaN (unknown)")
