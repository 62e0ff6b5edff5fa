"""How alike the targets of labelled examples are: 1 for equal ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from omnirank.core.errors import ParameterError
from omnirank.core.parameters import check_weights
from omnirank.core.types import ArrayLike
from omnirank.data.dataset import Dataset
from omnirank.graphs.affinity import kernel_width
from omnirank.tasks import get_task

# Different label sets of which the similarities are held.
_FEW = 256


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
        squared *= np.where(common > 0, self.values.shape[1] / np.maximum(common, 1.0), 0.0)
        return np.exp(-np.maximum(squared, 0.0) / self.width)


LabelSimilarity = SetSimilarity | FewSets | NumberSimilarity


def label_similarity(
    dataset: Dataset, labelled: np.ndarray, quantile: float, label_weights: ArrayLike | str | None = None
) -> LabelSimilarity:
    """Return the similarity of the targets of labelled examples.

    Parameters
    ----------
    dataset : Dataset
        With classes, label sets or numbers as target.
    labelled : ndarray of int
        Numbers of the labelled examples.
    quantile : float
        Which quantile of the squared distances of numbers the width of their kernel is.
    label_weights : None, "frequency" or array-like
        Weights of labels; "frequency": the share of labelled examples that have the label.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.graphs.label_similarity import label_similarity
    >>> data = om.Dataset(np.eye(3), np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0]]))
    >>> label_similarity(data, np.arange(3), 0.2)(slice(0, 3)).tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    task = get_task(dataset.task)
    if label_weights is not None and task.kind != "labels":
        raise ParameterError("label_weights", label_weights, f"it is for label sets, not for {task.name}")
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
    weights = columns.weights[columns.variable]
    if label_weights is not None:
        weights = weights * _given_weights(label_weights, inside, known)
    return SetSimilarity(inside, known.astype(np.float64), weights).looked_up()


def _given_weights(given: ArrayLike | str, inside: np.ndarray, known: np.ndarray) -> np.ndarray:
    if isinstance(given, str) and given == "frequency":
        return inside.sum(axis=0) / np.maximum(1, known.sum(axis=0))
    return check_weights("label_weights", given, inside.shape[1], "label", "None, 'frequency' or ")
