"""The rules of structure that a linter does not know: sizes of files and functions, and no tricks.

Lines of code count: no blank lines, comments and docstrings. Run by ``make lint``; prints what breaks a rule and ends
with 1.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"
MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60
# Of all files together.
MAX_LINES, MAX_FILES = 40_147, 263
SHORT_LINES, MAX_SHORT_FILES = 40, 29
# Where what Numba does not promise may be used.
INTERNALS = "core/numba_internals.py"

FORBIDDEN = {
    r"(from|import) (numba\.core|llvmlite|pandas\.core|numpy\._?core|sklearn[\w.]*\._)": "not a public module",
    r"\._cache\b|\b_nrt\b": "not a public name of Numba",
    r"sys\.modules\[[^\]]*\] *=[^=]": "replaces a module of the process",
    r"\bgc\.disable\(": "stops the garbage collector of the process",
    r"\bctypes\b": "calls the system's library",
    r"\.__signature__ *=[^=]": "a signature made by hand",
    r"\bsetattr\((cls|type\(|[A-Z])": "changes a class after its body",
}

# What only some systems have, allowed in a ``try`` that does without it.
POSIX_ONLY = re.compile(
    r"(?:import|from) (?:fcntl|resource|pwd|grp|termios|posix|pty)\b"
    r"|\bos\.(?:fork|kill|killpg|[gs]et[ug]id|uname|sysconf|sched_\w+|mkfifo|nice|getpgid|setsid|rename)\b"
    r"|\bsignal\.(?:SIGKILL|SIGALRM|SIGHUP|SIGUSR[12]|alarm|setitimer|pthread_\w+)\b"
    r"|\b(?:preexec_fn|start_new_session)\b|[\"']/(?:proc|tmp|dev|etc|usr)\b"
)
_DOES_WITHOUT = {"ImportError", "AttributeError", "OSError"}

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_NO_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def faults(folder: Path) -> list[str]:
    """Return what breaks a rule in the modules of a folder, as ``file:line: what``, and what breaks one of totals."""
    broken, sizes = [], []
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        text = path.read_text(encoding="utf-8")
        lines = code_lines(text)
        sizes.append(len(lines))
        if len(lines) > MAX_FILE_LINES:
            broken.append(f"{name}:1: {len(lines)} lines of code, more than {MAX_FILE_LINES}: divide it")
        if "kernels" not in path.relative_to(folder).parent.parts:  # compiled loops are written for the compiler
            broken += [f"{name}:{line}: {what}" for line, what in long_functions(text, lines)]
        if not name.endswith(INTERNALS):
            broken += [f"{name}:{line}: {what}" for line, what in tricks(text, lines)]
    short = sum(0 < size < SHORT_LINES for size in sizes)
    totals = {
        f"lines of code, more than {MAX_LINES}": (sum(sizes), MAX_LINES),
        f"files, more than {MAX_FILES}": (len(sizes), MAX_FILES),
        f"files of fewer than {SHORT_LINES} lines of code, more than {MAX_SHORT_FILES}": (short, MAX_SHORT_FILES),
    }
    return broken + [f"{size} {what}" for what, (size, limit) in totals.items() if size > limit]


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


def tricks(text: str, lines: set[int]) -> Iterator[tuple[int, str]]:
    """Yield line and message of what the rules forbid."""
    tried = guarded(text)
    for number, line in enumerate(text.splitlines(), start=1):
        match = POSIX_ONLY.search(line)
        if match and number in lines - tried:
            yield number, f"{match[0]!r}: not on every system; try it, and do without it"
        for pattern, why in FORBIDDEN.items() if number in lines else ():
            match = re.search(pattern, line)
            if match:
                yield number, f"{match[0]!r}: {why}"


def guarded(text: str) -> set[int]:
    """Return the lines inside a ``try`` that expects a name of the system to be missing."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Try):
            caught = {name.id for handler in node.handlers for name in ast.walk(handler) if isinstance(name, ast.Name)}
            for statement in node.body if caught & _DOES_WITHOUT else ():
                lines.update(lines_of(statement))
    return lines


def lines_of(node: ast.stmt) -> range:
    """The lines of a statement, without its decorators."""
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


if __name__ == "__main__":
    broken = faults(SOURCE)
    print("\n".join(broken) or "structure: all rules kept")
    sys.exit(1 if broken else 0)
