"""``omnirank rank``: rank the features of a file by any registered method."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnirank.cli.data_notes import data_notes
from omnirank.cli.files import RankingFiles
from omnirank.cli.options import (
    CsvOption,
    JobsOption,
    LabelledOption,
    SetOption,
    SupervisionOption,
    assignments,
    supervision_of,
    value_of,
    with_data,
    with_few_labels,
)
from omnirank.cli.output import Justify, bar, figures, note, say, table
from omnirank.cli.redundancy import (
    AssociationOption,
    RedundancyOption,
    print_redundancy,
    redundancy_of,
    with_representatives,
)
from omnirank.cli.relational_options import load_any
from omnirank.cli.shard_options import reading_shards
from omnirank.core.text import counted, numbers, supervision_lines

if TYPE_CHECKING:
    from omnirank.core.ranking.certainty import Certainty
    from omnirank.core.ranking.ranking import Ranking
    from omnirank.data.dataset import Dataset
    from omnirank.relational.dataset import RelationalDataset
    from omnirank.shards.dataset import ShardedDataset

_SHOWN = 20
_SHOWN_TARGETS = 20
_YES = {True: "yes", False: "no"}
_TREES = "Ensembles of trees"
_FILES = "Reports and pictures"


def _tree_option(name: str, text: str, metavar: str | None = None) -> Any:
    return typer.Option(name, help=text, metavar=metavar, show_default=False, rich_help_panel=_TREES)


MethodOption = Annotated[
    str | None,
    typer.Option("--method", "-m", help="Method (default: unbiased); omnirank methods lists them."),
]
TopOption = Annotated[
    int | None,
    typer.Option("--top", "-k", min=1, help="How many features to print (default: 20; with --csv all)."),
]
OutOption = Annotated[
    Path | None, typer.Option("--out", "-o", help="Write the whole ranking to this .csv or .json file.")
]
EnsembleOption = Annotated[
    str | None, _tree_option("--ensemble", "extra-trees, random-forest or bagging (default: extra-trees).")
]
TreesOption = Annotated[
    str | None,
    _tree_option("--trees", "Number of trees, or auto: until the ranking has converged (default: 100).", metavar="N"),
]
SecondsOption = Annotated[
    float | None,
    _tree_option("--max-seconds", "Grow trees for so long at most (default: until all are grown).", metavar="S"),
]
MaxFeaturesOption = Annotated[
    str | None,
    _tree_option(
        "--max-features",
        "Features drawn in a node: a count, a share (0.5), sqrt, log2 or all (default: by ensemble).",
        metavar="N",
    ),
]
MinLeafOption = Annotated[
    float | None, _tree_option("--min-leaf", "Least number of examples in a leaf (default: 2).", metavar="N")
]
PerTargetOption = Annotated[
    bool,
    typer.Option("--per-target", help="Scores for each single target too.", rich_help_panel=_TREES),
]
ReportOption = Annotated[
    Path | None,
    typer.Option(
        "--report",
        help="Write a report for people to this .html file (with about seven times the work of the ranking).",
        rich_help_panel=_FILES,
    ),
]
PlotOption = Annotated[
    Path | None,
    typer.Option("--plot", help="Draw the best features: a .png, .svg or .pdf file.", rich_help_panel=_FILES),
]
SignificanceOption = Annotated[
    bool,
    typer.Option(
        "--significance",
        help="P values, and how many features are relevant: the unbiased method's own, for others by permuted copies "
        "(25 more fits).",
    ),
]


ByOption = Annotated[
    str | None,
    typer.Option(
        "--by",
        help="What is ranked: relation, column, link, table, aggregate or feature (default: relation).",
        rich_help_panel="Several tables",
        show_default=False,
    ),
]


def _rank(
    dataset: "Dataset | RelationalDataset | ShardedDataset",
    method: MethodOption = None,
    top: TopOption = None,
    out: OutOption = None,
    report: ReportOption = None,
    plot: PlotOption = None,
    seed: Annotated[int | None, typer.Option(help="Seed; the same seed gives the same ranking.")] = 0,
    jobs: JobsOption = -1,
    ensemble: EnsembleOption = None,
    trees: TreesOption = None,
    max_seconds: SecondsOption = None,
    max_features: MaxFeaturesOption = None,
    min_leaf: MinLeafOption = None,
    per_target: PerTargetOption = False,
    significance: SignificanceOption = False,
    supervision: SupervisionOption = None,
    labelled: LabelledOption = None,
    parameters: SetOption = None,
    redundancy: RedundancyOption = False,
    association: AssociationOption = 0.9,
    by: ByOption = None,
    csv: CsvOption = False,
) -> None:
    """Rank the features of a data set, or the relations of a database, by their relevance for its target."""
    from omnirank.core.errors import ParameterError
    from omnirank.core.registry import default_method, get_method
    from omnirank.data.dataset import Dataset
    from omnirank.shards.dataset import ShardedDataset

    files = RankingFiles(out, report, plot)
    files.check()
    given = {"ensemble": ensemble, "n_trees": trees, "max_features": max_features, "min_samples_leaf": min_leaf}
    given |= {"max_seconds": max_seconds, "per_target": per_target or None, "supervision": supervision, "by": by}
    settings = {"random_state": seed, "n_jobs": jobs} | _as_parameters(given) | assignments(parameters)
    if not isinstance(dataset, Dataset | ShardedDataset):
        from omnirank.cli import relational_models

        unfit: dict[str, Any] = {"--per-target": per_target, "--supervision": supervision, "--labelled": labelled}
        unfit |= {"--significance": significance, "--redundancy": redundancy}
        relational_models.refuse(unfit)
        relational_models.rank(dataset, method, settings, top, files, csv)
        return
    needs_all = {"--labelled": labelled, "--redundancy": redundancy}
    _check_one_table(dataset, by, needs_all)
    data: Any = with_few_labels(dataset, labelled, seed)
    chosen = default_method(data.task) if method is None else get_method(method)
    ranker, ranking, seconds = _ranked(chosen.make(**settings), data, significance)
    if per_target and ranking.per_target is None:
        raise ParameterError(f"scores of method {chosen.name!r} cannot be split by target: leave out --per-target")
    files.write(ranking, data, ranker, seconds, top or _SHOWN)
    _tell_notes(data, ranker, ranking)
    groups = redundancy_of(redundancy, ranking, data, association, jobs)
    if csv:
        print_csv(with_representatives(_frame(ranking), groups), top)
        return
    _print_heading(data, ranking, chosen)
    _print_best(ranking, top or _SHOWN, getattr(ranker, "certainty_", None))
    print_redundancy(groups, top or _SHOWN)
    files.tell()


rank = with_data(_rank, reading_shards(load_any))


def _check_one_table(dataset: "Dataset | ShardedDataset", by: str | None, needs_all: dict[str, Any]) -> None:
    """Refuse what is for several tables, and options that need all examples where these do not fit in memory."""
    from omnirank.core.errors import ParameterError
    from omnirank.shards.dataset import ShardedDataset

    if by is not None:
        raise ParameterError("--by is for several tables: leave it out for one")
    for name, value in needs_all.items():
        if value and isinstance(dataset, ShardedDataset):
            raise ParameterError(f"{name} needs all examples in memory: leave it out, or give more --memory")


def _ranked(ranker: Any, dataset: Any, significance: bool) -> "tuple[Any, Ranking, float]":
    """The fitted ranker, its ranking, with p values if wanted, and its seconds."""
    from omnirank.core.parallel import progress_bars

    start = time.perf_counter()
    with progress_bars():
        ranker, ranking = tested(ranker, dataset) if significance else (ranker, ranker.fit(dataset).ranking_)
    return ranker, ranking, time.perf_counter() - start


def _as_parameters(given: dict[str, Any]) -> dict[str, Any]:
    """What was given, without what was not, with the values that texts stand for."""
    read = {"n_trees": value_of, "max_features": value_of, "supervision": supervision_of}
    return {name: read.get(name, lambda x: x)(value) for name, value in given.items() if value is not None}


def print_csv(frame: Any, top: int | None) -> None:
    """Print the first rows of a ranking as CSV, or all of them."""
    shown = frame if top is None else frame.head(top)
    figures(list(shown.columns), shown.itertuples(index=False))


def _tell_notes(dataset: "Dataset | ShardedDataset", ranker: Any, ranking: "Ranking") -> None:
    if dataset.n_targets and not n_labelled_of(dataset):
        note("no example has a label: features are ranked without target")
    for text in (*data_notes(dataset), *supervision_lines(ranker)):
        note(text)
    if len(ranking) > 1 and ranking.scores.min() == ranking.scores.max():
        note(f"all scores are equal ({ranking.scores[0]:.4g}): the order is that of the data and tells nothing")


def tested(ranker: Any, dataset: "Dataset | ShardedDataset") -> "tuple[Any, Ranking]":
    """The ranking with p values, and the ranker: fitted where its own fit gives them, so that it can say more."""
    from omnirank.evaluation.significance import significance

    own = ranker.with_p_values() if hasattr(ranker, "with_p_values") else None
    return (ranker, significance(ranker, dataset)) if own is None else (own, own.fit(dataset).ranking_)


def n_labelled_of(dataset: "Dataset | ShardedDataset") -> int:
    """Return how many examples are labelled."""
    found = getattr(dataset, "n_labelled", None)  # data in parts have counted them
    return int(dataset.labelled.sum()) if found is None else int(found)  # type: ignore[union-attr]


def describe_examples(dataset: "Dataset | ShardedDataset") -> str:
    """How many examples there are and how many of them are labelled, in words."""
    if not dataset.n_targets:
        return counted(dataset.n_examples, "example")
    n_labelled = n_labelled_of(dataset)
    labelled = "all" if n_labelled == dataset.n_examples else str(n_labelled)
    return f"{counted(dataset.n_examples, 'example')}, {labelled} labelled"


def _print_heading(data: Any, ranking: "Ranking", method: Any) -> None:
    """Print what was ranked, and by what."""
    say(f"{data.name}: {ranking.task}, {describe_examples(data)}, {counted(data.n_features, 'feature')}")
    say(f"{method.name}: {method.summary}")


def _print_best(ranking: "Ranking", k: int, certainty: "Certainty | None" = None) -> None:
    """Print the k best features, in all and by target, how many others there are, and how sure that is."""
    print_ranking(ranking, k)
    if len(ranking) > k:
        say(f"... and {len(ranking) - k} more: --top shows more of them, --out writes all")
    if certainty is not None:
        say(certainty.summary)
    if ranking.p_values is not None:
        say(relevance_line(ranking))
        say(p_value_words(ranking))
    print_targets(ranking)


def relevance_line(ranking: "Ranking") -> str:
    """How many features are relevant, in words.

    Examples
    --------
    >>> from omnirank.cli.rank import relevance_line
    >>> from omnirank.core.ranking.ranking import Ranking
    >>> relevance_line(Ranking(["a", "b"], [1.0, 0.0], "unbiased", p_values=[0.001, 0.5], p_value_test="my test"))
    '1 of 2 features is relevant at alpha = 0.05 (my test, Benjamini-Hochberg)'
    """
    from omnirank.core.multiplicity import ALPHA, CORRECTIONS

    test = "" if ranking.p_value_test is None else f"{ranking.p_value_test}, "
    n = len(ranking.relevant())
    verb = "is" if n == 1 else "are"
    return f"{n} of {counted(len(ranking), 'feature')} {verb} relevant at alpha = {ALPHA} ({test}{CORRECTIONS['fdr']})"


def p_value_words(ranking: "Ranking") -> str:
    """What the columns of p values are, in words."""
    from omnirank.core.multiplicity import ALPHA, CORRECTIONS

    return (
        f"p_value: raw, of the single feature; p_adjusted: corrected for {counted(len(ranking), 'feature')} "
        f"({CORRECTIONS['fdr']}); relevant: p_adjusted <= {ALPHA}"
    )


def print_ranking(ranking: "Ranking", k: int) -> None:
    """Print the k best features as a table."""
    from omnirank.core.multiplicity import p_value_columns

    best = ranking.order[:k]
    scores = ranking.scores[best]
    errors = ranking.standard_errors
    columns: dict[tuple[str, Justify], list[Any]] = {
        ("rank", "right"): list(range(1, len(best) + 1)),
        ("feature", "left"): [ranking.names[i] for i in best],
        ("score", "right"): numbers(scores, beside=() if errors is None else errors[best]),
    }
    if errors is not None:
        columns["± error", "right"] = numbers(errors[best], beside=scores)
    for name, values in p_value_columns(ranking.p_values).items():
        shown = [_p_value(p) for p in values[best]] if name != "relevant" else [_YES[bool(one)] for one in values[best]]
        columns[name, "left" if name == "relevant" else "right"] = shown
    if ranking.p_values is None:  # no room for both on a terminal
        columns["", "left"] = [bar(score, scores[0]) for score in scores]
    table(list(columns), list(zip(*columns.values(), strict=True)))


def _p_value(p: float) -> str:
    return f"{p:.4f}" if p >= 0.0001 else "<0.0001"


def print_targets(ranking: "Ranking", k: int = 5) -> None:
    """Print the k best features for each target, of the first targets."""
    if ranking.per_target is None:
        return
    targets = ranking.per_target.names
    shown = targets[:_SHOWN_TARGETS]
    best = [", ".join(ranking.for_target(target).top(k)) for target in shown]
    table([("target", "left"), ("best features", "left")], list(zip(shown, best, strict=True)))
    if len(targets) > len(shown):
        say(f"... and {len(targets) - len(shown)} more targets: --csv and --out hold all")


def _frame(ranking: "Ranking") -> Any:
    """The table of a ranking, with a column of scores for each target where there are any."""
    frame = ranking.to_frame()
    if ranking.per_target is None:
        return frame
    names = [f"score: {target}" for target in ranking.per_target.names]
    scores = ranking.per_target.scores[:, ranking.order].T
    return frame.join(type(frame)(scores, columns=names))
