"""The rules of structure that a linter does not know: short files, and functions that fit a screen.

Lines of code count: no blank lines, comments and docstrings. Run by ``make lint``; prints what breaks a rule and ends
with 1.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_NO_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def faults(folder: Path) -> list[str]:
    """Return what breaks a rule in the modules of a folder, as ``file:line: what``."""
    broken = []
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        text = path.read_text(encoding="utf-8")
        lines = code_lines(text)
        if len(lines) > MAX_FILE_LINES:
            broken.append(f"{name}:1: {len(lines)} lines of code, more than {MAX_FILE_LINES}: divide it")
        if not is_kernel(path.relative_to(folder)):
            broken += [f"{name}:{line}: {what}" for line, what in long_functions(text, lines)]
    return broken


def is_kernel(path: Path) -> bool:
    """Whether a module holds compiled loops, which are written for the compiler."""
    return "kernels" in path.parent.parts


def code_lines(text: str) -> set[int]:
    """Return the numbers of the lines that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            lines.difference_update(lines_of(node.body[0]))
    return lines


def long_functions(text: str, lines: set[int]) -> Iterator[tuple[int, str]]:
    """Yield line and message of each function that does not fit a screen."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            n_lines = len(lines.intersection(lines_of(node)))
            if n_lines > MAX_FUNCTION_LINES:
                yield node.lineno, f"{node.name} has {n_lines} lines of code, more than {MAX_FUNCTION_LINES}: divide it"


def lines_of(node: ast.stmt) -> range:
    """The lines of a statement, without its decorators."""
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


if __name__ == "__main__":
    broken = faults(SOURCE)
    print("\n".join(broken) or "structure: all rules kept")
    sys.exit(1 if broken else 0)
