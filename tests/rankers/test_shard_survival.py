"""Runs on data that do not fit in memory, disturbed: killed and resumed, full disks, shards that change."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from tests.rankers.shard_files import LITTLE, frame_of, written

import omnirank as om
from omnirank.ensembles import run
from omnirank.errors import DataError, ParameterError
from omnirank.shards.folders import Checkpoints, scratch_folder

FEATURES = "a,b,c,d,e,n,town"


def opened(folder, target="size", **options):
    return om.open_shards(folder, target, features=FEATURES, max_memory=LITTLE, **options)


def ranker(**parameters):
    return om.EnsembleRanker(**{"n_trees": 14, "random_state": 0} | parameters)


def forest(**parameters):
    return om.PCTForestRegressor(**{"n_trees": 14, "random_state": 0} | parameters)


@pytest.fixture
def parts(tmp_path):
    return written(tmp_path / "parts", frame_of(), [700, 1500], group=200)


@pytest.fixture
def n_grown(monkeypatch):
    """The samples on which trees are grown."""
    found = []
    real = Checkpoints.keep

    def keep(self, task, result):
        found.append(task)
        real(self, task, result)

    monkeypatch.setattr(Checkpoints, "keep", keep)
    return found


def killed(parts, scratch, kept, estimator, after):
    """Run a fit in a process that is killed when so many results are kept."""
    script = f"""
import os, signal, sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from omnirank.shards.folders import Checkpoints
from tests.rankers.test_shard_survival import forest, opened, ranker
real, n = Checkpoints.keep, [0]
def keep(self, task, result):
    real(self, task, result)
    n[0] += 1
    if n[0] == {after}:
        os.kill(os.getpid(), signal.SIGKILL)
Checkpoints.keep = keep
{estimator}(n_jobs=2).fit(opened({str(parts)!r}, scratch={str(scratch)!r}, checkpoint={str(kept)!r}))
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert found.returncode == -signal.SIGKILL, found.stderr


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_ranking_that_was_killed_goes_on(parts, tmp_path, n_grown):
    scratch, kept = tmp_path / "scratch", tmp_path / "kept"
    killed(parts, scratch, kept, "ranker", after=3)
    [run] = kept.iterdir()
    n_before = len([path for path in run.iterdir() if not path.name.startswith(".")])
    assert n_before >= 3
    assert any(scratch.iterdir())
    found = ranker().fit(opened(parts, scratch=scratch, checkpoint=kept)).ranking_
    assert len(n_grown) == 14 - n_before
    assert not any(kept.iterdir())
    assert not any(scratch.iterdir())  # what the killed run left is gone too
    assert found == ranker().fit(opened(parts, checkpoint=False)).ranking_


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_forest_that_was_killed_goes_on(parts, tmp_path, n_grown):
    kept = tmp_path / "kept"
    killed(parts, tmp_path / "scratch", kept, "forest", after=5)
    found = forest().fit(opened(parts, checkpoint=kept))
    assert 5 <= 14 - len(n_grown) <= 7
    expected = forest().fit(opened(parts, checkpoint=False))
    test = om.Dataset(frame_of()[FEATURES.split(",")])
    assert np.array_equal(found.predict(test), expected.predict(test))
    assert np.array_equal(found.feature_importances_, expected.feature_importances_)


class Stop(KeyboardInterrupt):
    pass


def interrupted(parts, monkeypatch, after=4, **options):
    real, n = run._SampleGrower.__call__, []

    def grow(self, task):
        if len(n) == after:
            raise Stop
        n.append(task)
        return real(self, task)

    with monkeypatch.context() as patch:
        patch.setattr(run._SampleGrower, "__call__", grow)
        patch.delenv("OMNIRANK_PICKLED_WORK")
        with pytest.raises(Stop):
            ranker().fit(opened(parts, **options))


@pytest.mark.slow
def test_what_an_interrupt_leaves_is_beside_the_files(parts, tmp_path, monkeypatch, n_grown):
    interrupted(parts, monkeypatch, scratch=tmp_path / "scratch")
    assert not any((tmp_path / "scratch").iterdir())
    [run] = (parts / ".omnirank").glob("run-*")
    assert len(list(run.iterdir())) == 4
    n_grown.clear()
    found = ranker(n_jobs=2).fit(opened(parts)).ranking_
    assert len(n_grown) == 10
    assert not run.exists()
    assert found == ranker().fit(opened(parts, checkpoint=False)).ranking_


@pytest.mark.slow
def test_damaged_results_are_computed_again(parts, tmp_path, monkeypatch, n_grown, caplog):
    kept = tmp_path / "kept"
    interrupted(parts, monkeypatch, checkpoint=kept)
    [kept_run] = kept.iterdir()
    first, second, third, fourth = sorted(kept_run.iterdir())
    first.write_bytes(first.read_bytes()[:-3])
    second.write_bytes(b"")
    content = b'{"rows": {}}'
    Checkpoints(kept_run).keep(third.name, content)
    other = Checkpoints(kept_run).get(fourth.name).replace(b'"count": 1', b'"count": 2')  # of two trees, where is one
    Checkpoints(kept_run).keep(fourth.name, other)
    n_grown.clear()
    with caplog.at_level(logging.WARNING):
        found = ranker().fit(opened(parts, checkpoint=kept)).ranking_
    assert "damaged" in caplog.text
    assert "cannot be read" in caplog.text
    assert "it is of other trees" in caplog.text
    assert len(n_grown) == 14
    assert found == ranker().fit(opened(parts, checkpoint=False)).ranking_


