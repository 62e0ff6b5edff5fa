"""Names and sentences of constructed features: ``mean(ratings.stars)``, "mean stars of its ratings"."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from omnirank.relational.aggregation import EXISTS, IDENTITY
from omnirank.relational.database import Component, Database, Relation
from omnirank.relational.paths import Feature, Path, path_variables, relation_of

_ID_ENDING = re.compile(r"(?<=.)_(id|ID|Id)$|(?<=[a-z])I[dD]$")
_OVER = {
    "count": "number",
    "count_unique": "number of different values",
    "min": "minimum",
    "max": "maximum",
    "mean": "mean",
    "sum": "sum",
    "mode": "most frequent value",
}
_WORDS = _OVER | {
    "count": "number of",
    "count_unique": "number of different",
    "sum": "sum of",
    "mode": "most frequent",
}


def describe(database: Database, example_types: tuple[str, ...], feature: Feature) -> Feature:
    """Return the feature with its name and its sentence, which are those of no other feature of the database.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.relational.database import Component, Database, Relation
    >>> from omnirank.relational.paths import Feature, Step
    >>> from omnirank.relational.wording import describe
    >>> rating, movie = Component("id", "object", "ratings"), Component("movie", "object", "movies")
    >>> codes = np.zeros(1, np.int32)
    >>> link = Relation("ratings_movie", "ratings", "movie", (rating, movie), (codes, codes))
    >>> stars = Relation("ratings_stars", "ratings", "stars", (rating, Component("stars", "numeric", "numeric")),
    ...                  (codes, np.ones(1)))
    >>> objects = {"ratings": np.array(["r1"]), "movies": np.array(["m1"])}
    >>> database = Database(objects, {"ratings_movie": link, "ratings_stars": stars})
    >>> path = (Step("ratings_movie", ((1, 0),)), Step("ratings_stars", ((0, 1),)))
    >>> feature = describe(database, ("movies",), Feature(path, 2, ("mean", "identity")))
    >>> feature.name, feature.sentence
    ('mean(ratings.stars)', 'mean stars of its ratings')
    """
    return PathWords(database, example_types, feature.path).describe(feature)


def step_label(database: Database, relation: Relation, positions: tuple[int, ...]) -> str:
    """Return how a step is called: its column, its table, or its relation where these could mean another step."""
    key = "labels"
    if key not in database._indexes:
        database._indexes[key] = _labels(database)
    labels: dict[tuple[str, int], str] = database._indexes[key]
    if len(positions) == 1:
        return labels[relation.name, positions[0]]
    return f"{relation.name}[{','.join(_place_name(relation, position) for position in positions)}]"


def _place_name(relation: Relation, position: int) -> str:
    """The name of a place; its number where the name is that of another place too."""
    names = [_plain(component) for component in relation.components]
    return names[position] if names.count(names[position]) == 1 else str(position + 1)


def _is_own(relation: Relation, position: int) -> bool:
    """Whether a place holds the object that the relation's table describes."""
    component = relation.components[position]
    return position == 0 and component.kind == "object" and component.type == relation.table


def _labels(database: Database) -> dict[tuple[str, int], str]:
    """Labels of all steps with one given place: the shortest that is clear among steps from the same type."""
    steps = [(relation, i) for relation in database.relations.values() for i in range(len(relation.components))]
    forms = [
        {(r.name, i): _short(r, i) for r, i in steps},
        {(r.name, i): f"{r.table}[{_place_name(r, i)}]" for r, i in steps},
        {(r.name, i): r.name for r, i in steps},
        {(r.name, i): f"{r.name}[{_place_name(r, i)}]" for r, i in steps},
    ]
    source = {(r.name, i): (r.components[i].kind, r.components[i].type) for r, i in steps}
    labels: dict[tuple[str, int], str] = {}
    for form in forms:
        taken = Counter((source[key], label) for key, label in form.items() if key not in labels)
        others = {(source[key], label) for key, label in labels.items()}
        for key, label in form.items():
            place = source[key], label
            if key not in labels and taken[place] == 1 and place not in others:
                labels[key] = label
    return forms[-1] | labels


def _short(relation: Relation, position: int) -> str:
    if _is_own(relation, position) and relation.column is not None:
        return _plain(relation.components[-1]) if len(relation.components) == 2 else relation.column
    return relation.table


def _plain(component: Component) -> str:
    """The name of a component; of one that holds objects without the ending that says so: user, not user_id."""
    return _ID_ENDING.sub("", component.name) if component.kind == "object" else component.name


def _clear_plurals(database: Database) -> set[tuple[str, str]]:
    """Tables and types of which the table refers to objects of the type in one column only: users, not user."""
    key = "plurals"
    if key not in database._indexes:
        columns: dict[tuple[str, str], set[str]] = {}
        for relation in database.relations.values():
            for position, component in enumerate(relation.components):
                if component.kind == "object" and not _is_own(relation, position):
                    columns.setdefault((relation.table, component.type), set()).add(component.name)
        database._indexes[key] = {place for place, names in columns.items() if len(names) == 1}
    clear: set[tuple[str, str]] = database._indexes[key]
    return clear


