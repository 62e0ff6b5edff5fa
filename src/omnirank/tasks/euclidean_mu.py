"""The scale mu of the Euclidean distance of label sets: 1 / the largest distance between two labels."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from omnirank.data.hierarchy import Hierarchy
from omnirank.data.target import Target


def euclidean_mu(target: Target, hierarchy: Hierarchy, weights: np.ndarray) -> float:
    """Return mu = 1 / (largest weighted Euclidean distance between two single labels).

    A label stands for itself and its ancestors; only labels that are the most specific ones of some example
    take part. With fewer than two of them mu = 1. In a tree this takes one pass over the labels, in a DAG
    pairs are compared.

    References
    ----------
    Petkovic, Dzeroski, Kocev: Feature ranking for hierarchical multi-label classification with tree ensemble methods.
    Acta Polytechnica Hungarica 17(10), 2020. Eq. (6).

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.hierarchy import Hierarchy
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.tasks.euclidean_mu import euclidean_mu
    >>> hierarchy = Hierarchy.from_paths(["a", "a/b", "c"])
    >>> target, _ = target_from([{"a/b"}, {"c"}], hierarchy=hierarchy)
    >>> 1 / euclidean_mu(target, hierarchy, np.array([1.0, 0.5, 1.0])) ** 2
    2.5
    """
    final = final_labels(target, hierarchy)
    if final.sum() < 2:
        return 1.0
    largest = (_tree_diameter if hierarchy.is_tree else _largest_pair)(hierarchy, final, weights)
    return float(1.0 / np.sqrt(largest)) if largest > 0 else 1.0


def final_labels(target: Target, hierarchy: Hierarchy) -> np.ndarray:
    """Return the mask of the labels that are most specific in some example: relevant, and no descendant is."""
    # a stored NaN is unknown: it is not equal to 1
    relevant = sparse.csr_array(target.values == 1).astype(np.float64)
    below = relevant @ hierarchy.ancestors.astype(np.float64)  # relevant labels below each label, and itself
    single = sparse.coo_array(below.multiply(relevant))
    final = np.zeros(hierarchy.n_labels, bool)
    final[single.coords[1][single.data == 1]] = True
    return final


def _tree_diameter(hierarchy: Hierarchy, final: np.ndarray, weights: np.ndarray) -> float:
    """Largest weight of a path between two final labels, the label where it turns not counted."""
    largest = 0.0
    down = np.full(hierarchy.n_labels, -np.inf)  # heaviest way down to a final label
    for label in [*hierarchy.topological_order[::-1].tolist(), None]:
        # None stands for the point above all roots
        below = hierarchy.roots if label is None else hierarchy.children[label]
        arms = [weights[child] + down[child] for child in below if down[child] > -np.inf]
        if label is not None and final[label]:
            arms.append(0.0)
        arms = sorted(arms, reverse=True)[:2]
        if label is not None:
            down[label] = max(arms, default=-np.inf)
        if len(arms) == 2:
            largest = max(largest, float(sum(arms)))
    return largest


def _largest_pair(hierarchy: Hierarchy, final: np.ndarray, weights: np.ndarray) -> float:
    """Largest weight of the labels that are above (or are) exactly one of two final labels."""
    paths = hierarchy.ancestors.astype(np.float64)[np.flatnonzero(final)]
    sizes = paths @ weights
    order = np.argsort(-sizes)
    paths, sizes = paths[order], sizes[order]
    weighted = sparse.csr_array(paths * weights)
    largest, step = 0.0, 128
    for start in range(0, len(sizes), step):
        # no pair from here on can be farther apart than the two sizes together
        if sizes[start] + sizes[0] <= largest:
            break
        block = slice(start, start + step)
        common = (weighted[block] @ paths.T).toarray()
        largest = max(largest, float((sizes[block, None] + sizes - 2 * common).max()))
    return largest
