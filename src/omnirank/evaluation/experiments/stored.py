"""What the cells of a store hold: JSON, packed rankings, and seals by which a changed cell is noticed."""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from typing import Any

from omnirank.core.errors import DataError
from omnirank.data.task_registry import TASKS
from omnirank.evaluation.experiments.keys import canonical_json
from omnirank.measures import MEASURES

# One encoder for all: json.dumps would make one per call. A damaged cell may be of any type.
_encoded = json.JSONEncoder(separators=(",", ":"), default=repr).encode

STUDY_LISTS = ("measures", "data", "methods", "columns", "best_of_grid")


def job_seal(key: str, figures: str, seconds: float, n_test: int) -> str:
    """Return the seal of a result: SQLite does not notice a changed byte, and a changed number looks like any other.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.stored import job_seal
    >>> job_seal("k", '{"accuracy":0.9}', 0.5, 10) == job_seal("k", '{"accuracy":0.8}', 0.5, 10)
    False
    """
    return _digest([key, figures, float(seconds), n_test])


def member_seal(study: str, place: tuple[Any, ...], key: str) -> str:
    """Return the seal of the place that a study gives a job."""
    return _digest([study, *place, key])


def study_seal(study: str, facts: str) -> str:
    """Return the seal of what is known of a study."""
    return _digest([study, facts])


def _digest(content: list[Any]) -> str:
    return hashlib.blake2b(_encoded(content).encode("ascii"), digest_size=8).hexdigest()


def unpacked_facts(text: Any) -> dict[str, Any]:
    """Return the object in a cell of JSON; `DataError` where there is none.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.stored import unpacked_facts
    >>> unpacked_facts('{"task":"regression"}')
    {'task': 'regression'}
    """
    if not isinstance(text, str):
        raise DataError(f"a cell of JSON holds {type(text).__name__}")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"a cell of JSON is damaged ({error})") from None
    if not isinstance(found, dict):
        raise DataError("a cell of JSON holds no object")
    return found


def check_study_facts(facts: dict[str, Any]) -> None:
    """Raise `DataError` unless a report can use the facts of a study.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.stored import check_study_facts
    >>> check_study_facts({"measures": [], "data": ["iris"], "methods": [], "best_of_grid": [], "tasks": {}})
    Traceback (most recent call last):
    omnirank.core.errors.DataError: the task of 'iris' is None
    """
    for key in STUDY_LISTS:
        names = facts.get(key, [] if key == "columns" else None)  # earlier stores have no columns
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise DataError(f"{key!r} is no list of names")
    for measure in facts["measures"]:
        if measure not in MEASURES:
            raise DataError(f"there is no measure {measure!r}")
    tasks = facts.get("tasks")
    for name in facts["data"]:
        task = tasks.get(name) if isinstance(tasks, dict) else None
        if task not in TASKS:
            raise DataError(f"the task of {name!r} is {task!r}")


def unpacked_figures(text: Any) -> dict[str, float | None]:
    """Return the values of a job by measure; None where a measure is undefined.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.stored import unpacked_figures
    >>> unpacked_figures('{"accuracy":0.9,"kappa":null}')
    {'accuracy': 0.9, 'kappa': None}
    """
    found = unpacked_facts(text)
    for measure, value in found.items():
        if measure not in MEASURES:
            raise DataError(f"there is no measure {measure!r}")
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise DataError(f"the value of {measure} is {value!r}, not a number")
        if value is not None and not math.isfinite(value):
            raise DataError(f"the value of {measure} is {value!r}")
    return found


def packed_ranking(ranking: Any) -> bytes:
    """Return the names and scores of a ranking as a cell keeps them; zlib adds a checksum."""
    return zlib.compress(canonical_json(ranking).encode("utf-8", "surrogatepass"))


def unpacked_ranking(content: Any) -> dict[str, Any]:
    """Return the names and scores in a cell that `packed_ranking` has made.

    Examples
    --------
    >>> from omnirank.evaluation.experiments.stored import packed_ranking, unpacked_ranking
    >>> unpacked_ranking(packed_ranking({"names": ["a"], "scores": [0.5]}))
    {'names': ['a'], 'scores': [0.5]}
    """
    if not isinstance(content, bytes):
        raise DataError(f"the cell of a ranking holds {type(content).__name__}")
    try:
        text = zlib.decompress(content).decode("utf-8", "surrogatepass")
    except (zlib.error, UnicodeDecodeError) as error:
        raise DataError(f"the cell of a ranking is damaged ({error})") from None
    found = unpacked_facts(text)
    if not isinstance(found.get("names"), list) or not isinstance(found.get("scores"), list):
        raise DataError("the cell of a ranking has no names and scores")
    return found
