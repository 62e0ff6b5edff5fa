"""Parts of kernels: in kernels, called from Python, and with a version of Numba that was not tried."""

from __future__ import annotations

import os
import subprocess
import sys

import numba
import pytest

MODULE = """
import numba
numba.__version__ = {version!r}
from omnirank.core.compiled import compiled, part, inlined
from omnirank.core import kernel_parts

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
    print(bool(kernel_parts.PART_OPTIONS), kernel(1, 2), sum_of_two(1, 2), doubled(2.5), kernel(0.5, 0.25))
"""


@pytest.mark.parametrize(
    ("version", "tried"), [(numba.__version__, numba.__version__.startswith("0.68.")), ("0.99.0", False)]
)
def test_kernels_and_parts_give_the_same_with_any_version(version, tried, tmp_path):
    script = tmp_path / "kernels.py"
    script.write_text(MODULE.format(version=version))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    environment.pop("NUMBA_DISABLE_JIT", None)
    for _ in range(2):  # compiled, then read from the disk
        done = subprocess.run(
            [sys.executable, str(script)], capture_output=True, text=True, env=environment, check=True
        )
        assert done.stdout.split() == [str(tried), "7", "6", "5.0", "2.5"]
