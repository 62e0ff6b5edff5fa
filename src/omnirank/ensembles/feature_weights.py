"""How much each feature counts among the clustering columns of semi-supervised and unsupervised trees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.ranking import Ranking
from omnirank.data.dataset import Dataset
from omnirank.ensembles.plan import GrowingRules, make_plan
from omnirank.ensembles.score_sums import mean_scores
from omnirank.ensembles.supervision import labelled_part

__all__ = ["resolve_feature_weights"]

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
    if given is None:
        return None
    if isinstance(given, str):
        if given != "auto":
            raise ParameterError(f"feature_weights={given!r}: choose None, 'auto', a ranking or one number a feature")
        if dataset.target is None:
            raise DataError("feature_weights='auto' needs labelled examples, but there is no target")
        return _relative(_supervised_scores(dataset, rules, entropy, sample_weight, n_jobs))
    if isinstance(given, Ranking):
        scores = dict(zip(given.names, given.scores, strict=True))
        lacking = [name for name in dataset.feature_names if name not in scores]
        if lacking:
            raise DataError(f"feature_weights: the ranking has no feature {lacking[0]!r}")
        return _relative(np.array([scores[name] for name in dataset.feature_names]))
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape != (dataset.n_features,):
        raise ParameterError(f"feature_weights has shape {weights.shape} for {dataset.n_features} features")
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ParameterError("feature_weights must be finite, not negative and not all zero")
    return _relative(weights)


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
