"""Trees as text, Graphviz and JSON."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import omnirank as om
from omnirank.testing import tiny_dataset
from reference.ensembles_cases import CLASSIFIER_TASKS, TASKS


def model_for(task, **more):
    kind = om.PCTClassifier if task in CLASSIFIER_TASKS else om.PCTRegressor
    return kind(**{"random_state": 0, "pruning": None} | more).fit(tiny_dataset(task))


def towns(**more):
    frame = pd.DataFrame({"town": ["Bled", "Kranj", "Piran", "Rome"] * 6, "age": [1.0, 2.0, 3.0, 4.0] * 6})
    return om.PCTRegressor(pruning=None, **more).fit(
        frame[["town"]], np.where(frame["town"].isin(["Bled", "Rome", "Piran"]), 7.25, 1.0)
    )


# -- text -------------------------------------------------------------------------------------------------


def test_text_of_classes():
    text = om.export_text(model_for("classification", max_depth=2))
    assert text.splitlines() == [
        "strong <= -0.5746",
        "|-- yes: a (100 %), 15 examples",
        "`-- no:  strong <= 0.5903",
        "    |-- yes: b (100 %), 18 examples",
        "    `-- no:  c (100 %), 3 examples",
    ]


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("multi-target-classification", "y1 = a (100 %), y2 = no (100 %)"),
        ("multi-label", "{y1 (100 %), y2 (100 %)}"),
        ("hierarchical-multi-label", "{up (100 %), up/high (100 %)}"),
        ("mixed-targets", "level = a (100 %)"),
        ("multi-target-regression", "y1 = "),
    ],
)
def test_leaves_speak_the_words_of_the_task(task, words):
    assert words in om.export_text(model_for(task))


@pytest.mark.parametrize("task", TASKS)
def test_text_and_graph_show_every_node(task):
    model = model_for(task)
    assert len(om.export_text(model).splitlines()) == model.tree_.n_nodes
    graph = om.export_graphviz(model)
    assert len(re.findall(r"^  \d+ \[label=", graph, re.MULTILINE)) == model.tree_.n_nodes
    assert len(re.findall(r"^  \d+ -> \d+ ", graph, re.MULTILINE)) == model.tree_.n_nodes - 1


def test_nominal_tests_name_their_levels():
    text = om.export_text(towns())
    left, right = "town in {Kranj}", "town not in {Kranj}"
    assert left in text or right in text
    assert "7.25, 18 examples" in text
    assert "1, 6 examples" in text


def test_where_missing_values_go():
    frame = pd.DataFrame({"c": ["a", "a", "b", "b", "d", "d", None, None] * 3})
    y = np.where(frame["c"] == "b", 1.0, 0.0)
    tree = om.PCTRegressor(pruning=None).fit(frame, y)
    text = om.export_text(tree)
    # the missing ones are 0, as the levels a and d are
    assert re.match(r"c in \{b\}$|c not in \{b\} or missing$", text.splitlines()[0]), text
    y = np.where(frame["c"].isin(["a", "d"]), 0.0, 1.0)
    text = om.export_text(om.PCTRegressor(pruning=None).fit(frame, y))
    assert re.match(r"c in \{b\} or missing$|c not in \{b\} and not missing$", text.splitlines()[0]), text


def test_missing_values_are_named_only_where_there_were_some():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0] * 6, "b": [1.0, np.nan, np.nan, 2.0] * 6})
    y = np.where(frame["a"] < 3, 0.0, 1.0)
    text = om.export_text(om.PCTRegressor(pruning=None).fit(frame, y))
    assert text.splitlines()[0] == "a <= 2.5"
    alone = om.PCTRegressor(pruning=None).fit(frame[["b"]], frame["b"].fillna(1.0))
    assert om.export_text(alone).splitlines()[0] == "b <= 1.5 or missing"
    # a tree alone does not know what was missing
    assert om.export_text(om.PCTRegressor(pruning=None).fit(frame, y).tree_).splitlines()[0] == "x0 <= 2.5 or missing"


def test_leaves_without_any_label_are_empty():
    labels = np.zeros((24, 2), int)
    labels[:6, 0] = 1
    model = om.PCTClassifier(pruning=None, random_state=0).fit(np.arange(24.0).reshape(-1, 1), labels)
    assert "{}, 18 examples" in om.export_text(model)


def test_labels_below_the_threshold_are_left_out():
    model = om.PCTClassifier(random_state=0).fit(tiny_dataset("multi-label"))
    model.set_params(max_depth=0).fit(tiny_dataset("multi-label"))
    assert om.export_text(model) == "{} (most frequent: y3 41.7 %, y1 33.3 %, y2 5.56 %), 36 examples"
    assert "y1 (33.3 %)" in om.export_text(model, threshold=0.3)


def test_own_names_depth_and_digits():
    model = model_for("regression")
    text = om.export_text(model, feature_names=list("abcde"), max_depth=1, digits=2)
    lines = text.splitlines()
    assert lines[0].startswith("a <= -0.71")
    assert len(lines) == 3
    assert re.search(r"\.\.\. \d+ leaves, 13 examples", lines[1])
    n_leaves = sum(int(found) for found in re.findall(r"\.\.\. (\d+) leaves", text))
    assert n_leaves == model.get_n_leaves()
    with pytest.raises(ValueError, match=r"feature_names=.*: there are 2 names, 5"):
        om.export_text(model, feature_names=["a", "b"])


def test_a_tree_of_a_forest_and_a_tree_alone():
    data = tiny_dataset("classification")
    forest = om.PCTForestClassifier(n_trees=3, random_state=0).fit(data)
    texts = {om.export_text(forest, tree=i) for i in range(3)}
    assert len(texts) > 1
    with pytest.raises(ValueError, match="tree=3: choose a whole number from 0 to 2"):
        om.export_text(forest, tree=3)
    alone = om.export_text(forest.trees_[1])
    assert len(alone.splitlines()) == forest.trees_[1].n_nodes
    assert "x0 <= " in alone


def test_what_cannot_be_exported():
    from sklearn.exceptions import NotFittedError
    from sklearn.tree import DecisionTreeClassifier

    with pytest.raises(NotFittedError):
        om.export_text(om.PCTClassifier())
    with pytest.raises(ValueError, match="not DecisionTreeClassifier"):
        om.export_text(DecisionTreeClassifier())


def test_quotes_in_names_are_escaped_in_graphs():
    model = om.PCTRegressor(pruning=None).fit([[1.0], [2.0], [3.0], [4.0]], [0.5, 0.5, 2.5, 2.5])
    assert r'label="say \"x\" \\ <= 2.5\n4 examples"' in om.export_graphviz(model, feature_names=['say "x" \\'])


# -- JSON -------------------------------------------------------------------------------------------------


def check_document(tree, text):
    """Every number of the tree is in its JSON, exactly."""
    document = json.loads(text)
    nodes = document["nodes"]
    assert [entry["levels"] for entry in document["features"]] == [lev and list(lev) for lev in tree.levels]
    expected = {"weight": tree.weight, "depth": tree.depth}
    for name, values in expected.items():
        assert [node[name] for node in nodes] == values.tolist(), name
    for number, node in enumerate(nodes):
        assert ("feature" in node) == (not tree.is_leaf[number])
        if tree.is_leaf[number]:
            assert full(node["prototype"], tree.values.shape[1]) == dense(tree.means(np.array([number]))).tolist()
            continue
        for name in ("feature", "right", "missing_left", "gain"):
            assert node[name] == getattr(tree, name)[number].item(), name
        levels = tree.levels[node["feature"]]
        if levels is None:
            assert node["threshold"] == tree.threshold[number]
        else:
            assert tuple(levels[code] for code in node["left_levels"]) == tree.left_levels(number)


def dense(values):
    return (values.toarray() if sparse.issparse(values) else np.asarray(values))[0]


def full(prototype, n_values):
    if isinstance(prototype, list):
        return prototype
    values = np.zeros(n_values)
    values[prototype["positions"]] = prototype["values"]
    return values.tolist()


@pytest.mark.parametrize("task", TASKS)
def test_json_holds_the_tree(task):
    model = model_for(task)
    check_document(model.tree_, om.export_json(model))


@pytest.mark.slow
def test_json_of_many_levels_and_sparse_prototypes():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"c": pd.Categorical(rng.integers(0, 100, 400).astype(str))})
    model = om.PCTRegressor(random_state=0).fit(frame, rng.normal(size=400) + (frame["c"].cat.codes % 7).to_numpy())
    check_document(model.tree_, om.export_json(model))
    Y = sparse.csr_array((rng.random((100, 60)) < 0.05).astype(float))
    sets = om.PCTClassifier(random_state=0, pruning=None).fit(rng.normal(size=(100, 2)), Y)
    assert sparse.issparse(sets.tree_.values)
    check_document(sets.tree_, om.export_json(sets))


def test_json_says_what_it_is():
    document = json.loads(om.export_json(model_for("mixed-targets")))
    assert document["format"] == "omnirank-tree"
    assert document["version"] == 1
    assert document["package_version"] == om.__version__
    assert document["task"] == "mixed-targets"
    assert document["targets"] == [{"name": "value", "levels": None}, {"name": "level", "levels": ["a", "b", "c"]}]
    assert document["features"][3] == {"name": "group", "levels": ["low", "mid", "top"]}
