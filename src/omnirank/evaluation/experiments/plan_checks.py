"""Checks of a plan's tables; each error says where, what, what was probably meant, and what there is."""

from __future__ import annotations

import inspect
import os
from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from omnirank.core.errors import OmnirankError, ParameterError
from omnirank.core.parameters import FLAG, Domain, choice, count, listed, number
from omnirank.core.suggestions import did_you_mean
from omnirank.evaluation.experiments.environment import with_variables

# Parameters that the plan sets by other means.
_NOT_FOR_PLANS = ("random_state", "n_jobs", "task", "hierarchy", "n_features_to_select", "warm_start", "checkpoints")
_OF_EVALUATION = ("ranking", "train", "test", "predictor", "n_neighbors", "neighbors", "n_jobs")

# A plan writes booleans in small letters.
_YES_OR_NO = Domain((), FLAG.tests, ("true", "false"))
_QUOTED = Domain((), (lambda value: isinstance(value, str),), ("a text in quotation marks",))

# -- values ---------------------------------------------------------------------------------------


def known_keys(table: Mapping[str, Any], known: Collection[str], where: str) -> None:
    """Refuse keys that are not known."""
    for key in table:
        if key not in known:
            raise ParameterError(f"{where}: unknown key {key!r}{did_you_mean(key, known)}; keys: {', '.join(known)}")


def _checked(value: Any, where: str, key: str, domain: Domain) -> Any:
    """Return the value of a key, which must be of the domain."""
    if value not in domain:
        raise ParameterError(f"{where}: {key} = {value!r}: {domain.advice(value)}")
    return value


def one_of(value: Any, known: Collection[str], where: str, key: str) -> str:
    """Return the value, which must be one of the known names."""
    return str(_checked(value, where, key, choice(*known)))


def text(value: Any, where: str, key: str) -> str:
    """Return the value, which must be a string."""
    return str(_checked(value, where, key, _QUOTED))


def texts(value: Any, where: str, key: str) -> tuple[str, ...]:
    """Return the value, which must be a list of different strings."""
    if value != []:
        _checked(value, where, key, listed(_QUOTED))
    different(value, f"{where}: {key}")
    return tuple(value)


def different(names: Sequence[Any], where: str, advice: str = "give different names (key name)") -> None:
    """Refuse names that are given twice."""
    twice = _twice(names)
    if twice is not None:
        raise ParameterError(f"{where}: {twice!r} is there twice; {advice}")


def unmistakable(columns: Sequence[str], where: str) -> None:
    """Refuse methods and choices of grids that tables and the store could not tell apart."""
    twice = _twice(columns)
    if twice is not None:
        advice = "leave out one (in a grid, a number beside the same text), or give another name"
        raise ParameterError(f"{where}: {twice!r} stands for two methods: {advice}")


def _twice(names: Sequence[Any]) -> Any:
    return next((name for i, name in enumerate(names) if name in names[:i]), None)


def yes_or_no(value: Any, where: str, key: str) -> bool:
    """Return the value, which must be true or false."""
    return bool(_checked(value, where, key, _YES_OR_NO))


def counts(value: Any, where: str, key: str, least: int) -> tuple[int, ...]:
    """Return the value, which must be a whole number or a list of different ones."""
    _checked(value, where, key, listed(count(least), or_one=True))
    found = value if isinstance(value, list) else [value]
    different(found, f"{where}: {key}")
    return tuple(found)


def folder(value: Any, where: str, key: str) -> Path:
    """Return the value, a path in which ``${NAME}`` and ``${NAME:-default}`` stand for environment variables.

    What a variable holds is a path of its own: it starts at the current folder, not at that of the plan.
    """

    def absolute(name: str) -> str | None:
        held = os.environ.get(name)
        return str(Path(held).absolute()) if held else None

    return Path(with_variables(text(value, where, key), absolute, f"{where}: {key}"))


def table_of(value: Any, where: str, key: str) -> dict[str, Any]:
    """Return the value, which must be a table of plain values."""
    if not isinstance(value, dict):
        raise ParameterError(f"{where}: {key} must be a table such as {{ n_trees = 50 }}, not {value!r}")
    _check_plain(value, where, key)
    return value


def _check_plain(value: Any, where: str, key: str) -> None:
    """Dates and the like have no JSON; infinite numbers have none either."""
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            _check_plain(one, where, key)
    elif not isinstance(value, str | bool | int | float) or value in (float("inf"), float("-inf")) or value != value:
        raise ParameterError(f"{where}: {key} holds {value!r}: give numbers, texts, true, false, lists and tables")


# -- parts of a plan ------------------------------------------------------------------------------


def samples() -> tuple[str, ...]:
    """Names of the sample data."""
    from omnirank.data.samples import list_samples

    return list_samples()