class PathWords:
    """The steps of one path in words, for all features that take it.

    Parameters
    ----------
    database : Database
        The relations.
    example_types : tuple of str
        Types of the objects that identify an example.
    path : tuple of Step
        The path.
    """

    def __init__(self, database: Database, example_types: tuple[str, ...], path: Path) -> None:
        self.path = path
        self.variables: tuple[Component, ...] = path_variables(database, example_types, path)
        self._relations = [relation_of(database, step) for step in path]
        self._fresh = [step.fresh(relation) for step, relation in zip(path, self._relations, strict=True)]
        self._n_known = [len(example_types)]
        for fresh in self._fresh:
            self._n_known.append(self._n_known[-1] + len(fresh))
        self._plurals = _clear_plurals(database)
        self._at = 0  # the variable at which the path stands, while labels are made
        self._labels = [self._label(database, k) for k in range(len(path))]

    def describe(self, feature: Feature) -> Feature:
        """Return a feature of this path with its name and its sentence."""
        return replace(feature, name=self._name(feature), sentence=self._sentence(feature))

    def _label(self, database: Database, k: int) -> str:
        """A step's label, with the constants, and the variables where they are not the ones before it."""
        step, relation = self.path[k], self._relations[k]
        label = step_label(database, relation, tuple(position for position, _ in step.bound))
        notes = [f"{_place_name(relation, position)}={value}" for position, value in step.constants]
        if len(step.bound) > 1 or step.bound[0][1] != self._at:
            notes += [f"{_place_name(relation, position)}=${variable}" for position, variable in step.bound]
        following = self._continued_by(k) if k + 1 < len(self.path) else None
        self._at = step.bound[0][1] if following is None else following
        return f"{label}[{','.join(notes)}]" if notes else label

    def _continued_by(self, k: int) -> int | None:
        """The variable of step k from which the path goes on."""
        new = range(self._n_known[k], self._n_known[k + 1])
        return next((variable for _, variable in self.path[k + 1].bound if variable in new), None)

    def _left_by(self, k: int, feature: Feature) -> int | None:
        """The variable of step k from which the path goes on or whose values are aggregated; None counts matches."""
        return feature.variable if k == len(self.path) - 1 else self._continued_by(k)

    # -- names ---------------------------------------------------------------------------------------

    def _name(self, feature: Feature) -> str:
        if EXISTS in feature.aggregates:
            return f"exists({'.'.join(self._piece(k, feature) for k in range(len(self.path)))})"
        text = ""
        closing = 0
        for k, aggregate in enumerate(feature.aggregates):
            text += "." if k else ""
            if aggregate != IDENTITY:
                text += f"{aggregate}("
                closing += 1
            text += self._piece(k, feature)
        return text + ")" * closing

    def _piece(self, k: int, feature: Feature) -> str:
        """A step in the name: its label, and the place from which the path goes on, where that is not clear."""
        label, variable, relation = self._labels[k], self._left_by(k, feature), self._relations[k]
        if variable is None:
            return label
        position = self._fresh[k][variable - self._n_known[k]]
        plain = _plain(relation.components[position])
        only = len(self._fresh[k]) == 1 and plain.isdecimal()
        if _is_own(relation, position) or label == plain or only:
            return label
        return f"{label}.{_place_name(relation, position)}"

    # -- sentences -----------------------------------------------------------------------------------

    def _sentence(self, feature: Feature) -> str:
        last = len(self.path) - 1
        if EXISTS in feature.aggregates:
            has = f"whether it has {self._nouns(0, True, feature)[-1]}"
            return has if last == 0 else f"whether there are {self._bare(0, last, feature)}"
        first = next((k for k, name in enumerate(feature.aggregates) if name != IDENTITY), None)
        return self._things(0, last, feature) if first is None else self._aggregated(0, first, feature)

    def _aggregated(self, start: int, k: int, feature: Feature) -> str:
        """The aggregate of step k in words, as seen from what step ``start`` starts from."""
        aggregate = feature.aggregates[k]
        last = len(self.path) - 1
        inner = next((j for j in range(k + 1, last + 1) if feature.aggregates[j] != IDENTITY), None)
        if inner is not None:
            things = self._things(start, k, feature)
            return f"{_OVER[aggregate]} over {things} of ({self._aggregated(k + 1, inner, feature)})"
        values = feature.variable is not None and self.variables[feature.variable].kind != "object"
        if aggregate == "count_unique" and values:
            return f"number of different values of {self._things(start, last, feature)}"
        return f"{_WORDS[aggregate]} {self._bare(start, last, feature)}"

    def _bare(self, start: int, end: int, feature: Feature) -> str:
        """What steps lead to, without the article: "users of its ratings"."""
        return self._things(start, end, feature).removeprefix("the ")

    def _things(self, start: int, end: int, feature: Feature) -> str:
        """What steps ``start`` to ``end`` lead to: "the users of its ratings"."""
        text = ""
        many = False
        for k in range(start, end + 1):
            many = many or feature.aggregates[k] != IDENTITY
            for noun in self._nouns(k, many, feature):
                text = f"the {noun} of {text}" if text else f"its {noun}"
        return text

    def _nouns(self, k: int, many: bool, feature: Feature) -> list[str]:
        """What a step leads to, in words."""
        label, variable = self._labels[k], self._left_by(k, feature)
        if variable is None:
            return [label]
        component, relation = self.variables[variable], self._relations[k]
        position = self._fresh[k][variable - self._n_known[k]]
        plain = _place_name(relation, position)
        if _is_own(relation, position) or (len(self._fresh[k]) == 1 and plain.isdecimal()):
            return [label]
        plural = component.kind == "object" and many and (relation.table, component.type) in self._plurals
        noun = component.type if plural else plain
        return [noun] if label == plain else [label, noun]
