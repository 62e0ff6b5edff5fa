"""Data sets of a plan: where they are, what is in them, and their folds."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omnirank.core.errors import DataError, ParameterError
from omnirank.data.dataset import Dataset, join_examples
from omnirank.data.target import Target
from omnirank.evaluation.cross import FoldParts
from omnirank.evaluation.experiments.keys import canonical_json, content_key
from omnirank.evaluation.folds import Fold, make_folds

if TYPE_CHECKING:
    from omnirank.relational.dataset import RelationalDataset


# What names the data, and the constructor that reads them.
SOURCES = {"folder": "from_folder", "database": "from_database", "facts": "from_facts"}
# What no plan can write, or the plan says by other means.
_NOT_FOR_PLANS = ("path", "source", "facts", "target_facts", "settings", "hierarchy", "like", "name")
# ${NAME}, or ${NAME:-what stands for it where it is not set}
_VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?::-(?P<default>[^}]*))?\}")
# The data set of this process, by its source and the stamps of its files.
_held: dict[str, Loaded] = {}


@dataclass(frozen=True, eq=False)
class Loaded:
    """A Dataset or RelationalDataset in memory; ``test`` where the test examples have a file of their own."""

    dataset: Any
    test: Dataset | None = None
    _folds: dict[str, list[Fold]] = field(default_factory=dict, repr=False)

    @property
    def fingerprint(self) -> str:
        """Hash of all that is in it."""
        parts = [self.dataset.fingerprint, None if self.test is None else self.test.fingerprint]
        return content_key({"parts": parts})

    def folds(self, scheme: str, parameters: Mapping[str, Any], seed: int) -> list[Fold]:
        """Return the folds of the data.

        Parameters
        ----------
        scheme, parameters
            As in `omnirank.evaluation.folds.make_folds`. Where the test examples have a file of their own, that is the
            fold: of the parameters only ``labelled`` and ``repetitions`` (with ``labelled``) count.
        seed : int
            ``random_state`` of the scheme unless ``parameters`` has one.

        Examples
        --------
        >>> from omnirank.evaluation.experiments.sources import load_source
        >>> iris = load_source({"sample": "iris"})
        >>> [fold.key for fold in iris.folds("cross-validation", {"n_folds": 2}, seed=0)]
        ['repetition=0 fold=0', 'repetition=0 fold=1']
        """
        seeded = {} if scheme in ("predefined", "consecutive") else {"random_state": seed}
        used = seeded | dict(parameters)
        mark = canonical_json([scheme, used])
        if mark not in self._folds:
            self._folds.clear()  # jobs come in the order of their folds
            alone = self.test is None
            self._folds[mark] = make_folds(self.dataset, scheme, **used) if alone else self._file_folds(used)
        return self._folds[mark]

    def _file_folds(self, parameters: Mapping[str, Any]) -> list[Fold]:
        """Folds in which the rows of the test file come after those of the training file."""
        assert self.test is not None
        n, m = self.dataset.n_examples, self.test.n_examples
        rows = slice(n, n + m)
        # only which examples are labelled matters, so the two files need not be put together
        known = np.concatenate([self.dataset.labelled, self.test.labelled])
        target = Target.numeric(np.where(known, 0.0, np.nan)[:, None], ["known"])
        numbered = Dataset(np.zeros((n + m, 1)), target, task="regression")
        if "labelled" not in parameters:
            return make_folds(numbered, "predefined", test=rows)
        used = {name: parameters[name] for name in ("labelled", "repetitions", "random_state") if name in parameters}
        return make_folds(numbered, "semi-supervised-split", test=rows, **used)

    def parts(self, fold: Fold) -> FoldParts:
        """Return the training part of a fold, the same with all its labels, and the test part."""
        if self.test is None:
            return FoldParts.of(fold, self.dataset)
        return FoldParts(fold.training(self.dataset), fold.training_with_all_labels(self.dataset), self.test)


def missing_files(source: Mapping[str, Any]) -> list[str]:
    """Return the files of a data source that are not there."""
    if "relational" in source:
        return [path for path in _files(source) if not Path(path).exists()]
    named = [*_files(source), source.get("options", {}).get("labels")]
    return [path for path in named if path is not None and not Path(path).is_file()]


def load_source(source: Mapping[str, Any]) -> Loaded:
    """Read a data source; the last one is kept, because jobs come in the order of their data, and no other.

    Parameters
    ----------
    source : mapping
        ``{"sample": name, "n_irrelevant": count}``, ``{"path": file, "more": files, "test": file, "options": ...}`` or
        ``{"relational": ..., "options": ...}``, see `DataEntry.source`.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.sources import load_source
    >>> load_source({"sample": "iris"}).dataset.n_examples
    150
    """
    mark = canonical_json([source, [_stamp(path) for path in _files(source)]])
    if mark not in _held:
        # before the next one is read: there may be no room for two
        _held.clear()
        _held[mark] = _read(source)
    return _held[mark]


def _read(source: Mapping[str, Any]) -> Loaded:
    from omnirank.data.load import load
    from omnirank.data.samples import load_sample

    if "sample" in source:
        return Loaded(load_sample(source["sample"], source.get("n_irrelevant", 0)), None)
    if "relational" in source:
        return Loaded(load_relational(source), None)
    options = source["options"]
    dataset = join_examples([load(path, **options) for path in (source["path"], *source.get("more", ()))])
    return Loaded(dataset, load(source["test"], **options) if "test" in source else None)


def _files(source: Mapping[str, Any]) -> list[str]:
    """The data files of a source."""
    if "relational" in source:
        return files_of(source["relational"])
    named = (source.get("path"), *source.get("more", ()), source.get("test"))
    return [path for path in named if path is not None]


def _stamp(path: str) -> tuple[int, int]:
    """Changes when the file does."""
    try:
        status = Path(path).stat()
    except OSError as error:
        raise DataError(f"the data file {path!r} cannot be read: {error.strerror}") from None
    return status.st_mtime_ns, status.st_size


# -- several tables -------------------------------------------------------------------------------


def relational_options(kind: str) -> tuple[str, ...]:
    """Return the keys that say how a source of some kind is read.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.sources import relational_options
    >>> relational_options("facts")
    ('task', 'exclude', 'encoding')
    """
    from omnirank.relational.dataset import RelationalDataset

    known = inspect.signature(getattr(RelationalDataset, SOURCES[kind])).parameters
    return tuple(name for name in known if name not in _NOT_FOR_PLANS)


def load_relational(source: Mapping[str, Any]) -> RelationalDataset:
    """Read a relational data source.

    Parameters
    ----------
    source : mapping
        ``relational`` (``folder``, ``database``, or ``facts`` with ``target_facts`` and perhaps ``settings``) and
        ``options``. The URL of a database may hold ``${NAME}``: environment variables, whose values are not recorded.
    """
    from omnirank.relational.dataset import RelationalDataset

    named, options = source["relational"], dict(source["options"])
    if "keys" in options:  # TOML has no null
        options["keys"] = {of: None if key == "" else key for of, key in options["keys"].items()}
    if "folder" in named:
        return RelationalDataset.from_folder(named["folder"], **options)
    if "database" in named:
        url = with_variables(named["database"], os.environ.get, "database")
        if "target" not in options:
            raise DataError("a database has no schema file that names the target: give target = 'table.column'")
        return RelationalDataset.from_database(url, **options)
    target = named["target_facts"]
    pair = target if isinstance(target, str) else (target[0], target[1])
    return RelationalDataset.from_facts(named["facts"], pair, named.get("settings"), **options)


def files_of(named: Mapping[str, Any]) -> list[str]:
    """Return the files of a relational source: all files of a folder, none of a database."""
    if "folder" in named:
        folder = Path(named["folder"])
        return [str(path) for path in sorted(folder.iterdir())] if folder.is_dir() else [str(folder)]
    given = [named.get("facts", []), named.get("target_facts", []), named.get("settings", [])]
    return [path for one in given for path in ([one] if isinstance(one, str) else one)]


def with_variables(text: str, value_of: Callable[[str], str | None], what: str) -> str:
    """Return a text in which variables stand for their values.

    Parameters
    ----------
    text : str
        The text.
    value_of : callable
        Returns the value of a variable; None and "" are not set.
    what : str
        What the text says, as an error names it.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.sources import with_variables
    >>> with_variables("${HERE}/a/${THERE:-b}", {"HERE": "x"}.get, "folder")
    'x/a/b'
    """

    def set_to(variable: re.Match[str]) -> str:
        name, default = variable["name"], variable["default"]
        held = value_of(name)
        if not held and default is None:
            raise ParameterError(
                f"{what} = {text!r}, but the environment variable {name} is not set: set it, or give a default as in "
                f"${{{name}:-data}}"
            )
        return held or str(default)

    return _VARIABLE.sub(set_to, text)
