"""``score`` of classifiers: the share of examples whose known classes or labels are all predicted right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.text import counted
from omnirank.core.types import ArrayLike
from omnirank.data.containers import FeaturesLike, TargetLike
from omnirank.data.dataset import Dataset
from omnirank.data.estimator_input import check_sample_weight
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.infer import target_from
from omnirank.data.target import Target
from omnirank.data.task_registry import task_target


def true_target(
    X: FeaturesLike, y: TargetLike | None, task: str, names: Sequence[str], hierarchy: Hierarchy | None = None
) -> Target | None:
    """Return what is to be predicted, with labels in the order of the training data.

    Parameters
    ----------
    X : Dataset or features
        A Dataset brings its target.
    y : array-like
        The classes or label sets of features, written as in ``fit``.
    task : str
        The task that was learned.
    names : sequence of str
        Names of the targets in training.
    hierarchy : Hierarchy, optional
        Of the labels.

    Examples
    --------
    >>> from omnirank.tasks.scoring import true_target
    >>> true_target([[0.0]], [{"b"}], "multi-label", ["a", "b"]).dense().tolist()
    [[0.0, 1.0]]
    """
    labels = task_target(task).kind == "labels"
    if not isinstance(X, Dataset):
        if y is None:
            raise DataError("score compares predictions with y: give the target of the examples in X")
        return target_from(y, task, hierarchy, names if labels and hierarchy is None else None)[0]
    return in_training_order(X.target, task, names)


def in_training_order(target: Target | None, task: str, names: Sequence[str]) -> Target | None:
    """Return the target of a data set, with labels in the order of the training data."""
    if target is None or task_target(task).kind != "labels" or target.names == tuple(names):
        return target
    if sorted(target.names) != sorted(names):
        odd = sorted(set(target.names) ^ set(names))
        raise DataError(f"the labels are not those of the training data: {odd[0]!r} is in one of them only")
    place = {name: i for i, name in enumerate(target.names)}
    return target.select([place[name] for name in names])


def target_of(target: Target | None, predicted: np.ndarray) -> Target:
    """Return the target that goes with predictions; an error where there is none, or of other examples."""
    if target is None:
        raise DataError("there is no target to compare the predictions with: give y, or data that name their target")
    if target.n_examples != len(predicted):
        raise DataError(f"X has {counted(len(predicted), 'row')}, y has {target.n_examples}")
    return target


def share_right(target: Target | None, predicted: np.ndarray, sample_weight: ArrayLike | None = None) -> float:
    """Return the share of labelled examples predicted right: the class, all classes, or the whole label set.

    Unlabelled examples do not count; of partly labelled ones what is known does.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.tasks.scoring import share_right
    >>> share_right(target_from(["a", None, "b"])[0], np.array(["a", "a", "a"]))
    0.5
    """
    target = target_of(target, predicted)
    n = target.n_examples
    if not target.labelled.any():
        raise DataError("no example of y has a known target: there is nothing to compare predictions with")
    truth = target.dense()
    known = ~np.isnan(truth)
    given = truth if target.is_labels else np.asarray(target.to_array()).reshape(n, -1)
    right = (np.asarray(given == predicted.reshape(n, -1)) | ~known).all(axis=1)
    weights = None if sample_weight is None else check_sample_weight(sample_weight, n)[target.labelled]
    return float(np.average(right[target.labelled], weights=weights))
