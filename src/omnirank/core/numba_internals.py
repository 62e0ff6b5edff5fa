"""Names of Numba and llvmlite that they do not promise to keep: nothing else of omnirank uses such names.

Each of them has a plain way, which is taken where a name is missing:

* ``FunctionCache``, the cache of one function, which `core.kernel_cache` puts on files that may be damaged: a damaged
  file of Numba's own is an error at every call (numba issue 10434). Else: Numba's own files.
* ``_nrt``, the option for functions that count no references: counting takes a sixth of the time of a first call, and
  calls inside kernels count too (numba issue 2345). ``uncounted`` takes the references of single arguments. Else: they
  are counted.
* ``event``, which reports that a function is compiled. Else: the wait is not announced.
* ``ir`` and ``cgutils``, which write vector instructions: compilers do not find those that keep sums in registers.
  Else: the plain twins of these functions (`core.kernels.vector`).
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
from importlib.metadata import version
from typing import Any

import numba
from numba import types
from numba.extending import intrinsic

try:
    from numba.core.caching import FunctionCache
    from numba.core.serialize import dumps
except ImportError:
    FunctionCache = dumps = None

try:
    from numba.core.event import Listener, register
except ImportError:
    Listener, register = object, None

try:
    from llvmlite import ir
    from numba.core import cgutils
except ImportError:
    ir = cgutils = None

_TRIED = ("0.68",)
LINKED_ONLY = numba.__version__.rpartition(".")[0] in _TRIED and os.environ.get("OMNIRANK_KERNEL_PARTS", "") != "plain"
try:
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler
except ImportError:
    JITCodeLibrary = Compiler = object
    LINKED_ONLY = False

# Whether functions can be written as instructions.
INSTRUCTIONS = cgutils is not None and not numba.config.DISABLE_JIT

# Versions that decide what is compiled.
VERSIONS = numba.__version__, version("llvmlite")


def known_options(**options: Any) -> dict[str, Any]:
    """Return options of Numba's decorator, none of them if it does not know one."""
    try:
        numba.njit(**options)(lambda: None)
    except KeyError:  # Numba's error, before anything is compiled
        return {}
    return options


# For functions that allocate nothing: no reference is counted, and none of the code for it is compiled.
UNCOUNTED = known_options(_nrt=False)


def listen(listener: Any) -> None:
    """Have a `Listener` told of every function that is compiled."""
    if register is not None:
        register("numba:compile", listener)


def use_cache(dispatcher: Any, make: Callable[..., Any]) -> None:
    """Let ``make(function)``, a `FunctionCache`, keep what is compiled of a function; else use Numba's own cache."""
    if FunctionCache is None or not hasattr(dispatcher, "_cache"):
        dispatcher.enable_caching()
    else:
        dispatcher._cache = make(dispatcher.py_func)


@intrinsic
def _stripped(typing_context: Any, arrays: Any) -> Any:
    def strip(context: Any, builder: Any, kind: Any, value: Any) -> Any:
        if isinstance(kind, types.Array):
            array = context.make_array(kind)(context, builder, value)
            array.meminfo = cgutils.get_null_value(array.meminfo.type)
            array.parent = cgutils.get_null_value(array.parent.type)
            return array._getvalue()
        if isinstance(kind, types.BaseTuple):
            for i, part in enumerate(kind.types):
                stripped = strip(context, builder, part, builder.extract_value(value, i))
                value = builder.insert_value(value, stripped, i)
        return value

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if not context.enable_nrt:  # nothing is counted anyway
            return arguments[0]
        return strip(context, builder, signature.args[0], arguments[0])

    return arrays(arrays), generate


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


def _as_they_are(arrays: Any) -> Any:
    return arrays


# uncounted(arrays): the same array or tuple of arrays without reference counts, for use inside a function whose caller
# keeps the arrays alive; counting references to scratch memory costs more than small nodes do
uncounted = _stripped if INSTRUCTIONS else compile_part(_as_they_are, forceinline=True)
