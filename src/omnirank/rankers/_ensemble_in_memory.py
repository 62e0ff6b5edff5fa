"""Rankings by trees of data in memory: how many examples a tree sees, and as many trees as asked for or as needed."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from omnirank.core.errors import ParameterError, logger, setting
from omnirank.core.parallel import begun_beside, worker_count
from omnirank.core.ranking.accumulators import MeanAccumulator
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import root_entropy
from omnirank.core.text import memory_amount
from omnirank.data.dataset import Dataset, fingerprint_of
from omnirank.data.notes import caller_outside
from omnirank.ensembles.convergence import FEWEST_TREES, MOST_BYTES, grown_sums
from omnirank.ensembles.example_samples import (
    FEWEST_EXAMPLES,
    SampledScorer,
    example_sizes,
    given_size,
    samples_of,
    settled,
)
from omnirank.ensembles.example_sums import FEWEST_GROUPS, ExampleSums
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.ensembles.score_sums import Scorer, ScoreSums, TreeScorer
from omnirank.ensembles.supervision import Supervision
from omnirank.rankers._ensemble_result import rankings_by_score
from omnirank.rankers._fitting import recorded_of
from omnirank.rankers._warm_start import entropy_before
from omnirank.shards.samples import AT_ONCE, row_bytes

if TYPE_CHECKING:
    from omnirank.rankers.ensemble import EnsembleRanker

_SOON = 1e-9
# A tree of twice the examples takes more than twice the time.
_DOUBLE = 2.5
# Of a sample for each tree, over that of a sample for two.
_ALONE = 1.25
# Of the memory allowed: what is left for the sums by example, and as much for what single trees add to them.
_SHARE_OF_SUMS = 16


def rank_in_memory(ranker: EnsembleRanker, dataset: Dataset, sample_weight: np.ndarray | None) -> dict[str, Ranking]:
    """Return the rankings by score of data in memory, and note in the ranker what a fit notes.

    Parameters
    ----------
    ranker : EnsembleRanker
        The ranker, its parameters checked.
    dataset : Dataset
        The examples.
    sample_weight : ndarray or None
        Their weights.
    """
    entropy = 0 if ranker._continues else root_entropy(ranker.random_state)
    groups = dataset.groups if GrowingRules.of(ranker).bootstraps else None
    data = GrowingData(dataset, entropy, sample_weight, n_jobs=ranker.n_jobs, groups=groups)
    level, data = ranker._levels(data)
    chosen = data.at_level(level.level)
    if chosen is not data:
        n_left_out = dataset.n_examples - chosen.dataset.n_examples
        logger.info("%d unlabelled examples are not used", n_left_out)
    fingerprint = _fingerprint_beside(chosen, ranker.n_jobs)
    if ranker._continues:
        chosen = replace(chosen, entropy=entropy_before(ranker, fingerprint()))
    run = _Run.of(ranker, chosen, level, fingerprint)
    begun = run.begin()
    sums = ranker._sums.apart() if ranker._continues else run.sums(begun)
    if begun.scorer.plan.trees_are_equal and ranker.n_trees != 1 and begun.size == run.n_examples:
        warnings.warn(
            "without bootstrap, trees that see all features are the same tree up to ties: set "
            f"{setting('bootstrap', True)} or {setting('max_features', 'sqrt')}, or grow one tree",
            UserWarning,
            stacklevel=caller_outside(),
        )
    kept: dict[int, dict[str, Ranking]] = {}
    if ranker._continues:
        kept = {q: found for q, found in ranker.checkpoints_.items() if q in ranker._sizes}
    for reached in chain(begun.reached, run.grown(begun, sums, ranker.n_trees)):
        sums = reached
        if sums.n_trees in ranker._sizes:
            kept[sums.n_trees] = run.rankings(begun, sums)
    ranker._chosen = level, data.feature_weights
    ranker.max_samples_ = begun.size
    ranker._note_sums(sums if ranker.warm_start else sums.without_examples(), level, kept)
    ranker._ended = "; ".join(text for text in (ranker._ended, begun.remark) if text)
    return run.rankings(begun, sums)


@dataclass(frozen=True)
class _Begun:
    """Trees of so many examples each, of which some are grown already, with the sums on the way."""

    scorer: Scorer
    size: int
    remark: str = ""
    reached: tuple[ScoreSums, ...] = ()


@dataclass(frozen=True)
class _Run:
    """One fit: what is decided before trees are grown."""

    ranker: EnsembleRanker
    data: GrowingData
    level: Supervision
    fingerprint: Callable[[], str]  # waits for it
    end: float
    most: int
    at_once: int | None

    @classmethod
    def of(cls, ranker: EnsembleRanker, data: GrowingData, level: Supervision, fingerprint: Callable[[], str]) -> _Run:
        """Return the run of a ranker, whose time begins now."""
        end = np.inf if ranker.max_seconds is None else time.monotonic() + float(ranker.max_seconds)
        n_examples, at_once = data.dataset.n_examples, ranker.n_jobs
        most = n_examples
        if ranker.max_memory is not None:
            allowed = memory_amount(ranker.max_memory, "max_memory")
            bytes_of_row = int(_ALONE * row_bytes(data.dataset, clusters_features=level.level < 1))
            if n_examples * bytes_of_row > allowed:
                most = allowed // (AT_ONCE * bytes_of_row)
                at_once = min(worker_count(ranker.n_jobs), AT_ONCE)
                _check_room(ranker, most, bytes_of_row)
        return cls(ranker, data, level, fingerprint, end, most, at_once)

    @property
    def n_examples(self) -> int:
        """Number of examples."""
        return self.data.dataset.n_examples

    def begin(self) -> _Begun:
        """Choose the number of examples per tree."""
        given = self.ranker.max_samples
        if given != "auto":
            wanted = given_size(given, self.n_examples)
            size = min(wanted, self.most)
            return _Begun(self._scorer(size), size, self._limited(size, wanted))
        return self._tried()

    def _tried(self) -> _Begun:
        """The fewest examples per tree with which the ranking has settled, or as many as time and memory allow."""
        before: MeanAccumulator | None = None
        n_trees = FEWEST_TREES if self.ranker.n_trees == "auto" else min(FEWEST_TREES, int(self.ranker.n_trees))
        *tried, most = example_sizes(self.n_examples, self.most)
        for size in tried:
            start = time.monotonic()
            begun = _Begun(self._scorer(size), size)
            begun = replace(begun, reached=self._reached(self.grown(begun, self.sums(begun), n_trees)))
            now = self.sums(begun).rows[self.ranker.importance]
            if settled(before, now):
                return begun
            before = now
            seconds, left = time.monotonic() - start, self.end - time.monotonic()
            if left / 2 < _DOUBLE * seconds:
                return replace(begun, remark=f"there was no time for more than {size} examples per tree")
        return _Begun(self._scorer(most), most, self._limited(most, self.n_examples))

    def _reached(self, grown: Iterator[ScoreSums]) -> tuple[ScoreSums, ...]:
        """The sums at the numbers of trees that are asked for, and in the end; others may be as large as the data."""
        found: list[ScoreSums] = []
        for sums in grown:
            if found and found[-1].n_trees not in self.ranker._sizes:
                found.pop()
            found.append(sums.apart())
        return tuple(found)

    def _limited(self, size: int, wanted: int) -> str:
        return f"there was no memory for more than {size} examples per tree" if size < wanted else ""

    def _scorer(self, size: int) -> Scorer:
        if size >= self.n_examples:
            return _scorer_of(self.ranker, self.level, self.data)
        if self.ranker.warm_start:
            advice = "it is for trees that see all examples: leave out max_samples, max_memory"
            raise ParameterError("warm_start", True, advice)
        make = partial(_scorer_of, clone(self.ranker), self.level)
        return SampledScorer.of(self.data, samples_of(self.data, size), make)

    def sums(self, begun: _Begun) -> ScoreSums:
        """Return the sums over the trees there are; those by example are as large as memory allows."""
        if begun.reached:
            return begun.reached[-1]
        if self.ranker.max_memory is None:
            return ScoreSums.empty(begun.scorer)
        groups = self._bytes_of_sums // (8 * self.data.dataset.n_features)
        return ScoreSums.empty(begun.scorer, partial(ExampleSums, most_groups=max(FEWEST_GROUPS, groups)))

    @property
    def _bytes_of_sums(self) -> int:
        if self.ranker.max_memory is None:
            return MOST_BYTES
        return min(MOST_BYTES, memory_amount(self.ranker.max_memory, "max_memory") // _SHARE_OF_SUMS)

    def grown(self, begun: _Begun, sums: ScoreSums, n_trees: int | str) -> Iterator[ScoreSums]:
        """Grow trees until there are so many, or until the time is over."""
        left = None if self.end == np.inf else max(self.end - time.monotonic(), _SOON)
        ranker = self.ranker
        which = ranker.importance, ranker._sizes, ranker.first_tree, self.at_once, 1, left
        most_bytes = self._bytes_of_sums * self.n_examples // begun.size  # which are thought to be of trees on all
        return grown_sums(begun.scorer, sums, n_trees, *which, most_bytes)

    def rankings(self, begun: _Begun, sums: ScoreSums) -> dict[str, Ranking]:
        """Return the rankings by score."""
        plan, dataset, fingerprint = begun.scorer.plan, self.data.dataset, self.fingerprint()
        known = recorded_of(dataset) | {"fingerprint": fingerprint}
        size = begun.size if begun.size < self.n_examples else None
        return rankings_by_score(
            *(self.ranker, dataset.feature_names, plan.columns.names, plan.entropy, self.level, sums, known),
            max_samples=size,
        )


def _fingerprint_beside(data: GrowingData, n_jobs: int | None) -> Callable[[], str]:
    """Hash the data beside what follows; the thread that waits for the result keeps it in the data, no other."""
    own = data.dataset
    if "fingerprint" in vars(own):
        return partial(getattr, data, "fingerprint")
    found = begun_beside(partial(fingerprint_of, own.features, own.target, own.task, own.hierarchy), n_jobs)

    def fingerprint() -> str:
        vars(own)["fingerprint"] = found()
        return data.fingerprint

    return fingerprint


def _scorer_of(ranker: EnsembleRanker, level: Supervision, data: GrowingData) -> TreeScorer:
    """What grows trees on examples."""
    return ranker._scorer(data.plan(GrowingRules.of(ranker, supervision=level.level)), level, data)


def _check_room(ranker: EnsembleRanker, most: int, bytes_of_row: int) -> None:
    if most < FEWEST_EXAMPLES:
        least = f"choose at least {FEWEST_EXAMPLES * AT_ONCE * bytes_of_row}"
        raise ParameterError("max_memory", ranker.max_memory, f"a tree would see {most} examples: {least}")
