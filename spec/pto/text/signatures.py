"""Operands and results with the types of a signature, and instructions of them."""

from __future__ import annotations

from collections.abc import Sequence

from lark import Token

from ..catalogue import Operation, OperationKind, operation_named
from .statements import InstructionStatement, TextualForm
from .syntax import Attributes, TypedValue
from .type_reader import TypeTextError, read_type
from .types import OtherType, TileType, Type
from .wording import count, fail


def instruction(
    opcode: Token,
    form: TextualForm,
    inputs: tuple[TypedValue, ...],
    outputs: tuple[TypedValue, ...],
    attributes: Attributes,
    returned: tuple[TypedValue, ...] = (),
) -> InstructionStatement:
    """Return an instruction with as many operands as it has roles."""
    operation = operation_named(opcode)
    if operation.optional and opcode.lower().endswith("fp"):
        inputs = _with_factors(operation, inputs, opcode)
    _check_counts(operation, inputs, outputs, opcode)
    if operation.kind is not OperationKind.MOVE:
        for operand in (*inputs, *outputs):
            _check_elements(operand.type, opcode)
    return InstructionStatement(operation, form, inputs, outputs, attributes, returned)


def typed(operands: tuple[TypedValue, ...], types: tuple[Type, ...], near: Token) -> tuple[TypedValue, ...]:
    """Give operands their types: one each, or one for each index too."""
    values = sum(1 + len(operand.indices) for operand in operands)
    if len(types) not in (values, len(operands)):
        fail(f"expected {count(values, 'type')} for {count(values, 'operand')}, found {len(types)}", near)
    rest = iter(types)
    return tuple(
        TypedValue(
            operand.name,
            next(rest),
            operand.indices,
            tuple(next(rest) for _ in operand.indices) if len(types) == values else (),
        )
        for operand in operands
    )


def typed_results(
    results: tuple[Token, ...], types: tuple[Type, ...], opcode: Token
) -> tuple[TypedValue, ...]:
    """Return results with their types; a result that the text does not name is called ''."""
    called = names(results) or ("",) * len(types)
    if len(called) != len(types):
        fail(f"expected {count(len(called), 'type')} behind '->', found {len(types)}", opcode)
    return tuple(map(TypedValue, called, types))


def names(results: Sequence[Token]) -> tuple[str, ...]:
    """Return the names of the results a text gives."""
    return tuple(str(name) for name in results)


def _with_factors(
    operation: Operation, inputs: tuple[TypedValue, ...], opcode: Token
) -> tuple[TypedValue, ...]:
    """Return the operands of ``textract_fp`` as those of ``textract``: the factors stand behind the indices.

    Pages have them behind the source, as C++ has.
    """
    found = sum(1 + len(operand.indices) for operand in inputs)
    if found != (wanted := len(operation.inputs) + 1):
        fail(
            f"expected {count(wanted, 'operand')} of {opcode} to read, one a tile of factors; found {found}",
            opcode,
        )
    if len(inputs) == 4 and isinstance(inputs[1].type, TileType):
        source, factors, *indices = inputs
        return (source, *indices, factors)
    return inputs


def _check_counts(
    operation: Operation, inputs: tuple[TypedValue, ...], outputs: tuple[TypedValue, ...], opcode: Token
) -> None:
    """Refuse missing operands, and those a product has no role for; moves have optional ones."""
    found = sum(1 + len(operand.indices) for operand in inputs)
    roles = len(operation.inputs)
    if found < roles or (found > roles and operation.kind is not OperationKind.MOVE):
        fail(
            f"expected {count(roles, 'operand')} of {operation} to read ({', '.join(operation.inputs)}), "
            f"found {found}",
            opcode,
        )
    if len(outputs) != 1:
        fail(f"expected one operand that {operation} writes, found {len(outputs)}", opcode)


def _check_elements(type_: Type | None, opcode: Token) -> None:
    """Refuse a tile type that `type_text` could not read for its elements."""
    if isinstance(type_, OtherType) and type_.text.startswith(("!pto.tile<", "!pto.tile_buf<", "<")):
        try:
            read_type(type_.text)
        except TypeTextError as error:
            fail(str(error), opcode)
