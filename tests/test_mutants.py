"""The tool behind `make mutants`, on a package of one function."""

from __future__ import annotations

import random
import textwrap

import pytest

from tools import mutants
from tools.mutation import draw, mutants_of

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
    return total
'''


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "root"
    for name, text in {
        "src/omnirank/__init__.py": "",
        "src/omnirank/tasks/small.py": CODE,
        "tests/tasks/test_small.py": TESTS,
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(textwrap.dedent(text))
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\naddopts = ["--import-mode=importlib"]\n')
    return root


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
    ]


def test_all_mutants_of_a_file_are_drawn_in_an_order_of_the_seed():
    everything = mutants_of("small.py", MISTAKES)
    one, same, other = (list(draw(everything, random.Random(seed))) for seed in (0, 0, 1))
    assert one == same != other
    assert set(one) == set(everything)


def test_what_the_tests_do_not_notice_survives(tree, tmp_path, monkeypatch, capsys):
    files = mutants.modules(tree, [])
    drawn = mutants.drawn(tree, files, 0, 10)
    assert [mutant.new for mutant in drawn] == ["(a >= b)"]
    output = tmp_path / "outcomes.jsonl"
    assert not mutants.Trial(tree, tmp_path, output).attempt(drawn[0])
    assert mutants.verdict(drawn, [False]) == 1
    assert "1 of 1 mutants survive (100.0%, at most 3% may); 0 more" in capsys.readouterr().out
    monkeypatch.setitem(mutants.EQUIVALENT, "tasks/small.py larger: a > b -> (a >= b)", "equal numbers are one number")
    assert mutants.verdict(drawn, [False]) == 0
    with (tree / "tests/tasks/test_small.py").open("a") as tests:
        tests.write("        assert larger(1.0, 1) is 1\n".replace("        ", "    ").replace("is 1", "== 1 and type(larger(1.0, 1)) is int"))
    assert mutants.Trial(tree, tmp_path, output).attempt(drawn[0])
    assert mutants.Trial(tree, tmp_path, output).outcomes  # a third run reads that it was killed
    assert "test_small.py::test_larger" in output.read_text()


def test_tests_that_fail_without_a_change_prove_nothing(tree, tmp_path):
    (tree / "tests/tasks/test_small.py").write_text("from omnirank.tasks import small\ndef test_larger():\n    assert False\n")
    [mutant] = mutants.drawn(tree, ["tasks/small.py"], 0, 1)
    trial = mutants.Trial(tree, tmp_path)
    assert not trial.attempt(mutant)
    assert trial.outcomes["tests/tasks/test_small.py::test_larger compiled"]["sound"] is False


def test_a_test_without_end_is_noticed(tree, tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "SECONDS_PER_TEST", 0.3)
    (tree / "src/omnirank/tasks/small.py").write_text("def count(n):\n    while n:\n        n -= 1\n    return n\n")
    (tree / "tests/tasks/test_small.py").write_text(
        "from omnirank.tasks.small import count\n\ndef test_count():\n    assert count(3) == 0\n"
    )
    endless = next(mutant for mutant in mutants.drawn(tree, ["tasks/small.py"], 0, 9) if mutant.new == "pass")
    assert mutants.Trial(tree, tmp_path).attempt(endless)
