"""``omnirank compare-rankings``: how far two rankings agree."""

from pathlib import Path
from typing import Annotated

import typer

from omnirank.cli.options import CsvOption
from omnirank.cli.output import figures, say, table
from omnirank.core.text import counted

_MEANING = {
    "spearman": "rank correlation of the scores, -1 to 1",
    "kendall": "share of agreeing minus disagreeing pairs, -1 to 1",
    "jaccard": "overlap of the top, 0 to 1",
    "kuncheva": "overlap of the top, corrected for chance, up to 1",
    "fuji_area": "fuzzy overlap of the top j, mean over all j, 0 to 1",
}


def compare_rankings(
    first: Annotated[Path, typer.Argument(metavar="FIRST", help="A ranking, .json or .csv.")],
    second: Annotated[Path, typer.Argument(metavar="SECOND", help="Another of the same features.")],
    k: Annotated[
        int | None,
        typer.Option("--top", "-k", min=1, help="Size of the top sets (default: square root of all)."),
    ] = None,
    csv: CsvOption = False,
) -> None:
    """Compare two rankings of the same features."""
    from omnirank.core.ranking.comparison import compare_rankings
    from omnirank.core.ranking.ranking import Ranking

    found = compare_rankings(Ranking.load(first), Ranking.load(second), k).to_dict()
    if csv:
        figures(("measure", "value"), sorted(found.items()))
        return
    say(f"{counted(found['n_features'], 'feature')}; the top are {found['k']} of them (--top)")
    rows = [[name, f"{found[name]:.4f}", text] for name, text in _MEANING.items()]
    table((("measure", "left"), ("value", "right"), ("meaning", "left")), rows)
