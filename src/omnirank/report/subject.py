"""What a report is about: a ranking and its data, and what a fixed number of further fits finds out about it."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone

from omnirank.core.errors import DataError, OmnirankError, ParameterError
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.registry import Method, get_method, methods
from omnirank.core.seeds import root_entropy, stream
from omnirank.core.text import counted
from omnirank.data.dataset import Dataset
from omnirank.data.notes import share_remarks
from omnirank.evaluation.redundancy import Redundancy, redundancy
from omnirank.evaluation.stability import Stability
from omnirank.rankers.refits import fresh_copy, run_refits, with_settings
from omnirank.relational.dataset import RelationalDataset
from omnirank.report.halves import CLEARLY, Halves, JudgedHalf, halved, why_no_halves
from omnirank.report.page import inline_svg

AGAIN, HALVES, SHUFFLED, OTHERS = "ranking again", "halves", "shuffled target", "other methods"
NO_DATA = "the data were not given: Ranking.report(path, data), omnirank report RANKING --data FILE"
# Pairs of halves: five, as in the 5x2 cross-validation of Dietterich (1998).
_N_PAIRS = 5
_SHUFFLED_KEY = 2**31 + 13
# One method of each family; scores of the same trees cost nothing.
_OTHER_METHODS = ("univariate", "genie3", "relief", "laplacian")
# Methods that compare all pairs of examples in all features, and the number of such comparisons that a report makes.
_OF_PAIRS = ("relief", "laplacian")
_MOST_COMPARISONS = 10**10
# Features whose associations are looked at: the time grows with the square of their number.
_MOST_COMPARED = 500


@dataclass(eq=False)
class Subject:
    """What a report is about: what was given, and what further fits found.

    Parameters
    ----------
    ranking : Ranking
        The ranking that is reported; with p values where a further fit gave them.
    data : Dataset or None
        What was ranked.
    ranker : ranker or None
        What ranked it.
    rankings : mapping of str to Ranking
        Further rankings that were given, by their names on the page.
    seconds : float or None
        How long the ranking took.
    command : str or None
        The command that repeats it.
    same_data : bool
        Whether the ranking has the fingerprint of the data that were given.
    no_data : str
        Why there are no data.
    database : RelationalDataset or None
        What was ranked, if it is several tables.
    halves : Halves or None
        Rankings of halves, judged.
    shuffled : ndarray or None
        Scores of the method for a shuffled target.
    others : dict of str to Ranking
        Rankings by other methods.
    repeats : bool or None
        Whether ranking again gave the same scores, bit for bit.
    missing : dict of str to str
        Why something was not found.
    """

    ranking: Ranking
    data: Dataset | None = None
    ranker: Any = None
    rankings: Mapping[str, Ranking] = field(default_factory=dict)
    seconds: float | None = None
    command: str | None = None
    same_data: bool = True
    no_data: str = NO_DATA
    database: RelationalDataset | None = None
    halves: Halves | None = None
    shuffled: np.ndarray | None = None
    others: dict[str, Ranking] = field(default_factory=dict)
    repeats: bool | None = None
    missing: dict[str, str] = field(default_factory=dict)

    @cached_property
    def redundancy(self) -> Redundancy | None:
        """Which of the best features stand for each other; None without data."""
        return None if self.data is None else redundancy(self.ranking, self.data, top=_MOST_COMPARED)

    @property
    def copies(self) -> list[Any]:
        """The groups of several features that say nearly the same."""
        return [] if self.redundancy is None else [group for group in self.redundancy.groups if group.others]

    @property
    def stability(self) -> Stability | None:
        """How much the ranks change between halves."""
        return None if self.halves is None else self.halves.stability

    @property
    def method(self) -> Method | None:
        """The method in the registry; None where it is not known there."""
        return known_method(self.ranking)

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the targets, of the data or as the ranking has them."""
        data = self.database if self.data is None else self.data
        return self.ranking.targets or () if data is None else data.target_names

    def picture(self, ax: Any, about: str) -> str:
        """Return what was drawn as an element of the page, with a title that names data, content and target."""
        title = about if self.data is None else f"{self.data.name}: {about}"
        return inline_svg(ax, f"{title}{self.of_target}")

    @property
    def of_target(self) -> str:
        """The target in words, after " for "; nothing where there is none, or none with a name."""
        if len(self.targets) > 1:
            labels = self.data is not None and self.data.target is not None and self.data.target.is_labels
            return f" for {counted(len(self.targets), 'label' if labels else 'target')}"
        # "y" is what a target without a name is called
        return f" for {self.targets[0]}" if self.targets and self.targets[0] != "y" else ""

    @property
    def n_judged(self) -> int:
        """Number of examples that count: all, or with a target those that are labelled."""
        assert self.data is not None
        return self.data.n_examples if self.data.target is None else int(self.data.labelled.sum())

    @property
    def n_above_chance(self) -> int | None:
        """How many features score above chance, by p values or a shuffled target; None where nothing tells.

        Places beyond are chance, and methods cannot agree on them.
        """
        if self.ranking.p_values is not None:
            return len(self.ranking.relevant())
        return None if self.shuffled is None else int((self.ranking.scores > self.shuffled.max()).sum())

    @property
    def why_no_cut(self) -> str:
        """Why no number of features is suggested; "" where some beat chance, or the ranking beats equal weights."""
        above, halves = self.n_above_chance, self.halves
        if above == 0:
            return "no feature scores above chance"
        if halves is not None and not halves.curve.beats_constant:
            return halves.how_many
        if halves is None or halves.wins >= CLEARLY * halves.n:
            return ""
        if halves.losses >= CLEARLY * halves.n:
            return f"the ranking predicts worse than {halves.baseline}"
        return f"the ranking predicts about as well as {halves.baseline}" if above is None else ""

    @property
    def cut(self) -> tuple[int, str]:
        """How many features to keep (0: none is suggested), and why."""
        if self.why_no_cut:
            return 0, f"There is no cut to suggest: {self.why_no_cut}."
        if self.halves is not None:
            n = self.halves.curve.chosen_size
            if n == len(self.ranking):
                return n, f"There is no cut to suggest: {self.halves.how_many}."
            return n, f"The suggested cut is after {n}: {self.halves.how_many}."
        above = self.n_above_chance
        if above is None:
            return 0, ""
        how = "that score significantly above chance"
        if self.ranking.p_values is None:
            how = "that score more than any with a shuffled target"
        return above, f"The suggested cut is after {above}, the features {how}."


