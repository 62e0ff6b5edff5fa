"""What the library says of its parameters, in the options of the command that runs."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

__all__ = ["Command", "in_options"]

# Parameters of the library whose option has another name; the first that a command has counts.
_CALLED = {
    "k": "--top",
    "memory_limit": "--memory",
    "min_samples_leaf": "--min-leaf",
    "n_folds": "--folds",
    "n_jobs": "--jobs",
    "n_neighbors": "--neighbors",
    "n_trees": "--trees",
    "neighbors": "--among",
    "random_state": "--seed",
}
_QUOTED = r"(?<!\w)'(?:[^'\\]|\\.)*'|(?<!\w)\"(?:[^\"\\]|\\.)*\""
_PLAIN = re.compile(r"[\w./][\w.,/:-]*")


class _Running:
    """The options of the command that runs, and what its user has typed; warnings may come from any thread."""

    options: Collection[str] = ()
    typed: Collection[str] = ()


class Command(TyperCommand):
    """A command whose errors, warnings and notes name its options."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        _Running.options = {name for parameter in self.params for name in parameter.opts}
        _Running.typed = _texts(ctx.params)
        return super().invoke(ctx)


def in_options(text: str, options: Collection[str] | None = None, typed: Collection[str] | None = None) -> str:
    """Return a text in which ``name=value`` of the library reads ``--name value``, where there is such an option.

    Nothing changes inside quotation marks, nor in what the user has typed.

    Parameters
    ----------
    text : str
        What the library says.
    options : collection of str, optional
        The options there are; by default those of the command that runs.
    typed : collection of str, optional
        Texts that the user has given.

    Examples
    --------
    >>> from omnirank.cli.option_names import in_options
    >>> in_options("n_trees='many': give a number; bootstrap=None is fine", ["--trees"], [])
    '--trees many: give a number; bootstrap=None is fine'
    """
    options = _Running.options if options is None else options
    typed = _Running.typed if typed is None else typed
    kept = "|".join([*(re.escape(one) for one in sorted(typed, key=len, reverse=True)), _QUOTED])
    # what is to stay as it is comes first: it is stepped over
    pattern = rf"{kept}|(?<![\w-])(?P<name>[a-z_]+)=(?P<value>{_QUOTED}|\[\.\.\.\])?"

    def said(match: re.Match[str]) -> str:
        option = None if match["name"] is None else _option(match["name"], options)
        if option is None:
            return match[0]
        value = match["value"] or ""
        bare = value[1:-1]
        following = text[match.end() : match.end() + 1]
        space = "" if not value and (not following or following.isspace()) else " "
        return option + space + (bare if _PLAIN.fullmatch(bare) else value)

    return re.sub(pattern, said, text)


def _option(name: str, options: Collection[str]) -> str | None:
    named = (_CALLED.get(name), f"--{name.replace('_', '-')}")
    return next((option for option in named if option in options), None)


def _texts(given: Mapping[str, Any]) -> set[str]:
    """What the user has typed that looks like a parameter of the library."""
    values = [one for value in given.values() for one in (value if isinstance(value, list | tuple) else [value])]
    # of files, messages give the name alone, too
    files = [part for value in values if isinstance(value, Path) for part in (value.name, value.stem)]
    return {text for text in (*map(str, values), *files) if "=" in text}
