"""Trees from changed files: an error of omnirank, or a tree that predicts; never a crash, never an endless loop."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import omnirank as om
from omnirank.errors import DataTypeError, FileFormatError

TESTS = Path(__file__).parents[1]


def stump(**more):
    """A document with a numeric and a nominal test."""
    tests = {"missing_left": True, "gain": 0.5}
    return {
        "format": "omnirank-tree",
        "version": 1,
        "features": [{"name": "x", "levels": None}, {"name": "c", "levels": ["a", "b", "c"]}],
        "targets": [{"name": "y", "levels": None}, {"name": "z", "levels": None}],
        "sparse": False,
        "n_values": 2,
        "nodes": [
            {"weight": 4.0, "depth": 0, "feature": 0, "threshold": 0.5, "right": 4, **tests},
            {"weight": 2.0, "depth": 1, "feature": 1, "left_levels": [0, 2], "right": 3, **tests},
            {"weight": 1.0, "depth": 2, "prototype": [1.0, 2.0]},
            {"weight": 1.0, "depth": 2, "prototype": [3.0, 4.0]},
            {"weight": 2.0, "depth": 1, "prototype": [5.0, 6.0]},
        ],
    } | more


def read(document):
    return om.tree_from_json(json.dumps(document))


def test_the_document_of_these_tests_is_a_tree():
    tree = read(stump())
    assert tree.apply(np.array([[0.0, 2.0], [0.0, 1.0], [1.0, 0.0], [np.nan, np.nan]])).tolist() == [2, 3, 4, 2]
    assert tree.left_levels(1) == ("a", "c")


@pytest.mark.parametrize(
    ("node", "key", "value", "problem"),
    [
        (0, "right", 0, r"nodes\[0\].right: 0 where its left side ends at node 3"),
        (0, "right", 1, r"nodes\[0\].right"),
        (0, "right", -1, r"nodes\[0\].right: -1 is not a whole number"),
        (0, "right", 10**400, r"nodes\[0\].right"),
        (0, "right", True, r"nodes\[0\].right"),
        (1, "right", 4, r"nodes\[1\].right"),
        (0, "feature", 2, r"nodes\[0\].feature: 2 is not a whole number from 0 to 1"),
        (0, "feature", 1, r"nodes\[0\]: 'left_levels' is missing"),
        (0, "feature", False, r"nodes\[0\].feature"),
        (0, "threshold", None, r"nodes\[0\].threshold: None is not a number"),
        (0, "threshold", True, r"nodes\[0\].threshold"),
        (0, "threshold", 1e999, r"not a number of JSON"),
        (0, "threshold", 10**400, r"nodes\[0\].threshold"),
        (0, "gain", "1", r"nodes\[0\].gain"),
        (0, "missing_left", 1, r"nodes\[0\].missing_left"),
        (1, "left_levels", [0, 3], r"nodes\[1\].left_levels\[1\]: 3 is not a whole number from 0 to 2"),
        (1, "left_levels", [-1], r"nodes\[1\].left_levels"),
        (1, "left_levels", [0, 0], r"twice"),
        (2, "depth", 1, r"nodes\[2\].depth: 1 where its place in the tree has depth 2"),
        (2, "weight", -1.0, r"negative"),
        (2, "prototype", [1.0], r"nodes\[2\].prototype: 1 numbers, not 2"),
        (2, "prototype", [1.0, False], r"nodes\[2\].prototype\[1\]"),
        (2, "prototype", {"positions": [], "values": []}, r"nodes\[2\].prototype: .* is not a list"),
        (2, "right", 3, r"nodes\[2\]: 'right' does not belong there"),
    ],
)
def test_what_is_wrong_with_a_node_and_where(node, key, value, problem):
    document = stump()
    document["nodes"][node][key] = value
    with pytest.raises(FileFormatError, match=problem):
        read(document)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"nodes": []}, "nodes: 0 of them"),
        ({"nodes": stump()["nodes"][:4]}, r"nodes\[0\].right: 4 is not a whole number"),
        ({"nodes": [*stump()["nodes"], stump()["nodes"][4]]}, r"nodes\[5\]: no node leads to it"),
        ({"nodes": {"0": 1}}, "nodes: .* is not a list"),
        ({"n_values": 3}, "n_values: 3 where the targets have 2"),
        ({"n_values": 2**40}, "n_values"),
        ({"sparse": 0}, "sparse: 0 is neither"),
        ({"features": [{"name": "x", "levels": None}, {"name": "c", "levels": []}]}, r"left_levels\[0\]"),
        ({"features": [{"name": "x", "levels": None}, {"name": "c", "levels": [[], {}]}]}, r"levels\[0\]"),
        ({"features": [{"name": "x", "levels": None}, {"name": "c", "levels": ["a", "a"]}]}, "twice"),
        ({"features": [{"levels": None}]}, r"features\[0\]"),
    ],
)
def test_what_is_wrong_with_the_rest(more, problem):
    with pytest.raises(FileFormatError, match=problem):
        read(stump(**more))


@pytest.mark.parametrize(
    ("prototype", "problem"),
    [
        ({"positions": [2], "values": [1.0]}, r"positions\[0\]: 2 is not a whole number from 0 to 1"),
        ({"positions": [0, 1], "values": [1.0]}, "1 numbers, not 2"),
        ({"positions": [1, 1], "values": [1.0, 2.0]}, "twice"),
        ({"positions": [0]}, "not an object of positions and values"),
        ([1.0, 2.0], "not an object of positions and values"),
    ],
)
def test_sparse_prototypes(prototype, problem):
    leaf = {"weight": 1.0, "depth": 0, "prototype": {"positions": [1], "values": [0.5]}}
    assert read(stump(sparse=True, nodes=[leaf])).values.toarray().tolist() == [[0.0, 0.5]]
    with pytest.raises(FileFormatError, match=problem):
        read(stump(sparse=True, nodes=[leaf | {"prototype": prototype}]))


def test_deep_nesting_and_other_types_are_clear_errors():
    with pytest.raises(FileFormatError, match="too many values within values"):
        om.tree_from_json("[" * 200_000)
    with pytest.raises(FileFormatError, match="not valid JSON"):
        om.tree_from_json(json.dumps(stump()).replace("0.5", "9" * 5000, 1))
    with pytest.raises(DataTypeError, match="not bytes"):
        om.tree_from_json(b"{}")


_PROGRAM = """
import random, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import omnirank as om
from omnirank.data.table import Table
from omnirank.errors import OmnirankError
from omnirank.trees.prediction import average_means
from reference.damaged_json import changed_text

