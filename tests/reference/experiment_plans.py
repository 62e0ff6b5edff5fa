"""Small plans for tests, and a backend that computes in the process of the test."""

from __future__ import annotations

from concurrent.futures import Future

from omnirank.evaluation.experiments import run
from omnirank.evaluation.experiments.fit import perform

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

    def make(n_workers):
        made.append(InProcess())
        return made[-1]

    monkeypatch.setattr(run, "WorkerPool", make)
    return made


class InProcess:
    """A backend without processes, which remembers its orders."""

    n_at_once = 1

    def __init__(self):
        self.orders: list = []

    def submit(self, order):
        self.orders.append(order)
        future = Future()
        future.set_result(perform(order))
        return future

    def close(self):
        pass
