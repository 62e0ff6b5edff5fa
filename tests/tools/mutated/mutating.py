"""Plugin of pytest: collects tests once, then tries each mutant in a process of its own, forked from this one.

In the fork, functions get the code of the changed source; `sitecustomize.py` gives it to processes that a test starts.
Before, one fork runs all quick tests and notes which functions each of them calls.
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
from pathlib import Path
from types import CodeType, FunctionType

import pytest

FOLDER, SOURCES = Path(os.environ["MUTANTS"]), Path(os.environ["MUTANT_SOURCES"])
# Processor time of a test in seconds, and the time after which it does not come back.
SECONDS, PATIENCE = float(os.environ["MUTANT_SECONDS"]), 900
NO_TEST = "no end, or a crash"  # what notices it then

_now = []  # the test that runs
_seconds = {}  # of tests that passed
_failed = set()


class TooLong(BaseException):
    """A test needs more processor time than it may; not an Exception, which a test could catch."""


def pytest_runtest_logreport(report):
    if report.failed:
        _failed.add(report.nodeid)
    elif report.passed and report.when == "call":
        _seconds[report.nodeid] = report.duration


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
        judging = dict.fromkeys([*judges.get(f"{mutant['file']}:{mutant['function']}", []), *rest_there])
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
        _now[:] = [test]
        signal.alarm(PATIENCE)
        signal.setitimer(signal.ITIMER_PROF, *2 * [SECONDS])
        try:
            test.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
        except TooLong:
            _failed.add(test.nodeid)
        signal.setitimer(signal.ITIMER_PROF, 0)
        yield test.nodeid


def _record(tests, files):
    """Return the tests that call each function and pass, the fastest first."""
    called = {}
    builtins._note_call = lambda function: called.setdefault(function, set()).add(_now[0].nodeid)
    trees = {file: ast.parse((SOURCES / file).read_text()) for file in files}
    for file, tree in trees.items():
        _note_calls(tree, f"{file}:")
    _replace(trees)
    for _ in _run(tests):
        pass
    passed = _seconds.keys() - _failed
    return {function: sorted(names & passed, key=_seconds.__getitem__) for function, names in called.items()}


def _note_calls(node, prefix):
    for child in ast.iter_child_nodes(node):
        name = prefix
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            name = f"{prefix}{child.name}."
        _note_calls(child, name)
        if isinstance(child, ast.FunctionDef):
            child.body[:0] = ast.parse(f"_note_call({name[:-1]!r})").body


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
