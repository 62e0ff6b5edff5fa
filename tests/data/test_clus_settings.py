"""What settings of CLUS say about the data: where the files are, the columns, and how labels are written."""

from pathlib import Path

import pytest

from omnirank import load
from omnirank.core.errors import FileFormatError

NUMBERS = "@relation r\n@attribute a real\n@attribute b real\n@attribute c real\n@data\n1,2,3\n4,5,6\n"


def written(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text)
    return path


def hierarchical(tmp_path: Path, entries: str, rows: list[str], settings: str = "HSeparator = /"):
    lines = ["@relation r", "@attribute x real", f"@attribute class hierarchical {entries}", "@data", *rows]
    written(tmp_path, "h.arff", "\n".join(lines) + "\n")
    return load(written(tmp_path, "h.s", f"[Data]\nFile = h.arff\n[Hierarchical]\n{settings}\n"))


def test_file_names_are_taken_from_the_working_directory_first(tmp_path, monkeypatch):
    settings = written(tmp_path / "settings", "run.s", "[Data]\nFile = data.arff\n")
    written(tmp_path / "settings", "data.arff", NUMBERS)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert load(settings).n_examples == 2  # beside the settings
    written(here, "data.arff", NUMBERS + "7,8,9\n")
    assert load(settings).n_examples == 3


def test_a_file_that_is_nowhere_is_told_with_both_places(tmp_path):
    settings = written(tmp_path, "run.s", "[Data]\nFile = dat.arff\n")
    written(tmp_path, "data.arff", NUMBERS)
    with pytest.raises(FileFormatError, match=r"File = dat.arff.*nor beside.*did you mean 'data.arff'"):
        load(settings)


@pytest.mark.parametrize(
    ("entries", "rows", "settings", "labels", "values"),
    [
        # a comma may end the list of labels
        ("a,a/b,", ["1,a/b", "2,a"], "HSeparator = /", ("a", "a/b"), [[1, 1], [1, 0]]),
        # paths need not list their parents
        ("a/b/c,d", ["1,a/b/c", "2,a/b@d"], "HSeparator = /", ("a", "a/b", "a/b/c", "d"), [[1, 1, 1, 0], [1, 1, 0, 1]]),
        # a label of a DAG may stand alone
        ("a,b,a/c,b/c", ["1,c", "2,a"], "Type = DAG\nHSeparator = /", ("a", "b", "c"), [[1, 1, 1], [1, 0, 0]]),
        # where no separator is named, it is a point
        ("a,a.b", ["1,a.b", "2,a"], "Type = Tree", ("a", "a.b"), [[1, 1], [1, 0]]),
        ("a,a/b", ["1,a/b", "2,a"], "Type = Tree", ("a", "a/b"), [[0, 1], [1, 0]]),
        # a last part of 0 is no label
        (
            *("1,1/1,1/1/0,2/0/0,1/10", ["1,1@1/1@1/1/0", "2,2/0/0", "3,1/10"], "HSeparator = /"),
            *(("1", "1/1", "2", "1/10"), [[1, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 1]]),
        ),
    ],
)
def test_labels_are_read_as_clus_reads_them(tmp_path, entries, rows, settings, labels, values):
    data = hierarchical(tmp_path, entries, rows, settings)
    assert data.hierarchy.labels == labels
    assert data.target.dense().tolist() == values
    assert any("HSeparator" in note for note in data.notes) == ("/" in entries and "HSeparator" not in settings)


@pytest.mark.parametrize(("settings", "cell"), [("", "n"), ("EmptySetIndicator = none\n", "none")])
def test_the_empty_set_is_labelled_and_a_question_mark_is_not(tmp_path, settings, cell):
    data = hierarchical(tmp_path, "a,a/b", ["1,a/b", f"2,{cell}", "3,?"], f"HSeparator = /\n{settings}")
    assert data.labelled.tolist() == [True, True, False]
    assert data.target.dense()[:2].tolist() == [[1, 1], [0, 0]]


def test_a_question_mark_is_unlabelled_also_as_the_empty_set(tmp_path):
    data = hierarchical(tmp_path, "a,a/b", ["1,a/b", "3,?"], "HSeparator = /\nEmptySetIndicator = ?")
    assert data.labelled.tolist() == [True, False]
    assert any("EmptySetIndicator" in note for note in data.notes)


SPARSE = "@relation r\n@attribute a real\n@attribute b {u,v}\n@attribute y real\n@data\n{1 2,3 5}\n{2 v,3 1}\n"


def test_sparse_rows_are_counted_from_one(tmp_path):
    written(tmp_path, "s.arff", SPARSE)
    data = load(written(tmp_path, "s.s", "[Data]\nFile = s.arff\n"))
    assert data.features.column(0).tolist() == [2, 0]
    assert data.features.column(1).tolist() == [0, 1]
    assert data.y.tolist() == [5, 1]


def test_an_index_that_clus_would_not_read_is_a_fault(tmp_path):
    written(tmp_path, "s.arff", SPARSE.replace("{1 2", "{0 2"))
    with pytest.raises(FileFormatError, match=r"line 6.*index 0: the attributes are 1 to 3"):
        load(written(tmp_path, "s.s", "[Data]\nFile = s.arff\n"))


@pytest.mark.parametrize(("clustering", "told"), [("3", False), ("1-3", False), ("2", True), ("2-3", True)])
def test_clustering_attributes_that_are_not_followed_are_told(tmp_path, clustering, told):
    written(tmp_path, "data.arff", NUMBERS)
    attributes = f"[Attributes]\nTarget = 3\nClustering = {clustering}\n"
    notes = load(written(tmp_path, "run.s", f"[Data]\nFile = data.arff\n{attributes}")).notes
    assert any(f"Clustering = {clustering} is not followed" in note for note in notes) is told
