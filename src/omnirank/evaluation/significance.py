"""Which features are more than chance: p values for the scores of any ranker, `omnirank.significance`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.multiplicity import COPIES_TEST
from omnirank.core.parallel import progress_bars, run_parallel
from omnirank.core.parameters import JOBS, SEED, check, choice, count
from omnirank.core.ranking import Ranking
from omnirank.core.seeds import kernel_seed, root_entropy, stream
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.containers import FeaturesLike, TargetLike
from omnirank.data.dataset import Dataset
from omnirank.ensembles.feature_weights import check_feature_weights
from omnirank.evaluation.permuted_copies import copies_p_values, feature_kinds, with_permuted_copies
from omnirank.rankers.refits import check_ranker, check_takes_weights, ranker_and_data, seeded
from omnirank.shards.dataset import ShardedDataset

# Copies of all features: the best of them is 1 / (25 D + 1), below 0.05 / D, so that one feature alone can be
# significant among D after any correction.
_ROUNDS = 25


def significance(
    ranker: BaseEstimator,
    X: FeaturesLike | ShardedDataset,
    y: TargetLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    method: str = "auto",
    n_rounds: int | str = "auto",
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Ranking:
    """Rank the features with p values: how probable is such a score for a feature that tells nothing?

    The unbiased score of trees (``EnsembleRanker(importance="unbiased")``) has p values of its own, for which nothing
    is fitted twice. For any other ranker, whatever its scores are and for any target, each feature gets a permuted
    copy, and the ranker ranks features and copies together, several times: a feature is significant if its score stands
    out from those of its copies (`omnirank.evaluation.permuted_copies.copies_p_values` has the formula). With a target,
    and without one, the null is that a feature is independent of the target and of all other features. A feature that
    only goes along with a relevant one is not independent, and may be significant.

    Parameters
    ----------
    ranker : estimator
        Any ranker; it is not changed. Its parameters, such as the number of trees, are those of all fits.
    X, y
        A Dataset, data in parts, or features and target (None: without target), as in :meth:`BaseRanker.fit`. Data that
        do not fit in memory have p values of the ranker's own only.
    sample_weight : array-like of shape (n_examples,), optional
        Weights of the examples, for rankers that take them.
    groups : array-like of shape (n_examples,), optional
        Groups of examples that are not independent of each other, as in :meth:`Dataset.with_groups`: bootstraps draw
        whole groups, and values of copies are permuted by whole groups. None: examples that repeat are groups.
    method : {"auto", "analytic", "copies"}
        "analytic": the ranker's own p values, an error if it has none. "copies": permuted copies. "auto": the ranker's
        own where it has some.
    n_rounds : int or "auto"
        How often copies are made, at least 3; "auto" is 25. A round costs a fit of twice the features.
    random_state : None, int, RandomState or Generator
        Seed of the copies, and of the ranker in each round; None: that of the ranker.
    n_jobs : int or None
        Number of workers; changes no bit. None: that of the ranker.

    Returns
    -------
    Ranking
        The ranking of the ranker, with ``p_values`` and ``p_value_test``; `Ranking.relevant` names the significant
        features.

    References
    ----------
    Kursa, Rudnicki: Feature selection with the Boruta package. J. Statistical Software 36(11), 2010 (permuted copies
    beside the features). Altmann et al.: Permutation importance: a corrected feature importance measure.
    Bioinformatics 26(10), 2010 (a null for each feature).

    Examples
    --------
    >>> import omnirank as om
    >>> data, truth = om.datasets.make_friedman(200, random_state=0, shuffle=False)
    >>> trees = om.EnsembleRanker("unbiased", ensemble="extra-trees", random_state=0)
    >>> sorted(om.significance(trees, data).relevant())
    ['x1', 'x2', 'x3', 'x4', 'x5']
    >>> om.significance(om.UnivariateRanker(), data, random_state=0).relevant(correction="family-wise")
    ['x4', 'x2', 'x5', 'x1']
    """
    check("method", method, choice("auto", "analytic", "copies"))
    check("n_rounds", n_rounds, choice("auto") | count(3))
    check("random_state", random_state, SEED)
    check("n_jobs", n_jobs, JOBS)
    given = {} if sample_weight is None else {"sample_weight": sample_weight}
    if isinstance(X, ShardedDataset) and not X.fits_in_memory:
        check_ranker(ranker)
        if groups is not None:
            raise DataError(f"groups need all examples in memory: {X.why_not_in_memory}")
        own = _own_p_values(clone(ranker), method, random_state, n_jobs)
        if own is None:
            raise DataError(
                f"permuted copies need all examples in memory: {X.why_not_in_memory}; or ask om.EnsembleRanker(), "
                "whose unbiased score has p values of its own"
            )
        return _ranking(own.fit(X, y, **given))
    ranker, dataset = ranker_and_data(ranker, X, y)
    dataset = dataset if groups is None else dataset.with_groups(groups)
    check_takes_weights(ranker, sample_weight)
    n_jobs = getattr(ranker, "n_jobs", None) if n_jobs is None else n_jobs
    own = _own_p_values(ranker, method, random_state, n_jobs)
    if own is not None:
        return _ranking(own.fit(dataset, **given))
    ranker = _with(ranker, n_jobs=n_jobs)
    random_state = seeded(ranker, random_state)
    seed = getattr(ranker, "random_state", None) if random_state is None else random_state
    entropy = root_entropy(seed)
    ranking = clone(ranker).fit(dataset, **given).ranking_
    n = _ROUNDS if n_rounds == "auto" else int(n_rounds)
    one_round = _Round(ranker, dataset, entropy, given)
    rounds = np.array(run_parallel(one_round, range(n), n_jobs, description="ranking permuted copies"))
    scores, copies = np.split(rounds, 2, axis=1)
    p_values = copies_p_values(scores, copies, feature_kinds(dataset.features))
    return replace(ranking, p_values=p_values, p_value_test=COPIES_TEST)


def _own_p_values(ranker: Any, method: str, random_state: RandomState, n_jobs: int | None) -> Any:
    """The ranker whose rankings have p values of their own, if that is asked for and possible; else None."""
    if method == "copies":
        return None
    own = ranker.with_p_values() if hasattr(ranker, "with_p_values") else None
    if own is None:
        if method == "analytic":
            advice = f"{type(ranker).__name__} has no p values of its own: choose 'copies'"
            raise ParameterError("method", method, advice)
        return None
    seeded(own, random_state)
    return own if n_jobs is None else _with(own, n_jobs=n_jobs)


def _ranking(fitted: Any) -> Ranking:
    found: Ranking = fitted.ranking_
    return found


@dataclass(frozen=True, eq=False)
class _Round:
    """Ranks the features beside a permuted copy of each; picklable."""

    ranker: Any
    dataset: Dataset
    entropy: int
    given: dict[str, Any]

    def __call__(self, i: int) -> np.ndarray:
        """Return the scores of the features, then those of their copies."""
        doubled = with_permuted_copies(self.dataset, stream(self.entropy, i))
        settings: dict[str, Any] = {"random_state": int(kernel_seed(self.entropy, i)), "n_jobs": 1}
        weights = check_feature_weights(getattr(self.ranker, "feature_weights", None), self.dataset)
        if weights is not None:
            settings["feature_weights"] = np.tile(np.maximum(weights, 0.0), 2)
        with progress_bars(False):
            ranking = _with(clone(self.ranker), **settings).fit(doubled, **self.given).ranking_
        found: np.ndarray = ranking.scores
        return found


def _with(ranker: Any, **values: Any) -> Any:
    """The ranker with those of the values for which it has parameters."""
    known = ranker.get_params(deep=False)
    return ranker.set_params(**{name: value for name, value in values.items() if name in known})
