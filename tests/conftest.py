"""Settings of the whole suite."""

import os

import pytest
from benchmarks.public_data import VARIABLE, public_data
from hypothesis import Phase, settings

# All work for workers goes through pickles, also where there is one worker: what processes would lose is lost here too.
os.environ.setdefault("OMNIRANK_PICKLED_WORK", "1")

# No deadlines: how long an example takes says more about what else the machine does.
settings.register_profile("by hand", deadline=None)
# Where CI is set, examples do not change from run to run: a failure there belongs to the change under test. Runs by
# hand keep drawing new ones.
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
# The tool of mutants asks whether a test fails, not on which smallest example: looking for that takes most of the time.
settings.register_profile("mutants", settings.get_profile("ci"), phases=[Phase.explicit, Phase.generate])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "by hand"))


def pytest_runtest_setup(item):
    if item.get_closest_marker("shared_data") and not public_data().is_dir():
        pytest.skip(f"there is no folder {public_data()} of benchmark data: {VARIABLE} may name another")
