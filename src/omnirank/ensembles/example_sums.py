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


class ExampleSums:
    """What each example adds to the score of each feature, summed over trees; changed in place.

    With C_if the mean over the T trees of what example i adds to the score s_f = sum_i C_if of feature f,

        V_f = max(2 A_f - B_f, A_f),    A_f = sum_i C_if^2,    p_f = 1 - Phi(s_f / sqrt(V_f))

    and B_f, the squared standard error of s_f over trees. If the feature tells nothing, the score is a sum over pairs
    of examples, one in the bag and one out of it, each with the expectation 0. Some trees have the pair the other way
    round, so that a pair with the value h adds 2 h to the score and 4 h^2 to its variance, but 2 h^2 to A_f. Hence the
    2, but not for the part of A_f that comes from the choice of trees. p_f is 1 where V_f is 0: no tree tests f.

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
    >>> one, rows = np.array([0]), np.array([0, 1, 2, 3])
    >>> sums = ExampleSums(4, 2)
    >>> sums.add([Contributions(one, np.array([0]), np.array([4]), rows, np.array([1.0, 2.0, 1.0, 0.0]))])
    >>> sums.p_values(MeanAccumulator.empty(2).update([[4.0, 0.0]])).round(3).tolist()
    [0.124, 1.0]
    """

    def __init__(self, n_examples: int, n_features: int) -> None:
        most = max(_FEWEST_GROUPS, _MOST_CELLS // max(n_features, 1))
        self._sums = np.zeros((n_features, min(n_examples, most)))

    def copy(self) -> ExampleSums:
        """Return sums of their own."""
        found = ExampleSums.__new__(ExampleSums)
        found._sums = self._sums.copy()
        return found

    def add(self, trees: Iterable[Contributions]) -> None:
        """Add the contributions of trees, in their order."""
        from omnirank.ensembles.kernels.unbiased import add_by_example

        for tree in trees:
            place = tree.rows % self._sums.shape[1]
            add_by_example(self._sums, tree.feature, tree.first, tree.last, place, tree.told)

    def p_values(self, scores: MeanAccumulator) -> np.ndarray:
        """Return the p value of each feature; ``scores`` are those of the same trees."""
        from scipy.stats import norm

        mean, errors = scores.finish()
        squares = np.einsum("fg,fg->f", self._sums, self._sums) / scores.count**2
        between = 0.0 if errors is None else errors**2
        variance = np.maximum(2 * squares - between, squares)
        found = np.ones(len(mean))
        tested = variance > 0
        # never 0, which would say that chance is excluded: beyond 38 deviations floats have no smaller number
        found[tested] = np.maximum(norm.sf(mean[tested] / np.sqrt(variance[tested])), np.finfo(np.float64).tiny)
        return found
