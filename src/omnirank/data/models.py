"""Fitted models as files: plain, versioned and checked; nothing in them is executed."""

from __future__ import annotations

import math
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from omnirank.core.errors import DataError, DataTypeError, FileFormatError, OmnirankError
from omnirank.core.files import StoredArrays, own_heading, packed_arrays, replacing
from omnirank.core.parameters import check_parameters
from omnirank.core.ranking.files import fields_from_json, json_text
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.text import did_you_mean
from omnirank.core.types import PathLike
from omnirank.data.files import read_whole
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.table import Levels

_FORMAT = "omnirank-model"
_VERSION = 1
_ZIP = b"PK"
# The models that can be written, and where they are.
_MODELS = {
    "PCTClassifier": "omnirank.ensembles.pct",
    "PCTClusterer": "omnirank.ensembles.clusterer",
    "PCTForestClassifier": "omnirank.ensembles.pct",
    "PCTForestRegressor": "omnirank.ensembles.pct",
    "PCTRegressor": "omnirank.ensembles.pct",
    "RelationalBoosting": "omnirank.relational.learners",
    "RelationalForest": "omnirank.relational.learners",
    "RelationalTree": "omnirank.relational.learners",
}
_ODD_NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_LONGEST = 60


class SavedModel(ABC):
    """A model that can be written to a file, if the table of models above names it: subclasses of others cannot.

    Such a model returns what it is made of by ``_contents`` and takes it back by ``_restore``.
    """

    def save(self, path: PathLike) -> None:
        """Write the fitted model to a file, which appears whole or not at all; `omnirank.load_model` reads it.

        The file holds parameters, features, targets and trees, but nothing of single training examples
        (``oob_decision_function_``, ``oob_prediction_``, ``labels_``). Nothing in it is executed when it is read.

        Parameters
        ----------
        path : str or Path
            The file; its ending is up to you (``.omr`` in these pages), ``.gz`` packs it.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        if _class_of(type(self).__name__) is not type(self):
            known = ", ".join(_MODELS)
            problem = f"{type(self).__name__} cannot be written to a file of models: {known} can"
            raise DataTypeError(problem)
        facts, arrays = self._contents()
        header = own_heading(_FORMAT, _VERSION) | {
            "model": type(self).__name__,
            "parameters": _parameters(self),
            "facts": facts,
        }
        content = packed_arrays(header, arrays)
        with replacing(path) as file:
            file.write(content)

    @abstractmethod
    def _contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return facts, as JSON holds them, and arrays."""

    @abstractmethod
    def _restore(self, facts: JsonFields, stored: StoredArrays) -> None:
        """Take back what `_contents` returned, checked: whatever is wrong with it is a `FileFormatError`."""


def load_model(path: PathLike) -> Any:
    """Read a fitted model that ``save`` has written.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    estimator
        It predicts the same bits as the one that was written, and has its parameters. A file that is no model, that is
        damaged or that was written by a newer version of omnirank is a `FileFormatError`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import omnirank as om
    >>> data = om.datasets.load_sample("iris")
    >>> model = om.PCTForestClassifier(n_trees=10, random_state=0).fit(data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "iris.omr")
    ...     model.save(path)
    ...     same = om.load_model(path)
    >>> bool((same.predict_proba(data) == model.predict_proba(data)).all())
    True
    """
    if not isinstance(path, str | os.PathLike):
        raise DataTypeError(f"load_model reads one file: give its path, not {type(path).__name__}")
    path = Path(path)
    content = read_whole(path)
    if not content.startswith(_ZIP):
        raise FileFormatError("not a model: model.save and omnirank fit write such files", path=path)
    stored = StoredArrays(content, path, _FORMAT, _VERSION, "a model")
    header = JsonFields(stored.header, path)
    name = header.text("model")
    model_class = _class_of(name)
    if model_class is None:
        header.refuse(f"there is no model {name[:60]!r} of which files are read: there are {', '.join(_MODELS)}")
    model = _made(model_class, header.part("parameters"))
    try:
        model._restore(header.part("facts"), stored)
    except OmnirankError:
        raise
    except (ValueError, TypeError, LookupError, OverflowError, MemoryError) as error:
        header.refuse(f"the model is malformed ({type(error).__name__}: {error})")
    stored.finish()
    return model


