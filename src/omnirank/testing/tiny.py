"""Data sets of a few examples, one for every task, on which a ranker runs at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from omnirank.data.dataset import Dataset
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.task_registry import TaskTarget, task_target

_N_EXAMPLES = 36


def tiny_dataset(task: str, *, nominal: bool = True, missing: bool = True) -> Dataset:
    """Return a data set of 36 examples whose first feature is the most relevant one.

    Parameters
    ----------
    task : str
        A task name.
    nominal : bool
        Whether two of the five features are nominal.
    missing : bool
        Whether some cells are missing.

    Examples
    --------
    >>> from omnirank.testing import tiny_dataset
    >>> tiny_dataset("multi-label")
    <Dataset 'tiny': 36 examples, 5 features, multi-label, 3 targets, 36 labelled>
    """
    asked = task_target(task)
    rng = np.random.default_rng(7)
    signal = rng.normal(size=_N_EXAMPLES)
    y, hierarchy = _target(asked, signal, rng)
    X = _features(signal, rng, nominal, missing)
    return Dataset(X, y, task=task, hierarchy=hierarchy, name="tiny")


def _features(signal: np.ndarray, rng: np.random.Generator, nominal: bool, missing: bool) -> pd.DataFrame:
    n = len(signal)
    X = pd.DataFrame(
        {
            "strong": signal + 0.05 * rng.normal(size=n),
            "weak": signal + 2.0 * rng.normal(size=n),
            "noise": rng.normal(size=n),
            "group": rng.integers(0, 3, n).astype(float),
            "flag": (signal + rng.normal(size=n) > 0).astype(float),
        }
    )
    if nominal:
        X["group"] = pd.Categorical(np.array(["low", "mid", "top"])[X["group"].astype(int)])
        X["flag"] = X["flag"] == 1
    if missing:
        X.loc[[3, 11], "weak"] = np.nan
        X.loc[5, "group"] = None if nominal else np.nan
    return X


def _target(task: TaskTarget, signal: np.ndarray, rng: np.random.Generator) -> tuple[Any, Hierarchy | None]:
    other = rng.normal(size=len(signal))
    classes = np.array(["no", "yes"])[(signal > 0).astype(int)]
    levels = np.array(["a", "b", "c"])[np.digitize(signal, [-0.5, 0.5])]
    labels = np.column_stack([signal > 0, signal > 0.7, signal < -0.5]).astype(int)
    if task.hierarchical:
        hierarchy = Hierarchy.from_paths(["up", "up/high", "down"])
        return pd.DataFrame(labels, columns=pd.Index(["up", "up/high", "down"])), hierarchy
    targets = {
        "classes": levels if task.single else np.column_stack([levels, classes]),
        "numbers": signal if task.single else np.column_stack([signal, signal**2, other]),
        "labels": labels,
        "mixed": pd.DataFrame({"value": signal, "level": levels}),
        "none": None,
    }
    return targets[task.kind], None
