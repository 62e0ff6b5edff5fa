"""SEFR: permutation scores of trees that label unlabelled examples for each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from omnirank.core.errors import ConstantTargetError
from omnirank.core.parallel import run_parallel
from omnirank.core.parameters import Domain, count, number, share
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import root_entropy
from omnirank.data.dataset import Dataset
from omnirank.data.task_registry import TaskNames
from omnirank.ensembles.errors import error_measure
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.ensembles.scores import out_of_bag
from omnirank.ensembles.self_training import Member, MemberGrower, rest_of_votes, self_train
from omnirank.rankers.base import BaseRanker, warn_unless


@dataclass(eq=False, repr=False)
class SEFRRanker(BaseRanker):
    r"""Rank features for classes by a forest that trains itself on unlabelled examples (SEFR).

    Every tree starts from a bootstrap replicate of the labelled examples. In rounds, all other trees label the
    unlabelled examples for it: those on which more than the share ``confidence`` of them agree join its replicate,
    weighted by that share, as long as the others' error on labelled examples falls. The importance of feature i is

    .. math:: \frac{1}{B} \sum_b \left( a_b - a_b^i \right)

    over the B trees, where :math:`a_b` is the accuracy of tree b on the examples that it has not seen, labelled ones
    and unlabelled ones with the class that the other trees give them, and :math:`a_b^i` is that with the values of
    feature i permuted.

    Parameters
    ----------
    n_trees : int
        Number of trees B, at least 3.
    confidence : float
        The share of the other trees' votes that must be exceeded.
    max_features : None, int, float or {"sqrt", "log2", "all"}
        Features drawn in a node; None: ceil(sqrt D).
    min_samples_leaf : float
        Least weight of a leaf.
    max_rounds : int
        How many rounds there may be; a warning says if they were not enough.
    task, hierarchy, n_features_to_select, random_state, n_jobs
        As in every ranker; the same seed gives the same bits for any number of workers.

    Attributes
    ----------
    n_rounds_ : int
        Number of rounds; in the last one no tree changed.
    n_added_ : ndarray of int
        How many unlabelled examples each tree has learned from.

    Notes
    -----
    Trees take nominal features and missing cells as they are. Weights of examples are not taken: those of unlabelled
    examples are the shares of votes. Where all examples are labelled this is the permutation score of a random forest,
    by accuracy.

    References
    ----------
    Bellal, Elghazel, Aussem: A semi-supervised feature ranking method with ensemble learning. Pattern Recognition
    Letters 33, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> X = np.random.default_rng(0).normal(size=(300, 8))
    >>> y = np.where(X[:, 2] + X[:, 5] > 0, 1.0, 0.0)
    >>> y[60:] = np.nan
    >>> sorted(om.rankers.SEFRRanker(n_trees=30, task="classification", random_state=0).fit(X, y).ranking_.top(2))
    ['x2', 'x5']
    """

    supported_tasks = TaskNames("classes", single=True)
    supported_supervision = ("supervised", "semi-supervised")

    _parameter_checks: ClassVar[dict[str, Domain]] = {
        "n_trees": count(3),
        "confidence": share(below=1),
        "min_samples_leaf": number(above=0),
        "max_rounds": count(1),
    }

    n_trees: int = 100
    confidence: float = 0.75
    max_features: Any = None
    min_samples_leaf: float = 2
    max_rounds: int = 100

    def _rank(self, dataset: Dataset) -> Ranking:
        classes, n_classes = _codes(dataset)
        entropy = root_entropy(self.random_state)
        rules = GrowingRules(max_features=self.max_features, min_samples_leaf=self.min_samples_leaf)
        grow = MemberGrower(GrowingData(dataset, entropy), rules)
        grow.plan(np.maximum(classes, 0))  # codes the features, before workers get them
        how = n_classes, self.n_trees, self.confidence, self.max_rounds, entropy, self.n_jobs
        trained = self_train(grow, classes, *how)
        warn_unless(trained.converged, "sefr", self.max_rounds)
        self.n_rounds_ = trained.n_rounds
        self.n_added_ = np.array([np.count_nonzero(m.lesson.counts[classes < 0]) for m in trained.members])
        votes = np.array([member.votes for member in trained.members])
        score = partial(_member_scores, grow, votes, classes, n_classes)
        rows = run_parallel(score, trained.members, self.n_jobs, description="permuting features")
        return self._ranking(dataset, np.mean(rows, axis=0), "sefr")


def _member_scores(
    grow: MemberGrower, votes: np.ndarray, classes: np.ndarray, n_classes: int, member: Member
) -> np.ndarray:
    """How much the accuracy of a member falls when a feature is permuted, on examples that it has not seen."""
    lesson = member.lesson
    others = rest_of_votes(votes, lesson.member, n_classes).argmax(axis=1)
    judged = np.where(classes >= 0, classes, others)
    # its leaves predict what it has learned, the others' final votes judge it where it has learned nothing
    plan = grow.plan(np.where(lesson.counts > 0, lesson.classes, judged))
    case = out_of_bag(plan, member.grown, lesson.counts, lesson.member)
    if case is None:
        return np.zeros(plan.dataset.n_features)
    return error_measure(plan, "accuracy").growth(case).growth


def _codes(dataset: Dataset) -> tuple[np.ndarray, int]:
    """Codes of the classes, -1 where unknown, and how many classes there are."""
    assert dataset.target is not None
    values = dataset.target.values[:, 0]
    classes = np.where(np.isnan(values), -1, values).astype(np.intp)
    known = np.unique(classes[classes >= 0])
    if len(known) < 2:
        raise ConstantTargetError(f"target {dataset.target_names[0]!r} has one class only: there is nothing to learn")
    return classes, len(dataset.target.levels[0] or ())