def seed_of(ranking: Ranking) -> int | None:
    """Return the seed of a ranking: as given, or as it was drawn where none was given; None where none was used."""
    given = ranking.parameters.get("random_state")
    if given is None and ranking.seeds is not None:
        return ranking.seeds.ranges[0][0]
    return None if given is None else int(given)


def known_method(ranking: Ranking) -> Method | None:
    """Return the registered method of a ranking, or None."""
    try:
        return get_method(ranking.method)
    except ParameterError:
        return None


def remade_ranker(ranking: Ranking) -> Any:
    """Return a ranker with the parameters that a ranking records, not fitted.

    Raises
    ------
    DataError
        If what is recorded does not suffice; the message says why.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.report.subject import remade_ranker
    >>> ranking = om.EnsembleRanker(n_trees=5, random_state=3).fit(om.datasets.load_sample("iris")).ranking_
    >>> remade_ranker(ranking)
    EnsembleRanker(n_trees=5, random_state=3)
    """
    method = known_method(ranking)
    if method is None:
        raise DataError(f"{ranking.method!r} is no registered method that could rank again")
    known = inspect.signature(method.load()).parameters
    recorded = {name: value for name, value in ranking.parameters.items() if name in known}
    if recorded.get("feature_weights") is not None:
        raise DataError("the ranking was made with weights of features, of which it keeps a digest only")
    if "random_state" in recorded:
        # one that was drawn when the ranking was made is known by now
        recorded["random_state"] = seed_of(ranking)
    return method.make(**{name: value for name, value in recorded.items() if name not in method.parameters})


