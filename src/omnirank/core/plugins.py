"""What packages of others add to the registries, by entry points."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from typing import Any


def add_plugins(group: str, add: Callable[[Any], Any]) -> None:
    """Hand what the entry points of a group name, one entry or a sequence of them, to a registry.

    Parameters
    ----------
    group : str
        Name of the group, such as "omnirank.methods".
    add : callable
        Takes one entry.
    """
    for point in entry_points(group=group):
        try:
            found = point.load()
            for entry in found if isinstance(found, Sequence) else [found]:
                add(entry)
        except Exception as error:  # a broken package of others must not take the rest with it
            what = group.rpartition(".")[2]
            warnings.warn(f"the {what} of {point.value} are not available: {error}", RuntimeWarning, stacklevel=4)
