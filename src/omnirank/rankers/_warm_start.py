"""What a ranker that continues its previous fit checks: the same data, and the same trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnirank.core.errors import DataError, ParameterError, setting
from omnirank.core.immutable import frozen_json

if TYPE_CHECKING:
    from omnirank.rankers.ensemble import EnsembleRanker


def entropy_before(ranker: EnsembleRanker, fingerprint: str) -> int:
    """Return the root of the random streams of the previous fit, which the next one continues.

    Raises an error where the data have another fingerprint, or parameters of the trees changed.
    """
    before = ranker.ranking_
    if before.fingerprint != fingerprint:
        raise DataError(f"{setting('warm_start', True)}, but the data are not those of the fit before")
    [(entropy, first, _)] = before.seeds.ranges if before.seeds is not None else ((0, 0, 0),)
    now = frozen_json(ranker._tree_parameters() | {"first_tree": ranker.first_tree}, "parameters")
    then = {**before.parameters, "first_tree": first}
    changed = [name for name in now if now[name] != then.get(name)]
    if changed:
        raise ParameterError("warm_start", True, f"{', '.join(changed)} changed since the fit before")
    if bool(ranker.p_values) != bool(ranker._sums.examples):
        raise ParameterError("warm_start", True, "p_values changed since the fit before")
    if ranker.n_trees != "auto" and int(ranker.n_trees) < ranker.n_trees_:
        raise ParameterError("n_trees", ranker.n_trees, f"warm_start keeps the {ranker.n_trees_} trees there are")
    return entropy
