"""The page that extrapolates holds what the committed constants give."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.extrapolation import N_TREES, PAGE, USED_SHARE, WORKER_BYTES, constants, estimate, filled


def test_page_is_that_of_the_results():
    text = PAGE.read_text(encoding="utf-8")
    assert "| 10^9 x 10,000 |" in text
    assert filled(text) == text, "run python -m benchmarks.extrapolation"


def test_estimates_follow_the_constants():
    found = constants()
    run = estimate(10**9, 10**4, 100, found)
    assert run.sample_rows * 10**4 * found.cell_bytes <= USED_SHARE * WORKER_BYTES
    assert run.hours * 100 * found.efficiency == pytest.approx(run.core_hours, rel=0.01)
    twice = estimate(10**9, 10**4, 100, replace(found, summary=2 * found.summary, dealing=2 * found.dealing))
    assert run.hours < twice.hours < 2 * run.hours
    assert estimate(10**9, 10**4, 200, found).hours < run.hours


def test_trees_do_not_use_more_workers_than_there_are_trees():
    found = replace(constants(), summary=0.0, dealing=1e-30)
    hours = [estimate(10**6, 100, n, found).hours for n in (N_TREES // 2, N_TREES, 10 * N_TREES)]
    assert hours[0] == pytest.approx(2 * hours[1])
    assert hours[1] == pytest.approx(hours[2])
