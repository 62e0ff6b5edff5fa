"""Trees that label unlabelled examples for each other, as in co-forests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from omnirank.core.parallel import run_parallel
from omnirank.core.seeds import stream
from omnirank.data.dataset import Dataset
from omnirank.data.target import Target
from omnirank.ensembles.plan import GrowingData, GrowingPlan, GrowingRules
from omnirank.measures.table import first_largest
from omnirank.trees.prediction import average_means
from omnirank.trees.prototypes import node_means
from omnirank.trees.tree import tree_from_grown

# Keeps the streams that choose among unlabelled examples apart from those of trees.
_CHOICE_KEY = 2**32
# What the error of the others counts as before the first round: they must be better than a coin.
_FIRST_ERROR = 0.5


class Lesson(NamedTuple):
    """What a member learns from: its number, a class for every example, and how often it sees each."""

    member: int
    classes: np.ndarray
    counts: np.ndarray


class Member(NamedTuple):
    """A tree, what it has learned from, and the class that it predicts for every example."""

    grown: Any
    lesson: Lesson
    votes: np.ndarray


class SelfTrained(NamedTuple):
    """The members, how many rounds there were, and whether the last of them changed nothing."""

    members: list[Member]
    n_rounds: int
    converged: bool


@dataclass(frozen=True, eq=False)
class MemberGrower:
    """Grows trees for classes that change: features are coded once."""

    data: GrowingData
    rules: GrowingRules

    def plan(self, classes: np.ndarray) -> GrowingPlan:
        """Return what trees for these classes, one per example, are grown on."""
        dataset = self.data.dataset
        old = dataset.target
        assert old is not None
        values = classes[:, None].astype(np.float64)
        target = Target(old.names, old.levels, values, np.ones(len(values), bool), old.is_labels)
        changed = Dataset(dataset.features, target, task=dataset.task)
        return replace(self.data, dataset=changed).plan(self.rules)

    def __call__(self, lesson: Lesson) -> Member:
        """Grow a tree, and predict all examples by it."""
        plan = self.plan(lesson.classes)
        grown = plan.grow(lesson.member, lesson.counts)
        tree = tree_from_grown(grown, plan.dataset.features, *node_means(grown, plan.columns))
        means = average_means([tree], plan.dataset.features, plan.columns.n_columns)
        return Member(grown, lesson, first_largest(means))


def self_train(
    grow: Callable[[Lesson], Member],
    classes: np.ndarray,
    n_classes: int,
    n_members: int,
    confidence: float,
    max_rounds: int,
    entropy: int,
    n_jobs: int | None = None,
) -> SelfTrained:
    """Let trees label unlabelled examples for each other, as long as their error falls.

    Each member starts from a bootstrap replicate of the labelled examples. In a round, the error e of all the other
    members is that on the labelled examples, each predicted by those of them that have not seen it. Where e is
    below that of the member's last change (1/2 at first), the others label the unlabelled examples; those on which
    more than the share ``confidence`` of them agree join the member's replicate, weighted by that share. Their weights
    add up to less than e' W' / e, with the error e' and the sum W' of the member's last change (no bound at first):
    where there are more of them, some are drawn. Rounds end when no member changes.

    Parameters
    ----------
    grow : callable
        Makes a `Member` of a `Lesson`.
    classes : ndarray of int
        Class of each example, -1 where unknown.
    n_classes, n_members : int
        Numbers of classes and of trees.
    confidence : float
        The share of votes that must be exceeded.
    max_rounds : int
        How many rounds there may be.
    entropy : int
        Root of the random streams.
    n_jobs : int or None
        Number of workers.

    References
    ----------
    Li, Zhou: Improve computer-aided diagnosis with machine learning techniques using undiagnosed samples. IEEE
    Transactions on Systems, Man and Cybernetics A 37, 2007.
    """
    labelled = classes >= 0
    bags = np.array([_bag(labelled, entropy, i) for i in range(n_members)])
    start = np.where(labelled, classes, 0)
    lessons = [Lesson(i, start, bag) for i, bag in enumerate(bags)]
    members = run_parallel(grow, lessons, n_jobs, description="growing trees")
    errors, sums = np.full(n_members, _FIRST_ERROR), np.full(n_members, np.inf)
    for n_rounds in range(1, max_rounds + 1):
        poll = _Poll(np.array([member.votes for member in members]), bags == 0, classes, n_classes)
        lessons = []
        for i in range(n_members):
            error = poll.error_without(i)
            if not error < errors[i]:
                continue
            most = errors[i] * sums[i] / error if error > 0 else np.inf
            key = _CHOICE_KEY + n_rounds * n_members + i
            lesson = poll.lesson_for(i, bags[i], confidence, most, stream(entropy, key))
            if lesson is not None:
                errors[i], sums[i] = error, lesson.counts[~labelled].sum()
                lessons.append(lesson)
        if not lessons:
            return SelfTrained(members, n_rounds, True)
        for member in run_parallel(grow, lessons, n_jobs, description=f"growing trees, round {n_rounds}"):
            members[member.lesson.member] = member
    return SelfTrained(members, max_rounds, False)


def rest_of_votes(votes: np.ndarray, member: int, n_classes: int) -> np.ndarray:
    """Return how many of the other members vote for each class, one row per example.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.ensembles.self_training import rest_of_votes
    >>> rest_of_votes(np.array([[0, 1], [1, 1], [1, 0]]), 0, 2).tolist()
    [[0, 2], [1, 1]]
    """
    others = np.delete(votes, member, axis=0)
    return np.stack([(others == c).sum(axis=0) for c in range(n_classes)], axis=1)


def _bag(labelled: np.ndarray, entropy: int, member: int) -> np.ndarray:
    """How often a bootstrap replicate of the labelled examples holds each example."""
    rows = np.flatnonzero(labelled)
    drawn = rows[stream(entropy, member).integers(0, len(rows), len(rows))]
    return np.bincount(drawn, minlength=len(labelled)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Poll:
    """The votes of all members in one round."""

    votes: np.ndarray
    unseen: np.ndarray
    classes: np.ndarray
    n_classes: int

    def error_without(self, member: int) -> float:
        """Error of the other members on labelled examples that they have not seen; NaN where there is none."""
        labelled = self.classes >= 0
        heard = np.delete(self.unseen[:, labelled], member, axis=0)
        votes = np.delete(self.votes[:, labelled], member, axis=0)
        counts = np.stack([((votes == c) & heard).sum(axis=0) for c in range(self.n_classes)], axis=1)
        judged = counts.any(axis=1)
        wrong = counts.argmax(axis=1) != self.classes[labelled]
        return float(wrong[judged].mean()) if judged.any() else float("nan")

    def lesson_for(
        self, member: int, bag: np.ndarray, confidence: float, most: float, rng: np.random.Generator
    ) -> Lesson | None:
        """The member's replicate with the examples that the others are sure of; None where there are none."""
        counts = rest_of_votes(self.votes, member, self.n_classes)
        agreed = counts.max(axis=1) / max(1, len(self.votes) - 1)
        chosen = np.flatnonzero((self.classes < 0) & (agreed > confidence))
        if agreed[chosen].sum() >= most:
            chosen = rng.permutation(chosen)
            chosen = chosen[np.cumsum(agreed[chosen]) < most]
        if not len(chosen):
            return None
        weights = bag.copy()
        weights[chosen] = agreed[chosen]
        return Lesson(member, np.where(self.classes >= 0, self.classes, counts.argmax(axis=1)), weights)
