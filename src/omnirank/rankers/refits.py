"""Fitting a ranker again and again, on parts or resamples of the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from sklearn.base import BaseEstimator, clone

from omnirank.core.errors import DataTypeError
from omnirank.core.parallel import progress_bars, run_parallel, worker_count
from omnirank.core.seeds import root_entropy
from omnirank.core.types import RandomState
from omnirank.data.dataset import Dataset
from omnirank.data.estimator_input import read_input
from omnirank.data.types import FeaturesLike, TargetLike

Item = TypeVar("Item")
Result = TypeVar("Result")

# Fits that run side by side: each holds its own part of the data, so that more of them would take more memory.
_AT_ONCE = 2


def ranker_and_data(ranker: Any, X: FeaturesLike, y: TargetLike | None = None) -> tuple[Any, Dataset]:
    """Return a copy of a ranker that fits data sets as the ranker would fit X and y, and these as a data set.

    Parameters
    ----------
    ranker : ranker
        Fitted or not; it stays as it is.
    X, y
        A `Dataset`, or features and target as in ``fit``.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.rankers.refits import ranker_and_data
    >>> ranker_and_data(om.UnivariateRanker(n_features_to_select=1), [[1.0], [2.0]], ["a", "b"])
    (UnivariateRanker(), <Dataset 'data': 2 examples, 1 feature, classification, 1 target, 2 labelled>)
    """
    if isinstance(ranker, type) or not isinstance(ranker, BaseEstimator) or not hasattr(ranker, "fit"):
        shown = ranker.__name__ if isinstance(ranker, type) else repr(ranker)
        raise DataTypeError(f"give a ranker, such as om.EnsembleRanker() or om.make_ranker('relief'), not {shown}")
    known = ranker.get_params(deep=False)
    dataset = read_input(
        BaseEstimator(), X, y, task=known.get("task", "auto"), hierarchy=known.get("hierarchy"), min_examples=2
    )
    return fresh_copy(ranker), dataset


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
    copy = clone(ranker)
    copy.set_params(
        **{name: None for name in ("hierarchy", "n_features_to_select") if name in copy.get_params(deep=False)}
    )
    return copy


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
        with progress_bars(False):
            return self._function(self._ranker, item)
