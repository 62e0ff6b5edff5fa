"""What is written is read back: ARFF and Parquet, every kind of column and target."""

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import sparse

import omnirank as om
from draws import draws
from omnirank.core.errors import DataError
from omnirank.data.arff import read_arff
from omnirank.data.parquet import read_parquet, write_parquet
from omnirank.data.table import Table
from omnirank.data.write import write_arff

TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=6),
    st.sampled_from(["?", " ", "'", '"', "\\", "%", "{", "}", ",", "a b", "\n", "\r\n", "\0", "-C 3", "x: -C 1"]),
    st.sampled_from(
        ["", "NA", "nan", "1", "1.0", "true", "True", "'1", "#", "=1+1", "2020-01-31", "\ufeff", "inf", "ä"]
    ),
)
VALUES = st.floats(allow_nan=False, allow_infinity=False)


def unique_texts(n: int):
    return st.lists(TEXTS, min_size=n, max_size=n, unique=True)


@st.composite
def tables(draw, min_columns=1):
    """A table of any kind of columns, dense or sparse, with missing cells."""
    n_rows, n_columns = draw(st.integers(1, 6)), draw(st.integers(min_columns, 5))
    as_sparse = draw(st.booleans())
    columns, levels = [], []
    for _ in range(n_columns):
        domain = draw(st.none() | st.integers(1 if as_sparse else 0, 3).flatmap(unique_texts))
        if domain is None:
            cells = [np.nan if draw(st.integers(0, 4)) == 0 else draw(VALUES) for _ in range(n_rows)]
        else:
            cells = [draw(st.integers(-1, len(domain) - 1)) for _ in range(n_rows)]
        columns.append(np.array(cells, float if domain is None else np.int32))
        levels.append(None if domain is None else tuple(domain))
    names = draw(unique_texts(n_columns))
    dense = Table.from_columns(names, columns, levels)
    if not as_sparse:
        return dense
    values = [np.where(c < 0, np.nan, c) if lev is not None else c for c, lev in zip(columns, levels, strict=True)]
    return Table.from_sparse(sparse.csc_array(np.column_stack(values).astype(float)), names, levels)


@st.composite
def hierarchies(draw):
    """A tree by paths or a DAG by pairs, as files declare them."""
    words = st.text("abc'\" %?é", min_size=1, max_size=3).filter(lambda text: text == text.strip() and text != "root")
    if draw(st.booleans()):
        paths = draw(
            st.lists(st.lists(words, min_size=1, max_size=3).map("/".join), min_size=1, max_size=5, unique=True)
        )
        return om.Hierarchy.from_paths(paths)
    labels = draw(st.lists(words, min_size=1, max_size=6, unique=True))
    edges = []
    for child in range(len(labels)):
        above = draw(st.lists(st.integers(0, child - 1), unique=True, max_size=2)) if child else []
        edges += [(labels[parent], labels[child]) for parent in above] or [("root", labels[child])]
    return om.Hierarchy.from_edges(draw(st.permutations(edges)), root="root")


@st.composite
def datasets(draw):
    """A data set of any task."""
    features = draw(tables())
    kind = draw(st.sampled_from(["none", "columns", "labels", "hierarchy"]))
    name = draw(TEXTS)
    n = features.n_rows
    if kind == "none":
        return om.Dataset(features, name=name)
    if kind == "hierarchy":
        hierarchy = draw(hierarchies())
        some = st.sets(st.sampled_from(hierarchy.labels), max_size=3)
        sets = [draw(st.none() | some) for _ in range(n)]
        sets[0] = draw(some)
        return om.Dataset(features, sets, hierarchy=hierarchy, name=name)
    prefix = "".join(features.names) + "target"  # so that no feature has the same name
    if kind == "labels":
        cells = st.sampled_from([0.0, 1.0, np.nan])
        values = np.array([[draw(cells) for _ in range(3)] for _ in range(n)])
        values[0, 0] = 1
        values = sparse.csr_array(values) if draw(st.booleans()) else values
        return om.Dataset(
            features, values, target_names=[f"{prefix}{i}" for i in range(3)], task="multi-label", name=name
        )
    target = draw(tables())
    columns = [target.column(i) for i in range(target.n_columns)]
    columns = [c if np.isfinite(c).any() else np.ones(n_c) for c in columns for n_c in [len(c)]]
    columns = [np.resize(c, n) for c in columns]
    binary = all(lev is not None and set(lev) <= {"0", "1"} for lev in target.levels)
    names = [f"{prefix}{i}" for i in range(target.n_columns)]
    table = Table.from_columns(names, columns, target.levels)
    single, nominal = table.n_columns == 1, table.is_nominal
    if nominal.all():
        task = "classification" if single else "multi-label" if binary else "multi-target-classification"
    elif nominal.any():
        task = "mixed-targets"
    else:
        task = "regression" if single else "multi-target-regression"
    return om.Dataset(features, table, task=task, name=name)


