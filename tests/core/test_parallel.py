from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import partial

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

from omnirank.core import parallel
from omnirank.core.parallel import blocks, run_parallel, shrinking_blocks, worker_count
from omnirank.errors import ParameterError


def blas_threads(_=None):
    return max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")


def process_and_blas(_):
    time.sleep(0.05)
    return os.getpid(), blas_threads()


def slow_for_small(i):
    time.sleep(0.02 / (i + 1))
    return i


@pytest.fixture
def in_memory(monkeypatch):
    """Functions of a test may share memory with it."""
    monkeypatch.delenv("OMNIRANK_PICKLED_WORK")


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1])
@pytest.mark.parametrize("progress", [None, True, False])
def test_results_come_in_the_order_of_the_items(n_jobs, progress):
    assert run_parallel(slow_for_small, range(8), n_jobs=n_jobs, progress=progress) == list(range(8))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_come_through_as_they_are(n_jobs):
    with pytest.raises(ZeroDivisionError):
        run_parallel(partial(divmod, 1), [1, 0, 2], n_jobs=n_jobs)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_work_that_processes_cannot_be_given_is_an_error_in_the_tests(n_jobs):
    values = np.zeros(3)
    with pytest.raises(AssertionError, match=r"worker processes cannot be given .*<lambda>"):
        run_parallel(lambda i: values.__setitem__(i, 1), range(3), n_jobs=n_jobs)
    with pytest.raises(AssertionError, match=r"cannot be given .*lock"):
        run_parallel(bool, [threading.Lock()] * 2, n_jobs=n_jobs)
    with pytest.raises(AssertionError, match="cannot return it"):
        run_parallel(iter_of, range(2), n_jobs=n_jobs)


def iter_of(_):
    return (i for i in range(3))


@pytest.mark.every(3)
@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
@pytest.mark.parametrize("progress", [False, True])
def test_batches_of_items_keep_their_order(backend, progress):
    with joblib.parallel_config(backend=backend, n_jobs=2):
        assert run_parallel(abs, range(0, -37, -1), progress=progress) == list(range(37))


def is_writeable(values, _):
    return os.getpid(), values.flags.writeable


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_large_arrays_reach_processes_writeable(in_memory, backend):
    """Read-only arrays are another type for Numba, which would compile every kernel for them again."""
    values = np.zeros(2**18)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        found = run_parallel(partial(is_writeable, values), range(4))
    assert os.getpid() not in dict(found)
    assert all(writeable for _, writeable in found)


def test_number_of_workers():
    assert worker_count(None) == 1
    assert worker_count(-1) == joblib.cpu_count()
    assert worker_count(np.int64(3)) == 3
    with joblib.parallel_config(backend="threading", n_jobs=3):
        assert worker_count(None) == 3
        assert worker_count(2) == 2


@pytest.mark.parametrize("wrong", [0, 1.5, "2", True])
def test_wrong_numbers_of_workers_are_refused(wrong):
    with pytest.raises(ParameterError, match="n_jobs"):
        run_parallel(abs, [1], n_jobs=wrong)


@pytest.mark.slow
def test_the_configured_backend_is_used_and_holds_blas_too():
    with joblib.parallel_config(backend="loky", n_jobs=2, inner_max_num_threads=2):
        found = run_parallel(process_and_blas, range(4))
    assert os.getpid() not in {process for process, _ in found}
    assert {threads for _, threads in found} == {1}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blas_has_one_thread_inside_and_its_own_number_after(n_jobs):
    np.ones((2, 2)) @ np.ones((2, 2))
    before = blas_threads()
    assert set(run_parallel(blas_threads, range(3), n_jobs=n_jobs)) == {1}
    assert blas_threads() == before


@given(st.integers(0, 200), st.integers(1, 50))
def test_blocks_cover_everything_once_evenly(n_items, n_blocks):
    cut = blocks(n_items, n_blocks)
    assert [i for block in cut for i in block] == list(range(n_items))
    assert len(cut) == min(n_items, n_blocks)
    sizes = {len(block) for block in cut}
    assert not sizes or (min(sizes) >= 1 and max(sizes) - min(sizes) <= 1)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(parallel.ProgressBar.__init__, "__defaults__", (0.02,))
    monkeypatch.setenv("TERM", "xterm")


def wait(_):
    time.sleep(0.1)
    return 1


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_long_work_shows_a_bar_on_a_terminal(impatient, monkeypatch, n_jobs):
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert run_parallel(wait, range(4), n_jobs=n_jobs, progress=True, description="growing [trees]") == [1] * 4
    assert "growing [trees]" in sys.stderr.getvalue()
    assert "4/4" in sys.stderr.getvalue()


def test_nothing_is_shown_where_nobody_watches(impatient, monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert run_parallel(wait, range(2), progress=True) == [1, 1]
    assert sys.stderr.getvalue() == ""


def test_work_inside_work_does_not_multiply_the_workers_for_ever(in_memory):
    def third(_):
        return worker_count(2)

    def second(_):
        return worker_count(2), run_parallel(third, range(2), n_jobs=2)

    assert run_parallel(second, range(2), n_jobs=2) == [(2, [1, 1])] * 2


OPENMP_IN_A_FORK = """
import joblib
import numpy as np
from sklearn.neighbors import NearestNeighbors
from omnirank.core.parallel import run_parallel

rng = np.random.default_rng(0)
cells = rng.normal(size=(3000, 5))

def nearest(n):
    return NearestNeighbors(n_neighbors=2, algorithm="brute").fit(cells[:n]).kneighbors(cells[:n])[1].sum()

def main():
    NearestNeighbors(algorithm="brute").fit(cells).kneighbors(cells)  # starts the threads of OpenMP in this process
    alone = [nearest(n) for n in (1000, 600, 40)]
    with joblib.parallel_config(backend="multiprocessing", n_jobs=2):
        assert run_parallel(nearest, [1000, 600, 40]) == alone

main()
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_openmp_does_not_hang_in_forked_processes():
    """The threads of OpenMP are not there in a forked process, which would wait for them for ever."""
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    process = subprocess.Popen([sys.executable, "-c", OPENMP_IN_A_FORK], env=environment, start_new_session=True)
    try:
        assert process.wait(120) == 0
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@given(n_items=st.integers(0, 5000), workers=st.integers(1, 300))
def test_blocks_for_a_cluster_shrink_to_single_items(n_items, workers):
    found = shrinking_blocks(n_items, workers)
    assert [i for block in found for i in block] == list(range(n_items))
    sizes = [len(block) for block in found]
    assert sizes == sorted(sizes, reverse=True)
    assert not sizes or sizes[0] <= -(-n_items // 32)
    assert sizes[-workers:] == [1] * min(workers, n_items)


# -- bLAS on one thread, whatever the number of threads was before and whoever has set it ----------


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
