"""Plugin of pytest: collects tests once, then tries each mutant in a process of its own, forked from this one.

In the fork, functions get the code of the changed source; `sitecustomize.py` gives it to processes that a test starts.
Before, one fork runs all quick tests and notes which statements each of them reaches, itself or in a fixture that it
shares with others.
"""

import ast
import builtins
import contextlib
import gc
import importlib
import itertools
import json
import os
import signal
import time
import traceback
from pathlib import Path
from types import CodeType, FunctionType

import pytest

FOLDER, SOURCES = Path(os.environ["MUTANTS"]), Path(os.environ["MUTANT_SOURCES"])
# Processor time of a test in seconds, and the time after which it does not come back.
SECONDS, PATIENCE = float(os.environ["MUTANT_SECONDS"]), 900
NO_TEST = "no end, or a crash"  # what notices it then

_now = []  # the test that runs
_noting = []  # its name, or the fixture of several tests that is set up
_seconds = {}  # of tests that passed
_failed = set()


class TooLong(BaseException):
    """A test needs more processor time than it may; not an Exception, which a test could catch."""


def pytest_runtest_logreport(report):
    if report.failed:
        _failed.add(report.nodeid)
    elif report.passed and report.when == "call":
        _seconds[report.nodeid] = report.duration


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef, request):
    """Note what a fixture of several tests reaches for all of them."""
    if fixturedef.scope == "function":
        return (yield)
    _noting.append((request.node.nodeid, fixturedef.argname))
    try:
        return (yield)
    finally:
        _noting.pop()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    """Try the mutants instead of running the tests."""
    if session.testsfailed:
        raise session.Failed("a module of tests cannot be imported")
    tests = {item.nodeid: item for item in session.items}
    task = json.loads((FOLDER / "task.json").read_text())
    for file in task["files"]:  # kernels are imported when they are first called, too late for a replacement
        importlib.import_module(".".join(Path(SOURCES.name, file).with_suffix("").parts))
    called = FOLDER / f"{task['name']}.json"
    if not called.exists():
        _fork(
            lambda: called.write_text(json.dumps(_record([t for t in tests.values() if not _slow(t)], task["files"])))
        )
    judges = json.loads(called.read_text())
    here = set(itertools.chain(*judges.values()))  # others may call functions in processes that they start
    rest = [name for name, test in tests.items() if (not task["fast"] if _slow(test) else name not in here)]
    for mutant in task["mutants"]:
        start = time.perf_counter()
        places = tuple(mutant.pop("places"))
        rest_there = [name for name in rest if name.startswith(places)]
        unsound = []
        judging = dict.fromkeys([*judges.get(f"{mutant['file']}:{_statement(mutant)}", []), *rest_there])
        while (failed := _first_failure([tests[name] for name in judging if name in tests], mutant)) in judging:
            if not _first_failure([tests[failed]]):
                break
            del judging[failed]  # it fails without the mistake, too
            unsound.append(failed)
        record = mutant | {"killed_by": failed, "unsound": unsound, "seconds": round(time.perf_counter() - start, 1)}
        del record["source"]
        with (FOLDER / "outcomes.jsonl").open("a") as file:
            file.write(json.dumps(record) + "\n")
    return True


def _slow(test):
    return test.get_closest_marker("slow") is not None


def _fork(work):
    if child := os.fork():
        os.waitpid(child, 0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what it has started
        return
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGPROF, _stop)
        work()
    except BaseException:
        (FOLDER / "error.txt").write_text(traceback.format_exc())
    finally:
        os._exit(0)


def _stop(_signal, _frame):
    if _slow(_now[0]):
        pytest.skip("too long")
    raise TooLong


def _first_failure(tests, mutant=None):
    """Return the first test that fails in a fork with a mutant, "" if all pass."""
    answer = FOLDER / "answer"

    def work():
        if mutant:
            source = FOLDER / "source.py"
            source.write_text(mutant["source"])
            os.environ |= {"MUTANT_FILE": str(SOURCES / mutant["file"]), "MUTANT_SOURCE": str(source)}
            _replace({mutant["file"]: ast.parse(mutant["source"])})
        answer.write_text(next((name for name in _run(tests) if name in _failed), ""))

    answer.write_text(NO_TEST)
    _fork(work)
    return answer.read_text()


def _run(tests):
    for test, following in itertools.zip_longest(tests, tests[1:]):
        _now[:], _noting[:] = [test], [test.nodeid]
        signal.alarm(PATIENCE)
        signal.setitimer(signal.ITIMER_PROF, *2 * [SECONDS])
        try:
            test.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
        except TooLong:
            _failed.add(test.nodeid)
        signal.setitimer(signal.ITIMER_PROF, 0)
        yield test.nodeid


def _record(tests, files):
    """Return the tests that reach each statement and pass, the fastest first."""
    reached = {}
    builtins._note = lambda statement: reached.setdefault(statement, set()).add(_noting[-1])
    trees = {file: ast.parse((SOURCES / file).read_text()) for file in files}
    for file, tree in trees.items():
        _note_statements(tree, file)
    _replace(trees)
    # A test computes again what it could read from caches of others; kernels stay compiled.
    wrappers = (f for f in gc.get_objects() if type(f).__name__ == "_lru_cache_wrapper")
    files_of = ((f, getattr(getattr(f.__wrapped__, "__code__", None), "co_filename", "")) for f in wrappers)
    caches = [f for f, name in files_of if name.startswith(str(SOURCES.parents[1])) and "kernel" not in name]
    for _ in _run(tests):
        for cache in caches:
            cache.cache_clear()
    passed = _seconds.keys() - _failed
    judges = {}
    for statement, names in reached.items():
        names = {user for name in names for user in ([name] if isinstance(name, str) else _users(*name, tests))}
        judges[statement] = sorted(names & passed, key=_seconds.__getitem__)
    return judges


def _users(node, fixture, tests):
    return [test.nodeid for test in tests if fixture in test.fixturenames and test.nodeid.startswith(node)]


def _note_statements(tree, file):
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for node in {node for function in functions for node in ast.walk(function)}:
        for field in ("body", "orelse", "finalbody"):
            if isinstance(statements := getattr(node, field, None), list):
                notes = (ast.parse(f"_note('{file}:{statement.lineno}')").body[0] for statement in statements)
                setattr(node, field, list(itertools.chain(*zip(notes, statements, strict=True))))


def _statement(mutant):
    """Return the line on which the innermost statement around a mistake begins."""
    lines = [
        node.lineno
        for node in ast.walk(ast.parse((SOURCES / mutant["file"]).read_text()))
        if isinstance(node, ast.stmt) and node.lineno <= mutant["line"] <= node.end_lineno
    ]
    return max(lines)


def _replace(trees):
    """Give all functions of some files the code of other sources."""
    codes = {}

    def add(code):
        codes[code.co_filename, code.co_qualname, code.co_firstlineno] = code
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                add(constant)

    for file, tree in trees.items():
        add(compile(tree, str(SOURCES / file), "exec"))
    for function in gc.get_objects():
        if type(function) is FunctionType:
            old = function.__code__
            new = codes.get((old.co_filename, old.co_qualname, old.co_firstlineno), old)
            if len(new.co_freevars) == len(old.co_freevars):
                function.__code__ = new
