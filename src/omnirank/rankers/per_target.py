"""Rankings for several targets from rankings for each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from omnirank.core.errors import ConstantTargetError, ParameterError, logger
from omnirank.core.ranking.accumulators import TargetScores
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import root_entropy
from omnirank.data.dataset import Dataset
from omnirank.data.target import Target
from omnirank.data.task_registry import TaskNames, task_named
from omnirank.rankers.base import BaseRanker, WeightedRanker, recorded_of
from omnirank.rankers.refits import check_takes_weights, is_ranker


@dataclass(eq=False, repr=False)
class PerTargetRanker(WeightedRanker):
    r"""Rank features for each target alone, and average the scores over the targets.

    This turns any ranking for one target into one for several: the "single-target" version of a ranking for
    multi-target regression, and binary relevance for label sets, where each label is a class of its own (0 or 1).
    Scores are averaged without scaling. This takes one run of the ranker per target and sees no dependencies between
    targets; rankings of all targets at once are compared with it.

    Parameters
    ----------
    ranker : ranker or None
        What ranks the features for one target, with its own parameters; None is an `EnsembleRanker`.
    task, hierarchy, n_features_to_select
        As in every ranker. Of a hierarchy only the closure of the label sets is used.
    random_state : None, int, RandomState or Generator
        Seed of the ranker for every target; None leaves the ranker's own.
    n_jobs : int or None
        Number of workers of the ranker; None leaves the ranker's own.

    Attributes
    ----------
    ranking_ : Ranking
        With the scores for the single targets in ``per_target``. Targets that are constant have scores of 0 there
        and do not count in the average.

    Examples
    --------
    >>> import omnirank as om
    >>> data = om.datasets.load_sample("linnerud")
    >>> ranker = om.PerTargetRanker(om.UnivariateRanker()).fit(data)
    >>> ranker.ranking_.per_target.scores.shape
    (3, 3)
    """

    supported_tasks = TaskNames("classes", "numbers", "labels", "mixed")
    supported_supervision = ("supervised", "semi-supervised")

    ranker: BaseEstimator | None = None

    def _rank(self, dataset: Dataset, sample_weight: np.ndarray | None = None) -> dict[str, Ranking]:
        ranker = self._one_target_ranker()
        check_takes_weights(ranker, sample_weight)
        known = {} if sample_weight is None else {"sample_weight": sample_weight}
        rankings: dict[int, dict[str, Ranking]] = {}
        assert dataset.target is not None  # the supported tasks have one
        for j in dataset.target.varying:
            rankings[j] = clone(ranker).fit(_single_target(dataset, j), **known).rankings_
        if not rankings:
            first = ", ".join(map(repr, dataset.target_names[:3]))
            raise ConstantTargetError(f"every target is constant ({first}): there is nothing to learn")
        if len(rankings) < dataset.n_targets:
            logger.info("%d constant targets are left out", dataset.n_targets - len(rankings))
        names = next(iter(rankings.values())).keys()
        single = {name: {j: of_target[name] for j, of_target in rankings.items()} for name in names}
        return {name: self._mean(dataset, ranker, of_score) for name, of_score in single.items()}

    def _one_target_ranker(self) -> Any:
        from omnirank.rankers.ensemble import EnsembleRanker

        if self.ranker is not None and not is_ranker(self.ranker):
            raise ParameterError("ranker", self.ranker, "choose a ranker, such as om.ReliefRanker()")
        ranker = EnsembleRanker() if self.ranker is None else clone(self.ranker)
        own = ranker.get_params(deep=False)
        if own.get("hierarchy") is not None or own.get("task", "auto") != "auto":
            raise ParameterError("task and hierarchy are parameters of PerTargetRanker, not of its ranker")
        if self.random_state is not None:
            ranker.set_params(random_state=root_entropy(self.random_state))
        if self.n_jobs is not None:
            ranker.set_params(n_jobs=self.n_jobs)
        return ranker

    def _mean(self, dataset: Dataset, ranker: Any, single: dict[int, Ranking]) -> Ranking:
        table = np.zeros((dataset.n_targets, dataset.n_features))
        for j, ranking in single.items():
            table[j] = ranking.scores
        scores = table[sorted(single)].mean(axis=0)
        method = next(iter(single.values())).method
        recorded = ranker._recorded_parameters() if isinstance(ranker, BaseRanker) else {}
        parameters = self._recorded_parameters() | {"ranker": {"name": type(ranker).__name__} | recorded}
        return Ranking(
            dataset.feature_names,
            scores,
            f"{method}-per-target",
            parameters=parameters,
            **recorded_of(dataset),
            per_target=TargetScores(dataset.target_names, table),
        )


def _single_target(dataset: Dataset, j: int) -> Dataset:
    """The data set with target j alone; a label is a class of its own."""
    target = dataset.target
    assert target is not None
    if target.is_labels:
        column = target.select([j])
        one = Target(column.names, ((0, 1),), column.dense(), ~np.isnan(column.dense()[:, 0]))
    else:
        one = target.select([j])
    task = task_named("numbers" if one.levels[0] is None else "classes", single=True)
    return dataset._with_target(one, task)