def assert_same(a, b):
    assert a.features.equals(b.features)
    assert a.features.is_sparse == b.features.is_sparse
    assert a.task == b.task
    assert a.hierarchy == b.hierarchy
    assert (a.target is None) == (b.target is None)
    assert a.target is None or a.target.equals(b.target)


@pytest.mark.slow
@draws(25)
@given(datasets(), st.sampled_from([".arff", ".arff.gz"]))
def test_arff_round_trip_is_identity(tmp_path_factory, data, ending):
    folder = tmp_path_factory.getbasetemp()
    first, second = folder / f"first{ending}", folder / f"second{ending}"
    write_arff(data, first)
    read = om.load(first)
    assert_same(read, data)
    write_arff(read, second, relation=data.name)
    again = om.load(second)
    assert_same(again, read)
    assert first.read_bytes() == second.read_bytes()


@draws(25)
@given(tables())
@example(Table.from_numeric(np.array([[-0.0, 1.0], [3.0, -0.0], [1e15, -1e16]])))
def test_arff_round_trip_of_a_table(tmp_path_factory, table):
    path = tmp_path_factory.getbasetemp() / "table.arff"
    write_arff(table, path)
    content = read_arff(path)
    assert content.table.equals(table)
    assert content.table.is_sparse == table.is_sparse
    assert content.target == ()
    for i in np.flatnonzero(~table.is_nominal):
        np.testing.assert_array_equal(np.signbit(content.table.column(i)), np.signbit(table.column(i)))


@draws(15)
@given(datasets())
def test_parquet_round_trip_is_identity(tmp_path_factory, data):
    assume(not set(data.feature_names) & set(data.target_names))  # labels are columns of their own there
    path = tmp_path_factory.getbasetemp() / "data.parquet"
    write_parquet(data, path)
    read = om.load(path)
    assert read.features.equals(data.features)
    assert (read.task, read.hierarchy) == (data.task, data.hierarchy)
    assert (read.target is None) == (data.target is None)
    assert data.target is None or read.target.equals(data.target)


def test_parquet_refuses_a_name_for_two_columns(tmp_path):
    data = om.Dataset(np.eye(2), [{"x0"}, set()], hierarchy=om.Hierarchy.flat(["x0"]))
    with pytest.raises(DataError, match="'x0' is the name of a feature and of a target"):
        write_parquet(data, tmp_path / "a.parquet")


def test_parquet_keeps_precision_and_levels(tmp_path):
    table = Table.from_columns(["a", "b"], [np.array([1.5, np.nan], np.float32), np.array([1, -1])], [None, (3, 1, 2)])
    write_parquet(table, tmp_path / "t.parquet.gz")
    read = read_parquet(tmp_path / "t.parquet.gz").table
    assert read.equals(table)
    assert read.dtype == np.float32


def test_labels_in_an_impossible_order_are_reordered(tmp_path):
    hierarchy = om.Hierarchy(("c", "d", "b", "a"), ((2,), (3,), (3,), ()))
    data = om.Dataset(np.eye(2), [{"c"}, {"d"}], hierarchy=hierarchy)
    write_arff(data, tmp_path / "a.arff")
    read = om.load(tmp_path / "a.arff")
    assert set(read.hierarchy.to_edges()) == set(hierarchy.to_edges())
    row = dict(zip(read.target_names, read.target.dense()[0].tolist(), strict=True))
    assert row == {"a": 1, "b": 1, "c": 1, "d": 0}


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (Table.from_numeric(np.array([[np.inf]])), "infinite"),
        (Table.from_numeric(np.empty((0, 2))), "0 rows"),
        (Table.from_columns(["a"], [np.array([0])], [(1, "1")]), "the same text"),
        (Table.from_numeric(np.eye(1), ["\ud800"]), "cannot be written"),
        (om.Dataset(np.eye(2), ["a", "b"], target_names=["x0"]), "name of a feature and of a target"),
        (om.Dataset(np.eye(2), [{"a@b"}, set()], hierarchy=om.Hierarchy.flat(["a@b"])), "no labels with @"),
        (om.Dataset(np.eye(2), [{"root"}, set()], hierarchy=om.Hierarchy.flat(["root"])), "is a label here"),
        (
            om.Dataset(np.eye(2), [[1, np.nan], [0, 0]], hierarchy=om.Hierarchy.flat(["a", "b"])),
            r"unknown while others .* write \.parquet",
        ),
        (om.Dataset(np.eye(1), [{"p/q"}], hierarchy=om.Hierarchy.from_edges([("r", "p/q")])), "no labels with /"),
    ],
)
def test_what_arff_cannot_hold_is_refused(tmp_path, data, problem):
    path = tmp_path / "a.arff"
    path.write_text("before")
    with pytest.raises(DataError, match=problem):
        write_arff(data, path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
