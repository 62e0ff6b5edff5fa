"""``omnirank tree``, as a user meets it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from tools.command import run


@pytest.fixture
def plants(tmp_path):
    rng = np.random.default_rng(0)
    height = rng.normal(size=60).round(2)
    frame = pd.DataFrame({"height": height, "width": rng.normal(size=60), "size": 2.5 * (height > 0) + 0.25})
    frame["kind"] = np.where(height > 0, "tall", "small")
    path = tmp_path / "plants.csv"
    frame.to_csv(path, index=False)
    return path


def test_prints_a_pruned_tree(plants):
    result = run("tree", plants, "--target", "kind", "--ignore", "size")
    first, *leaves = result.stdout.splitlines()
    assert first.startswith("height <= ")
    assert len(leaves) == 2
    assert "tall (100 %)" in result.stdout
    assert "3 nodes, 2 leaves, depth 1" in result.stderr


def test_is_the_tree_of_the_library(plants):
    data = om.load(plants, "size", ignore="kind")
    model = om.PCTRegressor(pruning=None, max_depth=3, random_state=4).fit(data)
    options = ("--target", "size", "--ignore", "kind", "--no-prune", "--max-depth", "3", "--seed", "4")
    assert run("tree", plants, *options).stdout == om.export_text(model) + "\n"
    assert run("tree", plants, *options, "--dot").stdout == om.export_graphviz(model) + "\n"
    document = json.loads(run("tree", plants, *options, "--json").stdout)
    assert len(document["nodes"]) == model.tree_.n_nodes


def test_writes_to_a_file(plants, tmp_path):
    out = tmp_path / "tree.json"
    result = run("tree", plants, "-t", "kind", "--json", "--out", out)
    assert result.stdout == ""
    assert om.tree_from_json(out.read_text()).n_leaves >= 2


def test_refuses_what_makes_no_sense(plants):
    assert "name it with --target" in run("tree", plants, "--supervision", "1", code=2).stderr
    assert "choose one" in run("tree", plants, "-t", "kind", "--dot", "--json", code=2).stderr


def test_a_threshold_is_a_share(plants):
    assert "--threshold 2" in run("tree", plants, "--target", "kind", "--threshold", "2", code=2).stderr


def test_a_tree_pruned_to_its_root_is_explained(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "noise.csv"
    pd.DataFrame({"x": rng.normal(size=40), "y": rng.normal(size=40)}).to_csv(path, index=False)
    assert "--no-prune" in run("tree", path, "--target", "y").stderr
    assert "--no-prune" not in run("tree", path, "--target", "y", "--no-prune").stderr
