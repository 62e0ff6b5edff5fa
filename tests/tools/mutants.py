"""Make one small mistake at a time in the code and see whether the tests notice.

    python tests/tools/mutants.py [--seed 0] [--number 200] [--modules trees/kernels relief] [--workers 2] [--fast]

Mistakes are drawn by the seed, evenly over the modules. Tests that import the module run first, then those of
`TESTS`, stage by stage. Tests that fail must pass without the mistake. Kernels with a mistake run interpreted. With
--output, a later run goes on where this one ended; survivors are tried again. The exit status is 1 if more than 3 %
survive; those in `EQUIVALENT` do not count.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from signal import SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.mutation import Mutant, draw, mutants_of

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "src/omnirank"
LARGEST_SHARE = 0.03
# Processor time of a test: interpreted, or with kernels that may have to be compiled first.
SECONDS_INTERPRETED, SECONDS_COMPILED = 10, 120
SECONDS_PER_RUN = 3600
MOST_NEAR = 4  # files of tests in the first stage
# Exit codes of pytest, and one for no exit. A test that ends by its limit of time may end pytest itself.
PASSED, ENDED, NO_TESTS, NO_END = 0, 3, 5, -1
CRASHES = [-signal for signal in (SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV)]
NO_TEST = "no end, or a crash"  # what notices it then

# Modules, and the tests that judge them: from near to far.
TESTS = {
    "trees/kernels/*": ["tests/trees/test_kernel_interpreted.py", "tests/trees"],
    "ensembles/kernels/*": ["tests/ensembles/test_kernel*.py tests/ensembles/test_unbiased.py"],
    "relief/kernels/*": ["tests/relief/test_relief.py"],
    "neighbors/kernels/*": ["tests/neighbors"],
    "trees/*": ["tests/trees", "tests/ensembles"],
    "ensembles/*": ["tests/ensembles", "tests/rankers/test_ensemble*.py tests/rankers/test_shard*.py"],
    "relief/*": ["tests/relief", "tests/shards"],
    "neighbors/*": ["tests/neighbors", "tests/relief tests/evaluation/test_evaluate.py tests/shards"],
    "measures/*": ["tests/measures", "tests/evaluation/test_measure*.py tests/ensembles/test_losses.py"],
    "tasks/*": ["tests/tasks", "tests/relief tests/evaluation/test_measure_tasks.py tests/evaluation/test_ev*.py"],
    "evaluation/*": ["tests/evaluation/test_[!e]*.py tests/evaluation/test_ev*.py", "tests/shards tests/plots"],
    "core/*rank*": ["tests/core/test_*rank*.py", "tests/core tests/rankers/test_base.py tests/cli"],
    "core/[acmstv]*": ["tests/core", "tests/rankers/test_resampled.py tests/tasks tests/ensembles"],
    "data/*": ["tests/data", "tests/cli tests/shards"],
    "rankers/*": ["tests/rankers", "tests/relief tests/graphs tests/shards"],
    "graphs/*": ["tests/graphs", "tests/rankers"],
}
# What the machine does, not what is computed; studies, whose tests start processes; what needs an optional package.
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
    """Return the modules of the table, or those of them that contain one of the given texts."""
    files = sorted(path.relative_to(root / PACKAGE).as_posix() for path in (root / PACKAGE).rglob("*.py"))
    return [
        file
        for file in files
        if any(fnmatch.fnmatch(file, pattern) for pattern in TESTS)
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


def stages(root: Path, file: str) -> Iterator[list[str]]:
    """Yield sets of tests, from near to far: first those that name most of the module; examples of docstrings last."""
    row = next(tests for pattern, tests in TESTS.items() if fnmatch.fnmatch(file, pattern))
    wider = [
        [str(path.relative_to(root)) for text in stage.split() for path in sorted(root.glob(text))] for stage in row
    ]
    source = (root / PACKAGE / file).read_text()
    module = f"omnirank.{file.removesuffix('.py').replace('/', '.')}"
    package, _, last = module.rpartition(".")
    names = "|".join(
        [module, f"from {package} import .*{last}", *re.findall(r"^(?:def|class) ([A-Za-z]\w+)", source, re.M)]
    )
    folders = [test for stage in wider for test in stage]
    tests = [test for folder in folders for test in ([folder] if folder.endswith(".py") else _files(root, folder))]
    counts = {test: len(re.findall(rf"\b({names})\b", (root / test).read_text())) for test in tests}
    first = [test for test in sorted(counts, key=lambda test: -counts[test])[:MOST_NEAR] if counts[test]]
    # The folder, since pytest itself would read a file that is named.
    wider[-1].append(f"{PACKAGE}/{file.split('/')[0]}")
    yield from (stage for stage in (first, *wider) if stage)


def _files(root: Path, folder: str) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in (root / folder).glob("test_*.py"))


class Trial:
    """Runs tests with and without mistakes, and keeps what was found.

    Parameters
    ----------
    root, folder : Path
        The tree; where files of runs are put.
    output : Path, optional
        File of the outcomes, a JSON object a line; what it has already is not done again.
    fast : bool
        Only tests that are not marked as slow.
    n_stages : int, optional
        How many sets of tests run at most; all of them by default.
    """

    def __init__(
        self, root: Path, folder: Path, output: Path | None = None, fast: bool = False, n_stages: int | None = None
    ) -> None:
        self.root, self.folder, self.output, self.fast, self.n_stages = root, folder, output, fast, n_stages
        self.outcomes: dict[str, dict[str, object]] = {}
        self._lock = threading.Lock()
        for line in output.read_text().splitlines() if output and output.exists() else ():
            record = json.loads(line)
            self.outcomes[record["key"]] = record

    def keep(self, key: str, **record: object) -> None:
        """Keep a finding, in memory and in the output."""
        with self._lock:
            self.outcomes[key] = {"key": key, **record}
            if self.output:
                with self.output.open("a") as file:
                    file.write(json.dumps(self.outcomes[key]) + "\n")

    def run(
        self, tests: Sequence[str], interpreted: bool, mutant: Mutant | None = None, *options: str
    ) -> tuple[int, list[str]]:
        """Run tests; return the exit code of pytest and the tests that failed."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            report, source = Path(folder, "report"), Path(folder, "source.py")
            env = os.environ | {
                "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent / "mutated"), str(self.root / "src")]),
                "PYTHONDONTWRITEBYTECODE": "",
                "PYTHONPYCACHEPREFIX": str(self.folder / "bytecode"),
                "HYPOTHESIS_PROFILE": "mutants",  # tests/conftest.py: the same examples in every run
                "MUTANT_REPORT": str(report),
                "MUTANT_SECONDS": str(SECONDS_INTERPRETED if interpreted else SECONDS_COMPILED),
            }
            if interpreted:
                env["NUMBA_DISABLE_JIT"] = "1"
            if mutant:
                source.write_text(mutant.source)
                env |= {"MUTANT_FILE": str(self.root / PACKAGE / mutant.file), "MUTANT_SOURCE": str(source)}
            command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "limited_tests"]
            command += [*(("-m", "not slow") if self.fast else ()), *options, *tests]
            try:
                done = subprocess.run(
                    command, cwd=self.root, env=env, capture_output=True, check=False, timeout=SECONDS_PER_RUN
                )
            except subprocess.TimeoutExpired:
                return NO_END, []
            return done.returncode, report.read_text().splitlines() if report.exists() else []

    def check(self, tests: Sequence[str], interpreted: bool) -> bool:
        """Keep of each test whether it passes on the code as it is; return whether all do."""
        unknown = [test for test in tests if _key(test, interpreted) not in self.outcomes]
        if unknown:
            only_files = () if any("::" in test for test in unknown) else ("--collect-only",)
            failed = self.run(unknown, interpreted, None, "--maxfail=9999", *only_files)[1]
            for test in unknown:
                self.keep(_key(test, interpreted), sound=test not in failed)
        return all(self.outcomes[_key(test, interpreted)]["sound"] for test in tests)

    def fails(self, mutant: Mutant, tests: Sequence[str], before: Sequence[str]) -> str:
        """Return the test that fails with the mistake; "" if there is none."""
        interpreted = _is_interpreted(mutant)
        way = _key("", interpreted)
        while True:
            unsound = [key for key, found in self.outcomes.items() if found.get("sound") is False]
            broken = [key.removeprefix(way) for key in unsound if key.startswith(way)]
            options = [f"--{option}={test}" for test in broken for option in ("deselect", "ignore")]
            options += [f"--ignore={test}" for test in before]
            left = [test for test in tests if test not in broken]
            code, failed = self.run(left, interpreted, mutant, *options) if left else (NO_TESTS, [])
            if code in (PASSED, NO_TESTS):
                return ""
            if code in (NO_END, ENDED, *CRASHES):
                return NO_TEST
            if not failed:
                raise ValueError(f"{mutant}: tests cannot be run (exit code {code} of pytest)")
            # Compiled, tests pass as a rule: they are checked later, all at once.
            if not interpreted or self.check(failed[:1], interpreted):
                return failed[0]

    def attempt(self, mutant: Mutant) -> str:
        """Return the test that notices a mutant, "" if none does; equivalent ones are not tried."""
        if reason(mutant):
            return ""
        key = hashlib.sha256(f"{mutant.file} {mutant.source}".encode()).hexdigest()[:16]
        test = str(self.outcomes.get(key, {}).get("killed_by", ""))
        if not test or self.outcomes.get(_key(test, _is_interpreted(mutant)), {}).get("sound") is False:
            start, before, test = time.perf_counter(), [], ""
            for tests in itertools.islice(stages(self.root, mutant.file), self.n_stages):
                test = self.fails(mutant, tests, before)
                if test:
                    break
                before += tests
            seconds = round(time.perf_counter() - start)
            self.keep(key, mutant=str(mutant), kind=mutant.kind, killed_by=test, seconds=seconds)
            print(f"{'killed' if test else 'SURVIVES':8} {seconds:5d} s  {mutant}", flush=True)
        return test

    def attempt_all(self, mutants: Sequence[Mutant], n_workers: int) -> list[str]:
        """Attempt mutants until all tests that notice one pass on the code as it is."""
        with ThreadPoolExecutor(n_workers) as workers:
            while True:
                noticed = list(workers.map(self.attempt, mutants))
                found = zip(mutants, noticed, strict=True)
                compiled = {test for mutant, test in found if test and not _is_interpreted(mutant)} - {NO_TEST}
                if self.check(sorted(compiled), interpreted=False):
                    return noticed


