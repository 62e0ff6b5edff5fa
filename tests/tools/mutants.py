"""Make one small mistake at a time in the code and see whether the tests notice.

    python tests/tools/mutants.py FOLDER [--seed 0] [--number 200] [--modules trees relief] [--workers 2] [--fast]

Mistakes are drawn by the seed, evenly over the modules. The quick tests that run the changed line judge first, the
fastest of them first; then the slow tests of the room. Kernels with a mistake run interpreted. FOLDER keeps which test
runs which line, and the outcomes, so that a later run goes on where this one ended; survivors are tried again. The exit
status is 1 if more than 3 % survive; those in `EQUIVALENT` do not count.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.mutation import Mutant, draw, mutants_of

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "src/omnirank"
LARGEST_SHARE = 0.03
# Processor time of a test in seconds: with lines recorded, and with a mistake.
SECONDS_RECORDED, SECONDS = 30, 30
# Exit codes of pytest.
PASSED, NO_TESTS = 0, 5
NO_TEST = "no end, or a crash"  # what notices it then

# Rooms whose results are judged, and the tests that run their kernels interpreted.
ROOMS = [
    "core",
    "data",
    "ensembles",
    "evaluation",
    "graphs",
    "measures",
    "neighbors",
    "rankers",
    "relief",
    "tasks",
    "trees",
]
INTERPRETED = ["trees", "ensembles", "relief", "neighbors", "tasks"]
# What the machine does, not what is computed; studies, whose tests start processes.
LEFT_OUT = [
    *("core/cluster.py", "core/compiled.py", "core/s[cptu]*", "core/text.py", "core/types.py"),
    *("evaluation/experiments/*", "*__init__.py"),
]

# Mistakes that change nothing that matters, by file and changed line, each with the reason.
EQUIVALENT = {
    'core/ranking/ranking.py: "parameters": _merged_parameters(b.parameters, a.parameters, amount),': (
        "rankings of one method have the same parameters in the same order"
    ),
}


def modules(root: Path, given: Sequence[str]) -> list[str]:
    """Return the modules of the rooms, or those of them that contain one of the given texts."""
    files = (path.relative_to(root / PACKAGE).as_posix() for path in sorted((root / PACKAGE).rglob("*.py")))
    return [
        file
        for file in files
        if file.split("/")[0] in ROOMS
        and not any(fnmatch.fnmatch(file, pattern) for pattern in LEFT_OUT)
        and (not given or any(text in file for text in given))
    ]


def drawn(root: Path, files: Sequence[str], seed: int, number: int) -> list[Mutant]:
    """Draw mutants evenly over files. The draw of a file depends on the seed and on the file alone."""
    lines = []
    for file in files:
        rng = random.Random(f"{seed} {file}")
        mutants = mutants_of(file, (root / PACKAGE / file).read_text())
        lines.append((rng.random(), file, draw(mutants, rng)))
    turns = itertools.zip_longest(*(mutants for _, _, mutants in sorted(lines, key=lambda line: line[:2])))
    return list(itertools.islice((mutant for turn in turns for mutant in turn if mutant), number))


class Trial:
    """Runs tests with and without mistakes, and keeps the outcomes.

    Parameters
    ----------
    root, folder : Path
        The tree; where the lines of tests and the outcomes are kept.
    fast : bool
        Only quick tests.
    """

    def __init__(self, root: Path, folder: Path, fast: bool = False) -> None:
        self.root, self.folder, self.fast = root, folder, fast
        self._lock = threading.Lock()
        self._output = folder / "outcomes.jsonl"
        records = self._output.read_text().splitlines() if self._output.exists() else []
        self.outcomes = {record["key"]: record for record in map(json.loads, records)}

    def run(
        self, tests: Sequence[str], interpreted: bool, mutant: Mutant | None = None, *options: str, **variables: str
    ) -> tuple[int, dict[str, tuple[str, float]]]:
        """Run tests; return the exit code of pytest, and the outcome and the seconds of each test."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            report, source, names = Path(folder, "report"), Path(folder, "source.py"), Path(folder, "tests")
            names.write_text("\n".join(tests))
            env = os.environ | {
                "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent / "mutated"), str(self.root / "src")]),
                "PYTHONDONTWRITEBYTECODE": "",
                "PYTHONPYCACHEPREFIX": str(self.folder / "bytecode"),
                "HYPOTHESIS_PROFILE": "mutants",  # tests/draws.py: the same examples in every run
                "NUMBA_DISABLE_JIT": str(int(interpreted)),
                "MUTANT_REPORT": str(report),
                "MUTANT_SECONDS": str(SECONDS),
            }
            if mutant:
                source.write_text(mutant.source)
                env |= {"MUTANT_FILE": str(self.root / PACKAGE / mutant.file), "MUTANT_SOURCE": str(source)}
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "limited_tests"]
            command += [*options, f"@{names}"]
            done = subprocess.run(command, cwd=self.root, env=env | variables, capture_output=True, check=False)
            lines = report.read_text().splitlines() if report.exists() else []
            outcomes = (line.split(" ", 2) for line in lines)
            return done.returncode, {test: (outcome, float(seconds)) for outcome, seconds, test in outcomes}

    @cached_property
    def compiled(self) -> dict[str, dict[int, list[str]]]:
        return self.lines(["tests", PACKAGE], False)

    @cached_property
    def interpreted(self) -> dict[str, dict[int, list[str]]]:
        tests = [path for pattern in INTERPRETED for path in sorted((self.root / "tests").glob(pattern))]
        return self.lines([str(path.relative_to(self.root)) for path in tests], True)

    def lines(self, tests: Sequence[str], interpreted: bool) -> dict[str, dict[int, list[str]]]:
        """Return the quick tests that run each line of each file and pass, the fastest first."""
        kept = self.folder / f"{'interpreted' if interpreted else 'compiled'}.json"
        if not kept.exists():
            from coverage import CoverageData

            data = self.folder / "coverage"
            recorded = {"COVERAGE_FILE": str(data), "MUTANT_SECONDS": str(SECONDS_RECORDED)}
            options = ["-m", "not slow", f"--cov={PACKAGE}", "--cov-context=test", "--cov-report="]
            outcomes = self.run(tests, interpreted, None, *options, **recorded)[1]
            seconds = {test: time for test, (outcome, time) in outcomes.items() if outcome == "passed"}
            coverage = CoverageData(str(data))
            coverage.read()
            kept.write_text(json.dumps({
                Path(file).relative_to(self.root / PACKAGE).as_posix(): {
                    line: sorted(seconds.keys() & {name.rpartition("|")[0] for name in names}, key=seconds.__getitem__)
                    for line, names in coverage.contexts_by_lineno(file).items()
                }
                for file in coverage.measured_files()
            }))  # fmt: skip
        return {
            file: {int(line): tests for line, tests in lines.items()}
            for file, lines in json.loads(kept.read_text()).items()
        }

    def notices(self, mutant: Mutant) -> str:
        """Return the test that notices a mutant; "" if there is none."""
        is_kernel = "/kernels/" in mutant.file
        lines = (self.interpreted if is_kernel else self.compiled).get(mutant.file, {})
        tests = lines.get(max((line for line in lines if line <= mutant.line), default=0), [])
        code, outcomes = self.run(tests, is_kernel, mutant, "-x") if tests else (NO_TESTS, {})
        if code in (PASSED, NO_TESTS) and not self.fast:
            room = mutant.file.split("/")[0]
            slow = [f"tests/{room}", f"{PACKAGE}/{room}"]
            code, outcomes = self.run(slow, is_kernel, mutant, "-x", "-m", "slow", MUTANT_LATE="skipped")
            failed = [test for test, (outcome, _) in outcomes.items() if outcome == "failed"]
            if failed and self.run(failed, is_kernel)[0] != PASSED:
                raise ValueError(f"{failed[0]} fails without a mistake")
        if code in (PASSED, NO_TESTS):
            return ""
        return next((test for test, (outcome, _) in outcomes.items() if outcome == "failed"), NO_TEST)

    def attempt(self, mutant: Mutant) -> str:
        """Return the test that notices a mutant, "" if none does; equivalent ones are not tried."""
        if reason(mutant):
            return ""
        key = hashlib.sha256(f"{mutant.file} {mutant.source}".encode()).hexdigest()[:16]
        test = str(self.outcomes.get(key, {}).get("killed_by", ""))
        if not test:
            start, test = time.perf_counter(), self.notices(mutant)
            seconds = round(time.perf_counter() - start)
            record = {"key": key, "mutant": str(mutant), "kind": mutant.kind, "killed_by": test, "seconds": seconds}
            with self._lock, self._output.open("a") as file:
                file.write(json.dumps(record) + "\n")
            print(f"{'killed' if test else 'SURVIVES':8} {seconds:5d} s  {mutant}", flush=True)
        return test

    def attempt_all(self, mutants: Sequence[Mutant], n_workers: int = 1) -> list[str]:
        """Return the test that notices each mutant."""
        if any("/kernels/" in mutant.file for mutant in mutants):
            _ = self.interpreted  # made once, before the workers ask
        _ = self.compiled
        with ThreadPoolExecutor(n_workers) as workers:
            return list(workers.map(self.attempt, mutants))


