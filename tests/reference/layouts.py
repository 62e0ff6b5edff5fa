"""Both layouts of the same features, whatever their share of non-zero cells."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from unittest.mock import patch


@contextmanager
def laid_out(on_cells):
    """Lay out features by their non-zero cells alone, or in full."""
    with ExitStack() as both:
        for name in ("_MOST_OF_TWO_VALUES", "_MOST_OF_MORE_VALUES"):
            both.enter_context(patch(f"omnirank.trees.layout.{name}", 1.0 if on_cells else -1.0))
        yield