def _key(test: str, interpreted: bool) -> str:
    return f"{'interpreted' if interpreted else 'compiled'} {test}"


def _is_interpreted(mutant: Mutant) -> bool:
    return "/kernels/" in mutant.file


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
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--number", type=int, default=200, help="how many mutants")
    parser.add_argument("--modules", nargs="*", default=[], help="only modules whose path contains one of these texts")
    parser.add_argument("--workers", type=int, default=1, help="how many mutants at the same time")
    parser.add_argument("--fast", action="store_true", help="only tests that are not marked as slow")
    parser.add_argument("--stages", type=int, help="how many sets of tests run at most, from near to far")
    parser.add_argument("--output", type=Path, help="file of the outcomes (JSON lines); a later run goes on from it")
    parser.add_argument("--list", action="store_true", help="only print the mutants")
    given = parser.parse_args(argv)
    mutants = drawn(ROOT, modules(ROOT, given.modules), given.seed, given.number)
    if given.list:
        print(*mutants, sep="\n")
        return 0
    with tempfile.TemporaryDirectory(prefix="omnirank-mutants-") as folder:
        trial = Trial(ROOT, Path(folder), given.output, given.fast, given.stages)
        return verdict(mutants, trial.attempt_all(mutants, given.workers))


if __name__ == "__main__":
    raise SystemExit(main())
