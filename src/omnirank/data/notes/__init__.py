"""What a data set has to say for itself: how it was read, doubts about the task, traps among the features."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from omnirank.core.errors import DataWarning
from omnirank.data.copies import copies_note
from omnirank.data.notes.traps import Trap, find_traps, trap_notes

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset


class Remarks:
    """Remarks about a data set, shared by all views of its rows, so that what was told once is not told again.

    Traps are looked for when somebody asks first, in the view that is at hand then.

    Parameters
    ----------
    of_reader : tuple of str
        What the reader of a file said.
    doubts : tuple of str
        What speaks against the inferred task.
    """

    def __init__(self, of_reader: tuple[str, ...] = (), doubts: tuple[str, ...] = ()) -> None:
        self.of_reader = of_reader
        self.doubts = doubts
        self.told = False
        self._traps: tuple[Trap, ...] | None = None
        self._copies: tuple[str, ...] = ()

    def warnings(self, dataset: Dataset, *, task_is_sure: bool = False) -> tuple[str, ...]:
        """Return what is worth a warning: doubts about the task, unless it is sure, and traps."""
        if self._traps is None:
            self._traps = find_traps(dataset.features, dataset.target)
            self._copies = copies_note(dataset.groups) if dataset.given_groups is None else ()
        supervised = dataset.target is not None
        told = [trap for trap in self._traps if supervised or not trap.of_target]
        return (*(self.doubts if supervised and not task_is_sure else ()), *trap_notes(told), *self._copies)

    def for_features(self, names: Sequence[str]) -> Remarks:
        """Return the remarks about some of the features."""
        part = Remarks(self.of_reader, self.doubts)
        part.told = self.told
        if self._traps is not None:
            chosen = set(names)
            part._traps = tuple(trap for trap in self._traps if trap.feature in chosen)
            part._copies = self._copies
        return part


class Remarked(Protocol):
    """A data set with remarks: one table, or several."""

    _remarks: Any


def warn_about(dataset: Remarked, task_is_sure: bool = False) -> None:
    """Warn of what `Dataset.notes` says about task and features, once per data set, whatever is fitted to parts of it.

    Functions that hand parts of a data set to workers call it before: what a worker told, nobody else would know.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import omnirank as om
    >>> from omnirank.data.notes import warn_about
    >>> data = om.Dataset(np.column_stack([np.arange(60.0), np.arange(60) % 7]))
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     warn_about(data)
    ...     warn_about(data.take(slice(30)))
    >>> [str(warning.message) for warning in told]
    ["feature 'x0' changes by the same step from row to row: it is a running number, ..."]
    """
    remarks = dataset._remarks
    if remarks.told:
        return
    remarks.told = True  # before warning, which may raise
    for text in remarks.warnings(dataset, task_is_sure=task_is_sure):
        warnings.warn(text, DataWarning, stacklevel=caller_outside())


def share_remarks(made: Dataset, origin: Dataset) -> Dataset:
    """Let a data set made of another one share its remarks: what was told of the origin is not told again."""
    made._remarks = origin._remarks
    return made


def caller_outside() -> int:
    """The stack level of the first caller that is neither omnirank nor scikit-learn, which wraps some methods."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("omnirank", "sklearn"):
        level, frame = level + 1, frame.f_back
    return level
