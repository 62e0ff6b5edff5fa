"""Tasks as reading data knows them: names by kind of target, found without importing the room of the tasks."""

from __future__ import annotations

import subprocess
import sys

import pytest

from omnirank.data.task_registry import KINDS, TASKS, TaskNames, is_unsupervised, task_named, task_target
from omnirank.errors import ParameterError


def test_reading_data_alone_knows_all_tasks():
    code = "from omnirank.data.infer import target_from; print(target_from(['a', 'b'])[1])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "classification"


def test_names_by_kind():
    by_kind = [list(TaskNames(kind)) for kind in KINDS]
    assert sorted(name for names in by_kind for name in names) == sorted(TASKS)
    assert by_kind[1] == ["regression", "multi-target-regression"]
    assert list(TaskNames("classes", "numbers", single=True)) == ["classification", "regression"]
    assert len(TASKS) == 8
    assert TASKS[0] == "classification"
    assert TASKS[-2:] == ["mixed-targets", "clustering"]
    assert repr(TaskNames("none")) == "['clustering']"
    assert "regression" not in TaskNames("labels")


@pytest.mark.parametrize("name", TASKS)
def test_every_task_is_the_first_with_its_target(name):
    task = task_target(name)
    assert task_named(task.kind, single=task.single, hierarchical=task.hierarchical) == name
    assert is_unsupervised(name) == (name == "clustering")
    assert task.is_one_class == (name == "classification")


def test_unknown_names():
    for name in ("auto", "ranking"):
        with pytest.raises(ParameterError, match=f"task='{name}': choose one of auto, class"):
            task_target(name)
