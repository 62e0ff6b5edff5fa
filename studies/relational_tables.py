"""The table of relational bagging: our accuracies beside the published ones."""

from __future__ import annotations

import pandas as pd
from table_parts import HERE, markdown, published

PUBLISHED = {"uwcse": "UWCSE", "webkb": "WEBKB", "muta188": "MUTAGENESIS", "mutagenesis_188": "MUTAGENESIS"}


def relational_accuracies() -> str:
    """Ten-fold accuracies by set and preset, their standard errors, and the share of the largest class."""
    printed = published("relational_bagging")
    rows = []
    for row in pd.read_csv(HERE / "results" / "relational.csv").itertuples():
        theirs = printed.loc[PUBLISHED[row.set], row.preset] if row.set in PUBLISHED else ""
        ours = f"{row.accuracy:.3f} ± {row.standard_error:.3f}"
        rows.append(
            [f"{row.set}: {row.preset}", row.trees, ours, theirs, f"{row.majority:.3f}", f"{row.cpu_seconds:.1f}"]
        )
    return markdown(["set, preset", "trees", "ours", "published (50 trees)", "largest class", "seconds"], rows)


TABLES = [relational_accuracies]
