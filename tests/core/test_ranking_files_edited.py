"""Files of rankings that were edited: cells that are no numbers, columns with other names."""

from __future__ import annotations

import json

import pytest

from omnirank.core.ranking.ranking import Ranking
from omnirank.errors import DataTypeError, DataWarning, FileFormatError


def saved(path):
    Ranking(["a", "b"], [0.5, 0.25], "genie3", standard_errors=[0.1, 0.2], p_values=[0.01, 0.5]).save(path)
    return path


@pytest.mark.parametrize("key", ["scores", "standard_errors", "p_values"])
@pytest.mark.parametrize("value", ["0.5", True])
def test_text_and_booleans_are_no_numbers(tmp_path, key, value):
    path = saved(tmp_path / "ranking.json")
    document = json.loads(path.read_text())
    document[key][0] = value
    path.write_text(json.dumps(document))
    with pytest.raises(FileFormatError, match=r"must (be|hold) numbers"):
        Ranking.load(path)


def test_scores_of_text_are_refused():
    for scores in (["0.5", "0.25"], [0.5, "0.25"]):
        with pytest.raises(DataTypeError, match="scores must be numbers, not text: there is '0"):
            Ranking(["a", "b"], scores, "genie3")


def test_a_renamed_column_of_our_own_file_is_refused(tmp_path):
    path = saved(tmp_path / "ranking.csv")
    path.write_text(path.read_text().replace(",p_value,", ",p_values,"))
    with pytest.raises(FileFormatError, match=r"unknown columns 'p_values' \(did you mean 'p_value'\?\)"):
        Ranking.load(path)


def test_other_columns_of_a_foreign_file_are_named(tmp_path):
    path = tmp_path / "foreign.csv"
    path.write_text("feature,score,comment\na,1,good\nb,0.5,bad\n")
    with pytest.warns(DataWarning, match="not read: 'comment'") as told:
        ranking = Ranking.load(path)
    assert ranking.scores.tolist() == [1.0, 0.5]
    assert told[0].filename == __file__
