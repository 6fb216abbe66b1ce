"""What each rule of `pto.lark` stands for: one method a rule, called by the parser as it goes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from lark import Token, Transformer, v_args

from ...errors import InputError
from ..catalogue import operation_named
from . import generic_form
from .module import Conditional, Function, Loop, Module, Other, Parameter
from .signatures import instruction, names, typed, typed_results
from .statements import (
    Allocation,
    Argument,
    Arithmetic,
    Barrier,
    ConstantDefinition,
    Handshake,
    InstructionStatement,
    PartitionView,
    Synchronization,
    TensorView,
    Terminator,
    TextualForm,
)
from .syntax import Attributes, Region, Statement, TypedValue, dictionary
from .type_reader import TypeTextError, UnknownElementError, normalised, read_type
from .types import OtherType, Type
from .wording import count, fail, quoted, within

_T = TypeVar("_T")

Signature = tuple[tuple[Type, ...] | None, tuple[Type, ...]]
"""Types of the operands and of the results; None and one type where that is the type of all of them."""


@v_args(inline=True)
class _Rules(Transformer[Token, Region]):
    """A method for every rule of the grammar, named after it."""

    def block(self, *statements: Statement) -> Region:
        return Region(statements)

    def placed(self, first: Token, statement: Statement) -> Statement:
        assert first.line is not None and first.column is not None
        return replace(statement, line=first.line, column=first.column)

    # The matrix instructions and the moves

    def destination_passing(
        self,
        results: tuple[Token, ...],
        opcode: Token,
        inputs: tuple[TypedValue, ...],
        outputs: tuple[TypedValue, ...],
        attributes: Attributes,
        result_types: tuple[Type, ...],
    ) -> InstructionStatement:
        returned = typed_results(results, result_types, opcode)
        return instruction(opcode, TextualForm.F3, inputs, outputs, attributes, returned)

    def ssa_form(
        self,
        results: tuple[Token, ...],
        opcode: Token,
        operands: tuple[TypedValue, ...],
        attributes: Attributes,
        signature: Signature | None,
    ) -> InstructionStatement:
        outputs = tuple(TypedValue(str(name)) for name in results)
        if signature is not None:
            types, result_types = signature
            if types is None:
                operands = tuple(
                    TypedValue(operand.name, result_types[0], operand.indices) for operand in operands
                )
                outputs = tuple(TypedValue(output.name, result_types[0]) for output in outputs)
            else:
                operands = typed(operands, types, opcode)
                outputs = typed_results(results, result_types, opcode)
        if (operation := operation_named(opcode)).stores:
            if outputs:
                fail(f"expected no result of {operation}, which names what it writes; found one", opcode)
            operands, outputs = operands[:-1], operands[-1:]
        form = TextualForm.F2 if opcode.type == "PREFIXED" else TextualForm.F1
        return instruction(opcode, form, operands, outputs, attributes)

    def generic(
        self,
        results: tuple[Token, ...],
        name: Token,
        operands: tuple[TypedValue, ...] | None,
        properties: Token | None,
        attributes: Attributes,
        types: tuple[Type, ...] | None,
        result_types: tuple[Type, ...],
    ) -> InstructionStatement | Allocation | ConstantDefinition:
        given = (*generic_form.properties(properties), *attributes)
        return generic_form.statement(results, name, operands or (), given, types or (), result_types)

    def values(self, *names: Token) -> tuple[TypedValue, ...]:
        return tuple(TypedValue(str(name)) for name in names)

    def nothing(self) -> tuple[()]:
        return ()

    def defined(self, *names: Token) -> tuple[Token, ...]:
        return names

    def result(self, name: Token, count: Token | None) -> Token:
        return name if count is None else name.update(value=f"{name}:{count}")

    def grouped_arguments(
        self, opening: Token, operands: tuple[TypedValue, ...], *types: Any
    ) -> tuple[TypedValue, ...]:
        return typed(operands, types[0] if isinstance(types[0], tuple) else types, opening)

    def listed_arguments(
        self, opening: Token, first: tuple[TypedValue, ...], *rest: Any
    ) -> tuple[TypedValue, ...]:
        if len(first) != 1:
            fail("expected types either behind every operand or behind all of them, found both", opening)
        values, types = (*first, *rest[1::2]), rest[::2]
        return tuple(
            TypedValue(each.name, type_, each.indices) for each, type_ in zip(values, types, strict=True)
        )

    def operands(self, *operands: TypedValue) -> tuple[TypedValue, ...]:
        return operands

    def value(self, name: Token, *indices: str | None) -> TypedValue:
        return TypedValue(str(name), indices=_present(indices))

    def literal(self, token: Token) -> TypedValue:
        return TypedValue(_attribute_text(token))

    def index(self, token: Token) -> str:
        return str(token)

    def one_type(self, type_: Type) -> Signature:
        return None, (type_,)

    def function_type(self, types: Any, results: tuple[Type, ...]) -> Signature:
        return (types or ()) if isinstance(types, tuple | None) else (types,), results

    def result_types(self, types: Any) -> tuple[Type, ...]:
        return (types or ()) if isinstance(types, tuple | None) else (types,)

    def types(self, *types: Type) -> tuple[Type, ...]:
        return types

    def type(self, token: Token) -> Type:
        try:
            return read_type(str(token))
        except UnknownElementError:
            return OtherType(normalised(token))  # of no product: `_instruction` sees to that
        except TypeTextError as error:
            raise InputError(str(error), within(token, error.offset)) from None

    def dictionary(self, *attributes: tuple[str, str] | None) -> Attributes:
        return _present(attributes)

    def attribute(self, key: Token, value: str | None) -> tuple[str, str]:
        return key.strip('"'), value or ""

    def attribute_value(self, value: str | Attributes, type_: Type | None) -> str:
        text = value if isinstance(value, str) else dictionary(value)
        return text if type_ is None else f"{text} : {type_}"

    def attribute_list(self, *values: str | None) -> str:
        return f"[{', '.join(_present(values))}]"

    def attribute_item(self, token: Token) -> str:
        return _attribute_text(token)

    # Structure

    def module(self, name: Token | None, attributes: Attributes, body: Region) -> Module:
        return Module(body, attributes, name and _symbol(name))

    def function(self, visibility: Token | None, name: Token, *rest: Any) -> Function:
        *parameters, result_types, attributes, body = rest
        return Function(
            _symbol(name), _present(parameters), result_types, attributes, body,
            visibility and str(visibility),
        )  # fmt: skip

    def parameter(self, name: Token | None, type_: Type, attributes: Attributes) -> Parameter:
        return Parameter(name and str(name), type_, attributes)

    def loop(
        self,
        results: tuple[Token, ...],
        keyword: Token,
        unsigned: Token | None,
        variable: Token,
        lower: Token,
        upper: Token,
        step: Token,
        iteration: tuple[tuple[tuple[str, str], ...], tuple[Type, ...]] | None,
        index_type: Type | None,
        body: Region,
        attributes: Attributes,
    ) -> Loop:
        carried, result_types = iteration or ((), ())
        if len(carried) != len(result_types):
            fail(f"expected {count(len(carried), 'type')} of iter_args, found {len(result_types)}", keyword)
        return Loop(
            str(variable), str(lower), str(upper), str(step), body,
            results=names(results), carried=carried, result_types=result_types, index_type=index_type,
            unsigned=unsigned is not None, attributes=attributes,
        )  # fmt: skip

    def iteration(self, *parts: Any) -> tuple[tuple[tuple[str, str], ...], tuple[Type, ...]]:
        *carried, result_types = parts
        return tuple(carried), result_types

    def carried(self, name: Token, start: Token) -> tuple[str, str]:
        return str(name), str(start)

    def conditional(
        self,
        results: tuple[Token, ...],
        condition: Token,
        result_types: tuple[Type, ...],
        body: Region,
        otherwise: Region | None,
        attributes: Attributes,
    ) -> Conditional:
        return Conditional(str(condition), body, otherwise, names(results), result_types, attributes)

    def terminator(
        self, name: Token, operands: tuple[TypedValue, ...] | None, types: tuple[Type, ...] | None
    ) -> Terminator:
        return Terminator(str(name), typed(operands or (), types or (), name))

    # Numbers

    def constant(
        self, results: tuple[Token, ...], attributes: Attributes, text: str, type_: Type | None
    ) -> ConstantDefinition:
        return ConstantDefinition(_single(results), text, type_, attributes)

    def constant_directive(self, name: Token, text: str, type_: Type) -> ConstantDefinition:
        return ConstantDefinition(str(name), text, type_, directive=True)

    def constant_value(self, token: Token) -> str:
        return _attribute_text(token)

    def argument(self, name: Token, type_: Type) -> Argument:
        return Argument(str(name), type_)

    def arithmetic(
        self,
        results: tuple[Token, ...],
        name: Token,
        predicate: Token | None,
        operands: tuple[TypedValue, ...],
        flags: Token | None,
        attributes: Attributes,
        *types: Any,
    ) -> Arithmetic:
        *given, target = types
        return Arithmetic(
            names(results), str(name), tuple(operand.name for operand in operands), tuple(given),
            predicate and str(predicate), flags and normalised(flags), target, attributes,
        )  # fmt: skip

    # Memory

    def allocation(self, results: tuple[Token, ...], *rest: Any) -> Allocation:
        *operands, before, type_, behind = rest
        given: dict[str, str] = {}
        for key, name in operands:
            if str(key) in given:
                fail(f"expected {str(key)!r} once, found it twice", key)
            given[str(key)] = name
        return Allocation(
            _single(results), type_, given.get("addr"), given.get("valid_row"), given.get("valid_col"),
            before + behind,
        )  # fmt: skip

    def allocation_operand(self, key: Token, name: Token) -> tuple[Token, str]:
        return key, str(name)

    def tensor_view(
        self,
        results: tuple[Token, ...],
        pointer: Token,
        shape: tuple[str, ...],
        strides: tuple[str, ...],
        attributes: Attributes,
        type_: Type,
    ) -> TensorView:
        return TensorView(_single(results), str(pointer), shape, strides, type_, attributes)

    def partition_view(
        self,
        results: tuple[Token, ...],
        source: Token,
        offsets: tuple[str, ...],
        sizes: tuple[str, ...],
        attributes: Attributes,
        source_type: Type,
        type_: Type | None,
    ) -> PartitionView:
        return PartitionView(_single(results), str(source), offsets, sizes, source_type, type_, attributes)

    def indices(self, *indices: str | None) -> tuple[str, ...]:
        return _present(indices)

    # Order between pipes

    def handshake(
        self, name: Token, source: str, target: str, event: str, attributes: Attributes
    ) -> Handshake:
        return Handshake(name.removeprefix("pto."), source, target, event, attributes)

    def barrier(self, pipe: str) -> Barrier:
        return Barrier(pipe)

    def synchronization(self, events: tuple[TypedValue, ...]) -> Synchronization:
        return Synchronization(events)

    def mark(self, token: Token) -> str:
        inside = token.partition("<")[2].rpartition(">")[0] if token.endswith(">") else token.strip('"')
        words = inside.split()
        if not words or re.fullmatch(r"[\w.]+", words[-1]) is None:
            fail(f"expected a name between '<' and '>', found {quoted(inside)}", token)
        return words[-1]

    # Everything else

    def other(self, results: tuple[Token, ...], name: Token, *pieces: Any) -> Other:
        found = tuple(_joined(pieces))
        text = " ".join(piece for piece in found if isinstance(piece, str))
        if name == "pto.subview" and ("!pto.tensor_view" in text or "!pto.tile_view" in text):
            fail(
                "'pto.subview' of a tensor view is from an old dump, which ptoas no longer reads either; "
                "expected 'pto.partition_view'",
                name,
            )
        return Other(normalised(name), names(results), found)

    def enclosed(self, *pieces: Any) -> list[Any]:
        return [each for piece in pieces for each in (piece if isinstance(piece, list) else (piece,))]


SEMANTIC_ACTIONS: Transformer[Token, Region] = _Rules()
"""Makes statements of what the grammar reads."""


def _joined(pieces: Sequence[Any]) -> Iterator[str | Region]:
    """Yield the text between regions, with one blank where there are some, and the regions."""
    text, end = "", None
    for piece in pieces:
        for each in piece if isinstance(piece, list) else (piece,):
            if isinstance(each, Region):
                if text:
                    yield text
                yield each
                text, end = "", None
                continue
            gap = " " if text and each.start_pos != end else ""
            text += gap + (str(each) if each.startswith('"') else " ".join(each.split()))
            end = each.end_pos
    if text:
        yield text


def _present(items: Iterable[_T | None]) -> tuple[_T, ...]:
    """Return what stands between brackets, for which the parser gives one None where nothing does."""
    return tuple(item for item in items if item is not None)


def _attribute_text(token: Token) -> str:
    return str(token) if token.startswith('"') else normalised(token)


def _symbol(token: Token) -> str:
    return token.removeprefix("@").strip('"')


def _single(results: tuple[Token, ...]) -> str:
    if len(results) != 1:
        fail(f"expected one result, found {len(results)}", results[1])
    return str(results[0])
