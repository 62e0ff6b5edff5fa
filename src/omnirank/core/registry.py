"""The methods by name: CLI, experiments and docs read this, so that a new method is one module and one entry.

Entries name their ranker by import path, so that listing the methods imports none of them. Packages of third
parties register by a call of `register`, or by an entry point of the group ``omnirank.methods`` that names a
`Method` or a sequence of them::

    [project.entry-points."omnirank.methods"]
    mine = "mypackage.ranking:METHODS"
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any

from omnirank.core.errors import ParameterError, setting
from omnirank.core.parameters import check, choice
from omnirank.core.text import did_you_mean

SUPERVISION = ("supervised", "semi-supervised", "unsupervised")
DATA = ("table", "relational")

_BUILT_IN = "omnirank.rankers.builtin:METHODS"
_ENTRY_POINT_GROUP = "omnirank.methods"
_DEFAULTS = ("unbiased", "univariate")


@dataclass(frozen=True)
class Method:
    """A ranking method: a ranker class and the parameters that the method's name fixes.

    Parameters
    ----------
    name : str
        Name for users, in lower case.
    ranker : str
        Where the ranker class is: "package.module:Class"; imported when it is used.
    summary : str
        One line on what the scores mean.
    tasks : sequence of str
        Tasks that the method handles.
    supervision : tuple of str
        Some of "supervised", "semi-supervised" (it learns from unlabelled examples too) and "unsupervised".
    parameters : mapping
        Constructor parameters that the name fixes.
    reference : str
        Citation.
    uses_target : bool
        Whether the scores depend on the target where there is one; those of controls do not.
    data : {"table", "relational"}
        What the ranker takes: a table (`omnirank.Dataset`), or several linked ones (a `RelationalDataset`).

    Examples
    --------
    >>> from omnirank.core.registry import get_method
    >>> get_method("univariate").make(n_features_to_select=3)
    UnivariateRanker(n_features_to_select=3)
    """

    name: str
    ranker: str
    summary: str
    tasks: Sequence[str]
    supervision: tuple[str, ...] = SUPERVISION
    parameters: Mapping[str, Any] = field(default_factory=dict)
    reference: str = ""
    uses_target: bool = True
    data: str = "table"

    def __post_init__(self) -> None:
        if not self.name or ":" not in self.ranker:
            raise ParameterError(f"method {self.name!r}: ranker must read 'package.module:Class', not {self.ranker!r}")
        odd = set(self.supervision) - set(SUPERVISION)
        if odd or not self.supervision:
            raise ParameterError(
                f"method {self.name!r}: supervision must name some of {', '.join(SUPERVISION)}"
                + (f", not {sorted(odd)[0]!r}" if odd else "")
            )
        check("data", self.data, choice(*DATA))
        object.__setattr__(self, "supervision", tuple(self.supervision))
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))

    def load(self) -> type[Any]:
        """Import and return the ranker class."""
        ranker = imported(self.ranker)
        if not isinstance(ranker, type):
            raise ParameterError(f"method {self.name!r}: {self.ranker} is not a class")
        return ranker

    def make(self, **parameters: Any) -> Any:
        """Return a ranker with the method's own parameters and the given ones."""
        ranker = self.load()
        known = list(inspect.signature(ranker).parameters)
        for name, value in parameters.items():
            if name in self.parameters and value != self.parameters[name]:
                fixed = f"method {self.name!r} has it fixed at {self.parameters[name]!r}"
                others = [m.name for m in methods() if m.ranker == self.ranker and m.parameters.get(name) == value]
                cure = f"; choose {setting('method', others[0])} instead" if others else ""
                raise ParameterError(name, value, fixed + cure)
            if name not in known:
                hint = f"{did_you_mean(name, known)}; it has {', '.join(known)}"
                raise ParameterError(name, value, f"method {self.name!r} has no such parameter{hint}")
        return ranker(**{**self.parameters, **parameters})


_methods: dict[str, Method] = {}
_loaded = False


def register(method: Method, *, replace: bool = False) -> Method:
    """Add a method to the registry and return it.

    Parameters
    ----------
    method : Method
        The method.
    replace : bool
        Whether a method of the same name may be replaced; otherwise that is an error.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.rankers import Method, register, unregister
    >>> where = "omnirank.rankers.univariate:UnivariateRanker"
    >>> method = register(Method("mine", where, "squared correlation", tasks=("regression",)))
    >>> om.make_ranker("mine")
    UnivariateRanker()
    >>> unregister("mine")
    """
    _load_all()
    return _add(method, replace)


