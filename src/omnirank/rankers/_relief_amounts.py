"""What the parameters of Relief stand for, given how many examples there are."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from omnirank.core.errors import ParameterError, logger
from omnirank.data.dataset import Dataset
from omnirank.relief.influence import Influence


class Amounts(NamedTuple):
    """Numbers of examples; None labelled ones: there is no target."""

    n_examples: int
    n_labelled: int | None

    @classmethod
    def of(cls, dataset: Dataset) -> Amounts:
        """Count the examples of a data set."""
        return cls(dataset.n_examples, None if dataset.target is None else int(dataset.labelled.sum()))

    @property
    def all_labelled(self) -> bool:
        """Whether there is a target that is known everywhere."""
        return self.n_labelled == self.n_examples

    @property
    def some_unlabelled(self) -> bool:
        """Whether there is a target that is not known everywhere."""
        return self.n_labelled is not None and not self.all_labelled


def n_iterations(amount: Any, n_examples: int) -> int:
    """Return how many iterations a count or a share stands for."""
    return min(int(amount), n_examples) if isinstance(amount, Integral) else max(1, round(float(amount) * n_examples))


def iteration_counts(wanted: Any, n_examples: int, first: int) -> list[int]:
    """Return the numbers of iterations that are meant, ascending; there must be so many examples from the first on."""
    counts = [n_iterations(amount, n_examples) for amount in several(wanted)]
    if max(counts) > n_examples - first:
        raise ParameterError(
            "first_iteration",
            first,
            f"with {max(counts)} iterations from there on, more than the {n_examples} examples would be visited",
        )
    return sorted(set(counts))


def neighbor_counts(wanted: Any, chosen: int, n_examples: int) -> list[int]:
    """Return the numbers of neighbours that are meant, ascending: those given, or the one that was chosen."""
    counts = [chosen] if wanted is None or is_text(wanted, "auto") else several(wanted)
    most = n_examples - 1
    if max(counts) > most:
        logger.info("%d neighbours were asked for, all %d other examples are used", max(counts), most)
    return sorted({min(int(k), most) for k in counts})


def given_influence(given: Any) -> Influence | None:
    """Return the influence that was given; None where it is to be found, or unlabelled examples are left out."""
    if given is None or is_text(given, "auto") or is_text(given, "cv"):
        return None
    try:
        w0, w1 = given
        good = 0 <= w0 <= w1 <= 1
    except (TypeError, ValueError):
        good = False
    if not good:
        advice = "choose (w0, w1) with 0 <= w0 <= w1 <= 1, None, 'auto' or 'cv'"
        raise ParameterError("influence", given, advice)
    return float(w0), float(w1)


def several(wanted: Any) -> list[Any]:
    """Return one value or several as a list."""
    listed = isinstance(wanted, Sequence | np.ndarray) and not isinstance(wanted, str | bytes)
    return list(wanted) if listed else [wanted]


def is_text(value: Any, name: str) -> bool:
    """Whether a value is this text; an array would be compared cell by cell."""
    return isinstance(value, str) and value == name
