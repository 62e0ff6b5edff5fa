"""Whole numbers that floats cannot hold are refused at every entrance, not rounded."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from scipy.io import savemat

import omnirank as om
from omnirank.errors import DataError
from omnirank.relational import RelationalDataset

EXACT = [2**53 - 8 + i for i in range(8)]
NUMBERS = [2**53 + 1, *EXACT[1:]]  # one of them is refused
CLASSES = ["a", "b"] * 4
REFUSED = "holds whole numbers beyond 2\\*\\*53, which floats round"


def entrances(numbers):
    column = np.array(numbers)
    masked = np.ma.masked_array(column, mask=[False] * 7 + [True])
    frame = pd.DataFrame({"id": numbers})
    return {
        "int64": column[:, None],
        "uint64": column[:, None].astype(np.uint64),
        "objects": column[:, None].astype(object),
        "lists": [[number] for number in numbers],
        "masked": masked[:, None],
        "decimals": pd.DataFrame({"id": [Decimal(number) for number in numbers]}),
        "pandas": frame,
        "pandas with NA": pd.DataFrame({"id": pd.array([*numbers[:-1], None], "Int64")}),
        "pandas on pyarrow": frame.astype("int64[pyarrow]"),
        "polars": pl.DataFrame({"id": [*numbers[:-1], None]}),
        "pyarrow": pa.table({"id": [*numbers[:-1], None]}),
        "csr": sparse.csr_array(column[:, None]),
        "csc": sparse.csc_array(np.column_stack([np.zeros(8, np.int64), column])),
    }


@pytest.mark.every(2)
@pytest.mark.parametrize("kind", entrances(NUMBERS))
def test_features(kind):
    for fit in (om.Dataset, om.UnivariateRanker().fit):
        with pytest.raises(DataError, match=f"column '(id|x0|x1)' {REFUSED}"):
            fit(entrances(NUMBERS)[kind], CLASSES)
        fit(entrances(EXACT)[kind], np.arange(8) / 7)
    model = om.PCTRegressor().fit(entrances(EXACT)[kind], np.arange(8) / 7)
    with pytest.raises(DataError, match=REFUSED):
        model.predict(entrances(NUMBERS)[kind])


@pytest.mark.parametrize("kind", [kind for kind in entrances(NUMBERS) if kind not in ("csc", "lists")])
@pytest.mark.parametrize("task", ["auto", "regression"])
def test_targets(kind, task):
    X = np.arange(8.0)[:, None]
    with pytest.raises(DataError, match=f"target '(id|y|y1)' {REFUSED}"):
        om.Dataset(X, entrances(NUMBERS)[kind], task=task)
    assert om.Dataset(X, entrances(EXACT)[kind], task="regression").y[1] == EXACT[1]


def write(folder, kind, numbers):
    frame = pd.DataFrame({"id": pd.array(numbers, "Int64"), "a": np.arange(8) / 7, "y": CLASSES})
    if kind == "parquet":
        frame.to_parquet(folder / "f.parquet")
        return folder / "f.parquet"
    header = "@relation r\n@attribute id numeric\n@attribute a numeric\n@attribute y {a,b}\n@data\n"
    rows = [["?" if pd.isna(cell) else str(cell) for cell in row] for row in frame.itertuples(index=False)]
    lines = {
        "csv": ["id,a,y", *(",".join(row) for row in rows)],
        "arff": [header + "\n".join(",".join(row) for row in rows)],
        "sparse arff": [header + "\n".join(f"{{0 {row[0]},1 {row[1]},2 {row[2]}}}" for row in rows)],
    }[kind]
    path = folder / f"f.{kind.split()[-1]}"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("kind", ["csv", "arff", "sparse arff", "parquet"])
@pytest.mark.parametrize("last", [NUMBERS[-1], None])
def test_files(kind, last, tmp_path):
    path = write(tmp_path, kind, [*NUMBERS[:-1], last])
    with pytest.raises(DataError, match=f"column 'id' {REFUSED}"):
        om.load(path, "y")
    with pytest.raises(DataError, match=f"target 'id' {REFUSED}"):
        om.load(path, "id", ignore="y")
    assert om.load(path, "y", ignore="id").feature_names == ("a",)
    if kind == "csv":  # whose texts become the categories
        assert str(NUMBERS[0]) in om.load(path, "y", nominal="id").features.levels[0]
    else:
        with pytest.raises(DataError, match=REFUSED):
            om.load(path, "y", nominal="id")
    path = write(tmp_path, kind, [*EXACT[:-1], None])
    assert om.load(path, "y").features.column(0)[1] == EXACT[1]


def test_text_of_integers_beyond_64_bits(tmp_path):
    (tmp_path / "f.csv").write_text("id,y\n" + "".join(f"{10**20 + i},{'ab'[i % 2]}\n" for i in range(8)))
    with pytest.raises(DataError, match=f"column 'id' {REFUSED}"):
        om.load(tmp_path / "f.csv", "y")


@pytest.mark.parametrize(("variable", "name"), [("X", "x1"), ("Y", "Y")])
def test_matlab(variable, name, tmp_path):
    variables = {"X": np.arange(8.0)[:, None], "Y": np.arange(8.0)[:, None]}
    savemat(tmp_path / "f.mat", variables | {variable: np.array(NUMBERS)[:, None]})
    with pytest.raises(DataError, match=f"'{name}' {REFUSED}"):
        om.load(tmp_path / "f.mat")


def test_parts(tmp_path):
    write(tmp_path, "parquet", [*NUMBERS[:-1], None])
    with pytest.raises(DataError, match=REFUSED):
        om.open_shards(tmp_path, "y")
    assert om.open_shards(tmp_path, "y", ignore="id").feature_names == ("a",)


def test_relational_values():
    tables = {"t": pd.DataFrame({"size": NUMBERS, "y": CLASSES})}
    with pytest.raises(DataError, match=REFUSED):
        RelationalDataset.from_frames(tables, target="t.y", types={"t.size": "numeric"})


def test_floats_and_numbers_with_a_point_are_as_exact_as_ever(tmp_path):
    assert om.Dataset(np.array([[2.0**60 + 1], [1e300]])).X[1, 0] == 1e300
    (tmp_path / "f.csv").write_text("a,y\n1.5e300,a\n1152921504606846977.5,b\n")
    assert om.load(tmp_path / "f.csv", "y").X[0, 0] == 1.5e300
    with pytest.raises(DataError, match="infinite"):
        om.Dataset([[10**400], [1]])
