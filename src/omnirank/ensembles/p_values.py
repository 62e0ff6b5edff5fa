"""P values of scores that are sums over examples, from what single examples add to them; no tree is grown for that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from omnirank.ensembles.root_credit import RootCredit
from omnirank.ensembles.scores import Contributions

# Shares of the error of the tests at the root, below it and in pairs.
SHARES = (0.7, 0.15, 0.15)
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
    by chance, so is A_f. But L_f = sum_k l_k, what examples would add if each met itself, is about half of G_f - s_f:
    G_f is the score by examples of the bag, each of which meets itself twice on average (its expected squared count)
    and the others as those out of bag do. With equal l_k,

        L_f = max(G_f - s_f, G_f / 2) / 2,    l_f = (A_f - B_f) / (L_f + s_f),    V_f = 2 l_f L_f + B_f

    where a negative s_f counts as 0. The p value is the probability of s_f or more by the shifted gamma distribution
    with mean 0, variance V_f and third moment 8 l_f^2 L_f, as of L_f / l_f terms (at least 1). Where they are many, it
    is the normal distribution with the variance 2 A_f - B_f. B_f is at most A_f, and it is A_f for
    one tree, which has no pair both ways. p_f is 1 where A_f is 0: no tree tests f.

    Where bootstraps draw groups of examples, such as copies, groups take the place of examples.

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
    >>> from omnirank.ensembles.p_values import ExampleSums
    >>> from omnirank.ensembles.scores import Contributions
    >>> one, rows, in_bag = np.array([0]), np.array([0, 1, 2, 3]), np.array([9.0, 0.0])
    >>> sums = ExampleSums(4, 2)
    >>> sums.add([Contributions(one, one, one + 4, rows, np.array([1.0, 2.0, 1.0, 0.0]), in_bag)])
    >>> sums.p_values(1, np.array([4.0, 0.0]), None).round(3).tolist()
    [0.051, 1.0]
    """

    def __init__(self, n_examples: int, n_features: int, most_groups: int | None = None, block: int = 0) -> None:
        most = max(_FEWEST_GROUPS, _MOST_CELLS // max(n_features, 1)) if most_groups is None else most_groups
        self._blocks = {block: np.zeros((n_features, min(n_examples, most)))}
        self._in_bag = np.zeros(n_features)

    @classmethod
    def _of(cls, blocks: dict[int, np.ndarray], in_bag: np.ndarray) -> ExampleSums:
        sums = cls.__new__(cls)
        sums._blocks, sums._in_bag = blocks, in_bag
        return sums

    def add(self, trees: Iterable[Contributions]) -> None:
        """Add the contributions of trees, in their order."""
        from omnirank.ensembles.kernels.unbiased import add_by_example

        (sums,) = self._blocks.values()
        for tree in trees:
            place = tree.rows % sums.shape[1]
            add_by_example(sums, tree.feature, tree.first, tree.last, place, tree.by_example)
            self._in_bag += tree.in_bag

    @property
    def place(self) -> tuple[int, int]:
        """Number of the only block, and how many groups of examples it has."""
        ((block, sums),) = self._blocks.items()
        return block, int(sums.shape[1])

    def merge(self, other: ExampleSums) -> ExampleSums:
        """Return the sums over the trees of both."""
        blocks = dict(self._blocks)
        for block, sums in other._blocks.items():
            blocks[block] = _added(blocks[block], sums) if block in blocks else sums
        return self._of(blocks, self._in_bag + other._in_bag)

    def squares(self) -> np.ndarray:
        """Return the sum of squares over groups, of each feature."""
        return np.sum([np.einsum("fg,fg->f", sums, sums) for _, sums in sorted(self._blocks.items())], axis=0)

    def p_values(self, n_trees: int, mean: np.ndarray, errors: np.ndarray | None) -> np.ndarray:
        """Return the p value of each feature from its mean score over the same trees and the standard error."""
        promised, confirmed = self._in_bag / n_trees, np.maximum(mean, 0.0)
        return self._tails(n_trees, mean, errors, np.maximum(promised - confirmed, promised / 2) / 2)

    def totals(self) -> np.ndarray:
        """Return the sum over groups, of each feature."""
        return np.sum([sums.sum(axis=1) for _, sums in sorted(self._blocks.items())], axis=0)

    def p_values_at_root(self, n_trees: int) -> np.ndarray:
        """Return the p value of each feature at the root, where what groups add that meet themselves is known."""
        mean = self.totals() / n_trees
        return self._tails(n_trees, mean, np.zeros(len(mean)), self._in_bag / n_trees)

    def _tails(self, n_trees: int, mean: np.ndarray, errors: np.ndarray | None, met: np.ndarray) -> np.ndarray:
        squares = self.squares() / n_trees**2
        by_trees = squares if errors is None else np.minimum(errors**2, squares)
        values = np.ones(len(mean))
        tested = squares > 0
        mean, by_trees, by_pairs, met = mean[tested], by_trees[tested], (squares - by_trees)[tested], met[tested]
        # rounding may leave squares, but no promise, where examples do not differ: there are many terms, then
        some = met > 0
        met = np.where(some, met, 1.0)
        by_pairs = by_pairs * np.where(some, met / (met + np.maximum(mean, 0.0)), 1.0)
        with np.errstate(over="ignore"):
            one_by_terms = np.where(some, by_pairs / met / met, 0.0)
        skewness = np.sqrt(8 * np.minimum(one_by_terms, 1.0))
        values[tested] = _upper_tail(mean, 2 * by_pairs, skewness, by_trees)
        return values


class RootSums(NamedTuple):
    """Credit at the root of some trees of one block of rows, the same for all of them."""

    block: int
    credit: RootCredit
    n_trees: int

    @staticmethod
    def p_values(parts: Sequence[RootSums], n_trees: int) -> np.ndarray:
        """Return the p value of each feature: by the moments over permutations, but for groups that are given.

        With the skewness g (at least 0) and the excess kurtosis k over permutations, of which
        :mod:`omnirank.ensembles.permutation_moments` says which part is known, it is the larger one of the p values by
        shifted gamma distributions with the skewness g and sqrt(g^2 + k / 1.5).
        """
        blocks = {part.block: part for part in parts}
        if any(np.isnan(part.credit.null[:4]).all() for part in parts):
            return RootSums._summed(parts).p_values_at_root(n_trees)
        largest = np.max([part.credit.null[1] for part in parts], axis=0)
        some = largest > 0
        sums = np.zeros((4, some.sum()))
        for block, part in sorted(blocks.items()):
            share = sum(other.n_trees for other in parts if other.block == block) / n_trees
            statistic, deviation, skewness, rare = part.credit.null[:4, some]
            size = share * deviation / largest[some]
            sums += np.array([share * statistic / largest[some], size**2, size**3 * skewness, size**4 * rare])
        at, variance, third, fourth = sums
        skewness = np.maximum(third, 0.0) / variance**1.5
        further = np.sqrt(skewness**2 + fourth / (1.5 * variance**2))
        tails = [_upper_tail(at, variance, x, np.zeros(len(x))) for x in (skewness, further)]
        values = np.ones(len(some))
        values[some] = np.maximum(*tails)
        return values

    @staticmethod
    def p_values_in_pairs(parts: Sequence[RootSums]) -> np.ndarray:
        """Return the p value of each feature in pairs, NaN where there is none; the smallest one of several blocks."""
        blocks = {part.block: part.credit.null[4] for part in parts}
        return np.asarray(np.minimum(len(blocks) * np.min(list(blocks.values()), axis=0), 1.0))

    @staticmethod
    def _summed(parts: Sequence[RootSums]) -> ExampleSums:
        """Sums over all trees."""
        sums = (
            ExampleSums._of({block: n_trees * credit.by_example}, n_trees * credit.of_themselves)
            for block, credit, n_trees in parts
        )
        return reduce(ExampleSums.merge, sums)


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


def _added(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The sums of both; of samples with the same labelled rows, the larger one may have more groups."""
    large, small = (one, other) if one.shape[1] >= other.shape[1] else (other, one)
    total = large.copy()
    total[:, : small.shape[1]] += small
    return total
