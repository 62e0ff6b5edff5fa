"""Ways to read an ARFF file that give the same: row by row or by whole blocks, which may be small."""

from contextlib import contextmanager

import pytest


@contextmanager
def reading(exact: bool, block_bytes: int = 1 << 20):
    """Have ARFF files read row by row (exact), or by blocks of so many bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("omnirank.data.files.BLOCK_BYTES", block_bytes)
        if exact:
            patch.setattr("omnirank.data.arff.rows._without_comments", lambda block: None)
        yield
