"""Digits with leading zeros, such as postcodes: categories, with a note, unless the user says numbers."""

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank.data.write import write_csv
from omnirank.shards.convert_csv import convert_csv

NOTE = r"digits with leading zeros are taken as categories: 'zip', 'id'; padded='numbers' reads numbers"


def frame_of(n=300):
    rng = np.random.default_rng(0)
    zips = rng.choice(["01234", "99999", "10001"], n)
    zips[:120] = "10001"  # no leading zero among the first rows
    frame = pd.DataFrame({"zip": zips, "year": rng.integers(1990, 2020, n), "id": [f"{i:03}" for i in range(n)]})
    return frame.assign(
        n=[f"{i % 12:02}" if i else "100" for i in range(n)], late=[12] * (n - 1) + [5], y=rng.random(n)
    )


def test_codes_are_categories_with_a_note(tmp_path):
    frame_of().assign(zip=lambda f: f["zip"].mask(f.index == 250)).to_csv(tmp_path / "a.csv", index=False)
    data = om.load(tmp_path / "a.csv", "y")
    assert data.features.is_nominal.tolist() == [True, False, True, False, False]
    assert data.features.levels[0] == ("01234", "10001", "99999")
    assert data.features.n_missing == 1
    assert any(NOTE[:60] in text for text in data.notes)
    numbers = om.load(tmp_path / "a.csv", "y", padded="numbers")
    assert not numbers.features.is_nominal.any()
    assert not any("leading zeros" in text for text in numbers.notes)


@pytest.mark.parametrize(
    "text", ["n\n007\n12\n", "n\n7\n8\n", "n\n0\n1\n", "n\n0.5\n007\n", "n\n-01\n-02\n", "n\n12\n13\n"]
)
def test_other_numbers_stay_numbers(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    assert om.load(tmp_path / "a.csv").features.levels == (None,)


def test_cells_known_late_and_columns_left_out(tmp_path):
    rows = "".join(f",{i},\n" for i in range(150))
    (tmp_path / "a.csv").write_text(f",a,zip\n{rows},1,007\n,1,070\n")
    data = om.load(tmp_path / "a.csv", nominal="a")
    assert data.feature_names == ("a", "zip")
    assert data.features.levels[1] == ("007", "070")


def test_codes_in_parts_and_written_again(tmp_path):
    frame = frame_of()
    frame.to_csv(tmp_path / "a.csv", index=False)
    with pytest.warns(UserWarning, match=NOTE):
        files = convert_csv(tmp_path / "a.csv", tmp_path / "parts")
    read = pd.read_parquet(files[0])
    assert read["zip"].tolist() == frame["zip"].tolist()
    assert read["id"].tolist() == frame["id"].tolist()
    assert [read[name].dtype.kind for name in ("year", "n", "late")] == ["i"] * 3
    files = convert_csv(tmp_path / "a.csv", tmp_path / "numbers", padded="numbers")
    assert [dtype.kind for dtype in pd.read_parquet(files[0]).dtypes] == ["i"] * 5 + ["f"]


def test_written_cells_are_those_that_were_read(tmp_path):
    frame_of().to_csv(tmp_path / "a.csv", index=False)
    write_csv(om.load(tmp_path / "a.csv", "y"), tmp_path / "b.csv")
    before, after = (pd.read_csv(tmp_path / name, dtype=str) for name in ("a.csv", "b.csv"))
    assert after["zip"].tolist() == before["zip"].tolist()
    assert after["year"].tolist() == before["year"].tolist()


def test_whole_numbers_of_features_are_written_without_a_point_and_keep_their_bits(tmp_path):
    values = np.array([3.0, -0.0, 2.0**53 - 1, 2.0**53 + 2, 1e300, -7.0, 0.5, np.nan])
    write_csv(om.Dataset(values[:, None], np.arange(8.0), task="regression"), tmp_path / "a.csv")
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines[1] == "3,0.0"
    data = om.load(tmp_path / "a.csv", "y")
    assert data.X[:, 0].tobytes() == values.tobytes()
