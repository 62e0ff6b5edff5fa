"""Freed memory is kept for the next tree where the environment would have it given back."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import numpy as np
from omnirank.core.freed_memory import freed_memory_kept

def pages_fetched():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        np.empty(2**20, np.uint8).fill(1)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

outside = pages_fetched()
with freed_memory_kept:
    with freed_memory_kept:
        pages_fetched()
    inside = pages_fetched()
print(outside, inside, pages_fetched())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_arrays_take_the_place_of_others_inside_and_new_pages_outside():
    settings = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    settings["MALLOC_TRIM_THRESHOLD_"] = "65536"
    run = subprocess.run([sys.executable, "-c", PROGRAM], env=settings, capture_output=True, text=True, check=True)
    outside, inside, after = map(int, run.stdout.split())
    assert outside > 50 * 200  # pages of 4 kB, 256 in each array
    assert inside < outside / 10
    assert after > 50 * 200


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_what_users_have_set_stays():
    settings = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536", "MALLOC_MMAP_THRESHOLD_": "131072"}
    run = subprocess.run([sys.executable, "-c", PROGRAM], env=settings, capture_output=True, text=True, check=True)
    _, inside, _ = map(int, run.stdout.split())
    assert inside > 50 * 200
