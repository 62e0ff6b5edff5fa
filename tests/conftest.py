"""Settings of the whole suite: what is drawn, what is slow, what needs data."""

import hashlib
import itertools
import multiprocessing
from collections import Counter

import pytest
from benchmarks.public_data import VARIABLE, public_data
from hypothesis import settings

from draws import PROFILE
from omnirank.core import seeds
from tools import pickled_work

# No tests: what `make mutants` loads.
collect_ignore = ["tools/mutated"]

pickled_work.install()
settings.load_profile(PROFILE)

# Studies run in processes of their own; a room that nothing else needs has kernels of its own, and so has boosting.
SLOW_PLACES = (
    "src/omnirank/evaluation/experiments/",
    "src/omnirank/relational/learners.py::omnirank.relational.learners.RelationalBoosting",
    "tests/clus/",
    "tests/relational/test_growing.py::test_the_same_candidates_give_the_same_tree",
)


def pytest_collection_modifyitems(items):
    """Tests on public data and those of some places are slow, of ``@pytest.mark.every(n)`` all cases but every n-th."""
    seen = Counter()
    for item in items:
        if item.get_closest_marker("shared_data") or item.nodeid.startswith(SLOW_PLACES):
            item.add_marker(pytest.mark.slow)
        if every := item.get_closest_marker("every"):
            test = item.nodeid.partition("[")[0]
            n = every.args[0]
            if seen[test] % n != n // 2:
                item.add_marker(pytest.mark.slow)
            seen[test] += 1


def pytest_runtest_setup(item):
    if item.get_closest_marker("shared_data") and not public_data().is_dir():
        pytest.skip(f"there is no folder {public_data()} of benchmark data: {VARIABLE} may name another")


@pytest.fixture(autouse=True)
def fixed_entropy(request, monkeypatch):
    """Give fits without a seed the same entropy in every run of a test where examples are the same, too."""
    if settings.default.derandomize:
        calls = itertools.count()
        name = request.node.nodeid
        monkeypatch.setattr(
            seeds, "_fresh_entropy", lambda: int(hashlib.md5(f"{name} {next(calls)}".encode()).hexdigest(), 16)
        )


@pytest.fixture
def small_blocks(monkeypatch):
    """Make blocks that bound memory hold one row or column: none may be lost between them."""
    for limit in (
        "data.notes.leaks._CHUNK",
        "ensembles.errors._MOST_LOSSES",
        "ensembles.explanation._NODE_CELLS",
        "measures.labels._CELLS",
        "rankers.explained._CELLS",
    ):
        monkeypatch.setattr(f"omnirank.{limit}", 1)


@pytest.fixture(autouse=True)
def own_processes():
    """End the worker processes of a test: those that serve several tests grow, and joblib waits forever for the next.

    joblib ends workers whose memory has grown by 300 MB, as it does with the kernels of further tests.
    """
    yield
    if any(type(process).__module__.startswith("joblib.") for process in multiprocessing.active_children()):
        from joblib.externals.loky import get_reusable_executor

        get_reusable_executor().shutdown(wait=True)
