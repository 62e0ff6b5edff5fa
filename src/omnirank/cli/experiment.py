"""``omnirank experiment``: run studies that survive being killed."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omnirank.cli import options
from omnirank.cli.command import Command
from omnirank.cli.options import option
from omnirank.cli.output import console, note, print_csv, say, table
from omnirank.cli.writing import TERMINATED, Terminated, ending_on_sigterm

if TYPE_CHECKING:
    from omnirank.evaluation.experiments.results import StudyResults
    from omnirank.evaluation.experiments.run import RunSummary

_SHOWN = 10
_INTERRUPTED = 130
_SOME_FAILED = 1
_EVERY_S = 30.0
_STEPS = 10

experiment = typer.Typer(
    help="Run studies: data sets x methods x folds x seeds. A killed study continues where it stopped.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@experiment.command("example", cls=Command)
def example() -> None:
    """Print a plan on sample data that runs in under a minute: omnirank experiment example > plan.toml."""
    from omnirank.evaluation.experiments import example_plan

    typer.echo(example_plan(), nl=False)


@experiment.command("run", cls=Command)
def run(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="The plan (.toml).")],
    store: Annotated[Path | None, option("--store FILE", "File of results (default: beside the plan).")] = None,
    retry_failed: Annotated[bool, option("--retry-failed", "Run jobs that failed before again.")] = False,
    jobs: options.Jobs = -1,
) -> None:
    """Run the jobs of a plan that are not done. Exit code 1: some jobs have failed."""
    from omnirank.evaluation.experiments.run import run_plan

    try:
        with ending_on_sigterm(), study_progress(f"running {plan.name}") as advance:
            summary = run_plan(plan, n_jobs=jobs, store=store, retry_failed=retry_failed, progress=advance, note=note)
    except KeyboardInterrupt as stop:
        ended = isinstance(stop, Terminated)
        note(f"{'terminated' if ended else 'interrupted'}: what is recorded stays; run the same command to continue")
        raise typer.Exit(TERMINATED if ended else _INTERRUPTED) from None
    _print_summary(summary)
    if summary.counts.get("failed"):
        raise typer.Exit(_SOME_FAILED)


@contextmanager
def study_progress(description: str) -> Iterator[Callable[[int, int], None]]:
    """Show progress on the error stream, a bar on a terminal and else some lines; yields ``advance(done, total)``."""
    terminal = console(error=True)
    if not terminal.file.isatty():
        yield PlainProgress(description)
        return
    from rich.progress import Progress

    with Progress(*Progress.get_default_columns(), console=terminal, transient=True) as display:
        task = display.add_task(description, total=None)
        yield lambda done, total: display.update(task, completed=done, total=total)


class PlainProgress:
    """Prints a line at the start, at every tenth of the work, and when half a minute has passed.

    Parameters
    ----------
    description : str
        What runs.
    clock : callable
        The time in seconds.
    """

    def __init__(self, description: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._description = description
        self._clock = clock
        self._last: tuple[float, int] | None = None

    def __call__(self, done: int, total: int) -> None:
        """Count what is done."""
        now, step = self._clock(), _STEPS * done // max(total, 1)
        if self._last is not None and step <= self._last[1] and now < self._last[0] + _EVERY_S:
            return
        self._last = now, step
        console(error=True).print(f"{self._description}: {done} of {total} jobs done", markup=False, soft_wrap=True)


@experiment.command("status", cls=Command)
def status(
    path: Annotated[Path, typer.Argument(metavar="STORE", help="A store, a plan, or a folder of stores.")],
    errors: Annotated[bool, option("--errors", "Print the tracebacks of failed jobs too.")] = False,
    csv: options.Csv = False,
) -> None:
    """Show how far studies are, and what failed."""
    from omnirank.evaluation.experiments.results import read_results

    results = read_results(path)
    rows = [(study.name, *row) for study in results for row in _states(study)]
    heading = ("study", "data", "done", "failed", "open")
    if csv:
        print_csv(heading, sorted(rows))
        return
    table([(name, "left" if name in ("study", "data") else "right") for name in heading], rows)
    for study in results:
        _print_failures(study, errors)


def _states(study: "StudyResults") -> list[tuple[str, int, int, int]]:
    """The data sets, with the numbers of jobs that are done, failed and open."""
    rows = []
    for name in study.facts["data"]:
        states = study.jobs.loc[study.jobs["data"] == name, "state"].tolist()
        done, failed = states.count("done"), states.count("failed")
        rows.append((name, done, failed, len(states) - done - failed))
    return rows


def _print_summary(summary: "RunSummary") -> None:
    from omnirank.evaluation.experiments.results import read_results

    counts = summary.counts
    study = read_results(summary.store)[summary.study]
    columns = [("data", "left"), ("done", "right"), ("failed", "right"), ("open", "right")]
    table(columns, _states(study))
    say(
        f"{summary.study}: {counts.get('done', 0)} of {sum(counts.values())} jobs done, {summary.n_new} finished in "
        f"this run, {counts.get('failed', 0)} failed"
    )
    _print_failures(study, tracebacks=False)
    say(f"results: omnirank compare {summary.store}")


def _print_failures(study: "StudyResults", tracebacks: bool) -> None:
    failures = study.failures()
    if failures.empty:
        return
    kinds = failures.groupby(["data", "method", "error"], sort=False).size().reset_index(name="n")
    columns = [("failed", "right"), ("data", "left"), ("method", "left"), ("error", "left")]
    rows = [(row.n, row.data, row.method, row.error) for row in kinds.itertuples()]
    table(columns, rows[:_SHOWN])
    if len(rows) > _SHOWN:
        say(f"... and {len(rows) - _SHOWN} more kinds of failures")
    if tracebacks:
        for row in failures.itertuples():
            say(f"{row.data}, {row.method} {row.choice}, seed {row.seed}, fold {row.fold}", "bold")
            say(str(row.traceback))
    else:
        say("omnirank experiment status --errors shows tracebacks, experiment run --retry-failed runs them again")
