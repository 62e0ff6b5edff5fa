"""Small immutable results: checked, read-only values, pickled without what they have computed of themselves."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any

import numpy as np

from omnirank.core.errors import DataError, DataTypeError


def frozen_floats(values: Any, what: str) -> np.ndarray:
    """Return a read-only float64 copy; refuse what is not a number or not finite.

    Examples
    --------
    >>> from omnirank.core.immutable import frozen_floats
    >>> frozen_floats([1, 2.5], "scores").flags.writeable
    False
    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise DataError(f"{what} must be known: there are masked ones")
    try:
        given = np.asarray(values)
        texts = [cell for cell in given.ravel().tolist() if isinstance(cell, str)] if given.dtype.kind in "OU" else []
        if texts:  # numpy would read it
            raise TypeError(f"there is the text {texts[0]!r}")
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataTypeError(f"{what} must be numbers ({error})") from None
    if not np.all(np.isfinite(array)):
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        at = f" at position {', '.join(map(str, place))}" if place else ""
        raise DataError(f"{what} must be finite: there is {array[place]}{at}")
    array.flags.writeable = False
    return array


def frozen_names(names: Any, what: str) -> tuple[str, ...]:
    """Return the names as a tuple; refuse an empty list, other types than str, and repeated names.

    Examples
    --------
    >>> from omnirank.core.immutable import frozen_names
    >>> frozen_names(["a", "b"], "feature")
    ('a', 'b')
    """
    if isinstance(names, str) or not isinstance(names, Sequence | np.ndarray):
        raise DataTypeError(f"{what} names must be a list of strings, not {type(names).__name__}")
    checked = tuple(names)
    if not checked:
        raise DataError(f"there is no {what}")
    for name in checked:
        if not isinstance(name, str):
            raise DataTypeError(f"{what} names must be strings, but {name!r} is {type(name).__name__}")
    if len(set(checked)) < len(checked):
        again = checked[first_repeated(checked) or 0]
        raise DataError(f"two {what}s are called {again!r}: {what} names must differ")
    return tuple(str(name) for name in checked)


def first_repeated(values: Iterable[Hashable]) -> int | None:
    """Return the position of the first value that was there before; None where all differ.

    Examples
    --------
    >>> from omnirank.core.immutable import first_repeated
    >>> first_repeated(["a", "b", "a"])
    2
    """
    seen: set[Hashable] = set()
    for i, value in enumerate(values):
        if value in seen:
            return i
        seen.add(value)
    return None


def frozen_json(value: Any, what: str) -> Any:
    """Return a read-only copy of a value that JSON can hold; numpy scalars become Python's numbers.

    Examples
    --------
    >>> from omnirank.core.immutable import frozen_json
    >>> frozen_json({"influence": [0.0, 1.0]}, "parameters")
    mappingproxy({'influence': (0.0, 1.0)})
    """
    if value is None or isinstance(value, str):
        return None if value is None else str(value)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        if not math.isfinite(number):
            raise DataError(f"{what} is {number}, which JSON cannot hold")
        return number
    if isinstance(value, Mapping):
        odd = [key for key in value if not isinstance(key, str)]
        if odd:
            raise DataTypeError(f"keys of {what} must be strings, but {odd[0]!r} is {type(odd[0]).__name__}")
        return MappingProxyType({str(key): frozen_json(v, f"{what}[{key!r}]") for key, v in value.items()})
    if isinstance(value, list | tuple | np.ndarray):
        return tuple(frozen_json(item, f"{what}[{i}]") for i, item in enumerate(value))
    raise DataTypeError(f"{what} is of type {type(value).__name__}, which JSON cannot hold")


def thawed_json(value: Any) -> Any:
    """Return the plain dicts and lists of what `frozen_json` returned.

    Examples
    --------
    >>> from omnirank.core.immutable import frozen_json, thawed_json
    >>> thawed_json(frozen_json({"influence": (0.0, 1.0)}, "parameters"))
    {'influence': [0.0, 1.0]}
    """
    if isinstance(value, Mapping):
        return {key: thawed_json(item) for key, item in value.items()}
    return [thawed_json(item) for item in value] if isinstance(value, tuple) else value


class PickledWithoutCaches:
    """Base of objects that users share between threads and that have cached properties.

    A pickle of the attributes themselves fails ("dictionary changed size during iteration") when another thread fills
    a cache meanwhile. Caches are left out: whoever reads the pickle computes them when they are needed.

    Examples
    --------
    >>> import pickle
    >>> import omnirank as om
    >>> data = om.Dataset([[1.0], [2.0]])
    >>> name = data.fingerprint
    >>> "fingerprint" in vars(data), "fingerprint" in vars(pickle.loads(pickle.dumps(data)))
    (True, False)
    """

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()  # at once, as a loop over the attributes is not
        return {
            name: value
            for name, value in state.items()
            if not isinstance(getattr(type(self), name, None), cached_property)
        }


def which_names(names: Sequence[str], chosen: Iterable[str]) -> np.ndarray:
    """Return which of the names are among the chosen ones: one bool per name.

    ``numpy.isin`` takes names for equal that differ only in null characters at their ends.

    Examples
    --------
    >>> from omnirank.core.immutable import which_names
    >>> which_names(["a", "a\\0", "b"], ["a"]).tolist()
    [True, False, False]
    """
    wanted = set(chosen)
    return np.array([name in wanted for name in names], dtype=bool)


def places_of_names(
    present: Sequence[str], wanted: Sequence[str], what: str, other: str, kind: str = "feature"
) -> np.ndarray:
    """Return the places of the wanted names among those that are present; both must be the same names.

    Parameters
    ----------
    present, wanted : sequence of str
        The names that ``what`` has, and those that ``other`` has.
    what, other, kind : str
        What has them and what they name, for the error.

    Examples
    --------
    >>> from omnirank.core.immutable import places_of_names
    >>> places_of_names(["a", "b"], ["b", "a"], "the ranking", "the data").tolist()
    [1, 0]
    """
    place = {name: i for i, name in enumerate(present)}
    missing = [name for name in wanted if name not in place]
    more = [name for name in present if name not in set(wanted)]
    if missing or more:
        parts = [
            f"{len(names)} only in {where} (such as {names[0]!r})"
            for names, where in ((missing, other), (more, what))
            if names
        ]
        raise DataError(f"{what} and {other} differ in their {kind}s: {' and '.join(parts)}")
    return np.array([place[name] for name in wanted], np.intp)
