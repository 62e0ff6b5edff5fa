"""Scores of the trees of an ensemble, one tree after the other, and their sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from omnirank.core.accumulators import MeanAccumulator
from omnirank.core.parallel import run_parallel
from omnirank.ensembles.loss_parts import ErrorMeasure
from omnirank.ensembles.losses import error_measure
from omnirank.ensembles.plan import Plan
from omnirank.ensembles.score_table import SCORES, ScoredTree, ScoreOptions

__all__ = ["PairScorer", "ScoreSums", "TreeScorer", "TreeScores", "mean_scores"]


class TreeScores(NamedTuple):
    """Scores of one tree: rows of one score a feature, and tables of one row a target."""

    rows: dict[str, np.ndarray]
    tables: dict[str, np.ndarray]
    undefined: bool = False


@dataclass(frozen=True, eq=False)
class TreeScorer:
    """Grows trees of a plan and returns their scores; the trees themselves are not kept.

    Picklable, so that workers may be processes.
    """

    plan: Plan
    names: tuple[str, ...]
    options: ScoreOptions
    measure: ErrorMeasure | None

    @classmethod
    def make(cls, plan: Plan, names: tuple[str, ...], options: ScoreOptions | None = None) -> TreeScorer:
        """Return what computes the scores of these names for the trees of a plan."""
        options = options or ScoreOptions()
        measure = None
        if any(SCORES[name].needs_error for name in names):
            measure = error_measure(plan, options.permutation_error, options.per_target)
        return cls(plan, names, options, measure)

    @property
    def split_names(self) -> list[str]:
        """Names of the scores that are kept by target."""
        return [name for name in self.names if self.options.per_target and SCORES[name].splits_by_target]

    def __call__(self, i: int) -> TreeScores:
        """Grow tree i and return its scores."""
        counts = self.plan.counts(i)
        tree = ScoredTree(self.plan, self.plan.grow(i, counts), counts, i, self.options, self.measure)
        found = {name: SCORES[name].of_tree(tree) for name in self.names}
        return TreeScores(
            {name: one.row for name, one in found.items()},
            {name: table for name in self.split_names if (table := found[name].table) is not None},
            any(one.undefined for one in found.values()),
        )


@dataclass(frozen=True, eq=False)
class PairScorer:
    """Grows a supervised and a semi-supervised tree and returns the means of their scores.

    Some scores grow with the number of examples, which the trees of a pair do not share: each tree's are divided by
    their sum, tables by the same number. Others, as relative growths of errors, are comparable as they are.
    """

    supervised: TreeScorer
    semi_supervised: TreeScorer

    @property
    def plan(self) -> Plan:
        """The plan of the trees that see all examples."""
        return self.semi_supervised.plan

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the scores."""
        return self.semi_supervised.names

    @property
    def split_names(self) -> list[str]:
        """Names of the scores that are kept by target."""
        return self.semi_supervised.split_names

    def __call__(self, i: int) -> TreeScores:
        """Grow the trees i and return the means of their scores."""
        one, other = _as_shares(self.supervised(i)), _as_shares(self.semi_supervised(i))
        return TreeScores(
            {name: (one.rows[name] + other.rows[name]) / 2 for name in one.rows},
            {name: (one.tables[name] + other.tables[name]) / 2 for name in one.tables},
            one.undefined or other.undefined,
        )


def _as_shares(tree: TreeScores) -> TreeScores:
    totals = {name: (float(row.sum()) or 1.0) if SCORES[name].as_share else 1.0 for name, row in tree.rows.items()}
    return TreeScores(
        {name: row / totals[name] for name, row in tree.rows.items()},
        {name: table / totals[name] for name, table in tree.tables.items()},
        tree.undefined,
    )


@dataclass(frozen=True, eq=False)
class ScoreSums:
    """Sums of the scores of the trees so far, in the order of the trees; immutable.

    Attributes
    ----------
    rows, tables : dict of str to MeanAccumulator
        By name of the score: one score a feature; one row of them a target.
    n_undefined : int
        Trees of which a score says nothing; they count as 0.
    """

    rows: dict[str, MeanAccumulator]
    tables: dict[str, MeanAccumulator]
    n_undefined: int = 0

    @classmethod
    def empty(cls, scorer: TreeScorer | PairScorer) -> ScoreSums:
        """Return the sums over no tree."""
        n_targets, n_features = scorer.plan.columns.n_variables, scorer.plan.dataset.n_features
        return cls(
            {name: MeanAccumulator.empty(n_features) for name in scorer.names},
            {name: MeanAccumulator.empty((n_targets, n_features)) for name in scorer.split_names},
        )

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return next(iter(self.rows.values())).count

    def update(self, trees: Sequence[TreeScores]) -> ScoreSums:
        """Return the sums that have also seen these trees."""
        if not trees:
            return self
        return ScoreSums(
            {name: sums.update([tree.rows[name] for tree in trees]) for name, sums in self.rows.items()},
            {name: sums.update([tree.tables[name] for tree in trees]) for name, sums in self.tables.items()},
            self.n_undefined + sum(tree.undefined for tree in trees),
        )


def mean_scores(
    plan: Plan, names: tuple[str, ...], n_trees: int, n_jobs: int | None, description: str
) -> dict[str, np.ndarray]:
    """Return the scores of these names, averaged over the first trees of a plan."""
    trees = run_parallel(TreeScorer.make(plan, names), range(n_trees), n_jobs, description=description)
    return {name: np.mean([tree.rows[name] for tree in trees], axis=0) for name in names}
