"""Files of feature importances (``.fimp``) as CLUS lays them out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from omnirank.core.files import replacing


def fimp_lines(
    head: Sequence[str],
    scores: Mapping[str, np.ndarray],
    names: Sequence[str],
    positions: Sequence[int],
    by_relevance: bool = True,
) -> list[str]:
    """Return the lines of a file: for every feature its position, name, ranks and scores.

    Parameters
    ----------
    head : sequence of str
        What the file starts with: the method.
    scores : mapping of str to ndarray
        Scores of the features, by the name of the ranking.
    names : sequence of str
        Names of the features.
    positions : sequence of int
        Their numbers among the attributes of the data file, from 1.
    by_relevance : bool
        Whether features come in the order of the first ranking, else in that of the data file.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.clus.fimp import fimp_lines
    >>> scores = {"overAll": np.array([0.0, 0.5, 0.0])}
    >>> for line in fimp_lines(["Ranking method: Genie3"], scores, ["a", "b", "c"], [1, 2, 4]):
    ...     print(line.replace("\\t", " "))
    Ranking method: Genie3
    attributeDatasetIndex attributeName [overAllRank] [overAll]
    -----------------------------------------------------------
    2 b [1] [0.5]
    1 a [2] [0.0]
    4 c [2] [0.0]
    """
    table = np.array([np.asarray(found, float) for found in scores.values()])
    ranks = rankdata(-table, method="min", axis=1)
    columns = f"[{', '.join(f'{name}Rank' for name in scores)}]\t[{', '.join(scores)}]"
    heading = f"attributeDatasetIndex\tattributeName\t{columns}"
    order = np.argsort(ranks[0], kind="stable") if by_relevance else np.arange(len(names))
    lines = [*head, heading, "-" * len(heading)]
    for i in order:
        places = ", ".join(str(int(rank)) for rank in ranks[:, i])
        values = ", ".join(repr(float(value)) for value in table[:, i])
        lines.append(f"{positions[i]}\t{names[i]}\t[{places}]\t[{values}]")
    return lines


def write_lines(path: Path, lines: Sequence[str]) -> Path:
    """Write a text file, whole or not at all, and return its path."""
    with replacing(path) as file:
        file.write(("\n".join(lines) + "\n").encode())
    return path
