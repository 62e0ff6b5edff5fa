"""Studies in processes of their own: kills, shared stores, dying workers, full disks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from omnirank.evaluation.experiments import Store, read_results, run_plan
from reference.experiment_plans import HEAD, method, write_plan
from tools import kill_experiments as tool

pytestmark = pytest.mark.slow

ONE = HEAD.replace('[[data]]\nsample = "wine"\n', "").replace("[3, 5]", "3")

posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


def wait_until(condition, limit_s=60.0):
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def run_python(*arguments):
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, check=False, env=tool.environment(), capture_output=True, text=True)


@posix
def test_killed_runs_end_with_every_job_once_and_the_same_figures(tmp_path):
    plans = [tmp_path / name for name in ("killed.toml", "whole.toml")]
    for plan in plans:
        plan.write_text(tool.PLAN.format(n_folds=2, seconds=0.05))
    hit = tool.killed_run(plans[0], n_kills=2, n_workers=2, most_s=3.0)
    assert any(0 < n_finished < 64 for n_finished in hit), "killed in the middle of the work"
    assert tool.start(plans[1], 1).wait() == 1, "some jobs fail"
    killed, whole = (tool.content(plan.with_suffix(".sqlite")) for plan in plans)
    assert len(killed) == len({key for _, key, *_ in killed}) == 2 * 2 * 2 * 2 * 4
    assert killed == whole, "for one worker or two, with kills or without"
    assert {state for _, _, state, *_ in killed} == {"done", "failed"}


@posix
def test_workers_end_when_their_parent_is_killed(tmp_path):
    log = tmp_path / "log.txt"
    plan = write_plan(tmp_path, method("odd", parameters=f'{{ seconds = 600, log = "{log}" }}'), head=ONE)
    run = tool.start(plan, 2)
    wait_until(lambda: log.is_file() and log.read_text().count("\n") == 2)
    workers = [int(line.split()[0]) for line in log.read_text().splitlines()]
    assert all(is_alive(worker) for worker in workers)
    run.send_signal(signal.SIGKILL)
    run.wait()
    wait_until(lambda: not any(is_alive(worker) for worker in workers), limit_s=10)


@posix
def test_a_run_that_is_asked_to_end_does_so_in_order_and_says_how_to_continue(tmp_path):
    log, said = tmp_path / "log.txt", tmp_path / "said.txt"
    slow = method("odd", parameters=f'{{ seconds = 600, log = "{log}" }}')
    plan = write_plan(tmp_path, method("uniform"), slow, head=ONE)
    with said.open("w") as file:
        command = [sys.executable, "-m", "omnirank", "experiment", "run", str(plan), "--jobs", "1"]
        run = subprocess.Popen(command, env=tool.environment(), stdout=file, stderr=file)
        wait_until(lambda: log.is_file() and log.read_text())
        told = said.read_text()
        run.send_signal(signal.SIGTERM)
        assert run.wait() == 128 + signal.SIGTERM
    assert "running plan.toml: 0 of 4 jobs done" in told, "before the end"
    assert "terminated: what is recorded stays; run the same command to continue" in said.read_text()
    assert "Traceback" not in said.read_text()
    with Store(plan.with_suffix(".sqlite")) as store:
        assert set(store.counts("small")) <= {"done", "pending"}
    assert not is_alive(int(log.read_text().split()[0]))


@posix
def test_a_worker_that_dies_costs_its_job_only(tmp_path):
    plan = write_plan(
        tmp_path, method("odd", name='"deadly"', parameters="{ dies = true }"), method("uniform"), head=ONE
    )
    assert run_plan(plan, n_jobs=1).counts == {"done": 2, "failed": 2}
    failures = read_results(plan)["small"].failures()
    assert set(failures["method"]) == {"deadly"}
    assert set(failures["error"]) == {
        "the worker process was killed by SIGKILL (as the system does when memory runs out)"
    }


@posix
def test_a_full_disk_ends_a_run_in_order_and_it_continues_with_more_room(tmp_path):
    plan = write_plan(tmp_path, method("univariate"), method("uniform"))
    script = f"""
import resource, sys
from omnirank.evaluation.experiments import Store, run_plan
from omnirank.errors import OmnirankError
record = Store.record
def recorded(self, done, failed):
    # from now on no file of this process may grow
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    return record(self, done, failed)
Store.record = recorded
try:
    run_plan({str(plan)!r})
except OmnirankError as error:
    print(error)
    sys.exit(3)
"""
    ended = run_python("-c", script)
    assert ended.returncode == 3, ended.stderr
    assert "cannot be used now" in ended.stdout
    assert run_plan(plan).counts == {"done": 16}
