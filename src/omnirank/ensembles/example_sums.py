"""P values of scores that are sums over examples, from what each example adds: no tree is grown for them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from omnirank.core.accumulators import MeanAccumulator
from omnirank.ensembles.score_table import Contributions

# Cells of the sums: 512 MB. Where features times examples are more, examples share a row in turn.
_MOST_CELLS = 2**26
# A variance of fewer terms is too uncertain.
_FEWEST_GROUPS = 128
# Below it, the gamma distribution is the normal one, and its function loses digits.
_LEAST_SKEWNESS = 1e-3


class ExampleSums:
    """What each example adds to the score of each feature, summed over trees; changed in place.

    C_if is the mean over the T trees of what example i adds to the score s_f = sum_i C_if of feature f, A_f = sum_i
    C_if^2, and B_f the squared standard error of s_f over trees. If the feature tells nothing, the score is a sum over
    pairs of examples, one in the bag and one out of it, each with the expectation 0. Some trees have the pair the other
    way round, so that a pair with the value h adds 2 h to the score and 4 h^2 to its variance, but 2 h^2 to A_f. Hence
    the variance is 2 (A_f - B_f) + B_f, as B_f is the part of A_f that comes from the choice of trees.

    Such a sum over pairs is distributed as sum_k l_k (X_k - 1) for independent X_k of chi-squared distribution with one
    degree of freedom, and A_f - B_f, which is made of the same examples, as sum_k l_k^2 X_k: where the score is large
    by chance, so is A_f. But L_f = sum_k l_k is known: what examples would add if each met itself. With equal l_k,

        l_f = (A_f - B_f) / (L_f + max(s_f, 0)),    V_f = 2 l_f L_f + B_f,    p_f = P(s >= s_f)

    for s of the gamma distribution, shifted, with mean 0, variance V_f and third moment 8 l_f^2 L_f, as of L_f / l_f
    terms (at least 1). Where they are many, it is the normal distribution with the variance 2 A_f - B_f. B_f is at most
    A_f. p_f is 1 where A_f is 0: no tree tests f.

    Where examples times features exceed 2^26, several examples share a group, and A_f sums the squares of groups. As
    examples are independent, its expectation is the same for features that tell nothing.

    Parameters
    ----------
    n_examples, n_features : int
        Shape of the data.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.core.accumulators import MeanAccumulator
    >>> from omnirank.ensembles.example_sums import ExampleSums
    >>> from omnirank.ensembles.score_table import Contributions
    >>> one, rows, trace = np.array([0]), np.array([0, 1, 2, 3]), np.array([9.0, 0.0])
    >>> sums = ExampleSums(4, 2)
    >>> sums.add([Contributions(one, one, one + 4, rows, np.array([1.0, 2.0, 1.0, 0.0]), trace)])
    >>> sums.p_values(MeanAccumulator.empty(2).update([[4.0, 0.0]])).round(3).tolist()
    [0.092, 1.0]
    """

    def __init__(self, n_examples: int, n_features: int) -> None:
        most = max(_FEWEST_GROUPS, _MOST_CELLS // max(n_features, 1))
        self._sums = np.zeros((n_features, min(n_examples, most)))
        self._trace = np.zeros(n_features)

    def copy(self) -> ExampleSums:
        """Return sums of their own."""
        found = ExampleSums.__new__(ExampleSums)
        found._sums, found._trace = self._sums.copy(), self._trace.copy()
        return found

    def add(self, trees: Iterable[Contributions]) -> None:
        """Add the contributions of trees, in their order."""
        from omnirank.ensembles.kernels.unbiased import add_by_example

        for tree in trees:
            place = tree.rows % self._sums.shape[1]
            add_by_example(self._sums, tree.feature, tree.first, tree.last, place, tree.told)
            self._trace += tree.trace

    def p_values(self, scores: MeanAccumulator) -> np.ndarray:
        """Return the p value of each feature; ``scores`` are those of the same trees."""
        mean, errors = scores.finish()
        squares = np.einsum("fg,fg->f", self._sums, self._sums) / scores.count**2
        by_trees = np.zeros(len(mean)) if errors is None else np.minimum(errors**2, squares)
        found = np.ones(len(mean))
        tested = squares > 0
        mean, by_trees, by_pairs = mean[tested], by_trees[tested], (squares - by_trees)[tested]
        trace = self._trace[tested] / scores.count
        # rounding may leave squares, but no trace, where examples out of bag do not differ: there are many terms, then
        known = np.where(trace > 0, trace, 1.0)
        by_pairs = by_pairs * np.where(trace > 0, known / (known + np.maximum(mean, 0.0)), 1.0)
        with np.errstate(over="ignore"):
            one_by_terms = np.where(trace > 0, by_pairs / known / known, 0.0)
        skewness = np.sqrt(8 * np.minimum(one_by_terms, 1.0))
        found[tested] = _upper_tail(mean, 2 * by_pairs, skewness, by_trees)
        return found


def _upper_tail(at: np.ndarray, variance: np.ndarray, skewness: np.ndarray, more: np.ndarray) -> np.ndarray:
    """P(x >= at) for x of a shifted gamma distribution with mean 0; ``more`` is normal variance beside its own."""
    from scipy.special import gammaincc, ndtr

    z = at / np.sqrt(variance + more)
    skewness = skewness * (variance / (variance + more)) ** 1.5
    shape = 4 / np.maximum(skewness, _LEAST_SKEWNESS) ** 2
    gamma = gammaincc(shape, np.maximum(shape + z * np.sqrt(shape), 0.0))
    tail = np.where(skewness > _LEAST_SKEWNESS, gamma, ndtr(-z))
    # never 0, which would say that chance is excluded: floats have no smaller number
    return np.maximum(tail, np.finfo(np.float64).tiny)
