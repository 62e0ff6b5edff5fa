"""Choosing columns by name, position, range and pattern."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnirank.core.errors import ParameterError
from omnirank.data.column_choice import choose_columns, choose_positions

NAMES = ["id", "label_a", "label_b", "y1", "y2", "3", "a,b", "last one", "x"]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("y1", [3]),
        ("3", [5]),  # the exact name comes before the position
        ("4", [3]),
        (4, [3]),
        ("2-4", [1, 2, 3]),
        ("8-last", [7, 8]),
        ("last", [8]),
        ("last:2", [7, 8]),
        ("last one", [7]),
        ("a,b", [6]),  # the exact name comes before the list
        ("y1, 1, last", [3, 0, 8]),
        ("label_*", [1, 2]),
        ("[xy]*", [3, 4, 8]),
        (r"re:^y\d$", [3, 4]),
        ("re:a,b", [6]),
        (["y1", "1-2"], [3, 0, 1]),
        (["y1", "y*"], [3, 4]),
    ],
)
def test_choices(choice, expected):
    assert choose_columns(choice, NAMES) == expected


@pytest.mark.parametrize(
    ("choice", "problem"),
    [
        ("lable_a", "there is no such column; did you mean 'label_a'"),
        ("zzz", "the columns are 'id', 'label_a', 'label_b', ... \\(9 in all\\)"),
        ("y1,nope", "'nope': there is no such column"),
        (0, "positions count from 1"),
        (10, "there are 9 columns"),
        ("4-2", "ends before it starts"),
        ("last:10", "there are 9 columns"),
        ("q*", "no column name matches this pattern"),
        ("re:^q", "no column name matches this expression"),
        ("re:(", "not a regular expression"),
        ([], "chooses no column"),
        ([1.5], "give a column name"),
    ],
)
def test_mistakes(choice, problem):
    with pytest.raises(ParameterError, match=problem) as caught:
        choose_columns(choice, NAMES, "target")
    assert str(caught.value).startswith("target")


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 30))
def test_ranges_are_inclusive(n_columns, first, last):
    names = [f"c{i}" for i in range(n_columns)]
    if not first <= last <= n_columns:
        with pytest.raises(ParameterError):
            choose_columns(f"{first}-{last}", names)
    else:
        assert choose_columns(f"{first}-{last}", names) == list(range(first - 1, last))
        assert choose_positions(f"{first}-{last}", n_columns, "Target") == list(range(first - 1, last))


def test_positions_never_go_by_name():
    assert choose_positions("3", 9, "Target") == [2]
    with pytest.raises(ParameterError, match="'y1' is no position"):
        choose_positions("1,y1", 9, "Target")
