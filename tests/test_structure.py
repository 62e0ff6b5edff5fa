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
    assert "tests/tools/structure.py" in (ROOT / "Makefile").read_text(encoding="utf-8")


def faults_of(folder: Path, name: str, text: str) -> list[str]:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return structure.faults(folder)


def function(n_lines: int) -> str:
    docstring = ['    """Says', *["    more"] * 28, '    """']
    return "\n".join(["def long():", *docstring, *["    x = 1"] * (n_lines - 1), ""])


def test_long_files_and_functions_are_found_and_only_code_counts(tmp_path):
    assert faults_of(tmp_path, "room/short.py", '"""Says\nmore\n"""\n' + "x = 1  # why\n\n# why\n" * 500) == []
    [fault] = faults_of(tmp_path, "room/short.py", "x = 1\n" * 501)
    assert fault == "room/short.py:1: 501 lines of code, more than 500: divide it"
    assert faults_of(tmp_path, "room/short.py", function(60)) == []
    assert faults_of(tmp_path, "kernels/split.py", function(61)) == []
    [fault] = faults_of(tmp_path, "room/short.py", "x = 1\n" + function(61))
    assert fault == "room/short.py:2: long has 61 lines of code, more than 60: divide it"


def test_tricks_are_found(tmp_path):
    tricks = [
        "from numba.core import cgutils",
        "from sklearn.utils._tags import get_tags",
        "import pandas.core",
        "dispatcher._cache = None",
        "sys.modules[name] = fake",
        "gc.disable()",
        "import ctypes",
        "function.__signature__ = signature",
        "setattr(BaseRanker, name, method)",
    ]
    assert faults_of(tmp_path, "core/numba_internals.py", "\n".join(tricks)) == []
    faults = faults_of(tmp_path, "room/tricks.py", "# gc.disable()\n" + "\n".join(tricks))
    assert [fault.split(":")[1] for fault in faults] == [str(line) for line in range(2, 2 + len(tricks))]
    posix = ["import fcntl", "os.kill(1, 9)", "signal.alarm(1)", "folder = '/tmp/x'", "os.rename(a, b)"]
    faults = faults_of(tmp_path, "room/tricks.py", "\n".join(posix))
    assert [fault.split(":")[1] for fault in faults] == ["1", "2", "3", "4", "5"]
    tried = "try:\n    import fcntl\nexcept ImportError:\n    fcntl = None\nos.replace(a, b)\n# os.fork()\n"
    assert faults_of(tmp_path, "room/tricks.py", tried) == []
    plain = 'setattr(self, name, 1)\nassert sys.modules["x"] == 1\nfrom sklearn.base import clone\nself._cached = 1\n'
    assert faults_of(tmp_path, "room/tricks.py", plain) == []


def test_totals_count(tmp_path, monkeypatch):
    for name in ("MAX_LINES", "MAX_FILES", "MAX_SHORT_FILES"):
        monkeypatch.setattr(structure, name, 1)
    assert faults_of(tmp_path, "one.py", "x = 1\n") == []
    faults = faults_of(tmp_path, "two.py", "x = 1\n")
    assert [fault.split()[:4] for fault in faults] == [
        ["2", "lines", "of", "code,"],
        ["2", "files,", "more", "than"],
        ["2", "files", "of", "fewer"],
    ]
