"""Statements to canonical text, which `assembly` reads as the same statements.

The destination passing style is printed with the types grouped, attributes behind the operands, the
keys of tile types in the order of the keyed spelling, and what equals the default of the compact
spelling only where it was written.

Source: reference sections D.3 and D.5.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..tile import Order
from .module import (
    Allocation,
    Argument,
    Arithmetic,
    Barrier,
    Block,
    Conditional,
    Constant,
    Function,
    Handshake,
    Loop,
    Module,
    Other,
    PartitionView,
    Statement,
    Synchronization,
    TensorView,
    Terminator,
)
from .syntax import Form, Instruction, Operand, OtherType, Spelling, TileType, Type, writes_memory
from .types import COMPACT_KEYS, KEYS, PAGE_ORDERS, PAGE_PADS

Attributes = tuple[tuple[str, str], ...]

_BARE_KEY = re.compile(r"[A-Za-z_][\w$]*(?:\.[\w$]+)*", re.ASCII)
_INDENT = "  "


def spell(instruction: Instruction) -> str:
    """Return the canonical text of an instruction, in its form."""
    operation = instruction.operation
    attributes = f" {spell_attributes(instruction.attributes)}" if instruction.attributes else ""
    if instruction.form is Form.F3:
        results = instruction.results
        named = _results([each.name for each in results if each.name])
        returned = f" -> {_result_types([each.type for each in results])}" if results else ""
        inputs, outputs = _arguments(instruction.inputs), _arguments(instruction.outputs)
        return f"{named}pto.{operation} ins{inputs} outs{outputs}{attributes}{returned}"
    prefix = "pto." if instruction.form is Form.F2 else ""
    stores = writes_memory(operation)
    operands = instruction.inputs + (instruction.outputs if stores else ())
    results = () if stores else instruction.outputs
    named = _results([each.name for each in results if each.name])
    listed = f" {', '.join(map(_operand, operands))}" if operands else ""
    signature = ""
    if any(each.type is not None for each in (*operands, *results)):
        types = ", ".join(map(spell_type, _types(operands)))
        signature = f" : ({types}) -> {_result_types([each.type for each in results])}"
    return f"{named}{prefix}{operation}{listed}{attributes}{signature}"


def spell_module(module: Module) -> str:
    """Return the canonical text of a file, a statement a line."""
    body = [module] if module.explicit else module.body.statements
    return "".join(f"{line}\n" for statement in body for line in _lines(statement))


def spell_type(type_: Type | None, *, buffer: bool = False) -> str:
    """Return the text of a type; ``buffer`` makes an opaque one ``!pto.tile_buf<...>``."""
    match type_:
        case None:
            raise ValueError("an operand without a type among others that have one")
        case OtherType(text):
            return text
        case TileType(spelling=Spelling.OPAQUE):
            return "!pto.tile_buf<...>" if buffer else "!pto.tile<...>"
        case TileType(spelling=Spelling.SHAPE):
            return f"!pto.tile<{_shape(type_)}>"
        case TileType(spelling=Spelling.PAGE):
            return f"!pto.tile<{', '.join(_page(type_))}>"
        case TileType(spelling=Spelling.KEYED):
            items = (f"{key}={_parameter(type_, key)}" for key, name in KEYS.items() if _given(type_, name))
            return f"!pto.tile_buf<{', '.join(items)}>"
        case _:
            return f"!pto.tile_buf<{', '.join(_compact(type_))}>"


def spell_attributes(attributes: Attributes) -> str:
    """Return the text of an attribute dictionary."""
    return f"{{{', '.join(_attribute(key, value) for key, value in attributes)}}}"


def _attribute(key: str, value: str) -> str:
    name = key if _BARE_KEY.fullmatch(key) else f'"{key}"'
    return f"{name} = {value}" if value else name


def _given(type_: TileType, name: str) -> bool:
    return getattr(type_, name) is not None


def _parameter(type_: TileType, key: str) -> str:
    value = getattr(type_, KEYS[key])
    return str(int(value)) if key in ("pad", "compact") else str(value)


def _shape(type_: TileType) -> str:
    return f"{type_.rows}x{type_.columns}x{type_.element}"


def _compact(type_: TileType) -> Iterator[str]:
    yield f"{type_.location}, {_shape(type_)}"
    if type_.valid_rows is not None:
        yield f"valid={type_.valid_rows}x{type_.valid_columns}"
    for key in COMPACT_KEYS:
        if _given(type_, KEYS[key]):
            yield f"{key}={_parameter(type_, key)}"


def _page(type_: TileType) -> Iterator[str]:
    if type_.location is not None:
        yield f"loc={type_.location}"
    yield f"{type_.element}, {type_.rows}, {type_.columns}"
    if type_.pad is not None:
        pads = {pad: name for name, pad in reversed(tuple(PAGE_PADS.items()))}
        yield PAGE_ORDERS[type_.blocks or Order.ROW_MAJOR]
        yield PAGE_ORDERS[type_.inner or Order.NONE_BOX]
        yield f"{type_.fractal_name}, {pads[type_.pad]}"


def _operand(operand: Operand) -> str:
    return operand.name + (f"[{', '.join(operand.indices)}]" if operand.indices else "")


def _types(operands: Sequence[Operand]) -> Iterator[Type | None]:
    for operand in operands:
        yield operand.type
        yield from operand.index_types


def _arguments(operands: Sequence[Operand]) -> str:
    names = ", ".join(map(_operand, operands))
    return f"({names} : {', '.join(spell_type(each, buffer=True) for each in _types(operands))})"


def _result_types(types: Sequence[Type | None]) -> str:
    return spell_type(types[0]) if len(types) == 1 else f"({', '.join(map(spell_type, types))})"


def _results(names: Sequence[str]) -> str:
    return f"{', '.join(names)} = " if names else ""


def _lines(statement: Statement) -> Iterator[str]:
    """Yield the lines of a statement; only statements with regions have several."""
    match statement:
        case Module():
            yield from _around(_module_head(statement), statement.body, "")
        case Function(body=None):
            yield _function_head(statement)
        case Function(body=Block() as body):
            yield from _around(_function_head(statement), body, "")
        case Loop():
            yield from _around(_loop_head(statement), statement.body, _behind(statement.attributes))
        case Conditional():
            yield from _conditional(statement)
        case Other():
            yield from _other(statement)
        case _:
            yield _line(statement)


def _around(head: str, body: Block, tail: str) -> Iterator[str]:
    yield f"{head} {{"
    yield from _body(body)
    yield f"}}{tail}"


def _body(body: Block) -> Iterator[str]:
    for statement in body:
        for line in _lines(statement):
            yield _INDENT + line


def _conditional(statement: Conditional) -> Iterator[str]:
    returned = f" -> {_returned(statement.result_types)}" if statement.result_types else ""
    yield f"{_results(statement.results)}scf.if {statement.condition}{returned} {{"
    yield from _body(statement.body)
    if statement.otherwise is not None:
        yield "} else {"
        yield from _body(statement.otherwise)
    yield f"}}{_behind(statement.attributes)}"


def _other(statement: Other) -> Iterator[str]:
    line = _results(statement.results) + statement.name
    for piece in statement.pieces:
        if isinstance(piece, Block):
            yield f"{line}{{" if line.endswith("(") else f"{line} {{"
            yield from _body(piece)
            line = "}"
        else:
            line += piece if piece.startswith(("(", "[", ")", ",")) else f" {piece}"
    yield line


def _behind(attributes: Attributes) -> str:
    return f" {spell_attributes(attributes)}" if attributes else ""


def _module_head(module: Module) -> str:
    name = f" {_symbol(module.name)}" if module.name else ""
    return f"module{name}" + (
        f" attributes {spell_attributes(module.attributes)}" if module.attributes else ""
    )


def _function_head(function: Function) -> str:
    visibility = f"{function.visibility} " if function.visibility else ""
    parameters = ", ".join(
        (f"{each.name}: " if each.name else "") + spell_type(each.type) + _behind(each.attributes)
        for each in function.parameters
    )
    returned = f" -> {_returned(function.result_types)}" if function.result_types else ""
    attributes = f" attributes {spell_attributes(function.attributes)}" if function.attributes else ""
    return f"func.func {visibility}{_symbol(function.name)}({parameters}){returned}{attributes}"


def _loop_head(loop: Loop) -> str:
    carried = ""
    if loop.carried:
        starts = ", ".join(f"{name} = {start}" for name, start in loop.carried)
        carried = f" iter_args({starts}) -> ({', '.join(map(spell_type, loop.result_types))})"
    unsigned = "unsigned " if loop.unsigned else ""
    index_type = "" if loop.index_type is None else f" : {spell_type(loop.index_type)}"
    bounds = f"{loop.variable} = {loop.lower} to {loop.upper} step {loop.step}"
    return f"{_results(loop.results)}scf.for {unsigned}{bounds}{carried}{index_type}"


def _line(statement: Statement) -> str:
    """Return the text of a statement without regions."""
    match statement:
        case Instruction():
            return spell(statement)
        case Terminator(name, operands):
            return f"{name} {_values(operands)}" if operands else name
        case Constant():
            return _constant(statement)
        case Arithmetic():
            return _arithmetic(statement)
        case Allocation():
            return _allocation(statement)
        case TensorView() | PartitionView():
            return _view(statement)
        case Argument(name, type_):
            return f".arg {name} : {spell_type(type_)}"
        case Handshake(name, source, target, event, attributes):
            return f"pto.{name}[<{source}>, <{target}>, <{event}>]{_behind(attributes)}"
        case Barrier(pipe):
            return f"pto.barrier <{pipe}>"
        case Synchronization(events):
            return f"pto.tsync ins{_arguments(events)}"
        case _:
            raise TypeError(f"{type(statement).__name__} is no statement without regions")


def _constant(statement: Constant) -> str:
    value = statement.text if statement.type is None else f"{statement.text} : {spell_type(statement.type)}"
    if statement.directive:
        return f".const {statement.name} = {value}"
    return f"{statement.name} = arith.constant{_behind(statement.attributes)} {value}"


def _arithmetic(statement: Arithmetic) -> str:
    predicate = f"{statement.predicate}, " if statement.predicate else ""
    flags = f" {statement.flags}" if statement.flags else ""
    types = ", ".join(map(spell_type, statement.types))
    target = "" if statement.target is None else f" to {spell_type(statement.target)}"
    operands = predicate + ", ".join(statement.operands) + flags + _behind(statement.attributes)
    return f"{_results(statement.results)}{statement.name} {operands} : {types}{target}"


def _allocation(statement: Allocation) -> str:
    given = {
        "addr": statement.address,
        "valid_row": statement.valid_rows,
        "valid_col": statement.valid_columns,
    }
    operands = "".join(f" {key} = {name}" for key, name in given.items() if name is not None)
    type_ = spell_type(statement.type, buffer=True)
    return f"{statement.name} = pto.alloc_tile{operands}{_behind(statement.attributes)} : {type_}"


def _view(statement: TensorView | PartitionView) -> str:
    attributes = _behind(statement.attributes)
    if isinstance(statement, TensorView):
        extents = f"shape = [{', '.join(statement.shape)}], strides = [{', '.join(statement.strides)}]"
        view = f"{statement.pointer}, {extents}{attributes} : {spell_type(statement.type)}"
        return f"{statement.name} = pto.make_tensor_view {view}"
    block = f"offsets = [{', '.join(statement.offsets)}], sizes = [{', '.join(statement.sizes)}]{attributes}"
    signature = f"{spell_type(statement.source_type)} -> {spell_type(statement.type)}"
    return f"{statement.name} = pto.partition_view {statement.source}, {block} : {signature}"


def _values(operands: Sequence[Operand]) -> str:
    return f"{', '.join(map(_operand, operands))} : {', '.join(map(spell_type, _types(operands)))}"


def _returned(types: Sequence[Type]) -> str:
    return f"({', '.join(map(spell_type, types))})"


def _symbol(name: str) -> str:
    return f"@{name}" if re.fullmatch(r"[\w.$-]+", name, re.ASCII) else f'@"{name}"'
