"""``omnirank evaluate``: how well a ranking helps neighbours to predict."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnirank.cli.data_notes import data_notes
from omnirank.cli.evaluate_output import Measured, describe, print_measures, tell
from omnirank.cli.evaluate_parts import judge_in_parts
from omnirank.cli.options import (
    CsvOption,
    JobsOption,
    LabelledOption,
    SetOption,
    SupervisionOption,
    assignments,
    label_amount,
    supervision_of,
    with_data,
    with_few_labels,
)
from omnirank.cli.output import note
from omnirank.cli.relational_options import load_any
from omnirank.cli.shard_options import reading_shards
from omnirank.core.text import counted

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset
    from omnirank.relational.dataset import RelationalDataset
    from omnirank.shards.dataset import ShardedDataset

_FOLDS = 10
_RANDOM = 10

RankingOption = Annotated[
    Path | None, typer.Option("--ranking", "-r", help="The ranking, .json or .csv.", show_default=False)
]
MethodOption = Annotated[
    str | None,
    typer.Option("--method", "-m", help="Instead: rank the training examples by this method.", show_default=False),
]
TestOption = Annotated[
    Path | None,
    typer.Option("--test", help="File of test examples; DATA are then the training examples.", show_default=False),
]
FoldsOption = Annotated[
    int | None,
    typer.Option("--folds", min=2, help="Number of folds of a cross-validation (default: 10).", show_default=False),
]
NeighborsOption = Annotated[
    list[int] | None,
    typer.Option(
        "--neighbors", "-n", min=1, help="Number of neighbours; may be repeated (default: by task).", metavar="K"
    ),
]


PresetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--preset",
        help="What is constructed: AGG-All, AGG-Exist or NO-Rel; may be repeated (default: AGG-All).",
        rich_help_panel="Several tables",
        show_default=False,
    ),
]


def _evaluate(
    dataset: "Dataset | RelationalDataset | ShardedDataset",
    read_like_data: Callable[[Path], "Dataset"],
    ranking: RankingOption = None,
    method: MethodOption = None,
    parameters: SetOption = None,
    test: TestOption = None,
    folds: FoldsOption = None,
    neighbors: NeighborsOption = None,
    top: Annotated[
        int | None, typer.Option("--top", "-k", min=1, help="Keep only this number of the best features.")
    ] = None,
    predictor: Annotated[str, typer.Option("--predictor", help="knn, or ml-knn for label sets.")] = "knn",
    among: Annotated[
        str, typer.Option("--among", help="Which examples may be neighbours: labelled, oracle or published.")
    ] = "labelled",
    supervision: SupervisionOption = None,
    labelled: LabelledOption = None,
    seed: Annotated[int, typer.Option(help="Seed of folds and method.")] = 0,
    jobs: JobsOption = -1,
    preset: PresetOption = None,
    csv: CsvOption = False,
) -> None:
    """Judge a ranking by what the nearest examples predict in a distance that weighs features by it.

    Of several tables: what a relational tree and a forest predict, beside a constant prediction.

    Over folds, measures are means, weighted by the folds' test examples.
    """
    from omnirank.core.errors import ParameterError
    from omnirank.core.parallel import progress_bars
    from omnirank.data.dataset import Dataset
    from omnirank.shards.dataset import ShardedDataset

    if test is not None and folds is not None:
        raise ParameterError("give either --test FILE or --folds K")
    n_folds, given = folds or _FOLDS, assignments(parameters)
    if not isinstance(dataset, Dataset | ShardedDataset):
        from omnirank.cli import relational_models

        unfit = {"--ranking": ranking, "--method": method, "--test": test, "--neighbors": neighbors, "--top": top}
        relational_models.refuse(unfit | {"--supervision": supervision, "--labelled": labelled})
        relational_models.evaluate(dataset, preset or [], given | {"n_jobs": jobs}, n_folds, seed, csv)
        return
    if preset:
        raise ParameterError("--preset is for several tables: leave it out for one")
    if supervision is not None:
        if method is None:
            raise ParameterError("--supervision is for --method: a ranking that was made before has its own")
        given = {"supervision": supervision_of(supervision)} | given
    judged = _judged(ranking, method, {"random_state": seed, "n_jobs": jobs}, given, test is not None)
    options = {"predictor": predictor, "neighbors": among, "top": top, "n_jobs": jobs}
    others = None if test is None else read_like_data(test)
    tell(data_notes(dataset))
    if isinstance(dataset, ShardedDataset):
        unfit = {"--folds": folds, "--labelled": labelled, "--method without --test": not test and method}
        judge_in_parts(dataset, judged, others, neighbors, options | {"random_state": seed}, csv, unfit)
        return
    data: Dataset = dataset if test is None else with_few_labels(dataset, labelled, seed)
    scheme = _scheme(data, n_folds, seed, None if test is not None else labelled)
    with progress_bars():
        measured_by = partial(_measured, train=data, test=others, scheme=scheme, neighbors=neighbors)
        measured = measured_by(judged, options)
        blind, known_as = _of_nothing(data, seed, options, measured_by)
    how = f"{n_folds}-fold cross-validation" if others is None else counted(others.n_examples, "test example")
    print_measures(measured, blind, known_as, None if csv else f"{describe(data, _examples(data, scheme))}, {how}")


evaluate = with_data(_evaluate, reading_shards(load_any))


def _scheme(dataset: "Dataset", n_folds: int, seed: int, labelled: str | None) -> dict[str, Any]:
    """The folds of a cross-validation; where labels are hidden, each training part keeps that number or share."""
    from omnirank.core.errors import ParameterError
    from omnirank.core.parameters import check, count, share

    usual = {"n_folds": n_folds, "random_state": seed}
    if labelled is None:
        return usual | {"scheme": "cross-validation"}
    if dataset.target is None:
        raise ParameterError("--labelled keeps some labels, but there is no target: name it with --target")
    most = int(dataset.labelled.sum()) * (n_folds - 1) // n_folds
    amount = check("labelled", label_amount(labelled), count(1, most, "labels in a training part") | share(above=0))
    kept = amount if isinstance(amount, int) else max(1, round(amount * most))
    return usual | {"scheme": "semi-supervised", "labelled": kept}


def _examples(dataset: "Dataset", scheme: dict[str, Any]) -> str:
    """How many examples there are and how many of them are labelled, all in all and in the training parts."""
    from omnirank.cli.rank import describe_examples

    text = describe_examples(dataset)
    return text + (f" (in each training part {scheme['labelled']})" if "labelled" in scheme else "")


def _judged(
    ranking: Path | None, method: str | None, usual: dict[str, Any], parameters: dict[str, Any], apart: bool
) -> Any:
    """The ranking, or the ranker that makes one of each training part."""
    from omnirank.core.errors import ParameterError
    from omnirank.core.ranking.ranking import Ranking
    from omnirank.core.registry import get_method

    if (ranking is None) == (method is None):
        raise ParameterError("give either --ranking FILE or --method NAME")
    if ranking is not None:
        if parameters:
            raise ParameterError("--set is for --method: a ranking that was made before has no parameters to set")
        if not apart:
            note(
                "if the ranking was made from these data, the results are too good: give --test, or --method for "
                "--ranking"
            )
        return Ranking.load(ranking)
    assert method is not None
    return get_method(method).make(**usual | parameters)


def _of_nothing(
    train: "Dataset", seed: int, options: dict[str, Any], measured_by: Callable[..., Measured]
) -> tuple[Measured, str]:
    """What is reached without a ranking, and what that is called.

    Where there is a target, all features with equal weights; without one, where only top features count, the mean of
    random rankings.
    """
    import numpy as np

    from omnirank.core.seeds import stream

    if train.target is not None:
        return measured_by(np.ones(train.n_features), options | {"top": None}), "equal weights"
    found = [measured_by(stream(seed, i).random(train.n_features), options) for i in range(_RANDOM)]
    means = {k: {name: float(np.mean([one[k][name] for one in found])) for name in found[0][k]} for k in found[0]}
    return means, "random rankings"


def _measured(
    judged: Any,
    options: dict[str, Any],
    train: "Dataset",
    test: "Dataset | None",
    scheme: dict[str, Any],
    neighbors: list[int] | None,
) -> Measured:
    from omnirank.evaluation.cross import evaluate_folds
    from omnirank.evaluation.evaluate import evaluate as measured_by
    from omnirank.evaluation.evaluate import evaluate_counts
    from omnirank.evaluation.folds import make_folds

    counts = evaluate_counts(neighbors or None, train.task)
    if test is not None:
        fitted = judged.fit(train) if hasattr(judged, "fit") else judged
        return dict(measured_by(fitted, train, test, counts, **options))
    parts = make_folds(train, **scheme)
    summary = evaluate_folds(judged, train, parts, counts, **options).summary
    measures = [name for name in summary.columns if name not in ("n_labelled", "n_folds", "n_neighbors")]
    rows = zip(summary["n_neighbors"].tolist(), summary[measures].to_dict("records"), strict=True)
    return {k: {str(name): float(value) for name, value in row.items()} for k, row in rows}
