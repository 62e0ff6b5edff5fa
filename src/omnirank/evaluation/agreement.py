"""How much rankings of the same features agree: of several seeds, folds or methods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from omnirank.core.comparison import compare_rankings
from omnirank.core.errors import DataError
from omnirank.core.ranking import Ranking

if TYPE_CHECKING:
    import pandas as pd

_MEASURES = ("spearman", "kendall", "jaccard", "kuncheva", "fuji_area")


@dataclass(frozen=True, eq=False)
class Agreement:
    """Agreement of several rankings.

    Parameters
    ----------
    pairs : DataFrame
        One row per pair: ``first``, ``second`` and the measures of `omnirank.compare_rankings`.
    means : dict of str to float
        Mean of each measure over the pairs in which it is defined.
    top_counts : dict of str to int
        In how many rankings a feature is among the top k, most often first, without features that never are.
    k : int
        Number of top features.
    """

    pairs: pd.DataFrame
    means: Mapping[str, float]
    top_counts: Mapping[str, int]
    k: int


def ranking_agreement(rankings: Mapping[str, Ranking] | Sequence[Ranking], k: int | None = None) -> Agreement:
    """Return how much rankings agree, pair by pair and on average.

    Parameters
    ----------
    rankings : mapping or sequence of Ranking
        At least two, of the same features: of different folds (``FoldResults.rankings``), seeds or methods.
    k : int, optional
        Number of top features; by default the square root of the number of features, rounded up.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.evaluation.agreement import ranking_agreement
    >>> a = om.Ranking(["a", "b", "c"], [3.0, 2.0, 1.0], "genie3")
    >>> b = om.Ranking(["a", "b", "c"], [2.0, 3.0, 1.0], "genie3")
    >>> found = ranking_agreement([a, b, a], k=1)
    >>> round(found.means["jaccard"], 3), found.top_counts
    (0.333, {'a': 2, 'b': 1})
    """
    import pandas as pd

    named = dict(rankings) if isinstance(rankings, Mapping) else {str(i): r for i, r in enumerate(rankings, 1)}
    if len(named) < 2:
        raise DataError(f"agreement needs at least two rankings, there are {len(named)}")
    rows, size = [], k
    for (first, a), (second, b) in combinations(named.items(), 2):
        found = compare_rankings(a, b, k).to_dict()
        size = found["k"]
        rows.append({"first": first, "second": second} | {name: found[name] for name in _MEASURES})
    assert size is not None
    pairs = pd.DataFrame(rows)
    means = {name: float(np.nanmean(pairs[name])) if pairs[name].notna().any() else np.nan for name in _MEASURES}
    counts = Counter(name for ranking in named.values() for name in ranking.top(size))
    return Agreement(pairs, means, dict(counts.most_common()), size)
