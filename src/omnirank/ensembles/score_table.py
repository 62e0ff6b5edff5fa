"""The importance scores of trees: what a score takes, what it returns, and one entry for each.

Entries name their function by import path, so that the registry lists scores without importing what computes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omnirank.core.parameters import check, choice
from omnirank.core.registry import imported

if TYPE_CHECKING:
    from omnirank.ensembles.error_parts import ErrorMeasure
    from omnirank.ensembles.plan import GrowingPlan


class ScoreOptions(NamedTuple):
    """Parameters of `EnsembleRanker` that say how trees are scored."""

    per_target: bool = False
    symbolic_weight: float | None = None
    permutation_error: str = "auto"
    p_values: bool = False


class ScoredTree(NamedTuple):
    """One grown tree and what its scores are computed from.

    Attributes
    ----------
    plan : GrowingPlan
        What the tree was grown on.
    grown : GrownTree
        The tree.
    counts : ndarray (examples,) or None
        How often each example was drawn; 0 is out of bag. None: where no score needs to know.
    number : int
        Number of the tree, which gives it its random stream.
    options : ScoreOptions
        How it is scored.
    measure : ErrorMeasure or None
        Error of the plan's trees, where a score needs one.
    prepared : object
        What the score's ``preparation`` made of the plan; None: the score makes it.
    """

    plan: GrowingPlan
    grown: Any
    counts: np.ndarray | None = None
    number: int = 0
    options: ScoreOptions = ScoreOptions()
    measure: ErrorMeasure | None = None
    prepared: Any = None


class Contributions(NamedTuple):
    """What single examples out of bag add to the score of one tree.

    Attributes
    ----------
    feature : ndarray (tests,)
        Feature of each test.
    first, last : ndarray (tests,)
        The examples that reach test j are ``rows[first[j] : last[j]]``.
    rows : ndarray (examples out of bag,)
        Numbers of their groups (`GrowingPlan.groups`), by default their own.
    told : ndarray
        What each example adds at each test that it reaches, one test after the other.
    in_bag : ndarray (features,)
        The score by examples of the bag in place of those out of it: what the tests promise.
    """

    feature: np.ndarray
    first: np.ndarray
    last: np.ndarray
    rows: np.ndarray
    told: np.ndarray
    in_bag: np.ndarray

    def scaled(self, factor: float) -> Contributions:
        """Return the contributions to a multiple of the score."""
        return self._replace(told=self.told * factor, in_bag=self.in_bag * factor)


class FeatureScores(NamedTuple):
    """The score of one tree.

    Attributes
    ----------
    row : ndarray (features,)
        The score of each feature.
    table : ndarray (targets, features) or None
        The same for single targets.
    undefined : bool
        Whether the score is undefined for this tree; then it is 0.
    contributions : tuple of Contributions
        What single examples add, where p values are asked for; several for pairs of trees.
    """

    row: np.ndarray
    table: np.ndarray | None = None
    undefined: bool = False
    contributions: tuple[Contributions, ...] = ()


@dataclass(frozen=True)
class Score:
    """One importance score; a ranking is its mean over the trees.

    Attributes
    ----------
    function : str
        Where its function is: "package.module:function". The function takes a `ScoredTree` and returns
        `FeatureScores`.
    summary, reference : str
        As in :class:`omnirank.core.registry.Method`.
    preparation : str
        Where the function is that makes of a plan what the score needs of every tree; "": there is none.
    on_demand : bool
        Whether it costs extra: it is computed only where it is asked for.
    needs_out_of_bag : bool
        Whether it needs examples that the tree has not seen.
    needs_error : bool
        Whether it needs an error measure of the trees.
    splits_by_target : bool
        Whether it can be computed for single targets.
    as_share : bool
        Whether it grows with the number of examples and is never negative, so that trees of different samples are
        compared by shares of its sum.
    per_example : bool
        Whether it grows with the number of examples and may be negative, so that no share tells anything: trees of
        different samples are compared by the score an example.
    has_p_values : bool
        Whether it is a sum over examples of which each adds 0 on average where the feature tells nothing, so that they
        give p values (see `omnirank.ensembles.example_sums`).
    """

    function: str
    summary: str
    reference: str
    preparation: str = ""
    on_demand: bool = False
    needs_out_of_bag: bool = False
    needs_error: bool = False
    splits_by_target: bool = True
    as_share: bool = True
    per_example: bool = False
    has_p_values: bool = False

    def prepare(self, plan: GrowingPlan) -> Any:
        """Return what the score needs of every tree of a plan; None where that is nothing."""
        return imported(self.preparation)(plan) if self.preparation else None

    def of_tree(self, tree: ScoredTree) -> FeatureScores:
        """Return the scores of the features in one tree."""
        found: FeatureScores = imported(self.function)(tree)
        return found


SCORES = {
    "genie3": Score(
        "omnirank.ensembles.scores:genie3",
        "Impurity reductions of the feature's tests in an ensemble of trees",
        "Huynh-Thu et al.: Inferring regulatory networks from expression data. PLoS ONE 5(9), 2010",
    ),
    "symbolic": Score(
        "omnirank.ensembles.scores:symbolic",
        "How many examples reach the feature's tests in an ensemble of trees",
        "Petkovic, Kocev, Dzeroski: Feature ranking for multi-target regression. Mach. Learn. 109, 2020",
        splits_by_target=False,
    ),
    "permutation": Score(
        "omnirank.ensembles.scores:permutation",
        "Growth of the trees' out-of-bag error when the feature is permuted",
        "Breiman: Random forests. Machine Learning 45, 2001",
        on_demand=True,
        needs_out_of_bag=True,
        needs_error=True,
        as_share=False,
    ),
    "unbiased": Score(
        "omnirank.ensembles.unbiased:unbiased",
        "Impurity reductions of the feature's tests that out-of-bag examples confirm; 0 on average for noise",
        "Li et al.: A debiased MDI feature importance measure for random forests. NeurIPS 2019",
        preparation="omnirank.ensembles.unbiased:described_parts",
        on_demand=True,
        needs_out_of_bag=True,
        as_share=False,
        per_example=True,
        has_p_values=True,
    ),
}


def get_score(importance: Any) -> Score:
    """Return the score of that name.

    Examples
    --------
    >>> from omnirank.ensembles.score_table import get_score
    >>> get_score("symbolic").splits_by_target
    False
    >>> get_score("entropy")
    Traceback (most recent call last):
    omnirank.core.errors.ParameterError: importance='entropy': choose one of genie3, symbolic, permutation, unbiased
    """
    return SCORES[check("importance", importance, choice(*SCORES))]


def computed_scores(*asked: str) -> tuple[str, ...]:
    """Return the names of the scores that a fit computes: those that cost nothing, and those that are asked for.

    Examples
    --------
    >>> from omnirank.ensembles.score_table import computed_scores
    >>> computed_scores("symbolic")
    ('genie3', 'symbolic')
    >>> computed_scores("permutation")
    ('genie3', 'symbolic', 'permutation')
    """
    return tuple(name for name, score in SCORES.items() if name in asked or not score.on_demand)
