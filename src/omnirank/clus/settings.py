"""The settings that CLUS knows, their values, and what happens where one is not followed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from omnirank.core.errors import FileFormatError
from omnirank.data.clus_settings import ClusSettings

# Section -> settings that are followed, and CLUS's defaults, as its output files list them.
_FOLLOWED = {
    "General": "RandomSeed=0",
    "Data": "File= TestSet=None",
    "Attributes": "Target=Default Clustering=Default Descriptive=Default Key=None Disable=None Weights=Normalize",
    "Constraints": "MaxDepth=Infinity",
    "Model": "MinimalWeight=2.0",
    "Tree": "Heuristic=Default PruningMethod=Default M5PruningMult=2.0",
    "Ensemble": "Iterations=100 EnsembleMethod=Bagging EnsembleBootstrapping=Undefined SelectRandomSubspaces=0 "
    "FeatureRanking=None FeatureRankingPerTarget=No SymbolicWeight=0.5 SortRankingByRelevance=Yes "
    "NumberOfThreads=1",
    "Hierarchical": "Type=Tree WType=ExpSumParentWeight WParam=0.75 HSeparator=. EmptySetIndicator=n",
    "SemiSupervised": "SemiSupervisedMethod=PCT UnlabeledData= InternalFolds=5 "
    "PossibleWeights=[0.0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0]",
    "Relief": "Neighbours=10 Iterations=-1 WeightNeighbours=No WeightingSigma=0.5 MultilabelDistance=HammingLoss",
    "Output": "ShowModels=[Default,Pruned,Others] TrainErrors=Yes TestErrors=Yes",
}
FOLLOWED = {section: dict(pair.partition("=")[::2] for pair in pairs.split()) for section, pairs in _FOLLOWED.items()}
# Names of settings are as similar as this where one is meant by another.
_SIMILAR = 0.8


def notes_on(settings: ClusSettings) -> list[str]:
    """Return what the user should know about settings that are not followed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from omnirank.clus.settings import notes_on
    >>> from omnirank.data.clus_settings import ClusSettings
    >>> notes_on(ClusSettings(Path("a.s"), {"Tree": {"SplitSampling": "50", "Heuristik": "Gain"}}))
    ["[Tree] SplitSampling = 50, Heuristik = Gain (did you mean 'Heuristic'?) is not followed"]
    """
    followed = {section.lower(): names for section, names in FOLLOWED.items()}
    notes = []
    for section, given in settings.sections.items():
        names = followed.get(section.lower(), {})
        others = []
        for name, value in given.items():
            if name.lower() not in {known.lower() for known in names}:
                similar = get_close_matches(name, names, n=1, cutoff=_SIMILAR)
                others.append(f"{name} = {value}" + (f" (did you mean {similar[0]!r}?)" if similar else ""))
        if others:
            notes.append(f"[{section}] {', '.join(others)} is not followed")
    return notes


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
    >>> from omnirank.clus.settings import Values
    >>> from omnirank.data.clus_settings import ClusSettings
    >>> values = Values(ClusSettings(Path("run.s"), {"ensemble": {"iterations": "[2, 4]"}}))
    >>> values.numbers("Ensemble", "Iterations"), values.flag("Ensemble", "SortRankingByRelevance")
    ([2.0, 4.0], True)
    >>> values.name("Tree", "Heuristic")
    'default'
    """

    settings: ClusSettings
    notes: list[str] = field(default_factory=list)

    def text(self, section: str, name: str) -> str:
        """Return a value as it is written."""
        given = self.settings.get(section, name)
        return FOLLOWED[section][name] if given is None else given

    def name(self, section: str, name: str) -> str:
        """Return a name in lower case, without the points and blanks that its spellings differ by."""
        return _plain(self.text(section, name))

    def names(self, section: str, name: str) -> list[str]:
        """Return a list of names, in lower case."""
        return [_plain(part) for part in _parts(self.text(section, name))]

    def flag(self, section: str, name: str) -> bool:
        """Return whether a setting says yes."""
        value = _FLAGS.get(self.name(section, name))
        if value is None:
            raise self.wrong(section, name, "expected Yes or No")
        return value

    def numbers(self, section: str, name: str) -> list[float]:
        """Return a list of numbers; a single number is a list of one. Infinity is a number."""
        parts = _parts(self.text(section, name))
        try:
            values = [float(part) for part in parts]
        except ValueError:
            raise self.wrong(section, name, "expected a number, or a list of numbers such as [2, 4]") from None
        if not values or any(math.isnan(number) for number in values):
            raise self.wrong(section, name, "expected a number")
        return values

    def number(self, section: str, name: str, least: float = -math.inf, most: float = math.inf) -> float:
        """Return one number between two bounds."""
        values = self.numbers(section, name)
        if len(values) > 1 or not least <= values[0] <= most:
            bounds = "" if math.isinf(least) else f" of at least {least:g}"
            bounds += "" if math.isinf(most) else f" and at most {most:g}" if bounds else f" of at most {most:g}"
            raise self.wrong(section, name, f"expected one number{bounds}")
        return values[0]

    def counts(self, section: str, name: str) -> list[int]:
        """Return positive whole numbers, ascending, each once."""
        values = self.numbers(section, name)
        if any(number < 1 or number != int(number) for number in values):
            raise self.wrong(section, name, "expected whole numbers of at least 1")
        return sorted({int(number) for number in values})

    def tell(self, section: str, name: str, what: str) -> None:
        """Note that the value of a setting is not followed, and what happens instead."""
        note = f"[{section}] {name} = {self.text(section, name)} is not followed: {what}"
        if note not in self.notes:
            self.notes.append(note)

    def wrong(self, section: str, name: str, expected: str) -> FileFormatError:
        """Return the error for a value that cannot be read."""
        return FileFormatError(f"[{section}] {name} = {self.text(section, name)}: {expected}", path=self.settings.path)


def check_flags(values: Values) -> None:
    """Raise an error for the first setting that should be a flag and is none: some are read after hours of learning."""
    for section, defaults in FOLLOWED.items():
        for name, default in defaults.items():
            if default in ("Yes", "No"):
                values.flag(section, name)


def _parts(text: str) -> Sequence[str]:
    inner = text.strip().strip("[]{}").strip()
    return [part.strip() for part in inner.split(",")] if inner else []


def _plain(text: str) -> str:
    return text.strip().strip("[]{}").replace(" ", "").replace(".", "").lower()
