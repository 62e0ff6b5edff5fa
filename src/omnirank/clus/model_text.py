"""Models as CLUS writes them: trees of tests with their two branches, and leaves with what they predict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from omnirank.clus.models import Model
from omnirank.clus.numbers_text import clus_list, clus_number
from omnirank.data.table import is_sparse
from omnirank.data.task_registry import task_target
from omnirank.measures.decisions import first_largest, reaches
from omnirank.tasks.columns import PrototypeColumns
from omnirank.trees.tree import Tree

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


def model_lines(model: Model, names: Sequence[str], task: str, with_trees: bool = False) -> list[str]:
    """Return a model as text, one line per leaf.

    Parameters
    ----------
    model : Model
        The model.
    names : sequence of str
        Names of the features.
    task : str
        The task: leaves of a hierarchy show frequencies, other labels and classes are decided.
    with_trees : bool
        Whether the trees of an ensemble are written, too.
    """
    if not model.is_forest:
        return tree_lines(model.trees[0], model.columns, names, task)
    lines = [f"Forest with {len(model.trees)} models"]
    if with_trees:
        for number, tree in enumerate(model.trees, start=1):
            lines += ["", f"Model {number}:", *tree_lines(tree, model.columns, names, task)]
    return lines


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
    >>> from omnirank.clus.model_text import tree_lines
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
