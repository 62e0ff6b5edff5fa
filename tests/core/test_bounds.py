"""Kernels that check the bounds of arrays (NUMBA_BOUNDSCHECK=1, `make test-bounds`)."""

from __future__ import annotations

from pathlib import Path

import numba
import numpy as np
import pytest

import omnirank
from omnirank.core import kernel_cache
from omnirank.core.kernels import vector
from omnirank.trees.kernels.grow import narrow_codes

checked = pytest.mark.skipif(
    numba.config.BOUNDSCHECK != 1 or bool(numba.config.DISABLE_JIT), reason="bounds are not checked"
)


def test_they_have_a_folder_of_their_own(monkeypatch):
    """Else they would be read from the disk, compiled without checks."""
    package = Path(omnirank.__file__).parent
    names = set()
    for setting in (-1, 1):
        monkeypatch.setattr(numba.config, "BOUNDSCHECK", setting)
        names.add(kernel_cache._digest(package))
    assert len(names) == 2


@checked
def test_a_code_beyond_the_rows_is_found():
    codes, rows = np.full((1, 1), 64, np.uint32), np.zeros(1, np.uint32)
    memory = np.zeros(1, np.uint64), np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    with pytest.raises(IndexError):
        narrow_codes(codes, np.uint32(2**32 - 1), rows, *memory, *np.zeros((2, 1, 1), np.uint16))


@checked
def test_vectors_beyond_an_array_are_found():
    values = np.zeros(vector.LANES, np.uint16)
    assert vector.count_smaller(values, 0, np.uint16(1)) == vector.LANES
    with pytest.raises(IndexError):
        vector.count_smaller(values, 1, np.uint16(1))
