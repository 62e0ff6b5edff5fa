"""Reading a file is a short way: few passes over the file, few modules of omnirank."""

import builtins
import io
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import omnirank as om

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


def test_infinite_cells_of_features_are_looked_for_once(tmp_path, monkeypatch):
    path = written(tmp_path / "a.csv")
    om.load(path, target="kind")
    sizes = []
    plain = np.isinf

    def counting(values, *args, **kwargs):
        sizes.append(np.size(values))
        return plain(values, *args, **kwargs)

    monkeypatch.setattr(np, "isinf", counting)
    om.load(path, target="kind")
    assert sizes == []  # readers of text look for numbers beyond 2**53, which infinite ones are
