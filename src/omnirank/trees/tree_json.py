"""Trees as JSON that keeps everything, number by number."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.errors import FileFormatError
from omnirank.data.table import is_sparse
from omnirank.trees.tree import Tree
from omnirank.trees.wording import words_of

__all__ = ["export_json", "tree_from_json"]

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
    ('omnirank-tree', [{'name': 'x1', 'levels': None}], {'weight': 2.0, 'depth': 1, 'prototype': [0.5]})
    """
    words = words_of(model, tree, feature_names, target_names)
    arrays = words.tree
    document = {
        "format": _FORMAT,
        "version": _VERSION,
        "package_version": _package_version(),
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
        With the same arrays.

    Examples
    --------
    >>> import omnirank as om
    >>> model = om.PCTRegressor(pruning=None).fit([[1.0], [2.0], [3.0], [4.0]], [0.5, 0.5, 2.5, 2.5])
    >>> om.tree_from_json(om.export_json(model)).threshold.tolist()
    [2.5, nan, nan]
    """
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise FileFormatError(f"not JSON: {error.msg}", line=error.lineno, column=error.colno) from None
    _check_heading(document)
    try:
        return _tree(document)
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise FileFormatError(f"malformed tree: {type(error).__name__} {error}") from error


def _package_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("omnirank")
    except PackageNotFoundError:  # run from a source folder
        return "unknown"


def _check_heading(document: Any) -> None:
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise FileFormatError(f"not a tree: its format is not {_FORMAT!r}")
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise FileFormatError(f"the version of the format is {version!r}, not a number from 1")
    if version > _VERSION:
        raise FileFormatError(
            f"written by omnirank {document.get('package_version', 'of unknown version')} in version {version} of the "
            f"format; this omnirank reads versions up to {_VERSION}: upgrade it"
        )


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


# -- reading ------------------------------------------------------------------------------------------


def _tree(document: dict[str, Any]) -> Tree:
    levels = tuple(None if f["levels"] is None else tuple(f["levels"]) for f in document["features"])
    nodes = document["nodes"]
    inner = np.array(["feature" in node for node in nodes], bool)
    starts, words = _subsets(nodes, levels)
    leaves = [node["prototype"] for node in nodes if "feature" not in node]
    return Tree(
        np.array([node.get("feature", -1) for node in nodes], np.int32),
        np.array([node.get("threshold", np.nan) for node in nodes], np.float64),
        np.array([node.get("right", 0) for node in nodes], np.int32),
        np.array([node.get("missing_left", False) for node in nodes], bool),
        starts,
        words,
        np.array([node.get("gain", 0.0) for node in nodes], np.float64),
        np.array([node["weight"] for node in nodes], np.float64),
        np.array([node["depth"] for node in nodes], np.int32),
        levels,
        _values(leaves, document["sparse"], document["n_values"]),
        np.where(inner, -1, np.cumsum(~inner) - 1),
    )


def _subsets(nodes: list[dict[str, Any]], levels: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray]:
    starts = np.zeros(len(nodes), np.int64)
    words: list[int] = []
    for i, node in enumerate(nodes):
        if "left_levels" in node:
            starts[i] = len(words)
            bits = [0] * -(-len(levels[node["feature"]]) // 64)
            for code in node["left_levels"]:
                bits[code >> 6] |= 1 << (code & 63)
            words += bits
    return starts, np.array(words, np.uint64)


def _values(leaves: list[Any], stored_sparse: bool, n_values: int) -> Any:
    if not stored_sparse:
        return np.array(leaves, np.float64).reshape(len(leaves), n_values)
    starts = np.concatenate([[0], np.cumsum([len(leaf["positions"]) for leaf in leaves])])
    positions = [position for leaf in leaves for position in leaf["positions"]]
    values = [value for leaf in leaves for value in leaf["values"]]
    return sparse.csr_array((values, positions, starts), shape=(len(leaves), n_values))