def _class_of(name: str) -> Any:
    """The class of that name of which files are written; None where there is none."""
    return getattr(import_module(_MODELS[name]), name) if name in _MODELS else None


def _parameters(model: Any) -> dict[str, Any]:
    parameters = {}
    for name, value in model.get_params(deep=False).items():
        if isinstance(value, np.random.Generator | np.random.RandomState):
            warnings.warn(
                f"{name} is a {type(value).__name__}, whose state is not written: in the loaded model it is None",
                UserWarning,
                stacklevel=3,
            )
            value = None
        parameters[name] = value_to_json(value, f"parameter {name!r}")
    return parameters


def _made(model_class: Any, parameters: JsonFields) -> Any:
    """The model that is not fitted yet, with the parameters of the file."""
    known = model_class().get_params(deep=False)
    given = {name: parameters.value(name) for name in parameters.keys()}  # noqa: SIM118
    for name in given:
        if name not in known:
            parameters.refuse(f"{model_class.__name__} has no such parameter{did_you_mean(name, known)}", name[:60])
    model = model_class(**given)
    try:
        check_parameters(model)
    except OmnirankError as error:
        parameters.refuse(str(error))
    return model


def value_to_json(value: Any, where: str) -> Any:
    """Return a value as JSON holds it; what JSON does not have becomes an object of one key that names its type.

    Parameters
    ----------
    value : anything
        None, a boolean, number or string; lists, tuples and dictionaries of these; an array of numbers, a
        `Hierarchy` or a `Ranking`. Other values are a `DataTypeError`.
    where : str
        What the value is called in an error.

    Examples
    --------
    >>> from omnirank.data.models import value_to_json
    >>> value_to_json((1, {"a": float("inf")}), "parameter 'x'")
    {'tuple': [1, {'dict': [['a', {'float': 'inf'}]]}]}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": str(float(value))}
    if isinstance(value, list):
        return [value_to_json(entry, where) for entry in value]
    if isinstance(value, tuple):
        return {"tuple": [value_to_json(entry, where) for entry in value]}
    if isinstance(value, dict):
        return {"dict": [[value_to_json(key, where), value_to_json(entry, where)] for key, entry in value.items()]}
    if isinstance(value, Hierarchy):
        return {"hierarchy": {"labels": list(value.labels), "parents": [list(above) for above in value.parents]}}
    if isinstance(value, Ranking):
        return {"ranking": json_text({field.name: getattr(value, field.name) for field in fields(value)})}
    if hasattr(value, "__array__") and np.asarray(value).dtype.kind in "fiu":
        return {"array": value_to_json(np.asarray(value).tolist(), where)}
    raise DataTypeError(f"{where} is of type {type(value).__name__}, which files of models do not hold")


class JsonFields:
    """Facts of a file, checked one by one: what is not as it should be is a `FileFormatError` that names it.

    Parameters
    ----------
    found : anything
        What JSON gave.
    path : str or Path
        The file, for errors.
    where : str
        Place of the facts within it.

    Examples
    --------
    >>> from omnirank.data.models import JsonFields
    >>> JsonFields({"task": 3}, "model").text("task")
    Traceback (most recent call last):
    omnirank.core.errors.FileFormatError: model: task: 3 is not a text
    """

    def __init__(self, content: Any, path: str | Path, where: str = "") -> None:
        self.path = path
        self.where = where
        if not isinstance(content, dict):
            self.refuse("not an object")
        self._content = content

    def refuse(self, problem: str, key: str = "") -> NoReturn:
        """Raise the error of a malformed file."""
        place = ".".join(part for part in (self.where, key) if part)
        raise FileFormatError(f"{place}: {problem}" if place else problem, path=self.path) from None

    def get(self, key: str) -> Any:
        """Return what is there, of any type."""
        if key not in self._content:
            self.refuse(f"there is no {key!r}")
        return self._content[key]

    def keys(self) -> list[str]:
        """Return the names of what is there."""
        return list(self._content)

    def part(self, key: str) -> JsonFields:
        """Return facts within the facts."""
        return JsonFields(self.get(key), self.path, f"{self.where}.{key}" if self.where else key)

    def flag(self, key: str) -> bool:
        """Return true or false."""
        return bool(self._of(key, bool, "neither true nor false"))

    def text(self, key: str) -> str:
        """Return a text."""
        return str(self._of(key, str, "not a text"))

    def number(self, key: str) -> float:
        """Return a number, which may be NaN or infinite."""
        value = self.value(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.refuse(f"{_shown(value)} is not a number", key)
        return float(value)

    def entries(self, key: str) -> list[Any]:
        """Return a list of anything."""
        return list(self._of(key, list, "not a list"))

    def _of(self, key: str, kind: type, problem: str) -> Any:
        value = self.get(key)
        if not isinstance(value, kind):
            self.refuse(f"{_shown(value)} is {problem}", key)
        return value

    def value(self, key: str) -> Any:
        """Return the value that `value_to_json` wrote."""
        try:
            return _from_json(self.get(key), Path(self.path))
        except RecursionError:
            self.refuse("too many values within values", key)
        except OmnirankError as error:
            self.refuse(getattr(error, "problem", str(error)), key)
        except (TypeError, ValueError, LookupError, OverflowError) as error:
            self.refuse(f"malformed ({error})", key)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _from_json(written: Any, path: Path) -> Any:
    if isinstance(written, list):
        return [_from_json(entry, path) for entry in written]
    if not isinstance(written, dict):
        return written
    if len(written) != 1:
        raise DataError(f"{_shown(written)} names no type")
    ((kind, content),) = written.items()
    if kind == "float":
        return _ODD_NUMBERS[content]
    if kind == "tuple":
        return tuple(_from_json(entry, path) for entry in content)
    if kind == "dict":
        return {_from_json(key, path): _from_json(entry, path) for key, entry in content}
    if kind == "array":
        return np.add(_from_json(content, path), 0)  # of texts, it is an error
    if kind == "hierarchy":
        return Hierarchy(tuple(content["labels"]), tuple(tuple(above) for above in content["parents"]))
    if kind == "ranking":
        return Ranking(**fields_from_json(content, path))
    raise DataError(f"there is no type {_shown(kind)}")


# -- variables --------------------------------------------------------------------------------------------


def variables_to_json(names: Sequence[str], levels: Sequence[Levels | None], what: str) -> list[dict[str, Any]]:
    """Return names and levels of features or targets as JSON holds them.

    Examples
    --------
    >>> from omnirank.data.models import variables_to_json
    >>> variables_to_json(["size", "colour"], [None, ("red", "blue")], "feature")
    [{'name': 'size', 'levels': None}, {'name': 'colour', 'levels': ['red', 'blue']}]
    """
    variables = []
    for name, own in zip(names, levels, strict=True):
        levels_of = None if own is None else value_to_json(list(own), f"a level of {what} {name!r}")
        variables.append({"name": str(name), "levels": levels_of})
    return variables


def variables_from_json(given: JsonFields, key: str) -> tuple[tuple[str, ...], tuple[Levels | None, ...]]:
    """Return the names and levels that `variables_to_json` wrote."""
    names, levels = [], []
    for i, entry in enumerate(given.entries(key)):
        variable = JsonFields(entry, given.path, f"{key}[{i}]")
        names.append(variable.text("name"))
        levels.append(_levels(variable))
    if len(set(names)) != len(names):
        given.refuse("a name is there twice", key)
    return tuple(names), tuple(levels)


def _levels(variable: JsonFields) -> Levels | None:
    levels = variable.value("levels")
    if levels is None:
        return None
    if not isinstance(levels, list) or not all(isinstance(level, str | bool | int | float) for level in levels):
        variable.refuse("not a list of texts, numbers or true and false", "levels")
    if any(isinstance(level, float) and math.isnan(level) for level in levels) or len(set(levels)) != len(levels):
        variable.refuse("a level is there twice, or is no number", "levels")
    return tuple(levels)
