"""Sizes that a ranker chooses: how many trees it grows within the time given, and what it says about that."""

from __future__ import annotations

import numpy as np
import pytest

import omnirank as om
from omnirank.ensembles import run


@pytest.fixture(scope="module")
def friedman():
    return om.datasets.make_friedman(200, random_state=0)[0]


@pytest.fixture
def ticking(monkeypatch):
    """A clock by which a tree takes a second on each worker, without the seconds."""

    class Clock:
        now = 0.0

        def monotonic(self):
            return self.now

    clock = Clock()
    grow = run.run_parallel

    def timed(function, items, n_jobs, **options):
        clock.now += -(-len(items) // (n_jobs or 1))
        return grow(function, items, n_jobs, **options)

    monkeypatch.setattr(run, "time", clock)
    monkeypatch.setattr(run, "run_parallel", timed)
    return clock


@pytest.mark.parametrize(("n_jobs", "seconds"), [(1, 7), (1, 40.5), (2, 7), (2, 40.5), (3, 1)])
def test_no_tree_is_begun_after_the_time(friedman, ticking, n_jobs, seconds):
    ranker = om.EnsembleRanker(n_trees=1000, max_seconds=seconds, random_state=0, n_jobs=n_jobs).fit(friedman)
    assert seconds <= ticking.now <= seconds + 1
    assert n_jobs * (seconds - 1) <= ranker.n_trees_ <= n_jobs * (seconds + 1)
    assert ranker.certainty_.remark == "the time ended before there were 1000 trees"
    assert ranker.ranking_.parameters["n_trees"] == ranker.n_trees_


def test_the_clock_decides_on_the_number_of_trees_and_nothing_else(friedman):
    ended = om.EnsembleRanker(n_trees=10**6, max_seconds=0.2, random_state=3, n_jobs=2).fit(friedman)
    again = om.EnsembleRanker(n_trees=ended.n_trees_, random_state=3).fit(friedman)
    assert ended.ranking_ == again.ranking_
    assert again.certainty_.remark == ""


def test_there_are_standard_errors_however_short_the_time(friedman):
    ranker = om.EnsembleRanker(max_seconds=1e-9, random_state=0).fit(friedman)
    assert ranker.n_trees_ == 2
    assert ranker.ranking_.standard_errors is not None


def test_what_has_converged_needs_no_more_time(friedman, ticking):
    free = om.EnsembleRanker(n_trees="auto", random_state=0).fit(friedman)
    assert free.certainty_.remark == ""
    limited = om.EnsembleRanker(n_trees="auto", max_seconds=2 * free.n_trees_, random_state=0).fit(friedman)
    assert limited.ranking_ == free.ranking_
    assert limited.certainty_ == free.certainty_


@pytest.mark.slow
def test_words_tell_what_ended_before_convergence(ticking):
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(60, 20)), rng.normal(size=60)
    ranker = om.EnsembleRanker(n_trees="auto", max_seconds=23, random_state=0).fit(*noise)
    assert ranker.n_trees_ == 23
    assert str(ranker.certainty_).endswith("; the time ended before the ranking had converged")
    ranker = om.EnsembleRanker("permutation", n_trees="auto", max_depth=2, random_state=0).fit(*noise)
    assert ranker.n_trees_ == 1000
    assert str(ranker.certainty_).endswith("not converged, but 1000 trees are the most that are grown unasked")
