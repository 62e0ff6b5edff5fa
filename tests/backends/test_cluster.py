"""Clusters of which workers die, come and go: the bits are those of one worker, and nobody has to start again.

Three runs lose a worker by default, 20 with OMNIRANK_BACKENDS=all (``make test-backends``).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs omnirank[dask]")
# One process has them all, and runs each program once.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster")]

N_KILLS = 20 if os.environ.get("OMNIRANK_BACKENDS") == "all" else 3
LONGEST_S = 900


@cache
def outcome(*what):
    """Return what a program found, and its log."""
    settings = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    settings.pop("OMNIRANK_PICKLED_WORK", None)
    command = [sys.executable, "-m", "backends.cluster", *map(str, what)]
    ended = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=LONGEST_S, check=False)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout), ended.stderr


def test_killed_workers_change_no_bit():
    found, log = outcome("disturbed", N_KILLS)
    assert found["n_same"] == N_KILLS
    assert log.count("Restarting worker") >= N_KILLS + 2


def test_what_is_given_first_is_begun_first():
    """Batches get smaller: in any other order, workers would wait in the end for one that has a large one."""
    found, _ = outcome("disturbed", N_KILLS)
    places = np.argsort(np.argsort(found["begun"]))
    # each of two workers has a task or two in store, of two items in the beginning
    assert np.abs(places - np.arange(len(places))).max() < 15


def test_data_that_all_workers_lost_are_sent_again():
    found, _ = outcome("disturbed", N_KILLS)
    assert found["same_after_loss"]


def test_nothing_large_goes_through_the_scheduler():
    found, _ = outcome("disturbed", N_KILLS)
    assert found["data_bytes"] > 5e5
    assert found["scheduler_bytes"] < 0.2 * found["data_bytes"]


def test_workers_read_shards_themselves():
    found, _ = outcome("in_parts")
    assert found["same"]
    assert found["survived"]
    assert found["workers"] == 2
    # descriptions of tasks, of some 40 kB each, travel with them; the rows do not
    assert found["scheduler_bytes"] < 0.3 * 20_000 * 20 * 8
    assert not [name for name in found["left"] if not name.endswith(("parquet", ".omnirank"))]
