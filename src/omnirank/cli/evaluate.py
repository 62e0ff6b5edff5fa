"""``omnirank evaluate``: how well a ranking helps neighbours to predict."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnirank.cli import options
from omnirank.cli.options import option, refuse
from omnirank.cli.output import data_notes, examples_in_words, heading, note, print_csv, print_frame, say, table
from omnirank.cli.rank import relational_heading
from omnirank.cli.reading import read_data
from omnirank.core.text import counted, numbers

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset
    from omnirank.relational.dataset import RelationalDataset
    from omnirank.shards.dataset import ShardedDataset

# measures by number of neighbours and name
Measured = dict[int, dict[str, float]]

_FOLDS = 10
_RANDOM = 10
_SHOWN_MEASURES = 3
_METHOD = "Instead: method that ranks the training examples (default: unbiased)."


def evaluate(
    ctx: typer.Context,
    ranking: Annotated[Path | None, option("--ranking -r FILE", "The ranking, .json or .csv.")] = None,
    method: Annotated[str | None, option("--method -m NAME", _METHOD)] = None,
    parameters: options.Set = None,
    test: Annotated[Path | None, option("--test FILE", "Test examples; DATA are then the training examples.")] = None,
    folds: Annotated[int | None, option("--folds K", "Folds of a cross-validation (default: 10).", min=2)] = None,
    fold_file: Annotated[
        Path | None, option("--fold-file FILE", "Of several tables: identifiers of the test examples, fold by fold.")
    ] = None,
    neighbors: Annotated[
        list[int] | None, option("--neighbors -n K", "Number of neighbours; repeatable (default: by task).", min=1)
    ] = None,
    top: Annotated[int | None, option("--top -k K", "Keep the K best features only.", min=1)] = None,
    supervision: options.Supervision = None,
    labelled: options.Labelled = None,
    csv: options.Csv = False,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
) -> None:
    """Judge a ranking by how well neighbours predict with it.

    Scores are weights of the features in the distance. Measures of folds are averaged, weighted by the number of test
    examples. For several tables, a relational tree and a forest are cross-validated beside a constant prediction.
    """
    from omnirank.core.errors import ParameterError
    from omnirank.data.dataset import Dataset
    from omnirank.evaluation.evaluate import evaluate_counts
    from omnirank.shards.dataset import ShardedDataset

    if test is not None and folds is not None:
        raise ParameterError("give either --test FILE or --folds K")
    data = read_data(ctx.obj, tables=True, parts=True)
    if not isinstance(data, Dataset | ShardedDataset):
        of_one_table: dict[str, Any] = {"--ranking": ranking, "--method": method, "--test": test, "--top": top}
        of_one_table |= {"--neighbors": neighbors, "--supervision": supervision, "--labelled": labelled}
        refuse(of_one_table, "is for one table: leave it out for several")
        _evaluate_relational(data, options.assignments(parameters), fold_file or folds or _FOLDS, seed, jobs, csv)
        return
    refuse({"--fold-file": fold_file}, "is for several tables")
    if ranking is not None and method is not None:
        raise ParameterError("give either --ranking FILE or --method NAME")
    if ranking is None:
        settings = {"random_state": seed, "n_jobs": jobs, "supervision": supervision}
        judged: Any = options.ranker_of(data.task, method, parameters, **settings)[1]
    else:
        refuse({"--set": parameters, "--supervision": supervision}, "is for --method: a ranking is complete")
        judged = _ranking(ranking, is_test=test is not None)
    scheme: dict[str, Any] = {}
    test_data = None if test is None else read_data(ctx.obj.like(test), parts=True)
    note(*data_notes(data))
    judging = {"n_neighbors": evaluate_counts(neighbors or None, data.task), "top": top, "n_jobs": jobs}
    if isinstance(data, ShardedDataset):
        in_memory = {"--folds": folds, "--labelled": labelled, "--method without --test": not test and ranking is None}
        reason = "needs all examples in memory: rank the training examples (omnirank rank), then give --ranking"
        refuse(in_memory, f"{reason} and --test")
        judging["random_state"] = seed
    elif test_data is not None:
        data = options.with_few_labels(data, labelled, seed)
    else:
        scheme = _scheme(data, folds or _FOLDS, seed, labelled)
    _evaluate_table(data, judged, test_data, scheme, judging, csv)


def _ranking(path: Path, is_test: bool) -> Any:
    from omnirank.core.ranking.ranking import Ranking

    if not is_test:
        note(
            "if the ranking was made from these data, the results are optimistic: the ranking has seen the test "
            "examples. Use --test, or --method instead of --ranking"
        )
    return Ranking.load(path)


# -- one table ------------------------------------------------------------------------------------------------


def _evaluate_table(
    data: Any, judged: Any, test: Any, scheme: dict[str, Any], judging: dict[str, Any], csv: bool
) -> None:
    """Print measures on test examples, or over the folds of a scheme, beside those without a ranking.

    Of data in parts without either, some examples are held out.
    """
    measure = partial(_measured, train=data, test=test, scheme=scheme)
    measured = measure(judged, judging)
    baseline, name = _baseline(data, scheme.get("random_state", 0), judging, measure)
    examples, how = examples_in_words(data), "some examples held out"
    if hasattr(data, "n_shards"):
        examples = f"{counted(data.n_examples, 'example')} in {counted(data.n_shards, 'file')}"
    if "labelled" in scheme:
        examples += f" (in each training part {scheme['labelled']})"
    if test or scheme:
        how = counted(test.n_examples, "test example") if test else f"{scheme['n_folds']}-fold cross-validation"
    _print(measured, baseline, name, f"{heading(data, examples)}, {how}", csv)


def _scheme(data: "Dataset", n_folds: int, seed: int | None, labelled: str | None) -> dict[str, Any]:
    """The folds of a cross-validation; where labels are hidden, each training part keeps that number or share."""
    from omnirank.core.errors import ParameterError
    from omnirank.core.parameters import check, count, share

    usual = {"n_folds": n_folds, "random_state": seed}
    if labelled is None:
        return usual | {"scheme": "cross-validation"}
    if data.target is None:
        raise ParameterError("--labelled keeps some labels, but there is no target: name it with --target")
    most = int(data.labelled.sum()) * (n_folds - 1) // n_folds
    amount = check("labelled", options.value_of(labelled), count(1, most, "labels in a training part") | share(above=0))
    kept = amount if isinstance(amount, int) else max(1, round(amount * most))
    return usual | {"scheme": "semi-supervised", "labelled": kept}


def _baseline(
    train: "Dataset | ShardedDataset", seed: int, judging: dict[str, Any], measure: Callable[..., Measured]
) -> tuple[Measured, str]:
    """Measures without a ranking, and what that is called: equal weights, or without target random rankings."""
    import numpy as np

    from omnirank.core.seeds import stream

    if train.n_targets:
        return measure(np.ones(train.n_features), judging | {"top": None}), "equal weights"
    draws = [measure(stream(seed, i).random(train.n_features), judging) for i in range(_RANDOM)]
    means = {k: {name: float(np.mean([draw[k][name] for draw in draws])) for name in draws[0][k]} for k in draws[0]}
    return means, "random rankings"


def _measured(judged: Any, judging: dict[str, Any], train: Any, test: Any, scheme: dict[str, Any]) -> Measured:
    from omnirank.evaluation.cross import evaluate_folds
    from omnirank.evaluation.evaluate import evaluate
    from omnirank.evaluation.folds import make_folds

    if not scheme:
        return dict(evaluate(judged.fit(train) if hasattr(judged, "fit") else judged, train, test, **judging))
    summary = evaluate_folds(judged, train, make_folds(train, **scheme), **judging).summary
    measures = [name for name in summary.columns if name not in ("n_labelled", "n_folds", "n_neighbors")]
    rows = zip(summary["n_neighbors"].tolist(), summary[measures].to_dict("records"), strict=True)
    return {k: {str(name): float(value) for name, value in row.items()} for k, row in rows}


# -- several tables -------------------------------------------------------------------------------------------


def _evaluate_relational(
    data: "RelationalDataset", parameters: dict[str, Any], folds: int | Path, seed: int, jobs: int, csv: bool
) -> None:
    """Cross-validate a tree and a forest beside a constant prediction."""
    from omnirank.cli.tree import relational_tree
    from omnirank.evaluation.cross import evaluate_relational
    from omnirank.measures import MEASURES
    from omnirank.relational import RelationalForest

    of_tree = {name: value for name, value in parameters.items() if name not in ("n_trees", "ensemble")}
    models = {
        "tree": options.with_parameters(relational_tree(data, random_state=seed), of_tree),
        "forest": options.with_parameters(RelationalForest(random_state=seed, n_jobs=jobs), parameters),
    }
    note(*data.notes)
    given: dict[str, Any] = {"folds": folds} if isinstance(folds, Path) else {"n_folds": folds}
    results = evaluate_relational(models, data, **given, random_state=seed).summary
    if csv:
        print_frame(results)
        return
    say(
        f"{relational_heading(data)}, {f'folds of {folds}' if given.get('folds') else f'{folds}-fold cross-validation'}"
    )
    names = list(dict.fromkeys(results["measure"]))[:_SHOWN_MEASURES]
    rows = []
    for name in dict.fromkeys(results["model"]):
        own = results[results["model"] == name].set_index("measure").loc[names]
        cells = zip(numbers(own["value"]), numbers(own["standard_error"]), strict=True)
        rows.append([name, *(f"{value} ± {error}" for value, error in cells)])
    table([("model", "left"), *((MEASURES[name].title, "right") for name in names)], rows)
    say("--csv has all measures")


# -- output ---------------------------------------------------------------------------------------------------


def _print(measured: Measured, baseline: Measured, name: str, title: str, csv: bool) -> None:
    """Print the measures of a ranking beside those without one."""
    if csv:
        names = sorted(next(iter(measured.values())))
        rows = [(own, k, measured[k][own], baseline[k][own]) for own in names for k in sorted(measured)]
        print_csv(["measure", "n_neighbors", "ranking", name.replace(" ", "_")], rows)
        return
    from omnirank.measures import MEASURES

    say(title)
    columns: list[tuple[str, str]] = [("measure", "left"), ("better", "left")]
    for k in measured:
        columns += [(f"ranking, {counted(k, 'neighbour')}", "right"), (name, "right")]
    shown = []
    for measure in next(iter(measured.values())):
        cells = [f"{values[k][measure]:.4g}" for k in measured for values in (measured, baseline)]
        way = "larger" if MEASURES[measure].larger_is_better else "smaller"
        shown.append([MEASURES[measure].title, way, *cells])
    table(columns, shown)
