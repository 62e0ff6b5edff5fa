"""Scores summed over trees; p values from what single examples add to them, without growing a tree for that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.ranking.accumulators import Accumulator, BorrowingMeans, MeanAccumulator
from omnirank.ensembles.root_credit import RootCredit
from omnirank.ensembles.scores import SCORES, Contributions, FeatureScores, TreeScorer

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
    >>> from omnirank.ensembles.score_sums import ExampleSums
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
            add_by_example(sums, tree.feature, tree.first, tree.last, place, tree.told)
            self._in_bag += tree.in_bag

    @property
    def n_places(self) -> int:
        """Number of groups of the block that is added to."""
        (sums,) = self._blocks.values()
        return int(sums.shape[1])

    @property
    def block(self) -> int:
        """The block that is added to."""
        (block,) = self._blocks
        return block

    def merge(self, other: ExampleSums) -> ExampleSums:
        """Return the sums over the trees of both."""
        blocks = dict(self._blocks)
        for block, sums in other._blocks.items():
            blocks[block] = _added(blocks[block], sums) if block in blocks else sums
        return self._of(blocks, self._in_bag + other._in_bag)

    def to_json(self) -> dict[str, Any]:
        """Return the sums as JSON holds them."""
        blocks = {str(block): sums.tolist() for block, sums in self._blocks.items()}
        return {"blocks": blocks, "in_bag": self._in_bag.tolist()}

    @classmethod
    def from_json(cls, content: Any) -> ExampleSums:
        """Return the sums that `to_json` described; `ValueError` or `DataError` for anything else."""
        blocks = {int(block): np.array(sums, np.float64) for block, sums in content["blocks"].items()}
        in_bag = np.array(content["in_bag"], np.float64)
        if not blocks or any(sums.ndim != 2 or in_bag.shape != sums.shape[:1] for sums in blocks.values()):
            raise DataError("sums by example must be tables of one number of features")
        return cls._of(blocks, in_bag)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self._in_bag)

    def squares(self) -> np.ndarray:
        """Return the sum of squares over groups, of each feature."""
        squares = np.zeros(self.n_features)
        for _, sums in sorted(self._blocks.items()):
            squares += np.einsum("fg,fg->f", sums, sums)
        return squares

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

    def to_json(self) -> dict[str, Any]:
        """Return the credit as JSON holds it."""
        parts = {name: getattr(self.credit, name).tolist() for name in ("by_example", "of_themselves")}
        return {"block": self.block, "n_trees": self.n_trees} | parts

    @classmethod
    def from_json(cls, content: Any) -> RootSums:
        """Return the credit that `to_json` described."""
        by_example, of_themselves = (np.array(content[name], np.float64) for name in ("by_example", "of_themselves"))
        if by_example.ndim != 2 or of_themselves.shape != by_example.shape[:1]:
            raise DataError("sums by example must be tables of one number of features")
        empty = np.zeros(0)
        credit = RootCredit(empty, empty, by_example, of_themselves, empty)
        return cls(int(content["block"]), credit, int(content["n_trees"]))

    @staticmethod
    def summed(parts: Sequence[RootSums]) -> ExampleSums:
        """Return the sums over all trees."""
        blocks: dict[int, np.ndarray] = {}
        for block, credit, n_trees in parts:
            sums = n_trees * credit.by_example
            blocks[block] = _added(blocks[block], sums) if block in blocks else sums
        return ExampleSums._of(blocks, np.sum([part.n_trees * part.credit.of_themselves for part in parts], axis=0))


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


@dataclass(frozen=True, eq=False)
class ScoreSums:
    """Sums of the scores of the trees so far, in the order of the trees; immutable, but for the large sums by example.

    Attributes
    ----------
    rows, tables : dict of str to MeanAccumulator
        By name of the score: one score per feature; one row of scores per target.
    examples : dict of str to ExampleSums
        By name of the score, where p values are asked for; `update` changes them in place.
    at_root : dict of str to tuple of RootSums
        What examples add at the roots.
    n_values : ndarray (features,) or None
        How many values each feature has (levels: the negative number), where the score needs to know.
    n_undefined : int
        Trees for which a score is undefined; they count as 0.
    """

    rows: dict[str, MeanAccumulator]
    tables: dict[str, MeanAccumulator]
    examples: dict[str, ExampleSums]
    at_root: dict[str, tuple[RootSums, ...]]
    n_values: np.ndarray | None = None
    n_undefined: int = 0

    @classmethod
    def empty(cls, scorer: TreeScorer, by_example: Callable[[int, int], ExampleSums] = ExampleSums) -> ScoreSums:
        """Return the sums over no tree; ``by_example`` makes those by example, of so many groups and features."""
        n_targets, n_features = scorer.plan.columns.n_variables, scorer.plan.dataset.n_features
        split = [name for name in scorer.names if scorer.options.per_target and SCORES[name].splits_by_target]
        tested = [name for name in scorer.names if scorer.options.p_values and SCORES[name].has_p_values]
        return cls(
            {name: MeanAccumulator.empty(n_features) for name in scorer.names},
            {name: MeanAccumulator.empty((n_targets, n_features)) for name in split},
            {name: by_example(scorer.n_groups, n_features) for name in tested},
            {},
            scorer.n_values,
        )

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return next(iter(self.rows.values())).count

    def update(self, trees: Sequence[dict[str, FeatureScores]], scorer: TreeScorer) -> ScoreSums:
        """Return the sums that have also seen these trees of a scorer."""
        if not trees:
            return self
        for name, sums in self.examples.items():
            sums.add(part for tree in trees for part in tree[name].contributions)
        n_trees = self.n_trees + len(trees)
        return ScoreSums(
            {name: sums.update([tree[name].row for tree in trees]) for name, sums in self.rows.items()},
            {name: sums.update([tree[name].table for tree in trees]) for name, sums in self.tables.items()},
            self.examples,
            {
                name: (RootSums(sums.block, scorer.at_root(name, sums.n_places), n_trees),)
                for name, sums in self.examples.items()
                if SCORES[name].borrows
            },
            self.n_values,
            self.n_undefined + sum(any(one.undefined for one in tree.values()) for tree in trees),
        )

    def merge(self, other: ScoreSums) -> ScoreSums:
        """Return the sums over the trees of both."""
        return ScoreSums(
            {name: sums.merge(other.rows[name]) for name, sums in self.rows.items()},
            {name: sums.merge(other.tables[name]) for name, sums in self.tables.items()},
            _merged(self.examples, other.examples),
            {name: parts + other.at_root.get(name, ()) for name, parts in (other.at_root | self.at_root).items()},
            _larger(self.n_values, other.n_values),
            self.n_undefined + other.n_undefined,
        )

    def of_nothing(self, n_trees: int) -> ScoreSums:
        """Return sums of the same shapes over so many trees that have no test, and no scores; no example adds any."""
        return ScoreSums(
            {name: _zeros(sums, n_trees) for name, sums in self.rows.items()},
            {name: _zeros(sums, n_trees) for name, sums in self.tables.items()},
            {},
            {},
            n_undefined=n_trees,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the sums over trees as JSON holds them."""
        return {
            "rows": {name: sums.to_json() for name, sums in self.rows.items()},
            "tables": {name: sums.to_json() for name, sums in self.tables.items()},
            "examples": {name: sums.to_json() for name, sums in self.examples.items()},
            "at_root": {name: [part.to_json() for part in parts] for name, parts in self.at_root.items()},
            "n_values": None if self.n_values is None else self.n_values.tolist(),
            "n_undefined": self.n_undefined,
        }

    @classmethod
    def from_json(cls, content: Any) -> ScoreSums:
        """Return the sums that `to_json` described; `DataError`, `TypeError` or `LookupError` for anything else."""
        rows, tables = (
            {str(name): Accumulator.from_json(sums) for name, sums in content[kind].items()}
            for kind in ("rows", "tables")
        )
        examples = {str(name): ExampleSums.from_json(sums) for name, sums in content["examples"].items()}
        at_root = {
            str(name): tuple(RootSums.from_json(part) for part in parts) for name, parts in content["at_root"].items()
        }
        n_values = None if content["n_values"] is None else np.array(content["n_values"], np.int64)
        n_undefined = int(content["n_undefined"])
        return cls(rows, tables, examples, at_root, n_values, n_undefined)  # type: ignore[arg-type]  # means, as written

    def p_values(self, name: str) -> np.ndarray | None:
        """Return the p values of the features by the score of this name, where they were asked for.

        Where features have credit at the root, what they tell there and below it are two tests. With p the smaller one
        of their p values, that of the feature is 1 - (1 - p)^2 (Sidak); where no tree tests it below the root, that of
        the root.
        """
        if name not in self.examples:
            return None
        below, scores = self.examples[name], self.rows[name]
        mean, errors = scores.finish()
        if name not in self.at_root:
            return below.p_values(scores.count, mean, errors)
        root = RootSums.summed(self.at_root[name])
        at_root = root.p_values_at_root(scores.count)
        further = below.p_values(scores.count, mean - root.totals() / scores.count, errors)
        # of two tests; 1 - p may be 0, so that its logarithm is infinite
        with np.errstate(divide="ignore"):
            either = -np.expm1(2 * np.log1p(-np.minimum(at_root, further)))
        return np.where(below.squares() > 0, either, at_root)

    def state(self, name: str) -> Accumulator:
        """Return what a ranking by the score of this name keeps."""
        own = self.rows[name]
        if not SCORES[name].borrows or self.n_values is None:
            return own
        genie3 = self.rows["genie3"]
        return BorrowingMeans(own.count, own.mean, own.m2, genie3.mean, genie3.m2, value_kinds(self.n_values))


