"""Facts become a relational data set: types of their arguments are declared or inferred, then coded."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, ParameterError, setting
from omnirank.core.parameters import check, choice
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
from omnirank.relational.schema import mapping_given, names_given
from omnirank.relational.summary import RelationalRemarks

Place = tuple[str, int]
NUMERIC, NOMINAL = "numeric", "nominal"


_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_DIGITS = re.compile(r"-?[0-9]{1,18}")


def infer_types(
    predicates: Mapping[str, Predicate],
    examples: Predicate,
    types: Mapping[str, tuple[str, ...]] | None = None,
    given: Mapping[str, str] | None = None,
    notes: list[str] | None = None,
) -> dict[str, tuple[str, ...]]:
    """Return a type for each argument of each predicate: "numeric", "nominal..." or the name of a type of objects.

    Arguments that share a name are objects of one type; integers are if they agree better than two numberings would by
    chance (see `same_objects`). Numbers in the last of several places are numeric, unless they identify objects or the
    facts. A text that only occurs in the last of several places of one predicate is a nominal value; all others are
    objects.

    Parameters
    ----------
    predicates : mapping of str to Predicate
        The descriptive facts.
    examples : Predicate
        The arguments that identify the examples: objects.
    types : mapping of str to tuple of str, optional
        Which arguments are of the same type, where that is known; the target's too.
    given : mapping of str to str, optional
        Types of single arguments, ``{"likes.2": "numeric"}``: a kind, another argument of the same type, or a name.
    notes : list of str, optional
        Receives what is doubtful.

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
    last = {(n, i): i == p.arity - 1 > 0 and n != examples.name for n, p in everything.items() for i in range(p.arity)}
    keys = {place for place in places if last[place] and _identify_facts(everything[place[0]].arguments[place[1]])}
    if types is None:
        roots = _Joined(places, last, keys, examples.name, given or {}, [] if notes is None else notes).names()
    else:
        roots = {(name, i): types[name][i] for name, i in places}
    members: dict[str, list[Place]] = {}
    for place, root in roots.items():
        members.setdefault(root, []).append(place)
    names = {}
    for root, those in members.items():
        values = set().union(*(places[place] for place in those))
        if not all(last[place] for place in those) or (types is None and keys & set(those)):
            names[root] = root
        elif values and all(map(NUMBER.fullmatch, values)):
            names[root] = f"{NUMERIC} {root}"
        else:
            names[root] = f"{NOMINAL} {root}" if len(those) == 1 else root
    return {
        name: tuple(_given_kind((name, i), given or {}) or names[roots[name, i]] for i in range(p.arity))
        for name, p in everything.items()
    }


def _given_kind(place: Place, given: Mapping[str, str]) -> str | None:
    """The type of an argument that is said to be a value."""
    kind, _, domain = given.get(_place_name(place), "").partition(":")
    return f"{kind} {domain or _place_name(place)}" if kind in (NUMERIC, NOMINAL) else None


# Prior odds against two numberings of independent things that end at the same number: any size up to a million is as
# likely as any other, on a logarithmic scale.
_SIZES = 13.8
# Least log odds to join two arguments that are identifiers by their place, and to join one that may be a number.
_LEAST, _LEAST_OF_NUMBERS = math.log(10), math.log(300)
_SURE = math.log(1000)


def same_objects(one: set[int], two: set[int]) -> float:
    """Return the log odds that integers identify the same objects, over two numberings that overlap by chance.

    Under the first hypothesis the one set is drawn from the other, but for some strangers; under the second it is drawn
    from a range of its own. Of two numberings from 0 on, the shorter is always a part of the longer, so that this alone
    says nothing; that both end at the same number, or have the same gaps, does.

    Examples
    --------
    >>> from omnirank.relational.facts import same_objects
    >>> drugs, atoms, bonded = set(range(188)), set(range(4893)), set(range(0, 4893, 2))
    >>> same_objects(drugs, atoms) < 0 < same_objects(bonded, atoms)
    True
    """
    return max(_drawn_from(one, two), _drawn_from(two, one))


