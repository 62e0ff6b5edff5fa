"""The suite itself: which cases are quick, and how many examples are drawn."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.fixture
def suite(pytestconfig):
    """The settings of the suite, tests/conftest.py."""
    [found] = [plugin for plugin in pytestconfig.pluginmanager.get_plugins() if hasattr(plugin, "draw_more")]
    return found


def item(nodeid, **marks):
    added = []
    return SimpleNamespace(nodeid=nodeid, get_closest_marker=marks.get, add_marker=added.append, added=added)


def test_of_many_cases_every_nth_is_quick(suite):
    every = SimpleNamespace(args=(3,))
    cases = [item(f"a.py::test[{i}-::]", every=every) for i in range(7)]
    others = [item("a.py::other"), item("b.py::test[0]", every=every), item("a.py::data", shared_data=True)]
    suite.mark_the_rest_slow([*cases, *others])
    assert [bool(case.added) for case in cases] == [True, False, True, True, False, True, True]
    assert [bool(other.added) for other in others] == [False, True, True]


def test_exploring_draws_ten_times_as_many_examples(suite):
    drawn = []

    @given(st.integers())
    def usual(number):
        drawn.append(number)

    @settings(max_examples=7)
    @given(st.integers())
    def few(number):
        drawn.append(number)

    few_cases = [SimpleNamespace(obj=few)] * 2
    suite.draw_more([*few_cases, SimpleNamespace(obj=usual), SimpleNamespace(nodeid="an example in a docstring")])
    few()
    assert len(drawn) == 70
    usual()
    assert len(drawn) == 70 + 10 * settings.default.max_examples


def test_draws_are_the_same_in_every_run_unless_asked_for(suite):
    assert settings.get_profile("fixed").derandomize
    assert settings.get_profile("explore").derandomize == bool(os.environ.get("CI"))
    assert settings.get_profile(suite.PROFILE).deadline is None
