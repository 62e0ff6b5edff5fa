"""How much each feature counts among the clustering columns of semi-supervised and unsupervised trees."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np

from omnirank.core.errors import DataError, setting
from omnirank.core.parameters import check_weights
from omnirank.core.ranking.ranking import Ranking
from omnirank.data.dataset import Dataset
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.ensembles.score_sums import mean_scores

# What "auto" takes.
_TREES = 100
_SCORE = "permutation"


def resolve_feature_weights(given: Any, data: GrowingData, rules: GrowingRules) -> GrowingData:
    """Return the data with the weights of the features, the largest of them 1; None where all count the same.

    Parameters
    ----------
    given : None, "auto", Ranking or array-like
        Weights, or the ranking whose scores they are: negative ones count as 0, and all as 1 where none is positive.
        "auto": the permutation scores of a supervised random forest on the labelled examples.
    data : GrowingData
        The examples.
    rules : GrowingRules
        How trees are grown.

    References
    ----------
    Levatic, Ceci, Kocev, Dzeroski: Semi-supervised predictive clustering trees for (hierarchical) multi-label
    classification. International Journal of Intelligent Systems, 2024. Sec. 4.2.1, Eq. (10).

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.ensembles.feature_weights import resolve_feature_weights
    >>> from omnirank.ensembles.plan import GrowingData, GrowingRules
    >>> data = GrowingData(om.datasets.load_sample("linnerud"), entropy=0)
    >>> resolve_feature_weights([3, 6, 0], data, GrowingRules()).feature_weights.tolist()
    [0.5, 1.0, 0.0]
    """
    weights = check_feature_weights(given, data.dataset)
    if isinstance(given, str):
        if data.dataset.target is None:
            raise DataError(f"{setting('feature_weights', 'auto')} needs labelled examples, but there is no target")
        supervised = replace(rules, ensemble="random-forest", bootstrap=True, max_features=None, supervision=1.0)
        plan = data.labelled.plan(supervised)
        weights = mean_scores(plan, (_SCORE,), _TREES, data.n_jobs, "weighing features")[_SCORE]
    return data if weights is None else replace(data, feature_weights=_relative(weights))


def check_feature_weights(given: Any, dataset: Dataset) -> np.ndarray | None:
    """Return the numbers in ``feature_weights``, None where none are given; an error where they are wrong.

    Weights count only in semi-supervised and unsupervised trees; wrong ones are an error in all trees.

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


def weights_digest(given: Any) -> Any:
    """Return what a file holds of ``feature_weights``: None or "auto", or no array but what identifies it."""
    if given is None or isinstance(given, str):
        return given
    numbers = given.scores if isinstance(given, Ranking) else np.asarray(given, dtype=np.float64)
    return hashlib.blake2b(numbers.tobytes(), digest_size=8).hexdigest()


def _relative(scores: np.ndarray) -> np.ndarray:
    clipped = np.maximum(scores, 0.0)
    top = clipped.max(initial=0.0)
    return clipped / top if top > 0 else np.ones(len(scores))
