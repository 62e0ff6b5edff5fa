"""Scores of the trees of an ensemble, one tree after the other, and their sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from omnirank.core.parallel import run_parallel
from omnirank.core.ranking.accumulators import Accumulator, MeanAccumulator
from omnirank.ensembles.draws import group_numbers
from omnirank.ensembles.error_parts import ErrorMeasure
from omnirank.ensembles.example_sums import ExampleSums
from omnirank.ensembles.plan import GrowingPlan
from omnirank.ensembles.score_table import SCORES, Contributions, FeatureScores, ScoredTree, ScoreOptions
from omnirank.ensembles.target_errors import error_measure


class Scorer(Protocol):
    """What grows trees by their numbers and returns their scores; picklable."""

    @property
    def plan(self) -> GrowingPlan:
        """What trees are grown on."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the scores."""

    @property
    def options(self) -> ScoreOptions:
        """How trees are scored."""

    @property
    def n_examples(self) -> int:
        """Number of examples that trees are grown on, all together."""

    @property
    def n_groups(self) -> int:
        """Number of their groups."""

    def __call__(self, i: int) -> dict[str, FeatureScores]:
        """Grow tree i and return its scores."""


@dataclass(frozen=True, eq=False)
class TreeScorer:
    """Grows trees of a plan and returns their scores by name; the trees themselves are not kept.

    With a ``partner``, the scores are the means over pairs of trees, one of each plan: a semi-supervised tree and the
    partner's, a supervised one, say. Scores that grow with the number of examples, which the trees of a pair do not
    share, are brought to the unit of the partner's tree before: to its sum over the features, or to its examples'
    weight where they may be negative. So pairs have the scale of the partner's trees, whatever the other ones are.

    Picklable, so that workers may be processes.
    """

    plan: GrowingPlan
    names: tuple[str, ...]
    options: ScoreOptions
    measure: ErrorMeasure | None
    prepared: dict[str, Any] | None
    partner: TreeScorer | None = None

    @classmethod
    def make(
        cls, plan: GrowingPlan, names: tuple[str, ...], options: ScoreOptions, partner: TreeScorer | None = None
    ) -> TreeScorer:
        """Return what computes the scores of these names for the trees of a plan."""
        measure = None
        if any(SCORES[name].needs_error for name in names):
            measure = error_measure(plan, options.permutation_error, options.per_target)
            _ = plan.coded.routing, plan.coded.values  # workers would each rank features that are not ranked yet
        prepared = {name: SCORES[name].prepare(plan) for name in names}
        return cls(plan, names, options, measure, prepared, partner)

    @cached_property
    def _prepared(self) -> dict[str, Any]:
        """What scores make of the plan, once for all trees."""
        if self.prepared is None:
            return {name: SCORES[name].prepare(self.plan) for name in self.names}
        return self.prepared

    def to_send(self) -> TreeScorer:
        """Return what computes the same scores, without what can be made anew from the data: that is several times."""
        partner = None if self.partner is None else self.partner.to_send()
        return replace(self, plan=self.plan.to_send(), prepared=None, partner=partner)

    @property
    def n_examples(self) -> int:
        """Number of examples."""
        return self.plan.n_examples

    @property
    def n_groups(self) -> int:
        """Number of groups of examples."""
        return len(self.plan.group_weight)

    def __call__(self, i: int) -> dict[str, FeatureScores]:
        """Grow tree i and return its scores."""
        counts = self.plan.counts(i)
        tree = ScoredTree(self.plan, self.plan.grow(i, counts), counts, i, self.options, self.measure)
        own = {name: SCORES[name].of_tree(tree._replace(prepared=self._prepared[name])) for name in self.names}
        if self.partner is None:
            return own
        beside = self.partner(i)
        return {name: self._mean_of_pair(name, beside[name], own[name]) for name in self.names}

    def _mean_of_pair(self, name: str, one: FeatureScores, other: FeatureScores) -> FeatureScores:
        assert self.partner is not None
        if SCORES[name].per_example:
            unit = float(self.partner.plan.weight.sum() / self.plan.weight.sum())
        elif SCORES[name].as_share:
            if not other.row.any():  # it has no test: shares of nothing
                return one
            unit = float(one.row.sum() / other.row.sum())
        else:
            unit = 1.0
        table = None
        if one.table is not None and other.table is not None:
            table = (one.table + unit * other.table) / 2
        told = self._contributions_of_pair(one, other, unit)
        return FeatureScores((one.row + unit * other.row) / 2, table, one.undefined or other.undefined, told)

    def _contributions_of_pair(
        self, one: FeatureScores, other: FeatureScores, unit: float
    ) -> tuple[Contributions, ...]:
        """What examples add to the mean of a pair; groups of the supervised tree are numbered among the labelled."""
        numbers = group_numbers(self.plan.groups, self.plan.dataset.labelled)
        supervised = (part._replace(rows=numbers[part.rows]).scaled(1 / 2) for part in one.contributions)
        return (*supervised, *(part.scaled(unit / 2) for part in other.contributions))


