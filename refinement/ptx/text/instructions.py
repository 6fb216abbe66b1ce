"""Parser of instructions, from text to `InstructionStatement`.

A program of thousands of instructions has some hundred shapes: the same punctuation around other names and
numbers. The grammar reads each shape once; after that only names are looked up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from operator import itemgetter
from typing import Any, NamedTuple, cast

from lark import Token, Transformer, Tree, UnexpectedInput
from lark.exceptions import VisitError

from ....spec.errors import InputError
from ....spec.ptx.constant_expressions import WARP_SIZE, compiled
from ....spec.ptx.operands import (
    Address,
    Constant,
    Decimal,
    HexFloat,
    Integer,
    Negated,
    Predicate,
    Register,
    Scalar,
    Sink,
    Vector,
)
from .module import InstructionStatement, SourceLine
from .operands import Arguments, Displaced, Operand, Pair, TensorAddress
from .scopes import Scopes
from .syntax import grammar, pattern, syntax_error

Fill = Callable[[Sequence[Scalar]], Any]
"""From the names and numbers of an instruction, in order, to one of its operands."""

_INTEGER_LIMIT = 1 << 64


_OUTSIDE_CAST = r"(?<!\.)(?<!\.[su])(?<!\.[su]6)"
"""Where no part of ``(.s64)`` begins."""


class _Tokens(NamedTuple):
    """The grammar's tokens that are looked for without it."""

    comment: re.Pattern[str]
    atom: re.Pattern[str]
    head: re.Pattern[str]


@cache
def _tokens() -> _Tokens:
    atom = "|".join(pattern(name) for name in ("HEX_FLOAT", "DOUBLE", "DECIMAL", "INTEGER", "NAME"))
    guard = rf"@\s*(?P<negated>!?)\s*(?P<guard>{pattern('NAME')})\s+"
    return _Tokens(
        re.compile(pattern("COMMENT")),
        re.compile(rf"({_OUTSIDE_CAST}(?:{atom}))"),
        re.compile(rf"\s*(?:{guard})?(?P<mnemonic>{pattern('MNEMONIC')})\s*"),
    )


@lru_cache(maxsize=1 << 14)
def constant(text: str) -> Constant:
    """Read a literal, or ``WARP_SZ``.

    Raises
    ------
    InputError
        If it doesn't fit 64 bits, or is no number.
    """
    if text == "WARP_SZ":
        return WARP_SIZE
    prefix = text[:2].lower()
    if prefix in {"0f", "0d"}:
        return HexFloat(int(text[2:], 16), 32 if prefix == "0f" else 64)
    if prefix not in {"0x", "0b"} and not set(".eE").isdisjoint(text):
        return Decimal(text)
    digits = text.removesuffix("U")
    octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
    try:
        value = int(digits, 8 if octal else 0) if len(digits) <= 80 else _INTEGER_LIMIT
    except ValueError:
        raise InputError(f"{text!r} is not a number: an octal number has digits 0 to 7") from None
    if value >= _INTEGER_LIMIT:
        raise InputError(f"an integer must fit 64 bits, unlike {text[:40]!r}")
    return Integer(value, unsigned=digits != text or value >> 63 == 1)


def evaluated(expression: Tree[Token]) -> Constant:
    """Return the value of a constant expression.

    Raises
    ------
    InputError
        If it has none.
    """
    tokens = [token for token in expression.children if isinstance(token, Token)]
    numbers = [constant(str(token)) for token in tokens if token.type in _NUMBERS]
    return compiled([None if token.type in _NUMBERS else str(token) for token in tokens])(numbers)


_NUMBERS = ("INTEGER", "DECIMAL", "DOUBLE", "HEX_FLOAT", "WARP_SIZE")


def read_instruction(
    text: str, scopes: Scopes, path: str, line: int, column: int, source: SourceLine | None = None
) -> InstructionStatement:
    """Read an instruction that stands at a line and column of a file.

    Raises
    ------
    InputError
        If it is no instruction, or a name in it is not declared.
    """
    tokens = _tokens()
    if "/" in text:
        text = tokens.comment.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), text)
    head = tokens.head.match(text)
    if head is None:
        _parse(text, path, line, column)
        raise AssertionError("the grammar takes no instruction without a head")
    opcode, modifiers = _mnemonic(head["mnemonic"])
    pieces = tokens.atom.split(text[head.end() :])
    atoms = pieces[1::2]
    known = scopes.known
    try:
        values = [known.get(atom) or _look_up(atom, scopes) for atom in atoms]
        guard = known.get(head["guard"]) or scopes.resolve(head["guard"]) if head["guard"] else None
    except InputError as error:
        _parse(text, path, line, column)  # a syntax error explains better why a name is not known
        raise InputError(str(error), _where_unknown(text, head, scopes, path, line, column)) from None
    shape = (*pieces[0::2], *map(type, values))
    fills = _SHAPES.get(shape)
    try:
        if fills is None:
            fills = _SHAPES[shape] = _plan(_parse(text, path, line, column), atoms)
            if len(_SHAPES) > _SHAPES_LIMIT:
                _SHAPES.clear()
        operands: tuple[Operand, ...] = tuple([fill(values) for fill in fills])
        if "(" in text:
            operands = _parenthesised(opcode, operands)
        predicate = None if guard is None else _predicate(guard, bool(head["negated"]))
    except InputError as error:
        if error.where is not None:
            raise
        raise InputError(str(error), f"{path}:{line}:{column}") from None
    return InstructionStatement(opcode, modifiers, operands, predicate, line, source)


