"""The tool behind `make mutants`, on a package of one function."""

from __future__ import annotations

import random
import textwrap

import pytest

from tools import mutants
from tools.mutation import draw, mutants_of

pytestmark = pytest.mark.slow

CODE = """
    def larger(a, b):
        return a if a > b else b
"""
TESTS = """
    from omnirank.tasks.small import larger

    def test_larger():
        assert larger(1, 2) == 2
        assert larger(3, 2) == 3
"""
NOTICES = "        assert type(larger(1.0, 1)) is int\n"
TEST = "tests/tasks/test_small.py::test_larger"
MISTAKES = '''
_BLOCK_ROWS = 5

def f(n: "int < 3", rows, k=7):
    """No place: 1 < 2."""
    if n < 0 or not rows:
        raise ValueError(f"{n + 1} < 0")
    total = g(n, rows) * rows[k:n]
    for i in range(n):
        total += 2
    for block in range(0, n, _BLOCK_ROWS):
        pass
    if n > _MOST:
        clip(n, k, n)
    return total
'''


@pytest.fixture
def tree(tmp_path):
    write(tmp_path / "root", CODE, TESTS)
    options = 'addopts = ["--doctest-modules", "--import-mode=importlib"]'
    (tmp_path / "root/pyproject.toml").write_text(f"[tool.pytest.ini_options]\n{options}\n")
    return tmp_path / "root"


def write(root, code, tests):
    files = {"src/omnirank/__init__.py": "", "src/omnirank/tasks/small.py": code, "tests/tasks/test_small.py": tests}
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(textwrap.dedent(text))


def test_mistakes_are_made_where_results_are_computed():
    found = [f"{mutant.line} {mutant.old} -> {mutant.new}" for mutant in mutants_of("small.py", MISTAKES)]
    assert found == [
        "6 n < 0 or not rows -> (not (n < 0 or not rows))",
        "6 n < 0 or not rows -> (n < 0 and (not rows))",
        "6 n < 0 -> (n <= 0)",
        "6 0 -> 1",
        "8 g(n, rows) * rows[k:n] -> g(n, rows)",
        "8 g(n, rows) -> g(rows, n)",
        "8 k -> (k + 1)",
        "8 n -> (n - 1)",
        "9 n -> (n - 1)",
        "10 total += 2 -> pass",
        "10 2 -> 3",
        "13 n > _MOST -> (n <= _MOST)",
    ]


def test_all_mutants_of_a_file_are_drawn_in_an_order_of_the_seed():
    everything = mutants_of("small.py", MISTAKES)
    one, same, other = (list(draw(everything, random.Random(seed))) for seed in (0, 0, 1))
    assert one == same != other
    assert set(one) == set(everything)


def attempt(tree, folder, which=lambda mutant: True):
    folder.mkdir(exist_ok=True)
    drawn = [mutant for mutant in mutants.drawn(tree, mutants.modules(tree, []), 0, 9) if which(mutant)]
    return drawn, mutants.judge(tree, folder, drawn, [], False)


def test_what_the_tests_do_not_notice_survives(tree, tmp_path, monkeypatch, capsys):
    drawn, noticed = attempt(tree, tmp_path / "a")
    assert [mutant.new for mutant in drawn] == ["(a >= b)"]
    assert noticed == [""]
    assert mutants.verdict(drawn, noticed) == 1
    assert "1 of 1 mutants survive (100.0%, at most 3% may); 0 more" in capsys.readouterr().out
    with monkeypatch.context() as patch:
        patch.setitem(mutants.EQUIVALENT, "tasks/small.py: return a if (a >= b) else b", "equal numbers are one number")
        assert mutants.verdict(drawn, [""]) == 0
    write(tree, CODE, TESTS + NOTICES)
    assert attempt(tree, tmp_path / "a")[1] == [TEST]  # survivors are tried again
    write(tree, CODE, "")
    assert attempt(tree, tmp_path / "a")[1] == [TEST]  # others are read


def test_examples_of_the_module_judge_it(tree, tmp_path):
    example = CODE.replace("return", "'''\n        >>> larger(1.0, 1)\n        1\n        '''\n        return")
    write(tree, example, TESTS)
    assert attempt(tree, tmp_path)[1][0].startswith("src/omnirank/tasks/small.py::")


@pytest.mark.parametrize(
    ("shared", "use"),
    [("pytest.fixture(scope='module')", "(shared): kind = shared"), ("functools.cache", "(): kind = shared()")],
)
def test_all_tests_judge_what_the_first_computes_for_them(tree, tmp_path, shared, use):
    shared = f"import functools, pytest\n\n@{shared}\ndef shared():\n    return type(larger(1.0, 1))\n"
    tests = f"def test_first{use}\n\ndef test_larger{use}; assert kind is same(int)\n"
    code = textwrap.dedent(CODE) + "\ndef same(a):\n    return a\n"
    write(tree, code, f"from omnirank.tasks.small import larger, same\n{shared}\n{tests}")
    assert attempt(tree, tmp_path)[1] == [TEST]


def test_slow_tests_judge_what_is_left(tree, tmp_path):
    slow = TESTS.replace("    def", "    import pytest\n\n    @pytest.mark.slow\n    def")
    write(tree, CODE, slow + NOTICES)
    assert attempt(tree, tmp_path)[1] == [TEST]


def test_processes_that_a_test_starts_make_the_mistake_too(tree, tmp_path):
    call = "from omnirank.tasks.small import larger; assert type(larger(1.0, 1)) is int"
    process = f"subprocess.run([sys.executable, '-c', {call!r}], check=True)"
    write(tree, CODE, f"import subprocess, sys\n\ndef test_larger():\n    {process}\n")
    assert attempt(tree, tmp_path)[1] == [TEST]


def test_tests_that_fail_without_a_mistake_prove_nothing(tree, tmp_path):
    write(tree, CODE, TESTS + "        assert False\n")
    assert attempt(tree, tmp_path)[1] == [""]


def test_a_test_without_end_is_noticed(tree, tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "SECONDS", 0.3)
    write(
        tree,
        "def larger(n):\n    while n:\n        n -= 1\n",
        "from omnirank.tasks.small import larger\n\ndef test_larger():\n    larger(3)\n",
    )
    assert attempt(tree, tmp_path, lambda mutant: mutant.new == "pass")[1] == [TEST]
