"""Data in parts that fit in memory are those with which a fit stays within it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from tools.memory import PEAK, needs_peak

pytestmark = pytest.mark.slow

PROGRAM = """
import sys
import omnirank as om
small = om.open_shards(sys.argv[1], "y", max_memory="1G")
om.EnsembleRanker(n_trees=2, random_state=0, n_jobs=2).fit(small)
tight = om.open_shards(sys.argv[1], "y", max_memory="1M")
om.EnsembleRanker(n_trees=2, random_state=0, n_jobs=2).fit(tight)
data = om.open_shards(sys.argv[2], "y", max_memory=sys.argv[3])
before = peak()
ranker = om.EnsembleRanker(n_trees=8, random_state=0, n_jobs=2).fit(data)
print(int(data.fits_in_memory), ranker.ranking_.parameters.get("n_samples", 1), (peak() - before) / 1024)
"""


OPENED = """
import sys
import omnirank as om
om.open_shards(sys.argv[1], "y")
before = peak()
om.open_shards(sys.argv[2], "y", max_memory=sys.argv[3])
print(1, 1, (peak() - before) / 1024)
"""


def parts_of(folder, n, names="abcde"):
    folder.mkdir()
    rng = np.random.default_rng(0)
    for i in range(2):
        frame = pd.DataFrame(rng.normal(size=(n // 2, len(names))), columns=list(names))
        frame["y"] = frame["a"] + rng.normal(size=len(frame))
        frame.to_parquet(folder / f"{i}.parquet", row_group_size=50_000)
    om.open_shards(folder, "y")  # the summary is kept
    return folder


def run(*arguments, program=PROGRAM):
    settings = {name: value for name, value in os.environ.items() if name != "OMNIRANK_PICKLED_WORK"}
    command = [sys.executable, "-c", PEAK + program, *map(str, arguments)]
    result = subprocess.run(command, env=settings, capture_output=True, text=True, check=True)
    fits, n_samples, megabytes = result.stdout.split()
    return bool(int(fits)), int(n_samples), float(megabytes)


@needs_peak
@pytest.mark.parametrize(("allowed", "fits"), [("280M", True), ("120M", False)])
def test_a_fit_takes_no_more_than_is_allowed(tmp_path, allowed, fits):
    """Of 27 MB that are read, a fit makes more than 120."""
    few, many = parts_of(tmp_path / "few", 2000), parts_of(tmp_path / "many", 300_000)
    found, n_samples, megabytes = run(few, many, allowed)
    assert found is fits
    assert (n_samples == 1) is fits
    assert megabytes < int(allowed[:-1])


@needs_peak
@pytest.mark.parametrize("allowed", ["25M", "50M"])
def test_reading_many_columns_takes_no_more_than_is_allowed(tmp_path, allowed):
    """Of 21 columns of a Parquet file, reading alone takes 50 MB; so some are read at a time."""
    few, many = (parts_of(tmp_path / f"{n}", n, "abcdefghijklmnopqrst") for n in (2000, 200_000))
    fits, n_samples, megabytes = run(few, many, allowed)
    assert not fits
    assert n_samples > 1
    assert megabytes < int(allowed[:-1])
    shutil.rmtree(many / ".omnirank")
    assert run(few, many, allowed, program=OPENED)[2] < int(allowed[:-1])


def test_what_a_fit_takes_grows_with_what_there_is(tmp_path):
    data = om.open_shards(parts_of(tmp_path / "few", 2000), "y")
    wider = om.open_shards(tmp_path / "few", "e,y")
    alone = om.open_shards(tmp_path / "few")
    assert data.n_bytes < data.n_bytes_of_fit < wider.n_bytes_of_fit < alone.n_bytes_of_fit
    data.source.max_memory = data.n_bytes_of_fit
    assert data.fits_in_memory
    data.source.max_memory -= 1
    assert not data.fits_in_memory