outcomes = {"error": 0, "tree": 0}
for n, name in enumerate(sys.argv[2:]):
    text = open(name, encoding="utf-8").read()
    randomness = random.Random(n)
    for _ in range(300):
        damaged = changed_text(text, randomness)
        try:
            tree = om.tree_from_json(damaged)
        except OmnirankError:
            outcomes["error"] += 1
            continue
        outcomes["tree"] += 1
        rng = np.random.default_rng(0)
        cells = [
            rng.normal(size=40) if levels is None else rng.integers(-1, max(1, len(levels)), 40).astype(np.int32)
            for levels in tree.levels
        ]
        cells = [np.full(40, -1, np.int32) if lev == () else c for c, lev in zip(cells, tree.levels)]
        table = Table.from_columns([f"x{i}" for i in range(len(cells))], cells, tree.levels)
        means = average_means([tree], table, tree.values.shape[1])
        assert means.shape == (40, tree.values.shape[1]) and np.isfinite(means).all()
        om.export_text(tree)
print(outcomes["error"], outcomes["tree"])
"""


@pytest.mark.slow
def test_changed_files_never_crash(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    frame = om.Dataset(X, X[:, 0] + rng.normal(size=60)).features.to_frame()
    frame["town"] = [f"t{i % 7}" for i in range(60)]
    models = {
        "numbers": om.PCTRegressor(pruning=None, max_depth=4).fit(frame, X[:, :2]),
        "classes": om.PCTClassifier(pruning=None, max_depth=3).fit(frame, np.where(X[:, 0] > 0, "yes", "no")),
        "labels": om.PCTClassifier(pruning=None, max_depth=3).fit(X, sparse.csr_array((X > 1.5).astype(float))),
        "clusters": om.PCTClusterer(max_depth=3).fit(X),
    }
    files = []
    for name, model in models.items():
        files.append(tmp_path / f"{name}.json")
        files[-1].write_text(om.export_json(model), encoding="utf-8")
        om.tree_from_json(files[-1].read_text(encoding="utf-8"))
    # in a process of its own: a segmentation fault or an endless loop is a failure of this test and no more
    found = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(TESTS), *map(str, files)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert found.returncode == 0, found.stderr[-2000:]
    n_errors, n_trees = map(int, found.stdout.split())
    assert n_errors > 600, "most changes leave no tree"
    assert n_trees > 30, "some changes (another threshold) leave one"
