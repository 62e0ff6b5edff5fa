"""What the fields of a ranking must be like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omnirank.core.accumulators import check_finishes_to
from omnirank.core.errors import DataError, DataTypeError
from omnirank.core.immutable import frozen_floats, frozen_json, frozen_names
from omnirank.core.multiplicity import check_p_values
from omnirank.core.plurals import counted

if TYPE_CHECKING:
    from omnirank.core.ranking import Ranking


def checked_fields(ranking: Ranking) -> dict[str, Any]:
    """Return the fields of a ranking that are kept in another form than given, checked and read-only."""
    for name in ("method", "task", "fingerprint", "p_value_test"):
        value = getattr(ranking, name)
        if not isinstance(value, str) and (name == "method" or value is not None):
            raise DataTypeError(f"{name} of a ranking must be a string, not {type(value).__name__}")
    if not isinstance(ranking.parameters, Mapping):
        raise DataTypeError(f"parameters must be a mapping, not {type(ranking.parameters).__name__}")
    names = frozen_names(ranking.names, "feature")
    scores = _one_per_feature(ranking.scores, "scores", names)
    errors = ranking.standard_errors
    if errors is not None:
        errors = _one_per_feature(errors, "standard errors", names)
        if np.any(errors < 0):
            raise DataError(f"the standard error of feature {names[int(np.argmin(errors))]!r} is negative")
    p_values = ranking.p_values
    if p_values is not None:
        p_values = _one_per_feature(p_values, "p values", names)
        check_p_values(p_values, names)
    check_finishes_to(ranking.state, scores)
    if ranking.per_target is not None and ranking.per_target.scores.shape[1] != len(names):
        n_scored = ranking.per_target.scores.shape[1]
        raise DataError(f"per-target scores of {n_scored} features for {len(names)} features")
    targets = ranking.targets
    return {
        "names": names,
        "scores": scores,
        "standard_errors": errors,
        "p_values": p_values,
        "p_value_test": None if p_values is None else ranking.p_value_test,
        "parameters": frozen_json(ranking.parameters, "parameters"),
        "targets": targets if targets is None else _some_names(targets, "target"),
        "constant": _constant(ranking.constant, names),
    }


def _one_per_feature(values: Any, what: str, names: tuple[str, ...]) -> np.ndarray:
    array = frozen_floats(values, what)
    if array.shape != (len(names),):
        raise DataError(f"{what} of shape {array.shape} for {counted(len(names), 'feature')}")
    return array


def _some_names(names: Any, what: str) -> tuple[str, ...]:
    """Names as a tuple; there may be none."""
    empty = isinstance(names, Sequence) and not isinstance(names, str) and not len(names)
    return () if empty else frozen_names(names, what)


def _constant(given: Any, names: tuple[str, ...]) -> tuple[str, ...]:
    constant = _some_names(given, "feature")
    unknown = sorted(set(constant) - set(names))
    if unknown:
        raise DataError(f"the constant feature {unknown[0]!r} is no feature of the ranking")
    return constant