def fit_further(subject: Subject, *, fits: bool = True, n_jobs: int | None = None) -> None:
    """Fill in what further fits find; what they do not find has a reason.

    Parameters
    ----------
    subject : Subject
        What was given.
    fits : bool
        Whether anything is fitted.
    n_jobs : int or None
        Number of workers; None: that of the ranker.
    """
    why = subject.no_data if subject.data is None else "" if fits else "no further fits were asked for"
    if not why and subject.ranker is None:
        why = "the ranker is not known: give it, report(path, data, ranker=ranker)"
    if subject.data is None or why:
        subject.missing = dict.fromkeys((AGAIN, HALVES, SHUFFLED, OTHERS), why)
        return
    further = _FurtherFits(subject, subject.data, n_jobs)
    steps = {AGAIN: further.again, OTHERS: further.others, HALVES: further.halves, SHUFFLED: further.shuffled}
    with warnings.catch_warnings():
        # what there is to say of the data stands in the report; parts of them are no news
        warnings.simplefilter("ignore")
        for what, step in steps.items():
            try:
                step()
            except OmnirankError as error:
                subject.missing[what] = str(error)


class _FurtherFits:
    """The further fits: each fills in a part of the subject, or raises why it does not."""

    def __init__(self, subject: Subject, data: Dataset, n_jobs: int | None) -> None:
        ranker = clone(subject.ranker)
        self.n_jobs = getattr(ranker, "n_jobs", None) if n_jobs is None else n_jobs
        self.subject, self.data, self.ranker = subject, data, with_settings(ranker, n_jobs=self.n_jobs)
        own = getattr(ranker, "random_state", None)
        self.entropy = root_entropy(own if own is not None else 0)

    def again(self) -> None:
        """Rank again, with p values where the method has some."""
        subject, ranker = self.subject, self.ranker
        if subject.ranking.p_values is None and hasattr(ranker, "with_p_values"):
            ranker = ranker.with_p_values() or ranker
        fitted = clone(ranker).fit(self.data)
        before, now = subject.ranking, fitted.ranking_
        if not hasattr(subject.ranker, "ranking_"):
            # one that was made anew tells what its fit found only now
            subject.ranker = fitted
        subject.repeats = bool(np.array_equal(before.scores, now.scores)) and before.names == now.names
        if not subject.repeats:
            return
        if before.p_values is None and now.p_values is not None:
            subject.ranking = replace(before, p_values=now.p_values, p_value_test=now.p_value_test)
        subject.others |= {name: other for name, other in fitted.rankings_.items() if name != before.method}

    def others(self) -> None:
        """Rank by methods of other families, unless there are too many pairs of examples to compare."""
        subject, data = self.subject, self.data
        able = {method.name for method in methods(data.task, "unsupervised" if data.target is None else "supervised")}
        able -= {subject.ranking.method, *subject.others}
        for name in filter(able.__contains__, _OTHER_METHODS):
            if name in _OF_PAIRS and data.n_examples**2 * data.n_features > _MOST_COMPARISONS:
                subject.missing[OTHERS] = f"{name} was left out: there are too many pairs of examples to compare"
                continue
            ranker = with_settings(get_method(name).make(), random_state=0, n_jobs=self.n_jobs)
            subject.others[name] = ranker.fit(data).ranking_
        if not subject.others:
            subject.missing.setdefault(OTHERS, f"no other method ranks features for {data.task}")

    def halves(self) -> None:
        """Rank halves of the examples and judge them on the others."""
        why = why_no_halves(self.data)
        if why:
            raise DataError(why)
        judge = JudgedHalf.of(self.data, self.entropy)
        folds = [fold for pair in range(_N_PAIRS) for fold in halved(self.data, self.entropy, pair)]
        halves = run_refits(judge, fresh_copy(self.ranker), list(enumerate(folds)), self.n_jobs, "ranking halves")
        self.subject.halves = Halves(tuple(halves), self.subject.ranking.order, judge)

    def shuffled(self) -> None:
        """Rank once more after the target was shuffled among the examples: scores that chance gives."""
        target = self.data.target
        if target is None:
            raise DataError("there is no target to shuffle")
        rows = np.arange(self.data.n_examples)
        labelled = np.flatnonzero(self.data.labelled)
        rows[labelled] = stream(self.entropy, _SHUFFLED_KEY).permutation(labelled)
        settings: dict[str, Any] = {"hierarchy": self.data.hierarchy, "task": self.data.task}
        mixed = share_remarks(Dataset(self.data.features, target.take(rows), **settings), self.data)
        self.subject.shuffled = fresh_copy(self.ranker).fit(mixed).ranking_.scores