def _drawn_from(part: set[int], whole: set[int]) -> float:
    n, span = len(part), max(part) - min(part) + 1
    # a range that the other set does not explain is as likely under both hypotheses
    odds = math.log(_SIZES * n) if min(whole) <= min(part) and max(part) <= max(whole) else 0.0
    if odds + n * math.log(span / len(whole)) < -_SURE:  # whatever they share
        return -math.inf
    common = len(part & whole)
    if not common:
        return -math.inf
    strangers = (n - common) * math.log((n - common) / n) if common < n else 0.0
    return odds + common * math.log(common / n * span / len(whole)) + strangers


def _identify_facts(arguments: list[str]) -> bool:
    """Whether arguments are integers, all different, that lie closer together than numbers do by chance."""
    different = set(arguments)
    if len(different) < len(arguments) or not different or not all(map(_DIGITS.fullmatch, different)):
        return False
    numbers = list(map(int, different))
    # n of R values drawn at random all differ with probability exp(-n^2 / 2R)
    return len(numbers) ** 2 / (2 * (max(numbers) - min(numbers) + 1)) >= _SURE


@dataclass
class _Joined:
    """Places of arguments that hold identifiers of the same objects.

    ``last`` says which are the last of several, ``keys`` which of those identify their facts.
    """

    places: Mapping[Place, set[str]]
    last: Mapping[Place, bool]
    keys: set[Place]
    examples: str
    given: Mapping[str, str]
    notes: list[str]

    def __post_init__(self) -> None:
        # the examples' places first, which give their type its name
        self.by_name = {_place_name(place): place for place in self.places}
        self.order = sorted(self.places, key=lambda place: (place[0] != self.examples, place))
        self.root = dict(zip(self.order, self.order, strict=True))
        self.integers = {
            place: set(map(int, values))
            for place, values in self.places.items()
            if values and _place_name(place) not in self.given and all(map(_DIGITS.fullmatch, values))
        }
        self.doubts: list[tuple[Place, Place]] = []

    def names(self) -> dict[Place, str]:
        """Return a name for each place, the same for places of the same objects."""
        for name, type_name in self.given.items():
            if type_name in self.by_name:
                self._join(self.by_name[type_name], self.by_name[name])
        texts = [
            p for p in self.order if _place_name(p) not in self.given and not all(map(NUMBER.fullmatch, self.places[p]))
        ]
        for one, two in combinations(texts, 2):
            if not self.places[one].isdisjoint(self.places[two]):
                self._join(one, two)
        first = [place for place in self.order if place in self.integers and not self.last[place]]
        for one, two in combinations(first, 2):
            self._join_by_odds(one, two, _LEAST)
        for place in (place for place in self.order if place in self.integers and self.last[place]):
            self._join_last(place, first)
        self._link_examples(first)
        self._tell()
        said = {self.by_name[name]: kind for name, kind in self.given.items() if kind not in self.by_name}
        return {place: said.get(place, _place_name(root)) for place, root in self.root.items()}

    def _join(self, one: Place, two: Place) -> None:
        kept, dropped = sorted((self.root[one], self.root[two]), key=self.order.index)
        self.root = {place: kept if root == dropped else root for place, root in self.root.items()}

    def _join_by_odds(self, one: Place, two: Place, least: float) -> None:
        if self.root[one] == self.root[two]:
            return
        odds = same_objects(self.integers[one], self.integers[two])
        if odds >= least:
            self._join(one, two)
        if least - _LEAST < odds < _SURE:
            self.doubts.append((one, two))

    def _join_last(self, place: Place, first: list[Place]) -> None:
        """Join the last place of facts to a type of objects.

        Integers without gaps that identify the facts are a numbering of them, which always ends where that of the
        objects that the facts are about does.
        """
        values = self.integers[place]
        numbered = place in self.keys and len(values) == max(values) - min(values) + 1
        own = {self.root[other] for other in self.places if other[0] == place[0] and other != place}
        for other in first:
            if not (numbered and self.root[other] in own):
                self._join_by_odds(other, place, _LEAST_OF_NUMBERS)
        if place in self.keys and self.root[place] == place:
            self.notes.append(
                f"argument {_place_name(place)} is a different whole number in every fact: taken as an identifier, not "
                f"as a number; {setting('types', {_place_name(place): NUMERIC})} takes it as a number"
            )

    def _link_examples(self, first: list[Place]) -> None:
        """Join examples that nothing describes to the integers that fit best, and say so."""
        for place in [place for place in self.order if place[0] == self.examples and place in self.integers]:
            if any(self.root[other] == self.root[place] for other in self.places if other[0] != self.examples):
                continue
            fitting = [p for p in first if p[0] != self.examples and self.integers[place] <= self.integers[p]]
            if fitting:
                best = min(fitting, key=lambda other: len(self.integers[other]))
                self._join(place, best)
                self.doubts.append((place, best))

    def _tell(self) -> None:
        """Note the doubtful pairs of types, each once."""
        told = set()
        for one, two in self.doubts:
            first, second = _place_name(one), _place_name(two)
            if self.root[one] == self.root[two]:
                text, other = "are taken as the same objects, which may be chance", f"objects of {second}"
            elif frozenset((self.root[one], self.root[two])) in told:
                continue
            else:
                told.add(frozenset((self.root[one], self.root[two])))
                text, other = "may be the same objects, or overlap by chance: taken as different ones", first
            self.notes.append(f"{first} and {second} {text}; {setting('types', {second: other})} decides otherwise")


