"""One data set from several with the same columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from omnirank.core.errors import DataError
from omnirank.data.dataset import Dataset
from omnirank.data.table import Table
from omnirank.data.target import Target


def join_examples(parts: Sequence[Dataset]) -> Dataset:
    """Return the examples of all parts, one part after the other, as one data set.

    Parameters
    ----------
    parts : sequence of Dataset
        At least one. All must have the same features, levels, targets, task and hierarchy, as the parts of a published
        data set do. Nothing is converted here: any difference is an error.

    Returns
    -------
    Dataset
        With the name of the first.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.data.joining import join_examples
    >>> train, valid = om.datasets.load_sample("iris").split(0.5, random_state=0)
    >>> join_examples([train, valid]).n_examples
    150
    """
    first, *others = parts
    for number, other in enumerate(others, start=2):
        different = _difference(first, other)
        if different:
            raise DataError(f"part {number} ({other.name!r}) cannot follow {first.name!r}: {different}")
    if not others:
        return first
    targets = [part.target for part in parts if part.target is not None]
    return Dataset(
        _joined_tables([part.features for part in parts]),
        _joined_targets(targets) if targets else None,
        task=first.task,
        hierarchy=first.hierarchy,
        feature_groups=first.feature_groups,
        name=first.name,
    )


def _difference(first: Dataset, other: Dataset) -> str:
    """Why the parts cannot be joined, in words."""
    if first.task != other.task:
        return f"one is made for {first.task}, the other for {other.task}"
    if first.feature_names != other.feature_names or first.features.levels != other.features.levels:
        return "their features differ in names, order or levels"
    dates = first.features.dates ^ other.features.dates
    if dates:
        return f"{min(dates)!r} holds dates in one, numbers in the other"
    if first.features.is_sparse != other.features.is_sparse:
        return "one is sparse, the other dense"
    if first.hierarchy != other.hierarchy:
        return "their hierarchies differ"
    if first.target is None or other.target is None:
        return "" if first.target is other.target else "one has a target, the other none"
    if first.target.names != other.target.names or first.target.levels != other.target.levels:
        return "their targets differ in names, order or levels"
    return ""


def _joined_tables(tables: Sequence[Table]) -> Table:
    first = tables[0]
    if first.is_sparse:
        matrix = sparse.vstack([table.matrix for table in tables], format="csc")
        return replace(Table.from_sparse(matrix, first.names, first.levels), dates=first.dates)
    numeric, codes = (np.concatenate([getattr(table, kind) for table in tables]) for kind in ("numeric", "codes"))
    return replace(first, numeric=numeric, codes=codes)


def _joined_targets(targets: Sequence[Target]) -> Target:
    first = targets[0]
    if all(target.is_sparse for target in targets):
        values = sparse.vstack([target.values for target in targets], format="csr")
    else:
        values = np.concatenate([target.dense() for target in targets])
    labelled = np.concatenate([target.labelled for target in targets])
    return Target(first.names, first.levels, values, labelled, first.is_labels)
