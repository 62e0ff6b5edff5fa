"""The results as tables: Markdown for the documentation, plain lines for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks._headlines import headlines
from omnirank.core.text import with_error

__all__ = ["as_details", "as_markdown", "describe", "write_page"]

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
DETAILS = Path(__file__).resolve().parent / "results" / "README.md"

HEAD = """\
# Benchmarks

omnirank beside other packages, on one machine; the longer the bar, the longer the other package takes.
"""

RULES = """
## How it is measured

* Every ratio comes from one run on one machine. The contestants do the same work in alternation, at least three times.
* A ratio of 4 means that the contestant takes 4 times as long as omnirank. Times are medians; after `±`, half the
  range of the repetitions.
* Peak memory is what the work needs on top of its data, in a process of its own.
* A *bar* is what was required before the measurement. For a benchmark with several bars, the table shows a missed
  one if there is any, otherwise the first.

`make bench` writes this page. All results, with machines and versions, are in `benchmarks/results/README.md`.
"""

DETAILS_HEAD = """\
# All benchmark results

Written by `make bench` from the JSON files in this folder. `docs/benchmarks.md` has the summary and how it is measured.
A ratio of 4 means that the contestant takes 4 times as long as the first of its table.
"""

NOTHING = "\nNo results have been recorded yet.\n"


def as_markdown(records: Sequence[dict[str, Any]]) -> str:
    """Return the page of the documentation: a chart, one table and how it is measured."""
    return HEAD + headlines(records) + (_summary(records) or NOTHING) + RULES


def as_details(records: Sequence[dict[str, Any]]) -> str:
    """Return the page of all results."""
    return DETAILS_HEAD + ("".join(_section(record) for record in records) or NOTHING)


def write_page(records: Sequence[dict[str, Any]], path: Path = PAGE, details: Path = DETAILS) -> None:
    """Write the page of the documentation and the page of all results."""
    for file, text in ((path, as_markdown(records)), (details, as_details(records))):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def describe(record: dict[str, Any]) -> Iterator[str]:
    """Lines for the terminal."""
    for comparison in record["comparisons"]:
        yield f"  {comparison['name']}"
        for row in _comparison_rows(comparison):
            yield "    " + "  ".join(cell for cell in row if cell)
        if comparison["bar"] is not None:
            yield f"    bar: {_bar(comparison['bar'])}"
    for item in record["figures"]:
        yield "  " + "  ".join(cell for cell in _figure_row(item) if cell)


def missed(record: dict[str, Any]) -> list[str]:
    """Names of the results whose bar is not met."""
    items = [*record["comparisons"], *record["figures"]]
    return [item["name"] for item in items if item["bar"] is not None and item["bar"]["met"] is False]


def _summary(records: Sequence[dict[str, Any]]) -> str:
    """One row per benchmark with its bars: those missed first, else the first one."""
    rows = [_summary_row(record) for record in records]
    return "\n" + _table(("benchmark", "what is compared", "result", "bar", "bars met"), rows) if rows else ""


def _summary_row(record: dict[str, Any]) -> tuple[str, ...]:
    items = [item for item in (*record["comparisons"], *record["figures"]) if item["bar"] is not None]
    if not items:
        return record["name"], record["description"], "", "", ""
    judged = sorted(items, key=lambda item: item["bar"]["met"] is not False)
    n_met = sum(item["bar"]["met"] is True for item in items)
    bar = _bar(judged[0]["bar"]).partition(":")[0]
    return record["name"], record["description"], _result(judged[0]), bar, f"{n_met} of {len(items)}"


def _result(item: dict[str, Any]) -> str:
    if "ratios" not in item:
        return ": ".join(_figure_row(item)[:2])
    against = item["bar"].get("against") or next(iter(item["ratios"]), None)
    if against not in item["ratios"]:
        return f"{item['name']}: not measured"
    ratio = item["ratios"][against]
    return f"{item['name']}: {with_error(ratio['value'], ratio['spread'])} ({against})"


def _section(record: dict[str, Any]) -> str:
    parts = [f"\n## {record['name']}\n", f"\n{record['description']}\n" if record["description"] else ""]
    for comparison in record["comparisons"]:
        parts.append(f"\n### {comparison['name']}\n\n")
        parts.append(_table(("contestant", "seconds", "ratio", "peak memory", "quality"), _comparison_rows(comparison)))
        parts += [f"\n{other}: skipped, {why}.\n" for other, why in comparison["skipped"].items()]
        if comparison["bar"] is not None:
            parts.append(f"\nBar: {_bar(comparison['bar'])}.\n")
    if record["figures"]:
        rows = [_figure_row(item) for item in record["figures"]]
        parts += ["\n", _table(("result", "value", "bar"), rows)]
    return "".join([*parts, f"\n{_machine_line(record)}\n"])


def _comparison_rows(comparison: dict[str, Any]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for row in comparison["contestants"]:
        ratio = comparison["ratios"].get(row["name"])
        rows.append(
            (
                row["name"],
                f"{with_error(row['median_seconds'], row['spread_seconds'])} s",
                "" if ratio is None else with_error(ratio["value"], ratio["spread"]),
                _memory(row["peak_memory_bytes"]),
                ", ".join(f"{name} {_number(value)}" for name, value in row["quality"].items()),
            )
        )
    return rows


def _figure_row(item: dict[str, Any]) -> tuple[str, ...]:
    known = item["spread"] is not None
    value = with_error(item["value"], item["spread"]) if known else _number(item["value"])
    return item["name"], f"{value} {item['unit']}".strip(), "" if item["bar"] is None else _bar(item["bar"])


def _bar(bar: dict[str, Any]) -> str:
    bounds = [f"{key.replace('_', ' ')} {bar[key]:g}" for key in ("at_least", "at_most") if key in bar]
    against = f" against {bar['against']}" if "against" in bar else ""
    verdict = {True: "met", False: "missed", None: "not judged"}[bar["met"]]
    return f"{' and '.join(bounds)}{against}: {verdict}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    rows = list(rows)
    used = [i for i in range(len(head)) if any(row[i] for row in rows)]
    lines = [[head[i] for i in used], ["---"] * len(used), *([row[i] for i in used] for row in rows)]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def _machine_line(record: dict[str, Any]) -> str:
    machine = record["machine"]
    versions = [
        f"{name} {machine[name]}"
        for name in ("python", "numpy", "numba", "scikit-learn", "omnirank")
        if machine.get(name)
    ]
    return f"{record['date']}: {machine['cpu']}, {machine['cores']} cores; {', '.join(versions)}."


def _memory(size: int | None) -> str:
    return "" if size is None else f"{_number(size / 2**20)} MiB"


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