def _place_name(place: Place) -> str:
    return f"{place[0]}.{place[1] + 1}"


TargetFacts = PathLike | tuple[PathLike, PathLike]


class _Examples(NamedTuple):
    """The examples' arguments, their target values, and what is declared about these."""

    arguments: Predicate
    values: list[Any]
    kind: str | None


def dataset_from_facts(
    facts: PathLike | Sequence[PathLike], target_facts: TargetFacts, settings: PathLike | None, types: Any,
    duplicates: str, exclude: Any, encoding: str, name: str | None, task: str, hierarchy: Hierarchy | None,
) -> RelationalDataset:  # fmt: skip
    """Return a data set as :meth:`RelationalDataset.from_facts` does."""
    said = FactSettings() if settings is None else read_fact_settings(settings, encoding)
    predicates = read_facts(facts, encoding)
    notes = list(said.notes)
    examples = _read_examples(target_facts, said, notes, encoding)
    among = predicates.pop(examples.arguments.name, None)
    if among is not None:
        told = f"{counted(among.n_facts, 'fact')} of the target {among.name!r} among the descriptive ones"
        notes.append(f"{told}: not used, since they tell the target")
    for excluded in names_given("exclude", exclude, "['likes']"):
        if predicates.pop(excluded, None) is None:
            raise DataError(f"exclude: there are no facts of {excluded!r}{did_you_mean(excluded, predicates)}")
    given = _given_types(types, {**predicates, examples.arguments.name: examples.arguments})
    types = _types(predicates, examples.arguments, said, given, settings is not None, notes)
    check("duplicates", duplicates, choice("once", "count"))
    coded = _Coded(predicates, examples.arguments, types)
    relations = {relation.name: relation for relation in coded.relations(duplicates == "count")}
    again = [f"{name} ({n})" for name, r in relations.items() if (n := coded.predicates[name].n_facts - r.n_facts)]
    if again:
        notes.append(
            f"facts that repeat others are left out: {', '.join(again)}; {setting('duplicates', 'count')} counts all"
        )
    database = Database(coded.objects, relations)
    rows, starts = coded.example_rows()
    target, found_task, doubts = _target(examples, rows, starts, task, hierarchy)
    codes = tuple(code[rows[starts]] for code in coded.example_codes)
    remarks = RelationalRemarks(tuple(notes), doubts, _own_columns(database, coded.example_types, codes), target)
    found = coded.example_types, codes, target, found_task
    dataset = RelationalDataset(database, *found, hierarchy=hierarchy, name=name or plain_name(files(facts)[0]))
    own = replace(dataset, target_name=examples.arguments.name, _remarks=remarks)
    return replace(own, modes=_modes(database, said), aggregates=said.aggregates)


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
    given = [values[a:b] for a, b in pairwise([*starts.tolist(), len(values)])]
    if hierarchy is not None or (task != "auto" and task_target(task).kind == "labels"):
        return read_target([set(map(str, own)) for own in given], task, hierarchy)
    for start, own in zip(starts.tolist(), given, strict=True):
        if len(set(own)) > 1:
            said = ", ".join(place[rows[start]] for place in examples.arguments.arguments)
            two = " and ".join(map(str, sorted(set(own))[:2]))
            raise DataError(
                f"target_facts: {examples.arguments.name}({said}) has the values {two}; "
                f"{setting('task', 'multi-label')} takes them as a label set"
            )
    if task == "auto" and examples.kind is not None:
        task = task_named("classes" if examples.kind == NOMINAL else "numbers", single=True)
    return read_target([own[0] for own in given], task, names=[examples.arguments.name])


