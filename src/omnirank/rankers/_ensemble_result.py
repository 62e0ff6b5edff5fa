"""From sums over trees to rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from omnirank.core.multiplicity import OUT_OF_BAG_TEST
from omnirank.core.ranking.part_scores import TargetScores
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import SeedRanges
from omnirank.ensembles.score_sums import ScoreSums
from omnirank.ensembles.supervision import Supervision

if TYPE_CHECKING:
    from omnirank.rankers.ensemble import EnsembleRanker


def rankings_by_score(
    ranker: EnsembleRanker,
    features: Sequence[str],
    targets: Sequence[str],
    entropy: int,
    level: Supervision,
    sums: ScoreSums,
    known: Mapping[str, Any],
    **more: Any,
) -> dict[str, Ranking]:
    """Return the rankings by each score that was computed, that of the ranker's ``importance`` first.

    Parameters
    ----------
    ranker : EnsembleRanker
        The ranker.
    features, targets : sequence of str
        Names of the features, and of the columns by which scores are split.
    entropy : int
        Root of the random streams.
    level : Supervision
        The level of supervision.
    sums : ScoreSums
        Sums of the scores of the trees.
    known : mapping
        What rankings record of the data.
    **more
        What they record beside the parameters of the ranker.
    """
    first, found = int(ranker.first_tree), {}
    for name in (ranker.importance, *(name for name in sums.rows if name != ranker.importance)):
        per_target = None
        if name in sums.tables:
            per_target = TargetScores.from_state(tuple(targets), sums.tables[name])
        own = {"importance": name, "n_trees": sums.n_trees, "supervision_level": level.level}
        found[name] = Ranking.from_state(
            tuple(features),
            sums.rows[name],
            name,
            parameters=ranker._tree_parameters() | own | more,
            **known,
            seeds=SeedRanges.of(entropy, first, first + sums.n_trees),
            per_target=per_target,
            p_values=sums.p_values(name),
            p_value_test=OUT_OF_BAG_TEST,
        )
    return found
