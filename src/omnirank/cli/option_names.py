"""Settings of the library in the words of the command that runs: its options."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from contextvars import ContextVar
from functools import partial
from itertools import takewhile
from typing import Any

from typer.core import TyperCommand

from omnirank.core.errors import name_settings

# Parameters of the library whose option has another name; the first that a command has counts.
_CALLED = {
    "exclude": "--ignore",
    "k": "--top",
    "keys": "--key",
    "max_memory": "--memory",
    "memory_limit": "--memory",
    "min_samples_leaf": "--min-leaf",
    "n_folds": "--folds",
    "n_jobs": "--jobs",
    "n_neighbors": "--neighbors",
    "n_resamples": "--resamples",
    "n_trees": "--trees",
    "neighbors": "--among",
    "random_state": "--seed",
    "threshold": "--association",
    "types": "--nominal",
}


_typed: ContextVar[str] = ContextVar("omnirank_typed_command", default="omnirank")


def typed_command() -> str:
    """Return the command that runs, as it was typed."""
    return _typed.get()


class Command(TyperCommand):
    """A command whose errors, warnings and notes name its options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; the command keeps them as they were typed."""
        _typed.set(shlex.join(["omnirank", str(ctx.info_name), *args]))
        self._refuse_repeated(ctx, args)
        return super().parse_args(ctx, args)

    def _refuse_repeated(self, ctx: Any, args: list[str]) -> None:
        """Refuse an option that is given twice and takes one value: the first would be lost without a word."""
        given = [arg.partition("=")[0] for arg in takewhile(lambda arg: arg != "--", args)]
        for parameter in self.params:
            once = not (getattr(parameter, "multiple", True) or getattr(parameter, "is_flag", True))
            if once and sum(name in parameter.opts for name in given) > 1:
                ctx.fail(
                    f"{parameter.opts[0]} is given more than once: give it once, several names separated by commas"
                )

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        options = {name for parameter in self.params for name in parameter.opts}
        flags = {name for parameter in self.params if getattr(parameter, "is_flag", False) for name in parameter.opts}
        name_settings(partial(option_and_value, options, flags=flags))
        try:
            return super().invoke(ctx)
        finally:
            name_settings(None)


def option_and_value(options: Collection[str], name: str, value: Any, *, flags: Collection[str] = ()) -> str | None:
    """Return a setting as it is typed; None where no option sets it.

    Parameters
    ----------
    options : collection of str
        The options there are.
    name : str
        The parameter of the library.
    value : anything
        Its value.
    flags : collection of str
        Those of the options that take no value.

    Examples
    --------
    >>> from omnirank.cli.option_names import option_and_value
    >>> option_and_value(["--trees"], "n_trees", 0), option_and_value(["--target"], "target", "my kind")
    ('--trees 0', "--target 'my kind'")
    >>> option_and_value(["--per-target"], "per_target", True, flags=["--per-target"])
    '--per-target'
    >>> option_and_value(["--trees"], "bootstrap", True), option_and_value(["--trees"], "n_trees", True)
    (None, '--trees True')
    >>> option_and_value(["--key"], "keys", {"b.a": "a"}), option_and_value(["--nominal"], "types", {"b.c": "nominal"})
    ('--key b.a=a', '--nominal b.c')
    """
    named = (_CALLED.get(name), f"--{name.replace('_', '-')}")
    option = next((option for option in named if option in options), None)
    if option is None or (value is True and option in flags):
        return option
    if name in ("exclude", "keys", "types") and not isinstance(value, str):
        value = ",".join(f"{n}={v}" for n, v in value.items()) if name == "keys" else ",".join(value)
    return f"{option} {shlex.quote(value) if isinstance(value, str) else repr(value)}"
