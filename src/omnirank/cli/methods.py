"""``omnirank methods``: the methods there are."""

from typing import TYPE_CHECKING, Annotated

import typer

from omnirank.cli.options import CsvOption
from omnirank.cli.output import figures, table

if TYPE_CHECKING:
    from omnirank.core.registry import Method


def methods(
    task: Annotated[str | None, typer.Option(help="Only methods that handle this task.")] = None,
    supervision: Annotated[
        str | None, typer.Option(help="Only methods that are supervised, semi-supervised or unsupervised.")
    ] = None,
    csv: CsvOption = False,
) -> None:
    """List the ranking methods."""
    from omnirank.core.registry import SUPERVISION
    from omnirank.core.registry import methods as registered

    found = registered(task, supervision, data=None)
    if csv:
        marks = [[int(s in m.supervision) for s in SUPERVISION] for m in found]
        rows = [[m.name, ";".join(sorted(m.tasks)), *mark, m.data] for m, mark in zip(found, marks, strict=True)]
        figures(("method", "tasks", *(s.replace("-", "_") for s in SUPERVISION), "data"), rows)
        return
    for_people = [["yes" if s in m.supervision else "-" for s in SUPERVISION] for m in found]
    table(
        [(heading, "left") for heading in ("method", "what its scores are", "tasks", "sup.", "semi", "unsup.")],
        [[m.name, m.summary, _tasks(m), *words] for m, words in zip(found, for_people, strict=True)],
        whole=("method",),  # to be typed as it is
    )


def _tasks(method: "Method") -> str:
    from omnirank.data.task_registry import TASKS

    return "all" if set(method.tasks) >= set(TASKS) else ", ".join(method.tasks)
