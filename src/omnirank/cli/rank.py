"""``omnirank rank``: rank the features of a file by any registered method."""

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnirank.cli.options import CsvOption, with_data
from omnirank.cli.output import Justify, bar, figures, note, numbers, say, table

if TYPE_CHECKING:
    from omnirank.core.ranking import Ranking
    from omnirank.data.dataset import Dataset

__all__ = ["print_ranking", "rank"]

_SHOWN = 20
_CONSTANTS = {"none": None, "true": True, "false": False}


@with_data
def rank(
    dataset: "Dataset",
    method: Annotated[
        str | None,
        typer.Option("--method", "-m", help="Method (default: genie3); omnirank methods lists them."),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option("--top", "-k", min=1, help="How many features to print (default: 20; with --csv all)."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the whole ranking to this .csv or .json file.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed; the same seed gives the same ranking.")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Number of workers, -1 for all cores.")] = -1,
    parameters: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Parameter of the method; may be repeated."),
    ] = None,
    csv: CsvOption = False,
) -> None:
    """Rank the features of a data set by their relevance for its target."""
    from omnirank.core.parallel import progress_bars
    from omnirank.core.registry import default_method, get_method

    chosen = default_method() if method is None else get_method(method)
    ranker = chosen.make(**{"random_state": seed, "n_jobs": jobs} | _assignments(parameters or []))
    with progress_bars():
        ranking = ranker.fit(dataset).ranking_
    if out is not None:
        ranking.save(out)
    for text in dataset.notes:
        note(text)
    if csv:
        frame = ranking.to_frame().head(len(ranking) if top is None else top)
        figures(list(frame.columns), frame.itertuples(index=False))
        return
    say(f"{dataset.name}: {ranking.task}, {describe_examples(dataset)}, {dataset.n_features} features")
    say(f"{chosen.name}: {chosen.summary}")
    print_ranking(ranking, top or _SHOWN)
    if len(ranking) > (top or _SHOWN):
        say(f"... and {len(ranking) - (top or _SHOWN)} more: --top shows more of them, --out writes all")
    if out is not None:
        say(f"whole ranking written to {out}")


def describe_examples(dataset: "Dataset") -> str:
    """How many examples there are and how many of them are labelled, in words."""
    if dataset.target is None:
        return f"{dataset.n_examples} examples"
    n_labelled = int(dataset.labelled.sum())
    labelled = "all" if n_labelled == dataset.n_examples else str(n_labelled)
    return f"{dataset.n_examples} examples, {labelled} labelled"


def print_ranking(ranking: "Ranking", k: int) -> None:
    """Print the k best features as a table."""
    best = ranking.order[:k]
    scores = ranking.scores[best]
    columns: dict[tuple[str, Justify], list[Any]] = {
        ("rank", "right"): list(range(1, len(best) + 1)),
        ("feature", "left"): [ranking.names[i] for i in best],
        ("score", "right"): numbers(scores),
    }
    if ranking.standard_errors is not None:
        columns["± error", "right"] = numbers(ranking.standard_errors[best])
    columns["", "left"] = [bar(score, scores[0]) for score in scores]
    table(list(columns), list(zip(*columns.values(), strict=True)))


def _assignments(given: list[str]) -> dict[str, Any]:
    """``name=value`` pairs: numbers, none, true, false and Python literals, anything else is text."""
    from omnirank.core.errors import ParameterError

    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ParameterError(f"--set {text}: write NAME=VALUE")
        found[name.strip().replace("-", "_")] = _value(value.strip())
    return found


def _value(text: str) -> Any:
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
