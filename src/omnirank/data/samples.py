"""Sample data that come with scikit-learn, through one loader; nothing is downloaded."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from omnirank.core.parameters import check, choice, count
from omnirank.data.dataset import Dataset
from omnirank.data.table import Table
from omnirank.data.target import Target
from omnirank.data.task_registry import task_target


class _Sample(NamedTuple):
    loader: str  # function of sklearn.datasets
    task: str
    targets: tuple[str, ...]


_SAMPLES = {
    "breast-cancer": _Sample("load_breast_cancer", "classification", ("diagnosis",)),
    "diabetes": _Sample("load_diabetes", "regression", ("progression",)),
    "digits": _Sample("load_digits", "classification", ("digit",)),
    "iris": _Sample("load_iris", "classification", ("species",)),
    "linnerud": _Sample("load_linnerud", "multi-target-regression", ("Weight", "Waist", "Pulse")),
    "wine": _Sample("load_wine", "classification", ("cultivar",)),
}


def list_samples() -> tuple[str, ...]:
    """Return the names that :func:`load_sample` knows.

    Returns
    -------
    tuple of str
        The names, sorted.

    Examples
    --------
    >>> from omnirank.datasets import list_samples
    >>> list_samples()
    ('breast-cancer', 'diabetes', 'digits', 'iris', 'linnerud', 'wine')
    """
    return tuple(_SAMPLES)


def load_sample(name: str, n_irrelevant: int = 0) -> Dataset:
    """Return one of the data sets that are installed with scikit-learn.

    All features are numeric and keep their names. The digits' features are pixels of an 8 x 8 image,
    ``pixel_<row>_<column>``, their classes the integers 0 to 9; other classes have their names. The
    features of diabetes are centred and scaled, as scikit-learn gives them.

    Parameters
    ----------
    name : str
        One of :func:`list_samples`: "breast-cancer", "digits", "iris" and "wine" (classification), "diabetes"
        (regression), "linnerud" (multi-target regression).
    n_irrelevant : int
        Number of features of normal noise to add at the end, ``noise_1``, ``noise_2``, ...; the same ones in each call.
        Nearly all features of the samples are relevant: a ranking has something to gain only where some are not.

    Returns
    -------
    Dataset
        All examples labelled.

    Examples
    --------
    >>> from omnirank.datasets import load_sample
    >>> load_sample("linnerud")
    <Dataset 'linnerud': 20 examples, 3 features, multi-target-regression, 3 targets, 20 labelled>
    >>> iris = load_sample("iris")
    >>> iris.feature_names[2], iris.target_names[0], iris.y[0]
    ('petal length (cm)', 'species', 'setosa')
    >>> load_sample("iris", n_irrelevant=2).feature_names[-3:]
    ('petal width (cm)', 'noise_1', 'noise_2')
    """
    check("name", name, choice(*_SAMPLES))
    check("n_irrelevant", n_irrelevant, count(0))
    from sklearn import datasets

    sample = _SAMPLES[name]
    bunch = getattr(datasets, sample.loader)()
    noise = np.random.default_rng(0).normal(size=(len(bunch.data), n_irrelevant))
    names = [*map(str, bunch.feature_names), *(f"noise_{i + 1}" for i in range(n_irrelevant))]
    features = Table.from_numeric(np.hstack([bunch.data, noise]), names)
    return Dataset(features, _target(bunch, sample), task=sample.task, name=name)


def _target(bunch: Any, sample: _Sample) -> Target:
    values = np.asarray(bunch.target, dtype=np.float64).reshape(len(bunch.data), -1)
    if not task_target(sample.task).is_one_class:
        return Target.numeric(values, sample.targets)
    # item() of a NumPy integer or string: levels are plain Python values, and integers stay integers
    levels = tuple(np.asarray(level).item() for level in bunch.target_names)
    return Target(sample.targets, (levels,), values, np.ones(len(values), bool))
