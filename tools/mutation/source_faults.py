"""One-line faults of a Python source: something changed, deleted or swapped.

One operator, constant, comparison, index or table entry is changed; a statement, a condition or an entry
deleted; two arguments, or the names of two parameters, are swapped.

What only speaks is left alone: docstrings, messages of errors and what makes them, annotations, decorators,
text with blanks in it, and what prints an object. So are assertions, which state what holds anyway, what
makes a difference in speed alone, and the numbers of a hash that stands for any function.
"""

from __future__ import annotations

import ast
import copy
import itertools
import marshal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Literal

from .blocks import block_lines, first_line

_OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add, ast.FloorDiv),
    ast.FloorDiv: (ast.Mult, ast.Mod),
    ast.Div: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitXor: (ast.BitAnd,),
}
_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_SPEAKING = frozenset({"__repr__", "__format__", "describe", "description", "meaning", "summary"})
_SPOKEN = frozenset({"message", "reason", "source", "title", "note", "label", "doc"})
_ASIDE = frozenset({"maxsize", "copy", "strict", "work"})
_SPEED = "_BLOCK"  # how much is computed at a time: that, and what scales it, changes no result
_ANY = frozenset(
    {_SPEED, "_MIX", "_MIX_DOWN"}
)  # numbers for which any will do: a hash is one whichever they are


FaultKind = Literal[
    "operator", "comparison", "constant", "index", "table entry",
    "deleted statement", "deleted condition", "deleted entry", "swapped arguments", "swapped names",
]  # fmt: skip
"""What a fault changes."""

_SYMMETRIC = frozenset({"min", "max", "same", "gcd", "lcm", "maximum", "minimum"})
"""Functions whose arguments may be swapped."""

_TABLE = 3
"""Entries that a display has of which one may be missing: two are a pair."""


@dataclass(frozen=True)
class Fault:
    """A change of one expression or statement.

    Attributes
    ----------
    kind : FaultKind
        What is changed.
    function : int
        First line of the innermost function (with its decorators) in whose body it stands, 0 for none.
    block : int
        First line of the block of that function, 0 for none.
    module : ast.Module
        The tree without the change.
    node, replacement : ast.expr or ast.stmt
        The expression or statement before and after.
    """

    kind: FaultKind
    function: int
    block: int
    module: ast.Module = field(repr=False)
    node: ast.expr | ast.stmt
    replacement: ast.expr | ast.stmt

    @property
    def line(self) -> int:
        """Where it begins."""
        return self.node.lineno

    @property
    def column(self) -> int:
        """Where in its line, from 1."""
        return self.node.col_offset + 1

    @property
    def old(self) -> str:
        """The source before."""
        return ast.unparse(self.node)

    @property
    def new(self) -> str:
        """The source after."""
        return ast.unparse(self.replacement)

    def source(self) -> str:
        """Return the whole source with the change."""
        changed: ast.Module = copy.deepcopy(self.module, {id(self.node): self.replacement})
        return ast.unparse(changed)

    def is_equivalent(self) -> bool:
        """Whether the change compiles to the very instructions that were there."""
        return _behaviour(self.source()) == _behaviour(ast.unparse(self.module))


@dataclass(frozen=True)
class _Change:
    kind: FaultKind
    node: ast.expr | ast.stmt
    new: ast.expr | ast.stmt


def faults(text: str) -> list[Fault]:
    """Return every fault of a source, in the order of its lines.

    Raises
    ------
    SyntaxError
        If the source is not Python.
    """
    tree = ast.parse(text)
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    blocks = {first_line(function): block_lines(function) for function in functions}
    found = []
    for function, change in _of_statements(tree, 0):
        block = blocks[function][change.node.lineno] if function else 0
        found.append(Fault(change.kind, function, block, tree, change.node, change.new))
    return sorted(found, key=lambda fault: fault.line)


def speaks(node: ast.AST) -> bool:
    """Whether all that is in a node is for people: raised, asserted, printed, or given as a message."""
    match node:
        case ast.Raise() | ast.Assert():
            return True
        case ast.FunctionDef():
            return node.name in _SPEAKING or _makes_error(node.returns)
        case ast.keyword(arg=str(name)):
            return name in _SPOKEN
    return False


def _scales(node: ast.expr) -> str:
    """Return the name at the left end of a product or quotient."""
    match node:
        case ast.BinOp(left, ast.Mult() | ast.FloorDiv()):
            return _scales(left)
        case ast.Name(name):
            return name
    return ""


