"""The walk of a default fit stays short: frames from ``fit`` to the kernel, files of omnirank that run, no registry."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import omnirank as om

ROOT = Path(om.__file__).parent
MOST_FRAMES = 12
# 21 of them are in core and data, 6 are kernels
MOST_FILES = 39


@pytest.fixture
def walk(monkeypatch):
    """Return the files of omnirank that a default fit runs, and the frames from ``fit`` to the kernel."""
    monkeypatch.delenv("OMNIRANK_PICKLED_WORK", raising=False)
    X = np.random.default_rng(0).normal(size=(60, 10))
    y = X[:, 0] + X[:, 1] ** 2
    ranker = om.EnsembleRanker(n_trees=2, n_jobs=1, random_state=0)
    ranker.fit(X, y)  # loads modules and kernels
    files, frames = set(), []

    def look(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event != "call" or ROOT not in path.parents:
            return
        files.add(path.relative_to(ROOT).as_posix())
        if not frames and (path.name, frame.f_code.co_name) == ("grow.py", "grow"):
            here = frame
            while here is not None:
                if ROOT in Path(here.f_code.co_filename).parents:
                    frames.append(here.f_code.co_name)
                here = here.f_back

    sys.setprofile(look)
    try:
        ranker.fit(X, y)
    finally:
        sys.setprofile(None)
    return files, frames


def test_the_walk_is_short(walk):
    files, frames = walk
    assert frames[-1] == "fit"
    assert len(frames) <= MOST_FRAMES, frames
    assert len(files) <= MOST_FILES, sorted(files)
    assert not files & {"core/registry.py", "rankers/builtin.py"}
