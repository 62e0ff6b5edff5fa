"""Facts become a relational data set: types of their arguments are declared or inferred, then coded."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, setting
from omnirank.core.text import counted, did_you_mean
from omnirank.core.types import PathLike
from omnirank.data.arff.tokens import NUMBER
from omnirank.data.files import plain_name
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.infer import FoundTarget, read_target
from omnirank.data.table import Levels
from omnirank.data.task_registry import task_named, task_target
from omnirank.relational.cells import KeyCells, ValueCells, code_identifiers
from omnirank.relational.database import Component, Database, Kind, Relation, sorted_facts
from omnirank.relational.dataset import RelationalDataset
from omnirank.relational.fact_files import FactSettings, Predicate, files, read_fact_settings, read_facts
from omnirank.relational.schema import names_given
from omnirank.relational.summary import RelationalRemarks

Place = tuple[str, int]
NUMERIC, NOMINAL = "numeric", "nominal"


def infer_types(
    predicates: Mapping[str, Predicate], examples: Predicate, types: Mapping[str, tuple[str, ...]] | None = None
) -> dict[str, tuple[str, ...]]:
    """Return a type for each argument of each predicate: "numeric", "nominal..." or the name of a type of objects.

    Arguments that share a name are objects of one type. Numbers in the last of several places are numeric. A text that
    only occurs in the last of several places of one predicate is a nominal value; all others are objects.

    Parameters
    ----------
    predicates : mapping of str to Predicate
        The descriptive facts.
    examples : Predicate
        The arguments that identify the examples: objects.
    types : mapping of str to tuple of str, optional
        Which arguments are of the same type, where that is known; the target's too.

    Examples
    --------
    >>> from omnirank.relational.fact_files import Predicate
    >>> from omnirank.relational.facts import infer_types
    >>> likes = Predicate("likes", [["ana", "bob"], ["beef", "eggs"]])
    >>> knows = Predicate("knows", [["ana"], ["cid"]])
    >>> infer_types({"likes": likes, "knows": knows}, Predicate("vegan", [["ana", "cid"]]))
    {'likes': ('vegan.1', 'nominal likes.2'), 'knows': ('vegan.1', 'vegan.1'), 'vegan': ('vegan.1',)}
    """
    everything = {**predicates, examples.name: examples}
    places = {(name, i): set(p.arguments[i]) for name, p in everything.items() for i in range(p.arity)}
    roots = _joined(places, examples) if types is None else {(name, i): types[name][i] for name, i in places}
    members: dict[str, list[Place]] = {}
    for place, root in roots.items():
        members.setdefault(root, []).append(place)
    of_examples = {roots[examples.name, i] for i in range(examples.arity)}
    names = {}
    for root, those in members.items():
        last = [everything[name].arity > 1 and i == everything[name].arity - 1 for name, i in those]
        values = set().union(*(places[place] for place in those))
        if root in of_examples or not all(last):
            names[root] = root
        elif values and all(map(NUMBER.fullmatch, values)):
            names[root] = f"{NUMERIC} {root}"
        else:
            names[root] = f"{NOMINAL} {root}" if len(those) == 1 else root
    return {name: tuple(names[roots[name, i]] for i in range(p.arity)) for name, p in everything.items()}


def _joined(places: Mapping[Place, set[str]], examples: Predicate) -> dict[Place, str]:
    """A name for each place, the same for places that share an argument.

    Numbers are shared by chance: a place that holds only numbers is joined to another one only if neither is the last
    of several, and all numbers of the one occur in the other.
    """
    arity: dict[str, int] = {}
    for name, i in places:
        arity[name] = max(arity.get(name, 0), i + 1)
    # the examples' places first, which give their type its name
    order = sorted(places, key=lambda place: (place[0] != examples.name, place))
    numbers = {place for place in order if places[place] and all(map(NUMBER.fullmatch, places[place]))}
    root: dict[Place, Place] = {}
    for place in order:
        root[place] = place
        own_last = place[1] == arity[place[0]] - 1 and arity[place[0]] > 1 and place[0] != examples.name
        for other in list(root):
            if root[other] == root[place] or (other in numbers) != (place in numbers):
                continue
            if place in numbers:
                other_last = other[1] == arity[other[0]] - 1 and arity[other[0]] > 1 and other[0] != examples.name
                one, two = places[place], places[other]
                same = not own_last and not other_last and (one <= two or two <= one)
            else:
                same = not places[place].isdisjoint(places[other])
            if same:
                first, second = sorted((root[other], root[place]), key=order.index)
                root = {p: first if r == second else r for p, r in root.items()}
    return {place: f"{r[0]}.{r[1] + 1}" for place, r in root.items()}


_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
TargetFacts = PathLike | tuple[PathLike, PathLike]


class _Examples(NamedTuple):
    """The examples' arguments, their target values, and what is declared about these."""

    arguments: Predicate
    values: list[Any]
    kind: str | None


