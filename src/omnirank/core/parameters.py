"""The domains of parameters, declared beside the parameters and checked in one way.

A `Domain` is what a parameter may be, for the computer and in words; ``|`` joins two. A function says
``check("k", k, count(1))``. An estimator has a table ``_parameter_checks`` of names and domains, which
`check_parameters` goes through when it is fitted, with the tables of its bases.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from omnirank.core.errors import ParameterError
from omnirank.core.text import did_you_mean

# Counts are kept in 32 bits, and squares of numbers are finite.
_LARGEST_COUNT = 2**31 - 1
_LARGEST = 1e300
# SeedSequence keeps (entropy, spawn key) pairs apart only while the entropy fits its pool of four words.
ENTROPY_BITS = 128


class Hinting:
    """Base of estimators: a parameter that they do not have is refused with the one that is probably meant.

    Examples
    --------
    >>> import omnirank as om
    >>> om.EnsembleRanker(n_estimators=10)
    Traceback (most recent call last):
    TypeError: EnsembleRanker has no parameter 'n_estimators' (did you mean 'n_trees'?)
    """

    def __new__(cls, *values: Any, **settings: Any) -> Any:
        """Check the names before the constructor runs."""
        known = inspect.signature(cls.__init__).parameters
        for name in settings.keys() - known.keys():
            raise TypeError(f"{cls.__name__} has no parameter {name!r}{did_you_mean(name, known)}")
        return super().__new__(cls)


@dataclass(frozen=True)
class Domain:
    """What a parameter may be: one of some names (None and booleans among them), or what a test accepts.

    Examples
    --------
    >>> from omnirank.core.parameters import choice, count
    >>> domain = choice("auto", None) | count(1)
    >>> domain.words, 3 in domain, None in domain, True in domain
    ("'auto', None or a whole number from 1", True, True, False)
    """

    names: tuple[str | bool | None, ...] = ()
    tests: tuple[Callable[[Any], bool], ...] = ()
    tests_in_words: tuple[str, ...] = ()

    def __contains__(self, value: object) -> bool:
        named = any(value is name or (isinstance(value, str) and value == name) for name in self.names)
        return named or any(test(value) for test in self.tests)

    def __or__(self, other: Domain) -> Domain:
        return Domain(self.names + other.names, self.tests + other.tests, self.tests_in_words + other.tests_in_words)

    @property
    def words(self) -> str:
        """The domain in words."""
        if len(self.names) > 2 and not self.tests:
            return f"one of {', '.join(map(str, self.names))}"
        *first, last = *map(repr, self.names), *self.tests_in_words
        return f"{', '.join(first)} or {last}" if first else last

    def advice(self, value: Any) -> str:
        """Return what to choose instead of a value, and which name it is probably meant to be."""
        known = [name for name in self.names if isinstance(name, str)]
        hint = did_you_mean(value, known) if isinstance(value, str) else ""
        return f"choose {self.words}{hint}"


def check(name: str, value: Any, domain: Domain, of: str = "") -> Any:
    """Return a value of the domain; raise a `ParameterError` for any other.

    Parameters
    ----------
    name, value : str, anything
        The parameter.
    domain : Domain
        What it may be.
    of : str
        The task or the method for which this is the domain, where it is not for all.

    Examples
    --------
    >>> from omnirank.core.parameters import check, choice, number
    >>> check("min_samples_leaf", float("nan"), number(above=0))
    Traceback (most recent call last):
    omnirank.core.errors.ParameterError: min_samples_leaf=nan: choose a number above 0
    >>> check("strings", "drpo", choice("error", "drop"))
    Traceback (most recent call last):
    omnirank.core.errors.ParameterError: strings='drpo': choose 'error' or 'drop' (did you mean 'drop'?)
    """
    if value in domain:
        return value
    raise ParameterError(name, value, domain.advice(value) + (f" for {of}" if of else ""))


def check_all(values: Mapping[str, Any], domains: Mapping[str, Domain]) -> None:
    """Check those of the values that have a domain.

    Examples
    --------
    >>> from omnirank.core.parameters import FLAG, check_all, share
    >>> check_all({"share": 0.5, "name": "any"}, {"share": share(), "sparse": FLAG})
    """
    for name, domain in domains.items():
        if name in values:
            check(name, values[name], domain)


def check_parameters(estimator: Any) -> None:
    """Check the parameters of an estimator by the tables ``_parameter_checks`` of its class and the bases."""
    tables = (vars(base).get("_parameter_checks", {}) for base in reversed(type(estimator).__mro__))
    check_all(estimator.get_params(deep=False), {name: domain for table in tables for name, domain in table.items()})


def check_weights(name: str, given: Any, n: int, of: str, or_else: str = "") -> np.ndarray:
    """Return weights as an array: finite numbers, one per thing that is weighted, not negative and not all zero.

    Parameters
    ----------
    name : str
        Name of the parameter.
    given : anything
        What was given.
    n, of : int, str
        How many things of which kind are weighted.
    or_else : str
        What else may be given.

    Examples
    --------
    >>> from omnirank.core.parameters import check_weights
    >>> check_weights("target_weights", [1, 0], 2, "target")
    array([1., 0.])
    >>> check_weights("target_weights", [1, -1], 2, "target")
    Traceback (most recent call last):
    omnirank.core.errors.ParameterError: target_weights=[1, -1]: choose 2 numbers, one per target, ... not all zero
    """
    try:
        weights = np.asarray(given, dtype=np.float64)
        known = np.isfinite(weights).all() and not np.ma.is_masked(given)
        right = weights.shape == (n,) and known and (weights >= 0).all() and weights.any()
    except (TypeError, ValueError, OverflowError):
        right = False
    if not right:
        numbers = f"{n} numbers, one per {of}, finite, not negative and not all zero"
        raise ParameterError(name, given, f"choose {or_else}{numbers}")
    return weights


# -- domains ------------------------------------------------------------------------------------------


def choice(*names: str | bool | None) -> Domain:
    """Return the domain of some names; None, True and False can be among them.

    Examples
    --------
    >>> from omnirank.core.parameters import choice
    >>> choice("processes", "dask").words, choice("a", "b", "c").words
    ("'processes' or 'dask'", 'one of a, b, c')
    """
    return Domain(names)


def number(
    least: float | None = None,
    most: float | None = None,
    *,
    above: float | None = None,
    below: float | None = None,
    kind: str = "a number",
) -> Domain:
    """Return the domain of the finite numbers between two ends; booleans are none.

    Parameters
    ----------
    least, above : float, optional
        The lower end, which is part of the domain or not.
    most, below : float, optional
        The upper end, which is part of the domain or not.
    kind : str
        What the number is.

    Examples
    --------
    >>> from omnirank.core.parameters import number
    >>> number(above=0).words, number(0, below=1).words, number(least=2).words
    ('a number above 0', 'a number in [0, 1)', 'a number from 2')
    """

    def fits(value: Any) -> bool:
        if not isinstance(value, Real) or isinstance(value, bool):
            return False
        # a whole number may be too large for a float
        real = int(value) if isinstance(value, Integral) else float(value)
        return (
            -_LARGEST <= real <= _LARGEST
            and (least is None or real >= least)
            and (above is None or real > above)
            and (most is None or real <= most)
            and (below is None or real < below)
        )

    low, high = (above if least is None else least), (below if most is None else most)
    where = ""
    if low is not None and high is not None:
        where = f" in {'[' if above is None else '('}{low}, {high}{']' if below is None else ')'}"
    elif low is not None:
        where = f" {'from' if above is None else 'above'} {low}"
    return Domain((), (fits,), (kind + where,))


def share(*, above: float | None = None, below: float | None = None) -> Domain:
    """Return the domain of the shares: 0 and 1 are among them, unless they are left out by above=0 or below=1.

    Examples
    --------
    >>> from omnirank.core.parameters import share
    >>> share(above=0).words, 1.0 in share(), 1 in share(below=1)
    ('a share in (0, 1]', True, False)
    """
    least, most = (0 if above is None else None), (1 if below is None else None)
    return number(least, most, above=above, below=below, kind="a share")


def count(least: int, most: int | None = None, of: str = "") -> Domain:
    """Return the domain of the whole numbers between two ends.

    Parameters
    ----------
    least, most : int
        The ends.
    of : str
        What there are ``most`` of.

    Examples
    --------
    >>> from omnirank.core.parameters import count
    >>> count(0).words, count(1, 30, "features").words, 10**30 in count(0)
    ('a whole number from 0', 'a whole number from 1 to 30 (the number of features)', False)
    """
    largest = _LARGEST_COUNT if most is None else most
    upper = "" if most is None else f" to {most}" + (f" (the number of {of})" if of else "")

    def fits(value: Any) -> bool:
        return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= largest

    return Domain((), (fits,), (f"a whole number from {least}{upper}",))


def listed(domain: Domain, *, or_one: bool = False, different: bool = False) -> Domain:
    """Return the domain of the lists (any sequences, arrays) with at least one value, all of a domain.

    Parameters
    ----------
    domain : Domain
        The domain of the values.
    or_one : bool
        Whether a value alone is accepted, too.
    different : bool
        Whether each value may be there only once.

    Examples
    --------
    >>> from omnirank.core.parameters import count, listed
    >>> [1, 5] in listed(count(1)), [1, 1] in listed(count(1), different=True), 3 in listed(count(1), or_one=True)
    (True, False, True)
    >>> listed(count(1), or_one=True).words
    'a whole number from 1, or a list of them'
    """

    def fits(value: Any) -> bool:
        if isinstance(value, str | bytes) or not isinstance(value, Sequence | np.ndarray) or np.ndim(value) == 0:
            return or_one and value in domain
        in_domain = len(value) > 0 and all(one in domain for one in value)
        return in_domain and not (different and len(set(value)) < len(value))

    once = ", each once" if different else ""
    several = f"{domain.words}, or a list of them" if or_one else f"a list, each value {domain.words}"
    return Domain((), (fits,), (several + once,))


def _kind(types: Any, words: str, fits: Callable[[Any], bool] = lambda value: True) -> Domain:
    return Domain((), (lambda value: isinstance(value, types) and fits(value),), (words,))


FLAG = Domain((), (lambda value: isinstance(value, bool | np.bool_),), ("True", "False"))
TEXT = _kind(str, "a text that is not empty", lambda value: value != "")
WORKERS = _kind(Integral, "a number of workers, -1 for all cores", lambda n: not isinstance(n, bool) and n != 0)
JOBS = choice(None) | WORKERS
SEED_NUMBER = _kind(Integral, f"an integer from 0 to 2**{ENTROPY_BITS} - 1", lambda n: 0 <= int(n) < 2**ENTROPY_BITS)
_GENERATOR = _kind(np.random.RandomState | np.random.Generator, "a numpy RandomState or Generator")
SEED = choice(None) | SEED_NUMBER | _GENERATOR
