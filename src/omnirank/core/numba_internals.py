"""Names of Numba that it does not promise to keep; nothing else of omnirank uses such. Each has a plain way beside it.

* Numba's cache of one function, which `core.kernel_cache` puts on files that may be damaged: else Numba's own files.
* An option for functions that count no references (``_nrt``): else they are counted.
* How the parts of kernels are compiled: into their callers only. Numba optimises every function and turns it into
  machine code, then does so again for each of its callers, with the code of the function linked in. Parts of kernels
  never run on their own, so here both are left to the kernel at the top: that halves the time of the first call. Other
  versions than those tried compile parts as they always do. ``OMNIRANK_KERNEL_PARTS=plain`` has that done with every
  version.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import Any

import numba

try:
    from numba.core.caching import FunctionCache
    from numba.core.serialize import dumps
except ImportError:
    FunctionCache = dumps = None

_TRIED = ("0.68",)
LINKED_ONLY = numba.__version__.rpartition(".")[0] in _TRIED and os.environ.get("OMNIRANK_KERNEL_PARTS", "") != "plain"
try:
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler
except ImportError:
    JITCodeLibrary = Compiler = object
    LINKED_ONLY = False


def known_options(**options: Any) -> dict[str, Any]:
    """Return options of Numba's decorator, none of them if it does not know one."""
    try:
        numba.njit(**options)(lambda: None)
    except KeyError:  # Numba's error, before anything is compiled
        return {}
    return options


class _NoEnvironment:
    """Stands for the code generator where Numba registers what a function needs of Python: parts need nothing."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Do nothing."""


class _PartLibrary(JITCodeLibrary):
    """Code that is there to be linked."""

    @property
    def codegen(self) -> Any:
        return _NoEnvironment

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class PartCompiler(Compiler):
    """Numba's compiler, up to the code that callers link."""

    def define_pipelines(self) -> Any:
        """Let a library that is never emitted collect the code."""
        self.state.library = _PartLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()


PART_OPTIONS: dict[str, Any] = {}
if LINKED_ONLY:
    # Nobody calls a part from Python or C: wrappers for these calls take as long to compile as the part.
    PART_OPTIONS = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True, "pipeline_class": PartCompiler}
else:
    logging.getLogger("omnirank.compiling").debug(
        "parts of kernels are compiled the plain way, which takes longer (Numba %s; the short way was tried with %s)",
        numba.__version__,
        ", ".join(_TRIED),
    )


def compile_part(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile a function into its callers. Called from Python (tests do), it is compiled once more, on its own."""
    dispatcher = numba.njit(**options, **PART_OPTIONS)(function)
    if dispatcher is function or not LINKED_ONLY:  # the former where compiling is switched off
        return dispatcher
    alone = numba.njit(**options)(function)

    def add_overload(result: Any) -> None:
        # Known to callers that are compiled, but not to Python.
        dispatcher.overloads[tuple(result.signature.args)] = result

    dispatcher.add_overload = add_overload
    dispatcher._compile_for_args = lambda *arguments: alone
    return dispatcher
