"""Time is that of the work: compiling, once per installation, is no part of it."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from numba.core import event

from omnirank.core.stopwatch import Stopwatch

COMPILED = {"dispatcher": SimpleNamespace(py_func=SimpleNamespace(__module__="elsewhere"))}


def test_compiling_is_left_out():
    start = time.perf_counter()
    with Stopwatch() as watch:
        with event.trigger_event("numba:compile", data=COMPILED):
            begun = time.perf_counter()
            time.sleep(0.2)
            compiling = time.perf_counter() - begun
        time.sleep(0.02)
    assert 0.02 <= watch.seconds <= time.perf_counter() - start - compiling


def test_work_that_fails_is_timed_too():
    watch = Stopwatch()

    def failing():
        with watch:
            time.sleep(0.02)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert watch.seconds >= 0.02
