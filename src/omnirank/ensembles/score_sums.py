"""Scores of the trees of an ensemble, one tree after the other, and their sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from omnirank.core.accumulators import MeanAccumulator
from omnirank.ensembles import scores
from omnirank.ensembles.loss_parts import ErrorMeasure
from omnirank.ensembles.losses import error_measure
from omnirank.ensembles.plan import Plan

__all__ = ["SCORES", "PairScorer", "ScoreSums", "TreeScorer", "TreeScores"]

SCORES = ("genie3", "symbolic", "permutation")


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
    symbolic_weight: float | None = None
    measure: ErrorMeasure | None = None
    per_target: bool = False

    @classmethod
    def make(
        cls,
        plan: Plan,
        symbolic_weight: float | None = None,
        permutation_error: str | None = None,
        per_target: bool = False,
    ) -> TreeScorer:
        """Return the scorer of a plan; without ``permutation_error`` there is no permutation score."""
        measure = None if permutation_error is None else error_measure(plan, permutation_error, per_target)
        return cls(plan, symbolic_weight, measure, per_target)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the scores."""
        return SCORES if self.measure is not None else SCORES[:2]

    def __call__(self, i: int) -> TreeScores:
        """Grow tree i and return its scores."""
        plan, n_features = self.plan, self.plan.dataset.n_features
        counts = plan.counts(i)
        grown = plan.grow(i, counts)
        rows = {
            "genie3": scores.genie3(grown, n_features),
            "symbolic": scores.symbolic(grown, n_features, self.symbolic_weight),
        }
        tables = {}
        if self.per_target:
            tables["genie3"] = scores.genie3_per_target(plan, grown)
        if self.measure is None:
            return TreeScores(rows, tables)
        rows["permutation"], by_target, undefined = scores.permutation(plan, self.measure, grown, counts, i)
        if self.per_target and by_target is not None:
            tables["permutation"] = by_target
        return TreeScores(rows, tables, undefined)


@dataclass(frozen=True, eq=False)
class PairScorer:
    """Grows a supervised and a semi-supervised tree and returns the means of their scores.

    Genie3 and Symbolic scores grow with the number of examples, which the trees of a pair do not share: each tree's are
    divided by their sum, tables by the same number. Permutation scores are relative growths of errors in both.
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
    def per_target(self) -> bool:
        """Whether scores are kept by target."""
        return self.semi_supervised.per_target

    def __call__(self, i: int) -> TreeScores:
        """Grow the trees i and return the means of their scores."""
        one, other = _as_shares(self.supervised(i)), _as_shares(self.semi_supervised(i))
        return TreeScores(
            {name: (one.rows[name] + other.rows[name]) / 2 for name in one.rows},
            {name: (one.tables[name] + other.tables[name]) / 2 for name in one.tables},
            one.undefined or other.undefined,
        )


def _as_shares(tree: TreeScores) -> TreeScores:
    totals = {name: 1.0 if name == "permutation" else float(row.sum()) or 1.0 for name, row in tree.rows.items()}
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
        Trees whose permutation score is undefined; they count as 0.
    """

    rows: dict[str, MeanAccumulator]
    tables: dict[str, MeanAccumulator]
    n_undefined: int = 0

    @classmethod
    def empty(cls, scorer: TreeScorer | PairScorer) -> ScoreSums:
        """Return the sums over no tree."""
        n_targets, n_features = scorer.plan.columns.n_variables, scorer.plan.dataset.n_features
        split = [name for name in scorer.names if name != "symbolic"] if scorer.per_target else []
        return cls(
            {name: MeanAccumulator.empty(n_features) for name in scorer.names},
            {name: MeanAccumulator.empty((n_targets, n_features)) for name in split},
        )

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self.rows["genie3"].count

    def update(self, trees: Sequence[TreeScores]) -> ScoreSums:
        """Return the sums that have also seen these trees."""
        if not trees:
            return self
        return ScoreSums(
            {name: sums.update([tree.rows[name] for tree in trees]) for name, sums in self.rows.items()},
            {name: sums.update([tree.tables[name] for tree in trees]) for name, sums in self.tables.items()},
            self.n_undefined + sum(tree.undefined for tree in trees),
        )
