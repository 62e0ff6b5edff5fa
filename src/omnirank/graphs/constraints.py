"""Laplacian scores with targets: how alike labels are, the soft-constrained score, and numbers as targets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse

from omnirank.core.parallel import blocks, run_parallel
from omnirank.data.dataset import Dataset
from omnirank.graphs.affinity import Edges, degrees, heat_of_rows, kernel_width, laplacian_scores, neighbor_edges
from omnirank.tasks import get_task

# Different label sets of which the similarities are held.
_FEW = 256
_ROWS = 256


@dataclass(frozen=True, eq=False)
class SetSimilarity:
    r"""Jaccard similarity of label sets, :math:`P_{ij} = |y_i \cap y_j| / |y_i \cup y_j|`; 1 for two empty sets.

    A class is the set of it alone: classes are alike if they are equal. Labels that are unknown in one of the two are
    left out; where none is left, P is 1.

    Attributes
    ----------
    inside : ndarray of shape (n, labels)
        1 where a label is known to be relevant.
    known : ndarray of shape (n, labels)
        1 where a label is known.
    weights : ndarray
        Weight of each label; the size of a set is the sum of the weights.
    """

    inside: np.ndarray
    known: np.ndarray
    weights: np.ndarray

    def __call__(self, rows: slice | np.ndarray) -> np.ndarray:
        """Return the similarities of some examples to all."""
        own, own_known = self.inside[rows] * self.weights, self.known[rows] * self.weights
        common = own @ self.inside.T
        union = own @ self.known.T + own_known @ self.inside.T - common
        some = union > 1e-12 * self.weights.sum()
        return np.where(some, np.clip(common / np.where(some, union, 1.0), 0.0, 1.0), 1.0)

    def looked_up(self) -> SetSimilarity | FewSets:
        """Return the same similarities, computed once where there are few different label sets."""
        bits = np.packbits(np.hstack([self.inside, self.known]) > 0, axis=1)
        _, first, sets = np.unique(bits.view(f"V{bits.shape[1]}").ravel(), return_index=True, return_inverse=True)
        return self if len(first) > _FEW else FewSets(self(first), sets)


@dataclass(frozen=True, eq=False)
class FewSets:
    """Similarity of label sets of which only a few are different.

    Attributes
    ----------
    to_all : ndarray of shape (different sets, n)
        Similarities of the different sets to those of all examples.
    sets : ndarray of int
        Which of them each example has.
    """

    to_all: np.ndarray
    sets: np.ndarray

    def __call__(self, rows: slice) -> np.ndarray:
        """Return the similarities of some examples to all."""
        return self.to_all[self.sets[rows]]


@dataclass(frozen=True, eq=False)
class NumberSimilarity:
    r"""Similarity of numbers, :math:`P_{ij} = \exp(-\|y_i - y_j\|^2 / \lambda_Y)`, targets standardised.

    Distances are over the targets known in both examples, times the number of all / the number of these; where there
    is none, P is 1.

    Attributes
    ----------
    values : ndarray of shape (n, targets)
        Standardised, 0 where unknown.
    known : ndarray of shape (n, targets)
        1 where a target is known.
    width : float
        :math:`\lambda_Y`.
    """

    values: np.ndarray
    known: np.ndarray
    width: float

    def __call__(self, rows: slice) -> np.ndarray:
        """Return the similarities of some examples to all."""
        own, own_known = self.values[rows], self.known[rows]
        squared = own**2 @ self.known.T + own_known @ (self.values**2).T - 2 * own @ self.values.T
        common = own_known @ self.known.T
        squared *= self.values.shape[1] / np.maximum(common, 1.0)
        return np.exp(-np.maximum(squared, 0.0) / self.width)


LabelSimilarity = SetSimilarity | FewSets | NumberSimilarity


def label_similarity(dataset: Dataset, labelled: np.ndarray, quantile: float) -> LabelSimilarity:
    """Return the similarity of the targets of labelled examples.

    Parameters
    ----------
    dataset : Dataset
        With classes, label sets or numbers as target.
    labelled : ndarray of int
        Numbers of the labelled examples.
    quantile : float
        Which quantile of the squared distances of numbers the width of their kernel is.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.graphs.constraints import label_similarity
    >>> data = om.Dataset(np.eye(3), np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0]]))
    >>> label_similarity(data, np.arange(3), 0.2)(slice(0, 3)).tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    task = get_task(dataset.task)
    target = dataset.target
    assert target is not None
    columns = task.columns(target.take(labelled), dataset.hierarchy)
    cells = columns.dense()
    known = ~np.isnan(cells)
    if task.kind == "numbers":
        scaled = np.where(known, columns.scaled(cells), np.nan)
        centre = np.array([column[k].mean() if k.any() else 0.0 for column, k in zip(scaled.T, known.T, strict=True)])
        spread = np.sqrt(columns.variance)
        values = np.where(known, (scaled - centre) / np.where(spread > 0, spread, 1.0), 0.0)
        return NumberSimilarity(values, known.astype(np.float64), kernel_width(values, quantile))
    inside = np.where(known, cells, 0.0)
    return SetSimilarity(inside, known.astype(np.float64), columns.weights[columns.variable]).looked_up()


