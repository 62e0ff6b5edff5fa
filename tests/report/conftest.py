"""Reports in tests: fewer further fits, to save time."""

import pytest


@pytest.fixture(scope="module")
def two_pairs():
    """Two pairs of halves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("omnirank.report.subject._N_PAIRS", 2)
        yield
