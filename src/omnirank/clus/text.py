"""The text of a run's files as CLUS writes it: numbers, models, errors, predictions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from omnirank.clus.examples import Examples
from omnirank.clus.models import Fitted, Model
from omnirank.clus.settings import Values
from omnirank.data.dataset import Dataset
from omnirank.data.table import is_sparse
from omnirank.data.target import Target
from omnirank.data.task_registry import task_target
from omnirank.measures.table import first_largest, reaches
from omnirank.tasks.columns import PrototypeColumns
from omnirank.tasks.measuring import measure
from omnirank.trees.tree import Tree


def clus_number(value: float, digits: int = 4) -> str:
    """Return a number: from 1 on with that many decimals at most, below with a power of ten.

    Examples
    --------
    >>> from omnirank.clus.text import clus_number
    >>> [clus_number(x) for x in (0.0, 2.0, 9.1234567, 0.75, -0.00012)]
    ['0', '2', '9.1235', '7.5000E-1', '-1.2000E-4']
    >>> clus_number(float("nan")), clus_number(float("inf"))
    ('NaN', 'Infinity')
    """
    value = float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    if abs(value) >= 1:
        return f"{value:.{digits}f}".rstrip("0").rstrip(".")
    mantissa, _, exponent = f"{value:.{digits}E}".partition("E")
    return f"{mantissa}E{int(exponent)}"


def clus_list(values: Iterable[float], digits: int = 4) -> str:
    """Return numbers in square brackets.

    Examples
    --------
    >>> from omnirank.clus.text import clus_list
    >>> clus_list([1.5, 0.0])
    '[1.5,0]'
    """
    return f"[{','.join(clus_number(value, digits) for value in values)}]"


def heading(text: str, mark: str) -> list[str]:
    """Return an underlined line."""
    return [text, mark * len(text)]


# Decimals of predictions, and width of the names of models.
_DIGITS, _WIDTH = 6, 15


def size_text(model: Model) -> str:
    """Return how large a model is.

    Parameters
    ----------
    model : Model
        The model.
    """
    nodes, leaves = (sum(getattr(tree, name) for tree in model.trees) for name in ("n_nodes", "n_leaves"))
    if not model.is_forest:
        return f"Nodes = {nodes}; Leaves = {leaves}; Depth = {model.trees[0].max_depth + 1}"
    depth = float(np.mean([tree.max_depth + 1 for tree in model.trees]))
    return (
        f"FOREST with {len(model.trees)} models (Total nodes: {nodes}; leaves: {leaves}; "
        f"average tree depth: {clus_number(depth)})"
    )


def tree_lines(tree: Tree, columns: PrototypeColumns, names: Sequence[str], task: str) -> list[str]:
    """Return a tree as text.

    Parameters
    ----------
    tree : Tree
        With prototypes.
    columns : PrototypeColumns
        The coded target.
    names : sequence of str
        Names of the features.
    task : str
        The task: leaves of a hierarchy show frequencies, other labels and classes are decided.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.clus.text import tree_lines
    >>> from omnirank.tasks import prototype_columns
    >>> data = om.Dataset([[1.0], [2.0], [4.0], [5.0]], [0.5, 0.5, 2.5, 2.5])
    >>> tree = om.PCTRegressor(pruning=None).fit(data).tree_
    >>> print("\\n".join(tree_lines(tree, prototype_columns(data.target), ["x"], "regression")))
    x > 3.0
    +--yes: [2.5]: 2
    +--no:  [5.000000E-1]: 2
    """
    leaves = np.flatnonzero(tree.is_leaf)
    means = tree.means(leaves)
    means = means.toarray() if is_sparse(means) else np.asarray(means)
    row = {int(leaf): means[i] for i, leaf in enumerate(leaves)}
    lines: list[str] = []
    # node, what stands before its line, and before the lines of its branches
    waiting = [(0, "", "")]
    while waiting:
        node, lead, indent = waiting.pop()
        if tree.is_leaf[node]:
            lines.append(lead + leaf_text(row[node], float(tree.weight[node]), columns, task))
            continue
        test, yes, no = _test(tree, node, names)
        lines.append(lead + test)
        waiting.append((no, f"{indent}+--no:  ", f"{indent}       "))
        waiting.append((yes, f"{indent}+--yes: ", f"{indent}|      "))
    return lines


def _test(tree: Tree, node: int, names: Sequence[str]) -> tuple[str, int, int]:
    """The test of a node, and the nodes to which yes and no lead."""
    name, left, right = names[tree.feature[node]], node + 1, int(tree.right[node])
    if tree.levels[tree.feature[node]] is None:
        return f"{name} > {float(tree.threshold[node])}", right, left
    levels, known = tree.left_levels(node), tree.levels[tree.feature[node]]
    if known is not None and len(known) == 2:
        # CLUS asks for the first of two levels, and for 1 where they are 0 and 1
        asked = known[1] if tuple(map(str, known)) == ("0", "1") else known[0]
        return f"{name} = {asked}", *((left, right) if asked in levels else (right, left))
    test = f"{name} = {levels[0]}" if len(levels) == 1 else f"{name} in {{{','.join(map(str, levels))}}}"
    return test, left, right


def leaf_text(means: np.ndarray, weight: float, columns: PrototypeColumns, task: str) -> str:
    """Return what a leaf predicts and how many examples it has: numbers, frequencies of labels, or classes.

    Parameters
    ----------
    means : ndarray
        The prototype.
    weight : float
        Weight of the examples.
    columns : PrototypeColumns
        The coded target.
    task : str
        The task: leaves of a hierarchy show frequencies, other labels and classes are decided.
    """
    size, target = clus_number(weight, _DIGITS), task_target(task)
    if target.hierarchical or target.kind == "numbers":
        return f"{clus_list(means, _DIGITS)}: {size}"
    shown, counts = [], []
    for variable, levels in enumerate(columns.levels):
        own = means[columns.variable == variable]
        if levels is None and target.kind != "labels":
            shown.append(clus_number(own[0], _DIGITS))
            continue
        if levels is None:
            levels, own = (0, 1), np.array([1 - own[0], own[0]])
        best = int(reaches(own[1], 0.5)) if target.kind == "labels" else int(first_largest(own[None])[0])
        shown.append(str(levels[best]))
        counts.append(str(round(float(own[best] * weight), 4)))
    return f"[{','.join(shown)}] [{','.join(counts)}]: {size}"


# Which models ShowModels names; those of an ensemble are the others.
_SHOWN = {"Default": "default", "Original": "original", "Pruned": "pruned"}


def head_lines(path: Path, values: Values, examples: Examples) -> list[str]:
    """Return the start of a file: the run, its settings as they are given, and what is not followed.

    Parameters
    ----------
    path : Path
        The file that is written.
    values : Values
        The settings.
    examples : Examples
        The examples.
    """
    from omnirank import __version__

    train = examples.train
    missing = train.features.n_missing > 0 or not bool(train.labelled.all())
    n_targets = examples.n_attributes - train.n_features if train.target is not None else train.n_features
    lines = [
        *heading(f"Clus run {examples.relation}", "*"),
        "",
        f"Date: {datetime.now().strftime('%Y-%m-%d %H:%M')}",
        f"File: {path.name}",
        f"Written by: omnirank {__version__}",
        f"Attributes: {examples.n_attributes} (input: {train.n_features}, output: {n_targets})",
        f"Missing values: {'Yes' if missing else 'No'}",
        "",
    ]
    for section, given in values.settings.sections.items():
        lines += [f"[{section}]", *(f"{name} = {value}" for name, value in given.items()), ""]
    if values.notes:
        lines += [*heading("Notes", "-"), "", *values.notes, ""]
    return lines


def run_lines(fitted: Fitted, level_is_chosen: bool) -> list[str]:
    """Return the start of a run: its number, and how large the models are.

    Parameters
    ----------
    fitted : Fitted
        The models.
    level_is_chosen : bool
        Whether there are unlabelled examples that count, so that the level of supervision is told.
    """
    lines = [*heading("Run: 01", "*"), "", *heading("Statistics", "-"), ""]
    if level_is_chosen:
        lines.append(f"Level of supervision: {fitted.level:g}")
    lines.append("Model information:")
    return [*lines, *(f"     {model.name}: {size_text(model)}" for model in fitted.models), ""]


def error_lines(title: str, dataset: Dataset, models: Sequence[Model], training: Target) -> list[str]:
    """Return the measures of the task for all models on some examples, under a title.

    Parameters
    ----------
    title : str
        What the examples are.
    dataset : Dataset
        The examples; unlabelled ones do not count.
    models : sequence of Model
        The models.
    training : Target
        The target of the training set.
    """
    lines = [*heading(title, "-"), "", f"Number of examples: {dataset.n_examples}"]
    if not dataset.labelled.any():
        return [*lines, "No example has a known target.", ""]
    if not dataset.labelled.all():
        lines.append(f"Number of labelled examples: {int(dataset.labelled.sum())}")
    assert dataset.target is not None
    options: Any = {"training": training, "task": dataset.task, "hierarchy": dataset.hierarchy, "variant": "clus"}
    values = {model.name: measure(dataset.target, model.means(dataset), **options) for model in models}
    for measured in next(iter(values.values())):
        lines.append(measured)
        lines += [f"   {name:<{_WIDTH}}: {clus_number(own[measured])}" for name, own in values.items()]
    return [*lines, ""]


def shown_models(models: Sequence[Model], values: Values, train: Dataset) -> list[str]:
    """Return the models that are to be shown.

    Parameters
    ----------
    models : sequence of Model
        The models.
    values : Values
        The settings: which models are shown.
    train : Dataset
        The training examples.
    """
    lines, wanted = [], values.names("Output", "ShowModels")
    for model in models:
        if _SHOWN.get(model.name, "others") in wanted:
            shown = [f"Forest with {len(model.trees)} models"]
            if not model.is_forest:
                shown = tree_lines(model.trees[0], model.columns, train.feature_names, train.task)
            lines += [*heading(f"{model.name} Model", "*"), "", *shown, ""]
    return lines
