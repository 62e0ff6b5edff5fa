"""Scores summed over trees, from which rankings are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from omnirank.core.ranking.accumulators import ConfirmedMeans, MeanAccumulator
from omnirank.ensembles.p_values import ExampleSums, RootSums
from omnirank.ensembles.scores import SCORES, FeatureScores, TreeScorer

# Shares of the error of the tests at the root, below it and in pairs.
_SHARES = (0.7, 0.15, 0.15)


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
        Credit at the roots, where a score has it.
    n_undefined : int
        Trees for which a score is undefined; they count as 0.
    """

    rows: dict[str, MeanAccumulator]
    tables: dict[str, MeanAccumulator]
    examples: dict[str, ExampleSums]
    at_root: dict[str, tuple[RootSums, ...]]
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
            {name: (self._root(name, scorer, n_trees),) for name in self.rows if SCORES[name].has_root},
            self.n_undefined + sum(any(one.undefined for one in tree.values()) for tree in trees),
        )

    def _root(self, name: str, scorer: TreeScorer, n_trees: int) -> RootSums:
        sums = self.examples.get(name)
        block, n_places = (0, 0) if sums is None else sums.place
        return RootSums(block, scorer.at_root(name, n_places), n_trees)

    def merge(self, other: ScoreSums) -> ScoreSums:
        """Return the sums over the trees of both."""
        return ScoreSums(
            {name: sums.merge(other.rows[name]) for name, sums in self.rows.items()},
            {name: sums.merge(other.tables[name]) for name, sums in self.tables.items()},
            _merged(self.examples, other.examples),
            {name: parts + other.at_root.get(name, ()) for name, parts in (other.at_root | self.at_root).items()},
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

    def p_values(self, name: str) -> np.ndarray | None:
        """Return the p values of the features by the score of this name, where they were asked for.

        Where features have credit at the root, there are three tests: what a feature tells there, below it (where a
        tree tests it), and in pairs (:mod:`omnirank.ensembles.pair_test`). The p value is the smallest of the three,
        each divided by its share of the error.
        """
        if name not in self.examples:
            return None
        below, scores = self.examples[name], self.rows[name]
        further = below.p_values(scores.count, *scores.finish())
        if not SCORES[name].has_root:
            return further
        at_root = RootSums.p_values(self.at_root[name], scores.count)
        in_pairs = RootSums.p_values_in_pairs(self.at_root[name])
        further = np.where(below.squares() > 0, further, np.nan)
        tests = (p / share for p, share in zip((at_root, further, in_pairs), _SHARES, strict=True))
        return np.fmin.reduce([np.ones(len(at_root)), *tests])

    def state(self, name: str) -> MeanAccumulator | ConfirmedMeans:
        """Return what a ranking by the score of this name keeps."""
        return self._state(name, self.rows, "row")

    def target_state(self, name: str) -> MeanAccumulator | ConfirmedMeans | None:
        """Return what it keeps of single targets, where they were asked for."""
        return self._state(name, self.tables, "table") if name in self.tables else None

    def _state(self, name: str, sums: dict[str, MeanAccumulator], part: str) -> MeanAccumulator | ConfirmedMeans:
        below, genie3 = sums[name], sums["genie3"]
        if not SCORES[name].has_root:
            return below
        root, n_values = np.zeros(below.shape), np.zeros(below.shape[-1])
        for _, credit, n_trees in self.at_root.get(name, ()):
            root += n_trees / below.count * getattr(credit, part)
            more = np.abs(credit.n_values) > np.abs(n_values)
            n_values = np.where(more, credit.n_values, n_values)
        return ConfirmedMeans(below.count, below.mean, below.m2, root, genie3.mean, genie3.m2, value_kinds(n_values))


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


def _merged(one: dict[str, ExampleSums], other: dict[str, ExampleSums]) -> dict[str, ExampleSums]:
    """Sums by example of both, by name of the score; trees without any test have none."""
    both = {name: sums.merge(other[name]) for name, sums in one.items() if name in other}
    return one | other | both


def _zeros(like: MeanAccumulator, n_trees: int) -> MeanAccumulator:
    return MeanAccumulator(n_trees, np.zeros(like.shape), np.zeros(like.shape))
