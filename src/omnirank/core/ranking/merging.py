"""Rules by which two rankings become one: what must agree, and what adds up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.ranking.accumulators import Accumulator
from omnirank.core.ranking.part_scores import TargetScores
from omnirank.core.registry import get_method
from omnirank.core.text import counted

if TYPE_CHECKING:
    from omnirank.core.ranking.ranking import Ranking

# Parameters without influence on the scores of a replicate: they may differ.
_FREE = frozenset({"n_features_to_select", "n_jobs", "random_state", "verbose", "warm_start"})


def merged_fields(a: Ranking, b: Ranking) -> dict[str, Any]:
    """Return the fields of the ranking that the replicates of two rankings give together.

    Raises `DataError` when the rankings do not belong together; which rankings are accepted does not depend
    on the order in which several are merged.

    Examples
    --------
    >>> from omnirank.core.ranking.accumulators import MeanAccumulator
    >>> from omnirank.core.ranking.merging import merged_fields
    >>> from omnirank.core.ranking.ranking import Ranking
    >>> from omnirank.core.seeds import SeedRanges
    >>> def grow(entropy):
    ...     trees = MeanAccumulator.empty(1).update([[float(entropy)]])
    ...     seeds = SeedRanges.of(entropy, 0, 1)
    ...     return Ranking.from_state(["a"], trees, "genie3", fingerprint="f00d", seeds=seeds)
    >>> merged_fields(grow(1), grow(3))["scores"]
    array([2.])
    >>> merged_fields(grow(1), grow(1))
    Traceback (most recent call last):
    omnirank.core.errors.DataError: these rankings cannot be merged: both used the random streams 0 to 0 ...
    """
    amount = _amount(a.method)
    _check_agreement(a, b, amount)
    if not a.seeds or not b.seeds:
        raise _refusal("it is not known which random streams they used")
    shared = a.seeds.overlap(b.seeds)
    if shared:
        entropy, start, stop = shared
        raise _refusal(
            f"both used the random streams {start} to {stop - 1} of seed {entropy}, so they hold the same "
            "replicates; give the runs different values of random_state"
        )
    state = _merged_state(a.state, b.state, f"method {a.method!r} keeps no sums (or they were not saved)")
    scores, errors = state.finish()
    return {
        "names": a.names,
        "scores": scores,
        "standard_errors": errors,
        "method": a.method,
        "parameters": _merged_parameters(a.parameters, b.parameters, amount),
        "task": a.task,
        "fingerprint": a.fingerprint,
        "state": state,
        "seeds": a.seeds.union(b.seeds),
        "per_target": _merged_targets(a.per_target, b.per_target),
        # the data are the same; a file of an older version does not tell
        "targets": b.targets if a.targets is None else a.targets,
        "constant": a.constant or b.constant,
    }


def _refusal(reason: str) -> DataError:
    return DataError(f"these rankings cannot be merged: {reason}")


def _amount(method: str) -> str | None:
    """The parameter that says how much was computed, which merging adds up."""
    try:
        ranker = get_method(method).load()
    except ParameterError:
        raise _refusal(
            f"the method {method!r} is not registered here, so it is not known which parameter counts its replicates; "
            "import or install the package that has it"
        ) from None
    return getattr(ranker, "replicates", None)


def _check_agreement(a: Ranking, b: Ranking, amount: str | None) -> None:
    for what in ("method", "task"):
        if getattr(a, what) != getattr(b, what):
            raise _refusal(f"the {what} is {getattr(a, what)!r} in one and {getattr(b, what)!r} in the other")
    if a.names != b.names:
        raise _refusal(f"the feature names differ{_first_difference(a.names, b.names)}")
    if a.fingerprint is None or b.fingerprint is None:
        raise _refusal("it is not known on which data they were computed (no fingerprint)")
    if a.fingerprint != b.fingerprint:
        raise _refusal(f"they come from different data (fingerprints {a.fingerprint} and {b.fingerprint})")
    for key in sorted((a.parameters.keys() | b.parameters.keys()) - {amount} - _FREE):
        if key not in a.parameters or key not in b.parameters:
            raise _refusal(f"the parameter {key!r} is given in one only")
        one, other = a.parameters[key], b.parameters[key]
        if one != other:
            raise _refusal(f"the parameter {key!r} is {one!r} in one and {other!r} in the other")


def _first_difference(a: tuple[str, ...], b: tuple[str, ...]) -> str:
    if len(a) != len(b):
        return f": {counted(len(a), 'feature')} in one and {len(b)} in the other"
    i = next(i for i, (left, right) in enumerate(zip(a, b, strict=True)) if left != right)
    return f": feature {i + 1} is {a[i]!r} in one and {b[i]!r} in the other"


def _merged_state(a: Accumulator | None, b: Accumulator | None, problem: str) -> Accumulator:
    if a is None or b is None:
        raise _refusal(problem)
    return a.merge(b)


def _merged_targets(a: TargetScores | None, b: TargetScores | None) -> TargetScores | None:
    if a is None and b is None:
        return None
    if a is None or b is None:
        raise _refusal("only one of them has per-target scores")
    if a.names != b.names:
        raise _refusal("the target names differ")
    return TargetScores.from_state(a.names, _merged_state(a.state, b.state, "the per-target scores have no sums"))


def _merged_parameters(a: Mapping[str, Any], b: Mapping[str, Any], amount: str | None) -> dict[str, Any]:
    """Amounts of the same type (counts, or shares) are summed; anything else stays where it is the same."""
    merged = {}
    for key in a.keys() & b.keys():
        summable = type(a[key]) is type(b[key]) and type(a[key]) in (int, float)
        if key == amount and summable:
            merged[key] = a[key] + b[key]
        elif key != amount and a[key] == b[key]:
            merged[key] = a[key]
    return {key: merged[key] for key in a if key in merged}