def dataset_from_facts(
    facts: PathLike | Sequence[PathLike], target_facts: TargetFacts, settings: PathLike | None, exclude: Any,
    encoding: str, name: str | None, task: str, hierarchy: Hierarchy | None,
) -> RelationalDataset:  # fmt: skip
    """Return a data set as :meth:`RelationalDataset.from_facts` does."""
    said = FactSettings() if settings is None else read_fact_settings(settings, encoding)
    predicates = read_facts(facts, encoding)
    notes: list[str] = []
    examples = _read_examples(target_facts, said, notes, encoding)
    predicates.pop(examples.arguments.name, None)
    for excluded in names_given("exclude", exclude, "['likes']"):
        if predicates.pop(excluded, None) is None:
            raise DataError(f"exclude: there are no facts of {excluded!r}{did_you_mean(excluded, predicates)}")
    types = _types(predicates, examples.arguments, said, settings is not None, notes)
    coded = _Coded(predicates, examples.arguments, types)
    database = Database(coded.objects, {relation.name: relation for relation in coded.relations()})
    rows, starts = coded.example_rows()
    target, found_task, doubts = _target(examples, rows, starts, task, hierarchy)
    codes = tuple(code[rows[starts]] for code in coded.example_codes)
    remarks = RelationalRemarks(tuple(notes), doubts, _own_columns(database, coded.example_types, codes), target)
    return RelationalDataset(
        database,
        coded.example_types,
        codes,
        target,
        found_task,
        hierarchy=hierarchy,
        name=name or plain_name(files(facts)[0]),
        target_name=examples.arguments.name,
        _remarks=remarks,
        modes=_modes(database, said),
        aggregates=said.aggregates,
    )


# -- examples -----------------------------------------------------------------------------------------


def _read_examples(given: TargetFacts, said: FactSettings, notes: list[str], encoding: str) -> _Examples:
    """Target facts, whose last argument is the value; or positive and negative ones, of which all are the example."""
    if isinstance(given, tuple | list):
        if len(given) != 2:
            raise DataError("target_facts: give one file, or a pair of positive and negative facts")
        found = [_one_predicate(path, said, encoding) for path in given]
        names = {predicate.name for predicate in found}
        if len(names) > 1 or found[0].arity != found[1].arity:
            raise DataError(f"target_facts: positive and negative facts are of {' and '.join(sorted(names))}")
        positive = set(zip(*found[0].arguments, strict=True))
        negative = [fact for fact in zip(*found[1].arguments, strict=True) if fact not in positive]
        n_both = found[1].n_facts - len(negative)
        if n_both:
            notes.append(
                f"{counted(n_both, 'negative fact')} of {found[0].name} are positive ones too: taken as positive"
            )
        joined = [list(place) for place in zip(*positive, *negative, strict=True)]
        values = [True] * len(positive) + [False] * len(negative)
        return _Examples(Predicate(found[0].name, joined), values, None)
    predicate = _one_predicate(given, said, encoding)
    if predicate.arity < 2:
        raise DataError(
            f"target_facts: {predicate.name} has one argument: the last is the value to predict; of positive and "
            "negative facts give the pair of files"
        )
    types = said.types.get(predicate.name, ())
    kind = NUMERIC if types and types[-1].startswith(NUMERIC) else NOMINAL if types and said.kinds_are_known else None
    return _Examples(Predicate(predicate.name, predicate.arguments[:-1]), predicate.arguments[-1], kind)


def _one_predicate(path: PathLike, said: FactSettings, encoding: str) -> Predicate:
    found = read_facts(path, encoding)
    if said.target is not None:
        found = {name: predicate for name, predicate in found.items() if name == said.target}
    if len(found) != 1:
        raise DataError(f"{path} holds facts of {', '.join(sorted(found)) or 'no predicate'}: give those of the target")
    return next(iter(found.values()))


