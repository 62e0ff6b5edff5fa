"""The tool behind `make mutants`, on a package of one function."""

from __future__ import annotations

import textwrap

import pytest

from tools import mutants

pytestmark = pytest.mark.slow

CODE = """
    def larger(a, b):
        return a if a > b else b
"""
TESTS = """
    from omnirank.small import larger

    def test_larger():
        assert larger(1, 2) == 2
        assert larger(3, 2) == 3
"""


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "root"
    for name, text in {
        "src/omnirank/__init__.py": "",
        "src/omnirank/small.py": CODE,
        "tests/test_small.py": TESTS,
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(textwrap.dedent(text))
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\naddopts = ["--import-mode=importlib"]\n')
    return root


def mutant(old, new, reason=""):
    return mutants.Mutant("small.py", old, new, ("tests/test_small.py",), reason=reason)


def test_what_the_tests_do_not_notice_survives(tree, tmp_path, capsys):
    wrong, same = mutant("a > b", "a < b"), mutant("a > b", "a >= b")
    before = (tree / "src/omnirank/small.py").read_bytes()
    assert mutants.surviving([wrong, same], tree, tmp_path / "work") == [same]
    assert (tree / "src/omnirank/small.py").read_bytes() == before
    assert mutants.verdict([wrong, same], [same]) == 1
    told = capsys.readouterr().out
    assert "NO REASON" in told
    assert "1 of 2 mutants survive (50.0%, at most 3% may)" in told


def test_tests_that_fail_without_a_change_prove_nothing(tree, tmp_path):
    (tree / "tests/test_small.py").write_text("def test_larger():\n    assert False\n")
    with pytest.raises(ValueError, match="do not pass on the code as it is"):
        mutants.surviving([mutant("a > b", "a < b")], tree, tmp_path / "work")


def test_few_survivors_with_reasons_are_accepted():
    killed = [mutant("a > b", f"a > b + {i}") for i in range(40)]
    for reason, status in (("equal numbers are the same number", 0), ("", 1)):
        survivor = mutant("a > b", "a >= b", reason)
        assert mutants.verdict([*killed, survivor], [survivor]) == status


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [("small.py", "a < b", "a > b"), ("small.py", "a", "b"), ("gone.py", "a", "b"), ("small.py", "a > b", "a > b")],
    ids=["not there", "several times", "no such file", "no change"],
)
def test_a_list_that_does_not_fit_the_code_is_refused(tree, file, old, new):
    path = tree / "list.toml"
    path.write_text(f'[[mutant]]\nfile = "{file}"\nold = "{old}"\nnew = "{new}"\ntests = ["tests/test_small.py"]\n')
    with pytest.raises(ValueError, match="bring the list up to date"):
        mutants.read_mutants(path, tree / mutants.PACKAGE)
