"""From the content of a file to a data set: which columns are features, target, key, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from omnirank.core.errors import DataError, ParameterError, setting
from omnirank.core.parameters import check, choice
from omnirank.data.column_choice import ColumnChoice, choose_columns
from omnirank.data.columns import code_values, table_from
from omnirank.data.dataset import Dataset
from omnirank.data.files import Content, plain_name
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.hierarchy.clus import HierarchicalAttribute
from omnirank.data.infer import FoundTarget, read_target, target_of_sets
from omnirank.data.notes import Remarks
from omnirank.data.table import Table, refuse_rounded
from omnirank.data.task_registry import is_unsupervised, task_named, task_target

ROLES = ("target", "features", "key", "ignore")


@dataclass(frozen=True)
class Roles:
    """Positions (from 0) of a content's columns by role, and what the target's labels form."""

    target: tuple[int, ...]
    features: tuple[int, ...]
    hierarchy: Hierarchy | None = None
    notes: tuple[str, ...] = ()


def assign_roles(content: Content, choices: Mapping[str, Any], strings: str = "error") -> Roles:
    """Return the role of each column by the choices of target, features, key and ignore; two roles are an error.

    Without ``target``, the columns that the file marks are the target. Without ``features``, all columns without
    another role are features. String columns are an error, or dropped with a note.
    """
    check("strings", strings, choice("error", "drop"))
    names = content.names
    given = {role: choices.get(role) for role in ROLES}
    chosen = {role: [] if c is None else choose_columns(c, names, role) for role, c in given.items()}
    if given["target"] is None:
        taken = {i for role in chosen.values() for i in role}
        marked = choose_columns([*content.target], names, "target") if content.target else []
        chosen["target"] = [i for i in marked if i not in taken]
    _refuse_two_roles(chosen, names)
    others = {*chosen["target"], *chosen["key"], *chosen["ignore"]}
    wanted = chosen["features"] or [i for i in range(len(names)) if i not in others]
    kept, notes = _usable(content, wanted, explicit=bool(chosen["features"]), strings=strings)
    if not kept:
        raise DataError(f"{content.path}: no column is left as a feature")
    if not chosen["target"]:
        named = f"the task is clustering; {setting('target')} names one"
        notes.append(f"no target was named and the file marks none: {named}")
    order = content.label_order if given["target"] is None and len(chosen["target"]) == len(content.target) else None
    return Roles(tuple(chosen["target"]), tuple(kept), order, tuple(notes))


def _refuse_two_roles(chosen: dict[str, list[int]], names: Sequence[str]) -> None:
    role_of: dict[int, str] = {}
    for role, columns in chosen.items():
        for i in columns:
            if i in role_of:
                raise ParameterError(f"column {names[i]!r} is in both {role_of[i]} and {role}: choose one")
            role_of[i] = role


def _usable(content: Content, wanted: Sequence[int], *, explicit: bool, strings: str) -> tuple[list[int], list[str]]:
    """Columns that can be features; the others must be named, unless they are set aside with a note."""
    kept, notes = [], []
    for i in wanted:
        name, kind = content.names[i], content.kinds[i]
        if kind == "string" and strings == "error":
            raise DataError(
                f"{content.path}: {name!r} is a string attribute, which cannot be a feature: "
                f"{setting('strings', 'drop')} leaves such attributes out, {setting('nominal', name)} takes its values "
                "as categories"
            )
        if kind in ("hierarchical", "key") and explicit:
            raise DataError(f"{content.path}: the {kind} attribute {name!r} cannot be a feature")
        if kind in ("string", "hierarchical", "key"):
            notes.append(f"the {kind} attribute {name!r} is not used")
        else:
            kept.append(i)
    return kept, notes


def with_nominal(content: Content, nominal: ColumnChoice | None) -> Content:
    """Return the content with the chosen numeric and string columns (None: no column) as nominal ones."""
    if nominal is None:
        return content
    chosen = choose_columns(nominal, content.names, "nominal")
    kinds, texts, table = list(content.kinds), dict(content.texts), content.table
    numbers = [content.names[i] for i in chosen if kinds[i] in ("numeric", "date", "nominal")]
    if numbers:
        table = table_from(table, nominal=numbers)
    for i in chosen:
        name = content.names[i]
        if kinds[i] == "hierarchical":
            raise DataError(f"{content.path}: the hierarchical attribute {name!r} cannot be nominal")
        if name in texts:
            if table.is_sparse:
                raise DataError(f"the string attribute {name!r} of a sparse file cannot be nominal")
            codes, levels = code_values(texts.pop(name), name)
            column = Table.from_columns([name], [codes], [levels])
            table = table.beside(column) if table.n_columns else column
        kinds[i] = "nominal"
    in_file = {name: i for i, name in enumerate(content.names)}
    order = sorted(range(table.n_columns), key=lambda j: in_file[table.names[j]])
    return replace(content, kinds=tuple(kinds), texts=texts, table=table.select(order))


def dataset_from(content: Content, roles: Roles, *, task: str = "auto", name: str | None = None) -> Dataset:
    """Return the data set of a content whose columns have their roles."""
    at = {column: j for j, column in enumerate(content.table.names)}
    features = content.table.select([at[content.names[i]] for i in roles.features])
    asked = task
    labels = content.labels if any(content.kinds[i] == "hierarchical" for i in roles.target) else None
    hierarchy = roles.hierarchy if labels is None else labels.hierarchy
    target, task, doubts = _target(content, roles, asked, at, labels)
    refuse_rounded(features)
    notes = [*content.notes, *roles.notes]
    if content.weights is not None:
        notes.append("the rows have weights, which are not part of the data set: read_arff(path).weights has them")
    if roles.target and target is None and not is_unsupervised(asked):
        named = ", ".join(repr(content.names[i]) for i in roles.target)
        notes.append(f"no value of the target {named} is known: features are ranked without it")
    return Dataset._of_checked(
        features,
        target,
        task,
        None if target is None else hierarchy,
        name or plain_name(content.path),
        Remarks(tuple(notes), doubts, from_file=True),
    )


def _target(
    content: Content, roles: Roles, task: str, at: dict[str, int], labels: HierarchicalAttribute | None
) -> FoundTarget:
    if not roles.target or is_unsupervised(task):
        if task != "auto" and not is_unsupervised(task):
            raise ParameterError("task", task, "it needs a target, but none was named and the file marks none")
        return FoundTarget(None, task_named("none"))
    if labels is not None:
        if len(roles.target) > 1:
            raise DataError(f"{content.path}: the hierarchical attribute {labels.name!r} must be the only target")
        if task != "auto" and not task_target(task).hierarchical:
            raise ParameterError("task", task, f"the target {labels.name!r} is a label hierarchy")
        return FoundTarget(target_of_sets(labels.rows, labels.hierarchy), task_named("labels", hierarchical=True))
    for i in roles.target:
        if content.kinds[i] in ("string", "key"):
            raise DataError(
                f"{content.path}: the target {content.names[i]!r} is a {content.kinds[i]} attribute; "
                f"{setting('nominal', content.names[i])} takes its values as classes"
            )
    names = [content.names[i] for i in roles.target]
    table = content.table.select([at[name] for name in names])
    if task == "auto" and content.task != "auto" and tuple(names) == content.target:
        task = content.task
    integers = set(names) <= content.integers
    return read_target(table, task, roles.hierarchy, declared=content.declared, integers=integers)
