"""Small plans for tests, and a backend that computes in the process of the test."""

from __future__ import annotations

from omnirank.evaluation.experiments import runner
from omnirank.evaluation.experiments.work import perform

HEAD = """
[study]
name = "small"
modules = ["reference.experiment_methods"]
code = "test"

[folds]
n_folds = 2

[evaluation]
n_neighbors = [3, 5]

[[data]]
sample = "iris"

[[data]]
sample = "wine"
"""


def method(use, **keys):
    lines = [f"{key} = {value}" for key, value in keys.items()]
    return "\n".join(["", "[[method]]", f"use = {use!r}".replace("'", '"'), *lines, ""])


def write_plan(folder, *methods, head=HEAD, name="plan.toml"):
    path = folder / name
    path.write_text(head + "".join(methods))
    return path


def in_process(monkeypatch) -> list:
    """Let runs compute in the process of the test; the list will hold their backends."""
    made: list = []

    def make(n_workers, memory_limit=None):
        made.append(InProcess())
        return made[-1]

    monkeypatch.setattr(runner, "WorkerPool", make)
    return made


class InProcess:
    """A backend without processes, which remembers its claims."""

    claims: list

    def __init__(self, n_workers=1, memory_limit=None):
        self.claims = []
        self._waiting = []

    def has_room(self):
        return not self._waiting

    def start(self, claim):
        self.claims.append(claim)
        self._waiting.append(claim)

    def finished(self, timeout_s):
        return perform(self._waiting.pop()) if self._waiting else None

    def close(self):
        pass
