"""How the parts of kernels are compiled: into their callers only.

Numba optimises every function and turns it into machine code, then does so again for each of its callers, with the code
of the function linked in. Parts of kernels never run on their own, so here both are left to the kernel at the top:
that halves the time of the first call. That takes names of Numba that it does not promise to keep, so other versions
than those tried compile parts as they always do. ``OMNIRANK_KERNEL_PARTS=plain`` has that done with every version.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import Any

import numba

_TRIED = ("0.68",)

LINKED_ONLY = numba.__version__.rpartition(".")[0] in _TRIED and os.environ.get("OMNIRANK_KERNEL_PARTS", "") != "plain"
PART_OPTIONS: dict[str, Any] = {}
if LINKED_ONLY:
    from omnirank.core.kernel_linking import PartCompiler

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
