"""What fitted predictors know of their features and their target, as files hold it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from omnirank.core.errors import DataTypeError, OmnirankError
from omnirank.core.files import StoredArrays
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.models import JsonFields, value_to_json, variables_from_json, variables_to_json
from omnirank.data.table import Levels, Table
from omnirank.tasks import Task, get_task
from omnirank.tasks.columns import PrototypeColumns

_CELLS = {"float32": np.float32, "float64": np.float64}

# -- features ---------------------------------------------------------------------------------------------


def features_contents(model: Any) -> dict[str, Any]:
    """Return what a fitted model knows of its features."""
    table: Table = model._features
    return {
        "features": variables_to_json(table.names, table.levels, "feature"),
        "named": hasattr(model, "feature_names_in_"),
        "cells": str(table.dtype),
        "sparse": table.is_sparse,
        "dates": sorted(table.dates),
        "had_missing": [bool(missing) for missing in model._had_missing],
    }


def restore_features(model: Any, facts: JsonFields) -> None:
    """Set what a fitted model knows of its features."""
    names, levels = variables_from_json(facts, "features")
    cells = facts.text("cells")
    if not names or cells not in _CELLS:
        facts.refuse("there are no features, or cells of an unknown type")
    dates = facts.entries("dates")
    if not all(isinstance(name, str) and name in names for name in dates):
        facts.refuse("there is no such feature", "dates")
    had_missing = facts.entries("had_missing")
    if len(had_missing) != len(names) or not all(isinstance(entry, bool) for entry in had_missing):
        facts.refuse("not one true or false per feature", "had_missing")
    n_nominal = sum(own is not None for own in levels)
    is_sparse, dtype = facts.flag("sparse"), _CELLS[cells]
    model._features = Table(
        names,
        levels,
        np.empty((0, 0 if is_sparse else len(names) - n_nominal), dtype),
        np.empty((0, 0 if is_sparse else n_nominal), np.int32),
        sparse.csc_array((0, len(names)), dtype=dtype) if is_sparse else None,
        frozenset(dates),
    )
    model._had_missing = tuple(had_missing)
    model.n_features_in_ = len(names)
    if facts.flag("named"):
        model.feature_names_in_ = np.array(names, dtype=object)


# -- target -----------------------------------------------------------------------------------------------


def target_contents(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return what a fitted predictor knows of its target, and the targets' weights and the spread of their columns."""
    columns: PrototypeColumns = model._columns
    if not all(
        np.array_equal(own, usual)
        for own, usual in zip((columns.variable, columns.level), _expanded(columns.levels), strict=True)
    ):
        raise DataTypeError(f"the task {model.task_!r} has columns of its own, which files of models do not hold")
    hierarchy = model.hierarchy_
    facts = {
        "task": model.task_,
        "targets": variables_to_json(columns.names, columns.levels, "target"),
        "sparse_target": columns.is_sparse,
        "parents": None if hierarchy is None else [list(above) for above in hierarchy.parents],
        "supervision": value_to_json(model.supervision_, "supervision_"),
        "supervision_reason": model.supervision_reason_,
        "supervision_curve": value_to_json(model.supervision_curve_, "supervision_curve_"),
    }
    return facts, {"target_weights": columns.weights, "column_spread": model._column_spread}


def restore_target(model: Any, facts: JsonFields, stored: StoredArrays) -> None:
    """Set what a fitted predictor knows of its target."""
    task = known_task(facts, model.supported_tasks)
    names, levels = variables_from_json(facts, "targets")
    if not names:
        facts.refuse("there are none", "targets")
    nominal = [own is not None for own in levels]
    if task.kind == "classes" and not all(levels):
        facts.refuse("a target without classes", "targets")
    if (task.kind in ("numbers", "labels") and any(nominal)) or () in levels:
        facts.refuse(f"the levels do not go with {task.name}", "targets")
    variable, level = _expanded(levels)
    is_sparse = facts.flag("sparse_target")
    columns = PrototypeColumns(
        sparse.csr_array((0, len(variable))) if is_sparse else np.empty((0, len(variable))),
        np.empty(0, bool),
        variable,
        level,
        names,
        levels,
        stored.take("target_weights", np.float64, (len(names),)),
    )
    model._note_target(task.name, _hierarchy(facts, task, names), columns)
    model._column_spread = stored.take("column_spread", np.float64, (len(variable),))
    model.supervision_ = facts.number("supervision")
    model.supervision_reason_ = facts.text("supervision_reason")
    curve = facts.value("supervision_curve")
    if not isinstance(curve, dict) or not all(
        isinstance(entry, int | float) for pair in curve.items() for entry in pair
    ):
        facts.refuse("not a table of numbers", "supervision_curve")
    model.supervision_curve_ = curve


def known_task(facts: JsonFields, supported: Sequence[str]) -> Task:
    """Return the task of a file, which must be registered and one that the model handles."""
    name = facts.text("task")
    if name not in supported:
        facts.refuse(f"{name[:60]!r} is no task of the model; it handles {', '.join(supported)}", "task")
    return get_task(name)


def _expanded(levels: Sequence[Levels | None]) -> tuple[np.ndarray, np.ndarray]:
    """Variable and level of each prototype column: one per level of a nominal target, one for any other."""
    widths = [1 if own is None else len(own) for own in levels]
    within = [np.array([-1]) if own is None else np.arange(len(own)) for own in levels]
    return np.repeat(np.arange(len(levels)), widths), np.concatenate([np.empty(0, np.intp), *within])


def _hierarchy(facts: JsonFields, task: Task, labels: tuple[str, ...]) -> Hierarchy | None:
    parents = facts.get("parents")
    if (parents is None) == task.hierarchical:
        facts.refuse(f"a hierarchy does not go with {task.name}, or is missing", "parents")
    if parents is None:
        return None
    try:
        return Hierarchy(labels, tuple(tuple(above) for above in parents))
    except (OmnirankError, TypeError, ValueError, OverflowError) as error:
        facts.refuse(f"malformed ({error})", "parents")
