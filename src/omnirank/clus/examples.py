"""The examples of a run: training, test and pruning set, with the unlabelled ones where they count."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from omnirank.clus.settings import Values
from omnirank.core.errors import DataError
from omnirank.core.seeds import root_entropy, stream
from omnirank.data.clus_settings import clus_roles, read_clus_data
from omnirank.data.dataset import Dataset, join_examples
from omnirank.data.files import Content, plain_name
from omnirank.data.infer import read_target
from omnirank.data.roles import Roles, dataset_from

# Keeps the streams of the parts of a data set apart from each other, and from those of trees.
_TEST, _LABELS = 2**34, 2**34 + 2


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


def read_examples(values: Values, semi_supervised: bool, seed: int) -> Examples:
    """Read the data files that settings name.

    Parameters
    ----------
    values : Values
        The settings.
    semi_supervised : bool
        Whether unlabelled examples count: those of ``UnlabeledData``, or labels that are hidden where all examples
        have one.
    seed : int
        Divides the examples where a share of them is asked for.
    """
    settings = values.settings
    content = read_clus_data(settings, settings.data_file)
    roles = clus_roles(settings, content)
    train = _dataset(content, roles)
    values.notes.extend(note for note in train.notes if note not in values.notes)
    weight = content.weights
    if values.flag("Data", "RemoveMissingTarget") and train.target is not None:
        weight = None if weight is None else weight[train.labelled]
        train = train.take(train.labelled)
    train, weight, test = _test_set(values, train, weight, roles, stream(root_entropy(seed), _TEST))
    if semi_supervised:
        train, weight = _with_unlabelled(values, train, weight, roles, seed)
    positions = tuple(i + 1 for i in roles.features)
    n_attributes = len(set(roles.features) | set(roles.target))
    return Examples(
        train,
        weight,
        test,
        positions,
        content.relation or train.name,
        n_attributes,
    )


def _dataset(content: Content, roles: Roles) -> Dataset:
    return dataset_from(content, roles, name=plain_name(content.path))


def predicting_features(dataset: Dataset) -> Dataset:
    """Return unsupervised data with the features as their own target, which is what CLUS's models of them predict."""
    target, task, _ = read_target(dataset.features, declared=True)
    return Dataset(dataset.features, target, task=task, name=dataset.name)


def _read_like(values: Values, path: Path, train: Dataset, roles: Roles) -> Dataset:
    """Another file with the columns of the training set."""
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


def _test_set(
    values: Values,
    train: Dataset,
    weight: np.ndarray | None,
    roles: Roles,
    rng: np.random.Generator,
) -> tuple[Dataset, np.ndarray | None, Dataset | None]:
    """The training set, and the part that a setting names: a file, or a share of the training set."""
    text = values.text("Data", "TestSet")
    if text.lower() in ("none", ""):
        return train, weight, None
    try:
        share = float(text)
    except ValueError:
        dataset = _read_like(values, values.settings.find(text, "[Data] TestSet"), train, roles)
        return train, weight, dataset
    if not 0 < share < 1:
        raise values.wrong("Data", "TestSet", "expected a file, or a share between 0 and 1")
    n = train.n_examples
    size = int(share * n + 0.5)
    if not 0 < size < n:
        raise values.wrong("Data", "TestSet", f"{size} of {n} examples are no part")
    taken = np.zeros(n, bool)
    taken[rng.permutation(n)[:size]] = True
    return train.take(~taken), None if weight is None else weight[~taken], train.take(taken)


def _with_unlabelled(
    values: Values, train: Dataset, weight: np.ndarray | None, roles: Roles, seed: int
) -> tuple[Dataset, np.ndarray | None]:
    """The training set with the unlabelled examples of a file, or with labels hidden where there are none."""
    if train.target is None:
        return train, weight
    file = values.text("SemiSupervised", "UnlabeledData")
    if file:
        more = _read_like(values, values.settings.find(file, "[SemiSupervised] UnlabeledData"), train, roles)
        more = more.hide_labels(np.ones(more.n_examples, bool))
        if weight is not None:
            weight = np.concatenate([weight, np.ones(more.n_examples)])
        return join_examples([train, more]), weight
    if not train.labelled.all():
        return train, weight
    share = values.number("SemiSupervised", "PercentageLabeled", least=0, most=100) / 100
    kept = max(1, int(share * train.n_examples + 0.5))
    values.notes.append(
        f"all examples are labelled: the labels of {train.n_examples - kept} of {train.n_examples} are hidden, as "
        f"[SemiSupervised] PercentageLabeled = {values.text('SemiSupervised', 'PercentageLabeled')} says"
    )
    return train.keep_labels(kept, random_state=stream(root_entropy(seed), _LABELS)), weight