def _behaviour(source: str) -> bytes:
    """Return what two sources have in common when they do the same by the same instructions."""
    return marshal.dumps(_without_places(compile(source, "", "exec", dont_inherit=True)))


def _without_places(code: CodeType) -> CodeType:
    constants = tuple(_without_places(c) if isinstance(c, CodeType) else c for c in code.co_consts)
    return code.replace(co_consts=constants, co_firstlineno=1, co_linetable=b"")


def _of_statements(node: ast.AST, function: int) -> Iterator[tuple[int, _Change]]:  # noqa: PLR0912 (a case each)
    """Yield the changes in a node, each with the function in whose body it stands."""
    if speaks(node):
        return
    match node:
        case ast.JoinedStr() | ast.Expr(ast.Constant()):
            return
        case ast.BinOp() if _scales(node) == _SPEED:
            return
        case ast.Import() | ast.ImportFrom():
            return
        case ast.If(test=ast.Name("TYPE_CHECKING")):
            return
        case ast.AnnAssign(value=None):
            return
        case ast.Assign(targets=[ast.Name(name)]) if name == "__all__" or name in _ANY:
            return
        case ast.keyword(arg=str(name)) if name in _ASIDE:
            return
        case ast.Call(ast.Name("get_close_matches") | ast.Attribute(attr="get_close_matches")):
            return
        case ast.FunctionDef():
            for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
                yield from _of_statements(default, function)
            swaps = _swapped_parameters(node.args)
            for statement in node.body:
                yield from _of_statements(statement, first_line(node))
                yield from ((first_line(node), change) for change in _of_names(statement, swaps))
            return
    if function or isinstance(node, ast.comprehension):
        yield from ((function, change) for change in _deletions(node))
    if isinstance(node, ast.expr):
        yield from ((function, change) for change in _of_expression(node))
    skipped = {"annotation", "returns", "decorator_list", "msg"}
    for name, value in ast.iter_fields(node):
        if name in skipped:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _of_statements(child, function)


def _of_expression(node: ast.expr) -> Iterator[_Change]:  # noqa: PLR0912 (a case each)
    match node:
        case ast.BinOp(left, operator, right) if not _is_text(left) and not _are_types(left, right):
            for other in _OPERATORS.get(type(operator), ()):
                yield _Change("operator", node, ast.BinOp(left, other(), right))
        case ast.BoolOp(operator, values):
            swapped: ast.boolop = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield _Change("operator", node, ast.BoolOp(swapped, values))
            for place in range(len(values)):
                others = [*values[:place], *values[place + 1 :]]
                kept = others[0] if len(others) == 1 else ast.BoolOp(operator, others)
                yield _Change("deleted condition", node, kept)
        case ast.Call(function, arguments) if not (_called(function) in _SYMMETRIC or _are_types(*arguments)):
            for place, (one, another) in enumerate(itertools.pairwise(arguments)):
                if _are_alike(one, another) and ast.dump(one) != ast.dump(another):
                    swapped_arguments = [*arguments[:place], another, one, *arguments[place + 2 :]]
                    call = ast.Call(function, swapped_arguments, node.keywords)
                    yield _Change("swapped arguments", node, call)
        case ast.UnaryOp(ast.Not() | ast.USub() | ast.Invert(), operand):
            yield _Change("operator", node, operand)
        case ast.IfExp(test, body, alternative):
            yield _Change("operator", node, ast.IfExp(test, alternative, body))
        case ast.Compare(left, [operator], comparators):
            for comparison in _COMPARISONS[type(operator)]:
                yield _Change("comparison", node, ast.Compare(left, [comparison()], comparators))
        case ast.Constant(bool(value)):
            yield _Change("constant", node, ast.Constant(not value))
        case ast.Constant(int(value)):
            yield _Change("constant", node, ast.Constant(value + 1))
            if value:
                yield _Change("constant", node, ast.Constant(value - 1))
        case ast.Constant(float(value)):
            yield _Change("constant", node, ast.Constant(2 * value + 1))
        case ast.Slice(lower, upper, _):
            for bound in (lower, upper):
                if bound is not None and not isinstance(bound, ast.Constant | ast.UnaryOp):
                    yield _Change("index", bound, ast.BinOp(bound, ast.Add(), ast.Constant(1)))
        case ast.Tuple(entries) | ast.List(entries) | ast.Set(entries):
            yield from _of_table(entries)
            if _is_table(entries):
                for place in range(len(entries)):
                    rest = [*entries[:place], *entries[place + 1 :]]
                    display = ast.Set(rest) if isinstance(node, ast.Set) else type(node)(rest, ast.Load())
                    yield _Change("deleted entry", node, display)
        case ast.Dict(keys, values):
            if _is_table(keys) and _is_table(values):
                for place in range(len(keys)):
                    rest = [*values[:place], *values[place + 1 :]]
                    yield _Change("deleted entry", node, ast.Dict([*keys[:place], *keys[place + 1 :]], rest))
            yield from _of_table([key for key in keys if key is not None])
            yield from _of_table(values)


