"""The places of a source file where one small mistake can be made, and the mistakes."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

_FLIPPED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
# Beside a limit that has a name in capitals, an order is turned round: whether a computed number that just reaches a
# tolerance, or one example more, counts as beyond it makes no difference that anybody has promised.
_TURNED = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}
_LIMIT = re.compile(r"(?!.*EXACT)_?[A-Z][A-Z0-9_]{2,}")
_TERMS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv)
# Calls whose first two arguments may change places without effect; another stream of random numbers is as good.
_SYMMETRIC = {
    "min", "max", "minimum", "maximum", "hypot", "gcd", "isclose", "allclose", "array_equal", "union1d", "intersect1d",
    "smaller", "larger", "stream", "_spearman",
}  # fmt: skip
# Calls that only speak to users.
_TELLING = {
    "warn", "warn_once", "info", "debug", "warning", "log", "plural", "cast", "isinstance", "TypeVar", "repr",
    "refuse_dense",
}  # fmt: skip
# Sizes of blocks and limits of what a message shows: they change speed, memory or wording, not results.
_SPEED = re.compile(
    r"_?(.*_)?(BLOCKS?|BYTES|CACHED?|CELLS|ROWS|ONCE|AHEAD|LANES|BATCH\w*|CHUNK|MEMORY|TILE|WIDTH|SHOWN|NAMED|SECONDS|S)"
    r"|n_workers|n_jobs|max_memory|verbose|progress|stacklevel|maxsize|TYPE_CHECKING|__name__|__all__"
)


@dataclass(frozen=True)
class Mutant:
    """One mistake in one file."""

    file: str
    line: int
    function: str
    kind: str
    old: str
    new: str
    source: str

    @property
    def changed(self) -> str:
        """The line with the mistake."""
        return self.source.split("\n")[self.line - 1].strip()

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.function}: {self.old} -> {self.new}"


def mutants_of(file: str, source: str) -> list[Mutant]:
    """Return all mutants of a file, in the order of their places."""
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    text, mutants = source.encode(), []
    for node, function, kind, new in _walk(ast.parse(source), ""):
        start, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        mutated = (text[:start] + new.encode() + text[end:]).decode()
        old = " ".join(text[start:end].decode().split())
        mutants.append(Mutant(file, node.lineno, function, kind, old, new, mutated))
    return mutants


def draw(mutants: list[Mutant], rng: random.Random) -> Iterator[Mutant]:
    """Draw mutants without repetition, each time first a kind, so that constants do not crowd out the others."""
    kinds: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        kinds.setdefault(mutant.kind, []).append(mutant)
    while kinds:
        kind = rng.choice(sorted(kinds))
        yield kinds[kind].pop(rng.randrange(len(kinds[kind])))
        if not kinds[kind]:
            del kinds[kind]


def _walk(node: ast.AST, function: str) -> Iterator[tuple[ast.expr | ast.stmt, str, str, str]]:
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom):
        return
    if isinstance(node, ast.Call) and _name(node.func) in _TELLING:
        return
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        if re.fullmatch(r"__(repr|str)__|_repr_\w+|_?describe\w*", node.name):
            return
        # Code that writes instructions runs when kernels are compiled only, and these are kept.
        if re.search("'(builder|ir)'", ast.dump(node)):
            return
        function = f"{function}.{node.name}".lstrip(".")
    if isinstance(node, ast.expr | ast.stmt) and not isinstance(node, ast.FunctionDef | ast.ClassDef):
        if _spoken_of_speed(node):
            if isinstance(node, ast.expr | ast.Assign | ast.AnnAssign):
                return
        elif function.rpartition(".")[2].strip("_")[:1].islower():  # no choices, as attributes of classes are
            for place, kind, new in _mistakes(node):
                yield place, function, kind, new
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "args") and not isinstance(node, ast.Call):
            continue  # also default values, which are choices
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _walk(child, function)


def _mistakes(node: ast.expr | ast.stmt) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    match node:
        case ast.Compare():
            flipped = _FLIPPED | _TURNED if any(map(_has_limit, (node.left, *node.comparators))) else _FLIPPED
            for i, operator in enumerate(node.ops):
                ops = [*node.ops[:i], flipped[type(operator)](), *node.ops[i + 1 :]]
                yield node, "comparison", _text(ast.Compare(node.left, ops, node.comparators))
        case ast.BoolOp():
            yield node, "and/or", _text(ast.BoolOp(_FLIPPED[type(node.op)](), node.values))
        case ast.BinOp(op=operator) if isinstance(operator, _TERMS) and not (
            _is_text(node.left) or _is_text(node.right)
        ):
            yield node, "dropped term", _text(node.left)
        case ast.AugAssign(op=operator) if isinstance(operator, _TERMS) and not _is_text(node.value):
            yield node, "dropped term", "pass"
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            yield node, "constant", str(number + 1)
        case ast.Slice():
            for bound, operator in ((node.lower, ast.Add()), (node.upper, ast.Sub())):
                if bound is not None and not isinstance(bound, ast.Constant):
                    yield bound, "bound", _text(ast.BinOp(bound, operator, ast.Constant(1)))
        case ast.Call():
            if _name(node.func) in ("range", "arange") and not isinstance(node.args[-1], ast.Starred):
                bound = node.args[min(1, len(node.args) - 1)]
                yield bound, "bound", _text(ast.BinOp(bound, ast.Sub(), ast.Constant(1)))
            first, second = (*node.args, None, None)[:2]
            is_clip = _name(node.func) == "clip" and len(node.args) == 3  # lower and upper ends beside the value
            if second is None or is_clip or _name(node.func) in _SYMMETRIC or ast.dump(first) == ast.dump(second):
                return
            if not any(isinstance(argument, ast.Starred) for argument in (first, second)):
                yield node, "swapped", _text(ast.Call(node.func, [second, first, *node.args[2:]], node.keywords))
        case ast.If() | ast.IfExp():
            if not isinstance(node.test, ast.Compare):
                yield node.test, "negated", _text(ast.UnaryOp(ast.Not(), node.test))


def _has_limit(node: ast.AST) -> bool:
    if isinstance(node, ast.Subscript):  # names of columns
        return False
    return bool(_LIMIT.fullmatch(_name(node))) or any(map(_has_limit, ast.iter_child_nodes(node)))


def _text(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if isinstance(node, ast.Name | ast.Constant | ast.Call | ast.Attribute) else f"({text})"


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _spoken_of_speed(node: ast.expr | ast.stmt) -> bool:
    """Return whether a name of a size of blocks, or the like, stands in a node, not in the statements below it."""
    names = [getattr(child, "id", getattr(child, "attr", getattr(child, "arg", ""))) for child in _own(node)]
    return any(_SPEED.fullmatch(name or "") for name in names)


def _own(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt):
            yield from _own(child)