def soft_constrained_scores(
    values: np.ndarray,
    edges: Edges,
    width: float,
    labelled: np.ndarray,
    similarity: LabelSimilarity | None,
    n_jobs: int | None = None,
) -> np.ndarray:
    r"""Return the soft-constrained Laplacian score of each column, smaller is better.

    With the affinities S, the similarities P of labels, :math:`D_{ii} = \sum_j S_{ij}` and
    :math:`\mu = \sum_i f_i D_{ii} / \sum_i D_{ii}`,

    .. math:: \frac{\sum_{ij} (f_i - f_j)^2 S_{ij}}{\sum_{ij \in B} (f_i - f_j)^2 (1 - P_{ij})^2 D_{ii}
        + \sum_{ij \notin B} (f_i - \mu)^2 D_{ii}}

    where B are the pairs of labelled examples, in which an example and itself are one. No matrix of all these pairs is
    held: both sums run over blocks of examples.

    Parameters
    ----------
    values : ndarray of shape (n, C)
        The columns, centred.
    edges : Edges
        Pairs of neighbours.
    width : float
        Width of the heat kernel.
    labelled : ndarray of int
        The labelled examples.
    similarity : LabelSimilarity or None
        Similarities of their labels; None where none is labelled.
    n_jobs : int or None
        Number of workers.
    """
    n = len(values)
    if similarity is None:
        return laplacian_scores(values, edges.heat(width)) * 2 / n
    is_labelled = np.zeros(n, bool)
    is_labelled[labelled] = True
    apart = edges.keep(~(is_labelled[edges.first] & is_labelled[edges.second])).heat(width)
    degree = degrees(apart)
    known = values[labelled]
    rows = blocks(len(labelled), -(-len(labelled) // _ROWS))
    sums = run_parallel(partial(_together, known, width, similarity), rows, n_jobs, description="comparing labels")
    together = np.concatenate([of_rows for of_rows, _ in sums])
    degree[labelled] += together
    crossed = np.add.reduce([products for _, products in sums])
    squares = degree @ values**2
    along = 2 * (squares - np.einsum("ij,ij->j", values, apart @ values) - crossed)
    centre = (degree @ values) / degree.sum()
    times = np.where(is_labelled, n - len(labelled), n)
    spread = (times * degree) @ (values - centre) ** 2
    if isinstance(similarity, FewSets):
        spread += _of_sets(known, similarity, degree[labelled])
    else:
        different = partial(_different, known, similarity, degree[labelled])
        spread += np.add.reduce(run_parallel(different, rows, n_jobs, description="comparing labels"))
    # what is left of sums that cancel is rounding; where nothing is to be told apart, no score is worse
    told = spread > 1e-12 * n * squares
    scores = np.maximum(along, 0.0) / np.where(told, spread, 1.0)
    return np.where(told, scores, scores[told].max(initial=0.0))


def _together(
    values: np.ndarray, width: float, similarity: LabelSimilarity, rows: range
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of the affinities of labelled examples, and f' S f over them, for the rows of a block."""
    part = slice(rows.start, rows.stop)
    affinity = heat_of_rows(values, width, rows)
    affinity[np.arange(len(rows)), np.arange(rows.start, rows.stop)] = 1.0
    affinity *= similarity(part)
    return affinity.sum(axis=1), np.einsum("ij,ij->j", values[part], affinity @ values)


def _different(values: np.ndarray, similarity: LabelSimilarity, degree: np.ndarray, rows: range) -> np.ndarray:
    """What the rows of a block add to the sum of (f_i - f_j)^2 (1 - P_ij)^2 D_ii."""
    part = slice(rows.start, rows.stop)
    own, own_degree = values[part], degree[part]
    weight = (1 - similarity(part)) ** 2
    sums = (own_degree * weight.sum(axis=1)) @ own**2 + (own_degree @ weight) @ values**2
    return sums - 2 * own_degree @ (own * (weight @ values))


def _of_sets(values: np.ndarray, similarity: FewSets, degree: np.ndarray) -> np.ndarray:
    """The sum of (f_i - f_j)^2 (1 - P_ij)^2 D_ii over pairs of label sets instead of examples: P depends on them."""
    first = np.unique(similarity.sets, return_index=True)[1]
    weight = (1 - similarity.to_all[:, first]) ** 2
    member = sparse.csr_array((np.ones(len(values)), similarity.sets, np.arange(len(values) + 1)))
    sums, squares, sizes = (member.T @ each for each in (values, values**2, np.ones(len(values))))
    weighed, weighed_squares = (member.T @ (degree[:, None] * each) for each in (values, values**2))
    squared = (weight @ sizes) @ weighed_squares + (member.T @ degree @ weight) @ squares
    return squared - 2 * np.einsum("ij,ij->j", weighed, weight @ sums)


def semi_supervised_scores(
    values: np.ndarray, edges: Edges, y: np.ndarray, n_features: int, labelled_weight: float
) -> np.ndarray:
    r"""Return the Laplacian score of each column on the graph of neighbours, with targets where both are known.

    .. math:: S_{ij} = \begin{cases} C \exp(-(y_i - y_j)^2 / t) & \text{both are labelled} \\
        \exp(-\|x_i - x_j\|^2 / (D t)) & \text{otherwise} \end{cases}

    where t is the mean of what is divided by it, over all pairs of neighbours.

    Parameters
    ----------
    values : ndarray of shape (n, C)
        The columns.
    edges : Edges
        Pairs of neighbours.
    y : ndarray
        Standardised targets, NaN where unknown.
    n_features : int
        The number D.
    labelled_weight : float
        The number C.
    """
    apart = (y[edges.first] - y[edges.second]) ** 2
    both = ~np.isnan(apart)
    distances = np.where(both, apart, edges.squared / n_features)
    weights = np.where(both, labelled_weight, 1.0) * np.exp(-distances / _width(distances))
    return laplacian_scores(values, edges.weighted(weights))


def supervised_scores(values: np.ndarray, y: np.ndarray, k: int, n_jobs: int | None = None) -> np.ndarray:
    r"""Return the Laplacian score of each column on the graph of the k nearest in the target.

    :math:`S_{ij} = \exp(-(y_i - y_j)^2 / t)`, where t is the mean squared difference of neighbours.

    Parameters
    ----------
    values : ndarray of shape (n, C)
        The columns of labelled examples.
    y : ndarray
        Their standardised targets.
    k : int
        Number of neighbours.
    n_jobs : int or None
        Number of workers.
    """
    edges = neighbor_edges(y[:, None], k, n_jobs)
    return laplacian_scores(values, edges.heat(_width(edges.squared)))


def _width(distances: np.ndarray) -> float:
    return float(distances.mean()) or 1.0
