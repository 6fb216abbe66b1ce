"""One-line faults of a Python source: one operator, constant, comparison, index or table entry changed.

What only speaks is left alone: docstrings, messages of errors and what makes them, annotations, decorators,
text with blanks in it, and what prints an object. So are assertions, which state what holds anyway, what
makes a difference in speed alone, and the numbers of a hash that stands for any function.
"""

from __future__ import annotations

import ast
import copy
import marshal
from collections.abc import Iterator
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


FaultKind = Literal["operator", "comparison", "constant", "index", "table entry"]
"""What a fault changes."""


@dataclass(frozen=True)
class Fault:
    """A change of one expression.

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
    node, replacement : ast.expr
        The expression before and after.
    """

    kind: FaultKind
    function: int
    block: int
    module: ast.Module = field(repr=False)
    node: ast.expr
    replacement: ast.expr

    @property
    def line(self) -> int:
        """Where the expression begins."""
        return self.node.lineno

    @property
    def column(self) -> int:
        """Where in its line, from 1."""
        return self.node.col_offset + 1

    @property
    def old(self) -> str:
        """The expression before."""
        return ast.unparse(self.node)

    @property
    def new(self) -> str:
        """The expression after."""
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
    node: ast.expr
    new: ast.expr


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
            for statement in node.body:
                yield from _of_statements(statement, first_line(node))
            return
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
        case ast.Dict(keys, values):
            yield from _of_table([key for key in keys if key is not None])
            yield from _of_table(values)


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