def verdict(mutants: Sequence[Mutant], noticed: Sequence[str]) -> int:
    """Print what survives, and return the exit status."""
    survivors = [mutant for mutant, test in zip(mutants, noticed, strict=True) if not test]
    holes = [mutant for mutant in survivors if reason(mutant) is None]
    for mutant in survivors:
        why = reason(mutant) or "NO REASON: write a test, or say why none can tell"
        print(f"survives: {mutant}\n    {mutant.changed}\n    {why}")
    n = len(mutants) - len(survivors) + len(holes)
    share = len(holes) / max(1, n)
    print(f"{len(holes)} of {n} mutants survive ({share:.1%}, at most {LARGEST_SHARE:.0%} may); "
          f"{len(survivors) - len(holes)} more change nothing that matters")  # fmt: skip
    return int(share > LARGEST_SHARE)


def reason(mutant: Mutant) -> str | None:
    """Return why a mutant changes nothing that matters."""
    return EQUIVALENT.get(f"{mutant.file}: {mutant.changed}")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="keeps the lines of tests and the outcomes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--number", type=int, default=200, help="how many mutants")
    parser.add_argument("--modules", nargs="*", default=[], help="only modules whose path contains one of these texts")
    parser.add_argument("--workers", type=int, default=1, help="how many mutants at the same time")
    parser.add_argument("--fast", action="store_true", help="only tests that are not marked as slow")
    parser.add_argument("--list", action="store_true", help="only print the mutants")
    given = parser.parse_args(argv)
    mutants = drawn(ROOT, modules(ROOT, given.modules), given.seed, given.number)
    if given.list:
        print(*mutants, sep="\n")
        return 0
    given.folder.mkdir(parents=True, exist_ok=True)
    return verdict(mutants, Trial(ROOT, given.folder.resolve(), given.fast).attempt_all(mutants, given.workers))


if __name__ == "__main__":
    raise SystemExit(main())
