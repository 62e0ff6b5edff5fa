"""What further fits find for a report: as much as the budget allows, in the order in which it is worth its time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from omnirank.core.errors import OmnirankError
from omnirank.core.ranking import Ranking
from omnirank.core.registry import get_method, methods
from omnirank.core.seeds import root_entropy, stream
from omnirank.data.dataset import Dataset
from omnirank.data.notes import share_remarks
from omnirank.evaluation.curves import top_sizes
from omnirank.rankers.refits import fresh_copy, run_refits
from omnirank.report.budget import Budget
from omnirank.report.halves import FEWEST_RESAMPLES, Halves, JudgedHalf, halved, why_no_halves

AGAIN, HALVES, SHUFFLED, OTHERS, TREE = "ranking again", "halves", "shuffled target", "other methods", "tree"
NO_DATA = "the data were not given: Ranking.report(path, data), omnirank report RANKING --data FILE"
NO_BUDGET = "no further fits were asked for (budget 0)"
# Pairs of halves, at most: as many rankings as om.stability makes.
_MOST_PAIRS = 25
# Share of the budget that halves may use; the rest is for what comes after.
_SHARE_OF_HALVES = 0.75
# Fits vary: each is expected to take so many times as long as the slowest before.
_CAREFUL = 1.15
# What other methods leave for halves, which tell more: three of them take so many times as long as the ranking.
_KEPT_FOR_HALVES = 1.5
# Share that each other method may use.
_SHARE_OF_ANOTHER = 0.1
_STAGES = 6
# A tree that fits a page.
_TREE_FEATURES, _TREE_DEPTH, _TREE_LEAVES = 30, 3, 20
_SHUFFLED_KEY = 2**31 + 13
# Size of the first try that tells how long another method takes.
_TRIED_EXAMPLES, _TRIED_FEATURES = 200, 500
# One method of each family, the fastest first; tree scores of the same fit cost nothing.
_OTHER_METHODS = ("univariate", "genie3", "relief", "laplacian")


@dataclass(eq=False)
class Findings:
    """What further fits have found; what is missing has a reason.

    Attributes
    ----------
    ranking : Ranking
        The ranking, with p values where the second fit gave them.
    stages : dict of int to Ranking
        Rankings after fewer trees or iterations.
    halves : Halves or None
        Rankings of halves, judged.
    shuffled : ndarray or None
        Scores of the method for a shuffled target.
    others : dict of str to Ranking
        Rankings by other methods.
    missing : dict of str to str
        Why something is not there.
    tree : predictor or None
        A small tree over the top features.
    fitted : ranker or None
        What ranked again.
    costs : dict of str to float
        Seconds of each.
    budget : float
        Seconds that might have been spent.
    seconds : float or None
        How long the ranking took.
    repeats : bool or None
        Whether ranking again gave the same scores, bit for bit.
    no_data : str
        Why there are no data.
    """

    ranking: Ranking
    stages: dict[int, Ranking] = field(default_factory=dict)
    halves: Halves | None = None
    shuffled: np.ndarray | None = None
    others: dict[str, Ranking] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    tree: Any = None
    fitted: Any = None
    costs: dict[str, float] = field(default_factory=dict)
    budget: float = 0.0
    seconds: float | None = None
    repeats: bool | None = None
    no_data: str = NO_DATA


def find(
    ranking: Ranking,
    data: Dataset | None,
    ranker: Any,
    budget: Budget,
    n_jobs: int | None = None,
    *,
    no_data: str = NO_DATA,
) -> Findings:
    """Return what further fits find within a budget.

    Parameters
    ----------
    ranking : Ranking
        What is reported.
    data : Dataset or None
        What was ranked.
    ranker : ranker or None
        What ranked it.
    budget : Budget
        What may be spent. How long the ranking took is measured by ranking again, where it is not known.
    n_jobs : int or None
        Number of workers; None: that of the ranker.
    no_data : str
        Why there are no data.
    """
    found = Findings(ranking, costs=budget.costs, seconds=budget.own, no_data=no_data)
    why = no_data if data is None else NO_BUDGET if budget.times <= 0 else ""
    if data is not None and not why and ranker is None:
        why = "the ranker is not known: give it, report(path, data, ranker=ranker)"
    if data is None or why:
        found.missing = dict.fromkeys((AGAIN, HALVES, SHUFFLED, OTHERS, TREE), why)
        return found
    search = _Search(found, data, ranker, budget, n_jobs)
    with warnings.catch_warnings():
        # what there is to say of the data stands in the report; parts of them are no news
        warnings.simplefilter("ignore")
        for what, step in search.steps().items():
            try:
                step()
            except OmnirankError as error:
                found.missing[what] = str(error)
    found.seconds, found.budget = budget.own, budget.seconds
    return found


class _Search:
    """The further fits, one after the other."""

    def __init__(self, found: Findings, data: Dataset, ranker: Any, budget: Budget, n_jobs: int | None) -> None:
        known = ranker.get_params(deep=False)
        if n_jobs is not None and "n_jobs" in known:
            ranker = clone(ranker).set_params(n_jobs=n_jobs)
        self.found, self.data, self.ranker, self.budget = found, data, ranker, budget
        self.n_jobs = known.get("n_jobs") if n_jobs is None else n_jobs
        own = known.get("random_state")
        self.entropy = root_entropy(own if own is not None else 0)

    def steps(self) -> Mapping[str, Callable[[], None]]:
        """What is looked for, the most useful first."""
        return {
            AGAIN: self.again,
            TREE: self.tree,
            OTHERS: self.others,
            HALVES: self.halves,
            SHUFFLED: self.shuffled,
            # what is left makes stability surer
            "more halves": lambda: self.halves(1.0) if self.found.halves is not None else None,
        }

    @property
    def seconds(self) -> float:
        """How long ranking takes: the second time, where kernels are there, if there was one."""
        return self.budget.costs.get(AGAIN) or self.budget.own or 0.0

    def _ended(self, expected: float) -> str:
        return f"the budget of {_seconds(self.budget.seconds)} has ended: it would take about {_seconds(expected)}"

    def again(self) -> None:
        """Rank again, with p values where the method has some, and keep the rankings of fewer trees on the way."""
        ranker = clone(self.ranker)
        wanted = self.found.ranking.p_values is None and hasattr(ranker, "with_p_values")
        own = ranker.with_p_values() if wanted else None
        ranker = own if own is not None else ranker
        sizes = self._stages(ranker)
        if self.budget.own is not None and own is None and not sizes:
            self.found.missing[AGAIN] = "the method has no p values of its own and no trees or iterations to count"
            return
        if not self.budget.allows(self.seconds):
            self.found.missing[AGAIN] = self._ended(self.seconds)
            return
        if sizes:
            ranker = ranker.with_several(**{ranker.replicates: sizes})
        with self.budget.charged(AGAIN):
            fitted = ranker.fit(self.data)
        if self.budget.own is None:
            self.budget.own = self.budget.costs[AGAIN]
        self._take(fitted, sizes)

    def _take(self, fitted: Any, sizes: list[int]) -> None:
        before, now = self.found.ranking, fitted.ranking_
        self.found.fitted = fitted
        self.found.repeats = bool(np.array_equal(before.scores, now.scores)) and before.names == now.names
        if self.found.repeats and before.p_values is None and now.p_values is not None:
            self.found.ranking = replace(before, p_values=now.p_values, p_value_test=now.p_value_test)
        if sizes and self.found.repeats:
            self.found.stages = {size: fitted.ranking_at(**{fitted.replicates: size}) for size in sizes}
        if self.found.repeats:
            self.found.others |= {name: other for name, other in fitted.rankings_.items() if name != before.method}

    def _stages(self, ranker: Any) -> list[int]:
        """Numbers of trees or iterations at which the ranking is looked at, up to those that were made."""
        counts = getattr(ranker, "replicates", None)
        n = self.found.ranking.parameters.get(counts) if counts else None
        if not isinstance(n, int) or n < 4 or ranker.get_params(deep=False).get(counts) != n:
            return []
        return [size for size in top_sizes(n) if size > 1][-_STAGES:]

    def _how_many_halves(self, one: float, n_made: int, share: float) -> int:
        """How many more halves there is time for, if one takes so long: two, the other one of a pair, one or none."""
        limit = share if n_made >= FEWEST_RESAMPLES else 1.0
        n = 2 - n_made % 2
        if not n_made:
            # what judging costs is not known yet: the first is made alone unless there is time for twice as much
            return 2 if self.budget.allows(4 * one) else int(self.budget.allows(2 * one))
        if self.budget.allows(n * one, limit):
            return n
        return int(n_made < FEWEST_RESAMPLES and self.budget.allows(one))

    def halves(self, share: float = _SHARE_OF_HALVES) -> None:
        """Rank halves of the examples and judge them on the others; stop before one that would take too long."""
        why = why_no_halves(self.data)
        if why:
            self.found.missing[HALVES] = why
            return
        judge = JudgedHalf.of(self.data, self.entropy)
        before = () if self.found.halves is None else self.found.halves.halves
        ranker, made = fresh_copy(self.ranker), list(before)
        # until it is known better: a half takes half as long as the whole, or as long, if all have the unlabelled
        # examples
        one = self.seconds / 2 if self.data.target is None or self.data.labelled.all() else self.seconds
        if made:
            one = _CAREFUL * self.budget.costs[HALVES] / len(made)
        while len(made) < 2 * _MOST_PAIRS:
            n = self._how_many_halves(one, len(made), share)
            if not n:
                break
            spent = self.budget.spent
            with self.budget.charged(HALVES):
                items = [(i, halved(self.data, self.entropy, i // 2)[i % 2]) for i in range(len(made), len(made) + n)]
                made += run_refits(judge, ranker, items, self.n_jobs, "ranking halves")
            took = (self.budget.spent - spent) / n
            # the first reads kernels from the disk; later ones count as long as the slowest of them
            one = _CAREFUL * took if len(made) <= 2 else max(one, _CAREFUL * took)
        if len(made) < 2:
            self.found.missing[HALVES] = self._ended(2 * one)
            return
        order = self.found.ranking.order
        self.found.halves = Halves(
            tuple(made),
            self.data.feature_names,
            order,
            self.data.task,
            judge.measure,
            judge.sizes,
            judge.top,
            judge.n_neighbors,
        )

    def tree(self) -> None:
        """Grow a small tree over the top features."""
        from omnirank.ensembles.pct import PCTClassifier, PCTRegressor

        if self.data.target is None or not self.data.labelled.any():
            self.found.missing[TREE] = "there is no target to predict"
            return
        if not self.budget.allows(0.0):
            self.found.missing[TREE] = f"the budget of {_seconds(self.budget.seconds)} has ended"
            return
        kind = PCTClassifier if self.data.task in PCTClassifier.supported_tasks else PCTRegressor
        top = self.found.ranking.top(_TREE_FEATURES)
        leaf = max(2, int(self.data.labelled.sum()) // _TREE_LEAVES)
        model = kind(max_depth=_TREE_DEPTH, min_samples_leaf=leaf, pruning="auto", supervision=1.0, random_state=0)
        with self.budget.charged(TREE):
            model.fit(self.data.select_features(top))
        if model.tree_.n_leaves == 1:
            self.found.missing[TREE] = "pruning leaves no test: no small tree predicts better than a constant"
            return
        self.found.tree = model

    def shuffled(self) -> None:
        """Rank once more after the target was shuffled among the examples: scores that chance gives."""
        target = self.data.target
        if target is None:
            self.found.missing[SHUFFLED] = "there is no target to shuffle"
            return
        if not self.budget.allows(self.seconds):
            self.found.missing[SHUFFLED] = self._ended(self.seconds)
            return
        rows = np.arange(self.data.n_examples)
        labelled = np.flatnonzero(self.data.labelled)
        rows[labelled] = stream(self.entropy, _SHUFFLED_KEY).permutation(labelled)
        settings: dict[str, Any] = {"hierarchy": self.data.hierarchy, "task": self.data.task}
        mixed = share_remarks(Dataset(self.data.features, target.take(rows), **settings), self.data)
        with self.budget.charged(SHUFFLED):
            self.found.shuffled = fresh_copy(self.ranker).fit(mixed).ranking_.scores

    def others(self) -> None:
        """Rank by methods of other families, where a first try says that there is time."""
        supervision = "unsupervised" if self.data.target is None else "supervised"
        able = {method.name for method in methods(self.data.task, supervision)}
        left = [name for name in _OTHER_METHODS if name in able and name not in self.found.others]
        for name in left:
            if name == self.found.ranking.method:
                continue
            ranker = get_method(name).make()
            known = ranker.get_params(deep=False)
            ranker.set_params(**{k: v for k, v in {"random_state": 0, "n_jobs": self.n_jobs}.items() if k in known})
            expected = self._tried(ranker)
            kept = _KEPT_FOR_HALVES * self.seconds if not why_no_halves(self.data) else 0.0
            if expected > _SHARE_OF_ANOTHER * self.budget.seconds or not self.budget.allows(expected + kept):
                self.found.missing[OTHERS] = f"{name} was left out: it would take about {_seconds(expected)}"
                continue
            with self.budget.charged(OTHERS):
                self.found.others[name] = ranker.fit(self.data).ranking_
        if not self.found.others:
            self.found.missing.setdefault(OTHERS, f"no other method ranks features for {self.data.task}")

    def _tried(self, ranker: Any) -> float:
        """Seconds that a fit takes at most, from one on a part: as if it grew with the squares of both sides."""
        n, d = self.data.n_examples, self.data.n_features
        if n <= _TRIED_EXAMPLES and d <= _TRIED_FEATURES:
            return 0.0
        rng = stream(self.entropy, _SHUFFLED_KEY + 1)
        rows, columns = (np.sort(rng.permutation(k)[:most]) for k, most in ((n, _TRIED_EXAMPLES), (d, _TRIED_FEATURES)))
        part = self.data.select_features(columns).take(rows)
        for _ in range(2):  # the first time kernels are read from the disk
            before = self.budget.spent
            with self.budget.charged(OTHERS), suppress(OmnirankError):  # a class may be lost in the part
                clone(ranker).fit(part)
        return (self.budget.spent - before) * (n / len(rows) * d / len(columns)) ** 2


def _seconds(value: float) -> str:
    return f"{value:.2g} s" if value < 100 else f"{value:.0f} s"