def unregister(name: str) -> None:
    """Take a method out of the registry.

    Parameters
    ----------
    name : str
        Name of the method.

    Examples
    --------
    >>> from omnirank.rankers import Method, register, unregister
    >>> method = register(Method("mine", "omnirank.rankers.univariate:UnivariateRanker", "mine", ("regression",)))
    >>> unregister("mine")
    """
    del _methods[get_method(name).name]


def methods(task: str | None = None, supervision: str | None = None, data: str | None = "table") -> list[Method]:
    """Return the registered methods, sorted by name.

    Parameters
    ----------
    task : str, optional
        Only methods that handle this task.
    supervision : str, optional
        Only methods that are "supervised", "semi-supervised" or "unsupervised".
    data : str or None
        Only methods that take a "table", or "relational" data; None: all.

    Examples
    --------
    >>> import omnirank as om
    >>> "univariate" in [method.name for method in om.methods(supervision="unsupervised")]
    True
    """
    _load_all()
    if supervision is not None:
        check("supervision", supervision, choice(*SUPERVISION))
    check("data", data, choice(*DATA, None))
    tasks = sorted({name for method in _methods.values() for name in method.tasks})
    if task is not None:
        check("task", task, choice(*tasks))
    return [
        method
        for _, method in sorted(_methods.items())
        if (task is None or task in method.tasks)
        and (supervision is None or supervision in method.supervision)
        and data in (None, method.data)
    ]


def method_name(ranker: Any) -> str | None:
    """Return the name of the method that a ranker is, by its class and parameters; None where none is registered.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.core.registry import method_name
    >>> method_name(om.InformationRanker("chi2"))
    'chi2'
    """
    kind = type(ranker)
    path = f"{kind.__module__}:{kind.__qualname__}"
    fitting = [
        method
        for method in methods()
        if method.ranker == path and all(_has(ranker, key, value) for key, value in method.parameters.items())
    ]
    # relieff is relief with a parameter: the name that says more
    return max(fitting, key=lambda method: len(method.parameters)).name if fitting else None


def _has(ranker: Any, name: str, value: Any) -> bool:
    """Whether a parameter has that value; a wrong one may be anything, such as an array."""
    current = getattr(ranker, name, None)
    return isinstance(current, type(value)) and bool(current == value)


def get_method(name: str) -> Method:
    """Return the method of that name.

    Examples
    --------
    >>> from omnirank.core.registry import get_method
    >>> get_method("univariat")
    Traceback (most recent call last):
    omnirank.core.errors.ParameterError: there is no method 'univariat' (did you mean 'univariate'?); ...
    """
    _load_all()
    try:
        return _methods[name.lower()]
    except KeyError:
        hint = f"{did_you_mean(name.lower(), _methods)}; methods: {', '.join(sorted(_methods))}"
        raise ParameterError(f"there is no method {name!r}{hint}") from None


def default_method(task: str | None = None) -> Method:
    """Return the method used where the user names none (for this task, if one is given)."""
    _load_all()
    known = [_methods[name] for name in _DEFAULTS if name in _methods]
    return next(method for method in known if task is None or task in method.tasks)


def make_ranker(name: str, **parameters: Any) -> Any:
    """Return a ranker by the name of its method.

    Parameters
    ----------
    name : str
        Name of a registered method.
    **parameters
        Constructor parameters of the ranker.

    Examples
    --------
    >>> import omnirank as om
    >>> om.make_ranker("random", random_state=7)
    RandomRanker(random_state=7)
    """
    return get_method(name).make(**parameters)


def _load_all() -> None:
    """Read the table of built-in methods and the entry points, once."""
    global _loaded  # noqa: PLW0603
    if _loaded:
        return
    _loaded = True
    for method in imported(_BUILT_IN):
        _add(method, replace=False)
    add_plugins(_ENTRY_POINT_GROUP, lambda method: _add(method, replace=False))


def _add(method: Method, replace: bool) -> Method:
    if method.name in _methods and not replace:
        again = setting("replace", True)
        raise ParameterError(f"there is a method called {method.name!r} already: choose another name, or {again}")
    _methods[method.name] = method
    return method


def imported(path: str) -> Any:
    """Return what an import path, "package.module:name", stands for."""
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)


def add_plugins(group: str, add: Callable[[Any], Any]) -> None:
    """Hand what the entry points of a group name, one entry or a sequence of them, to a registry.

    Parameters
    ----------
    group : str
        Name of the group, such as "omnirank.methods".
    add : callable
        Takes one entry.
    """
    for point in entry_points(group=group):
        try:
            entries = point.load()
            for entry in entries if isinstance(entries, Sequence) else [entries]:
                add(entry)
        except Exception as error:  # a broken package of others must not take the rest with it
            what = group.rpartition(".")[2]
            warnings.warn(f"the {what} of {point.value} are not available: {error}", RuntimeWarning, stacklevel=4)
