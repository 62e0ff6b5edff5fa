"""The one decorator of compiled kernels. Importing this module imports Numba: only ``kernels`` folders do."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
from numba.extending import overload

from omnirank.core.kernel_cache import keep_on_disk, kernel_folder, warn_once
from omnirank.core.numba_internals import PART_OPTIONS, UNCOUNTED, Listener, compile_part, listen

# Sums may be reordered and fused; NaN and infinities keep their meaning, and division by zero gives them.
_OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz", "arcp"}}

_logger = logging.getLogger("omnirank.compiling")


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile at the first call, keep the result on disk, release the GIL.

    The kernel works in arrays of its caller and makes none: code that counts references takes a sixth of the time to
    compile. One that makes an array is an error when it is compiled; `allocating` is for those.
    """
    return _kernel(function, **UNCOUNTED)


def allocating(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile as `compiled` does, a kernel that makes arrays of its own."""
    return _kernel(function)


def compiled_unless(allocates: Callable[..., bool]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a kernel of which only some kinds make arrays of their own.

    Parameters
    ----------
    allocates : callable
        Whether a call does; it may depend only on the types of the arguments, since files of kernels are named after
        them.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        without, with_arrays = compiled(function), allocating(function)

        @functools.wraps(function)
        def call(*arguments: Any) -> Any:
            return (with_arrays if allocates(*arguments) else without)(*arguments)

        return call

    return decorate


def _kernel(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    dispatcher = numba.njit(no_cfunc_wrapper=True, **_OPTIONS, **options)(function)
    if dispatcher is function:  # compiling is switched off
        return function
    if _CACHE is None:
        warn_once(
            "compiled kernels stay in memory, later processes compile them again: no folder for them can be written "
            "(the environment variable NUMBA_CACHE_DIR names one)"
        )
    else:
        keep_on_disk(dispatcher, _CACHE)
    return dispatcher


def part(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile as part of the callers, which are kept on disk: called there, not copied."""
    # said here, since what an inlined function calls would be inlined as it is
    return compile_part(function, forceinline=False, **_OPTIONS)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile into the callers, which are kept on disk; saves calls and reference counts of array arguments."""
    return compile_part(function, forceinline=True, **_OPTIONS)


class Kinds:
    """A family of NamedTuple classes among which dispatched steps choose; every step must know all of them.

    Parameters
    ----------
    name : str
        What they are kinds of, for errors.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._steps: dict[str, dict[Any, Callable[..., Any]]] = {}

    def add(self, step: str) -> dict[Any, Callable[..., Any]]:
        """Return the implementations of a new step, by kind."""
        return self._steps.setdefault(step, {})

    def require(self, *classes: type) -> None:
        """Raise a TypeError unless every step is written for these kinds: called when all of them are imported."""
        for step, implementations in self._steps.items():
            for missing in (kind for kind in classes if kind not in implementations):
                raise TypeError(f"kernel step {step} is not written for {missing.__name__}, one of the {self.name}")


def dispatched(kinds: Kinds, position: int = 0, *flags: str) -> Callable[[Callable[..., Any]], Any]:
    """Make a kernel with one implementation per kind of NamedTuple, chosen by the type of one argument.

    The decorated stub names the arguments; implementations are added with ``stub.kind(NamedTupleClass)``. When
    compiled, only the implementation that a call needs is compiled, into its caller. With ``stub.called`` instead it is
    compiled once for all callers: they call it.

    Parameters
    ----------
    kinds : Kinds
        The family that the step belongs to.
    position : int
        Which argument decides.
    flags : str
        Which fields of it do, where some are named: each is a `Yes` or a `No`. ``stub.kind`` takes a tuple of these.
    """

    def decorate(stub: Callable[..., Any]) -> Any:
        implementations = kinds.add(stub.__name__)

        @functools.wraps(stub)
        def interpreted(*arguments: Any) -> Any:
            value = arguments[position]
            key = tuple(type(getattr(value, flag)) for flag in flags) or type(value)
            return implementations[key](*arguments)

        def choose(*types: Any) -> Callable[..., Any]:
            kind = types[position]
            key = tuple(kind[kind.fields.index(flag)].instance_class for flag in flags) or kind.instance_class
            return implementations[key]

        def kind(*classes: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
            def add(implementation: Callable[..., Any]) -> Callable[..., Any]:
                implementations.update(dict.fromkeys(classes, implementation))
                return implementation

            return add

        def called(*classes: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
            def add(implementation: Callable[..., Any]) -> Callable[..., Any]:
                own = part(implementation)

                def call(*arguments: Any) -> Any:
                    return own(*arguments)

                implementations.update(dict.fromkeys(classes, call))
                return own

            return add

        interpreted.kind, interpreted.called = kind, called  # type: ignore[attr-defined]
        overload(interpreted, jit_options={**_OPTIONS, **PART_OPTIONS, "forceinline": True}, strict=False)(choose)
        return interpreted

    return decorate


class Yes(NamedTuple):
    """A flag that is set: `dispatched` chooses by it when a kernel is compiled."""


class No(NamedTuple):
    """A flag that is not set."""


class Announcement(Listener):
    """Warns, once per process, that kernels are compiled: silence would look like a hang.

    Later processes read them from disk.
    """

    def __init__(self) -> None:
        self._said = False

    def on_start(self, event: Any) -> None:
        """Take notice that a function is about to be compiled; what is on the disk is not compiled."""
        if not self._said and event.data["dispatcher"].py_func.__module__.startswith("omnirank."):
            self._said = True
            _logger.warning("compiling kernels for data of this kind, once per installation: takes some seconds")

    def on_end(self, event: Any) -> None:
        """Take no notice that a function was compiled."""


_CACHE = kernel_folder()
listen(Announcement())
