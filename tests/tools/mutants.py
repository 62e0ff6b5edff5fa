"""Change the code in one place at a time and see whether the tests notice.

    python tests/tools/mutants.py [--only TEXT] [--workers 2]

`mutants.toml` beside this file lists the changes. Each is made in a copy of the tree, never in the tree itself, and the
tests nearest to it are run. A mutant survives where they pass. The exit status is 1 where more than 3 % survive, where
a survivor has no reason, and where the list is out of date.
"""

from __future__ import annotations

import argparse
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from compileall import compile_dir
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from py_compile import PycInvalidationMode

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_suffix(".toml")
PACKAGE = Path("src/omnirank")
LARGEST_SHARE = 0.03
# A mutant whose tests take so long loops for ever: they have noticed it. (Or the machine has too much else to do.)
SECONDS = 300
# Before anything is changed, all nearest tests run at once, and kernels are compiled.
SECONDS_BEFORE = 1800
# Exit codes of pytest: passed, wrong usage, nothing collected.
PASSED, UNUSABLE = 0, (4, 5)
SURVIVES = "survives"

_LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "_build", "*.egg-info", "results")


@dataclass(frozen=True)
class Mutant:
    """One change: in a file of the package, `old`, which occurs once, becomes `new`."""

    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    compiled: bool = False  # whether the tests run with compiled kernels: most are small enough without
    reason: str = ""  # why it may survive

    def __str__(self) -> str:
        changed = [(a, b) for a, b in zip(self.old.split("\n"), self.new.split("\n"), strict=False) if a != b]
        old, new = changed[0] if changed else (self.old, self.new)
        return f"{self.file}: {old.strip()} -> {new.strip()}"


def read_mutants(path: Path, package: Path) -> list[Mutant]:
    """Read the list; what no longer fits the code raises a ValueError that names all of it."""
    mutants = [
        Mutant(**{**entry, "tests": tuple(entry["tests"])}) for entry in tomllib.loads(path.read_text())["mutant"]
    ]
    stale = []
    for mutant in mutants:
        source = package / mutant.file
        n = source.read_text().count(mutant.old) if source.exists() else 0
        if n != 1 or mutant.old == mutant.new:
            stale.append(f"  {mutant}: found {n} times" if n != 1 else f"  {mutant}: changes nothing")
    if stale:
        raise ValueError("mutants that do not fit the code; bring the list up to date:\n" + "\n".join(stale))
    return mutants


class Copy:
    """A copy of the tree, in which tests run with kernels of their own."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = folder / "tree"
        shutil.copytree(root, self.root, ignore=_LEFT_OUT)
        # Bytecode is compared with the text: by time and length, changes within a second would not be seen.
        compile_dir(self.root / "src", quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
        self._env = os.environ | {
            "PYTHONPATH": str(self.root / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NUMBA_CACHE_DIR": str(folder / "kernels"),
            "HYPOTHESIS_PROFILE": "mutants",  # of tests/conftest.py: the same examples in every run, not made smaller
        }

    def run_tests(self, tests: Iterable[str], compiled: bool, seconds: float) -> tuple[int | None, str]:
        """Return the exit code of pytest, None where it does not come to an end, and what it printed."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        env = self._env | ({} if compiled else {"NUMBA_DISABLE_JIT": "1"})
        try:
            done = subprocess.run(
                command, cwd=self.root, env=env, capture_output=True, text=True, check=False, timeout=seconds
            )
        except subprocess.TimeoutExpired:
            return None, f"no end after {seconds:g} seconds"
        return done.returncode, done.stdout + done.stderr

    @contextmanager
    def changed(self, mutant: Mutant) -> Iterator[None]:
        """Hold the mutant's change; afterwards the file is as before, its time too, by which kernels are known."""
        source = self.root / PACKAGE / mutant.file
        text, times = source.read_text(), source.stat()
        source.write_text(text.replace(mutant.old, mutant.new))
        try:
            yield
        finally:
            source.write_text(text)
            os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))

    def check(self, mutants: Sequence[Mutant]) -> None:
        """Raise a ValueError unless the nearest tests run on the copy, and pass as long as nothing is changed."""
        where = subprocess.run(
            [sys.executable, "-c", "import omnirank; print(omnirank.__file__)"],
            env=self._env,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        if not Path(where.strip()).is_relative_to(self.root):
            raise ValueError(f"tests would run on {where.strip()}, not on the copy in {self.root}")
        for compiled in (False, True):
            tests = sorted({test for mutant in mutants if mutant.compiled == compiled for test in mutant.tests})
            code, told = self.run_tests(tests, compiled, SECONDS_BEFORE) if tests else (PASSED, "")
            if code != PASSED:
                raise ValueError(f"the nearest tests do not pass on the code as it is:\n{told}")

    def outcome(self, mutant: Mutant) -> str:
        """Return "survives" where the tests pass in spite of the change, else "killed" or "no end"."""
        with self.changed(mutant):
            code, told = self.run_tests(mutant.tests, mutant.compiled, SECONDS)
        if code in UNUSABLE:
            raise ValueError(f"{mutant}: no tests were run\n{told}")
        if code is None:
            return "no end"
        return SURVIVES if code == PASSED else "killed"


def surviving(mutants: Sequence[Mutant], root: Path, folder: Path, n_workers: int = 1) -> list[Mutant]:
    """Try all mutants, each worker in its own copy, and return those that the tests do not notice."""
    copies: queue.SimpleQueue[Copy] = queue.SimpleQueue()

    def prepare(i: int) -> None:
        copy = Copy(root, folder / str(i))
        copy.check(mutants[i::n_workers])
        copies.put(copy)

    def attempt(mutant: Mutant) -> str:
        copy = copies.get()
        start = time.perf_counter()
        try:
            found = copy.outcome(mutant)
        finally:
            copies.put(copy)
        print(f"{found:8} {time.perf_counter() - start:5.0f} s  {mutant}", flush=True)
        return found

    with ThreadPoolExecutor(n_workers) as workers:
        list(workers.map(prepare, range(n_workers)))
        outcomes = list(workers.map(attempt, mutants))
    return [mutant for mutant, found in zip(mutants, outcomes, strict=True) if found == SURVIVES]


def verdict(mutants: Sequence[Mutant], survivors: Sequence[Mutant]) -> int:
    """Print what survives, and return the exit status."""
    for mutant in survivors:
        print(f"survives: {mutant}\n    {mutant.reason or 'NO REASON: write a test, or say why none can tell'}")
    for mutant in mutants:
        if mutant.reason and mutant not in survivors:
            print(f"killed, although it has a reason to survive: {mutant}")
    share = len(survivors) / max(1, len(mutants))
    print(f"{len(survivors)} of {len(mutants)} mutants survive ({share:.1%}, at most {LARGEST_SHARE:.0%} may)")
    return int(share > LARGEST_SHARE or any(not mutant.reason for mutant in survivors))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=Path, default=LIST, help="file of the mutants")
    parser.add_argument("--only", default="", help="mutants whose file or change contains this text")
    parser.add_argument("--workers", type=int, default=1, help="how many copies of the tree work at the same time")
    given = parser.parse_args(argv)
    try:
        mutants = [mutant for mutant in read_mutants(given.list, ROOT / PACKAGE) if given.only in str(mutant)]
        with tempfile.TemporaryDirectory(prefix="omnirank-mutants-") as folder:
            return verdict(mutants, surviving(mutants, ROOT, Path(folder), given.workers))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    raise SystemExit(main())
