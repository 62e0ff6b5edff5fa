"""Rankings of halves of the examples, judged on the other halves: worth, how many, stability from the same fits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from omnirank.core.seeds import stream
from omnirank.data.dataset import Dataset
from omnirank.data.notes import of_one_value
from omnirank.evaluation.evaluate import candidate_count, evaluate, measured_constant
from omnirank.evaluation.folds import Fold, labelled_folds
from omnirank.evaluation.selection import SelectionCurve, selection_sizes
from omnirank.evaluation.stability import Stability, drawn_ranks
from omnirank.measures.table import Measure
from omnirank.rankers.refits import ranking_of_part, reseeded
from omnirank.tasks import get_task
from omnirank.tasks.measuring import measure_of

# Random rankings that each half is compared with.
N_RANDOM = 3
# Examples that predict and that are predicted, at most: the time of neighbours grows with their product.
_MOST_TRAINING = 4000
_MOST_TESTED = 1000
_FEWEST_LABELLED = 8
_TOP_WITHOUT_TARGET = 16
# Share of the halves in which one of two has to be better, to be called so.
CLEARLY = 0.8
_LEVEL = 0.9
# Keep the streams of the halves, and of what is drawn in them, apart from those of trees.
_HALVES_KEY = 2**31 + 11
_DRAWN_KEY = 2**31 + 12


class Half(NamedTuple):
    """What the ranking of one half has shown on the other: ranks, and values of the measure."""

    ranks: np.ndarray
    worth: float
    uniform: float
    random: tuple[float, ...]
    by_size: tuple[float, ...]
    constant: float = np.nan


@dataclass(frozen=True, eq=False)
class Halves:
    """What rankings of halves have shown, each judged on the examples that it has not seen.

    Parameters
    ----------
    halves : tuple of Half
        In pairs, each the rest of the other.
    order : ndarray
        The features, best first, in the ranking of all examples.
    judge : JudgedHalf
        How they were judged.
    """

    halves: tuple[Half, ...]
    order: np.ndarray
    judge: JudgedHalf

    @property
    def n(self) -> int:
        """Number of halves."""
        return len(self.halves)

    @property
    def top(self) -> int | None:
        """Without target: the number of features that predict all of them."""
        return self.judge.top

    @property
    def measure(self) -> Measure:
        """The measure by which rankings are judged."""
        return measure_of(self.judge.dataset.task, self.judge.measure)

    def values(self, of: str) -> np.ndarray:
        """Return the values of ``"worth"``, ``"uniform"`` or ``"random"`` (the mean of those of a half), by half."""
        return np.array([np.mean(getattr(half, of)) for half in self.halves])

    @property
    def baseline(self) -> str:
        """What a ranking has to beat: equal weights; without target, where these keep all features, random rankings."""
        return "equal weights" if self.top is None else "random rankings"

    @property
    def gains(self) -> np.ndarray:
        """How much better than the baseline the ranking is in each half; below 0 where it is worse."""
        gains = self.values("worth") - self.values("uniform" if self.top is None else "random")
        return gains if self.measure.larger_is_better else -gains

    @property
    def wins(self) -> int:
        """In how many halves the ranking is better than the baseline."""
        return int((self.gains > 0).sum())

    @property
    def losses(self) -> int:
        """In how many halves the ranking is worse than the baseline."""
        return int((self.gains < 0).sum())

    @property
    def verdict(self) -> str:
        """How the ranking compares with equal weights, or with random rankings, in words."""
        better, worse = (n >= CLEARLY * self.n for n in (self.wins, self.losses))
        return f"predicts {'better than' if better else 'worse than' if worse else 'about as well as'} {self.baseline}"

    @property
    def curve(self) -> SelectionCurve:
        """How well the top features predict, by their number."""
        values, constant = np.array([half.by_size for half in self.halves]), [half.constant for half in self.halves]
        measure = self.measure.name, self.measure.larger_is_better
        return SelectionCurve(np.array(self.judge.sizes), values, *measure, "neighbors", constant)

    @property
    def how_many(self) -> str:
        """How many features suffice, in words."""
        curve = self.curve
        return curve.summary.replace(f"({curve.n_folds} folds,", f"({curve.n_folds} halves,")

    @property
    def stability(self) -> Stability:
        """How much the ranks change between halves."""
        names = self.judge.dataset.feature_names
        ranks = np.array([half.ranks for half in self.halves])
        # what is worth keeping has to be stable; beyond that, places are chance
        k = min(self.curve.chosen_size, math.isqrt(len(names) - 1) + 1)
        return Stability(names, ranks, self.order, _LEVEL, k, f"{self.n} halves of the examples")


def why_no_halves(dataset: Dataset) -> str:
    """Return why the halves of the data cannot be judged, or nothing."""
    n, kind = candidate_count(dataset, "labelled")
    if n < _FEWEST_LABELLED:
        return f"rankings are judged on at least {_FEWEST_LABELLED} {kind}examples, there are {n}"
    return ""


def halved(dataset: Dataset, entropy: int, pair: int) -> list[Fold]:
    """Return two folds: each tests on the half (of the labelled examples) that the other trains on."""
    return labelled_folds(dataset, 2, stream(entropy, _HALVES_KEY + 4 * pair))


@dataclass(frozen=True, eq=False)
class JudgedHalf:
    """Ranks the features on the training part of a fold, and judges the ranking on the other part; picklable."""

    dataset: Dataset
    measure: str
    sizes: tuple[int, ...]
    n_neighbors: int
    entropy: int
    top: int | None

    @classmethod
    def of(cls, dataset: Dataset, entropy: int) -> JudgedHalf:
        """Choose the measure, the sizes and the number of neighbours for the data."""
        without = dataset.target is None
        shown = measure_of(dataset.task, "rrmse" if without else None)
        n_judged, _ = candidate_count(dataset, "labelled")
        k = min(get_task(dataset.task).default_neighbors, max(1, math.isqrt(n_judged // 2)))
        n_varying = max(1, dataset.n_features - len(list(of_one_value(dataset.features))))
        # without target some features predict all: by all of them any ranking would be as good as any other
        top = max(1, min(_TOP_WITHOUT_TARGET, n_varying // 2)) if without else None
        return cls(dataset, shown.name, tuple(selection_sizes(n_varying)), k, entropy, top)

    def __call__(self, ranker: Any, item: tuple[int, Fold]) -> Half:
        """Return what the ranking of a half shows; the number of the half decides what is drawn."""
        number, fold = item
        rng = stream(self.entropy, _DRAWN_KEY + 4 * number)
        whole = fold.training(self.dataset)
        ranking = ranking_of_part(reseeded(ranker, rng), whole, self.dataset)
        train, test = self._parts(whole, fold.testing(self.dataset), rng)
        n, without = self.dataset.n_features, self.dataset.target is None
        # without target the first features of the data would be kept: all of them are compared with
        same = self._value(np.ones(n), train, test, **({"top": n} if without else {}))
        random = tuple(self._value(rng.random(n), train, test) for _ in range(N_RANDOM))
        by_size = tuple(self._value(ranking, train, test, top=size, weighted=False) for size in self.sizes)
        own = self._value(ranking, train, test)
        constant = measured_constant(train, test)[self.measure]
        return Half(drawn_ranks(ranking.order_scores, rng), own, same, random, by_size, constant)

    def _parts(self, train: Dataset, test: Dataset, rng: np.random.Generator) -> tuple[Dataset, Dataset]:
        """The examples that predict, and those that are predicted."""
        if train.target is not None:
            train = train.take(train.labelled)
        return _at_most(train, _MOST_TRAINING, rng), _at_most(test, _MOST_TESTED, rng)

    def _value(self, scores: Any, train: Dataset, test: Dataset, **options: Any) -> float:
        options = {"scaled": True, "top": self.top} | options
        return float(evaluate(scores, train, test, self.n_neighbors, **options)[self.measure])


def _at_most(part: Dataset, most: int, rng: np.random.Generator) -> Dataset:
    return part if part.n_examples <= most else part.take(np.sort(rng.permutation(part.n_examples)[:most]))
