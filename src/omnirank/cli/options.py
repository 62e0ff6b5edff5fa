"""Options that commands share, how their values are read, and how they spell parameters of the library."""

# no postponed annotations: typer reads them as objects

import ast
import shlex
from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from omnirank.core import registry


def option(declaration: str, text: str, **more: Any) -> Any:
    """Return an option that is declared as its help shows it, such as ``"--top -k K"``; `more` is for typer.Option."""
    names = [word for word in declaration.split() if word.startswith("-")]
    metavar = next((word for word in declaration.split() if not word.startswith("-")), None)
    return typer.Option(*names, metavar=metavar, help=text, **{"show_default": False} | more)


Csv = Annotated[bool, option("--csv", "Print names and numbers only, as CSV.")]
Seed = Annotated[int, option("--seed N", "Seed; the same seed gives the same result (default: 0).", min=0)]
Jobs = Annotated[int, option("--jobs -j N", "Number of workers (default: -1, all cores).")]
Method = Annotated[str | None, option("--method -m NAME", "Method (default: unbiased); omnirank methods lists them.")]
Set = Annotated[
    list[str] | None, option("--set NAME=VALUE", "Parameter of the method, such as max_features=sqrt; repeatable.")
]
Trees = Annotated[
    str | None, option("--trees N", "Number of trees, or auto: until the ranking settles (default: 100).")
]
Top = Annotated[int | None, option("--top -k K", "Number of features to print (default: 20; with --csv all).", min=1)]
Supervision = Annotated[
    str | None,
    option(
        "--supervision W",
        "Weight of the target beside the features: 0 to 1, auto, cv, or a dict such as {'folds': 5} for cv.",
    ),
]
Labelled = Annotated[
    str | None, option("--labelled N", "As a trial, keep the labels of N examples, or of a share (0.1), only.")
]

# -- values ---------------------------------------------------------------------------------------------------

_CONSTANTS = {"none": None, "true": True, "false": False}


def value_of(text: str) -> Any:
    """Return the value of a text: none, true, false, a number or another Python literal; else the text."""
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def pairs(option: str, texts: list[str] | None) -> dict[str, str]:
    """Return ``NAME=VALUE`` texts as a dictionary; dashes of names become underscores.

    Examples
    --------
    >>> from omnirank.cli.options import pairs
    >>> pairs("read", ["max-memory=2G"])
    {'max_memory': '2G'}
    """
    from omnirank.core.errors import ParameterError

    values = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ParameterError(option, text, "write NAME=VALUE")
        key = name.strip().replace("-", "_")
        if key in values:
            raise ParameterError(f"--{option} {key} is given more than once; several columns are separated by commas")
        values[key] = value.strip()
    return values


def assignments(texts: list[str] | None) -> dict[str, Any]:
    """Return the parameters that --set gives.

    Examples
    --------
    >>> from omnirank.cli.options import assignments
    >>> assignments(["n-trees=50", "bootstrap=none"])
    {'n_trees': 50, 'bootstrap': None}
    """
    return {name: value_of(value) for name, value in pairs("set", texts).items()}


def with_few_labels(dataset: Any, labelled: str | None, seed: int | None) -> Any:
    """Return the data set with the labels of this number or share of its examples; the others are hidden."""
    from omnirank.core.errors import ParameterError

    if labelled is None:
        return dataset
    if dataset.target is None:
        raise ParameterError("--labelled keeps some labels, but there is no target: name it with --target")
    return dataset.keep_labels(value_of(labelled), random_state=seed)


def ranker_of(
    task: str, method: str | None, parameters: list[str] | None, **settings: Any
) -> "tuple[registry.Method, Any]":
    """Return the method, by default that of the task, and its ranker.

    Parameters
    ----------
    task : str
        The task.
    method : str or None
        Name of the method.
    parameters : list of str or None
        What --set gives; it counts more than the settings.
    **settings
        Parameters that have options of their own; those that are None are left out.
    """
    from omnirank.core.registry import default_method, get_method

    chosen = default_method(task) if method is None else get_method(method)
    return chosen, chosen.make(**given_settings(**settings) | assignments(parameters))


def given_settings(**settings: Any) -> dict[str, Any]:
    """Return the settings that are not None, with the values of their texts."""
    given = {name: value for name, value in settings.items() if value is not None}
    return {name: value_of(value) if isinstance(value, str) else value for name, value in given.items()}


def with_parameters(model: Any, parameters: dict[str, Any]) -> Any:
    """Return the model with the parameters of --set, which must be its own."""
    from omnirank.core.errors import ParameterError
    from omnirank.core.text import did_you_mean

    names = model.get_params(deep=False)
    for name in parameters:
        if name not in names:
            hint = did_you_mean(name, names)
            raise ParameterError(
                f"--set {name}: {type(model).__name__} has no such parameter{hint}; it has {', '.join(names)}"
            )
    return model.set_params(**parameters)


def refuse(options: Mapping[str, Any], reason: str) -> None:
    """Refuse the options that were given, for a reason.

    Examples
    --------
    >>> from omnirank.cli.options import refuse
    >>> refuse({"--supervision": None}, "is for one table: leave it out for several")
    """
    from omnirank.core.errors import ParameterError

    for name, value in options.items():
        if value:
            raise ParameterError(f"{name} {reason}")


# -- names ----------------------------------------------------------------------------------------------------

# Parameters of the library whose options have other names.
_OPTION_OF = {
    "exclude": "--ignore",
    "k": "--top",
    "keys": "--key",
    "n_folds": "--folds",
    "n_jobs": "--jobs",
    "n_neighbors": "--neighbors",
    "n_resamples": "--resamples",
    "n_trees": "--trees",
    "neighbors": "--among",
    "random_state": "--seed",
    "threshold": "--redundancy",
}
# The options of the command that runs: whether each is a flag.
OPTIONS: ContextVar[Mapping[str, bool]] = ContextVar("omnirank_options", default=MappingProxyType({}))


def option_of(name: str, value: Any) -> str | None:
    """Return a parameter of the library and its value as they are typed; None where no option sets it.

    Examples
    --------
    >>> from omnirank.cli.options import OPTIONS, option_of
    >>> token = OPTIONS.set({"--trees": False, "--key": False, "--target": False})
    >>> option_of("n_trees", 0), option_of("keys", {"b.a": "a"}), option_of("target", ["my kind", "y"])
    ('--trees 0', '--key b.a=a', '--target "my kind" --target y')
    >>> OPTIONS.reset(token)
    """
    from omnirank.cli.reading import reading_keys

    options = OPTIONS.get()
    option = next((o for o in (_OPTION_OF.get(name), f"--{name.replace('_', '-')}") if o in options), None)
    if option is None:
        key = {"exclude": "ignore", "keys": "key", "types": "nominal"}.get(name, name)
        return f"--read {_quoted(f'{key}={_typed(value)}')}" if "--read" in options and key in reading_keys() else None
    if value is True and options[option]:
        return option
    texts = [*map(str, value)] if isinstance(value, list | tuple) else [_typed(value)]
    return " ".join(f"{option} {text if value is ... else _quoted(text)}" for text in texts)


def _quoted(text: str) -> str:
    """A text as shells take it; double quotes serve those of Windows too."""
    return f'"{text}"' if shlex.quote(text) != text and not set(text) & set('"\\$`!') else shlex.quote(text)


def _typed(value: Any) -> str:
    """A value as it is typed."""
    if value is ... or value == "\t":
        return "..." if value is ... else "\\t"
    if isinstance(value, dict):
        return ",".join(n if kind == "nominal" else f"{n}={'' if kind is None else kind}" for n, kind in value.items())
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
