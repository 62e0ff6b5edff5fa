"""MATLAB, Parquet, Mulan's label files and the settings of CLUS."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.io import savemat

from omnirank.core.errors import FileFormatError, MissingDependencyError
from omnirank.data import parquet as parquet_module
from omnirank.data.load import load
from omnirank.data.matlab import read_matlab
from omnirank.data.mulan import read_mulan_labels
from omnirank.data.parquet import read_parquet, write_parquet
from omnirank.data.table import Table


def mat(path, variables, **options):
    savemat(path, variables, **options)
    return path


# -- MATLAB -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f8", "f4", "u1", "i8", "bool", "sparse"])
def test_matrices_as_scipy_writes_them(tmp_path, dtype):
    values = np.arange(12).reshape(3, 4) % (2 if dtype == "bool" else 7)
    given = sparse.csc_array(values.astype(float)) if dtype == "sparse" else values.astype(dtype)
    content = read_matlab(mat(tmp_path / "a.mat", {"X": given, "scalar": 3.5}, do_compression=True))
    assert content.table.is_sparse == (dtype == "sparse")
    assert content.table.dtype == ("f4" if dtype == "f4" else "f8")
    np.testing.assert_array_equal(np.column_stack([content.table.column(i) for i in range(4)]), values)
    assert content.notes == ("variables besides X and Y are not read: scalar",)


def test_matlab_targets(tmp_path):
    path = mat(tmp_path / "a.mat", {"x": np.array([[1.5, np.nan], [2, 3]]), "y": np.array([[2, 1]])})
    data = load(path)
    assert (data.feature_names, data.target_names, data.task) == (("x1", "x2"), ("Y",), "classification")
    assert data.y.tolist() == [2, 1]
    assert data.features.n_missing == 1
    X = np.eye(3)
    numbers = load(mat(tmp_path / "a.mat", {"X": X, "Y": np.array([[0.5], [1], [np.nan]])}))
    assert numbers.task == "regression"
    assert numbers.labelled.tolist() == [True, True, False]
    labels = load(mat(tmp_path / "b.mat", {"X": sparse.csc_matrix(X), "Y": np.array([[0, 1], [1, 1], [0, 0]])}))
    assert labels.task == "multi-label"
    assert labels.features.is_sparse
    assert labels.target.dense().tolist() == [[0, 1], [1, 1], [0, 0]]
    assert load(mat(tmp_path / "c.mat", {"X": X})).task == "clustering"
    several = [load(mat(tmp_path / "d.mat", {"X": X, "Y": [[1.0, 2], [3, y], [5, np.nan]]})).task for y in (4, 4.5)]
    assert several == ["multi-target-classification", "multi-target-regression"]


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({"A": np.eye(2)}, "no variable X"),
        ({"X": "text"}, "X is not a matrix of numbers"),
        ({"X": np.array([[np.inf]])}, r"column 'x1' holds an infinite value \(inf\) in row 0"),
        ({"X": np.eye(2), "Y": np.eye(3)}, "Y has the shape"),
        ({"X": np.zeros((0, 2))}, "0 sample"),
        ({"X": np.zeros((2, 2, 2))}, "Expected 2D array"),
    ],
)
def test_matlab_faults(tmp_path, variables, problem):
    with pytest.raises(FileFormatError, match=problem):
        read_matlab(mat(tmp_path / "a.mat", variables))


def test_not_a_matlab_file(tmp_path):
    path = mat(tmp_path / "a.mat", {"X": np.eye(5)})
    for content, problem in [
        (path.read_bytes()[:-20], "not a MATLAB file that can be read"),
        (b"hello", "not a MATLAB file that can be read"),
        (b"MATLAB 7.3 MAT-file" + bytes(200), "-v7"),
    ]:
        path.write_bytes(content)
        with pytest.raises(FileFormatError, match=problem):
            read_matlab(path)


# -- Parquet ----------------------------------------------------------------------------------------


def test_parquet_types(tmp_path):
    frame = pd.DataFrame(
        {
            "i": pd.array([1, None, 3], dtype="Int64"),
            "f": np.array([1.5, np.nan, 2], np.float32),
            "s": ["b", None, "a"],
            "c": pd.Categorical(["u", "v", None], categories=["v", "u", "w"]),
            "b": [True, False, True],
            "t": pd.to_datetime(["1970-01-02", None, "1970-01-01"]),
        }
    )
    frame.to_parquet(tmp_path / "a.parquet")
    content = read_parquet(tmp_path / "a.parquet")
    assert content.kinds == ("numeric", "numeric", "nominal", "nominal", "nominal", "date")
    assert content.table.levels[3] == ("v", "u", "w")
    np.testing.assert_array_equal(content.table.column(0), [1, np.nan, 3])
    np.testing.assert_array_equal(content.table.column(5), [86400, np.nan, 0])
    assert content.integers == {"i"}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"PAR1 not really", "not a Parquet file"),
        (pd.DataFrame({"a": [1.0, np.inf]}), r"'a'.*inf"),
        (pd.DataFrame({"a": [[1, 2]]}), "'a'"),
        (pd.DataFrame({"a": []}), "0 rows"),
    ],
)
def test_parquet_faults(tmp_path, content, problem):
    path = tmp_path / "a.parquet"
    path.write_bytes(content) if isinstance(content, bytes) else content.to_parquet(path)
    with pytest.raises(FileFormatError, match=problem):
        read_parquet(path)


def test_a_changed_byte_of_a_parquet_file_is_noticed(tmp_path):
    """Every byte of the pages changed, one after another: an error that names the file, never another value."""
    path = tmp_path / "a.parquet"
    values = np.random.default_rng(0).normal(size=(20, 2))
    write_parquet(Table.from_numeric(values), path)
    whole = path.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    n_refused = 0
    for at in range(4, footer, 3):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        try:
            found = read_parquet(path).table.numeric
        except FileFormatError as error:
            n_refused += "a.parquet" in str(error)
        else:
            np.testing.assert_array_equal(found, values)
    assert n_refused > 100


def test_parquet_of_a_newer_version(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_module, "_VERSION", 2)
    write_parquet(Table.from_numeric(np.eye(2)), tmp_path / "a.parquet")
    monkeypatch.undo()
    with pytest.raises(FileFormatError, match="newer omnirank"):
        read_parquet(tmp_path / "a.parquet")


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r"omnirank\[parquet\]"):
        read_parquet(tmp_path / "a.parquet")


# -- Mulan ------------------------------------------------------------------------------------------


def xml(tmp_path, text):
    path = tmp_path / "labels.xml"
    path.write_text(text)
    return path


def test_label_names_and_nesting(tmp_path):
    space = 'xmlns="http://mulan.sourceforge.net/labels"'
    text = f'<labels {space}><label name="a &amp; b"/><label name="c"/></labels>'
    labels = read_mulan_labels(xml(tmp_path, text))
    assert labels.names == ("a & b", "c")
    assert labels.hierarchy is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<labels><label name='a'></labels>", "line 1, column .*not well-formed"),
        ("<labels><lable name='a'/></labels>", "unexpected element <lable>"),
        ("<labels><label name='a'/><label name='a'/></labels>", "listed twice"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><labels/>", "document type"),
    ],
)
def test_label_file_faults(tmp_path, text, problem):
    with pytest.raises(FileFormatError, match=problem):
        read_mulan_labels(xml(tmp_path, text))


# -- CLUS settings ----------------------------------------------------------------------------------

ARFF = """@relation r
@attribute k string
@attribute 1 real
@attribute 2 {u,v}
@attribute a real
@attribute b real
@data
x,1,u,3,4
y,5,v,6,7
"""


def settings(tmp_path, text):
    (tmp_path / "data.arff").write_text(ARFF)
    path = tmp_path / "run.s"
    path.write_text("[Data]\nFile = data.arff\n" + text)
    return path


@pytest.mark.parametrize(
    ("text", "features", "target"),
    [
        ("[Attributes]\nTarget = 4-5\nDisable = 1\n", ("1", "2"), ("a", "b")),
        ("[attributes]\ntarget = 5 % the last\nKEY = 1\ndescriptive = 2,4\n", ("1", "a"), ("b",)),
        ("[Attributes]\nKey = 1\n", ("1", "2", "a"), ("b",)),
        ("[Attributes]\nTarget = 5\nDisable = 1,4-5\n", ("1", "2"), ("b",)),  # the target wins
        ("[Attributes]\nTarget = None\nDescriptive = 2-3\n", ("1", "2"), ()),
        ("[Attributes]\nDescriptive = 2-5\nTarget = 2-5\nClustering = 2-5\nKey = 1\n", ("1", "2", "a", "b"), ()),
    ],
)
def test_settings_name_the_columns_by_position(tmp_path, text, features, target):
    data = load(settings(tmp_path, text))
    assert data.feature_names == features
    assert data.target_names == target
    assert data.n_examples == 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[Attributes]\nTarget\n", "line 4: expected .*Name = value"),
        ("[Attributes]\nTarget = 9\n", r"\[Attributes\] Target=9: there are 5 columns"),
        ("[Attributes]\nTarget = 4-5\nDescriptive = 2-4\n", "column 4 is both Target and Descriptive"),
        ("[Hierarchical]\nType = Graph\n", "expected Tree or DAG"),
        ("[Attributes]\nDescriptive = 1\n", "no column is left"),
    ],
)
def test_settings_faults(tmp_path, text, problem):
    with pytest.raises(ValueError, match=problem):
        load(settings(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "problem"),
    [("[Data]\n", "no setting File"), ("File = a.arff\n", "before any"), ("\n% nothing\n", r"no \[Section")],
)
def test_settings_without_data(tmp_path, text, problem):
    path = tmp_path / "run.s"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=problem):
        load(path)
