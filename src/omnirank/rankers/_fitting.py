"""What a fit of any ranker begins and ends with: its examples, its record of the data, its attributes kept whole."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from omnirank.core.errors import ParameterError, logger
from omnirank.data.dataset import Dataset
from omnirank.data.notes import of_one_value
from omnirank.shards.dataset import ShardedDataset, check_given


def recorded_of(dataset: Dataset | ShardedDataset) -> dict[str, Any]:
    """Return what a ranking records of the data: task, fingerprint, names of targets, constant features."""
    if isinstance(dataset, ShardedDataset):
        constant = dataset.constant
    else:
        constant = tuple(name for name, _ in of_one_value(dataset.features))
    return {
        "task": dataset.task,
        "fingerprint": dataset.fingerprint,
        "targets": dataset.target_names,
        "constant": constant,
    }


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Restore the attributes of an estimator if its fit fails: the result before stays, not parts of two."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def check_parts(ranker: Any, data: ShardedDataset, y: Any, sample_weight: Any) -> None:
    """Refuse what is not possible with data that do not fit in memory."""
    check_given(ranker, data, y, sample_weight)
    wanted, has_p_values = ranker.n_features_to_select, ranker.with_p_values() is not None
    if isinstance(wanted, str) and not (wanted == "significant" and has_p_values):
        advice = "it is for data in memory: give a number"
        if has_p_values:
            advice += ", or 'significant'"
        elif wanted == "significant":
            advice += f", since {type(ranker).__name__} has no p values of its own"
        raise ParameterError("n_features_to_select", wanted, advice)


def labelled_part(dataset: Dataset, more: tuple[Any, ...]) -> tuple[Dataset, tuple[Any, ...]]:
    """Return the labelled examples of the data, and of arrays with a value for each example."""
    labelled = dataset.labelled
    if labelled.all():
        return dataset, more
    logger.info("%d unlabelled examples are not used", int((~labelled).sum()))
    return dataset.take(labelled), tuple(values[labelled] for values in more)


def warn_unless(converged: bool, method: str, n_iterations: int) -> None:
    """Warn where an iteration has ended before it converged."""
    if not converged:
        warnings.warn(
            f"{method} has not converged in {n_iterations} iterations: its scores are those of the last one; "
            "allow more of them, or stop earlier",
            ConvergenceWarning,
            stacklevel=5,
        )
