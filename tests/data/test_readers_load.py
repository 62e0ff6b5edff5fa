"""`load`: formats, roles of columns, default targets and notes."""

import builtins
import io
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank.core.errors import DataError, DataTypeError, ParameterError
from omnirank.data import table as tables
from omnirank.data.load import load

ARFF = """@relation r
@attribute id string
@attribute size numeric
@attribute colour {red,blue}
@attribute count numeric
@attribute l1 {0,1}
@attribute l2 {0,1}
@data
a,1.5,red,3,0,1
b,?,blue,1,1,0
c,2.5,red,2,?,1
"""


@pytest.fixture
def arff(tmp_path):
    path = tmp_path / "small.set.arff"
    path.write_text(ARFF)
    return path


def test_roles(arff):
    data = load(arff, target="colour", key="id", ignore="l*")
    assert data.feature_names == ("size", "count")
    assert data.target_names == ("colour",)
    assert data.task == "classification"
    assert data.y.tolist() == ["red", "blue", "red"]
    assert data.name == "small.set"
    assert load(arff, "colour", features=["count", "size"]).feature_names == ("count", "size")


def test_tasks_go_by_declared_types(arff):
    assert load(arff, "count", strings="drop").task == "regression"
    assert load(arff, "count", strings="drop", task="classification").task == "classification"
    labels = load(arff, "last:2", strings="drop")
    assert labels.task == "multi-label"
    np.testing.assert_array_equal(labels.target.dense(), [[0, 1], [1, 0], [np.nan, 1]])
    assert load(arff, "colour,count", strings="drop").task == "mixed-targets"


def test_integers_of_a_delimited_file_are_classes(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y,z,w\n0.5,1,3,0.5\n0.7,2,4,1.5\n")
    assert load(path, "y").task == "classification"
    assert load(path, "y,z").task == "multi-target-classification"
    assert load(path, "y,w").task == "multi-target-regression"
    assert load(path, "w").task == "regression"


def test_string_attributes(arff):
    with pytest.raises(DataError, match=r"'id' is a string attribute.*strings='drop'.*nominal='id'"):
        load(arff, "count")
    dropped = load(arff, "count", strings="drop")
    assert dropped.feature_names == ("size", "colour", "l1", "l2")
    assert "the string attribute 'id' is not used" in dropped.notes
    nominal = load(arff, "count", nominal=["id", "size"])
    assert nominal.feature_names == ("id", "size", "colour", "l1", "l2")
    assert nominal.features.levels[:2] == (("a", "b", "c"), (1.5, 2.5))
    assert load(arff, "id", features="size", nominal="id").y.tolist() == ["a", "b", "c"]
    with pytest.raises(DataError, match="the target 'id' is a string attribute"):
        load(arff, "id", features="size")


def test_without_target_the_task_is_clustering_and_says_so(arff):
    data = load(arff, key="id")
    assert data.task == "clustering"
    assert data.target is None
    assert data.n_features == 5
    assert any("no target was named" in note for note in data.notes)
    with pytest.raises(ParameterError, match="needs a target"):
        load(arff, key="id", task="classification")


def test_target_by_a_meka_relation_name(arff):
    arff.write_text(ARFF.replace("@relation r", "@relation 'r: -C -2'"))
    data = load(arff, key="id")
    assert data.target_names == ("l1", "l2")
    assert any("-C -2" in note for note in data.notes)
    assert load(arff, "colour", key="id").target_names == ("colour",)


def test_target_by_a_label_file(arff, tmp_path):
    xml = tmp_path / "l.xml"
    xml.write_text('<labels><label name="l2"><label name="l1"/></label></labels>')
    data = load(arff, labels=xml, strings="drop")
    assert data.task == "hierarchical-multi-label"
    assert data.target_names == ("l2", "l1")
    assert data.hierarchy.to_edges() == [("l2", "l1")]
    np.testing.assert_array_equal(data.target.dense(), [[1, 0], [1, 1], [1, np.nan]])
    assert load(arff, labels=xml, strings="drop", ignore="l1").target_names == ("l2",)
    xml.write_text('<labels><label name="l1.1"/></labels>')
    with pytest.raises(DataError, match=r"lists the label 'l1\.1'.*did you mean 'l1'"):
        load(arff, labels=xml)
    with pytest.raises(ParameterError, match="target and labels are both given"):
        load(arff, "l1", labels=xml)


def test_hierarchical_attribute_is_found(tmp_path):
    path = tmp_path / "h.arff"
    text = "@relation r\n@attribute x real\n@attribute z {u,v}\n@attribute class hierarchical a,a/b,c\n@data\n"
    path.write_text(text + "1,u,a/b\n2,v,?\n3,u,root\n")
    data = load(path)
    assert data.task == "hierarchical-multi-label"
    assert data.labelled.tolist() == [True, False, True]
    np.testing.assert_array_equal(data.target.dense(), [[1, 1, 0], [np.nan] * 3, [0, 0, 0]])
    other = load(path, target="z")
    assert (other.task, other.hierarchy) == ("classification", None)
    assert "the hierarchical attribute 'class' is not used" in other.notes
    assert load(path, task="clustering").n_features == 2
    with pytest.raises(ParameterError, match="is a label hierarchy"):
        load(path, task="regression")
    with pytest.raises(DataError, match="must be the only target"):
        load(path, target="z,class")
    with pytest.raises(DataError, match="cannot be a feature"):
        load(path, target="z", features="x,class")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"target": "colour", "features": "colour,size"}, "'colour' is in both target and features"),
        ({"target": "colour", "ignore": "2-3"}, "'colour' is in both target and ignore"),
        ({"key": "id", "ignore": "id"}, "'id' is in both key and ignore"),
        ({"target": "color"}, "did you mean 'colour'"),
        *(({name: "zz"}, f"{name}='zz': there is no such column") for name in ("ignore", "key", "features")),
        ({"ignore": "1-last"}, "no column is left as a feature"),
        ({"target": "size", "strings": "maybe"}, "strings='maybe'"),
        ({"target": "size", "key": "id", "task": "guess"}, "guess"),
        ({"header": True}, r"header is for files that end in \.csv, .*, not for small\.set\.arff"),
        ({"separator": ","}, "separator is for files"),
        ({"nominal": "nothing"}, "nominal='nothing'"),
    ],
)
def test_mistakes(arff, options, problem):
    with pytest.raises(ValueError, match=problem):
        load(arff, **options)


