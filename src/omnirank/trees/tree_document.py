"""A tree from its JSON document: nothing in it is trusted, because kernels follow children without looking."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from omnirank.core.errors import FileFormatError
from omnirank.data.table import Levels
from omnirank.trees.tree import Tree

_OF_ALL = frozenset({"weight", "depth"})
_OF_LEAVES = _OF_ALL | {"prototype"}
_OF_TESTS = _OF_ALL | {"feature", "missing_left", "right", "gain"}
# Numbers of nodes, features and positions are kept in 32 bits.
_MOST = 2**31 - 1
_MOST_SHOWN = 60


def tree_of_document(document: dict[str, Any]) -> Tree:
    """Return the tree that a document of `omnirank.export_json` describes; a clear error if it does not describe one.

    Examples
    --------
    >>> from omnirank.trees.tree_document import tree_of_document
    >>> leaf = {"weight": 2.0, "depth": 0, "prototype": [0.5]}
    >>> document = {"features": [], "sparse": False, "n_values": 1, "nodes": [leaf]}
    >>> document["targets"] = [{"name": "y", "levels": None}]
    >>> tree_of_document(document).values.tolist()
    [[0.5]]
    >>> tree_of_document(document | {"nodes": [leaf, leaf]})
    Traceback (most recent call last):
    omnirank.core.errors.FileFormatError: malformed tree: nodes[1]: no node leads to it
    """
    levels = _levels(document, "features")
    n_values = _n_values(document)
    is_sparse = _entry(document, "sparse", "")
    if not isinstance(is_sparse, bool):
        _refuse("sparse", f"{_shown(is_sparse)} is neither true nor false")
    nodes = _list(_entry(document, "nodes", ""), "nodes")
    if not nodes or len(nodes) > _MOST:
        _refuse("nodes", f"{len(nodes)} of them")
    for i, node in enumerate(nodes):
        _check_node(node, f"nodes[{i}]", levels, len(nodes))
    _check_order(nodes)
    inner = np.array(["feature" in node for node in nodes], bool)
    starts, words = _subsets(nodes, levels)
    leaves = [(node["prototype"], f"nodes[{i}].prototype") for i, node in enumerate(nodes) if not inner[i]]
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
        _sparse_values(leaves, n_values) if is_sparse else _dense_values(leaves, n_values),
        np.where(inner, -1, np.cumsum(~inner) - 1),
    )


# -- single values ----------------------------------------------------------------------------------------


def _refuse(where: str, problem: str) -> NoReturn:
    raise FileFormatError(f"malformed tree: {where}: {problem}" if where else f"malformed tree: {problem}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


def _entry(found: dict[str, Any], key: str, where: str) -> Any:
    if key not in found:
        _refuse(where, f"there is no {key!r}")
    return found[key]


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        _refuse(where, f"{_shown(value)} is not a list")
    return value


def _whole(value: Any, where: str, least: int, most: int) -> int:
    # true is an int to Python
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        _refuse(where, f"{_shown(value)} is not a whole number from {least} to {most}")
    return value


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        _refuse(where, f"{_shown(value)} is not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        _refuse(where, f"{_shown(value)} is too large")
    return number


# -- variables --------------------------------------------------------------------------------------------


def _levels(document: dict[str, Any], key: str) -> tuple[Levels | None, ...]:
    """Levels of each feature or target, None for a number."""
    found = []
    for i, variable in enumerate(_list(_entry(document, key, ""), key)):
        where = f"{key}[{i}]"
        if not isinstance(variable, dict) or not isinstance(variable.get("name"), str):
            _refuse(where, "not an object with a name")
        levels = _entry(variable, "levels", where)
        found.append(None if levels is None else _checked_levels(levels, f"{where}.levels"))
    return tuple(found)


def _checked_levels(levels: Any, where: str) -> Levels:
    for i, level in enumerate(_list(levels, where)):
        if not isinstance(level, str | bool | int | float):
            _refuse(f"{where}[{i}]", f"{_shown(level)} is not a string or a number")
    if len(set(levels)) != len(levels):
        _refuse(where, "a level is there twice")
    return tuple(levels)


def _n_values(document: dict[str, Any]) -> int:
    """Length of a prototype: one number for each number or label, one for each level of the other targets."""
    n_values = _whole(_entry(document, "n_values", ""), "n_values", 1, _MOST)
    widths = [1 if levels is None else len(levels) for levels in _levels(document, "targets")]
    if sum(widths) != n_values:
        _refuse("n_values", f"{n_values} where the targets have {sum(widths)}")
    return n_values


# -- nodes ------------------------------------------------------------------------------------------------


def _check_node(node: Any, where: str, levels: tuple[Levels | None, ...], n_nodes: int) -> None:
    if not isinstance(node, dict):
        _refuse(where, f"{_shown(node)} is not an object")
    expected = _OF_LEAVES
    if "feature" in node:
        feature = _whole(node["feature"], f"{where}.feature", 0, len(levels) - 1)
        expected = _OF_TESTS | {"threshold" if levels[feature] is None else "left_levels"}
    if node.keys() != expected:
        odd = sorted(node.keys() ^ expected)[0]
        _refuse(where, f"{odd!r} {'does not belong there' if odd in node else 'is missing'}")
    if _number(node["weight"], f"{where}.weight") < 0:
        _refuse(f"{where}.weight", f"{node['weight']} is negative")
    _whole(node["depth"], f"{where}.depth", 0, n_nodes)
    if "feature" not in node:
        return
    own_levels = levels[node["feature"]]
    if own_levels is None:
        _number(node["threshold"], f"{where}.threshold")
    else:
        _check_positions(node["left_levels"], f"{where}.left_levels", len(own_levels))
    if not isinstance(node["missing_left"], bool):
        _refuse(f"{where}.missing_left", f"{_shown(node['missing_left'])} is neither true nor false")
    _whole(node["right"], f"{where}.right", 0, n_nodes - 1)
    _number(node["gain"], f"{where}.gain")


def _check_positions(positions: Any, where: str, n: int) -> None:
    for i, position in enumerate(_list(positions, where)):
        _whole(position, f"{where}[{i}]", 0, n - 1)
    if len(set(positions)) != len(positions):
        _refuse(where, "a position is there twice")


def _check_order(nodes: list[dict[str, Any]]) -> None:
    """Refuse nodes that are not one tree in preorder: after a leaf comes the right child of the last open test."""
    open_tests: list[int] = []
    depth = 0
    for i, node in enumerate(nodes):
        if node["depth"] != depth:
            _refuse(f"nodes[{i}].depth", f"{node['depth']} where its place in the tree has depth {depth}")
        if "feature" in node:
            open_tests.append(i)
            depth += 1
            continue
        if not open_tests:
            if i + 1 < len(nodes):
                _refuse(f"nodes[{i + 1}]", "no node leads to it")
            return
        test = open_tests.pop()
        if nodes[test]["right"] != i + 1:
            _refuse(f"nodes[{test}].right", f"{nodes[test]['right']} where its left side ends at node {i}")
        depth = nodes[test]["depth"] + 1
    _refuse(f"nodes[{open_tests[-1]}]", "its children are missing")


def _subsets(nodes: list[dict[str, Any]], levels: tuple[Levels | None, ...]) -> tuple[np.ndarray, np.ndarray]:
    starts = np.zeros(len(nodes), np.int64)
    words: list[int] = []
    for i, node in enumerate(nodes):
        if "left_levels" in node:
            starts[i] = len(words)
            bits = [0] * -(-len(levels[node["feature"]] or ()) // 64)
            for code in node["left_levels"]:
                bits[code >> 6] |= 1 << (code & 63)
            words += bits
    return starts, np.array(words, np.uint64)


# -- prototypes -------------------------------------------------------------------------------------------


def _dense_values(leaves: list[tuple[Any, str]], n_values: int) -> np.ndarray:
    return np.array([_numbers(leaf, where, n_values) for leaf, where in leaves], np.float64)


def _sparse_values(leaves: list[tuple[Any, str]], n_values: int) -> Any:
    values: list[float] = []
    positions: list[int] = []
    starts = [0]
    for leaf, where in leaves:
        if not isinstance(leaf, dict) or leaf.keys() != {"positions", "values"}:
            _refuse(where, "not an object of positions and values")
        _check_positions(leaf["positions"], f"{where}.positions", n_values)
        positions += leaf["positions"]
        values += _numbers(leaf["values"], f"{where}.values", len(leaf["positions"]))
        starts.append(len(positions))
    return sparse.csr_array(
        (np.array(values, np.float64), np.array(positions, np.int32), np.array(starts, np.int32)),
        shape=(len(leaves), n_values),
    )


def _numbers(values: Any, where: str, n: int) -> list[float]:
    if len(_list(values, where)) != n:
        _refuse(where, f"{len(values)} numbers, not {n}")
    return [_number(value, f"{where}[{i}]") for i, value in enumerate(values)]