def value_kinds(n_values: np.ndarray) -> np.ndarray:
    """Return numbers for kinds of features, by how many values they have; those of levels are negative.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.ensembles.score_sums import value_kinds
    >>> value_kinds(np.array([1, 2, 3, 4, 5, 17, 500, -2, -500])).tolist()
    [0.0, 1.0, 2.0, 2.0, 3.0, 5.0, 5.0, -1.0, -9.0]
    """
    size = np.ceil(np.log2(np.maximum(np.abs(n_values), 1)))
    return np.where(n_values < 0, -size, np.minimum(size, 5.0))


def _larger(one: np.ndarray | None, other: np.ndarray | None) -> np.ndarray | None:
    if one is None or other is None:
        return other if one is None else one
    return np.where(one < 0, np.minimum(one, other), np.maximum(one, other))


def _merged(one: dict[str, ExampleSums], other: dict[str, ExampleSums]) -> dict[str, ExampleSums]:
    """Sums by example of both, by name of the score; trees without any test have none."""
    both = {name: sums.merge(other[name]) for name, sums in one.items() if name in other}
    return one | other | both


def _zeros(like: MeanAccumulator, n_trees: int) -> MeanAccumulator:
    return MeanAccumulator(n_trees, np.zeros(like.shape), np.zeros(like.shape))
