"""P values of scores that are sums over examples, from what each example adds: no tree is grown for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from omnirank.core.accumulators import MeanAccumulator
from omnirank.core.errors import DataError
from omnirank.ensembles.score_table import Contributions
from omnirank.shards.samples import Samples

# Cells of the sums: 512 MB. Where features times examples are more, examples share a row in turn.
_MOST_CELLS = 2**26
# A variance of fewer terms is too uncertain.
_FEWEST_GROUPS = 128
# Of samples, which are many: so many groups in all, where samples have no rows in common, and in one sample. With g
# groups, A is too large by at most a share of 1 / g, as some pairs of examples meet in a group.
_GROUPS_OF_SAMPLES = 512
_GROUPS_OF_SAMPLE = 32


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

    Where trees grow on samples of the examples, the formula stays: C_if is the mean over all T trees, of which those of
    other samples add 0. For T_k trees on each of K samples, let a be the expectation of A_f for one tree, and b that
    of the products of what an example adds to two trees of its sample. A_f has the expectation a / T + (1 - 1 / T_k) b
    / K. Scores of different samples are independent, and within one the argument above holds: the variance of the
    score is a / T + 2 (1 - 1 / T_k) b / K, that is 2 A_f - a / T. Over all trees, B_f is a / T but for a term of 2 b /
    (K T), by which V_f is larger. Of samples that share rows, what a row adds is summed before it is squared.

    Parameters
    ----------
    n_examples, n_features : int
        Shape of the data, or of a sample.
    most_groups : int, optional
        Where examples share more groups than this otherwise.
    block : int
        Which rows these are: sums of the same block are of the same rows, those of different ones have none in common.

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

    def __init__(self, n_examples: int, n_features: int, most_groups: int | None = None, block: int = 0) -> None:
        most = max(_FEWEST_GROUPS, _MOST_CELLS // max(n_features, 1)) if most_groups is None else most_groups
        self._blocks = {block: np.zeros((n_features, min(n_examples, most)))}

    @classmethod
    def _of(cls, blocks: dict[int, np.ndarray]) -> ExampleSums:
        found = cls.__new__(cls)
        found._blocks = blocks
        return found

    def copy(self) -> ExampleSums:
        """Return sums of their own."""
        return self._of({block: sums.copy() for block, sums in self._blocks.items()})

    def add(self, trees: Iterable[Contributions]) -> None:
        """Add the contributions of trees, in their order."""
        from omnirank.ensembles.kernels.unbiased import add_by_example

        (sums,) = self._blocks.values()
        for tree in trees:
            place = tree.rows % sums.shape[1]
            add_by_example(sums, tree.feature, tree.first, tree.last, place, tree.told)

    def merge(self, other: ExampleSums) -> ExampleSums:
        """Return the sums over the trees of both."""
        blocks = dict(self._blocks)
        for block, sums in other._blocks.items():
            blocks[block] = _added(blocks[block], sums) if block in blocks else sums
        return self._of(blocks)

    def to_json(self) -> dict[str, Any]:
        """Return the sums as JSON holds them."""
        return {str(block): sums.tolist() for block, sums in self._blocks.items()}

    @classmethod
    def from_json(cls, content: Any) -> ExampleSums:
        """Return the sums that `to_json` described; `ValueError` or `DataError` for anything else."""
        blocks = {int(block): np.array(sums, np.float64) for block, sums in content.items()}
        if not blocks or any(sums.ndim != 2 for sums in blocks.values()):
            raise DataError("sums by example must be tables")
        return cls._of(blocks)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(next(iter(self._blocks.values())))

    def squares(self) -> np.ndarray:
        """Return the sum of squares over groups, of each feature."""
        found = np.zeros(self.n_features)
        for _, sums in sorted(self._blocks.items()):
            found += np.einsum("fg,fg->f", sums, sums)
        return found

    def p_values(self, scores: MeanAccumulator) -> np.ndarray:
        """Return the p value of each feature; ``scores`` are those of the same trees."""
        from scipy.stats import norm

        mean, errors = scores.finish()
        squares = self.squares() / scores.count**2
        between = 0.0 if errors is None else errors**2
        variance = np.maximum(2 * squares - between, squares)
        found = np.ones(len(mean))
        tested = variance > 0
        # never 0, which would say that chance is excluded: beyond 38 deviations floats have no smaller number
        found[tested] = np.maximum(norm.sf(mean[tested] / np.sqrt(variance[tested])), np.finfo(np.float64).tiny)
        return found


def _added(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The sums of both; of samples with the same labelled rows, the larger one may have more groups."""
    large, small = (one, other) if one.shape[1] >= other.shape[1] else (other, one)
    found = large.copy()
    found[:, : small.shape[1]] += small
    return found


def sums_within_samples(samples: Samples, sample: int) -> Callable[[int, int], ExampleSums]:
    """Return what makes the sums by example of one of several samples; they merge with those of the others.

    Samples with the same labelled rows, which come first in them, have the same block.

    Parameters
    ----------
    samples : Samples
        The samples.
    sample : int
        Number of one of them.
    """
    n_blocks = samples.n_labelled or samples.n_samples
    most = max(_GROUPS_OF_SAMPLE, -(-_GROUPS_OF_SAMPLES // n_blocks))
    return partial(ExampleSums, most_groups=most, block=sample % n_blocks)
