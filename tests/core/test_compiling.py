"""Compiling is announced where it happens, and only there."""

from __future__ import annotations

import logging
import sys
import time
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from numba.core import event

from omnirank.cli.command import compiling_notes
from omnirank.core import compiled as module
from omnirank.core.numba_internals import LINKED_ONLY

needs_compiler = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="the compiler is off")


def double(x):
    return 2 * x


def triple(x):
    return 3 * x


@pytest.fixture
def said(monkeypatch, tmp_path, caplog):
    """Run functions as kernels of an installation that is new to them; return how often compiling was announced."""
    monkeypatch.setattr(module, "_CACHE", str(tmp_path))
    caplog.set_level(logging.INFO, logger="omnirank.compiling")

    def run(*functions, owner="omnirank.core.compiled"):
        caplog.clear()
        with event.install_listener("numba:compile", module.Announcement()):
            for function in functions:
                monkeypatch.setattr(function, "__module__", owner)
                assert module.compiled(function)(1) == function(1)
        return len(caplog.records)

    return run


def first_sorted(values):
    return np.sort(values)[0]


def _of_numbers(values):
    return values.dtype.kind == "f"


@pytest.mark.slow
@needs_compiler
def test_a_kernel_that_makes_arrays_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "_CACHE", str(tmp_path))
    numbers = np.array([3.0, 1.0])
    assert module.allocating(first_sorted)(numbers) == 1.0
    with pytest.raises(numba.TypingError, match="sort"):
        module.compiled(first_sorted)(numbers.astype(np.float32))
    by_kind = module.compiled_unless(_of_numbers)(first_sorted)
    assert by_kind(numbers) == 1.0
    with pytest.raises(numba.TypingError, match="sort"):
        by_kind(np.array([3, 1]))


@needs_compiler
@pytest.mark.skipif(not LINKED_ONLY, reason="parts are compiled in Numba's own way")
def test_parts_are_called_by_functions_that_are_inlined():
    """Numba hands options on to what a function calls: parts would be inlined wherever these are."""
    doubled = module.part(double)

    @module.inlined
    def one_more(x):
        return doubled(x) + 1

    @numba.njit
    def kernel(x):
        return one_more(x)

    assert kernel(3) == 7
    (compiled_part,) = doubled.overloads.values()
    assert "alwaysinline" not in compiled_part.library.get_llvm_str()


@needs_compiler
def test_compiling_is_announced_once(said, monkeypatch):
    # the listener that the package registers may speak, too, if nothing was compiled before
    monkeypatch.setitem(event._registered, "numba:compile", [])
    assert said(double, triple) == 1
    assert said(double, triple) == 0, "the disk holds them now"


@needs_compiler
def test_kernels_of_others_are_their_matter(said, monkeypatch):
    monkeypatch.setitem(event._registered, "numba:compile", [])
    assert said(double, owner="json") == 0


def _event(owner="omnirank.trees"):
    function = SimpleNamespace(__module__=owner)
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})


def _compile(announcement, seconds, until=lambda: False):
    """Compile for so long, or until something holds."""
    announcement.on_start(_event())
    announcement.on_start(_event())  # a part of it
    end = time.monotonic() + seconds
    while time.monotonic() < end and not until():
        time.sleep(0.01)
    announcement.on_end(_event())
    announcement.on_end(_event())


@pytest.fixture
def warned(caplog):
    caplog.set_level(logging.WARNING, logger="omnirank.compiling")
    return lambda: [record.levelname for record in caplog.records]


def test_long_compiling_notes_once_without_any_log(warned):
    announcement = module.Announcement(delay=0.05)
    _compile(announcement, 60, until=warned)
    _compile(announcement, 0.1)
    assert warned() == ["WARNING"]


def test_short_compiling_is_not_told(warned):
    _compile(module.Announcement(delay=600), 0.01)
    assert warned() == []


def test_a_pipe_is_told_if_it_takes_long(monkeypatch, capsys):
    logger = logging.getLogger("omnirank.compiling")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    with compiling_notes():
        logger.warning("compiling kernels")
        logger.warning("cannot be saved")
    assert capsys.readouterr().err.splitlines() == ["note: compiling kernels", "note: cannot be saved"]


@pytest.mark.parametrize("watched", [True, False])
def test_the_command_line_shows_it_at_once_on_a_terminal_only(monkeypatch, capsys, watched):
    logger = logging.getLogger("omnirank.compiling")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: watched, raising=False)
    with compiling_notes():
        logger.info("compiling kernels")
    logger.info("not told")
    shown = capsys.readouterr().err
    assert ("compiling kernels" in shown) is watched
    assert "not told" not in shown
