"""What a kernel says of its launch and does with its parameters, read off it without running it.

A register descends from parameters: as an *address* where only sums and differences lie between (so a
pointer comes to a load), as a *factor* or *term* of an index otherwise. The order of instructions is of
no concern, so that what is said is what may be.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod

from ...spec.ptx.operands import Address, Integer
from ..kernel_outline import KernelOutline, MemoryAccess, ParameterUse
from .module import MATRIX_OPCODES, Function, InstructionStatement, Module, Parameter, type_bytes
from .operands import Operand, register_names
from .parameter_fields import POINTER, Field, Fields, parameter_fields
from .variables import bytes_in, used_variables

_ADDING = frozenset({"mov", "cvta", "cvt", "add", "sub", "selp", "min", "max", "prmt", "or"})
"""Opcodes that pass an address on."""

_READING = frozenset({"ld", "ldu", "ldmatrix", "prefetch"})
_WRITING = frozenset({"st", "stmatrix"})
_READING_AND_WRITING = frozenset({"atom", "red"})
_UNTYPED = "b"
"""Types that say nothing but a width."""

_MOVING = frozenset({"mov", "selp", "prmt", "shfl", "cvta"})
"""Opcodes whose types say nothing of what they move."""


_MOST_SHIFT = 5
"""An element of memory has fewer bytes than a power of two of it."""


@dataclass
class _Descent:
    """From which parameters a register descends, and how; the parameters by name."""

    addresses: set[str]
    numbers: set[str]


def outline(module: Module, function: Function) -> KernelOutline:
    """Return what a kernel of a module says of its launch, and does with its parameters."""
    variables = used_variables(module, function)
    most = function.limits.get("maxntid")
    products = (each.mnemonic for each in function.body if each.opcode == "mma" or each.has("mma"))
    return KernelOutline(
        "ptx",
        module.path,
        function.name,
        module.target,
        function.limits.get("reqntid"),
        None if most is None else prod(most),
        bytes_in(variables, "shared"),
        tuple(
            (each.name, each.alignment) for each in variables if each.space == "shared" and each.size is None
        ),
        tuple(dict.fromkeys(products)),
        _parameter_uses(function),
    )


def _parameter_uses(function: Function) -> tuple[ParameterUse, ...]:
    """Return what a kernel does with each of its parameters, in their order."""
    fields = parameter_fields(function)
    descents = _descents(function.body, fields)
    types = _types_of_values(function.body)
    accesses: dict[str, list[MemoryAccess]] = defaultdict(list)
    strides: dict[str, set[str]] = defaultdict(set)
    compared: dict[str, list[int]] = defaultdict(list)
    pointers = _pointers(function, fields, descents)
    steps = _steps(function.body, descents)
    values = _types_of_parameters(function.body, fields, types)
    for instruction in function.body:
        for access, address in _accesses(instruction, types):
            bases, numbers = _origin([address.base], descents)
            for name in sorted(bases & pointers):
                accesses[name].append(access)
                strides[name] |= numbers | (bases - pointers)
        if instruction.opcode in ("setp", "min", "max"):
            bases, numbers = _origin(instruction.operands, descents)
            for name in sorted((bases | numbers) - pointers):
                compared[name].append(instruction.line)

    def use(parameter: Parameter, name: str, field: Field | None) -> ParameterUse:
        size, declared = (parameter.size or 0, parameter.type) if field is None else (field.size, field.type)
        loaded = fields.of(parameter.name) if field is None else []
        inside = tuple(use(parameter, str(each), each) for each in loaded)
        return ParameterUse(
            name,
            size,
            values.get(name) or (None if declared.startswith(_UNTYPED) else declared),
            None if field is None else field.offset,
            inside,
            field is None and bool(parameter.dimensions),
            name in pointers,
            parameter.pointer_alignment if parameter.pointer_space is not None else None,
            tuple(accesses[name]),
            min(steps.get(name, ()), default=None),
            tuple(sorted(strides[name], key=fields.order)),
            tuple(dict.fromkeys(compared[name])),
            any(name in set().union(d.addresses, d.numbers) for d in descents.values()),
        )

    return tuple(use(parameter, parameter.name, None) for parameter in function.parameters)


def numbers_behind(function: Function) -> Callable[[str], set[str]]:
    """Return from which parameters that are no pointers a register descends, asked by its name."""
    fields = parameter_fields(function)
    descents = _descents(function.body, fields)
    pointers = _pointers(function, fields, descents)

    def behind(register: str) -> set[str]:
        found = descents.get(register)
        return set() if found is None else (found.addresses | found.numbers) - pointers

    return behind


def _descents(body: Iterable[InstructionStatement], fields: Fields) -> Mapping[str, _Descent]:
    """Return from what every register descends: the least solution, the instructions in any order."""
    found: dict[str, _Descent] = defaultdict(lambda: _Descent(set(), set()))
    instructions = [(each, _written(each), _read(each)) for each in body]
    changed = True
    while changed:
        changed = False
        for instruction, written, read in instructions:
            addresses, numbers = _brought(instruction, read, fields, found)
            for register in written:
                descent = found[register]
                if not (addresses <= descent.addresses and numbers <= descent.numbers):
                    descent.addresses |= addresses
                    descent.numbers |= numbers
                    changed = True
    return found


def _brought(
    instruction: InstructionStatement,
    read: list[Operand],
    fields: Fields,
    descents: Mapping[str, _Descent],
) -> tuple[set[str], set[str]]:
    """Return the parameters that an instruction's results descend from, as addresses and as numbers."""
    if instruction.has("param") and instruction.opcode == "ld":
        return set(fields.loaded(instruction)), set()
    if instruction.opcode in _READING | _READING_AND_WRITING | {"mma", "wmma"}:
        return set(), set()
    if instruction.opcode in ("mad", "mad24", "fma") and len(read) == 3:
        factors, terms = _origin(read[:2], descents), _origin(read[2:], descents)
        return terms[0], factors[0] | factors[1] | terms[1]
    addresses, numbers = _origin(read, descents)
    if instruction.opcode in _ADDING:
        return addresses, numbers
    return set(), addresses | numbers


