"""Tasks that values alone suggest may be wrong: whole numbers that are quantities, classes that became floats."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from omnirank.core.errors import setting
from omnirank.core.text import counted
from omnirank.data.table import Levels, Table
from omnirank.data.target import Target
from omnirank.data.task_registry import task_named, task_target

# More classes than this, and more than one per so many examples, are more likely quantities.
_MANY = 20
_EXAMPLES_PER_CLASS = 20
_SEPARATORS = (";", "|")
# Fewer such texts, or a smaller share of all, may be anything.
_LEAST = 3
_LEAST_SHARE = 0.5
_LONGEST = 20
_WITH_COMMA = re.compile(r"\s*[-+]?\d+(\.\d{3})*,\d+\s*")
_WITH_MORE = re.compile(r"\s*([$€£¥<>~]?)\s*[-+]?\d+(?:\.\d+)?\s*([^\W\d][^\s\d]*(?:/[^\s\d]+)?|%|°\w?)?\s*")


def doubts_about(table: Table, target: Target, task: str, texts_are_meant: bool = False) -> tuple[str, ...]:
    """Return what speaks against a task that was inferred from undeclared values, one sentence each.

    Whole numbers are in doubt as classes where there are more than 20 of them and either more than one per 20 known
    examples or one that occurs once; so are numbers written as text, and an empty text as a class. Whole numbers of
    float type in several columns are in doubt as quantities where there are at most 20 of each and some are missing,
    since a missing cell is what turns integers into floats.

    Parameters
    ----------
    table : Table
        The target as given: numbers are numeric columns.
    target : Target
        The same as a target of the task.
    task : str
        The inferred task.
    texts_are_meant : bool
        Whether texts are classes on purpose: readers of files make numbers of them unless told otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.data.table import Table
    >>> from omnirank.data.notes.doubts import doubts_about
    >>> prices = np.arange(100, 140.0).reshape(-1, 1)
    >>> target, task = target_from(prices, names=["price"])
    >>> doubts_about(Table.from_numeric(prices, ["price"]), target, task)[0]
    "the whole numbers of 'price' are taken as 40 classes; if they are quantities, say task='regression'"
    """
    kind = task_target(task).kind
    if kind == "numbers" and table.n_columns > 1:
        return _codes_as_floats(table)
    if kind != "classes":
        return ()
    doubts = [f"an empty text is taken as a class of {text}; None is unlabelled" for text in _empty_texts(target)]
    many = [i for i, levels in enumerate(target.levels) if levels is not None and _are_many(target, i, levels)]
    numbers = [i for i in many if table.levels[i] is None]
    texts = [i for i in many if not texts_are_meant and _are_numbers(table.levels[i] or ())]
    if numbers:
        quantities = setting("task", task_named("numbers", single=table.n_columns == 1))
        doubts.append(f"the whole numbers of {_taken(target, numbers)}; if they are quantities, say {quantities}")
    doubts += _label_sets(table)
    doubts += _numbers_with_more(target)
    if texts:
        taken = _taken(target, texts).replace("are taken", "are numbers written as text, taken")
        doubts.append(f"the values of {taken}; if they are quantities, give numbers (astype(float))")
    return tuple(doubts)


def _label_sets(table: Table) -> list[str]:
    """Classes that look like label sets in one column: "p", "q", "p;q"."""
    for name, levels in zip(table.names, table.levels, strict=True):
        if not levels or not all(isinstance(level, str) for level in levels):
            continue
        for separator in _SEPARATORS:
            several = [level for level in levels if separator in level]
            labels = {label.strip() for level in levels for label in level.split(separator)}
            if several and len(labels) < len(levels) and "" not in labels:
                return [
                    f"the classes of {name!r} look like label sets ({several[0]!r}); if they are, give each label a "
                    f"column of 0 and 1 (pandas: frame[{name!r}].str.get_dummies({separator!r}))"
                ]
    return []


def _numbers_with_more(target: Target) -> list[str]:
    """Classes that look like numbers with a comma or a unit."""
    for i, levels in enumerate(target.levels):
        codes = np.nan_to_num(target.values[:, i], nan=-1) if levels else np.empty(0)
        about = what_numbers_have(text_counts(levels or (), codes))
        if about:
            return [
                f"the values of {target.names[i]!r} are taken as {len(levels or ())} classes, but {about}: write plain "
                "numbers, with a decimal point, if they are quantities"
            ]
    return []


def _empty_texts(target: Target) -> list[str]:
    found = []
    for i, levels in enumerate(target.levels):
        if levels is not None and "" in levels:
            n = int((target.values[:, i] == levels.index("")).sum())
            found.append(f"{target.names[i]!r} ({counted(n, 'example')})")
    return found


def _are_many(target: Target, i: int, levels: Levels) -> bool:
    if len(levels) <= _MANY:
        return False
    codes = target.values[:, i]
    known = codes[~np.isnan(codes)].astype(np.intp)
    return len(levels) * _EXAMPLES_PER_CLASS > len(known) or bool((np.bincount(known) == 1).any())


def _are_numbers(levels: Levels) -> bool:
    try:
        return len(levels) > 0 and all(isinstance(level, str) and np.isfinite(float(level)) for level in levels)
    except ValueError:
        return False


def _taken(target: Target, columns: Sequence[int]) -> str:
    largest = max(len(target.levels[i] or ()) for i in columns)
    if target.n_targets == 1:
        return f"{target.names[0]!r} are taken as {largest} classes"
    return f"{_named(target.names, columns)} are taken as classes ({largest} of them)"


def _named(names: Sequence[str], columns: Sequence[int]) -> str:
    others = len(columns) - 1
    return repr(names[columns[0]]) + (f" and {others} more target{'s' if others > 1 else ''}" if others else "")


def _codes_as_floats(table: Table) -> tuple[str, ...]:
    if table.is_sparse or not np.isnan(table.numeric).any():
        return ()
    for cells in table.numeric.T:
        known = cells[~np.isnan(cells)]
        if (known != np.round(known)).any() or not 1 < len(np.unique(known)) <= min(_MANY, len(known) / 20):
            return ()
    classes = setting("task", task_named("classes"))
    named = _named(table.names, range(table.n_columns))
    return (f"the few whole numbers of {named} are taken as quantities; if they are classes, say {classes}",)


def what_numbers_have(counts: Mapping[str, int], cells: str = "cells") -> str:
    """Return how many texts look like numbers with what, in words; nothing where it is not the case of half of them.

    Parameters
    ----------
    counts : mapping of str to int
        How often each text occurs in a column.
    cells : str
        What is counted, in words.

    Examples
    --------
    >>> from omnirank.data.notes.doubts import what_numbers_have
    >>> what_numbers_have({"1,5": 2, "2,0": 1, "3,25": 1})
    "4 of 4 cells look like numbers with a comma ('1,5')"
    >>> what_numbers_have({"1.2 kg": 1, "3 kg": 1, "12 kg": 1, "heavy": 1})
    "3 of 4 cells look like numbers with 'kg' ('1.2 kg')"
    >>> what_numbers_have({"red": 5, "blue": 5, "5th": 1})
    ''
    """
    found: Counter[str] = Counter()
    first: dict[str, str] = {}
    for text, count in counts.items():
        kind = _kind(text)
        if kind and count:
            found[kind] += count
            first.setdefault(kind, text)
    n = sum(counts.values())
    kind, count = max(found.items(), key=lambda item: item[1], default=("", 0))
    if count < max(_LEAST, _LEAST_SHARE * n):
        return ""
    return f"{count} of {n} {cells} look like numbers with {kind} ({first[kind]!r})"


def _kind(text: str) -> str:
    """What a number has beside it; nothing where the text is no number, or one without more."""
    if len(text) > _LONGEST:
        return ""
    if _WITH_COMMA.fullmatch(text):
        return "a comma"
    match = _WITH_MORE.fullmatch(text)
    more = "" if match is None else match[1] or match[2] or ""
    return repr(more) if more else ""


def text_counts(levels: Levels, codes: np.ndarray) -> dict[str, int]:
    """Return how often each level that is a text occurs; nothing where a level is none.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.notes.doubts import text_counts
    >>> text_counts(("a", "b"), np.array([1, 1, -1, 0]))
    {'a': 1, 'b': 2}
    """
    if not all(isinstance(level, str) for level in levels):
        return {}
    counts = np.bincount(codes[codes >= 0].astype(np.intp), minlength=len(levels))
    return dict(zip(map(str, levels), counts.tolist(), strict=True))
