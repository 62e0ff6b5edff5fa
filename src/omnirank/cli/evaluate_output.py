"""What ``omnirank evaluate`` prints: measures of a ranking beside those without one."""

from __future__ import annotations

from omnirank.cli.output import Justify, figures, table

# measures by number of neighbours and name
Measured = dict[int, dict[str, float]]


def print_csv(measured: Measured, blind: Measured, known_as: str) -> None:
    """Print the measures as CSV; of a sample of test examples with standard errors."""
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


def print_table(measured: Measured, blind: Measured, known_as: str) -> None:
    """Print the measures as a table; of a sample of test examples with standard errors."""
    from omnirank.evaluation.measures import MEASURES

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