def _origin(operands: Iterable[Operand], descents: Mapping[str, _Descent]) -> tuple[set[str], set[str]]:
    addresses: set[str] = set()
    numbers: set[str] = set()
    for name in register_names(operands):
        if name in descents:
            addresses |= descents[name].addresses
            numbers |= descents[name].numbers
    return addresses, numbers


def _steps(body: Iterable[InstructionStatement], descents: Mapping[str, _Descent]) -> Mapping[str, set[int]]:
    """Return the bytes that one more of an index goes on, in sums that have a parameter as an address."""
    scales: dict[str, int] = {}
    found: dict[str, set[int]] = defaultdict(set)
    for instruction in body:
        scale = _scale(instruction)
        if scale is not None:
            scales |= dict.fromkeys(_written(instruction), scale)
    for instruction in body:
        if instruction.opcode in ("add", "mad"):
            read = _read(instruction)
            added = {scales[name] for name in register_names(read) if name in scales}
            if instruction.opcode == "mad" and (scale := _scale(instruction)) is not None:
                added, read = {scale}, read[2:]
            for name in _origin(read, descents)[0]:
                found[name] |= added
    return found


def _scale(instruction: InstructionStatement) -> int | None:
    """Return the constant by which an instruction multiplies an index."""
    factors = [each.value for each in _read(instruction) if isinstance(each, Integer)]
    if instruction.opcode == "shl" and instruction.has("b64") and factors:
        return 1 << factors[-1] if 0 <= factors[-1] < _MOST_SHIFT else None
    if instruction.opcode in ("mul", "mad") and instruction.has("wide") and factors and factors[0] > 0:
        return factors[0]
    return None


def _pointers(function: Function, fields: Fields, descents: Mapping[str, _Descent]) -> set[str]:
    """Return the parameters that addresses of memory are reckoned from.

    Of several that are added up, those are pointers that say so (``.ptr``), or that ``cvta`` converts.
    """
    wide = {each.name for each in function.parameters if each.size == POINTER and not each.dimensions}
    wide |= {str(each) for each in fields if each.size == POINTER}
    said = {each.name for each in function.parameters if each.pointer_space is not None}
    converted = set[str]()
    for instruction in function.body:
        if instruction.opcode == "cvta":
            bases, _ = _origin(_read(instruction), descents)
            if len(bases) == 1:
                converted |= bases
    found = set(said) | (converted & wide)
    for instruction in function.body:
        for _, address in _accesses(instruction, {}):
            bases = _origin([address.base], descents)[0] & wide
            if not bases & found:
                found |= bases
    return found


