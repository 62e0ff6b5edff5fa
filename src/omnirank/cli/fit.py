"""``omnirank fit``: grow a forest or a tree on a file, and write it as a model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnirank.cli.data_notes import data_notes
from omnirank.cli.ending import ending_on_sigterm
from omnirank.cli.options import (
    JobsOption,
    SetOption,
    SupervisionOption,
    assignments,
    load_one_table,
    supervision_of,
    value_of,
    with_data,
)
from omnirank.cli.output import note, say
from omnirank.cli.rank import MaxFeaturesOption, MinLeafOption, describe_examples
from omnirank.cli.rankers import SeedOption
from omnirank.cli.shard_options import reading_shards
from omnirank.cli.tree import single_tree, with_parameters
from omnirank.core.text import counted, supervision_lines

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset
    from omnirank.shards.dataset import ShardedDataset


def _fit(
    dataset: "Dataset | ShardedDataset",
    out: Annotated[Path, typer.Option("--out", "-o", metavar="MODEL", help="File of the model, such as plants.omr.")],
    single: Annotated[
        bool, typer.Option("--single", help="One pruned tree in place of a forest; without target, a tree of clusters.")
    ] = False,
    trees: Annotated[
        int | None, typer.Option("--trees", min=1, help="Number of trees (default: 100).", show_default=False)
    ] = None,
    ensemble: Annotated[
        str | None,
        typer.Option("--ensemble", help="random-forest, extra-trees or bagging (default: random-forest)."),
    ] = None,
    max_features: MaxFeaturesOption = None,
    min_leaf: MinLeafOption = None,
    max_depth: Annotated[int | None, typer.Option(min=0, help="Greatest depth of a leaf.", show_default=False)] = None,
    supervision: SupervisionOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = -1,
    parameters: SetOption = None,
) -> None:
    """Fit a forest (or one tree) that predicts the target, and write it to a file for omnirank predict."""
    from omnirank.core.parallel import progress_bars
    from omnirank.data.containers import in_memory

    given = {"min_samples_leaf": min_leaf, "max_depth": max_depth, "max_features": max_features}
    shared = {name: value_of(str(value)) for name, value in given.items() if value is not None}
    shared["random_state"] = seed
    if single:
        _refuse_for_single(trees, ensemble)
        model = single_tree(in_memory(dataset), supervision, None, True, shared)
    else:
        more = {"n_trees": trees, "ensemble": ensemble, "n_jobs": jobs}
        model = _forest(
            dataset, supervision, shared | {name: value for name, value in more.items() if value is not None}
        )
    model = with_parameters(model, assignments(parameters))
    with progress_bars():
        model.fit(dataset)
    for text in (*data_notes(dataset), *supervision_lines(model)):
        note(text)
    with ending_on_sigterm():
        model.save(out)
    grown = model._trees()
    n_nodes = counted(sum(tree.n_nodes for tree in grown), "node")
    what = f"{counted(len(grown), 'tree')} with {n_nodes}"
    say(f"{describe_examples(dataset)}, {counted(dataset.n_features, 'feature')}, {dataset.task}: {what}")
    if hasattr(model, "oob_error_"):
        say(f"out-of-bag error {model.oob_error_:.4g}")
    say(f"model written to {out}")


fit = with_data(_fit, reading_shards(load_one_table))


def _refuse_for_single(trees: int | None, ensemble: str | None) -> None:
    from omnirank.core.errors import ParameterError

    for option, value in {"--trees": trees, "--ensemble": ensemble}.items():
        if value is not None:
            raise ParameterError(f"--single grows one tree: leave {option} out")


def _forest(dataset: "Dataset | ShardedDataset", supervision: str | None, parameters: dict[str, Any]) -> Any:
    from omnirank.core.errors import ParameterError
    from omnirank.ensembles.pct_forest import PCTForestClassifier, PCTForestRegressor

    if not dataset.n_targets:
        raise ParameterError(
            "a forest needs a target: name it with --target (--single grows a tree of clusters without)"
        )
    kind = PCTForestClassifier if dataset.task in PCTForestClassifier.supported_tasks else PCTForestRegressor
    if supervision is not None:
        parameters["supervision"] = supervision_of(supervision)
    return kind(**parameters)
