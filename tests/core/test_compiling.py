"""Compiling is announced where it happens, and only there."""

from __future__ import annotations

import logging

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


def test_the_command_line_shows_it(capsys):
    logger = logging.getLogger("omnirank.compiling")
    with compiling_notes():
        logger.warning("compiling kernels")
        logger.warning("cannot be saved")
    logger.warning("not told")
    assert capsys.readouterr().err.splitlines() == ["note: compiling kernels", "note: cannot be saved"]
