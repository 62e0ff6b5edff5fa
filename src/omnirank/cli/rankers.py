"""The ranker that a command is told to use."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnirank.cli.options import assignments, supervision_of, value_of

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset

SeedOption = Annotated[int | None, typer.Option("--seed", help="Seed; the same seed gives the same result.")]


def ranker_of(
    dataset: "Dataset",
    method: str | None,
    seed: int | None,
    jobs: int,
    supervision: str | None = None,
    parameters: list[str] | None = None,
    trees: str | None = None,
) -> tuple[str, Any]:
    """Return the name of the method, by default that of the task, and its ranker."""
    from omnirank.core.registry import default_method, get_method

    chosen = default_method(dataset.task) if method is None else get_method(method)
    settings: dict[str, Any] = {"random_state": seed, "n_jobs": jobs}
    if supervision is not None:
        settings["supervision"] = supervision_of(supervision)
    if trees is not None:
        settings["n_trees"] = value_of(trees)
    return chosen.name, chosen.make(**settings | assignments(parameters))
