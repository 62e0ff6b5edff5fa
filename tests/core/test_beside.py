import threading
from functools import partial

import joblib
import pytest

from omnirank.core.parallel import begun_beside


def test_a_thread_computes_beside_the_caller():
    free = threading.Event()
    found = begun_beside(free.wait, n_jobs=2)  # the caller goes on
    free.set()
    assert found()
    assert found()


def test_only_where_several_workers_are_threads():
    here = threading.get_ident()
    assert begun_beside(threading.get_ident, n_jobs=2)() != here
    assert begun_beside(threading.get_ident, n_jobs=1)() == here
    with joblib.parallel_config(backend="loky", n_jobs=2):  # processes may be forked
        assert begun_beside(threading.get_ident)() == here


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_fails_beside_the_caller_fails_there(n_jobs):
    with pytest.raises(ZeroDivisionError):
        begun_beside(partial(divmod, 1, 0), n_jobs)()