def _numbers(values: list[Any], kind: str | None) -> list[Any]:
    """Values as numbers where all are; as they are otherwise."""
    if not values or isinstance(values[0], bool):
        return values
    wrong = next((value for value in values if not NUMBER.fullmatch(value)), None)
    if wrong is None:
        return [int(value) if _INTEGER.fullmatch(value) else float(value) for value in values]
    if kind == NUMERIC:
        raise DataError(f"target_facts: the value {wrong!r} is not a number")
    return values


# -- types --------------------------------------------------------------------------------------------


def _types(
    predicates: dict[str, Predicate],
    examples: Predicate,
    said: FactSettings,
    given: Mapping[str, str],
    has_settings: bool,
    notes: list[str],
) -> dict[str, tuple[str, ...]]:
    """Types of all arguments; predicates that the settings do not name are dropped."""
    if not has_settings:
        types = infer_types(predicates, examples, None, given, notes)
        shown = ", ".join(f"{name}({', '.join(of)})" for name, of in sorted(types.items()))
        notes.append(f"types of the arguments inferred: {shown}; {setting('types')} or a settings file corrects them")
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
    for name, predicate in {**predicates, examples.name: examples}.items():
        declared = len(said.types[name])
        if predicate.arity != declared - (name == examples.name and declared > predicate.arity):
            raise DataError(f"facts of {name} have {counted(predicate.arity, 'argument')}, the settings say {declared}")
    if said.kinds_are_known:
        if given:
            raise ParameterError("types", dict(given), "the settings declare the types of all arguments: change these")
        return said.types
    return infer_types(predicates, examples, said.types, given)


def _given_types(types: Any, predicates: Mapping[str, Predicate]) -> Mapping[str, str]:
    """Types of single arguments, as the user gives them."""
    given = mapping_given("types", types, "{'likes.2': 'numeric'}")
    known = [_place_name((name, i)) for name, predicate in predicates.items() for i in range(predicate.arity)]
    for place, kind in given.items():
        if place not in known:
            raise DataError(f"types: there is no argument {place!r}{did_you_mean(str(place), known)}")
        if not isinstance(kind, str) or not kind:
            raise ParameterError("types", {place: kind}, "give a kind, another argument, or the name of a type")
    return given


_IDENTIFIER = re.compile(r"^ID_?(?=[A-Za-z])|(?<=.)_?(ID|Id|id)$")
_VALUE = re.compile(rf"({NUMERIC}|{NOMINAL})[\s:_]*\d*")


