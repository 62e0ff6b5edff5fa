"""Reports in tests: the same number of further fits however fast the machine is."""

import pytest


@pytest.fixture(scope="module")
def two_pairs():
    """Two pairs of halves, and time for everything."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("omnirank.report.findings._MOST_PAIRS", 2)
        patch.setattr("omnirank.report.budget.LEAST_SECONDS", 3600.0)
        yield
