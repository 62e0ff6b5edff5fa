"""``omnirank tree``: grow one tree, prune it and print it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnirank.cli import options
from omnirank.cli.options import option, refuse
from omnirank.cli.output import data_notes, note
from omnirank.cli.reading import read_data
from omnirank.cli.writing import write_text
from omnirank.core.text import counted, supervision_lines

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset
    from omnirank.relational.dataset import RelationalDataset
    from omnirank.shards.dataset import ShardedDataset


def tree(
    ctx: typer.Context,
    max_depth: Annotated[int | None, option("--max-depth N", "Greatest depth of a leaf.", min=0)] = None,
    prune: Annotated[
        bool, option("--prune/--no-prune", "Prune the tree (default; trees of classes are not pruned).")
    ] = True,
    supervision: options.Supervision = None,
    labelled: options.Labelled = None,
    parameters: options.Set = None,
    dot: Annotated[bool, option("--dot", "Print the tree for Graphviz.")] = False,
    json: Annotated[bool, option("--json", "Print the tree as JSON.")] = False,
    out: Annotated[Path | None, option("--out -o FILE", "Write the tree to this file instead.")] = None,
    seed: Annotated[int, option("--seed N", "Seed; it breaks ties between equally good tests.", min=0)] = 0,
) -> None:
    """Grow one tree, prune it and print it.

    Without target, the leaves are clusters.
    """
    from omnirank.core.errors import ParameterError
    from omnirank.data.dataset import Dataset
    from omnirank.shards.dataset import ShardedDataset
    from omnirank.tasks import get_task
    from omnirank.trees.export import export_graphviz, export_json, export_text

    if dot and json:
        raise ParameterError("--dot and --json: choose one")
    data = read_data(ctx.obj, tables=True, parts=True, writes=(out,))
    if isinstance(data, ShardedDataset):
        data = _sample_of(data, seed)
    settings = {"max_depth": max_depth, "random_state": seed}
    if isinstance(data, Dataset):
        model = single_tree(data, supervision, prune, **settings)
        data = options.with_few_labels(data, labelled, seed)
        pruned = prune and data.target is not None and get_task(data.task).default_pruning
    else:
        of_one_table = {"--supervision": supervision, "--labelled": labelled}
        refuse(of_one_table, "is for one table: leave it out for several")
        model, pruned = relational_tree(data, **settings), False
    options.with_parameters(model, options.assignments(parameters)).fit(data)
    note(*data_notes(data), *supervision_lines(model)[:1])
    text = (export_json if json else export_graphviz if dot else export_text)(model)
    grown = model.tree_
    note(f"{data.task}: {counted(grown.n_nodes, 'node')}, {counted(grown.n_leaves, 'leaf')}, depth {grown.max_depth}")
    if pruned and grown.n_leaves == 1:
        note("pruning may have left only the root: --no-prune shows the whole tree")
    if out is None:
        typer.echo(text.rstrip("\n"))
    else:
        write_text(text.rstrip("\n") + "\n", out)
        note(f"tree written to {out}")


def _sample_of(data: "ShardedDataset", seed: int) -> "Dataset":
    """As many examples, drawn at random, as a tree can be grown on within the memory allowed."""
    from omnirank.core.seeds import root_entropy

    sample = data.sample(root_entropy(seed))
    note(
        f"the examples do not fit in memory: the tree is grown on {sample.n_examples} of {data.n_examples}, drawn at "
        "random; --read max_memory=2G allows more"
    )
    return sample


def single_tree(data: "Dataset", supervision: str | None, prune: bool = True, **settings: Any) -> Any:
    """Return a tree that predicts the target, or a tree of clusters; not fitted yet."""
    from omnirank.core.errors import ParameterError
    from omnirank.ensembles.clusterer import PCTClusterer
    from omnirank.ensembles.pct import PCTClassifier, PCTRegressor

    if data.target is None:
        if supervision is not None:
            raise ParameterError("--supervision needs a target: name it with --target")
        return PCTClusterer(**settings)
    level = "auto" if supervision is None else options.value_of(supervision)
    kind = PCTClassifier if data.task in PCTClassifier.supported_tasks else PCTRegressor
    return kind(pruning="auto" if prune else None, supervision=level, **settings)


def relational_tree(data: "RelationalDataset", **settings: Any) -> Any:
    """Return a relational tree; not fitted yet."""
    from omnirank.core.errors import ParameterError
    from omnirank.relational import RelationalTree

    if data.target is None:
        raise ParameterError("several tables need a target: name it by --target table.column")
    return RelationalTree(**settings)
