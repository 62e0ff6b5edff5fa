"""``omnirank tree``: grow one tree on a file, prune it and print it."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnirank.cli.data_notes import data_notes
from omnirank.cli.ending import ending_on_sigterm
from omnirank.cli.options import (
    LabelledOption,
    SetOption,
    SupervisionOption,
    assignments,
    supervision_of,
    with_data,
    with_few_labels,
)
from omnirank.cli.output import note
from omnirank.cli.relational_options import load_any
from omnirank.cli.shard_options import reading_shards
from omnirank.core.text import counted, supervision_lines

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset
    from omnirank.relational.dataset import RelationalDataset
    from omnirank.shards.dataset import ShardedDataset


def _with_tables(command: Callable[..., None]) -> Callable[..., None]:
    return with_data(command, reading_shards(load_any, runs_on_samples=False))


@_with_tables
def tree(
    dataset: "Dataset | RelationalDataset | ShardedDataset",
    dot: Annotated[bool, typer.Option("--dot", help="Print the tree for Graphviz.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the tree as JSON.")] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the tree to this file instead.")] = None,
    prune: Annotated[
        bool,
        typer.Option("--prune/--no-prune", help="Whether to prune the tree (M5; trees of classes are not pruned)."),
    ] = True,
    max_depth: Annotated[int | None, typer.Option(min=0, help="Greatest depth of a leaf.")] = None,
    min_leaf: Annotated[
        float | None, typer.Option(help="Least number of examples in a leaf (default: 2; of several tables 1).")
    ] = None,
    max_leaves: Annotated[int | None, typer.Option(min=1, help="Greatest number of clusters, without target.")] = None,
    supervision: SupervisionOption = None,
    labelled: LabelledOption = None,
    threshold: Annotated[float, typer.Option(help="Share of examples from which a label is shown.")] = 0.5,
    seed: Annotated[int | None, typer.Option(help="Seed; it breaks ties between equally good tests.")] = 0,
    parameters: SetOption = None,
) -> None:
    """Grow a tree that predicts the target, prune it and print it; without target, a tree of clusters."""
    from omnirank.core.errors import ParameterError
    from omnirank.core.parameters import check, share
    from omnirank.data.dataset import Dataset
    from omnirank.shards.dataset import ShardedDataset
    from omnirank.tasks import get_task
    from omnirank.trees.export import export_graphviz, export_text
    from omnirank.trees.tree_json import export_json

    if dot and json:
        raise ParameterError("--dot and --json: choose one")
    check("threshold", threshold, share())
    shared = {"max_depth": max_depth, "random_state": seed} | (
        {} if min_leaf is None else {"min_samples_leaf": min_leaf}
    )
    data = _sample_of(dataset, seed) if isinstance(dataset, ShardedDataset) else dataset
    if isinstance(data, Dataset):
        made = single_tree(data, supervision, max_leaves, prune, shared)
        data = with_few_labels(data, labelled, seed)
    else:
        from omnirank.cli import relational_models

        relational_models.refuse({"--supervision": supervision, "--labelled": labelled, "--max-leaves": max_leaves})
        made, prune = relational_models.tree_model(data, shared), False
    model = with_parameters(made, assignments(parameters)).fit(data)
    for text in (*data_notes(data), *supervision_lines(model)):
        note(text)
    if json:
        found = export_json(model)
    else:
        found = (export_graphviz if dot else export_text)(model, threshold=threshold)
    grown = model.tree_
    note(f"{data.task}: {counted(grown.n_nodes, 'node')}, {counted(grown.n_leaves, 'leaf')}, depth {grown.max_depth}")
    if prune and grown.n_leaves == 1 and data.target is not None and get_task(data.task).default_pruning:
        note("pruning may have left the root only: see the tree without it by --no-prune")
    _write(found.rstrip("\n"), out)


def _sample_of(data: "ShardedDataset", seed: int | None) -> "Dataset":
    """As many examples, drawn at random, as a tree can be grown on within the memory allowed."""
    from omnirank.core.seeds import root_entropy
    from omnirank.ensembles.sampled_growth import random_sample

    found = random_sample(data, root_entropy(seed))
    note(
        f"the tree is grown on {found.n_examples} of {data.n_examples} examples that do not fit in memory, drawn at "
        "random: --memory gives it more"
    )
    return found


def _write(text: str, out: Path | None) -> None:
    from omnirank.core.files import replacing

    if out is None:
        typer.echo(text)
        return
    with ending_on_sigterm(), replacing(out) as file:
        file.write((text + "\n").encode())
    note(f"tree written to {out}")


def single_tree(
    dataset: "Dataset", supervision: str | None, max_leaves: int | None, prune: bool, shared: dict[str, Any]
) -> Any:
    """Return a tree that predicts the target, or a tree of clusters; not fitted yet."""
    from omnirank.core.errors import ParameterError

    if dataset.target is None:
        if supervision is not None:
            raise ParameterError("--supervision needs a target: name it with --target")
        return _clusterer(max_leaves, **shared)
    if max_leaves is not None:
        raise ParameterError("--max-leaves is for trees of clusters: leave it out, or the target")
    level = "auto" if supervision is None else supervision_of(supervision)
    return _model(dataset.task)(pruning="auto" if prune else None, supervision=level, **shared)


def _clusterer(max_leaves: int | None, **shared: Any) -> Any:
    from omnirank.ensembles.pct_clusterer import PCTClusterer

    limit: dict[str, Any] = {} if max_leaves is None else {"max_leaves": max_leaves}
    return PCTClusterer(**limit, **shared)


def with_parameters(model: Any, more: dict[str, Any]) -> Any:
    """Return the model with the parameters of --set, which must be its own."""
    from omnirank.core.errors import ParameterError
    from omnirank.core.text import did_you_mean

    known = model.get_params(deep=False)
    for name in more:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ParameterError(
                f"--set {name}: {type(model).__name__} has no such parameter{hint}; it has {', '.join(known)}"
            )
    return model.set_params(**more)


def _model(task: str) -> Any:
    from omnirank.ensembles.pct import PCTClassifier, PCTRegressor

    return PCTClassifier if task in PCTClassifier.supported_tasks else PCTRegressor
