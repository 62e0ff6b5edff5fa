"""``python -m benchmarks [NAME ...]``: run, compare with what was committed, report."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Sequence

from benchmarks._declare import Benchmark, discover, select
from benchmarks._report import describe, missed, write_page
from benchmarks._results import as_record, changes, previous_record, read_records, write_record


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks asked for; 1 when one fails or misses its bar, 2 for an unknown name."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Run the benchmarks.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a benchmark, or a module bench_NAME.py")
    parser.add_argument("--quick", action="store_true", help="tiny cases; nothing is kept, compared or judged")
    parser.add_argument("--list", action="store_true", help="say what there is and stop")
    parser.add_argument("--page", action="store_true", help="only write docs/benchmarks.md and results/README.md again")
    options = parser.parse_args(arguments)
    if options.page:
        write_page(read_records())
        return 0
    available = discover()
    try:
        chosen = select(available, options.names)
    except KeyError as error:
        known = ", ".join(item.name for item in available) or "none"
        print(f"no benchmark is called {error.args[0]!r}; there are: {known}", file=sys.stderr)
        return 2
    if options.list:
        for item in chosen:
            print(f"{item.name:24} {item.description}")
        return 0
    good = [_run_one(item, options.quick) for item in chosen]
    if not options.quick:
        write_page(read_records())
    return 0 if all(good) else 1


def _run_one(item: Benchmark, quick: bool) -> bool:
    print(f"{item.name}: {item.description}", flush=True)
    if quick and not item.has_quick:
        print("  has no quick case: skipped")
        return True
    start = time.perf_counter()
    try:
        results = item.run(quick)
    except Exception:  # one broken benchmark must not hide the figures of the others
        traceback.print_exc()
        print(f"{item.name}: FAILED")
        return False
    if not results:  # what it needs is not there: the committed figures stay
        return True
    record = as_record(item, results)
    if quick:  # bars are set for the full case
        for entry in (*record["comparisons"], *record["figures"]):
            entry["bar"] = None
    for line in describe(record):
        print(line)
    print(f"  ({time.perf_counter() - start:.0f} s)")
    if quick:
        return True
    before = previous_record(item.name)
    write_record(record)
    if before is None:
        print("  no committed result to compare with")
    else:
        for change in changes(before, record):
            print(f"  {change}")
    for name in missed(record):
        print(f"  MISSED: {name}")
    return not missed(record)


if __name__ == "__main__":
    sys.exit(main())
