"""What was probably meant by arguments that a command does not take."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from omnirank.core.text import did_you_mean

_PARQUET = (".parquet", ".pq")


def value_taking(parameters: Sequence[Any]) -> dict[str, bool]:
    """Return the options among the parameters of a command by name: whether they take a value."""
    return {
        name: not (getattr(parameter, "is_flag", False) or getattr(parameter, "count", False))
        for parameter in parameters
        for name in (*parameter.opts, *parameter.secondary_opts)
        if name.startswith("-")
    }


def given_options(options: Mapping[str, bool], args: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Yield what looks like an option, with its value if it takes one; what follows ``--`` is none.

    Parameters
    ----------
    options : mapping of str to bool
        Whether options take a value.
    args : sequence of str
        What was typed after the command.

    Examples
    --------
    >>> from omnirank.cli.slips import given_options
    >>> list(given_options({"--top": True, "-k": True, "--csv": False}, ["a", "--top", "-3", "--csv", "-k5", "-fo"]))
    [('--top', '-3'), ('--csv', None), ('-k', '5'), ('-fo', None)]
    """
    rest = iter(args)
    for arg in rest:
        if arg == "--":
            return
        if len(arg) < 2 or arg[0] != "-":
            continue
        name, sign, value = arg.partition("=")
        if name in options or name.startswith("--") or f"-{name}" in options:
            follows = options.get(name, False) and not sign
            yield name, next(rest, None) if follows else value or None
        else:
            name, last = _short(options, arg)
            yield name, next(rest, None) if last is None and options.get(name, False) else last


def _short(options: Mapping[str, bool], arg: str) -> tuple[str, str | None]:
    """Short options that stand together, the last perhaps with its value; all of it where one is unknown."""
    for i, letter in enumerate(arg[1:], start=1):
        name = f"-{letter}"
        if name not in options:
            return arg, None
        if options[name]:
            return name, arg[i + 1 :] or None
    return arg[:2], None


def no_option(options: Mapping[str, bool], args: Sequence[str]) -> str | None:
    """Return in words which argument is no option, and which one was probably meant; None if there is none such.

    Examples
    --------
    >>> from omnirank.cli.slips import no_option
    >>> no_option({"-forest": False, "--forest": False}, ["-foest"])
    "there is no option -foest (did you mean '-forest'?)"
    >>> no_option({"--trees": True}, ["-trees", "5"])
    'there is no option -trees: names of several letters have two dashes, --trees'
    """
    for name, _ in given_options(options, args):
        if name in options:
            continue
        text = f"there is no option {name}"
        if f"-{name}" in options:
            return f"{text}: names of several letters have two dashes, -{name}"
        parameter = _parameter(name) if {"--set", "--method"} <= set(options) else None
        if parameter is not None:
            return f"{text}: parameters of the method are set by --set, here --set {parameter}=..."
        return text + did_you_mean(name, options)
    return None


def _parameter(option: str) -> str | None:
    """The parameter of a method that an option would be called after."""
    from omnirank.core.registry import methods

    name = option.lstrip("-").replace("-", "_")
    known = {parameter for method in methods() for parameter in method.make().get_params(deep=False)}
    return next((one for one in (name, f"n_{name}") if one in known), None)


def too_many(
    command: str, options: Mapping[str, bool], args: Sequence[str], taken: Sequence[str], extra: Sequence[str]
) -> str:
    """Return in words which arguments are too many, and what they were probably meant to be.

    Parameters
    ----------
    command : str
        Name of the command.
    options : mapping of str to bool
        Its options.
    args : sequence of str
        All that was typed after it.
    taken, extra : sequence of str
        The arguments that it takes, and those that it does not.

    Examples
    --------
    >>> from omnirank.cli.slips import too_many
    >>> too_many("info", {"--target": True}, ["t.csv", "kind"], ["t.csv"], ["kind"])
    "'kind' is one argument too many: --target kind names the target"
    """
    words = ", ".join(map(repr, extra)) + (
        " is one argument too many" if len(extra) == 1 else " are too many arguments"
    )
    meant = _meant(command, options, args, taken, extra)
    return f"{words}: {meant}" if meant else words


def _meant(
    command: str, options: Mapping[str, bool], args: Sequence[str], taken: Sequence[str], extra: Sequence[str]
) -> str:
    files = [*taken, *extra]
    if command == "compare":
        return f"omnirank compare-rankings {' '.join(files[:2])} compares two rankings"
    ranking = next((file for file in files if file.endswith(".json")), None)
    if ranking is not None and "--ranking" in options:
        first = "the data come first, and " if ranking in taken else ""
        return f"{first}--ranking {ranking} judges a ranking that there is"
    if "--target" not in options:
        return ""
    if all(file.endswith(_PARQUET) for file in files):
        return "parts of one table are given by their folder, or by a pattern in quotes, such as 'parts/*.parquet'"
    if any(os.path.exists(file) for file in extra):
        return "give one file"
    before = dict(zip(args[1:], args, strict=False)).get(extra[0], "")
    if before in (value for name, value in given_options(options, args) if name in ("--target", "-t")):
        return f"several names are separated by commas, --target {','.join([before, *extra])}"
    return f"--target {','.join(extra)} names the target"


def no_command(name: str) -> str | None:
    """Return in words what was meant by something that is no command, where that is known."""
    if name == "help":
        return "omnirank --help lists the commands, omnirank rank --help the options of one"
    if name == "version":
        return "omnirank --version shows it"
    if os.path.exists(name):
        return f"it is a file: omnirank rank {name} ranks its features, omnirank info {name} shows what is in it"
    return None