def test_sparse_data_stay_sparse(tmp_path):
    path = tmp_path / "s.arff"
    labels = "@attribute l1 {0,1}\n@attribute l2 {0,1}\n"
    text = f"@relation r\n@attribute a real\n@attribute b {{0,1}}\n{labels}@data\n"
    path.write_text(text + "{0 2,2 1}\n{1 1}\n{3 ?}\n")
    data = load(path, target="l*")
    assert data.features.is_sparse
    assert data.features.levels == (None, ("0", "1"))
    np.testing.assert_array_equal(data.target.dense(), [[1, 0], [0, 0], [0, np.nan]])
    nominal = load(path, target="l*", nominal="a")
    assert nominal.features.levels[0] == (0, 2)


def test_many_whole_numbers_as_classes_are_noted(tmp_path):
    path = tmp_path / "ages.csv"
    path.write_text("x,age,kind\n" + "".join(f"{i}.5,{i},{i % 3}\n" for i in range(30)))
    data = load(path, target="age")
    assert data.task == "classification"
    assert any("30 classes" in note and "regression" in note for note in data.notes)
    for other in (load(path, target="age", task="regression"), load(path, target="kind")):
        assert not any("regression" in note for note in other.notes)


def test_load_wants_a_path():
    for given in (["a.csv"], pd.DataFrame({"a": [1]}), None):
        with pytest.raises(
            DataTypeError, match=r"load reads one file: give its path, not \w+; om.Dataset\(X, y\) takes"
        ):
            load(given)


FRAME = pd.DataFrame({"size": [1.5, 2.5, 3.5], "n": [1, 2, 3], "wet": [True, False, True], "kind": ["a", "b", "a"]})


def written(path: Path) -> Path:
    if path.suffix == ".csv":
        FRAME.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        FRAME.to_parquet(path)
    else:
        om.write_arff(om.Dataset(FRAME.drop(columns="kind"), FRAME["kind"]), path)
    return path


@pytest.mark.parametrize("name", ["a.csv", "a.arff", "a.parquet"])
def test_a_file_is_opened_at_most_twice(tmp_path, monkeypatch, name):
    path = written(tmp_path / name)
    om.load(path)  # imports open files too
    opened = []
    plain = io.open

    def counting(file, *args, **kwargs):
        opened.append(str(file))
        return plain(file, *args, **kwargs)

    monkeypatch.setattr(io, "open", counting)
    monkeypatch.setattr(builtins, "open", counting)
    om.load(path)
    assert 1 <= opened.count(str(path)) <= 2


def test_a_load_touches_few_files_of_omnirank(tmp_path):
    path = written(tmp_path / "a.csv")
    om.load(path, target="kind")
    files = set()

    def note(frame, event, _):
        if event == "call" and frame.f_globals.get("__name__", "").startswith("omnirank."):
            files.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        om.load(path, target="kind")
    finally:
        sys.setprofile(None)
    assert 5 < len(files) <= 18, sorted(files)


def test_infinite_cells_of_a_fit_are_looked_for_once(monkeypatch):
    looked_at = []
    plain = tables.any_infinite
    monkeypatch.setattr(tables, "any_infinite", lambda cells: (looked_at.append(cells.shape), plain(cells))[1])
    om.UnivariateRanker().fit(np.eye(9), np.arange(9) / 2)
    assert looked_at == [(9, 9), (9, 1)]  # features and target
