"""How much each feature counts among the clustering columns of semi-supervised and unsupervised trees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from omnirank.core.errors import DataError, setting
from omnirank.core.parameters import check_weights
from omnirank.core.ranking import Ranking
from omnirank.data.dataset import Dataset
from omnirank.ensembles.plan import GrowingRules, make_plan
from omnirank.ensembles.score_sums import mean_scores
from omnirank.ensembles.supervision import labelled_part

__all__ = ["check_feature_weights", "resolve_feature_weights"]

# What "auto" takes.
_TREES = 100
_SCORE = "permutation"


def resolve_feature_weights(
    given: Any,
    dataset: Dataset,
    rules: GrowingRules,
    entropy: int,
    sample_weight: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> np.ndarray | None:
    """Return the weights of the features, the largest of them 1; None where all count the same.

    Parameters
    ----------
    given : None, "auto", Ranking or array-like
        Weights, or the ranking whose scores they are: negative ones count as 0, and all as 1 where none is positive.
        "auto": the permutation scores of a supervised random forest on the labelled examples.
    dataset, rules, entropy, sample_weight, n_jobs
        As in :func:`omnirank.ensembles.plan.make_plan`.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.ensembles.feature_weights import resolve_feature_weights
    >>> from omnirank.ensembles.plan import GrowingRules
    >>> data = om.datasets.load_sample("linnerud")
    >>> resolve_feature_weights([3, 6, 0], data, GrowingRules(), 0).tolist()
    [0.5, 1.0, 0.0]
    """
    weights = check_feature_weights(given, dataset)
    if isinstance(given, str):
        if dataset.target is None:
            raise DataError(f"{setting('feature_weights', 'auto')} needs labelled examples, but there is no target")
        weights = _supervised_scores(dataset, rules, entropy, sample_weight, n_jobs)
    return None if weights is None else _relative(weights)


def check_feature_weights(given: Any, dataset: Dataset) -> np.ndarray | None:
    """Return the numbers in ``feature_weights``, None where none are given; an error where they are wrong.

    Weights count in semi-supervised and unsupervised trees only; wrong ones are told in all of them.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.ensembles.feature_weights import check_feature_weights
    >>> check_feature_weights([1, -1, 0], om.datasets.load_sample("linnerud"))
    Traceback (most recent call last):
    omnirank.core.errors.ParameterError: feature_weights=[1, -1, 0]: choose None, 'auto', a ranking or 3 numbers, ...
    """
    if given is None or (isinstance(given, str) and given == "auto"):
        return None
    if isinstance(given, Ranking):
        scores = dict(zip(given.names, given.scores, strict=True))
        lacking = [name for name in dataset.feature_names if name not in scores]
        if lacking:
            raise DataError(f"feature_weights: the ranking has no feature {lacking[0]!r}")
        return np.array([scores[name] for name in dataset.feature_names])
    return check_weights("feature_weights", given, dataset.n_features, "feature", "None, 'auto', a ranking or ")


def _supervised_scores(
    dataset: Dataset, rules: GrowingRules, entropy: int, weight: np.ndarray | None, n_jobs: int | None
) -> np.ndarray:
    part, own = labelled_part(dataset, weight)
    supervised = replace(rules, ensemble="random-forest", bootstrap=True, max_features=None, supervision=1.0)
    plan = make_plan(part, supervised, entropy, own, n_jobs)
    return mean_scores(plan, (_SCORE,), _TREES, n_jobs, "weighing features")[_SCORE]


def _relative(scores: np.ndarray) -> np.ndarray:
    clipped = np.maximum(scores, 0.0)
    top = clipped.max(initial=0.0)
    return clipped / top if top > 0 else np.ones(len(scores))
