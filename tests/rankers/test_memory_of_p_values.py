"""P values of trees on samples: they take no more memory than is allowed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tools.memory import PEAK, needs_peak

pytestmark = pytest.mark.slow

PROGRAM = """
import numpy as np
import omnirank as om
rng = np.random.default_rng(0)
X = rng.normal(size=(200_000, 5)); y = X[:, 0] + rng.normal(size=len(X))
data = om.Dataset(X, y)
om.EnsembleRanker(n_trees=2, random_state=0, max_samples=2000, p_values=True).fit(data)
before = peak()
ranker = om.EnsembleRanker(n_trees=20, max_memory="40M", p_values=True, n_jobs=4, random_state=0).fit(data)
print(ranker.max_samples_, (peak() - before) / 1024)
"""


@needs_peak
def test_p_values_stay_within_the_memory():
    """What examples add to 20 trees takes more than a tree: 65 MB, where all of it is held."""
    settings = {name: value for name, value in os.environ.items() if name != "OMNIRANK_PICKLED_WORK"}
    for _ in range(2):  # kernels that are compiled take memory, too
        command = [sys.executable, "-c", PEAK + PROGRAM]
        run = subprocess.run(command, env=settings, capture_output=True, text=True, check=True)
    size, megabytes = map(float, run.stdout.split())
    assert 2000 < size < 200_000
    assert megabytes < 40
