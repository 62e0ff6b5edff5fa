"""The suite itself: which cases are quick, and how many examples are drawn."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import settings

from draws import PROFILE


@pytest.fixture
def suite(pytestconfig):
    """The settings of the suite, tests/conftest.py."""
    [found] = [plugin for plugin in pytestconfig.pluginmanager.get_plugins() if hasattr(plugin, "SLOW_PLACES")]
    return found


def item(nodeid, **marks):
    added = []
    return SimpleNamespace(nodeid=nodeid, get_closest_marker=marks.get, add_marker=added.append, added=added)


def test_of_many_cases_every_nth_is_quick(suite):
    every = SimpleNamespace(args=(3,))
    cases = [item(f"a.py::test[{i}-::]", every=every) for i in range(7)]
    others = [item("a.py::other"), item("b.py::test[0]", every=every), item("a.py::data", shared_data=True)]
    suite.pytest_collection_modifyitems([*cases, *others])
    assert [bool(case.added) for case in cases] == [True, False, True, True, False, True, True]
    assert [bool(other.added) for other in others] == [False, True, True]


def test_exploring_draws_ten_times_as_many_examples():
    code = "import draws; print(draws.draws(8).max_examples, draws.settings.get_profile(draws.PROFILE).max_examples)"
    for profile, ci, expected in (("fixed", "", "8 25"), ("explore", "", "80 250"), ("explore", "true", "24 75")):
        environment = {**os.environ, "HYPOTHESIS_PROFILE": profile, "CI": ci}
        tests = Path(__file__).parent
        process = subprocess.run(
            [sys.executable, "-c", code], cwd=tests, env=environment, capture_output=True, text=True, check=True
        )
        assert process.stdout.strip() == expected


def test_draws_are_the_same_in_every_run_unless_asked_for():
    assert settings.get_profile("fixed").derandomize
    assert settings.get_profile("explore").derandomize == bool(os.environ.get("CI"))
    assert settings.get_profile(PROFILE).deadline is None