def _target(
    examples: _Examples, rows: np.ndarray, starts: np.ndarray, task: str, hierarchy: Hierarchy | None
) -> FoundTarget:
    """The target of the examples; several facts of one example are its label set, if that is the task."""
    values = _numbers([examples.values[row] for row in rows.tolist()], examples.kind)
    ends = np.append(starts[1:], len(values))
    if hierarchy is not None or (task != "auto" and task_target(task).kind == "labels"):
        sets = [set(map(str, values[a:b])) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
        return read_target(sets, task, hierarchy)
    for a, b in zip(starts.tolist(), ends.tolist(), strict=True):
        if b - a > 1 and len(set(values[a:b])) > 1:
            said = ", ".join(place[rows[a]] for place in examples.arguments.arguments)
            found = " and ".join(map(str, sorted(set(values[a:b]))[:2]))
            raise DataError(
                f"target_facts: {examples.arguments.name}({said}) has the values {found}; "
                f"{setting('task', 'multi-label')} takes them as a label set"
            )
    if task == "auto" and examples.kind is not None:
        task = task_named("classes" if examples.kind == NOMINAL else "numbers", single=True)
    return read_target([values[a] for a in starts.tolist()], task, names=[examples.arguments.name])


def _numbers(values: list[Any], kind: str | None) -> list[Any]:
    """Values as numbers where all are; as they are otherwise."""
    if not values or isinstance(values[0], bool):
        return values
    if not all(NUMBER.fullmatch(value) for value in values):
        if kind == NUMERIC:
            wrong = next(value for value in values if not NUMBER.fullmatch(value))
            raise DataError(f"target_facts: the value {wrong!r} is not a number")
        return values
    return [int(value) if _INTEGER.fullmatch(value) else float(value) for value in values]


# -- types --------------------------------------------------------------------------------------------


def _types(
    predicates: dict[str, Predicate], examples: Predicate, said: FactSettings, declared: bool, notes: list[str]
) -> dict[str, tuple[str, ...]]:
    """Types of all arguments; predicates that the settings do not name are dropped."""
    if not declared:
        types = infer_types(predicates, examples)
        shown = ", ".join(f"{name}({', '.join(of)})" for name, of in sorted(types.items()))
        notes.append(f"types of the arguments inferred: {shown}; {setting('settings')} corrects them")
        return types
    unknown = [name for name in predicates if name not in said.types]
    if unknown:
        notes.append(f"facts that the settings do not name are not used: {', '.join(sorted(unknown))}")
        for name in unknown:
            del predicates[name]
    if examples.name not in said.types:
        hint = did_you_mean(examples.name, said.types)
        raise DataError(f"the settings do not name the target {examples.name!r}{hint}")
    if said.kinds_are_known:
        for name, of in said.types.items():
            if name != said.target:
                predicates.setdefault(name, Predicate(name, [[] for _ in of]))
    for name, predicate in predicates.items():
        _check_arity(name, predicate.arity, len(said.types[name]))
    if len(said.types[examples.name]) not in (examples.arity, examples.arity + 1):
        _check_arity(examples.name, examples.arity, len(said.types[examples.name]))
    if said.kinds_are_known:
        return said.types
    return infer_types(predicates, examples, said.types)


def _check_arity(name: str, found: int, declared: int) -> None:
    if found != declared:
        raise DataError(f"facts of {name} have {counted(found, 'argument')}, the settings say {declared}")


def _kind(name: str) -> Kind:
    return "numeric" if name.startswith(NUMERIC) else "nominal" if name.startswith(NOMINAL) else "object"


class _Coded:
    """Arguments of all facts as codes and numbers."""

    def __init__(
        self, predicates: Mapping[str, Predicate], examples: Predicate, types: Mapping[str, tuple[str, ...]]
    ) -> None:
        self.predicates = dict(sorted(predicates.items()))
        self.types = types
        self.objects: dict[str, np.ndarray] = {}
        self._cells: dict[tuple[str, int], np.ndarray] = {}
        self._levels: dict[str, Levels] = {}
        self.example_types = types[examples.name][: examples.arity]
        odd = next((name for name in self.example_types if _kind(name) != "object"), None)
        if odd is not None:
            raise DataError(f"the target {examples.name} has an argument of type {odd!r}, which names no objects")
        places: dict[str, list[tuple[Predicate, int]]] = {}
        for predicate in [*self.predicates.values(), examples]:
            for i in range(predicate.arity):
                places.setdefault(types[predicate.name][i], []).append((predicate, i))
        for name, those in places.items():
            self._code(name, those)
        self.example_codes = tuple(self._cells[examples.name, i] for i in range(examples.arity))

    def _code(self, name: str, places: list[tuple[Predicate, int]]) -> None:
        arguments = [np.array(p.arguments[i], object) for p, i in places]
        if _kind(name) == "numeric":
            cells = tuple(_floats(a, p.name) for a, (p, _) in zip(arguments, places, strict=True))
        else:
            columns = _keys(arguments)
            found, cells = code_identifiers(columns)
            if _kind(name) == "object":
                self.objects[name] = found
            else:
                self._levels[name] = tuple(found.tolist())
        for (predicate, i), cell in zip(places, cells, strict=True):
            self._cells[predicate.name, i] = cell

    def relations(self) -> list[Relation]:
        """The descriptive relations."""
        found = []
        for name, predicate in self.predicates.items():
            types = self.types[name]
            components = tuple(
                Component(f"{i + 1}", _kind(kind), kind, self._levels.get(kind)) for i, kind in enumerate(types)
            )
            facts, _ = sorted_facts(tuple(self._cells[name, i] for i in range(predicate.arity)))
            column = None if _kind(types[-1]) == "object" else name
            found.append(Relation(name, name, column, components, facts))
        return found

    def example_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Target facts in the order of their examples, and where each example starts."""
        rows = np.lexsort(self.example_codes[::-1])
        differ = np.zeros(max(0, len(rows) - 1), bool)
        for codes in self.example_codes:
            differ |= codes[rows][1:] != codes[rows][:-1]
        return rows, np.flatnonzero(np.concatenate([[True], differ])) if len(rows) else rows


def _floats(arguments: np.ndarray, name: str) -> np.ndarray:
    wrong = next((argument for argument in arguments if not NUMBER.fullmatch(argument)), None)
    if wrong is not None:
        raise DataError(f"facts of {name} have the argument {wrong!r}, which is not a number")
    numbers = arguments.astype(np.float64)
    if np.isinf(numbers).any():  # infinity stands for "nothing to aggregate"
        wrong = arguments[np.flatnonzero(np.isinf(numbers))[0]]
        raise DataError(f"facts of {name} have the argument {wrong!r}, which is too large for a number")
    return numbers


def _keys(arguments: list[np.ndarray]) -> list[KeyCells]:
    """Arguments as integers where all are, else as texts."""
    if all(_INTEGER.fullmatch(argument) for place in arguments for argument in pd.unique(place)):
        return [KeyCells(place.astype(np.int64)) for place in arguments]
    return [KeyCells(place) for place in arguments]


# -- what goes with the facts -------------------------------------------------------------------------


def _own_columns(
    database: Database, example_types: tuple[str, ...], codes: tuple[np.ndarray, ...]
) -> dict[str, ValueCells]:
    """Relations with one value for an object that is an example, as columns over the examples."""
    found = {}
    for name, relation in database.relations.items():
        kinds = [component.type for component in relation.components[:-1]]
        value = relation.components[-1]
        if tuple(kinds) != example_types or len(codes) > 1 or value.kind == "object":
            continue
        objects, values = relation.facts
        if (objects[1:] == objects[:-1]).any():
            continue
        dtype, missing = (np.float64, np.nan) if value.levels is None else (np.int32, -1)
        column = np.full(database.n_objects(example_types[0]), missing, dtype)
        column[objects] = values
        found[name] = ValueCells(column[codes[0]], value.levels)
    return found


def _modes(database: Database, said: FactSettings) -> dict[str, tuple[tuple[str, ...], ...]] | None:
    """The modes of the relations that there are; numbers are always new."""
    if said.modes is None:
        return None
    modes = {}
    for name, relation in database.relations.items():
        numeric = [component.kind == "numeric" for component in relation.components]
        own = [
            tuple("new" if number else word for word, number in zip(mode, numeric, strict=True))
            for mode in said.modes.get(name, [])
        ]
        modes[name] = tuple(dict.fromkeys(mode for mode in own if "old" in mode))
    return modes
