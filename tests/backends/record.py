"""Write down the scores of some cases, so that a later change of results is seen: ``python -m backends.record``.

Bits differ between kinds of CPU. What is kept holds on any of them: the order of the features, and scores to 1e-10.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import omnirank as om
from backends.cases import cases

FILE = Path(__file__).with_name("recorded.json")

# Parts of the names of the cases that are kept: all tasks, layouts, degrees of supervision, scores.
KEPT = (
    "unbiased, ",
    "genie3, ",
    "permutation, multi-",
    "relief, classification,",
    "relief, hierarchical-multi-label,",
    "relief, multi-target-regression,",
    "relieff, ",
    "few labels, ensemble,",
    "few labels, relief,",
    "extra-trees, per target,",
    "nominal tests,",
    "univariate, ",
)


def recorded_cases() -> dict[str, Any]:
    """Return the cases that are kept, by name."""
    return {name: case for name, case in cases().items() if name.startswith(KEPT) and not name.endswith(", cv")}


def scores_of(result: Any) -> dict[str, list[float]]:
    """Return the scores of each ranking of a case, by its name."""
    rankings = result[0]
    return {name: ranking.scores.tolist() for name, ranking in rankings.items() if isinstance(ranking, om.Ranking)}


if __name__ == "__main__":
    found = {name: scores_of(case()) for name, case in recorded_cases().items()}
    FILE.write_text(json.dumps(found, indent=None, separators=(",", ":")).replace('},"', '},\n"') + "\n")
    print(f"{len(found)} cases in {FILE.name}")