def _component_names(types: Sequence[str]) -> list[str]:
    """Names of the arguments of a predicate: of one or two their numbers, of more their types, which say more.

    Examples
    --------
    >>> from omnirank.relational.facts import _component_names
    >>> _component_names(("DrugID", "AtomID", "AtomID", "nominal3"))
    ['drug', 'atom1', 'atom2', 'value']
    """
    if len(types) < 3:
        return [str(i + 1) for i in range(len(types))]
    plain = []
    for kind in types:
        value = _VALUE.match(kind)
        name = _IDENTIFIER.sub("", kind).lower() if value is None else kind[value.end() :].lower()
        plain.append("value" if value is not None and (not name or "." in name) else name)
    return [name if plain.count(name) == 1 else f"{name}{plain[: i + 1].count(name)}" for i, name in enumerate(plain)]


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

    def relations(self, as_bags: bool) -> list[Relation]:
        """The descriptive relations."""
        found = []
        for name, predicate in self.predicates.items():
            types = self.types[name]
            components = tuple(
                Component(called, _kind(kind), kind, self._levels.get(kind))
                for called, kind in zip(_component_names(types), types, strict=True)
            )
            facts, _ = sorted_facts(tuple(self._cells[name, i] for i in range(predicate.arity)), as_bag=as_bags)
            column = None if _kind(types[-1]) == "object" else name
            found.append(Relation(name, name, column, components, facts, is_bag=as_bags))
        return found

    def example_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Target facts in the order of their examples, and where each example starts."""
        rows = np.lexsort(self.example_codes[::-1])
        again = pd.DataFrame(dict(enumerate(self.example_codes))).iloc[rows].duplicated()
        return rows, np.flatnonzero(~again)


def _floats(arguments: np.ndarray, name: str) -> np.ndarray:
    for argument in arguments:
        if not NUMBER.fullmatch(argument):
            raise DataError(f"facts of {name} have the argument {argument!r}, which is not a number")
        if math.isinf(float(argument)):  # infinity stands for "nothing to aggregate"
            raise DataError(f"facts of {name} have the argument {argument!r}, which is too large for a number")
    return arguments.astype(np.float64)


def _keys(arguments: list[np.ndarray]) -> list[KeyCells]:
    """Arguments as integers where all are, else as texts."""
    are_integers = all(_INTEGER.fullmatch(argument) for place in arguments for argument in pd.unique(place))
    return [KeyCells(place.astype(np.int64) if are_integers else place) for place in arguments]


# -- what goes with the facts -------------------------------------------------------------------------


def _own_columns(
    database: Database, example_types: tuple[str, ...], codes: tuple[np.ndarray, ...]
) -> dict[str, ValueCells]:
    """Relations with one value for an object that is an example, as columns over the examples."""
    columns = {}
    for name, relation in database.relations.items():
        kinds = [component.type for component in relation.components[:-1]]
        value = relation.components[-1]
        if tuple(kinds) != example_types or len(codes) > 1 or value.kind == "object":
            continue
        objects, values = relation.facts
        if (objects[1:] != objects[:-1]).all():
            missing = np.nan if value.levels is None else -1
            column = np.full(database.n_objects(example_types[0]), missing, values.dtype)
            column[objects] = values
            columns[name] = ValueCells(column[codes[0]], value.levels)
    return columns


def _modes(database: Database, said: FactSettings) -> dict[str, tuple[tuple[str, ...], ...]] | None:
    """The modes of the relations that there are; numbers are never known before."""
    if said.modes is None:
        return None
    modes = {}
    for name, relation in database.relations.items():
        numeric = [component.kind == "numeric" for component in relation.components]
        own = [
            tuple("any" if number else word for word, number in zip(mode, numeric, strict=True))
            for mode in said.modes.get(name, [])
        ]
        modes[name] = tuple(dict.fromkeys(mode for mode in own if "old" in mode))
    return modes
