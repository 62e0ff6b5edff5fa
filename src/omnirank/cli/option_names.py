"""Settings of the library in the words of the command that runs: its options."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from contextvars import ContextVar
from functools import partial
from typing import Any

import typer
from typer.core import TyperCommand

from omnirank.cli.slips import given_options, no_option, too_many, value_taking
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
        options = value_taking(self.get_params(ctx))
        unknown = no_option(options, args)
        if unknown is not None:
            ctx.fail(unknown)
        self._refuse_repeated(ctx, [name for name, _ in given_options(options, args)])
        ctx.allow_extra_args = True  # refused below, with a hint
        try:
            extra = super().parse_args(ctx, list(args))
        except typer.BadParameter as error:
            given = [value for name, value in given_options(options, args) if name in getattr(error.param, "opts", ())]
            if not given or given[-1] is None:
                raise
            name = max(error.param.opts, key=len)  # type: ignore[union-attr]
            ctx.fail(f"{name} {given[-1]}: {error.message[:1].lower()}{error.message[1:]}")
        if extra:
            taken = [str(ctx.params[p.name]) for p in self.params if p.param_type_name == "argument"]
            ctx.fail(too_many(str(ctx.info_name), options, args, taken, extra))
        return extra

    def _refuse_repeated(self, ctx: Any, given: list[str]) -> None:
        """Refuse an option that is given twice and takes one value: the first would be lost without a word."""
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
            _check_typed(ctx.params)
            return super().invoke(ctx)
        finally:
            name_settings(None)


def _check_typed(given: Mapping[str, Any]) -> None:
    """Check what all commands understand alike; what the library takes as well, but cannot be typed, is not told."""
    from omnirank.core.parameters import SEED_NUMBER, WORKERS, check

    for option, name, domain in (("jobs", "n_jobs", WORKERS), ("seed", "random_state", SEED_NUMBER)):
        if given.get(option) is not None:
            check(name, given[option], domain)


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
