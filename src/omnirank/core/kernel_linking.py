"""Numba's compiler, stopped before it optimises a part of a kernel: private names, for the versions tried only."""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


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
