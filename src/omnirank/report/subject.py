"""What a report is about, and what its sections read from."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.ranking import Ranking
from omnirank.core.registry import Method, get_method
from omnirank.data.dataset import Dataset, FileSource
from omnirank.evaluation.redundancy import Redundancy, redundancy
from omnirank.report.findings import Findings

# Features whose associations are looked at: the time grows with the square of their number.
_MOST_COMPARED = 500


@dataclass(frozen=True, eq=False)
class Subject:
    """What a report is about.

    Parameters
    ----------
    rankings : dict of str to Ranking
        By their names on the page; the first is the one that is reported.
    data : Dataset or None
        What was ranked.
    ranker : ranker or None
        What ranked it, fitted; None where it is not at hand.
    seconds : float or None
        How long the ranking took.
    command : str or None
        The command that repeats it.
    found : Findings
        What further fits found.
    same_data : bool
        Whether the ranking has the fingerprint of the data that were given.
    """

    rankings: Mapping[str, Ranking]
    data: Dataset | None
    ranker: Any
    seconds: float | None
    command: str | None
    found: Findings
    same_data: bool = True

    @property
    def ranking(self) -> Ranking:
        """The ranking that is reported, with p values where a further fit gave them."""
        return self.found.ranking

    @property
    def source(self) -> FileSource | None:
        """The file that the data were read from, if they were."""
        return None if self.data is None else self.data.source

    @cached_property
    def redundancy(self) -> Redundancy | None:
        """Which of the best features stand for each other; None without data."""
        return None if self.data is None else redundancy(self.ranking, self.data, top=_MOST_COMPARED)

    @property
    def method(self) -> Method | None:
        """The method in the registry; None where it is not known there."""
        return known_method(self.ranking)

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the targets, of the data or as the ranking has them."""
        if self.data is not None:
            return self.data.target_names
        return self.ranking.targets or ()


def seed_of(ranking: Ranking) -> int | None:
    """Return the seed of a ranking: as given, or as it was drawn where none was given; None where none was used."""
    given = ranking.parameters.get("random_state")
    if given is None and ranking.seeds is not None:
        return ranking.seeds.ranges[0][0]
    return None if given is None else int(given)


def known_method(ranking: Ranking) -> Method | None:
    """Return the registered method of a ranking, or None."""
    try:
        return get_method(ranking.method)
    except ParameterError:
        return None


def remade_ranker(ranking: Ranking) -> Any:
    """Return a ranker with the parameters that a ranking records, not fitted.

    Raises
    ------
    DataError
        If what is recorded does not suffice; the message says why.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.report.subject import remade_ranker
    >>> ranking = om.EnsembleRanker(n_trees=5, random_state=3).fit(om.datasets.load_sample("iris")).ranking_
    >>> remade_ranker(ranking)
    EnsembleRanker(n_trees=5, random_state=3)
    """
    method = known_method(ranking)
    if method is None:
        raise DataError(f"{ranking.method!r} is no registered method that could rank again")
    known = inspect.signature(method.load()).parameters
    recorded = {name: value for name, value in ranking.parameters.items() if name in known}
    if recorded.get("feature_weights") is not None:
        raise DataError("the ranking was made with weights of features, of which it keeps a digest only")
    if "random_state" in recorded:
        # one that was drawn when the ranking was made is known by now
        recorded["random_state"] = seed_of(ranking)
    return method.make(**{name: value for name, value in recorded.items() if name not in method.parameters})
