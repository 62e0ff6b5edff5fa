"""Where compiled kernels are kept, and how folders of the past are forgotten beside other processes."""

from __future__ import annotations

import os
import pwd
import shutil
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


def test_a_dangling_link_is_no_obstacle(place):
    (place / "kernels-a-link").symlink_to(place / "gone")
    kernel_cache._forget_old(place, "kernels-used")
    assert "kernels-old" not in names(place)


def test_a_file_in_the_way_is_no_obstacle(place):
    (place / "kernels-a-file").touch()
    os.utime(place / "kernels-a-file", (0, 0))
    kernel_cache._forget_old(place, "kernels-used")
    assert "kernels-old" not in names(place)


@pytest.mark.parametrize("deleted", ["kernels-used", "kernels-old"])
def test_another_process_deletes_at_the_same_time(place, monkeypatch, deleted):
    class Meanwhile:
        """A clock; the other process is quick while it is read."""

        @staticmethod
        def time():
            shutil.rmtree(place / deleted)
            return time.time()

    list_then_lose = list(place.glob("kernels-*"))
    monkeypatch.setattr(kernel_cache, "time", Meanwhile)
    monkeypatch.setattr(type(place), "glob", lambda *_: list_then_lose)
    kernel_cache._forget_old(place, "kernels-used")
    assert deleted not in names(place)


def test_the_folder_in_use_is_deleted_by_another_process(place):
    shutil.rmtree(place / "kernels-used")
    kernel_cache._forget_old(place, "kernels-used")
    assert "kernels-old" not in names(place)


def test_versions_are_those_of_the_compilers():
    assert (numba.__version__, llvmlite.__version__) == kernel_cache.VERSIONS


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


def test_a_user_without_a_home(monkeypatch, tmp_path):
    def unknown(_):
        raise KeyError("no such user")

    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert kernel_cache.kernel_folder().startswith(str(tmp_path))
