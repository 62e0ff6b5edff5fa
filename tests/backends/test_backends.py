"""Workers of all kinds compute the same bits, in fresh processes whose memory holds garbage where nothing was written.

A part of the cases runs by default, all of them with OMNIRANK_BACKENDS=all (``make test-backends``).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import omnirank as om
from backends import cases

# One process has them all, and runs each backend once.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("backends")]

WHAT = "" if os.environ.get("OMNIRANK_BACKENDS") == "all" else "quick"
LONGEST_S = 3600


@cache
def outcome(backend):
    """Return what tells whether other processes worked, and what they found by case."""
    # of the C library: memory is filled with other bytes when it is handed out and when it is given back
    settings = os.environ | {"MALLOC_PERTURB_": "165", "PYTHONPATH": str(Path(__file__).parents[1])}
    settings.pop("OMNIRANK_PICKLED_WORK", None)
    what = "half" if WHAT and backend != "serial" else WHAT  # pools of workers take the longest
    command = [sys.executable, "-m", "backends.run", backend, what]
    ended = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=LONGEST_S, check=False)
    assert ended.returncode == 0, ended.stderr
    first, *rest = map(json.loads, ended.stdout.splitlines())
    return first["elsewhere"], {line["case"]: line for line in rest}


def test_every_estimator_and_every_method_has_cases():
    names = list(cases.cases())
    for chosen in (names, cases.quick(names)):
        named = {name.split(", ")[0] for name in chosen}
        assert {method.name for method in om.methods()} <= named
        ranked = {method.load() for method in om.methods()}
        assert {name for name, made in cases.estimators().items() if made not in ranked} <= named


def test_one_worker_answers_every_case():
    elsewhere, found = outcome("serial")
    assert not elsewhere
    assert len(found) >= 30
    errors = {name: line["digest"] for name, line in found.items() if ":" in line["digest"]}
    assert not errors


@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing", "dask"])
def test_several_workers_give_the_same_bits(backend):
    if backend == "dask":
        pytest.importorskip("distributed", reason="needs omnirank[dask]")
    elsewhere, found = outcome(backend)
    expected = outcome("serial")[1]
    assert elsewhere == (backend != "threading")
    assert list(found) == (cases.half(list(expected)) if WHAT else list(expected))
    assert {name: line["digest"] for name, line in found.items() if line["digest"] != expected[name]["digest"]} == {}
    alone = [name for name, line in found.items() if not line["n_spread"]]
    assert [name for name in alone if not name.startswith(cases.UNSPREAD)] == []
