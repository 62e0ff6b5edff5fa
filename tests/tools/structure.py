"""The rules of structure that a linter does not know: short files, and functions that fit a screen.

Run by ``make lint``; prints what breaks a rule and ends with 1.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60


def faults(folder: Path) -> list[str]:
    """Return what breaks a rule in the modules of a folder, as ``file:line: what``."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        text = path.read_text(encoding="utf-8")
        n_lines = len(text.splitlines())
        if n_lines > MAX_FILE_LINES:
            found.append(f"{name}:1: {n_lines} lines, more than {MAX_FILE_LINES}: divide it")
        if not is_kernel(path.relative_to(folder)):
            found += [f"{name}:{line}: {what}" for line, what in long_functions(text)]
    return found


def is_kernel(path: Path) -> bool:
    """Whether a module holds compiled loops, which are written for the compiler."""
    return "kernels" in path.parent.parts


def long_functions(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and message of each function that does not fit a screen; docstrings do not count."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            n_lines = lines_of(node) - (lines_of(node.body[0]) if ast.get_docstring(node, clean=False) else 0)
            if n_lines > MAX_FUNCTION_LINES:
                yield node.lineno, f"{node.name} has {n_lines} lines, more than {MAX_FUNCTION_LINES}: divide it"


def lines_of(node: ast.stmt) -> int:
    """Number of lines of a statement, decorators not counted."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


if __name__ == "__main__":
    broken = faults(SOURCE)
    print("\n".join(broken) or "structure: all rules kept")
    sys.exit(1 if broken else 0)
