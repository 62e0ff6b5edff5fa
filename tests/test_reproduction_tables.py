"""The tables of the reproduction pages are what the scripts make of the committed figures."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PAGES = Path(__file__).parents[1] / "docs" / "reproductions"
NAMES = ("few_labels", "unsupervised", "ssl_trees", "defaults")


@pytest.mark.parametrize("name", NAMES)
def test_tables_are_those_of_the_figures(name):
    filled = runpy.run_path(str(PAGES / "studies" / "tables.py"))["filled"]
    text = (PAGES / f"{name}.md").read_text()
    assert text.count("<!-- table ") >= 2
    assert filled(text) == text


def test_table_of_p_values_is_that_of_the_figures():
    filled = runpy.run_path(str(PAGES / "studies" / "significance.py"))["filled"]
    text = (PAGES.parent / "user_guide" / "significance.md").read_text()
    assert "| unbiased, extra-trees | classes |" in text
    assert filled(text) == text


def test_table_of_certainty_is_that_of_the_figures():
    filled = runpy.run_path(str(PAGES / "studies" / "certainty.py"))["filled"]
    text = (PAGES.parent / "user_guide" / "how_many_how_sure.md").read_text()
    assert "| unbiased | auto |" in text
    assert "**" not in text.partition("<!-- table certainty -->")[2].partition("<!-- end -->")[0]
    assert filled(text) == text
