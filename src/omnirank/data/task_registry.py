"""The tasks by name, as far as reading data needs to know them; the room ``tasks`` holds the rest of each.

Packages of others register a task by `omnirank.tasks.register_task`, or by an entry point of the group
``omnirank.tasks`` that names a task or a sequence of them::

    [project.entry-points."omnirank.tasks"]
    mine = "mypackage.tasks:TASKS"
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, ClassVar

from omnirank.core.errors import ParameterError, setting
from omnirank.core.parameters import choice
from omnirank.core.registry import add_plugins

# What the targets of a task are.
KINDS = ("classes", "numbers", "labels", "mixed", "none")

_BUILT_IN = "omnirank.tasks"
_ENTRY_POINT_GROUP = "omnirank.tasks"


class TaskTarget:
    """What a task says of its target.

    Attributes
    ----------
    name : str
        As in ``task=`` of every estimator.
    kind : str
        What the target holds: "classes", "numbers", "labels" (sets of them), "mixed" (numbers and classes) or "none".
    single : bool
        Whether it is one variable.
    hierarchical : bool
        Whether its labels have a hierarchy.
    """

    name: ClassVar[str]
    kind: ClassVar[str]
    single: ClassVar[bool] = False
    hierarchical: ClassVar[bool] = False

    @property
    def is_one_class(self) -> bool:
        """Whether the target is one class per example."""
        return self.kind == "classes" and self.single


_tasks: dict[str, TaskTarget] = {}
_loaded = False


def all_tasks() -> list[TaskTarget]:
    """Return the registered tasks, those of omnirank first."""
    global _loaded  # noqa: PLW0603
    if not _loaded:
        built_in = import_module(_BUILT_IN)
        _loaded = True
        add_plugins(_ENTRY_POINT_GROUP, built_in.register_task)
    return list(_tasks.values())


def add_task(task: TaskTarget, replace: bool = False) -> None:
    """Add a task; `omnirank.tasks.register_task` checks it first."""
    if task.name in _tasks and not replace:
        again = setting("replace", True)
        raise ParameterError(f"there is a task called {task.name!r} already: choose another name, or {again}")
    _tasks[task.name] = task


def unregister_task(name: str) -> None:
    """Take a task out of the registry."""
    del _tasks[task_target(name).name]


def task_target(name: str) -> TaskTarget:
    """Return the task of that name.

    Examples
    --------
    >>> from omnirank.data.task_registry import task_target
    >>> task_target("multi-label").kind
    'labels'
    """
    all_tasks()
    task = _tasks.get(name) if isinstance(name, str) else None
    if task is None:
        raise ParameterError("task", name, choice("auto", *_tasks).advice(name))
    return task


def task_named(kind: str, *, single: bool = False, hierarchical: bool = False) -> str:
    """Return the name of the first task with such a target.

    Examples
    --------
    >>> from omnirank.data.task_registry import task_named
    >>> task_named("numbers", single=True)
    'regression'
    """
    wanted = (kind, single, hierarchical)
    return next(task.name for task in all_tasks() if (task.kind, task.single, task.hierarchical) == wanted)


def is_unsupervised(task: str) -> bool:
    """Return whether a task, or "auto", sets the target aside.

    Examples
    --------
    >>> from omnirank.data.task_registry import is_unsupervised
    >>> is_unsupervised("clustering"), is_unsupervised("auto")
    (True, False)
    """
    return task != "auto" and task_target(task).kind == "none"


class TaskNames(Sequence[str]):
    """The names of all tasks with targets of some kinds, also of those that are registered later.

    Parameters
    ----------
    *kinds : str
        Some of `KINDS`; all, where none is named.
    single : bool
        Whether only tasks with one target variable count.

    Examples
    --------
    >>> from omnirank.data.task_registry import TaskNames
    >>> list(TaskNames("labels")), "regression" in TaskNames("numbers", single=True)
    (['multi-label', 'hierarchical-multi-label'], True)
    """

    def __init__(self, *kinds: str, single: bool = False) -> None:
        self._kinds = kinds or KINDS
        self._single = single

    def _names(self) -> list[str]:
        return [task.name for task in all_tasks() if task.kind in self._kinds and (task.single or not self._single)]

    def __getitem__(self, at: Any) -> Any:
        return self._names()[at]

    def __len__(self) -> int:
        return len(self._names())

    def __repr__(self) -> str:
        return repr(self._names())


TASKS = TaskNames()
"""The names of all tasks."""
