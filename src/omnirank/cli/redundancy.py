"""What ``omnirank rank --redundancy`` prints: features that stand for each other."""

from typing import TYPE_CHECKING, Annotated

import typer

from omnirank.cli.output import say, table
from omnirank.core.text import counted

if TYPE_CHECKING:
    import pandas as pd

    from omnirank.core.ranking.ranking import Ranking
    from omnirank.data.dataset import Dataset
    from omnirank.evaluation.redundancy import Redundancy

_PANEL = "Redundancy"
_NAMED = 12

RedundancyOption = Annotated[
    bool,
    typer.Option("--redundancy", help="Show which features stand for each other.", rich_help_panel=_PANEL),
]
AssociationOption = Annotated[
    float,
    typer.Option(
        "--association",
        min=0,
        max=1,
        help="From which association on a feature stands for another: rank correlation and the like, 0 to 1.",
        rich_help_panel=_PANEL,
    ),
]


def redundancy_of(
    wanted: bool, ranking: "Ranking", dataset: "Dataset", association: float, jobs: int
) -> "Redundancy | None":
    """Return which features stand for each other, where that is asked for."""
    if not wanted:
        return None
    from omnirank.evaluation.redundancy import redundancy

    return redundancy(ranking, dataset, association, n_jobs=jobs)


def print_redundancy(found: "Redundancy | None", k: int) -> None:
    """Print the groups of several features among the k best groups, and how many features are left."""
    if found is None:
        return
    shown = [group for group in found.groups[:k] if group.others]
    if shown:
        rows = []
        for group in shown:
            more = f", ... and {len(group.others) - _NAMED} more" if len(group.others) > _NAMED else ""
            rows.append((group.representative, f"{', '.join(group.others[:_NAMED])}{more}"))
        table([("feature", "left"), ("stands also for", "left")], rows)
    hidden = sum(1 for group in found.groups[k:] if group.others)
    if hidden:
        say(f"... and {counted(hidden, 'more group')} of several features: --top shows more of them")
    say(found.summary)


def with_representatives(frame: "pd.DataFrame", found: "Redundancy | None") -> "pd.DataFrame":
    """Return the table of a ranking with the feature that stands for each one, where redundancy was asked for."""
    if found is None:
        return frame
    standing = dict(found.to_frame()[["feature", "representative"]].itertuples(index=False, name=None))
    return frame.assign(representative=[standing.get(name, name) for name in frame["feature"]])
