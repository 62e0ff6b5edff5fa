"""``omnirank experiment``: run studies that survive being killed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omnirank.cli.ending import TERMINATED, Terminated, ending_on_sigterm
from omnirank.cli.option_names import Command
from omnirank.cli.options import CsvOption
from omnirank.cli.output import figures, note, say, table
from omnirank.cli.progress import study_progress

if TYPE_CHECKING:
    from omnirank.evaluation.experiments.results import StudyResults
    from omnirank.evaluation.experiments.run import RunSummary

_SHOWN = 10
_INTERRUPTED = 130
_SOME_FAILED = 1

experiment = typer.Typer(
    help="Run studies: data sets x methods x folds x seeds, from a plan; killed, they continue where they stopped.",
    no_args_is_help=True,
)


PlanArgument = Annotated[Path, typer.Argument(metavar="PLAN", help="The plan (.toml).", show_default=False)]


@experiment.command("example", cls=Command)
def example() -> None:
    """Print a plan on sample data that runs in under a minute: omnirank experiment example > plan.toml."""
    from omnirank.evaluation.experiments import example_plan

    typer.echo(example_plan(), nl=False)


@experiment.command("run", cls=Command)
def run(
    plan: PlanArgument,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Number of worker processes, -1 for all cores.")] = -1,
    store: Annotated[
        Path | None, typer.Option("--store", help="Where results go (default: beside the plan, .sqlite).")
    ] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run jobs that failed before again.")] = False,
    memory: Annotated[
        str | None, typer.Option("--memory", metavar="SIZE", help="Most memory of a worker, such as 4G.")
    ] = None,
    backend: Annotated[str, typer.Option("--backend", help="Where jobs run: processes or dask.")] = "processes",
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", metavar="ADDRESS", help="Dask cluster (default: one on this machine)."),
    ] = None,
) -> None:
    """Run the jobs of a plan that are not done. Exit code 1: some jobs have failed."""
    from omnirank.core.text import memory_amount
    from omnirank.evaluation.experiments.run import Listeners, run_plan

    try:
        with ending_on_sigterm(), study_progress(f"running {plan.name}") as advance:
            summary = run_plan(
                plan,
                n_jobs=jobs,
                store=store,
                backend=backend,
                scheduler=scheduler,
                retry_failed=retry_failed,
                memory_limit=None if memory is None else memory_amount(memory),
                listeners=Listeners(advance, note),
            )
    except KeyboardInterrupt as stop:
        ended = isinstance(stop, Terminated)
        note(f"{'terminated' if ended else 'interrupted'}: what is recorded stays; run the same command to continue")
        raise typer.Exit(TERMINATED if ended else _INTERRUPTED) from None
    _print_summary(summary)
    if summary.counts.get("failed") or summary.problems:
        raise typer.Exit(_SOME_FAILED)


@experiment.command("status", cls=Command)
def status(
    path: Annotated[
        Path, typer.Argument(metavar="STORE", help="A store, a plan, or a folder of stores.", show_default=False)
    ],
    errors: Annotated[bool, typer.Option("--errors", help="The tracebacks of failed jobs too.")] = False,
    csv: CsvOption = False,
) -> None:
    """Show how far studies are, and what failed."""
    from omnirank.evaluation.experiments.results import read_results

    results = read_results(path)
    rows = [(study.name, *row) for study in results for row in _states(study)]
    heading = ("study", "data", "done", "failed", "open")
    if csv:
        figures(heading, sorted(rows))
        return
    table([(name, "left" if name in ("study", "data") else "right") for name in heading], rows)
    for study in results:
        _print_failures(study, errors)


def _states(study: "StudyResults") -> list[tuple[str, int, int, int]]:
    found = []
    for name in study.facts["data"]:
        states = study.jobs.loc[study.jobs["data"] == name, "state"]
        done, failed = int((states == "done").sum()), int((states == "failed").sum())
        found.append((name, done, failed, len(states) - done - failed))
    return found


def _print_summary(summary: "RunSummary") -> None:
    from omnirank.evaluation.experiments.results import read_results

    counts = summary.counts
    study = read_results(summary.store)[summary.study]
    columns = [("data", "left"), ("done", "right"), ("failed", "right"), ("open", "right")]
    table(columns, _states(study))  # type: ignore[arg-type]
    say(
        f"{summary.study}: {counts.get('done', 0)} of {sum(counts.values())} jobs done, {summary.n_new} finished in "
        f"this run, {counts.get('failed', 0)} failed"
    )
    _print_failures(study, tracebacks=False)
    for text in summary.problems:
        note(text)
    say(f"results: omnirank compare {summary.store}")


def _print_failures(study: "StudyResults", tracebacks: bool) -> None:
    failures = study.failures()
    if failures.empty:
        return
    kinds = failures.groupby(["data", "method", "error"], sort=False).size().reset_index(name="n")
    columns = [("failed", "right"), ("data", "left"), ("method", "left"), ("error", "left")]
    rows = [(row.n, row.data, row.method, row.error) for row in kinds.itertuples()]
    table(columns, rows[:_SHOWN])  # type: ignore[arg-type]
    if len(rows) > _SHOWN:
        say(f"... and {len(rows) - _SHOWN} more kinds of failures")
    if tracebacks:
        for row in failures.itertuples():
            say(f"{row.data}, {row.method} {row.choice}, seed {row.seed}, fold {row.fold}", "bold")
            say(str(row.traceback))
    else:
        say("omnirank experiment status --errors shows tracebacks, experiment run --retry-failed runs them again")
