"""What models predict for every example, as an ARFF file (``WritePredictions``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from omnirank.data.arff.write import quote
from omnirank.data.dataset import Dataset
from omnirank.data.table import Levels
from omnirank.data.task_registry import task_target
from omnirank.tasks import get_task


def prediction_lines(dataset: Dataset, means: Mapping[str, np.ndarray], relation: str) -> list[str]:
    """Return an ARFF file with the true and the predicted targets, and the frequencies of classes and labels.

    Parameters
    ----------
    dataset : Dataset
        The examples.
    means : mapping of str to ndarray
        What each model predicts for the columns of the target.
    relation : str
        Name of the data.
    """
    assert dataset.target is not None
    task = get_task(dataset.task)
    columns = task.columns(dataset.target, dataset.hierarchy)
    truth = dataset.target.dense()
    is_labels = task_target(dataset.task).kind == "labels"
    declared, cells = [], []
    for v, name in enumerate(columns.names):
        levels: Levels | None = ("0", "1") if is_labels else columns.levels[v]
        declared.append((name, levels))
        cells.append(_cells(truth[:, v], levels))
    for model, found in means.items():
        for v, name in enumerate(columns.names):
            own = found[:, columns.variable == v]
            levels = ("0", "1") if is_labels else columns.levels[v]
            decided = own[:, 0] if levels is None else (own[:, 0] >= 0.5) if is_labels else own.argmax(axis=1)
            declared.append((f"{model}-p-{name}", levels))
            cells.append(_cells(np.asarray(decided, float), levels))
            for i, level in enumerate(() if levels is None else ("1",) if is_labels else levels):
                declared.append((f"{model}-p-{name}-{level}", None))
                cells.append(_cells(own[:, i], None))
    lines = [f"@relation {quote(f'{relation}-predictions')}", ""]
    lines += [f"@attribute {quote(name)} {_domain(levels)}" for name, levels in declared]
    return [*lines, "", "@data", *(",".join(row) for row in zip(*cells, strict=True))]


def _domain(levels: Sequence[object] | None) -> str:
    return "numeric" if levels is None else "{" + ",".join(quote(str(level)) for level in levels) + "}"


def _cells(values: np.ndarray, levels: Sequence[object] | None) -> list[str]:
    if levels is None:
        return ["?" if np.isnan(value) else repr(float(value)) for value in values]
    return ["?" if np.isnan(value) or value < 0 else quote(str(levels[int(value)])) for value in values]
