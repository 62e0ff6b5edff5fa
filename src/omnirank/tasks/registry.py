"""Tasks by name: those of omnirank, and those that others register."""

from __future__ import annotations

from typing import cast

from omnirank.core.errors import DataTypeError, ParameterError
from omnirank.data.task_registry import KINDS, add_task, all_tasks, task_target, unregister_task
from omnirank.tasks.base import Task

__all__ = ["get_task", "register_task", "unregister_task"]


def get_task(name: str) -> Task:
    """Return the task of that name.

    Examples
    --------
    >>> from omnirank.tasks import get_task
    >>> get_task("regression").default_measure
    'rrmse'
    """
    return cast(Task, task_target(name))


def register_task(task: Task, *, replace: bool = False) -> Task:
    """Add a task to those that ``task=`` may name, and return it.

    Studies are run by processes of their own, which know tasks of entry points only: see
    `omnirank.data.task_registry`.

    Parameters
    ----------
    task : Task
        The task.
    replace : bool
        Whether a task of the same name may be replaced; otherwise that is an error.

    Examples
    --------
    Counts, which are numbers, but never predicted below 0:

    >>> import omnirank as om
    >>> from omnirank.tasks import register_task, unregister_task
    >>> from omnirank.tasks.regression import Regression
    >>> class Counts(Regression):
    ...     name = "counts"
    ...
    ...     def predict(self, means, columns, threshold=0.5):
    ...         return super().predict(means, columns).clip(min=0)
    >>> task = register_task(Counts())
    >>> om.UnivariateRanker(task="counts").fit([[0.0], [1.0]], [2, 4]).task_
    'counts'
    >>> unregister_task("counts")
    """
    if not isinstance(task, Task):
        raise DataTypeError(f"{task!r} is no task: give an instance of a subclass of omnirank.tasks.Task")
    if task.name == "auto" or task.kind not in KINDS:
        raise ParameterError(f"task {task.name!r} of kind {task.kind!r}: 'auto' is no name; kinds: {', '.join(KINDS)}")
    others = cast(list[Task], [other for other in all_tasks() if other.name != task.name])
    known = {measure.name: measure for other in others for measure in other.measures}
    for measure in task.measures:
        if known.get(measure.name, measure) != measure:
            raise ParameterError(f"task {task.name!r}: there is another measure called {measure.name!r} already")
    add_task(task, replace)
    return task
