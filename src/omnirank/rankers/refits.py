"""Fitting a ranker again and again, on parts or resamples of the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import has_fit_parameter

from omnirank.core.errors import ConstantTargetError, DataTypeError, ParameterError, setting
from omnirank.core.parallel import progress, run_parallel, worker_count
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.registry import method_name
from omnirank.core.seeds import root_entropy
from omnirank.core.types import ArrayLike, RandomState
from omnirank.data.containers import FeaturesLike, TargetLike, in_memory
from omnirank.data.dataset import Dataset
from omnirank.data.estimator_input import read_input
from omnirank.rankers.base import BaseRanker, recorded_of
from omnirank.shards.dataset import ShardedDataset

Item = TypeVar("Item")
Result = TypeVar("Result")

# Fits that run side by side: each holds its own part of the data, so that more of them would take more memory.
_AT_ONCE = 2


def ranker_and_data(
    ranker: Any,
    X: FeaturesLike | ShardedDataset,
    y: TargetLike | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    relational: bool = False,
) -> tuple[Any, Any]:
    """Return a copy of a ranker that fits data sets as the ranker would fit X and y, and these as a data set.

    Parameters
    ----------
    ranker : ranker
        Fitted or not; it stays as it is.
    X, y
        A `Dataset` or `RelationalDataset`, or features and target as in ``fit``.
    groups : array-like, optional
        Groups of examples that belong together (`Dataset.with_groups`).
    sample_weight : array-like, optional
        Weights of the examples; an error where the ranker takes none.
    relational : bool
        Whether several tables will do; otherwise they are an error.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.rankers.refits import ranker_and_data
    >>> ranker_and_data(om.UnivariateRanker(n_features_to_select=1), [[1.0], [2.0]], ["a", "b"])
    (UnivariateRanker(), <Dataset 'data': 2 examples, 1 feature, classification, 1 target, 2 labelled>)
    """
    from omnirank.relational.dataset import RelationalDataset  # imported late: few need it

    if isinstance(X, RelationalDataset):
        if not relational:
            X.refuse_as_one()
        if getattr(ranker, "supported_data", None) != "relational":
            raise DataTypeError(f"{setting('ranker', ranker)}: give a RelationalRanker for a RelationalDataset")
        if y is not None or groups is not None:
            raise ParameterError("a RelationalDataset holds its target, and has no groups: give neither beside it")
        return fresh_copy(ranker), X
    check_ranker(ranker)
    known = ranker.get_params(deep=False)
    task, hierarchy = known.get("task", "auto"), known.get("hierarchy")
    dataset = read_input(BaseEstimator(), in_memory(X), y, task=task, hierarchy=hierarchy, min_examples=2)
    check_takes_weights(ranker, sample_weight)
    return fresh_copy(ranker), dataset if groups is None else dataset.with_groups(groups)


def is_ranker(value: Any) -> bool:
    """Whether something is a ranker: of omnirank's base class, or of a class that is registered as a method.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.rankers.refits import is_ranker
    >>> is_ranker(om.ReliefRanker()), is_ranker(om.ReliefRanker)
    (True, False)
    """
    return isinstance(value, BaseRanker) or method_name(value) is not None


def check_ranker(ranker: Any) -> None:
    """Raise a `DataTypeError` for what is no ranker: a class, a name, another estimator.

    Examples
    --------
    >>> from omnirank.rankers.refits import check_ranker
    >>> check_ranker("relief")
    Traceback (most recent call last):
    omnirank.core.errors.DataTypeError: ranker='relief': give a ranker, such as om.EnsembleRanker() or ...
    """
    if not is_ranker(ranker):
        name = ranker if isinstance(ranker, str) else "relief"
        raise DataTypeError(
            f"{setting('ranker', ranker)}: give a ranker, such as om.EnsembleRanker() or om.make_ranker({name!r}); "
            "om.methods() lists all names"
        )


def check_takes_weights(ranker: Any, sample_weight: Any) -> None:
    """Raise a `ParameterError` if weights of examples are given to a ranker that has no use for them."""
    if sample_weight is not None and not has_fit_parameter(ranker, "sample_weight"):
        raise ParameterError(f"{type(ranker).__name__} takes no sample_weight")


def ranking_of_part(ranker: Any, part: Dataset, whole: Dataset, **given: Any) -> Ranking:
    """Fit a ranker to a part of the data and return its ranking; all scores are 0 where nothing is left to learn.

    A part can lose a class that is rare in the whole. If all its examples are of one class then (or all numbers are
    equal), no feature of it tells anything. Where that is so in the whole, too, it is the user who has to know.

    Parameters
    ----------
    ranker : ranker
        It is fitted.
    part, whole : Dataset
        The part, and the data it is from.
    **given
        Further arguments of ``fit``.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.rankers.refits import ranking_of_part
    >>> data = om.Dataset([[float(i)] for i in range(9)], ["a"] * 8 + ["b"])
    >>> ranking_of_part(om.EnsembleRanker(), data.take(slice(8)), data).scores
    array([0.])
    """
    try:
        ranking: Ranking = ranker.fit(part, **given).ranking_
    except ConstantTargetError:
        if whole.target is None or not whole.target.varying:
            raise
        return Ranking(part.feature_names, np.zeros(part.n_features), "", **recorded_of(part))
    return ranking


def seeded(ranker: Any, random_state: RandomState) -> RandomState:
    """Give a ranker without a seed that of a function it is fitted by, and return the seed for what else is drawn.

    The scores are part of the result of such a function: its seed has to decide them as well.
    """
    if random_state is None or getattr(ranker, "random_state", 0) is not None:
        return random_state
    entropy = root_entropy(random_state)
    ranker.set_params(random_state=entropy % 2**31)
    return entropy


def fresh_copy(ranker: Any) -> Any:
    """Return a copy of a ranker, not fitted, for data sets: these have their hierarchy, and no feature is left out.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.rankers.refits import fresh_copy
    >>> fresh_copy(om.UnivariateRanker(n_features_to_select="auto"))
    UnivariateRanker()
    """
    return with_settings(clone(ranker), hierarchy=None, n_features_to_select=None)


def with_settings(ranker: Any, **values: Any) -> Any:
    """Set those of the values for which a ranker has parameters, and return it."""
    known = ranker.get_params(deep=False)
    return ranker.set_params(**{name: value for name, value in values.items() if name in known})


def reseeded(ranker: Any, rng: np.random.Generator) -> Any:
    """Return a copy of a ranker with a seed that is drawn, if it takes one."""
    copy = clone(ranker)
    takes_seed = "random_state" in copy.get_params(deep=False)
    return copy.set_params(random_state=int(rng.integers(2**31))) if takes_seed else copy


def run_refits(
    function: Callable[[Any, Item], Result], ranker: Any, items: Iterable[Item], n_jobs: int | None, description: str
) -> list[Result]:
    """Return ``[function(ranker, item) for item in items]``; at most two at once, so memory is that of two fits.

    Parameters
    ----------
    function : callable
        Fits a copy of the ranker and returns its result; as `run_parallel` wants it.
    ranker : ranker
        Its own workers are those that fits side by side leave over.
    items : iterable
        What to fit on.
    n_jobs : int or None
        Number of workers in all; None: that of the ranker.
    description : str
        What the progress bar says.
    """
    takes_jobs = "n_jobs" in ranker.get_params(deep=False)
    wanted = ranker.get_params(deep=False)["n_jobs"] if n_jobs is None and takes_jobs else n_jobs
    workers = worker_count(wanted)
    at_once = min(_AT_ONCE, workers)
    if takes_jobs:
        ranker = clone(ranker).set_params(n_jobs=workers // at_once)
    return run_parallel(_Refit(function, ranker), items, at_once, description=description)


class _Refit:
    """One fit, without a progress bar of its own."""

    def __init__(self, function: Callable[[Any, Any], Any], ranker: Any) -> None:
        self._function, self._ranker = function, ranker

    def __call__(self, item: Any) -> Any:
        with progress(False):
            return self._function(self._ranker, item)
