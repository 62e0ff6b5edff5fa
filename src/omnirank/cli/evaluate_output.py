"""What ``omnirank evaluate`` prints: measures of a ranking beside those without one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from omnirank.cli.output import Justify, figures, note, say, table
from omnirank.core.text import counted

# measures by number of neighbours and name
Measured = dict[int, dict[str, float]]


def tell(notes: Sequence[str]) -> None:
    """Print what the user should know about the data."""
    for text in notes:
        note(text)


def describe(data: Any, examples: str) -> str:
    """Say what was judged: name, task, examples and features."""
    return f"{data.name}: {data.task}, {examples}, {counted(data.n_features, 'feature')}"


def print_measures(measured: Measured, blind: Measured, known_as: str, heading: str | None) -> None:
    """Print the measures below a heading, or as CSV without one; of a sample of test examples with standard errors."""
    if heading is None:
        _print_csv(measured, blind, known_as)
    else:
        say(heading)
        _print_table(measured, blind, known_as)


def _print_csv(measured: Measured, blind: Measured, known_as: str) -> None:
    names = sorted(next(iter(measured.values())))
    columns = ["measure", "n_neighbors", "ranking", known_as.replace(" ", "_")]
    errors = {k: _errors(values) for k, values in measured.items()}
    rows: list[tuple[str | int | float, ...]] = []
    for name in names:
        for k in sorted(measured):
            of_sample = errors[k]
            known = () if of_sample is None else (of_sample[name],)
            rows.append((name, k, measured[k][name], blind[k][name], *known))
    figures(columns if None in errors.values() else [*columns, "standard_error"], rows)


def _print_table(measured: Measured, blind: Measured, known_as: str) -> None:
    from omnirank.measures import MEASURES

    columns: list[tuple[str, Justify]] = [("measure", "left"), ("better", "left")]
    for k in measured:
        neighbours = f"{k} neighbour{'s' if k > 1 else ''}"
        columns += [(f"ranking, {neighbours}", "right"), (known_as, "right")]
    rows = []
    for name in next(iter(measured.values())):
        cells = [_shown(values[k], name) for k in measured for values in (measured, blind)]
        rows.append([MEASURES[name].title, "larger" if MEASURES[name].larger_is_better else "smaller", *cells])
    table(columns, rows)


def _errors(values: dict[str, float]) -> dict[str, float] | None:
    found: dict[str, float] | None = getattr(values, "standard_errors", None)
    return found


def _shown(values: dict[str, float], name: str) -> str:
    errors = _errors(values)
    return f"{values[name]:.4g}" + ("" if errors is None else f" ± {errors[name]:.1g}")
