"""Results as JSON files, and what moved since the result that was committed."""

from __future__ import annotations

import datetime
import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks._declare import Benchmark
from benchmarks._machine import machine_facts
from benchmarks._measure import Comparison, Figure

__all__ = ["Change", "as_record", "changes", "previous_record", "read_records", "write_record"]

FORMAT = "omnirank-benchmark"
VERSION = 1
FOLDER = Path(__file__).resolve().parent / "results"

# Medians of a shared machine differ by this much between runs in which nothing changed.
RELATIVE_NOISE = 0.10


@dataclass(frozen=True)
class Change:
    """One value that moved by more than the noise."""

    what: str
    before: float
    after: float
    better: bool | None

    def __str__(self) -> str:
        verdict = {True: "better", False: "WORSE", None: "changed"}[self.better]
        factor = f" ({self.after / self.before:.2f} times)" if self.before else ""
        return f"{verdict}: {self.what}: {self.before:.4g} -> {self.after:.4g}{factor}"


def as_record(benchmark: Benchmark, results: Sequence[Comparison | Figure]) -> dict[str, Any]:
    """Return the JSON form of a benchmark's results, with machine and date."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": benchmark.name,
        "description": benchmark.description,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": machine_facts(),
        "comparisons": [result.as_dict() for result in results if isinstance(result, Comparison)],
        "figures": [result.as_dict() for result in results if isinstance(result, Figure)],
    }


def write_record(record: dict[str, Any], folder: Path = FOLDER) -> Path:
    """Write a record to ``<name>.json``, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{record['name']}.json"
    draft = path.with_suffix(".tmp")
    draft.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    draft.replace(path)
    return path


def read_records(folder: Path = FOLDER) -> list[dict[str, Any]]:
    """Read all records of a folder, by name; files that are not records are left alone."""
    found = [_parse(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    return [record for record in found if record is not None]


def previous_record(name: str, folder: Path = FOLDER) -> dict[str, Any] | None:
    """Return the committed record of that name; without version control, the one in the folder."""
    command = ["git", "show", f"HEAD:./{name}.json"]
    try:
        shown = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if shown.returncode == 0:
            return _parse(shown.stdout)
    except OSError:  # no git, or no folder yet
        pass
    path = folder / f"{name}.json"
    return _parse(path.read_text(encoding="utf-8")) if path.exists() else None


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[Change]:
    """List medians, memories, ratios and figures that moved by more than the noise.

    The noise of a value is the larger of a tenth of it and the two spreads together. Times and plain
    figures of different machines say nothing about the code: then only ratios are compared.
    """
    same_machine = all(before["machine"].get(key) == after["machine"].get(key) for key in ("cpu", "cores"))
    old = {value.key: value for value in _values(before)}
    found = []
    for new in _values(after):
        was = old.get(new.key)
        if was is None or not (same_machine or new.is_ratio):
            continue
        noise = max(RELATIVE_NOISE * abs(was.value), was.spread + new.spread)
        if abs(new.value - was.value) > noise:
            higher = new.value > was.value
            better = None if new.higher_is_better is None else higher == new.higher_is_better
            found.append(Change(" / ".join(new.key), was.value, new.value, better))
    return found


@dataclass(frozen=True)
class _Value:
    key: tuple[str, ...]
    value: float
    spread: float
    higher_is_better: bool | None
    is_ratio: bool = False


def _values(record: dict[str, Any]) -> Iterator[_Value]:
    for comparison in record["comparisons"]:
        name = comparison["name"]
        for row in comparison["contestants"]:
            who = row["name"]
            yield _Value((name, who, "seconds"), row["median_seconds"], row["spread_seconds"], False)
            if row["peak_memory_bytes"] is not None:
                yield _Value((name, who, "peak memory"), row["peak_memory_bytes"], 0.0, False)
            for measure, value in row["quality"].items():
                yield _Value((name, who, measure), value, 0.0, None)
        for other, ratio in comparison["ratios"].items():
            yield _Value((name, f"ratio to {other}"), ratio["value"], ratio["spread"], True, True)
    for item in record["figures"]:
        spread = 0.0 if item["spread"] is None else item["spread"]
        yield _Value((item["name"],), item["value"], spread, _direction(item["bar"]))


def _direction(bar: dict[str, Any] | None) -> bool | None:
    if bar is None or ("at_least" in bar) == ("at_most" in bar):
        return None
    return "at_least" in bar


def _parse(text: str) -> dict[str, Any] | None:
    record = json.loads(text)
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        return None
    if record["version"] > VERSION:
        raise ValueError(f"result {record['name']!r} was written by a newer version of the frame")
    return record
