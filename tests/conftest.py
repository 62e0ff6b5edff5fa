"""Settings of the whole suite: what is drawn, what is slow, what needs data."""

import os
from collections import Counter

import pytest
from benchmarks.public_data import VARIABLE, public_data
from hypothesis import Phase, settings

# All work for workers goes through pickles, also where there is one worker: what processes would lose is lost here too.
os.environ.setdefault("OMNIRANK_PICKLED_WORK", "1")

# The same draws in every run: a failure belongs to the change under test. No deadlines: how long an example takes says
# more about what else the machine does.
settings.register_profile("fixed", deadline=None, derandomize=True, database=None, print_blob=True)
# Ten times as many draws, new ones in every run: what nobody has met yet. CI draws the same ones in every run.
settings.register_profile("explore", settings.get_profile("fixed"), derandomize=bool(os.environ.get("CI")))
# The tool of mutants asks whether a test fails, not on which smallest example: looking for that takes most of the time.
settings.register_profile("mutants", settings.get_profile("fixed"), phases=[Phase.explicit, Phase.generate])
PROFILE = os.environ.get("HYPOTHESIS_PROFILE") or "fixed"
settings.load_profile(PROFILE)
MORE_DRAWS = 10


def pytest_collection_modifyitems(items):
    mark_the_rest_slow(items)
    if PROFILE == "explore":
        draw_more(items)


# Their examples run a study, in processes of its own.
SLOW_EXAMPLES = ("src/omnirank/evaluation/experiments/", "src/omnirank/report/study_page.py")


def mark_the_rest_slow(items):
    """Tests on public data and examples of studies are slow, of ``@pytest.mark.every(n)`` all cases but every n-th."""
    seen = Counter()
    for item in items:
        if item.get_closest_marker("shared_data") or item.nodeid.startswith(SLOW_EXAMPLES):
            item.add_marker(pytest.mark.slow)
        if every := item.get_closest_marker("every"):
            test = item.nodeid.partition("[")[0]
            n = every.args[0]
            if seen[test] % n != n // 2:
                item.add_marker(pytest.mark.slow)
            seen[test] += 1


def draw_more(items):
    """A profile cannot do so where a test says how many examples it draws; Hypothesis has no other place for that."""
    tests = (getattr(item, "obj", None) for item in items)  # examples in docstrings have none
    for test in {test for test in tests if getattr(test, "is_hypothesis_test", False)}:
        own = test._hypothesis_internal_use_settings
        test._hypothesis_internal_use_settings = settings(own, max_examples=MORE_DRAWS * own.max_examples)


def pytest_runtest_setup(item):
    if item.get_closest_marker("shared_data") and not public_data().is_dir():
        pytest.skip(f"there is no folder {public_data()} of benchmark data: {VARIABLE} may name another")
