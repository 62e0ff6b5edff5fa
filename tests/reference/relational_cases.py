"""Small databases for tests of the room `relational`."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

from omnirank.relational.database import Component, Database, Relation


@dataclass
class Examples:
    """Examples of a database, as `feature_columns` takes them."""

    database: Database
    example_types: tuple[str, ...]
    example_codes: tuple[np.ndarray, ...] = field(default=())
    times: np.ndarray | None = None

    def __post_init__(self):
        if not self.example_codes:
            self.example_codes = tuple(
                np.arange(self.database.n_objects(kind), dtype=np.int32) for kind in self.example_types
            )


def thing(name: str, kind: str) -> Component:
    """A component of identifiers."""
    return Component(name, "object", kind)


def number(name: str, is_date: bool = False) -> Component:
    """A component of numbers."""
    return Component(name, "numeric", "numeric", is_date=is_date)


def nominal(name: str, *levels: str, domain: str | None = None) -> Component:
    """A component of levels."""
    return Component(name, "nominal", domain or name, levels)


def relation(table: str, column: str | None, components, rows, times=None) -> Relation:
    """A relation of rows in any order; equal ones are one fact."""
    known: dict = {}
    for i, row in enumerate(rows):
        time = None if times is None else times[i]
        known[tuple(row)] = time if tuple(row) not in known else min(known[tuple(row)], time) if times else None
    facts = sorted(known)
    arrays = tuple(
        np.array([fact[i] for fact in facts], np.float64 if component.kind == "numeric" else np.int32)
        for i, component in enumerate(components)
    )
    when = None if times is None else np.array([known[fact] for fact in facts], float)
    name = table if column is None else f"{table}_{column}"
    return Relation(name, table, column, tuple(components), arrays, when)


def database(objects: dict[str, list[str]], *relations: Relation) -> Database:
    """A database of relations."""
    return Database({kind: np.array(names) for kind, names in objects.items()}, {r.name: r for r in relations})


def movies(times: bool = False) -> Database:
    """The movies, ratings and users of the papers (fig. 2)."""
    when = [19950105.0, 19950106.0, 19950121.0]
    dates = when if times else None
    rating, movie, user = thing("id", "ratings"), thing("id", "movies"), thing("id", "users")
    return database(
        {"movies": ["m1", "m2", "m3"], "ratings": ["r1", "r2", "r3"], "users": ["u1", "u2", "u3"]},
        relation("movies", "genre", [movie, nominal("genre", "action", "drama", "thriller")], [(0, 2), (1, 1), (2, 0)]),
        relation("ratings", "user", [rating, thing("user", "users")], [(0, 0), (1, 2), (2, 2)], dates),
        relation("ratings", "movie", [rating, thing("movie", "movies")], [(0, 0), (1, 0), (2, 1)], dates),
        relation("ratings", "stars", [rating, number("stars")], [(0, 3), (1, 2), (2, 3)], dates),
        relation("ratings", "date", [rating, number("date")], list(enumerate(when)), dates),
        relation("users", "age", [user, number("age")], [(0, 22), (1, 36), (2, 62)]),
        relation("users", "sex", [user, nominal("sex", "f", "m")], [(0, 1), (1, 0), (2, 1)]),
        relation("users", "nation", [user, nominal("nation", "es", "it", "us")], [(0, 2), (1, 1), (2, 0)]),
        relation("users", "work", [user, nominal("work", "engineer", "student", "writer")], [(0, 2), (1, 1), (2, 0)]),
    )


_NUMBERS = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6), st.just(0.1), st.just(1e300))


@st.composite
def databases(draw, with_times: bool = False) -> Database:
    """Random databases over up to three types: links of all kinds, dangling, repeated, missing; cyclic schemas."""
    kinds = ["a", "b", "c"][: draw(st.integers(1, 3))]
    objects = {kind: [f"{kind}{i}" for i in range(draw(st.integers(kind == "a", 5)))] for kind in kinds}
    relations = []
    for i in range(draw(st.integers(1, 5))):
        components = [_component(draw, kinds, f"x{j}") for j in range(draw(st.integers(1, 3)))]
        if all(component.kind != "object" for component in components):
            components[0] = thing("x0", kinds[0])
        known = all(objects[component.type] for component in components if component.kind == "object")
        rows = draw(st.lists(st.tuples(*(_cells(c, objects) for c in components)), max_size=10)) if known else []
        if draw(st.booleans()):  # to-one: at most a fact per first cell
            rows = list({row[0]: row for row in rows}.values())
        times = [float(draw(st.integers(0, 3))) for _ in rows] if with_times and draw(st.booleans()) else None
        relations.append(relation(f"t{i}", None, components, rows, times))
    return database(objects, *relations)


def _component(draw, kinds, name) -> Component:
    kind = draw(st.sampled_from(["object", "object", "numeric", "nominal"]))
    if kind == "object":
        return thing(name, draw(st.sampled_from(kinds)))
    if kind == "numeric":
        return number(name)
    return nominal(name, *draw(st.sampled_from([("p", "q"), ("q", "r", "s"), ("p",)])), domain="letters")


def _cells(component: Component, objects):
    if component.kind == "numeric":
        return _NUMBERS
    n_codes = len(objects[component.type]) if component.kind == "object" else len(component.levels)
    return st.integers(0, n_codes - 1)