@pytest.mark.slow
def test_results_of_other_data_and_parameters_are_left_alone(parts, tmp_path, monkeypatch):
    kept = tmp_path / "kept"
    interrupted(parts, monkeypatch, checkpoint=kept)
    with pytest.warns(UserWarning, match="unfinished run of other data, parameters or seed"):
        ranker(min_samples_leaf=4).fit(opened(parts, checkpoint=kept))
    assert len(list(kept.iterdir())) == 1
    os.utime(parts / "000.parquet", (1, 1))
    with pytest.warns(UserWarning, match="unfinished run of other data, parameters or seed"):
        ranker().fit(opened(parts, checkpoint=kept))
    assert len(list(kept.iterdir())) == 1


@pytest.mark.slow
def test_runs_without_a_seed_are_not_kept(parts, tmp_path, n_grown):
    ranker(random_state=None, n_trees=2).fit(opened(parts))
    assert not n_grown
    with pytest.raises(ParameterError, match=r"checkpoint=.*give random_state"):
        ranker(random_state=None).fit(opened(parts, checkpoint=tmp_path / "kept"))


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


@pytest.mark.slow
def test_a_disk_that_is_too_full_for_checkpoints(parts, monkeypatch, caplog):
    def refuse(path):
        raise DataError(f"cannot write {str(path)!r}: No space left on device")

    monkeypatch.setattr("omnirank.shards.folders.replacing", refuse)
    with caplog.at_level(logging.WARNING):
        found = ranker().fit(opened(parts)).ranking_
    assert "No space left" in caplog.text
    assert found == ranker().fit(opened(parts, checkpoint=False)).ranking_


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


@pytest.mark.slow
def test_a_shard_that_changes_in_mid_run_loses_nothing(parts, monkeypatch, n_grown):
    """Results of samples are kept; where the shard is as it was, the run goes on."""
    interrupted(parts, monkeypatch)
    whole = (parts / "002.parquet").read_bytes()
    stat = (parts / "002.parquet").stat()
    data = opened(parts)
    (parts / "002.parquet").write_bytes(whole[:100])
    with pytest.raises(DataError, match=r"002\.parquet"):
        ranker().fit(data)
    (parts / "002.parquet").write_bytes(whole)
    os.utime(parts / "002.parquet", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    n_grown.clear()
    ranker().fit(opened(parts))
    assert len(n_grown) == 10


def test_scratch_that_cannot_be_made(parts, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="no folder for rows can be made in"):
        ranker().fit(opened(parts, scratch=tmp_path / "file" / "scratch"))


@pytest.mark.slow
def test_scratch_of_living_runs_is_left_alone(tmp_path):
    with scratch_folder(tmp_path) as first:
        (first / "rows").write_text("")
        script = f"""
from omnirank.shards.folders import scratch_folder
with scratch_folder({str(tmp_path)!r}): print('there')
"""
        found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert found.stdout == "there\n"
        assert (first / "rows").exists()
    assert not any(tmp_path.iterdir())


@pytest.mark.slow
def test_files_are_read_once_for_any_number_of_trees(parts, monkeypatch):
    data = opened(parts)
    reads = []
    real = om.shards.parts.ParquetFile._batches

    def batches(self, columns, n_rows, groups, threads):
        reads.extend((self.name, group, column) for group in groups for column in columns)
        return real(self, columns, n_rows, groups, threads)

    monkeypatch.setattr(om.shards.parts.ParquetFile, "_batches", batches)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker(n_trees=40).fit(data)
    n_columns = data.n_features + data.n_targets
    assert len(reads) == len(set(reads)) == (4 + 4 + 3) * n_columns


@pytest.mark.every(12)
@pytest.mark.parametrize("make", [ranker, forest])
@pytest.mark.parametrize("share", [0.04, 0.3])
def test_the_level_of_supervision_is_found_once(tmp_path, monkeypatch, make, share):
    """A run that goes on knows it, and reads no sample for it."""
    frame = frame_of()
    frame.loc[np.random.default_rng(1).random(len(frame)) > share, "size"] = np.nan
    folder, kept = written(tmp_path / "parts", frame), tmp_path / "kept"
    weights = {"feature_weights": np.arange(1.0, 8.0)} if make is ranker else {}
    expected = make(**weights).fit(opened(folder))
    real, left = Checkpoints.keep, [3]

    def keep(self, task, result):
        real(self, task, result)
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Checkpoints, "keep", keep)
        with pytest.raises(KeyboardInterrupt):
            make(n_jobs=1, **weights).fit(opened(folder, checkpoint=kept))
    assert len(list(kept.glob("run-*/level"))) == 1
    monkeypatch.setattr(run.DealtSamples, "sample", None)
    found = make(**weights).fit(opened(folder, checkpoint=kept))
    assert found.supervision_ == expected.supervision_
    assert found.supervision_reason_ == expected.supervision_reason_
    assert found.supervision_curve_ == expected.supervision_curve_
    if make is ranker:
        assert found.ranking_ == expected.ranking_
    else:
        assert all(
            np.array_equal(a.threshold, b.threshold, equal_nan=True)
            for a, b in zip(found.trees_, expected.trees_, strict=True)
        )
    assert not list(kept.iterdir())
