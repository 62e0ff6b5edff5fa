"""Parts of kernels: in kernels, called from Python, and with a version of Numba that was not tried."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from omnirank.core import numba_internals

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]

MODULE = """
import logging, sys
logging.basicConfig(stream=sys.stderr, format="%(message)s")
logging.getLogger("omnirank.compiling").setLevel(logging.DEBUG)
import numba
numba.__version__ = {version!r}
from omnirank.core.compiled import compiled, part, inlined
from omnirank.core import numba_internals

@part
def doubled(x):
    return 2 * x

@inlined
def sum_of_two(x, y):
    return doubled(x) + doubled(y)

@compiled
def kernel(x, y):
    return sum_of_two(x, y) + 1

if __name__ == "__main__":
    print(bool(numba_internals.PART_OPTIONS), kernel(1, 2), sum_of_two(1, 2), doubled(2.5), kernel(0.5, 0.25))
"""

TRIED = numba.__version__.rpartition(".")[0] in numba_internals._TRIED


@pytest.mark.parametrize(
    ("version", "way", "short"),
    [(numba.__version__, "", TRIED), (numba.__version__, "plain", False), ("0.99.0", "", False)],
)
def test_kernels_and_parts_give_the_same_with_any_version(version, way, short, tmp_path):
    script = tmp_path / "kernels.py"
    script.write_text(MODULE.format(version=version))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "OMNIRANK_KERNEL_PARTS": way}
    environment.pop("NUMBA_DISABLE_JIT", None)
    for _ in range(2):  # compiled, then read from the disk
        done = subprocess.run(
            [sys.executable, str(script)], capture_output=True, text=True, env=environment, check=True
        )
        assert done.stdout.split() == [str(short), "7", "6", "5.0", "2.5"]
        assert done.stderr.count("the plain way") == (0 if short else 1), "the slower way is said once"


def test_the_pinned_numba_was_tried():
    pinned = re.search(r"^numba==(.*)\.\d+$", (ROOT / "constraints.txt").read_text(), flags=re.MULTILINE)
    assert pinned[1] in numba_internals._TRIED, "try core/numba_internals.py with it, then add it to _TRIED"


# Hides the names of Numba and llvmlite from the one module that uses them.
HIDDEN = """
import builtins, sys
imported = builtins.__import__

def hiding(name, *rest, **named):
    names = rest[0] if rest else named.get("globals")
    if name.startswith(("numba.core", "llvmlite")) and (names or {}).get("__name__") == "omnirank.core.numba_internals":
        raise ImportError(name)
    return imported(name, *rest, **named)

builtins.__import__ = hiding
"""
RUN = "import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))"


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="the compiler is off")
@pytest.mark.parametrize(("script", "way"), [(RUN, "plain"), (HIDDEN + RUN, "")], ids=["plain parts", "no names"])
def test_kernels_pass_the_plain_way(script, way, tmp_path):
    """The least that compiles the loop that grows trees with parts of all kinds, and the twins of instructions."""
    growing = "tests/trees/test_kernel_interpreted.py::"
    tests = [
        growing + "test_tiny_data[one-numeric-all-tests]",
        growing + "test_tiny_data[one-mixed-random-tests]",
        growing + "test_random_tests_leave_enough_on_both_sides[dense-numeric-known]",
        "tests/neighbors/test_search.py::test_duplicates_are_neighbours_but_not_oneself",
    ]
    done = subprocess.run(
        [sys.executable, "-c", script, "-q", "-p", "no:cacheprovider", *tests],
        cwd=ROOT,
        env={**os.environ, "OMNIRANK_KERNEL_PARTS": way},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
