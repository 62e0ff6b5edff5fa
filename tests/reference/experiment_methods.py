"""Methods that misbehave in the ways a study must survive; plans name this module under ``modules``."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np

from omnirank.core.registry import Method, register
from omnirank.data.task_registry import TASKS
from omnirank.rankers.base import BaseRanker


class OddRanker(BaseRanker):
    """Random scores, after sleeping, failing or dying."""

    def __init__(
        self,
        seconds=0.0,
        fails=False,
        dies=False,
        log="",
        level=1.0,
        task="auto",
        hierarchy=None,
        n_features_to_select=None,
        random_state=None,
        n_jobs=None,
    ):
        self.seconds = seconds
        self.fails = fails
        self.dies = dies
        self.log = log
        self.level = level
        self.task = task
        self.hierarchy = hierarchy
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _rank(self, dataset):
        if self.log:
            with Path(self.log).open("a") as file:
                file.write(f"{os.getpid()} {dataset.fingerprint}\n")
        time.sleep(self.seconds)
        if self.dies:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.fails:
            raise ZeroDivisionError("this method always fails")
        scores = np.random.default_rng(self.random_state).random(dataset.n_features)
        return self._ranking(dataset, self.level * scores, "odd")


register(Method("odd", f"{__name__}:OddRanker", "for tests", tasks=TASKS, supervision=("supervised",)), replace=True)
