"""Compiled kernels on the disk: damaged files, full disks, processes side by side. No fit fails because of any."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from omnirank.core import compiled as module
from omnirank.core import kernel_cache

needs_compiler = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="the compiler is off")
pytestmark = needs_compiler


def double(x):
    return 2 * x


def triple(x):
    return 3 * x


@pytest.fixture
def told(caplog, monkeypatch):
    """What was logged since the last call."""
    caplog.set_level(logging.WARNING, logger="omnirank.compiling")

    def since():
        messages = [record.getMessage() for record in caplog.records]
        caplog.clear()
        monkeypatch.setattr(kernel_cache, "_said", set())  # as in a new process
        return messages

    since()
    return since


def misses(*functions, arguments=(1,)):
    """Call functions as a new process would; return how many were not found on the disk."""
    count = 0
    for function in functions:
        kernel = module.compiled(function)
        for argument in arguments:
            assert kernel(argument) == function(argument)
        count += sum(kernel.stats.cache_misses.values())
    return count


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if not path.is_dir())


def flip_one_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "something").write_text("in the way")


def replace_by_loop(path: Path) -> None:
    """A link to itself: opening it fails for everybody, as a file without permission does for users but root."""
    path.unlink()
    path.symlink_to(path)


DAMAGES = {
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "one bit": flip_one_bit,
    "another pickle": lambda path: path.write_bytes(b"\x80\x04K\x01."),
    "folder": replace_by_folder,
    "unreadable": replace_by_loop,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_deleted_and_compiled_again(damage, monkeypatch, tmp_path, told):
    monkeypatch.setattr(module, "_CACHE", str(tmp_path))
    assert misses(double, triple) == 2
    assert files(tmp_path)
    for path in files(tmp_path):
        DAMAGES[damage](path)
    assert misses(double, triple) == 2
    (message,) = told()  # once for two files
    assert "compiled again" in message
    assert misses(double, triple) == 0, "the disk is in order again"
    assert told() == []


def test_code_for_other_arguments_is_never_taken(monkeypatch, tmp_path, told):
    """Files that changed places, as an index of two writers makes them: each says what it is for."""
    monkeypatch.setattr(module, "_CACHE", str(tmp_path))
    assert misses(double, arguments=(1, 1.5)) == 2
    one, other = [path for path in files(tmp_path) if path.suffix == ".nbc"]
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)
    assert misses(double, arguments=(1, 1.5)) == 2
    assert misses(double, arguments=(1, 1.5)) == 0


# -- other processes ------------------------------------------------------------------------------

SCRIPT = """
import json, logging, sys, time
logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
{first}
from omnirank.core.compiled import compiled

@compiled
def kernel(x):
    return 2 * x

@compiled
def other(x):
    return 3 * x

{then}
arguments = json.loads(sys.argv[1])
results = [kernel(a) for a in arguments] + [other(a) for a in arguments]
found = [sum(getattr(f.stats, name).values()) for name in ("cache_hits", "cache_misses") for f in (kernel, other)]
print(json.dumps([results, sum(found[:2]), sum(found[2:])]))
"""


class Process:
    """A script with two kernels; `finish` gives results, cache hits, misses and the lines of the error stream."""

    def __init__(self, folder, arguments=(1,), first="", then="", environment=None):
        script = folder / "script.py"
        if not script.exists() or script.read_text() != SCRIPT.format(first=first, then=then):
            script.write_text(SCRIPT.format(first=first, then=then))
        variables = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), **(environment or {})}
        self._process = subprocess.Popen(
            [sys.executable, str(script), json.dumps(arguments)],
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self):
        out, errors = self._process.communicate(timeout=120)
        assert self._process.returncode == 0, errors
        results, hits, misses = json.loads(out)
        return results, hits, misses, errors.splitlines()


@pytest.mark.slow
def test_a_full_disk_does_not_lose_a_compiled_kernel(tmp_path):
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"  # no file takes a byte
    results, _, missed, told = Process(tmp_path, then=full).finish()
    assert results == [2, 3]
    assert missed == 2
    assert len(told) == 1, told
    assert "in memory" in told[0]
    assert not files(tmp_path / "cache"), "nothing half written is left"


MEET = """
import os
replace = os.replace

def together(*arguments):
    os.replace = replace
    open(os.path.join({folder!r}, str(os.getpid())), "w").close()
    for _ in range(60_000):
        if len(os.listdir({folder!r})) >= {count}:
            break
        time.sleep(0.001)
    return replace(*arguments)

os.replace = together
"""


@pytest.mark.slow
def test_processes_that_compile_the_same_kernels_at_once(tmp_path):
    """All wait for each other before the first file gets its name; everything is found afterwards."""
    meeting = tmp_path / "meeting"
    meeting.mkdir()
    meet = MEET.format(folder=str(meeting), count=4)
    running = [Process(tmp_path, [argument], then=meet) for argument in (1, 1.5, True, 1)]
    for process in running:
        process.finish()
    results, hits, missed, told = Process(tmp_path, [1, 1.5, True], then=meet).finish()
    assert results == [2, 3.0, 2, 3, 4.5, 3]
    assert (hits, missed, told) == (6, 0, [])
    assert not [path for path in files(tmp_path / "cache") if ".tmp" in path.name]


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"first": "import numba; numba.__version__ = '0.99.0'"},
        {"environment": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}},
    ],
    ids=["numba", "cpu"],
)
def test_versions_and_machines_side_by_side_keep_their_own(change, tmp_path):
    assert Process(tmp_path).finish()[1:] == (0, 2, [])
    assert Process(tmp_path, **change).finish() == ([2, 3], 0, 2, []), "nothing of the other is taken"
    assert Process(tmp_path).finish()[1:] == (2, 0, []), "nothing of the other was overwritten"
