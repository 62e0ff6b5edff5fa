"""Fitted models as files: plain, versioned and checked; nothing in them is executed."""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from omnirank.core.array_file import StoredArrays, packed_arrays
from omnirank.core.atomic_file import replacing
from omnirank.core.errors import DataTypeError, FileFormatError, OmnirankError
from omnirank.core.own_json import own_heading
from omnirank.core.parameters import check_parameters
from omnirank.core.suggestions import did_you_mean
from omnirank.core.types import PathLike
from omnirank.data.model_values import JsonFields, value_to_json
from omnirank.data.text_source import read_whole

_FORMAT = "omnirank-model"
_VERSIONS = range(1, 2)
_ZIP = b"PK"
# The models that can be written, and where they are.
_MODELS = {
    "PCTClassifier": "omnirank.ensembles.pct",
    "PCTClusterer": "omnirank.ensembles.pct_clusterer",
    "PCTForestClassifier": "omnirank.ensembles.pct_forest",
    "PCTForestRegressor": "omnirank.ensembles.pct_forest",
    "PCTRegressor": "omnirank.ensembles.pct",
}


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
        check_is_fitted(self)
        if _class_of(type(self).__name__) is not type(self):
            raise _not_written(self)
        facts, arrays = self._contents()
        header = own_heading(_FORMAT, _VERSIONS[-1]) | {
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


class UnsavedModel:
    """A model that cannot be written to a file, and says so."""

    def save(self, path: PathLike) -> None:
        """Refuse to write the model to a file: it would hold all training examples."""
        check_is_fitted(self)
        raise _not_written(self)


def _not_written(model: Any) -> DataTypeError:
    known = ", ".join(_MODELS)
    return DataTypeError(f"{type(model).__name__} cannot be written to a file of models: {known} can")


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
        raise FileFormatError(f"not a model: model.save and omnirank fit write such files{_read_by(path)}", path=path)
    stored = StoredArrays(content, path, _FORMAT, _VERSIONS, "a model")
    header = JsonFields(stored.header, path)
    name = header.text("model")
    found = _class_of(name)
    if found is None:
        header.refuse(f"there is no model {name[:60]!r} of which files are read: there are {', '.join(_MODELS)}")
    model = _made(found, header.part("parameters"))
    try:
        model._restore(header.part("facts"), stored)
    except OmnirankError:
        raise
    except (ValueError, TypeError, LookupError, OverflowError, MemoryError) as error:
        header.refuse(f"the model is malformed ({type(error).__name__}: {error})")
    stored.finish()
    return model


def _read_by(path: Path) -> str:
    """What reads a file that is no model, by its ending."""
    if path.suffix == ".json":
        return "; om.Ranking.load reads a ranking"
    return "; om.load reads data" if path.suffix in (".csv", ".arff", ".parquet") else ""


def _class_of(name: str) -> Any:
    """The class of that name of which files are written; None where there is none."""
    return getattr(import_module(_MODELS[name]), name) if name in _MODELS else None


def _parameters(model: Any) -> dict[str, Any]:
    found = {}
    for name, value in model.get_params(deep=False).items():
        if isinstance(value, np.random.Generator | np.random.RandomState):
            warnings.warn(
                f"{name} is a {type(value).__name__}, whose state is not written: in the loaded model it is None",
                UserWarning,
                stacklevel=3,
            )
            value = None
        found[name] = value_to_json(value, f"parameter {name!r}")
    return found


def _made(found: Any, parameters: JsonFields) -> Any:
    """The model that is not fitted yet, with the parameters of the file."""
    known = found().get_params(deep=False)
    given = {name: parameters.value(name) for name in parameters.keys()}  # noqa: SIM118
    for name in given:
        if name not in known:
            parameters.refuse(f"{found.__name__} has no such parameter{did_you_mean(name, known)}", name[:60])
    model = found(**given)
    try:
        check_parameters(model)
    except OmnirankError as error:
        parameters.refuse(str(error))
    return model
