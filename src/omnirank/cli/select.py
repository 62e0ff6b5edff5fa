"""``omnirank select``: how many features suffice; ``omnirank stability``: how sure a ranking is."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnirank.cli import options
from omnirank.cli.options import option
from omnirank.cli.output import bar, data_notes, frame_csv, heading, note, print_csv, print_frame, say, shortened, table
from omnirank.cli.rank import relational_heading, relational_method
from omnirank.cli.reading import read_data, with_keys
from omnirank.cli.writing import DATA_FILES, check_ending, write_data, write_text
from omnirank.core.text import numbers, top_of

if TYPE_CHECKING:
    from omnirank.evaluation.selection import Selection, SelectionCurve
    from omnirank.evaluation.stability import Stability

_NAMED = 50
_BY = "How the number is chosen: by the predictions of neighbors or a forest, or by significance (default: neighbors)."
_REDUNDANCY = "Of features with at least this association (0.9, say), keep only the best one."
_RESAMPLE = "subsample (default), or bootstrap (examples drawn twice distort Relief)."
_SHOWN, _SHOWN_SIZES = 20, 5
_INDICES = {"top_k": "{top} (Kuncheva; 0 is chance)", "spearman": "all ranks (Spearman)"}
_OUT = "Write keys, kept features and target (.csv, .arff or .parquet)."


def select(
    ctx: typer.Context,
    method: options.Method = None,
    by: Annotated[str, option("--by KIND", _BY)] = "neighbors",
    redundancy: Annotated[float | None, option("--redundancy R", _REDUNDANCY)] = None,
    measure: Annotated[str | None, option("--measure NAME", "Measure of the predictions (default: by task).")] = None,
    folds: Annotated[
        int | None, option("--folds K", "Number of folds (default: 10, fewer for few labels).", min=2)
    ] = None,
    alpha: Annotated[float, option("--alpha P", "Level of significance (default: 0.05).")] = 0.05,
    trees: options.Trees = None,
    parameters: options.Set = None,
    supervision: options.Supervision = None,
    labelled: options.Labelled = None,
    out: Annotated[Path | None, option("--out -o FILE", _OUT)] = None,
    csv: options.Csv = False,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
) -> None:
    """Keep as few of the best features as predict well.

    Chosen is the smallest number of top features that predicts as well as the best number, within one standard error.
    The features are ranked anew in every fold, without the test examples. Of several tables, relations are kept.
    """
    from omnirank.data.dataset import Dataset
    from omnirank.evaluation.selection import select as select_features

    check_ending(out, DATA_FILES)
    whole = read_data(ctx.obj, tables=True, writes=(out,))
    relational = not isinstance(whole, Dataset)
    if relational:
        of_one_table = {"--redundancy": redundancy is not None, "--labelled": labelled, "--out": out}
        options.refuse(of_one_table, "is for one table: leave it out for several")
        method = relational_method(method)
    data = options.with_few_labels(whole, labelled, seed)
    settings = {"random_state": seed, "n_jobs": jobs, "supervision": supervision, "n_trees": trees}
    chosen, ranker = options.ranker_of(data.task, method, parameters, **settings)
    judging: dict[str, Any] = {"by": by, "measure": measure, "n_folds": folds, "alpha": alpha}
    judging["redundancy"] = redundancy
    result = select_features(ranker, data, **judging, random_state=seed, n_jobs=jobs)
    note(*data_notes(data))
    if out is not None and result.names:
        write_data(with_keys(result.apply(whole), ctx.obj), out)
    elif out is not None:
        note(f"no feature is kept: {out} is not written")
    if csv:
        _print_csv(result)
        return
    say(relational_heading(data) if relational else heading(data))
    if result.curve is not None:
        _print_curve(result.curve)
    say(f"{chosen.name}: {result.summary}")
    say(f"kept: {shortened(result.names, _NAMED)}" if result.names else "no feature is kept")
    for name, others in result.stands_for.items():
        say(f"  {name} stands also for: {shortened(others, _NAMED)}")
    if out is not None and result.names:
        say(f"data with the kept features written to {out}")


def _print_curve(curve: "SelectionCurve") -> None:
    """Print performance by number of features; the best and the chosen number are marked."""
    from omnirank.measures import MEASURES

    frame = curve.to_frame()
    way = "larger" if curve.larger_is_better else "smaller"
    say(f"{MEASURES[curve.measure].title} of the top features, {way} is better")
    marks = [
        ", ".join(word for word, is_marked in (("best", best), ("chosen", chosen)) if is_marked)
        for best, chosen in zip(frame["best"], frame["chosen"], strict=True)
    ]
    means, errors = frame["mean"], frame["standard_error"]
    bars = [bar(mean, float(means.max())) for mean in means]
    cells = (frame["size"], numbers(means, beside=errors), numbers(errors, beside=means), bars, marks)
    columns: list[tuple[str, str]] = [("top features", "right"), ("mean", "right"), ("± error", "right")]
    table([*columns, ("", "left"), ("", "left")], list(zip(*cells, strict=True)))


def _print_csv(result: "Selection") -> None:
    if result.curve is None:
        print_csv(["feature"], [[name] for name in result.names])
        return
    print_frame(result.curve.to_frame().astype({"best": int, "chosen": int}))


# -- stability ------------------------------------------------------------------------------------------------


def stability(
    ctx: typer.Context,
    method: options.Method = None,
    resamples: Annotated[int, option("--resamples N", "Number of resamples (default: 50).")] = 50,
    resample: Annotated[str, option("--resample KIND", _RESAMPLE)] = "subsample",
    share: Annotated[float, option("--share P", "Share of the examples in a subsample (default: 0.5).")] = 0.5,
    level: Annotated[float, option("--level P", "Level of the intervals (default: 0.9).")] = 0.9,
    top: options.Top = None,
    trees: options.Trees = None,
    parameters: options.Set = None,
    supervision: options.Supervision = None,
    labelled: options.Labelled = None,
    out: Annotated[Path | None, option("--out -o FILE", "Write the whole table (.csv).")] = None,
    csv: options.Csv = False,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
) -> None:
    """Show how sure a ranking is, by ranking resamples.

    Printed are intervals of ranks, and how often a feature is among the top 1, 2, 4, 8 and 16. --out writes more sizes.
    """
    from omnirank.evaluation.stability import stability as rank_resamples

    check_ending(out, (".csv",))
    data = options.with_few_labels(read_data(ctx.obj, writes=(out,)), labelled, seed)
    settings = {"random_state": seed, "n_jobs": jobs, "supervision": supervision, "n_trees": trees}
    chosen, ranker = options.ranker_of(data.task, method, parameters, **settings)
    drawn: dict[str, Any] = {"n_resamples": resamples, "resample": resample, "share": share, "level": level}
    result = rank_resamples(ranker.fit(data), data, **drawn, random_state=seed, n_jobs=jobs)
    note(*data_notes(data))
    frame = result.to_frame()
    if out is not None:
        write_text(frame_csv(frame.set_index("rank")), out)
    if csv:
        print_frame(frame, top)
        return
    say(heading(data))
    _print_ranks(result, top or _SHOWN)
    say(f"{chosen.name}: {result.summary}")
    if out is not None:
        say(f"whole table written to {out}")


def _print_ranks(result: "Stability", n_shown: int) -> None:
    frame = result.to_frame().head(n_shown)
    sizes = [column for column in frame.columns if column.startswith("top_")][:_SHOWN_SIZES]
    columns: list[tuple[str, str]] = [("rank", "right"), ("feature", "left"), ("interval", "right")]
    columns += [(column.replace("_", " "), "right") for column in sizes]
    intervals = [f"{a} to {b}" for a, b in zip(frame["lower"], frame["upper"], strict=True)]
    shares = [[f"{value:.2f}" for value in frame[column]] for column in sizes]
    table(columns, list(zip(frame["rank"], frame["feature"], intervals, *shares, strict=True)))
    for key, text in _INDICES.items():
        index, what = result.indices[key], text.format(top=top_of(result.k))
        say(f"stability of {what}: {index.value:.3f} ({index.lower:.3f} to {index.upper:.3f})")
