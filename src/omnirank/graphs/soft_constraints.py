"""The soft-constrained Laplacian score: a graph of neighbours, and of the labels that labelled examples share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from omnirank.core.parallel import blocks, run_parallel
from omnirank.graphs.affinity import Edges, heat_of_rows
from omnirank.graphs.label_similarity import FewSets, LabelSimilarity
from omnirank.graphs.quotients import degrees, laplacian_scores

_ROWS = 256


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
    found = run_parallel(_Together(known, width, similarity), rows, n_jobs, description="comparing labels")
    together = np.concatenate([sums for sums, _ in found])
    degree[labelled] += together
    crossed = np.add.reduce([products for _, products in found])
    squares = degree @ values**2
    along = 2 * (squares - np.einsum("ij,ij->j", values, apart @ values) - crossed)
    centre = (degree @ values) / degree.sum()
    times = np.where(is_labelled, n - len(labelled), n)
    spread = (times * degree) @ (values - centre) ** 2
    if isinstance(similarity, FewSets):
        spread += _of_sets(known, similarity, degree[labelled])
    else:
        different = _Different(known, similarity, degree[labelled])
        spread += np.add.reduce(run_parallel(different, rows, n_jobs, description="comparing labels"))
    # what is left of sums that cancel is rounding; where nothing is to be told apart, no score is worse
    told = spread > 1e-12 * n * squares
    scores = np.maximum(along, 0.0) / np.where(told, spread, 1.0)
    return np.where(told, scores, scores[told].max(initial=0.0))


@dataclass(frozen=True, eq=False)
class _Together:
    """Sums of the affinities of labelled examples, and f' S f over them, for the rows of a block."""

    values: np.ndarray
    width: float
    similarity: LabelSimilarity

    def __call__(self, rows: range) -> tuple[np.ndarray, np.ndarray]:
        part = slice(rows.start, rows.stop)
        affinity = heat_of_rows(self.values, rows, self.width)
        affinity[np.arange(len(rows)), np.arange(rows.start, rows.stop)] = 1.0
        affinity *= self.similarity(part)
        return affinity.sum(axis=1), np.einsum("ij,ij->j", self.values[part], affinity @ self.values)


@dataclass(frozen=True, eq=False)
class _Different:
    """What the rows of a block add to the sum of (f_i - f_j)^2 (1 - P_ij)^2 D_ii."""

    values: np.ndarray
    similarity: LabelSimilarity
    degree: np.ndarray

    def __call__(self, rows: range) -> np.ndarray:
        part = slice(rows.start, rows.stop)
        own, degree = self.values[part], self.degree[part]
        weight = (1 - self.similarity(part)) ** 2
        found = (degree * weight.sum(axis=1)) @ own**2 + (degree @ weight) @ self.values**2
        return found - 2 * degree @ (own * (weight @ self.values))


def _of_sets(values: np.ndarray, similarity: FewSets, degree: np.ndarray) -> np.ndarray:
    """The sum of (f_i - f_j)^2 (1 - P_ij)^2 D_ii over pairs of label sets instead of examples: P depends on them."""
    first = np.unique(similarity.sets, return_index=True)[1]
    weight = (1 - similarity.to_all[:, first]) ** 2
    member = sparse.csr_array((np.ones(len(values)), similarity.sets, np.arange(len(values) + 1)))
    sums, squares, sizes = (member.T @ each for each in (values, values**2, np.ones(len(values))))
    weighed, weighed_squares = (member.T @ (degree[:, None] * each) for each in (values, values**2))
    found = (weight @ sizes) @ weighed_squares + (member.T @ degree @ weight) @ squares
    return found - 2 * np.einsum("ij,ij->j", weighed, weight @ sums)
