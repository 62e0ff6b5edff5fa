"""Progress of studies where nobody watches."""

from __future__ import annotations

import pytest

from omnirank.cli.progress import PlainProgress, study_progress


@pytest.fixture
def clock():
    class Clock:
        now = 0.0

        def __call__(self):
            return self.now

    return Clock()


def test_a_line_at_every_tenth(capsys, clock):
    progress = PlainProgress("running", clock)
    for finished in range(101):
        progress(finished, 100)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"running: {finished} of 100 jobs done" for finished in range(0, 101, 10)]


def test_a_line_when_time_has_passed(capsys, clock):
    progress = PlainProgress("running", clock)
    for clock.now in (0.0, 1.0, 29.0, 30.0, 31.0, 61.0):
        progress(1, 1000)
    assert len(capsys.readouterr().err.splitlines()) == 3


def test_files_get_lines_at_once(capsys):
    with study_progress("running plan.toml") as advance:
        advance(2, 4)
        assert capsys.readouterr().err == "running plan.toml: 2 of 4 jobs done\n"
