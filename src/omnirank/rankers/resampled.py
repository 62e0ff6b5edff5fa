"""Any ranking, made many times: on resamples of the examples, on some of the features, for some of the targets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.stats import rankdata
from sklearn.base import BaseEstimator

from omnirank.core.errors import ParameterError
from omnirank.core.immutable import which_names
from omnirank.core.parameters import Domain, choice, count, share
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.registry import make_ranker
from omnirank.core.seeds import root_entropy, stream
from omnirank.data.dataset import Dataset, strata
from omnirank.data.resampling import resampled_rows
from omnirank.data.task_registry import task_named
from omnirank.rankers.base import BaseRanker, WeightedRanker, recorded_of
from omnirank.rankers.refits import (
    check_takes_weights,
    fresh_copy,
    is_ranker,
    ranking_of_part,
    reseeded,
    run_refits,
)

AGGREGATES = ("mean", "rank-mean")
# Draws of each feature that the number of iterations is for, and the probability to miss it in each tenth of them.
_TIMES, _MISSED = 10, 0.01
_SOME = choice(None, "sqrt") | share(above=0)


class Resampling(BaseRanker):
    """What rankers that resample share: subclasses say what is drawn, by parameters or for good."""

    base: BaseEstimator | str
    examples: str | None
    example_share: float
    feature_share: float | str | None
    label_share: float | str | None
    n_iterations: int | str
    aggregate: str

    _parameter_checks: ClassVar[dict[str, Domain]] = {
        "examples": choice(None, "bootstrap", "labelled-bootstrap", "subsample"),
        "example_share": share(above=0, below=1),
        "feature_share": _SOME,
        "label_share": _SOME,
        "n_iterations": choice("auto") | count(1),
        "aggregate": choice(*AGGREGATES),
    }

    def _rank(self, dataset: Dataset, sample_weight: np.ndarray | None = None) -> Ranking:
        base = self._base_ranker()
        check_takes_weights(base, sample_weight)
        n_features = dataset.n_features
        entropy = root_entropy(self.random_state)
        wanted = self.n_iterations
        if isinstance(wanted, str):
            wanted = automatic_iterations(_share_of(self.feature_share, n_features))
        draws = feature_draws(n_features, _part(self.feature_share, n_features), int(wanted), entropy)
        ranked = _Replicate(
            dataset,
            sample_weight,
            entropy,
            self.examples,
            self.example_share,
            None if self.label_share is None else _part(self.label_share, dataset.n_targets),
        )
        replicates = run_refits(ranked, base, list(enumerate(draws)), self.n_jobs, "ranking resamples")
        self.n_iterations_ = len(draws)
        scores, errors = joined_scores(draws, [one.scores for one in replicates], n_features, self.aggregate)
        if replicates[0].negative and self.aggregate != "rank-mean":
            scores = scores - (scores.max() + scores.min())
        # worst in every replicate, they need not be the worst on average: replicates have other features
        constant = recorded_of(dataset)["constant"]
        scores[which_names(dataset.feature_names, constant)] = scores.min()
        return self._ranking(
            dataset, scores, self._method(max(one.method for one in replicates)), standard_errors=errors
        )

    def _method(self, base: str) -> str:
        """Name of the method, where the base ranker's is that."""
        return f"{base}-resampled"

    def _base_ranker(self) -> Any:
        if not isinstance(self.base, str) and not is_ranker(self.base):
            raise ParameterError("base", self.base, "choose a ranker, or the name of a method, such as 'relief'")
        base = make_ranker(self.base) if isinstance(self.base, str) else self.base
        own = base.get_params(deep=False)
        if own.get("hierarchy") is not None or own.get("task", "auto") != "auto":
            raise ParameterError(f"task and hierarchy are parameters of {type(self).__name__}, not of its base ranker")
        return fresh_copy(base)

    def _recorded_parameters(self) -> dict[str, Any]:
        base = self._base_ranker()
        own = base._recorded_parameters() if isinstance(base, BaseRanker) else {}
        return super()._recorded_parameters() | {"base": {"name": type(base).__name__} | own}