@dataclass(frozen=True, eq=False)
class ScoreSums:
    """Sums of the scores of the trees so far, in the order of the trees; immutable, but for the large sums by example.

    Attributes
    ----------
    rows, tables : dict of str to MeanAccumulator
        By name of the score: one score per feature; one row of scores per target.
    examples : dict of str to ExampleSums
        By name of the score, where p values are asked for; `update` changes them in place.
    n_undefined : int
        Trees for which a score is undefined; they count as 0.
    """

    rows: dict[str, MeanAccumulator]
    tables: dict[str, MeanAccumulator]
    examples: dict[str, ExampleSums]
    n_undefined: int = 0

    @classmethod
    def empty(cls, scorer: Scorer, by_example: Callable[[int, int], ExampleSums] = ExampleSums) -> ScoreSums:
        """Return the sums over no tree; ``by_example`` makes those by example, of so many groups and features."""
        n_targets, n_features = scorer.plan.columns.n_variables, scorer.plan.dataset.n_features
        split = [name for name in scorer.names if scorer.options.per_target and SCORES[name].splits_by_target]
        return cls(
            {name: MeanAccumulator.empty(n_features) for name in scorer.names},
            {name: MeanAccumulator.empty((n_targets, n_features)) for name in split},
            {
                name: by_example(scorer.n_groups, n_features)
                for name in scorer.names
                if scorer.options.p_values and SCORES[name].has_p_values
            },
        )

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return next(iter(self.rows.values())).count

    def update(self, trees: Sequence[dict[str, FeatureScores]]) -> ScoreSums:
        """Return the sums that have also seen these trees."""
        if not trees:
            return self
        for name, sums in self.examples.items():
            sums.add(part for tree in trees for part in tree[name].contributions)
        return ScoreSums(
            {name: sums.update([tree[name].row for tree in trees]) for name, sums in self.rows.items()},
            {name: sums.update([tree[name].table for tree in trees]) for name, sums in self.tables.items()},
            self.examples,
            self.n_undefined + sum(any(one.undefined for one in tree.values()) for tree in trees),
        )

    def merge(self, other: ScoreSums) -> ScoreSums:
        """Return the sums over the trees of both."""
        return ScoreSums(
            {name: sums.merge(other.rows[name]) for name, sums in self.rows.items()},
            {name: sums.merge(other.tables[name]) for name, sums in self.tables.items()},
            _merged(self.examples, other.examples),
            self.n_undefined + other.n_undefined,
        )

    def of_nothing(self, n_trees: int) -> ScoreSums:
        """Return sums of the same shapes over so many trees that have no test, and no scores; no example adds any."""
        return ScoreSums(
            {name: _zeros(sums, n_trees) for name, sums in self.rows.items()},
            {name: _zeros(sums, n_trees) for name, sums in self.tables.items()},
            {},
            n_trees,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the sums over trees as JSON holds them."""
        return {
            "rows": {name: sums.to_json() for name, sums in self.rows.items()},
            "tables": {name: sums.to_json() for name, sums in self.tables.items()},
            "examples": {name: sums.to_json() for name, sums in self.examples.items()},
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
        return cls(rows, tables, examples, int(content["n_undefined"]))  # type: ignore[arg-type]  # of means, as written

    def apart(self) -> ScoreSums:
        """Return the sums with sums by example of their own, to be continued."""
        return replace(self, examples={name: sums.copy() for name, sums in self.examples.items()})

    def without_examples(self) -> ScoreSums:
        """Return the sums without those by example, which are as large as the data."""
        return replace(self, examples={})

    def p_values(self, name: str) -> np.ndarray | None:
        """Return the p values of the features by the score of this name, where they were asked for."""
        return self.examples[name].p_values(self.rows[name]) if name in self.examples else None


def _merged(one: dict[str, ExampleSums], other: dict[str, ExampleSums]) -> dict[str, ExampleSums]:
    """Sums by example of both, by name of the score; trees without any test have none."""
    both = {name: sums.merge(other[name]) for name, sums in one.items() if name in other}
    return one | other | both


def _zeros(like: MeanAccumulator, n_trees: int) -> MeanAccumulator:
    return MeanAccumulator(n_trees, np.zeros(like.shape), np.zeros(like.shape))


def mean_scores(
    plan: GrowingPlan, names: tuple[str, ...], n_trees: int, n_jobs: int | None, description: str
) -> dict[str, np.ndarray]:
    """Return the scores of these names, averaged over the first trees of a plan."""
    scorer = TreeScorer.make(plan, names, ScoreOptions())
    trees = run_parallel(scorer, range(n_trees), n_jobs, description=description)
    return {name: np.mean([tree[name].row for tree in trees], axis=0) for name in names}