def _deletions(node: ast.AST) -> Iterator[_Change]:
    """Yield the statement that is left out, and conditions without which the rest is done."""
    match node:
        case ast.comprehension(ifs=tests):
            yield from (_Change("deleted condition", test, ast.Constant(True)) for test in tests)
        case ast.If(test, body, []):
            yield _Change("deleted statement", node, ast.Pass())
            if not any(map(speaks, body)):
                yield _Change("deleted condition", test, ast.Constant(True))
        case (
            ast.Expr(ast.Call() | ast.Yield() | ast.YieldFrom())
            | ast.AugAssign()
            | ast.Continue()
            | ast.Assign([ast.Subscript() | ast.Attribute()])
        ):
            yield _Change("deleted statement", node, ast.Pass())


def _swapped_parameters(arguments: ast.arguments) -> dict[str, str]:
    """Return the next parameter of the same annotation, by parameter."""
    by_type: dict[str, list[str]] = {}
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if argument.annotation is not None:
            by_type.setdefault(ast.dump(argument.annotation), []).append(argument.arg)
    return {
        name: names[(place + 1) % len(names)]
        for names in by_type.values()
        if len(names) > 1
        for place, name in enumerate(names)
    }


def _of_names(node: ast.AST, swaps: Mapping[str, str]) -> Iterator[_Change]:
    """Yield the reads of parameters, each with another one read instead."""
    if speaks(node) or isinstance(node, ast.JoinedStr | ast.FunctionDef | ast.Lambda):
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in swaps:
        yield _Change("swapped names", node, ast.Name(swaps[node.id], ast.Load()))
    for child in ast.iter_child_nodes(node):
        yield from _of_names(child, swaps)


def _called(function: ast.expr) -> str:
    """Return the last part of what is called."""
    return function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)


def _is_table(entries: Sequence[ast.expr | None]) -> bool:
    """Whether a display lists what is of one kind, so that one may be missing."""
    first = entries[0] if entries else None
    return (
        first is not None
        and len(entries) >= _TABLE
        and all(
            entry is not None
            and isinstance(_context(entry), ast.Load)
            and _are_alike(first, entry)
            and not (isinstance(entry, ast.Starred) or _is_prose(entry) or _are_types(entry))
            for entry in entries
        )
    )


def _of_table(entries: list[ast.expr]) -> Iterator[_Change]:
    """Yield the changes of entries into their neighbours."""
    if any(isinstance(entry, ast.Starred) or not isinstance(_context(entry), ast.Load) for entry in entries):
        return
    for entry, other in zip(entries, [*entries[1:], *entries[:1]], strict=True):
        spoken = _is_prose(entry) or _are_types(entry, other)
        if _are_alike(entry, other) and not spoken and ast.dump(entry) != ast.dump(other):
            yield _Change("table entry", entry, copy.deepcopy(other))


def _are_alike(entry: ast.expr, other: ast.expr) -> bool:
    """Whether one may stand where the other does: ``('np', 64)`` is a pair, and no table."""
    match entry, other:
        case ast.Constant(one), ast.Constant(another):
            return type(one) is type(another)
        case _:
            return type(entry) is type(other)


def _context(node: ast.expr) -> ast.expr_context:
    context: ast.expr_context = getattr(node, "ctx", ast.Load())
    return context


def _makes_error(returns: ast.expr | None) -> bool:
    """Whether a function returns an error, as its annotation says, for others to raise, or raises one."""
    if isinstance(returns, ast.BinOp):
        return _makes_error(returns.left) and _makes_error(returns.right)
    return isinstance(returns, ast.Name) and (returns.id.endswith("Error") or returns.id == "NoReturn")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_prose(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
    )


def _are_types(*operands: ast.expr) -> bool:
    """Whether they are types by their names, so that ``A | B`` is one too."""
    names = [
        operand.attr if isinstance(operand, ast.Attribute) else ast.unparse(operand) for operand in operands
    ]
    return all(name == "None" or (name[:1].isupper() and not name.isupper()) for name in names)