def _accesses(
    instruction: InstructionStatement, types: Mapping[str, str]
) -> Iterator[tuple[MemoryAccess, Address]]:
    """Yield each access of an instruction to memory that a pointer can lead to, with its address."""
    opcode = instruction.opcode
    if instruction.has("param") or instruction.one_of(("local", "const")):
        return
    shared = instruction.one_of(("shared", "shared::cta", "shared::cluster"))
    addresses = [each for each in instruction.operands if isinstance(each, Address)]
    if opcode == "cp" and instruction.has("async") and len(addresses) == 2:
        size = next((each.value for each in instruction.operands if isinstance(each, Integer)), 0)
        yield (
            MemoryAccess(instruction.line, instruction.mnemonic, size, None, reads=True, writes=False),
            addresses[1],
        )
        return
    if shared or not addresses:
        return
    if opcode == "wmma" and instruction.one_of(("load", "store")):
        loads = instruction.has("load")
        kind = instruction.types[-1] if instruction.types else None
        yield (
            MemoryAccess(instruction.line, instruction.mnemonic, 0, kind, reads=loads, writes=not loads),
            addresses[0],
        )
        return
    if opcode not in _READING | _WRITING | _READING_AND_WRITING or not instruction.types:
        return
    lanes = instruction.one_of(("v2", "v4", "v8"))
    kind = instruction.types[-1]
    size = type_bytes(kind) * (1 if lanes is None else int(lanes[1:]))
    moved = [
        name for each in instruction.operands if each is not addresses[0] for name in register_names([each])
    ]
    if kind.startswith(_UNTYPED):
        known = {types[name] for name in moved if name in types}
        kind = known.pop() if len(known) == 1 else ""
    yield (
        MemoryAccess(
            instruction.line,
            instruction.mnemonic,
            size,
            kind or None,
            reads=opcode not in _WRITING,
            writes=opcode not in _READING,
        ),
        addresses[0],
    )


def _types_of_values(body: Iterable[InstructionStatement]) -> Mapping[str, str]:
    """Return how registers are interpreted where some instruction does, also through moves."""
    found: dict[str, str] = {}
    moves: list[tuple[list[str], list[str]]] = []
    for instruction in body:
        written, read = _written(instruction), [*register_names(_read(instruction))]
        if instruction.opcode in _MOVING:
            moves.append((written, read))
            continue
        for registers, kind in _typed(instruction, written, read):
            if not kind.startswith(_UNTYPED):
                for register in registers:
                    found.setdefault(register, kind)
    changed = True
    while changed:
        changed = False
        for written, read in moves:
            known = next((found[each] for each in (*written, *read) if each in found), None)
            for register in (*written, *read) if known is not None else ():
                if register not in found:
                    found[register] = str(known)
                    changed = True
    return found


def _types_of_parameters(
    body: Iterable[InstructionStatement], fields: Fields, types: Mapping[str, str]
) -> Mapping[str, str]:
    """Return the types of parameters that registers hold as they are."""
    return {
        name: types[register]
        for instruction in body
        if instruction.opcode == "ld" and instruction.has("param")
        for name, register in zip(fields.loaded(instruction), _written(instruction), strict=False)
        if register in types
    }


def _typed(
    instruction: InstructionStatement, written: list[str], read: list[str]
) -> Iterator[tuple[list[str], str]]:
    """Yield registers with the type that an instruction gives them."""
    types = instruction.types
    if instruction.opcode == "mma" and len(types) >= 4:
        operands = instruction.operands
        for operand, kind in zip(operands[:4], types[:4], strict=False):
            yield [*register_names([operand])], kind
    elif instruction.opcode == "cvt" and len(types) == 2:
        yield written, types[0]
        yield read, types[1]
    elif types and instruction.opcode not in (*_READING, *_WRITING, "cp", *MATRIX_OPCODES):
        yield written, types[0]
        yield read, types[-1]


def _written(instruction: InstructionStatement) -> list[str]:
    """Return the registers that an instruction writes."""
    if instruction.opcode in ("st", "red", "bar", "barrier", "bra", "cp", "ret", "prefetch", "stmatrix"):
        return []
    return [*register_names(instruction.operands[:1])]


def _read(instruction: InstructionStatement) -> list[Operand]:
    """Return the operands that an instruction reads."""
    return list(instruction.operands[bool(_written(instruction)) :])
