"""Make one small mistake at a time in the code and see whether the tests notice.

    python tests/tools/mutants.py FOLDER [--seed 0] [--number 200] [--modules trees relief] [--fast]

Mistakes in functions are drawn by the seed, evenly over the modules. The quick tests that call the function judge
first, the fastest of them first; then, of the room and of files that name what the module defines, slow tests and
those that call nothing in their own process.
Kernels with a mistake run interpreted. FOLDER keeps which test calls which function, and the outcomes, so that a later
run goes on where this one ended; survivors are tried again. The tree must not change meanwhile. The exit status is 1 if
more than 3 % survive; those in `EQUIVALENT` do not count.
"""

from __future__ import annotations

import argparse
import ast
import fnmatch
import hashlib
import itertools
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.mutation import Mutant, draw, mutants_of

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "src/omnirank"
LARGEST_SHARE = 0.03
SECONDS = 30  # processor time of a test

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
INTERPRETED = [f"tests/{room}" for room in ("trees", "ensembles", "relief", "neighbors", "tasks")]
# What the machine does, not what is computed; studies, whose tests start processes.
LEFT_OUT = [
    *(
        "core/cluster.py",
        "core/compiled.py",
        "core/numba_internals.py",
        "core/s[cptu]*",
        "core/text.py",
        "core/types.py",
    ),
    *("evaluation/experiments/*", "*__init__.py"),
]

# Mistakes that change nothing that matters, by file and changed line, each with the reason.
EQUIVALENT = {
    'core/ranking/ranking.py: "parameters": _merged_parameters(b.parameters, a.parameters, amount),': (
        "rankings of one method have the same parameters in the same order"
    ),
    "data/load.py: first, *others = [fault for i, fault in enumerate(faults) if not _is_outdone(fault, faults[i :])]": (
        "no error cures the same as itself in another way"
    ),
    "data/resampling.py: of_column = _mixed(numbers.astype(np.uint64)) | np.uint64(2)": "any factors do that differ",
    "ensembles/supervision.py: if settled is None or settled.level < 2:": "level 1 does not read features' weights",
    "evaluation/redundancy.py: if (n < max_examples):": "of just so many, all are taken, in order",
    "evaluation/redundancy.py: sensible = (spread > _NO_SPREAD * n) & ((n >= n_levels)) & (n_levels > 1) & "
    "_enough(n, len(b.ranks))": "0 / 0 where each row has a level of its own: no association either",
    "evaluation/statistics.py: reached = -2": "every method ends a run after -1",
    "neighbors/weighted.py: known, several = ~np.isnan(ranges.span), (n_levels >= 1)": (
        "the cells of a feature of one level are as far from each other as those of none"
    ),
    "trees/kernels/candidates.py: best[0] = impurity * ((n) * ROUNDING)": "ROUNDING is generous, too",
    "trees/kernels/order.py: return n_known if (n_known > 0 or key[0] != key[n_known - 1]) else 0": (
        "no threshold lies between equal values"
    ),
    "trees/kernels/spaces.py: alike &= (z[rows[lo + i], c] == z[first_row, c] and weight[i] == 0.0)": (
        "equal rows have no impurity when they are centred again, either"
    ),
    "trees/prediction.py: memory = rows.copy(), np.empty_like(rows), np.empty((len(rows) + 2, 3), np.int64)": (
        "a row of memory that nothing needs"
    ),
    "trees/tree.py: narrow = (waiting.max() <= 2 ** 16)": "as many wait at leaves only",
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


def judge(root: Path, folder: Path, mutants: Sequence[Mutant], interpreted: Sequence[str], fast: bool) -> list[str]:
    """Return the test that notices each mutant, "" if none does; the folder keeps the outcomes.

    Parameters
    ----------
    root, folder : Path
        The tree; where the functions that each test calls and the outcomes are kept.
    interpreted : sequence of str
        Tests of kernels, which run interpreted.
    fast : bool
        Only quick tests.
    """
    output = folder / "outcomes.jsonl"
    output.touch()
    keys = [hashlib.sha256(f"{mutant.file} {mutant.source}".encode()).hexdigest()[:16] for mutant in mutants]
    known = _outcomes(output)
    for name, tests in (("compiled", ["tests", PACKAGE]), ("interpreted", interpreted)):
        tasks = [
            asdict(mutant) | {"key": key, "places": _naming(root, mutant.file)}
            for mutant, key in zip(mutants, keys, strict=True)
            if not known.get(key) and reason(mutant) is None and ("/kernels/" in mutant.file) == (name == "interpreted")
        ]
        if tasks:
            files = [file for file in modules(root, []) if ("/kernels/" in file) == (name == "interpreted")]
            (folder / "task.json").write_text(
                json.dumps({"name": name, "files": files, "fast": fast, "mutants": tasks})
            )
            env = os.environ | {
                "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent / "mutated"), str(root / "src")]),
                "HYPOTHESIS_PROFILE": "mutants",  # tests/draws.py: the same examples in every run
                "NUMBA_DISABLE_JIT": str(int(name == "interpreted")),
                "MUTANTS": str(folder),
                "MUTANT_SOURCES": str(root / PACKAGE),
                "MUTANT_SECONDS": str(SECONDS),
            }
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "mutating", *tests]
            with (folder / f"{name}.log").open("w") as log:
                subprocess.run(command, cwd=root, env=env, check=True, stdout=log, stderr=log)
    outcomes = _outcomes(output)
    return [outcomes.get(key, "") for key in keys]


def _outcomes(output: Path) -> dict[str, str]:
    return {record["key"]: record["killed_by"] for record in map(json.loads, output.read_text().splitlines())}


def _naming(root: Path, file: str) -> list[str]:
    """Return the tests that name what a module defines, and those of its room."""
    body = ast.parse((root / PACKAGE / file).read_text()).body
    names = [node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_"]
    word, room = re.compile(rf"\b({'|'.join(names)})\b"), file.split("/")[0]
    files = [path for path in sorted((root / "tests").rglob("test_*.py")) if names and word.search(path.read_text())]
    return [f"tests/{room}/", f"{PACKAGE}/{room}/", *(path.relative_to(root).as_posix() for path in files)]


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
    parser.add_argument("folder", type=Path, help="keeps which tests call which functions, and the outcomes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--number", type=int, default=200, help="how many mutants")
    parser.add_argument("--modules", nargs="*", default=[], help="only modules whose path contains one of these texts")
    parser.add_argument("--interpreted", nargs="*", default=INTERPRETED, help="tests that judge mistakes in kernels")
    parser.add_argument("--fast", action="store_true", help="only tests that are not marked as slow")
    parser.add_argument("--list", action="store_true", help="only print the mutants")
    given = parser.parse_args(argv)
    mutants = drawn(ROOT, modules(ROOT, given.modules), given.seed, given.number)
    if given.list:
        print(*mutants, sep="\n")
        return 0
    given.folder.mkdir(parents=True, exist_ok=True)
    return verdict(mutants, judge(ROOT, given.folder.resolve(), mutants, given.interpreted, given.fast))


if __name__ == "__main__":
    raise SystemExit(main())
