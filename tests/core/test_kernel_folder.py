"""Where compiled kernels are kept, and how folders of the past are forgotten beside other processes."""

from __future__ import annotations

import os
import time

import llvmlite
import numba
import numpy as np
import pytest

from omnirank.core import kernel_cache


@pytest.fixture
def place(tmp_path):
    """A cache with the folder in use, one of last month and one of yesterday."""
    now = time.time()
    for name, days in (("kernels-used", 99), ("kernels-old", 30), ("kernels-young", 1), ("others", 99)):
        (tmp_path / name / "trees").mkdir(parents=True)
        os.utime(tmp_path / name, (now - days * 86400,) * 2)
    return tmp_path


def names(place):
    return sorted(path.name for path in place.iterdir())


def test_what_was_not_used_for_long_is_deleted(place):
    kernel_cache._forget_old(place, "kernels-used")
    assert names(place) == ["kernels-used", "kernels-young", "others"]
    assert (place / "kernels-used").stat().st_mtime > time.time() - 60


CHANGES = [
    (kernel_cache, "VERSIONS", ("9.9.9", llvmlite.__version__)),
    (kernel_cache, "VERSIONS", (numba.__version__, "9.9.9")),
    (np, "__version__", "9.9.9"),
    (kernel_cache, "LINKED_ONLY", not kernel_cache.LINKED_ONLY),
    (kernel_cache, "INSTRUCTIONS", not kernel_cache.INSTRUCTIONS),
]


@pytest.mark.parametrize(("owner", "name", "value"), CHANGES)
def test_each_way_to_compile_has_a_folder(owner, name, value, monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    before = kernel_cache.kernel_folder()
    assert before == kernel_cache.kernel_folder()
    monkeypatch.setattr(owner, name, value)
    assert kernel_cache.kernel_folder() != before
