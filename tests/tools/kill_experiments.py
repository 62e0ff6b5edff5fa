"""Kill a study again and again at random moments, and show that nothing is lost, doubled or changed.

After the last restart, the store holds every job exactly once, done, with the figures of an undisturbed run.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]

PLAN = """
[study]
name = "killed"
modules = ["reference.experiment_methods"]
code = "pinned"
seeds = [0, 1]

[folds]
n_folds = {n_folds}

[evaluation]
n_neighbors = [3, 5]

[[data]]
sample = "iris"

[[data]]
sample = "wine"

[[method]]
use = "odd"
parameters = {{ seconds = {seconds} }}

[[method]]
use = ["genie3", "symbolic"]
parameters = {{ n_trees = 3 }}

[[method]]
use = "odd"
name = "bad"
parameters = {{ fails = true }}
"""


def environment() -> dict[str, str]:
    """Where a run finds omnirank and the methods of the tests."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(TESTS)])}


def start(plan: Path, n_workers: int) -> subprocess.Popen:
    command = [sys.executable, "-m", "omnirank", "experiment", "run", str(plan), "--jobs", str(n_workers)]
    return subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def finished_jobs(store: Path) -> int:
    from omnirank.errors import FileFormatError
    from omnirank.evaluation.experiments import Store

    if not store.is_file():
        return 0
    try:
        with Store(store) as opened:
            counts = opened.counts("killed")
    except FileFormatError:  # the run has made the file, and no table in it yet
        return 0
    return counts.get("done", 0) + counts.get("failed", 0)


def content(store: Path) -> list[tuple]:
    """Everything that must not depend on kills: places, keys, states, figures, errors."""
    from omnirank.evaluation.experiments import Store

    with Store(store) as opened:
        rows = opened.rows("killed")
    return [(place, row["key"], row["state"], row["figures"], row["error"]) for place, row in rows]


def killed_run(plan: Path, n_kills: int, n_workers: int, seed: int = 0, most_s: float = 6.0) -> list[int]:
    """Run a plan, killing it; then let it finish. Returns how many jobs were finished at each kill that hit it.

    Half of the kills come at a random moment, the others right after a job was recorded, where a transaction is near.
    """
    rng = random.Random(seed)
    hit = []
    store = plan.with_suffix(".sqlite")
    for number in range(n_kills):
        before = finished_jobs(store)
        process = start(plan, n_workers)
        after_a_job = number % 2 == 0
        moment = time.monotonic() + (60.0 if after_a_job else rng.uniform(0.2, most_s))
        while time.monotonic() < moment and process.poll() is None:
            if after_a_job and finished_jobs(store) > before:
                break
            time.sleep(0.02)
        time.sleep(rng.uniform(0, 0.1))
        running = process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        if running:
            hit.append(finished_jobs(store))
    start(plan, n_workers).wait()
    return hit
