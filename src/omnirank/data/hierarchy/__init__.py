"""Label hierarchies, trees or DAGs: ancestor closure of label sets and label weights."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import Any, Literal

import numpy as np
from scipy import sparse

from omnirank.core.errors import DataError
from omnirank.core.immutable import PickledWithoutCaches
from omnirank.core.text import counted
from omnirank.data.containers import checked_sparse
from omnirank.data.hierarchy.closure import ancestor_matrix, close_dense, close_sparse, encode_sets, label_weights
from omnirank.data.hierarchy.structure import (
    check_structure,
    label_name,
    paths_of_tree,
    sort_topologically,
    structure_from_array,
    structure_from_edges,
    structure_from_graph,
    structure_from_paths,
    unknown_label,
)


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
    Hierarchy.from_paths, Hierarchy.from_edges, Hierarchy.from_networkx, Hierarchy.from_array, Hierarchy.flat

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
        check_structure(self.labels, self.parents)
        self.topological_order  # noqa: B018 - a cycle is an error now, not at first use

    # -- construction -------------------------------------------------------------------------------

    @classmethod
    def from_paths(
        cls, paths: Iterable[Any], separator: str = "/", *, implied: Literal["add", "error"] = "add"
    ) -> Hierarchy:
        """Build a tree from paths; the full paths are the label names.

        Parameters
        ----------
        paths : iterable of str
            One path per label, in any order, none twice (for a list with repetitions pass
            ``dict.fromkeys(paths)``); the order is kept.
        separator : str
            What stands between the levels of a path.
        implied : {"add", "error"}
            What to do with a prefix that is not listed itself: add it, right before the first path that
            needs it, or raise.

        Examples
        --------
        >>> from omnirank.data.hierarchy import Hierarchy
        >>> Hierarchy.from_paths(["a/b", "a/c", "a"]).labels
        ('a/b', 'a/c', 'a')
        >>> Hierarchy.from_paths(["a.b.c"], separator=".").labels
        ('a', 'a.b', 'a.b.c')
        """
        return cls._of(*structure_from_paths(paths, separator, implied))

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
        return cls._of(*structure_from_edges(edges, root, labels))

    @classmethod
    def from_networkx(cls, graph: Any) -> Hierarchy:
        """Build a tree or DAG from a directed networkx graph with edges parent -> child.

        Nodes are strings or integers (an integer becomes its decimal name); attributes are ignored.

        Examples
        --------
        >>> import networkx as nx
        >>> from omnirank.data.hierarchy import Hierarchy
        >>> Hierarchy.from_networkx(nx.DiGraph([("a", "b"), ("a", "c")])).parents
        ((), (0,), (0,))
        """
        return cls._of(*structure_from_graph(graph))

    @classmethod
    def from_array(cls, array: Any, labels: Iterable[Any] | None = None) -> Hierarchy:
        """Build a tree from a vector of parents, or a tree or DAG from an adjacency matrix.

        Parameters
        ----------
        array : array-like of int of shape (n_labels,) or array-like or sparse of shape (n_labels, n_labels)
            The index of each label's parent, -1 for a root; or a matrix whose entry [p, c] is not 0 when
            p is a parent of c.
        labels : iterable of str, optional
            Label names; by default label1, label2, ...

        Examples
        --------
        >>> from omnirank.data.hierarchy import Hierarchy
        >>> tree = Hierarchy.from_array([-1, 0, 0], labels=["a", "b", "c"])
        >>> tree == Hierarchy.from_array([[0, 1, 1], [0, 0, 0], [0, 0, 0]], labels=["a", "b", "c"])
        True
        """
        return cls._of(*structure_from_array(array, labels))

    @classmethod
    def flat(cls, labels: Iterable[Any]) -> Hierarchy:
        """Build the hierarchy without edges, every label a root: multi-label data as hierarchical data.

        Examples
        --------
        >>> from omnirank.data.hierarchy import Hierarchy
        >>> Hierarchy.flat(["sad", "happy"])
        Hierarchy(2 labels, tree, 2 roots, 2 leaves, depth 0)
        """
        return cls._of(*structure_from_edges([], labels=labels))

    @classmethod
    def _of(cls, labels: list[str], parents: list[list[int]]) -> Hierarchy:
        return cls(tuple(labels), tuple(map(tuple, parents)))

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
        return _frozen(np.array(sort_topologically(self.labels, self.parents, self.children), dtype=np.intp))

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
        return ancestor_matrix(self._downwards())

    def index(self, label: Any) -> int:
        """Return the position of a label, by name."""
        return self._find(label, "")

    def _find(self, label: Any, where: str) -> int:
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
        return label_weights(self._downwards(), w0)

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
        return encode_sets(label_sets, len(self), self._find)

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
            return close_sparse(label_matrix, self.labels, self.ancestors, self._downwards())
        return close_dense(label_matrix, self.labels, self._downwards())

    # -- other forms --------------------------------------------------------------------------------

    def to_edges(self) -> list[tuple[str, str]]:
        """Return the (parent, child) pairs by name, in the order of the children.

        Examples
        --------
        >>> from omnirank.data.hierarchy import Hierarchy
        >>> Hierarchy.from_array([-1, 0, 1], labels=["a", "b", "c"]).to_edges()
        [('a', 'b'), ('b', 'c')]
        """
        return [(self.labels[p], self.labels[c]) for c, above in enumerate(self.parents) for p in above]

    def to_networkx(self) -> Any:
        """Return a networkx.DiGraph: the labels as nodes in their order, edges parent -> child.

        Examples
        --------
        >>> from omnirank.data.hierarchy import Hierarchy
        >>> print(Hierarchy.from_paths(["a/b/c"]).to_networkx())
        DiGraph with 3 nodes and 2 edges
        """
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self.labels)
        graph.add_edges_from(self.to_edges())
        return graph

    def to_paths(self, separator: str = "/") -> list[str]:
        """Return the path of each label of a tree, from its root.

        Names that are paths already, as `from_paths` makes them, are returned as they are.

        Examples
        --------
        >>> from omnirank.data.hierarchy import Hierarchy
        >>> Hierarchy.from_edges([("a", "b"), ("b", "c")]).to_paths()
        ['a', 'a/b', 'a/b/c']
        >>> Hierarchy.from_paths(["a", "a/b"]).to_paths()
        ['a', 'a/b']
        """
        if not self.is_tree:
            label = next(i for i, above in enumerate(self.parents) if len(above) > 1)
            raise DataError(f"label {self.labels[label]!r} has several parents: only trees have paths")
        return paths_of_tree(self.labels, self._downwards(), separator)


def _frozen(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array
