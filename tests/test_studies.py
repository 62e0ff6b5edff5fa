"""The plans of the studies can be run, and their pages hold the tables that the committed results give."""

from __future__ import annotations

import importlib.util
import re
import runpy
import sys
from pathlib import Path

import pytest

from omnirank.evaluation.experiments import read_plan
from omnirank.evaluation.experiments.fit import missing_files

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "studies"
PLANS = sorted(path.name for path in (FOLDER / "plans").glob("*.toml"))
# Plans of data that are not in that folder.
ELSEWHERE = {"unsupervised_more.toml", "unsupervised_more_random.toml", "unsupervised_full.toml"}
PAGES = ["mtr.md", "mlc.md", "hmlc.md", "unsupervised_relief.md", "defaults.md", "p_values.md"]
PAGES += ["unsupervised_rivals.md", "semi_supervised.md", "three_way.md", "relational.md"]
PAGES += ["few_labels.md", "unsupervised.md", "ssl_trees.md", "levels.md"]
# They are in a page too, but their own scripts write them.
OF_SCRIPTS = {"significance", "certainty"}


@pytest.fixture(scope="module")
def tables():
    """The script, loaded from its file."""
    spec = importlib.util.spec_from_file_location("study_tables", FOLDER / "tables.py")
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path[:] = before
    return module


def test_every_study_has_its_plans():
    assert {"mtr_small.toml", "mlc_small.toml", "hmlc_small.toml", "unsupervised_small.toml"} <= set(PLANS)
    assert {"mtr_full.toml", "mlc_full.toml", "hmlc_full.toml", "unsupervised_full.toml"} <= set(PLANS)


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_valid(name):
    plan = read_plan(FOLDER / "plans" / name)
    assert plan.data
    assert plan.methods
    assert plan.measures


@pytest.mark.parametrize("name", PLANS)
def test_relief_in_a_plan_names_its_settings(name):
    """Defaults may change, reproduced results may not."""
    for method in read_plan(FOLDER / "plans" / name).methods:
        if "relief" in method.use:
            named = {*method.parameters, *method.grid}
            assert {"algorithm", "missing", "n_neighbors", "n_iterations"} <= named, method.name
            assert method.parameters.get("target_distance") != "auto"


@pytest.mark.shared_data
@pytest.mark.parametrize("name", sorted({*PLANS} - ELSEWHERE))
def test_the_data_of_a_plan_are_there(name):
    for entry in read_plan(FOLDER / "plans" / name).data:
        assert missing_files(entry.source) == [], entry.name


@pytest.mark.parametrize("name", PAGES)
def test_the_tables_of_a_page_are_those_of_its_figures(name, tables):
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert re.search(tables.MARKED, text), "no table"
    assert tables.with_tables(text) == text, "run python studies/tables.py"


def test_every_table_is_in_a_page(tables):
    used = {found["name"] for name in PAGES for found in tables.MARKED.finditer((FOLDER / name).read_text("utf-8"))}
    assert used - OF_SCRIPTS == set(tables.TABLES)


def test_a_changed_figure_is_noticed(tables):
    text = (FOLDER / "mtr.md").read_text(encoding="utf-8")
    table = next(tables.MARKED.finditer(text))
    changed = text.replace(table[0], re.sub(r"\d", "7", table[0]))
    assert tables.with_tables(changed) == text != changed


def test_table_of_p_values_is_that_of_the_results():
    filled = runpy.run_path(str(FOLDER / "scripts" / "significance.py"))["filled"]
    text = (FOLDER / "p_values.md").read_text()
    assert "| unbiased, extra-trees | classes |" in text
    assert filled(text) == text


def test_table_of_certainty_is_that_of_the_results():
    filled = runpy.run_path(str(FOLDER / "scripts" / "certainty.py"))["filled"]
    text = (FOLDER / "p_values.md").read_text()
    assert "| genie3 | auto |" in text
    assert "**" not in text.partition("<!-- table certainty -->")[2].partition("<!-- end -->")[0]
    assert filled(text) == text
