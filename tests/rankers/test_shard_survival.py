"""Runs on data that do not fit in memory, disturbed: killed, full disks, shards that change."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from tests.rankers.shard_files import frame_of, opened, written

import omnirank as om
from omnirank.errors import DataError


def ranker(**parameters):
    return om.EnsembleRanker(**{"n_trees": 14, "random_state": 0} | parameters)


def forest(**parameters):
    return om.PCTForestRegressor(**{"n_trees": 14, "random_state": 0} | parameters)


@pytest.fixture
def parts(tmp_path):
    return written(tmp_path / "parts", frame_of(), [700, 1500], group=200)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_what_a_killed_run_left_goes_with_the_next(parts, tmp_path):
    scratch = tmp_path / "scratch"
    script = f"""
import os, signal, sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from omnirank.ensembles import run
from tests.rankers.test_shard_survival import opened, ranker
run._SampleGrower.__call__ = lambda self, given: os.kill(os.getpid(), signal.SIGKILL)
ranker(n_jobs=1).fit(opened({str(parts)!r}, scratch={str(scratch)!r}))
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert found.returncode == -signal.SIGKILL, found.stderr
    assert any(scratch.iterdir())
    assert ranker().fit(opened(parts, scratch=scratch)).ranking_ == ranker().fit(opened(parts)).ranking_
    assert not any(scratch.iterdir())


# -- disks and shards -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_full_disk(parts, tmp_path):
    pytest.importorskip("resource")
    script = f"""
import resource, sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from omnirank.errors import DataError
from tests.rankers.test_shard_survival import opened, ranker
data = opened({str(parts)!r}, scratch={str(tmp_path / "scratch")!r})
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    ranker().fit(data)
except DataError as problem:
    print(problem)
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert f"cannot write the rows of shard {parts / '000.parquet'}" in found.stdout, found.stderr
    assert "scratch" in found.stdout
    assert not any((tmp_path / "scratch").iterdir())


@pytest.mark.every(4)
@pytest.mark.parametrize("model", [ranker, forest])
@pytest.mark.parametrize("harm", ["deleted", "rewritten", "truncated"])
def test_a_shard_that_changes_is_named(parts, tmp_path, harm, model):
    data = opened(parts, scratch=tmp_path / "scratch")
    victim = parts / "001.parquet"
    if harm == "deleted":
        victim.unlink()
    elif harm == "rewritten":
        shutil.copy(parts / "000.parquet", victim)
    else:
        stat = victim.stat()
        victim.write_bytes(victim.read_bytes()[: stat.st_size // 2] + bytes(stat.st_size - stat.st_size // 2))
        os.utime(victim, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with pytest.raises(DataError, match=r"001\.parquet"):
        model().fit(data)
    assert not any((tmp_path / "scratch").iterdir())


def test_scratch_that_cannot_be_made(parts, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="no folder for rows can be made in"):
        ranker().fit(opened(parts, scratch=tmp_path / "file" / "scratch"))


@pytest.mark.slow
def test_files_are_read_once_for_any_number_of_trees(parts, monkeypatch):
    data = opened(parts)
    reads = []
    real = om.shards.parts.Part.batches

    def batches(self, columns, n_rows, groups, threads):
        reads.extend((self.name, group, column) for group in groups for column in columns)
        return real(self, columns, n_rows, groups, threads)

    monkeypatch.setattr(om.shards.parts.Part, "batches", batches)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker(n_trees=40).fit(data)
    n_columns = data.n_features + data.n_targets
    assert len(reads) == len(set(reads)) == (4 + 4 + 3) * n_columns
