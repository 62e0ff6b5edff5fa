"""The text of a run's files as CLUS writes it: numbers, models, errors, predictions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import numpy as np

from omnirank.clus.choices import OutputChoices
from omnirank.clus.examples import Examples
from omnirank.clus.models import Fitted, Model
from omnirank.clus.settings import Values
from omnirank.data.dataset import Dataset
from omnirank.data.table import is_sparse
from omnirank.data.target import Target
from omnirank.data.task_registry import task_named, task_target
from omnirank.measures.table import first_largest, reaches
from omnirank.measures.variables import confusion_matrix, confusion_measures
from omnirank.tasks import get_task
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


_DIGITS = 6


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


_WIDTH = 15
# What CLUS calls our measures of label sets.
_LABEL_MEASURES = {
    "HammingLoss": "hamming_loss",
    "RankingLoss": "ranking_loss",
    "OneError": "one_error",
    "Coverage": "coverage",
    "AveragePrecision": "average_precision",
    "MLAccuracy": "jaccard_samples",
    "MLPrecision": "precision_samples",
    "MLRecall": "recall_samples",
    "MLFOneMeasure": "f1_samples",
    "SubsetAccuracy": "subset_accuracy",
    "MacroPrecision": "precision_macro",
    "MacroRecall": "recall_macro",
    "MacroFOne": "f1_macro",
    "MicroPrecision": "precision_micro",
    "MicroRecall": "recall_micro",
    "MicroFOne": "f1_micro",
    "averageAUROC": "mean_auroc",
    "averageAUPRC": "mean_auprc",
    "weightedAUPRC": "weighted_auprc",
    "pooledAUPRC": "pooled_auprc",
}
_HIERARCHICAL_MEASURES = {
    "Average AUROC:            ": "mean_auroc",
    "Average AUPRC:            ": "mean_auprc",
    "Average AUPRC (weighted): ": "weighted_auprc",
    "Pooled AUPRC:             ": "pooled_auprc",
}


def error_lines(dataset: Dataset, means: Mapping[str, np.ndarray], training: Target) -> list[str]:
    """Return the errors of several models on labelled examples.

    Parameters
    ----------
    dataset : Dataset
        The examples; unlabelled ones do not count.
    means : mapping of str to ndarray
        What each model predicts for the columns of the target, one row per example.
    training : Target
        The target of the training set.
    """
    lines = [f"Number of examples: {dataset.n_examples}"]
    if not dataset.labelled.any():
        return [*lines, "No example has a known target."]
    if not dataset.labelled.all():
        lines.append(f"Number of labelled examples: {int(dataset.labelled.sum())}")
        means = {name: predicted[dataset.labelled] for name, predicted in means.items()}
        dataset = dataset.take(dataset.labelled)
    assert dataset.target is not None
    if task_target(dataset.task).kind == "labels":
        return lines + _label_lines(dataset, means, training)
    truth = get_task(dataset.task).columns(dataset.target)
    nominal = [v for v, levels in enumerate(truth.levels) if levels is not None]
    numeric = [v for v, levels in enumerate(truth.levels) if levels is None]
    if nominal:
        lines.append("Classification Error")
        for name, predicted in means.items():
            lines.append(f"   {name}: ")
            for v in nominal:
                own = truth.variable == v
                codes = np.where(np.isnan(truth.matrix[:, own][:, 0]), -1, np.argmax(truth.matrix[:, own], axis=1))
                lines += _class_lines(truth.names[v], truth.levels[v] or (), codes, predicted[:, own])
    if numeric:
        at = np.flatnonzero(np.isin(truth.variable, numeric))
        lines += number_lines(truth.matrix[:, at], {name: predicted[:, at] for name, predicted in means.items()})
    return lines


def number_lines(truth: np.ndarray, means: Mapping[str, np.ndarray]) -> list[str]:
    """Return the errors of predicted numbers: by target, and their mean.

    Errors are relative to the examples' own variance, as in CLUS.

    Parameters
    ----------
    truth : ndarray (n, T)
        The numbers; NaN is unknown.
    means : mapping of str to ndarray (n, T)
        The predictions of each model.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.clus.text import number_lines
    >>> print("\\n".join(number_lines(np.array([[0.0], [2.0]]), {"Default": np.array([[1.0], [1.0]])})[:4]))
    Mean absolute error (MAE)
       Default        : [1]
    Mean squared error (MSE)
       Default        : [1]
    """
    absolute = {name: np.nanmean(np.abs(truth - predicted), axis=0) for name, predicted in means.items()}
    squared = {name: np.nanmean((truth - predicted) ** 2, axis=0) for name, predicted in means.items()}
    rooted = {name: np.sqrt(errors) for name, errors in squared.items()}
    spread = np.sqrt(np.nanvar(truth, axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = {name: errors / spread for name, errors in rooted.items()}
    lines = []
    for title, values in (
        ("Mean absolute error (MAE)", absolute),
        ("Mean squared error (MSE)", squared),
        ("Root mean squared error (RMSE)", rooted),
        ("Root Relative Squared Error (RRMSE)", relative),
    ):
        lines.append(title)
        for name, errors in values.items():
            mean = f": {clus_number(float(np.mean(errors)))}" if len(errors) > 1 else ""
            lines.append(f"   {name:<{_WIDTH}}: {clus_list(errors)}{mean}")
    return lines


def _class_lines(name: str, levels: Sequence[object], codes: np.ndarray, frequencies: np.ndarray) -> list[str]:
    """The confusion matrix of one target, and its accuracy."""
    counts = confusion_matrix(codes, frequencies)
    texts = [str(level) for level in levels]
    label = max(len(r"REAL\PRED"), *(len(text) for text in texts))
    widths = [max(len(text), len(str(column.max()))) for text, column in zip(texts, counts.T, strict=True)]
    last = len(str(counts.sum()))

    def row(first: str, cells: Sequence[object], total: object) -> str:
        shown = " | ".join(f"{cell!s:>{width}}" for cell, width in zip(cells, widths, strict=True))
        return f"     {first:>{label}} | {shown} | {total!s:>{last}}".rstrip()

    rule = "     " + "-" * (len(row("", counts.sum(axis=0), counts.sum())) - 5)
    lines = [f"   Attribute: {name}", row(r"REAL\PRED", texts, ""), rule]
    lines += [row(text, counts[i], counts[i].sum()) for i, text in enumerate(texts)]
    lines += [rule, row("", counts.sum(axis=0), counts.sum())]
    lines.append(f"     Accuracy: {clus_number(confusion_measures(counts)['accuracy'], 6)}")
    return [*lines, ""]


def _label_lines(dataset: Dataset, means: Mapping[str, np.ndarray], training: Target) -> list[str]:
    assert dataset.target is not None
    # CLUS measures labels of a hierarchy in both ways.
    flat = task_named("labels")
    measured = {
        name: measure(dataset.target, predicted, training=training, task=flat, variant="clus")
        for name, predicted in means.items()
    }
    lines = []
    if not task_target(dataset.task).hierarchical:
        truth = dataset.target.dense()
        lines.append("Classification Error")
        for name, predicted in means.items():
            lines.append(f"   {name}: ")
            for i, label in enumerate(dataset.target_names):
                codes = np.where(np.isnan(truth[:, i]), -1, 1 - truth[:, i]).astype(np.intp)
                decided = reaches(predicted[:, i], 0.5).astype(float)
                lines += _class_lines(label, ("1", "0"), codes, np.column_stack([decided, 1 - decided]))
    else:
        lines.append("Hierarchical error measures")
        present = np.flatnonzero((dataset.target.dense() == 1).any(axis=0))
        present_truth, known_labels = dataset.target.select(present), training.select(present)
        for name, predicted in means.items():
            values = measure(present_truth, predicted[:, present], training=known_labels, task=flat, variant="clus")
            values["pooled_auprc"] = measured[name]["pooled_auprc"]  # absent labels can be predicted, too
            lines.append(f"   {name}: ")
            lines += [f"      {title}{values[known]!r}" for title, known in _HIERARCHICAL_MEASURES.items()]
    for title, known in _LABEL_MEASURES.items():
        lines.append(title)
        lines += [f"   {name:<{_WIDTH}}: {clus_number(values[known])}" for name, values in measured.items()]
    return lines


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
    number : int
        Number of the run, from 1.
    fitted : Fitted
        The models.
    level_is_chosen : bool
        Whether there are unlabelled examples that count, so that the level of supervision is told.
    """
    lines = [*heading("Run: 01", "*"), "", *heading("Statistics", "-"), ""]
    lines.append(f"FTValue (FTest): {fitted.f_test}")
    if level_is_chosen:
        lines.append(f"Level of supervision: {fitted.level:g}")
    lines.append("Model information:")
    return [*lines, *(f"     {model.name}: {size_text(model)}" for model in fitted.models), ""]


def errors_on(title: str, dataset: Dataset, means: Mapping[str, np.ndarray], train: Dataset) -> list[str]:
    """Return the errors of all models on some examples, under a title.

    Parameters
    ----------
    title : str
        What the examples are.
    dataset : Dataset
        The examples.
    means : mapping of str to ndarray
        What each model predicts.
    train : Dataset
        The training examples.
    """
    assert train.target is not None
    return [*heading(title, "-"), "", *error_lines(dataset, means, train.target), ""]


def shown_models(models: Sequence[Model], output: OutputChoices, names: Sequence[str], task: str) -> list[str]:
    """Return the models that are to be shown.

    Parameters
    ----------
    models : sequence of Model
        The models.
    output : OutputChoices
        What is written.
    names : sequence of str
        Names of the features.
    task : str
        The task.
    """
    lines = []
    for model in models:
        if _SHOWN.get(model.name, "others") in output.models:
            shown = [f"Forest with {len(model.trees)} models"]
            if not model.is_forest:
                shown = tree_lines(model.trees[0], model.columns, names, task)
            lines += [*heading(f"{model.name} Model", "*"), "", *shown, ""]
    return lines
