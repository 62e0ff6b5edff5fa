"""How the parts of kernels are compiled: into their callers only.

Numba optimises every function and turns it into machine code, then does so again for each of its callers, with the code
of the function linked in. Parts of kernels never run on their own, so here both are left to the kernel at the top:
that halves the time of the first call. That takes names of Numba that it does not promise to keep, so other versions
than those tried compile parts as they always do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

__all__ = ["PART_OPTIONS", "compile_part"]


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


class _PartCompiler(Compiler):
    """Numba's compiler, up to the code that callers link."""

    def define_pipelines(self) -> Any:
        self.state.library = _PartLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()


_TRIED = ("0.68",)
_LINKED_ONLY = numba.__version__.rpartition(".")[0] in _TRIED

# Nobody calls a part from Python or C: wrappers for these calls take as long to compile as the part.
PART_OPTIONS: dict[str, Any] = (
    {"no_cfunc_wrapper": True, "no_cpython_wrapper": True, "pipeline_class": _PartCompiler} if _LINKED_ONLY else {}
)


def compile_part(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile a function into its callers. Called from Python (tests do), it is compiled once more, on its own."""
    dispatcher = numba.njit(**options, **PART_OPTIONS)(function)
    if dispatcher is function or not _LINKED_ONLY:  # the former where compiling is switched off
        return dispatcher
    alone = numba.njit(**options)(function)

    def add_overload(result: Any) -> None:
        # Known to callers that are compiled, but not to Python.
        dispatcher.overloads[tuple(result.signature.args)] = result

    dispatcher.add_overload = add_overload
    dispatcher._compile_for_args = lambda *arguments: alone
    return dispatcher
