"""The check of structure behind ``make lint``: it passes the sources, and finds what it is there to find."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import structure

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.slow
def test_the_sources_keep_the_rules():
    assert len(list(structure.SOURCE.rglob("*.py"))) > 100
    assert structure.faults(structure.SOURCE) == []


def test_lint_runs_the_check():
    assert "tests/tools/structure.py" in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "room").mkdir()
    return tmp_path


def function(n_lines: int, n_docstring: int = 0) -> str:
    quotes = ['    """Says', *["    more"] * (n_docstring - 2), '    """'] if n_docstring else []
    return "\n".join(["def long():", *quotes, *["    x = 1"] * (n_lines - 1), ""])


def test_long_files_are_found(folder):
    (folder / "room" / "short.py").write_text('"""Says\nmore\n"""\n' + "x = 1  # why\n\n# why\n" * 400)
    assert structure.faults(folder) == []
    (folder / "room" / "long.py").write_text("x = 1\n" * 401)
    assert structure.faults(folder) == ["room/long.py:1: 401 lines of code, more than 400: divide it"]


def test_long_functions_are_found_and_docstrings_do_not_count(folder):
    (folder / "room" / "fits.py").write_text(function(60, n_docstring=30))
    assert structure.faults(folder) == []
    (folder / "room" / "long.py").write_text("x = 1\n" + function(61, n_docstring=30))
    assert structure.faults(folder) == ["room/long.py:2: long has 61 lines of code, more than 60: divide it"]


def test_functions_of_kernels_may_be_long(folder):
    (folder / "room" / "kernels").mkdir()
    (folder / "room" / "kernels" / "split.py").write_text(function(61))
    assert structure.faults(folder) == []
    (folder / "room" / "kernels" / "split.py").write_text("x = 1\n" * 401)
    assert len(structure.faults(folder)) == 1
