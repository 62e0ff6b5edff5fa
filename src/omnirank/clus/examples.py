"""The examples of a run: training and test set, with the unlabelled ones where they count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from omnirank.clus.settings import Values
from omnirank.core.errors import DataError
from omnirank.data.clus_settings import clus_roles, read_clus_data
from omnirank.data.dataset import Dataset, join_examples
from omnirank.data.files import plain_name
from omnirank.data.infer import read_target
from omnirank.data.roles import Roles, dataset_from


@dataclass(frozen=True, eq=False)
class Examples:
    """The examples of a run.

    Attributes
    ----------
    train : Dataset
        What models are learned from.
    weight : ndarray or None
        Weights of the training examples, where the file has some.
    test : Dataset or None
        Test set.
    positions : tuple of int
        Number (from 1) of each feature among the attributes of the file.
    relation : str
        Name that the file gives to its data.
    n_attributes : int
        Number of attributes that are used.
    """

    train: Dataset
    weight: np.ndarray | None
    test: Dataset | None
    positions: tuple[int, ...]
    relation: str
    n_attributes: int


def read_examples(values: Values, semi_supervised: bool) -> Examples:
    """Read the data files that settings name.

    Parameters
    ----------
    values : Values
        The settings.
    semi_supervised : bool
        Whether the unlabelled examples of ``UnlabeledData`` join the training set.
    """
    content = read_clus_data(values.settings, values.settings.data_file)
    roles = clus_roles(values.settings, content)
    train = dataset_from(content, roles, name=plain_name(content.path))
    values.notes.extend(note for note in train.notes if note not in values.notes)
    test, weight = _read_like(values, "Data", "TestSet", train, roles), content.weights
    unlabelled = _read_like(values, "SemiSupervised", "UnlabeledData", train, roles) if semi_supervised else None
    if unlabelled is not None and train.target is not None:
        unlabelled = unlabelled.hide_labels(np.ones(unlabelled.n_examples, bool))
        weight = None if weight is None else np.concatenate([weight, np.ones(unlabelled.n_examples)])
        train = join_examples([train, unlabelled])
    if semi_supervised and train.target is not None and train.labelled.all():
        values.notes.append("all examples are labelled: -ssl changes nothing")
    positions = tuple(i + 1 for i in roles.features)
    n_attributes = len(set(roles.features) | set(roles.target))
    return Examples(train, weight, test, positions, content.relation or train.name, n_attributes)


def predicting_features(dataset: Dataset) -> Dataset:
    """Return unsupervised data with the features as their own target, which is what CLUS's models of them predict."""
    target, task, _ = read_target(dataset.features, declared=True)
    return Dataset(dataset.features, target, task=task, name=dataset.name)


def _read_like(values: Values, section: str, name: str, train: Dataset, roles: Roles) -> Dataset | None:
    """The file that a setting names, with the columns of the training set."""
    file = values.text(section, name)
    if file.lower() in ("none", ""):
        return None
    path = values.settings.find(file, f"[{section}] {name}")
    content = read_clus_data(values.settings, path)
    n_columns = max((*roles.features, *roles.target)) + 1
    if len(content.names) < n_columns:
        raise DataError(f"{path} has {len(content.names)} attributes, fewer than the training set")
    read = dataset_from(content, roles, task=train.task)
    if read.features.levels != train.features.levels or read.features.is_sparse != train.features.is_sparse:
        raise DataError(f"{path}: its attributes are declared in another way than those of the training set")
    if read.target is not None and train.target is not None:
        same = (read.target.names, read.target.levels) == (train.target.names, train.target.levels)
        if not same or read.hierarchy != train.hierarchy:
            raise DataError(f"{path}: its target is declared in another way than that of the training set")
    return read