@dataclass(eq=False, repr=False)
class ResampledRanker(Resampling, WeightedRanker):
    r"""Rank features many times, on parts of the data drawn at random, and join the scores.

    Each replicate draws examples, features and targets (each of them, or not), and ranks the features that it drew. The
    score of a feature is the mean over the replicates in which it is. Rankings become stabler by this, and
    have standard errors, whatever the method.

    Parameters
    ----------
    base : ranker or str
        What ranks the features in each replicate: a ranker, or the name of a method.
    examples : {"bootstrap", "labelled-bootstrap", "subsample"} or None
        As many examples as there are, drawn with replacement, by class, labelled and unlabelled ones; the same, but
        with all unlabelled examples as they are; a share of them, drawn without replacement; or all.
    example_share : float
        Share of the examples in a subsample.
    feature_share : float, "sqrt" or None
        Share of the features in a replicate; "sqrt": as many as the square root of their number; None: all.
    label_share : float, "sqrt" or None
        The same for labels, or several targets. Of a hierarchy only the closure of the label sets is used then.
    n_iterations : int or "auto"
        Number of replicates; "auto" is :math:`10 \lceil \log 0.01 / \log(1 - q) \rceil` where a replicate ranks a share
        q of the features: a tenth of them misses a feature with a probability of 1 %. With all features it is 10. It is
        raised until each feature is in two replicates.
    aggregate : {"mean", "rank-mean"}
        What scores become: their mean; or the mean of places, from 0 for the last feature of a replicate to 1 for the
        first, where scores of different replicates cannot be compared.
    task, hierarchy, n_features_to_select
        As in every ranker.
    random_state : None, int, RandomState or Generator
        Seed of the draws, and of the base ranker in each replicate.
    n_jobs : int or None
        Number of workers; at most two replicates are ranked at once, and what is left over works inside of them.

    A method whose small scores are good turns them by their largest and smallest one. These are others in every
    replicate, so that its scores (``criterion_``) are joined as they are, and turned in the end.

    Attributes
    ----------
    n_iterations_ : int
        Number of replicates.

    Notes
    -----
    A bootstrap sample has examples twice, which are each other's nearest neighbours: methods with neighbours are better
    served by subsamples (`omnirank.stability` says more).

    References
    ----------
    Alalga, Benabdeslem, Mansouri: 3-3FS: ensemble method for semi-supervised multi-label feature selection. Knowledge
    and Information Systems 63, 2021.

    Examples
    --------
    >>> import omnirank as om
    >>> data, truth = om.datasets.make_regression(200, n_relevant=2, n_irrelevant=8, random_state=1)
    >>> ranker = om.ResampledRanker("univariate", feature_share="sqrt", random_state=0).fit(data)
    >>> ranker.n_iterations_, bool(truth.relevant[ranker.ranking_.order[:2]].all())
    (130, True)
    >>> ranker.ranking_.standard_errors.shape
    (10,)
    """

    base: BaseEstimator | str = "univariate"
    examples: str | None = "bootstrap"
    example_share: float = 0.5
    feature_share: float | str | None = None
    label_share: float | str | None = None
    n_iterations: int | str = "auto"
    aggregate: str = "mean"


def _share_of(wanted: float | str | None, n: int) -> float:
    if wanted is None:
        return 1.0
    return 1 / math.sqrt(n) if isinstance(wanted, str) else _part(wanted, n) / n


def _part(wanted: float | str | None, n: int) -> int:
    """How many of n that is: at least one."""
    if wanted is None:
        return n
    return max(1, round(math.sqrt(n) if isinstance(wanted, str) else float(wanted) * n))


class _Scores(NamedTuple):
    """Scores of one replicate, larger is better; they are negative where small ones were good."""

    method: str
    scores: np.ndarray
    negative: bool


@dataclass(frozen=True, eq=False)
class _Replicate:
    """Ranks some features on drawn examples and targets."""

    dataset: Dataset
    sample_weight: np.ndarray | None
    entropy: int
    examples: str | None
    example_share: float
    n_targets: int | None

    def __call__(self, ranker: Any, item: tuple[int, np.ndarray]) -> _Scores:
        i, features = item
        rng = stream(self.entropy, 2 * i + 1)
        rows = self._rows(rng)
        part = self.dataset if rows is None else self.dataset.take(rows)
        if len(features) < part.n_features:
            part = part.select_features(features)
        if self.n_targets is not None and self.n_targets < part.n_targets:
            part = _with_targets(part, np.sort(rng.choice(part.n_targets, self.n_targets, replace=False)))
        weights = {}
        if self.sample_weight is not None:
            weights["sample_weight"] = self.sample_weight if rows is None else self.sample_weight[rows]
        ranker = reseeded(ranker, rng)
        ranking = ranking_of_part(ranker, part, self.dataset, **weights)
        criterion = getattr(ranker, "criterion_", None)
        return _Scores(ranking.method, ranking.scores if criterion is None else -criterion, criterion is not None)

    def _rows(self, rng: np.random.Generator) -> np.ndarray | None:
        """The drawn examples, ascending; None: all."""
        if self.examples is None:
            return None
        if self.examples == "subsample":
            return resampled_rows(strata(self.dataset), self.example_share, rng)
        if self.examples == "bootstrap" or self.dataset.target is None:
            return resampled_rows(strata(self.dataset), None, rng)
        labelled = np.flatnonzero(self.dataset.labelled)
        drawn = labelled[resampled_rows(strata(self.dataset)[labelled], None, rng)]
        return np.sort(np.concatenate([drawn, np.flatnonzero(~self.dataset.labelled)]))


