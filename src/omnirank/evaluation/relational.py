"""Cross-validation of relational learners, beside a constant prediction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.types import RandomState
from omnirank.evaluation.folds import make_folds
from omnirank.relational.dataset import RelationalDataset
from omnirank.tasks import get_task
from omnirank.tasks.measuring import measure

if TYPE_CHECKING:
    import pandas as pd

BASELINE = "constant"


def evaluate_relational(
    models: Mapping[str, Any], dataset: RelationalDataset, *, n_folds: int = 10, random_state: RandomState = None
) -> pd.DataFrame:
    """Cross-validate relational learners.

    Examples are dealt into folds; the facts of the database, but for the target, stay known to all. The targets of the
    test examples are hidden.

    Parameters
    ----------
    models : mapping of str to estimator
        Relational trees, forests and boosting, by name; they stay as they are.
    dataset : RelationalDataset
        The data, with a target.
    n_folds : int
        Number of folds; classes are spread evenly.
    random_state : None, int, RandomState or Generator
        The seed of the folds.

    Returns
    -------
    DataFrame
        A row per model and measure, and for ``"constant"``, which predicts the mean or the most frequent class: the
        mean over the folds, weighted by their test examples, and its standard error.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.relational import evaluate_relational
    >>> data = om.datasets.make_movies(random_state=0)
    >>> models = {"tree": om.relational.RelationalTree(random_state=0)}
    >>> found = evaluate_relational(models, data, n_folds=3, random_state=0)
    >>> accuracy = found[found["measure"] == "accuracy"].set_index("model")["value"]
    >>> bool(accuracy["tree"] > accuracy["constant"] + 0.2)
    True
    """
    import pandas as pd

    if dataset.target is None:
        raise DataError("there is no target to predict: name a column of the table whose rows are the examples")
    if BASELINE in models:
        raise ParameterError(f"the name {BASELINE!r} is that of the constant prediction: choose another one")
    labelled = dataset.take(dataset.labelled)
    folds = make_folds(labelled, n_folds=n_folds, random_state=random_state)  # type: ignore[arg-type]  # target only
    values: dict[tuple[str, str], list[float]] = {}
    for fold in folds:
        train, test = labelled.take(fold.train), labelled.take(fold.test)
        for name, means in _predicted(models, train, test).items():
            for what, value in _measured(train, test, means).items():
                values.setdefault((name, what), []).append(value)
    weights = np.array([len(fold.test) for fold in folds], float)
    rows = [(*key, *_mean(np.array(found), weights)) for key, found in values.items()]
    return pd.DataFrame(rows, columns=["model", "measure", "value", "standard_error"])


def _predicted(models: Mapping[str, Any], train: RelationalDataset, test: RelationalDataset) -> dict[str, np.ndarray]:
    """Means that each model predicts for the test examples, and those of the training target."""
    assert train.target is not None
    constant = np.nanmean(get_task(train.task).columns(train.target, train.hierarchy).dense(), axis=0)
    found = {BASELINE: np.tile(constant, (test.n_examples, 1))}
    return found | {name: clone(model).fit(train).predict_means(test) for name, model in models.items()}


def _measured(train: RelationalDataset, test: RelationalDataset, means: np.ndarray) -> dict[str, float]:
    assert train.target is not None
    assert test.target is not None
    return measure(test.target, means, training=train.target, task=train.task, hierarchy=train.hierarchy)


def _mean(found: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Weighted mean over the folds in which there is a value, and its standard error."""
    known = ~np.isnan(found)
    if not known.any():
        return float("nan"), float("nan")
    n = int(known.sum())
    error = float(np.std(found[known], ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    return float(np.average(found[known], weights=weights[known])), error
