"""scikit-learn's base classes, imported without the half second that ``scipy.stats`` takes."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from omnirank.core.garbage import collection_paused

_STATISTICS = "scipy.stats"


class _Later(ModuleType):
    """Stands for a module that is imported when something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # the import system looks for these
            raise AttributeError(name)
        self.step_back()
        return getattr(import_module(self.__name__), name)

    def step_back(self) -> None:
        """Let the next import be that of the module itself."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]


def import_scikit_learn() -> None:
    """Import ``sklearn.base``, which all estimators need, unless scikit-learn is there already.

    scikit-learn says ``import scipy.stats`` for one function that is hardly ever called, by its full name. Meanwhile
    something else stands for that module; afterwards ``scipy`` imports it, as it does all its modules, when it is used.
    """
    if "sklearn" in sys.modules or _STATISTICS in sys.modules:
        return
    later = _Later(_STATISTICS)
    sys.modules[_STATISTICS] = later
    try:
        with collection_paused:
            import_module("sklearn.base")
    finally:
        later.step_back()