def _parenthesised(opcode: str, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """Return the operands of an instruction with parentheses: around arguments, or in expressions."""
    if opcode == "call":
        return tuple(
            Arguments((operand,)) if isinstance(operand, Constant) else operand for operand in operands
        )
    for operand in operands:
        if isinstance(operand, Arguments):
            raise InputError(f"only a call has operands in parentheses, unlike {operand}")
    return operands


_SHAPES: dict[tuple[object, ...], tuple[Fill, ...]] = {}
_SHAPES_LIMIT = 1 << 14


def _parse(text: str, path: str, line: int, column: int) -> Tree[Token]:
    try:
        return grammar().parse(text, start="instruction")
    except UnexpectedInput as error:
        raise syntax_error(error, text, path, line, column) from None


@lru_cache(maxsize=1 << 14)
def _mnemonic(text: str) -> tuple[str, tuple[str, ...]]:
    opcode, *modifiers = re.sub(r"\s+", "", text).split(".")
    return opcode, tuple(modifiers)


def _look_up(atom: str, scopes: Scopes) -> Scalar:
    return constant(atom) if atom[0].isdigit() else scopes.resolve(atom)


def _where_unknown(text: str, head: re.Match[str], scopes: Scopes, path: str, line: int, column: int) -> str:
    """Return the place of the first name or number that can't be read."""
    places = [(head["guard"], head.start("guard"))] if head["guard"] else []
    places += [(atom[0], atom.start()) for atom in _tokens().atom.finditer(text, head.end())]
    for atom, start in places:
        try:
            _look_up(atom, scopes)
        except InputError:
            return _place(text, start, path, line, column)
    return f"{path}:{line}:{column}"


def _place(text: str, offset: int, path: str, line: int, column: int) -> str:
    lines = text.count("\n", 0, offset)
    inside = offset - text.rfind("\n", 0, offset) if lines else column + offset
    return f"{path}:{line + lines}:{inside}"


def _predicate(guard: Scalar, negated: bool) -> Predicate:
    if not isinstance(guard, Register) or guard.type != "pred":
        raise InputError(f"a guard must be a register of type .pred, unlike {str(guard)!r}")
    return Predicate(guard.name, negated)


def _plan(tree: Tree[Token], atoms: Sequence[str]) -> tuple[Fill, ...]:
    """Compile the operands of an instruction to functions of its names and numbers."""
    operands = tree.children[-1]
    if not isinstance(operands, Tree):
        return ()
    plan = _Plan()
    try:
        fills: tuple[Fill, ...] = plan.transform(operands)
    except VisitError as error:
        raise error.orig_exc from None
    assert plan.atoms == list(atoms), (plan.atoms, atoms)
    return fills


class _Plan(Transformer[Token, Any]):
    """From the tree of operands to a function for each."""

    def __init__(self) -> None:
        super().__init__(visit_tokens=True)
        self.atoms: list[str] = []

    def _atom(self, token: Token) -> Fill:
        self.atoms.append(str(token))
        return itemgetter(len(self.atoms) - 1)

    NAME = INTEGER = HEX_FLOAT = DOUBLE = DECIMAL = WARP_SIZE = _atom

    def operands(self, fills: list[Fill]) -> tuple[Fill, ...]:
        return tuple(fills)

    def expression(self, children: list[Any]) -> Fill:
        fills = [child for child in children if not isinstance(child, Token)]
        if len(children) == 1 and fills:
            return cast(Fill, fills[0])
        evaluate = compiled([str(child) if isinstance(child, Token) else None for child in children])
        return lambda values: evaluate([fill(values) for fill in fills])

    def negated(self, children: list[Any]) -> Fill:
        fill = children[1]
        return lambda values: Negated(_register(fill(values)))

    def pair(self, children: list[Fill]) -> Fill:
        first, second = children
        return lambda values: Pair(_result(first(values)), _result(second(values)))

    def vector(self, children: list[Fill]) -> Fill:
        return lambda values: Vector(tuple([fill(values) for fill in children]))

    def arguments(self, children: list[Fill | None]) -> Fill:
        fills = [fill for fill in children if fill is not None]
        return lambda values: Arguments(tuple([fill(values) for fill in fills]))

    def displaced(self, children: list[Fill]) -> Fill:
        base, offset = children
        return lambda values: Displaced(_register(base(values)), _bytes(offset(values)))

    def place(self, children: list[Fill | None]) -> Fill:
        base, *offsets = [fill for fill in children if fill is not None]

        def value(values: Sequence[Scalar]) -> Address:
            start = base(values)
            if not isinstance(start, Register | Integer):
                raise InputError(
                    f"an address begins with a register, variable or integer, not {str(start)!r}"
                )
            return Address(start, sum(_bytes(offset(values)) for offset in offsets))

        return value

    def address(self, children: list[Fill]) -> Fill:
        place, *others = children
        if not others:
            return place
        return lambda values: TensorAddress(place(values), tuple([fill(values) for fill in others]))


def _bytes(value: Scalar) -> int:
    if not isinstance(value, Integer):
        raise InputError(f"a displacement is an integer, not {str(value)!r}")
    return value.value


def _register(value: Scalar) -> Register:
    if not isinstance(value, Register):
        raise InputError(f"a register or variable must stand here, not {str(value)!r}")
    return value


def _result(value: Scalar) -> Register | Sink:
    if not isinstance(value, Register | Sink):
        raise InputError(f"a register or '_' must stand here, not {str(value)!r}")
    return value
