"""Documents with one thing changed, for the tests of readers."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

# What a hand or a failing disk may leave in place of a value.
_VALUES = [None, True, False, 0, 1, -1, 2, 63, 64, 2**31, 2**63, 10**400, -(10**19), 0.5, -0.0, 1e308, 1e999, "", "x"]
_VALUES += ["\ud800", [], {}, [[]], [0], [-1], {"x": 1}, [None], [1.5], float("nan")]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths to all values below one."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield (*path, key)
        yield from places(item, (*path, key))


def changed(document: Any, random_state: random.Random) -> Any:
    """Return a copy of a document with one value replaced, dropped, doubled, moved or put elsewhere."""
    found = copy.deepcopy(document)
    all_places = list(places(found))
    path = random_state.choice(all_places)
    parent = found
    for key in path[:-1]:
        parent = parent[key]
    kind = random_state.randrange(6)
    if kind == 0:
        del parent[path[-1]]
    elif kind == 1 and isinstance(parent, list):
        parent.insert(random_state.randrange(len(parent) + 1), copy.deepcopy(parent[path[-1]]))
    elif kind == 2 and isinstance(parent, list):
        random_state.shuffle(parent)
    elif kind == 3 and isinstance(parent[path[-1]], int | float):
        parent[path[-1]] += random_state.choice([-1, 1, 2, 100, -100])
    elif kind == 4:
        other = found
        for key in random_state.choice(all_places):
            other = other[key]
        parent[path[-1]] = copy.deepcopy(other)
    else:
        parent[path[-1]] = random_state.choice(_VALUES)
    return found


def changed_text(text: str, random_state: random.Random) -> str:
    """Return a JSON text with one change, in the document or in its characters."""
    kind = random_state.randrange(8)
    at = random_state.randrange(len(text))
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text[:at] + random_state.choice('0123456789-.eE"[]{},:\\ \0x') + text[at + 1 :]
    if kind == 2:
        return text[:at] + text[at + random_state.randrange(1, 20) :]
    return json.dumps(changed(json.loads(text), random_state))
