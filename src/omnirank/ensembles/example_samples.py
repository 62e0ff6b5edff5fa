"""Trees that see some of the examples each: random samples of data in memory, and how large they have to be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from omnirank.core.errors import ConstantTargetError
from omnirank.core.parameters import choice, count, share
from omnirank.core.ranking.accumulators import MeanAccumulator
from omnirank.data.resampling import first_rows
from omnirank.ensembles.convergence import RELIABLE
from omnirank.ensembles.draws import group_numbers
from omnirank.ensembles.plan import GrowingData, GrowingPlan
from omnirank.ensembles.score_sums import ScoreSums, TreeScorer
from omnirank.ensembles.score_table import FeatureScores, ScoreOptions
from omnirank.shards.samples import AT_ONCE, Samples, samples_within

# Trees of fewer examples say nothing.
FEWEST_EXAMPLES = 50
MAX_SAMPLES = choice(None, "auto") | count(FEWEST_EXAMPLES) | share(above=0)
# "auto" begins with so many examples per tree, and doubles them.
_FIRST_SIZE = 2000


@dataclass(frozen=True, eq=False)
class SampledScorer:
    """Grows tree i on sample i modulo the number of samples, and returns its scores; as `TreeScorer` on all examples.

    The examples of a sample are coded for each of its trees, so that the memory that a tree takes is that of a sample.

    Attributes
    ----------
    data : GrowingData
        All examples.
    samples : Samples
        How examples are dealt out.
    groups : ndarray (examples,)
        Group of each example; a sample is made of some groups.
    make : callable
        Makes the `TreeScorer` of some examples; picklable.
    like : TreeScorer
        That of some examples among which the target varies.
    """

    data: GrowingData
    samples: Samples
    groups: np.ndarray
    make: Callable[[GrowingData], TreeScorer]
    like: TreeScorer

    @classmethod
    def of(cls, data: GrowingData, samples: Samples, make: Callable[[GrowingData], TreeScorer]) -> SampledScorer:
        """Return what grows trees on samples of the data."""
        data = replace(data, n_jobs=1)  # workers grow trees, and each of them codes its examples
        groups = samples.groups(np.arange(data.dataset.n_examples), _labelled(data))
        if data.groups is not None:  # which stay together, where their first example is
            groups = groups[first_rows(data.groups)][data.groups]
        of_samples = (np.isin(groups, samples.groups_of(s)) for s in range(samples.n_samples))
        problem: ConstantTargetError | None = None
        # few examples first: what is kept of them takes memory beside the samples
        for rows in chain([np.arange(len(groups)) < _FIRST_SIZE], of_samples):
            try:
                return cls(data, samples, groups, make, make(data.take(rows)))
            except ConstantTargetError as error:
                problem = error
        assert problem is not None
        raise problem

    @property
    def plan(self) -> GrowingPlan:
        """A plan of few examples, like that of each sample."""
        return self.like.plan

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the scores."""
        return self.like.names

    @property
    def options(self) -> ScoreOptions:
        """How trees are scored."""
        return self.like.options

    @property
    def n_examples(self) -> int:
        """Number of examples of all samples."""
        return self.data.dataset.n_examples

    @property
    def n_groups(self) -> int:
        """Number of groups of these examples."""
        return self.n_examples if self.data.groups is None else int(self.data.groups.max()) + 1

    def __call__(self, i: int) -> dict[str, FeatureScores]:
        """Grow tree i and return its scores; a tree of a constant target has no tests."""
        rows = np.isin(self.groups, self.samples.groups_of(i % self.samples.n_samples))
        try:
            found = self.make(self.data.take(rows))(i)
            return {name: _numbered(scores, group_numbers(self.data.groups, rows)) for name, scores in found.items()}
        except ConstantTargetError:
            empty = ScoreSums.empty(self)
            zeros = {name: np.zeros(sums.shape) for name, sums in empty.tables.items()}
            return {name: FeatureScores(np.zeros(sums.shape), zeros.get(name)) for name, sums in empty.rows.items()}


def _numbered(scores: FeatureScores, numbers: np.ndarray) -> FeatureScores:
    """Scores of a sample, whose groups have these numbers among all."""
    told = tuple(part._replace(rows=numbers[part.rows]) for part in scores.contributions)
    return scores._replace(contributions=told)


def samples_of(data: GrowingData, n_examples: int) -> Samples:
    """Return samples of about so many examples; labelled and unlabelled ones are dealt out apart."""
    n_labelled = int(_labelled(data).sum())
    return samples_within(AT_ONCE * n_examples, 1, data.entropy, n_labelled, data.dataset.n_examples - n_labelled)


def _labelled(data: GrowingData) -> np.ndarray:
    dataset = data.dataset
    return np.ones(dataset.n_examples, bool) if dataset.target is None else dataset.labelled


def example_sizes(n_examples: int, most: int) -> Iterator[int]:
    """Yield the numbers of examples per tree that are tried one after the other.

    Examples
    --------
    >>> from omnirank.ensembles.example_samples import example_sizes
    >>> [list(example_sizes(n, most)) for n, most in ((10_000, 10_000), (10_000, 5000), (3000, 3000))]
    [[2000, 4000, 8000, 10000], [2000, 4000, 5000], [3000]]
    """
    most = min(n_examples, most)
    size = _FIRST_SIZE
    while size < most and n_examples > 2 * _FIRST_SIZE:
        yield size
        size *= 2
    yield most


def change(before: MeanAccumulator, now: MeanAccumulator) -> float:
    r"""Return by how much the scores of larger trees differ, as a share of their variance.

    Scores are divided by their standard deviation over the features, since they grow with the number of examples. Of
    the mean squared difference, what the standard errors explain is taken away:

    .. math:: \frac{1}{D} \sum_i (a_i - b_i)^2 - \frac{1}{D} \sum_i (s_{a,i}^2 + s_{b,i}^2)

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.core.ranking.accumulators import MeanAccumulator
    >>> from omnirank.ensembles.example_samples import change
    >>> few, many = (MeanAccumulator(9, np.array(x), np.zeros(3)) for x in ([0.0, 1.0, 2.0], [0.0, 2.0, 4.0]))
    >>> round(change(few, many), 6)
    0.0
    """
    (a, of_a), (b, of_b) = _standardized(before), _standardized(now)
    return max(0.0, float(np.mean((a - b) ** 2) - np.mean(of_a**2 + of_b**2)))


def _standardized(sums: MeanAccumulator) -> tuple[np.ndarray, np.ndarray]:
    scores, errors = sums.finish()
    spread = float(np.std(scores)) or 1.0
    return scores / spread, (np.zeros_like(scores) if errors is None else errors) / spread


def settled(before: MeanAccumulator | None, now: MeanAccumulator) -> bool:
    """Return whether more examples per tree would hardly change the ranking."""
    return before is not None and change(before, now) <= 1 - RELIABLE


def given_size(max_samples: Any, n_examples: int) -> int:
    """Return how many of the examples a count, a share or None (all) stands for.

    Examples
    --------
    >>> from omnirank.ensembles.example_samples import given_size
    >>> given_size(None, 500), given_size(0.5, 500), given_size(100, 500), given_size(1000, 500)
    (500, 250, 100, 500)
    """
    if max_samples is None:
        return n_examples
    if isinstance(max_samples, int | np.integer):
        return min(int(max_samples), n_examples)
    return min(n_examples, max(FEWEST_EXAMPLES, round(float(max_samples) * n_examples)))
