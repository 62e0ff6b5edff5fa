"""Trees as JSON that keeps everything, and numbers exactly."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from omnirank.core.errors import DataTypeError
from omnirank.core.files import check_heading, own_heading, parsed_json
from omnirank.data.table import is_sparse
from omnirank.trees.tree import Tree
from omnirank.trees.tree_document import tree_of_document
from omnirank.trees.tree_text import words_of

_FORMAT = "omnirank-tree"
_VERSION = 1


def export_json(
    model: Any,
    *,
    tree: int = 0,
    feature_names: Sequence[str] | None = None,
    target_names: Sequence[str] | None = None,
) -> str:
    """Return a tree as JSON: its features, its targets, and its nodes in preorder.

    A node with a test has ``feature`` (a position), ``threshold`` (a number goes left if it is at most that) or
    ``left_levels`` (positions of the levels that go left), ``missing_left``, ``gain`` and ``right``, the number of its
    right child; its left child follows it. A leaf has ``prototype``: a list of numbers, or positions and values where
    most are 0. Every node has ``weight`` and ``depth``.

    Parameters
    ----------
    model, tree, feature_names, target_names
        As in :func:`omnirank.export_text`.

    Returns
    -------
    str
        The text; :func:`omnirank.tree_from_json` reads it.

    Examples
    --------
    >>> import json
    >>> import omnirank as om
    >>> model = om.PCTRegressor(pruning=None).fit([[1.0], [2.0], [3.0], [4.0]], [0.5, 0.5, 2.5, 2.5])
    >>> document = json.loads(om.export_json(model))
    >>> document["format"], document["features"], document["nodes"][1]
    ('omnirank-tree', [{'name': 'x0', 'levels': None}], {'weight': 2.0, 'depth': 1, 'prototype': [0.5]})
    """
    words = words_of(model, tree, feature_names, target_names)
    arrays = words.tree
    document = own_heading(_FORMAT, _VERSION) | {
        "task": getattr(model, "task_", None),
        "features": _variables(words.feature_names, arrays.levels),
        "targets": _variables(words.target_names, words.target_levels),
        "sparse": is_sparse(arrays.values),
        "n_values": int(arrays.values.shape[1]),
    }
    lines = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in document.items()]
    nodes = ",\n".join(f"    {json.dumps(_node(arrays, node))}" for node in range(arrays.n_nodes))
    return "{\n" + ",\n".join([*lines, f'  "nodes": [\n{nodes}\n  ]']) + "\n}\n"


def tree_from_json(text: str) -> Tree:
    """Return the tree that :func:`omnirank.export_json` has written.

    Parameters
    ----------
    text : str
        The JSON text.

    Returns
    -------
    Tree
        With the same arrays. A text that is not JSON, or that describes no tree, is a
        `FileFormatError` that names the place.

    Examples
    --------
    >>> import omnirank as om
    >>> model = om.PCTRegressor(pruning=None).fit([[1.0], [2.0], [3.0], [4.0]], [0.5, 0.5, 2.5, 2.5])
    >>> om.tree_from_json(om.export_json(model)).threshold.tolist()
    [2.5, nan, nan]
    """
    if not isinstance(text, str):
        raise DataTypeError(f"give the text of export_json, not {type(text).__name__}")
    document = check_heading(parsed_json(text), _FORMAT, range(1, _VERSION + 1), what="a tree")
    return tree_of_document(document)


# -- writing ------------------------------------------------------------------------------------------


def _variables(names: Sequence[str], levels: Sequence[Any]) -> list[dict[str, Any]]:
    return [
        {"name": name, "levels": None if lev is None else list(lev)} for name, lev in zip(names, levels, strict=True)
    ]


def _node(tree: Tree, node: int) -> dict[str, Any]:
    found: dict[str, Any] = {"weight": float(tree.weight[node]), "depth": int(tree.depth[node])}
    feature = int(tree.feature[node])
    if feature < 0:
        found["prototype"] = _prototype(tree, node)
        return found
    found["feature"] = feature
    levels = tree.levels[feature]
    if levels is None:
        found["threshold"] = float(tree.threshold[node])
    else:
        left = set(tree.left_levels(node))
        found["left_levels"] = [code for code, level in enumerate(levels) if level in left]
    found["missing_left"] = bool(tree.missing_left[node])
    found["right"] = int(tree.right[node])
    found["gain"] = float(tree.gain[node])
    return found


def _prototype(tree: Tree, node: int) -> Any:
    values = tree.means(np.array([node]))
    if is_sparse(values):
        return {"positions": values.indices.tolist(), "values": values.data.tolist()}
    return values[0].tolist()