def _with_targets(dataset: Dataset, chosen: np.ndarray) -> Dataset:
    """The data set with some of its targets; labels of a hierarchy are plain labels then."""
    target = dataset.target
    assert target is not None  # there are targets to choose from
    some = target.select(chosen)
    kinds = {levels is None for levels in some.levels}
    if target.is_labels:
        task = task_named("labels")
    elif len(kinds) > 1:
        task = dataset.task
    else:
        task = task_named("numbers" if kinds == {True} else "classes", single=len(chosen) == 1)
    return Dataset(dataset.features, some, task=task, feature_groups=dataset.feature_groups, name=dataset.name)


# -- draws of features, and one score per feature in the end --------------------------------------------------


def automatic_iterations(share: float) -> int:
    """Return 10 ceil(log 0.01 / log(1 - share)): a tenth of them miss a feature with a probability of 1 %.

    Parameters
    ----------
    share : float
        Share of the features that each replicate ranks.

    Examples
    --------
    >>> from omnirank.rankers.resampled import automatic_iterations
    >>> automatic_iterations(0.1), automatic_iterations(1.0)
    (440, 10)
    """
    return _TIMES * (1 if share >= 1 else max(1, math.ceil(math.log(_MISSED) / math.log1p(-share))))


def feature_draws(n_features: int, size: int, n_iterations: int, entropy: int) -> list[np.ndarray]:
    """Return the features of each replicate, ascending.

    There are more replicates than asked for where features are left: each is in two of them at least (in one, if one
    replicate was asked for), so that it has a score and a standard error. The added ones draw from these first.

    Parameters
    ----------
    n_features, size : int
        Number of features, of all and of one replicate.
    n_iterations : int
        Number of replicates.
    entropy : int
        Seed; replicate i has the stream of key 2i.

    Examples
    --------
    >>> from omnirank.rankers.resampled import feature_draws
    >>> [len(draw) for draw in feature_draws(10, 3, 1, 0)]
    [3, 3, 3, 3]
    """
    draws: list[np.ndarray] = []
    counts = np.zeros(n_features, dtype=np.intp)
    least = min(2, n_iterations)
    while len(draws) < n_iterations or counts.min() < least:
        order = stream(entropy, 2 * len(draws)).permutation(n_features)
        if len(draws) >= n_iterations:
            order = order[np.argsort(counts[order] >= least, kind="stable")]
        draws.append(np.sort(order[:size]))
        counts[draws[-1]] += 1
    return draws


def joined_scores(
    draws: Sequence[np.ndarray], scores: Sequence[np.ndarray], n_features: int, aggregate: str
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return one score per feature over the replicates in which it is, and its standard error.

    Parameters
    ----------
    draws : sequence of ndarray
        Features of each replicate; each feature is in one of them at least.
    scores : sequence of ndarray
        Scores of these.
    n_features : int
        Number of all features.
    aggregate : {"mean", "rank-mean"}
        Mean of the scores; or of the places, from 0 for the last to 1 for the first of a replicate.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.rankers.resampled import joined_scores
    >>> draws = [np.array([0, 1]), np.array([0, 1])]
    >>> scores, errors = joined_scores(draws, [np.array([1.0, 0.0]), np.array([3.0, 0.0])], 2, "mean")
    >>> scores.tolist(), errors.tolist()
    ([2.0, 0.0], [1.0, 0.0])
    """
    owner = np.concatenate(draws)
    values = np.concatenate([_places(own) for own in scores] if aggregate == "rank-mean" else list(scores))
    counts = np.bincount(owner, minlength=n_features)
    means = np.bincount(owner, values, minlength=n_features) / counts
    if counts.min() < 2:
        return means, None
    squares = np.bincount(owner, (values - means[owner]) ** 2, minlength=n_features)
    return means, np.sqrt(squares / (counts - 1) / counts)


def _places(scores: np.ndarray) -> np.ndarray:
    """Place of each score among all: 1 for the largest, 0 for the smallest; one score alone is in the middle."""
    if len(scores) == 1:
        return np.array([0.5])
    return np.asarray((rankdata(scores) - 1) / (len(scores) - 1))
