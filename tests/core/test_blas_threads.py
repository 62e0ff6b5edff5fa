"""BLAS on one thread, whatever the number of threads was before and whoever has set it."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Each case runs in a process of its own: threadpoolctl remembers which thread has set a limit.
START = """
import threading, warnings
import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits
from omnirank.core.blas_threads import one_blas_thread
from omnirank.core.parallel import run_parallel

def numbers(_=None):
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

def check(before):
    assert set(numbers()) == {before}, numbers()
    for n_jobs in (1, 2):
        seen = run_parallel(numbers, range(3), n_jobs=n_jobs)
        assert {n for each in seen for n in each} == {1}, seen
        assert set(numbers()) == {before}, numbers()

def elsewhere(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()
"""

CASES = {
    "block": """
with threadpool_limits(3):
    check(3)
""",
    "plain call": """
threadpool_limits(3)
check(3)
elsewhere(lambda: check(3))
""",
    "another thread's block": """
inside, done = threading.Event(), threading.Event()
def hold():
    with threadpool_limits(3):
        inside.set()
        done.wait()
thread = threading.Thread(target=hold, daemon=True)
thread.start()
inside.wait()
check(3)
done.set()
thread.join()
check(numbers()[0])
""",
    "changed meanwhile": """
def change():
    threadpool_limits(3)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with one_blas_thread():
        elsewhere(change)
        assert set(run_parallel(numbers, [0])[0]) == {1}  # held again
        check(1)
        elsewhere(change)
assert ["BLAS did not stay" in str(warning.message) for warning in caught] == [True], caught
assert set(numbers()) == {3}  # as the other thread has set it
""",
    "imported meanwhile": """
threadpool_limits(3)
with one_blas_thread():
    import scipy.linalg
    assert len(numbers()) > 1  # SciPy has a BLAS of its own
    assert set(run_parallel(numbers, [0])[0]) == {1}
    check(1)
""",
}


@pytest.mark.every(2)
@pytest.mark.parametrize("case", CASES)
def test_blas_is_held_and_left_as_it_was(case):
    done = subprocess.run([sys.executable, "-c", START + CASES[case]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