def load_options(
    table: Mapping[str, Any], own: Sequence[str], where: str, options: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return the keys that say how a file is read, or other options."""
    from omnirank.data.load import load

    if options is None:
        options = tuple(name for name in inspect.signature(load).parameters if name not in ("path", "name"))
    known_keys(table, (*own, *options), where)
    found = {key: value for key, value in table.items() if key in options}
    _check_plain(found, where, "options")
    return found


def import_modules(modules: Sequence[str], where: str) -> None:
    """Import the modules that register methods of their own."""
    for module in modules:
        try:
            import_module(module)
        except ImportError as error:
            raise ParameterError(f"{where}: modules names {module!r}, which cannot be imported ({error})") from None


def measures(value: Any, where: str) -> tuple[str, ...]:
    """Return names of measures."""
    from omnirank.measures import MEASURES

    found = texts([value] if isinstance(value, str) else value, where, "measures")
    return tuple(one_of(name, tuple(MEASURES), where, "measures") for name in found)


def method_name(use: str, where: str) -> str:
    """Return the name of a method of the registry, or of a predictor."""
    from omnirank.core.registry import get_method, methods
    from omnirank.evaluation.experiments.learners import PREDICTORS

    if use in PREDICTORS:
        return use
    try:
        return get_method(use).name
    except ParameterError:
        known = (*(method.name for method in methods()), *PREDICTORS)
        return one_of(use, known, where, "use")


def method_parameters(use: str, names: Collection[str], fixed: Mapping[str, Any], where: str) -> None:
    """Refuse parameters that the method does not have, that its name fixes, or that the plan sets elsewhere."""
    from omnirank.evaluation.experiments.learners import known_parameters, make

    known = [name for name in known_parameters(use) if name not in _NOT_FOR_PLANS]
    for name in sorted(names):
        if name not in known:
            why = f"has no parameter {name!r}{did_you_mean(name, known)}"
            if name in _NOT_FOR_PLANS:
                why = f"cannot be given {name!r} in a plan: seeds, folds and the data decide it"
            raise ParameterError(f"{where}: method {use!r} {why}; parameters: {', '.join(known)}")
    try:
        make(use, fixed, seed=0)
    except OmnirankError as error:
        raise ParameterError(f"{where}: {error}") from None


def grid(value: Any, where: str) -> dict[str, list[Any]]:
    """Return lists of values by parameter."""
    found = table_of(value, where, "grid")
    for name, values in found.items():
        if not isinstance(values, list) or not values:
            raise ParameterError(f"{where}: grid: {name} must be a list of values, not {values!r}")
        different(values, f"{where}: grid: {name}", "give it once")
    return found


def selection(value: Any, has_grid: bool, where: str) -> str | dict[str, Any] | None:
    """Return how a combination of a grid is chosen: not at all, "best", or by internal cross-validation."""
    if value is None:
        return None
    if not has_grid:
        raise ParameterError(f"{where}: select chooses from a grid, but there is none")
    if value == "best":
        return "best"
    if not isinstance(value, dict):
        raise ParameterError(f'{where}: select must be "best" or a table such as {{ n_folds = 4 }}, not {value!r}')
    known_keys(value, ("n_folds", "measure"), f"{where}: select")
    [n_folds] = counts(value.get("n_folds", 4), where, "select: n_folds", least=2)
    if "measure" not in value:
        return {"n_folds": n_folds}
    return {"n_folds": n_folds, "measure": measures(value["measure"], f"{where}: select")[0]}


def fold_scheme(value: Any, table: Mapping[str, Any], where: str) -> str:
    """Return the name of a fold scheme; refuse parameters that it does not have."""
    from omnirank.evaluation.folds import SCHEMES, scheme_parameters

    scheme = one_of(value, SCHEMES, where, "scheme")
    known_keys(table, scheme_parameters(scheme), f"{where}: scheme {scheme!r}")
    _check_plain(dict(table), where, "parameters")
    for name in ("n_folds", "repetitions"):
        if name in table:
            counts(table[name], where, name, least=1)
    return scheme


def evaluation_parameters() -> tuple[str, ...]:
    """Names of the further parameters of `omnirank.evaluation.evaluate.evaluate`."""
    from omnirank.evaluation.evaluate import evaluate

    return tuple(name for name in inspect.signature(evaluate).parameters if name not in _OF_EVALUATION)


def evaluation_values(table: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the values of the further parameters of an evaluation; one that cannot be meant is refused at once."""
    from omnirank.tasks.measuring import VARIANCES, VARIANTS

    domains = {"variant": choice(*VARIANTS), "variance": choice(*VARIANCES), "threshold": number(0, 1)}
    for key, domain in (domains | {"weighted": _YES_OR_NO, "scaled": _YES_OR_NO}).items():
        if key in table:
            _checked(table[key], where, key, domain)
    found = dict(table)
    if "top" in table:
        tops = counts(table["top"], where, "top", least=1)
        found["top"] = list(tops) if len(tops) > 1 else tops[0]
    return found


def neighbor_setting(table: Mapping[str, Any], key: str, where: str) -> str | None:
    """Return what predicts from a ranking (key ``predictor``), or which examples may be neighbours (``neighbors``)."""
    from omnirank.evaluation.knn import NEIGHBOR_PREDICTORS, NEIGHBORS

    known = {"predictor": NEIGHBOR_PREDICTORS, "neighbors": NEIGHBORS}
    return one_of(table[key], known[key], where, key) if table.get(key) is not None else None
