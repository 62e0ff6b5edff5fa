"""``omnirank tree``: grow one tree on a file, prune it and print it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnirank.cli.options import with_data
from omnirank.cli.output import note

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset

__all__ = ["tree"]


@with_data
def tree(
    dataset: "Dataset",
    dot: Annotated[bool, typer.Option("--dot", help="Print the tree for Graphviz.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the tree as JSON.")] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the tree to this file instead.")] = None,
    prune: Annotated[bool, typer.Option("--prune/--no-prune", help="Whether to prune the tree (M5).")] = True,
    max_depth: Annotated[int | None, typer.Option(min=0, help="Greatest depth of a leaf.")] = None,
    min_leaf: Annotated[float, typer.Option(help="Least number of examples in a leaf.")] = 2,
    threshold: Annotated[float, typer.Option(help="Share of examples from which a label is shown.")] = 0.5,
    seed: Annotated[int | None, typer.Option(help="Seed; it breaks ties between equally good tests.")] = 0,
) -> None:
    """Grow a tree that predicts the target, prune it and print it."""
    from omnirank.core.errors import DataError, ParameterError
    from omnirank.trees.export import export_graphviz, export_text
    from omnirank.trees.tree_json import export_json

    if dot and json:
        raise ParameterError("--dot and --json: choose one")
    if dataset.target is None:
        raise DataError("a tree predicts a target: name it with --target")
    model = _model(dataset.task)(
        pruning="m5" if prune else None, max_depth=max_depth, min_samples_leaf=min_leaf, random_state=seed
    ).fit(dataset)
    for text in dataset.notes:
        note(text)
    if json:
        found = export_json(model)
    else:
        found = (export_graphviz if dot else export_text)(model, threshold=threshold)
    note(f"{dataset.task}: {model.tree_.n_nodes} nodes, {model.get_n_leaves()} leaves, depth {model.get_depth()}")
    if out is None:
        typer.echo(found.rstrip("\n"))
    else:
        out.write_text(found.rstrip("\n") + "\n", encoding="utf-8")
        note(f"tree written to {out}")


def _model(task: str) -> Any:
    from omnirank.ensembles.pct import PCTClassifier, PCTRegressor

    return PCTClassifier if task in PCTClassifier.supported_tasks else PCTRegressor
