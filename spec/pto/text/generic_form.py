"""MLIR's generic form, ``"pto.tmatmul"(%a, %b, %c) <{…}> {…} : (T, T, T) -> ()``, read as the custom form is.

The operands stand in the order of ptoas's definitions: what is read, what is written, then optional ones,
a quantisation last. Properties are attributes in other brackets.

Source: MLIR language reference (generic operation form); ptoas at 658562e4 (PTOTileCubeOps.td,
PTOTileMemoryOps.td).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lark import Token

from ..catalogue import operation_named
from .signatures import instruction, typed, typed_results
from .statements import Allocation, ConstantDefinition, InstructionStatement, TextualForm
from .syntax import Attributes, TypedValue
from .type_reader import normalised, split
from .types import Type
from .wording import fail, quoted

ALLOCATION = "pto.alloc_tile"
CONSTANT = "arith.constant"

_NUMBER = re.compile(
    r"true|false|0x[0-9a-fA-F]+|-?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|dense<.*>", re.ASCII | re.DOTALL
)
_VALUE = re.compile(
    r"""
    (?: [\#!]?[A-Za-z_][\w.$]* (?:<[^<>"{}]*(?:<[^<>"{}]*>[^<>"{}]*)*>)?   # a name with parameters
      | -?[0-9][\w.+-]* | "[^"]*" | \[[^"{}]*\] | @[\w.]+ )                # a number, text, a list, a symbol
    (?:\s*:\s*\S.*)?                                                       # its type
    """,
    re.ASCII | re.DOTALL | re.VERBOSE,
)
"""What a property may be, roughly."""

_SEGMENTS = ("operandSegmentSizes", "operand_segment_sizes")
"""How many operands each part of an operation has, where some are optional."""


def properties(token: Token | None) -> Attributes:
    """Return the attributes in ``<{key = value, …}>``.

    Raises
    ------
    InputError
        If the brackets enclose something else.
    """
    if token is None:
        return ()
    inside = re.fullmatch(r"<\s*\{(.*)\}\s*>", token, re.DOTALL)
    if inside is None:
        fail("expected properties '<{key = value, …}>'", token)
    found = []
    for _, text in split(inside[1]):
        key, equals, value = (part.strip() for part in text.partition("="))
        if equals and _VALUE.fullmatch(value) is None:
            fail(f"expected a value of the property {quoted(key)}, found {quoted(value)}", token)
        if key:
            found.append((key.strip('"'), normalised(value)))
    return tuple(found)


def statement(
    results: tuple[Token, ...],
    name: Token,
    operands: tuple[TypedValue, ...],
    attributes: Attributes,
    types: tuple[Type, ...],
    result_types: tuple[Type, ...],
) -> InstructionStatement | Allocation | ConstantDefinition:
    """Return what a statement in the generic form says.

    Raises
    ------
    InputError
        If operands, types or segments do not go together, or not with the operation.
    """
    operands = typed(operands, types, name)
    outputs = typed_results(results, result_types, name)
    segments = _segments(attributes, operands, name)
    attributes = tuple(attribute for attribute in attributes if attribute[0] not in _SEGMENTS)
    plain = name.strip('"')
    if plain == ALLOCATION:
        if segments is None and operands:
            fail(f"expected {_SEGMENTS[0]}, which says what the operands are; found none", name)
        return _allocation(_one(outputs, name), operands, segments or (), attributes)
    if plain == CONSTANT:
        result = _one(outputs, name)
        value = dict(attributes).get("value", "").partition(" : ")[0]
        if _NUMBER.fullmatch(value) is None:
            fail(f"expected a number as 'value' of {name}, found {quoted(value)}", name)
        rest = tuple(attribute for attribute in attributes if attribute[0] != "value")
        return ConstantDefinition(result.name, value, result.type, rest)
    operation = operation_named(plain)
    opcode = name.update(value=plain)
    read = len(operation.inputs)
    if len(operands) > read:  # destination passing: what is written stands behind what is read
        written, optional = operands[read : read + 1], operands[read + 1 :]
        return instruction(
            opcode, TextualForm.F3, (*operands[:read], *optional), written, attributes, outputs
        )
    return instruction(opcode, TextualForm.F2, operands, outputs, attributes)


def _segments(attributes: Attributes, operands: Sequence[TypedValue], name: Token) -> tuple[int, ...] | None:
    written = next((value for key, value in attributes if key in _SEGMENTS), None)
    if written is None:
        return None
    listed = re.search(r"[:\[]([\d,\s]*)[\]>]", written)
    sizes = tuple(int(size[:9]) for size in re.findall(r"\d+", listed[1] if listed else ""))
    if sum(sizes) != len(operands):
        fail(f"expected as many operands as {quoted(written)} says, found {len(operands)}", name)
    return sizes


def _allocation(
    result: TypedValue,
    operands: tuple[TypedValue, ...],
    segments: tuple[int, ...],
    attributes: Attributes,
) -> Allocation:
    """Return an allocation; which operands are there say the segments: address, valid rows and columns."""
    rest = iter(operands)
    given = [next(rest).name if size else None for size in segments]
    address, rows, columns = (*given, None, None, None)[:3]
    assert result.type is not None
    return Allocation(result.name, result.type, address, rows, columns, attributes)


def _one(outputs: Sequence[TypedValue], name: Token) -> TypedValue:
    if len(outputs) != 1 or not outputs[0].name:
        fail(f"expected one result of {name}, found {len(outputs)}", name)
    return outputs[0]
