"""Values of settings: flags, numbers, names and lists of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from omnirank.clus.known_settings import default_of
from omnirank.core.errors import FileFormatError
from omnirank.data.clus_settings import ClusSettings

_FLAGS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


@dataclass(frozen=True, eq=False)
class Values:
    """The settings of a file with CLUS's defaults for the others, and what there is to tell about them.

    Parameters
    ----------
    settings : ClusSettings
        The file.
    notes : list of str
        What the user should know; readers of settings add to it by `tell`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from omnirank.clus.values import Values
    >>> from omnirank.data.clus_settings import ClusSettings
    >>> values = Values(ClusSettings(Path("run.s"), {"ensemble": {"iterations": "[2, 4]"}}))
    >>> values.numbers("Ensemble", "Iterations"), values.flag("Ensemble", "OOBestimate")
    ([2.0, 4.0], False)
    >>> values.name("Tree", "Heuristic")
    'default'
    """

    settings: ClusSettings
    notes: list[str] = field(default_factory=list)

    def text(self, section: str, name: str) -> str:
        """Return a value as it is written."""
        given = self.settings.get(section, name)
        return default_of(section, name) if given is None else given

    def name(self, section: str, name: str) -> str:
        """Return a name in lower case, without the points and blanks that its spellings differ by."""
        return _plain(self.text(section, name))

    def names(self, section: str, name: str) -> list[str]:
        """Return a list of names, in lower case."""
        return [_plain(part) for part in _parts(self.text(section, name))]

    def flag(self, section: str, name: str) -> bool:
        """Return whether a setting says yes."""
        found = _FLAGS.get(self.name(section, name))
        if found is None:
            raise self.wrong(section, name, "expected Yes or No")
        return found

    def numbers(self, section: str, name: str) -> list[float]:
        """Return a list of numbers; a single number is a list of one. Infinity is a number."""
        parts = _parts(self.text(section, name))
        try:
            found = [float(part) for part in parts]
        except ValueError:
            raise self.wrong(section, name, "expected a number, or a list of numbers such as [2, 4]") from None
        if not found or any(math.isnan(number) for number in found):
            raise self.wrong(section, name, "expected a number")
        return found

    def number(self, section: str, name: str, least: float = -math.inf, most: float = math.inf) -> float:
        """Return one number between two bounds."""
        found = self.numbers(section, name)
        if len(found) > 1 or not least <= found[0] <= most:
            bounds = "" if math.isinf(least) else f" of at least {least:g}"
            bounds += "" if math.isinf(most) else f" and at most {most:g}" if bounds else f" of at most {most:g}"
            raise self.wrong(section, name, f"expected one number{bounds}")
        return found[0]

    def counts(self, section: str, name: str) -> list[int]:
        """Return positive whole numbers, ascending, each once."""
        found = self.numbers(section, name)
        if any(number < 1 or number != int(number) for number in found):
            raise self.wrong(section, name, "expected whole numbers of at least 1")
        return sorted({int(number) for number in found})

    def tell(self, section: str, name: str, what: str) -> None:
        """Note that the value of a setting is not followed, and what happens instead."""
        note = f"[{section}] {name} = {self.text(section, name)} is not followed: {what}"
        if note not in self.notes:
            self.notes.append(note)

    def wrong(self, section: str, name: str, expected: str) -> FileFormatError:
        """Return the error for a value that cannot be read."""
        return FileFormatError(f"[{section}] {name} = {self.text(section, name)}: {expected}", path=self.settings.path)


# Settings that are read when a run needs them, and checked whatever it needs: a mistake should not wait for -xval.
_FLAGS_READ = {
    "Data": ["RemoveMissingTarget"],
    "Ensemble": ["OOBestimate", "PrintAllModels", "FeatureRankingPerTarget", "SortRankingByRelevance"],
    "Model": ["NominalSubsetTests"],
    "Output": ["TrainErrors", "TestErrors", "AllFoldModels", "AllFoldErrors"],
    "Relief": ["WeightNeighbours"],
}
_NUMBERS_READ = {
    "Constraints": ["MaxDepth"],
    "Ensemble": ["Iterations", "SymbolicWeight", "NumberOfThreads"],
    "General": ["RandomSeed"],
    "Hierarchical": ["WParam"],
    "Model": ["MinimalWeight"],
    "Relief": ["Neighbours", "Iterations", "WeightingSigma"],
    "SemiSupervised": ["PossibleWeights", "PercentageLabeled"],
    "Tree": ["FTest", "M5PruningMult"],
}


def check_values(values: Values) -> None:
    """Raise an error for the first setting that should be a flag or a number and is none, used or not."""
    for section, names in _FLAGS_READ.items():
        for name in names:
            values.flag(section, name)
    for section, names in _NUMBERS_READ.items():
        for name in names:
            values.numbers(section, name)
    n_folds(values, 2)


def n_folds(values: Values, n_examples: int) -> int:
    """Return the number of folds of a cross-validation: as it is set, or one per example (``LOO``).

    Examples
    --------
    >>> from pathlib import Path
    >>> from omnirank.clus.values import Values, n_folds
    >>> from omnirank.data.clus_settings import ClusSettings
    >>> n_folds(Values(ClusSettings(Path("run.s"), {"data": {"xval": "LOO"}})), 150)
    150
    """
    if values.name("Data", "XVal") == "loo":
        return n_examples
    try:
        return int(values.number("Data", "XVal", least=2))
    except FileFormatError:
        raise values.wrong("Data", "XVal", "expected a number of folds of at least 2, or LOO") from None


def _parts(text: str) -> Sequence[str]:
    inner = text.strip().strip("[]{}").strip()
    return [part.strip() for part in inner.split(",")] if inner else []


def _plain(text: str) -> str:
    return text.strip().strip("[]{}").replace(" ", "").replace(".", "").lower()
