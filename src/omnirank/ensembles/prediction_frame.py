"""Predictions as a table for files: a named column for each target, and the probabilities beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, ParameterError
from omnirank.data.containers import FeaturesLike
from omnirank.tasks import get_task


def prediction_frame(
    model: Any, X: FeaturesLike, *, probabilities: bool = False, threshold: float | None = None
) -> pd.DataFrame:
    """Return what a fitted tree or forest predicts, as a data frame.

    Parameters
    ----------
    model : PCTClassifier, PCTRegressor, PCTForestClassifier, PCTForestRegressor or PCTClusterer
        The fitted model.
    X : Dataset, array-like, scipy.sparse container or data frame
        Examples with the features of the training data.
    probabilities : bool
        Whether there is also a column for the probability of each class or label: ``p(red)``, ``p(colour=red)`` where
        there are several targets.
    threshold : float, optional
        Label sets: frequency from which a label is predicted, by default 1/2.

    Returns
    -------
    DataFrame
        One column per target under its name: classes of their type, numbers, 0 and 1 for a label; ``cluster`` for
        trees of clusters.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.ensembles.prediction_frame import prediction_frame
    >>> data = om.Dataset([[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "b"], target_names=["kind"])
    >>> prediction_frame(om.PCTClassifier(random_state=0).fit(data), [[3.5]], probabilities=True)
      kind  p(a)  p(b)
    0    b   0.0   1.0
    """
    if not hasattr(model, "predict_means"):
        _refuse_options(model, probabilities, threshold)
        return pd.DataFrame({"cluster": model.predict(X)})
    if probabilities and not hasattr(model, "predict_proba"):
        _refuse_options(model, probabilities, None)
    cut = model._threshold(threshold)
    means = model.predict_means(X)
    found = _by_target(model, model._decide(means, cut))
    if probabilities:
        found = pd.concat([found, _shares(model, means)], axis=1)
    again = found.columns[found.columns.duplicated()]
    if len(again):
        raise DataError(f"two columns of the predictions would be called {again[0]!r}: name the targets otherwise")
    return found


def _refuse_options(model: Any, probabilities: bool, threshold: float | None) -> None:
    advice = f"{type(model).__name__} predicts neither classes nor labels"
    if probabilities:
        raise ParameterError("probabilities", True, advice)
    if threshold is not None:
        raise ParameterError("threshold", threshold, advice)


def _by_target(model: Any, predicted: Any) -> pd.DataFrame:
    if isinstance(predicted, pd.DataFrame):
        return pd.DataFrame({name: np.asarray(predicted[name]) for name in predicted.columns})
    columns = np.reshape(predicted, (len(predicted), -1))
    names = list(model.target_names_) if columns.shape[1] == len(model.target_names_) else [model.task_]
    if get_task(model.task_).kind == "labels":
        columns = columns.astype(np.int8)
    return pd.DataFrame({name: columns[:, i] for i, name in enumerate(names)})


def _shares(model: Any, means: np.ndarray) -> pd.DataFrame:
    """The columns of probabilities, as ``predict_proba`` returns them."""
    found = model._shares(means)
    task = get_task(model.task_)
    if task.kind == "labels":
        names = [f"p({label})" for label in model.target_names_]
    elif task.single:
        names = [f"p({level})" for level in model.classes_]
    else:
        pairs = zip(model.target_names_, model.classes_, strict=True)
        names = [f"p({target}={level})" for target, classes in pairs for level in classes]
        found = np.hstack(found)
    return pd.DataFrame(found, columns=names)
