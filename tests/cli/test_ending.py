"""Progress where nobody watches, and SIGTERM: at once, quietly, without half a file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from omnirank.cli.experiment import PlainProgress

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")]

# The system's own end of a process, and ours; a shell shows both as 143.
ENDED = (-signal.SIGTERM, 128 + signal.SIGTERM)


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(3000, 40)).round(4)).add_prefix("x")
    frame["y"] = frame["x0"] + rng.normal(size=3000)
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ranking_ends_at_once_and_leaves_nothing(table, jobs):
    command = [sys.executable, "-m", "omnirank", "rank", table, "-t", "y", "--trees", "100000", "--jobs", jobs]
    run = subprocess.Popen(
        [*command, "--out", table.with_name("r.json")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        time.sleep(6)
        assert run.poll() is None, "it was to be busy"
        asked = time.monotonic()
        run.send_signal(signal.SIGTERM)
        _, told = run.communicate(timeout=20)
    finally:
        run.kill()
    assert run.returncode in ENDED
    assert time.monotonic() - asked < 5
    assert "Traceback" not in told
    assert [file.name for file in table.parent.iterdir()] == ["table.csv"]


_SLOW_DISK = """
import os, sys, time
import omnirank.core.files
from omnirank.cli.app import app

def slow(*arguments):
    print("writing", flush=True)
    time.sleep(60)

os.fsync = os.replace = slow
app(sys.argv[1:])
"""


@pytest.mark.parametrize(
    "command",
    [
        ("rank", "-t", "y", "--method", "univariate", "--out", "r.json"),
        ("rank", "-t", "y", "--method", "univariate", "--out", "r.csv"),
        ("convert", "-t", "y", "out.parquet"),
        ("convert", "-t", "y", "out.arff"),
        ("tree", "-t", "y", "--out", "tree.txt"),
    ],
    ids=" ".join,
)
def test_writing_leaves_no_half_file(table, command):
    name, *rest = command
    made = [sys.executable, "-c", _SLOW_DISK, name, str(table), *rest]
    run = subprocess.Popen(made, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=table.parent)
    try:
        while (line := run.stdout.readline()) and "writing" not in line:
            pass
        assert len(list(table.parent.iterdir())) == 2, "half a file is there"
        run.send_signal(signal.SIGTERM)
        _, told = run.communicate(timeout=20)
    finally:
        run.kill()
    assert run.returncode == 128 + signal.SIGTERM
    assert "Traceback" not in told
    assert [file.name for file in table.parent.iterdir()] == ["table.csv"]


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
