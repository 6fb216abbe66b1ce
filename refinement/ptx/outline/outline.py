"""Static outline of a PTX kernel: its launch, its uses of parameters, its accesses through pointers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import prod

from ....spec.ptx.operands import Address, Integer
from ...machine.kernel_outline import KernelOutline, MemoryAccess, ParameterUse
from ..text.module import Function, InstructionStatement, Module, Parameter, type_bytes
from ..text.operands import register_names
from ..text.variables import bytes_in, used_variables
from .descents import (
    BEHIND,
    NOTHING,
    READING,
    READING_AND_WRITING,
    WRITING,
    Descent,
    descents,
    either,
    read,
    written,
)
from .element_types import UNTYPED, types_of_parameters, types_of_values
from .parameter_fields import POINTER, Field, Fields, parameter_fields
from .tensor_maps import MapUse, expected_bytes, swizzles, tensor_maps

_MOST_SHIFT = 5
"""An element of memory has fewer bytes than a power of two of it."""


def outline(module: Module, function: Function) -> KernelOutline:
    """Return what a kernel of a module says of its launch, and does with its parameters."""
    variables = used_variables(module, function)
    most = function.limits.get("maxntid")
    products = [instruction for instruction in function.body if instruction.multiplies_matrices]
    return KernelOutline(
        "ptx",
        module.path,
        function.name,
        module.target,
        function.limits.get("reqntid"),
        None if most is None else prod(most),
        bytes_in(variables, "shared"),
        tuple(
            (variable.name, variable.alignment)
            for variable in variables
            if variable.space == "shared" and variable.size is None
        ),
        tuple(dict.fromkeys(product.mnemonic for product in products)),
        _parameter_uses(function),
        multiplied=tuple(dict.fromkeys(kind for product in products for kind in product.types[1:3])),
        summed=tuple(dict.fromkeys(kind for product in products for kind in product.types[:1])),
        swizzles=swizzles(function),
        expected=expected_bytes(function),
    )


def _parameter_uses(function: Function) -> tuple[ParameterUse, ...]:
    """Return what a kernel does with each of its parameters, in their order."""
    fields = parameter_fields(function)
    found = descents(function.body, fields)
    types = types_of_values(function.body)
    accessed: dict[str, list[MemoryAccess]] = defaultdict(list)
    strides: dict[str, set[str]] = defaultdict(set)
    compared: dict[str, list[int]] = defaultdict(list)
    chosen = pointers(function, fields, found)
    steps = _steps(function.body, found)
    values = types_of_parameters(function.body, fields, types)
    for instruction in function.body:
        for access, address in accesses(instruction, types):
            descent = either([address.base], found)
            for name in sorted(descent.addresses & chosen):
                accessed[name].append(access)
                strides[name] |= descent.all - (descent.addresses & chosen)
        if instruction.opcode in ("setp", "min", "max"):
            null = any(
                isinstance(operand, Integer) and operand.value == 0 for operand in instruction.operands
            )
            for name in sorted(either(instruction.operands, found).all - (set() if null else chosen)):
                compared[name].append(instruction.line)
    indices = set().union(*strides.values())
    used = set().union(*(each.all for each in found.values()))
    maps = tensor_maps(function)

    def held(name: str) -> bool:
        """Tell whether only addresses are read: a flag of a library's may say whether it holds addresses."""
        through = accessed[name]
        return bool(through) and all(each.size % POINTER == 0 and not each.writes for each in through)

    def use(parameter: Parameter, name: str, field: Field | None) -> ParameterUse:
        size, declared = (parameter.size or 0, parameter.type) if field is None else (field.size, field.type)
        behind = BEHIND + name
        if name.startswith(BEHIND):
            size, declared = POINTER, UNTYPED
        loaded = fields.of(parameter.name) if field is None else []
        inside = tuple(use(parameter, str(each), each) for each in loaded)
        tensor = maps.get(name, MapUse(0, ()))
        return ParameterUse(
            name,
            size,
            values.get(name) or (None if declared.startswith(UNTYPED) else declared),
            None if field is None else field.offset,
            inside,
            field is None and bool(parameter.dimensions),
            name in chosen,
            parameter.pointer_alignment if parameter.pointer_space is not None else None,
            (*accessed[name], *tensor.copies),
            min(steps.get(name, ()), default=None),
            tuple(sorted((stride for stride in strides[name] if BEHIND not in stride), key=fields.order)),
            tuple(dict.fromkeys(compared[name])),
            name in used,
            is_index=behind in indices,
            behind=use(parameter, behind, field) if behind in chosen and held(name) else None,
            map_rank=tensor.rank,
        )

    return tuple(use(parameter, parameter.name, None) for parameter in function.parameters)


def numbers_behind(function: Function) -> Callable[[str], set[str]]:
    """Return from which parameters that are no pointers a register descends, asked by its name."""
    fields = parameter_fields(function)
    every = descents(function.body, fields)
    chosen = pointers(function, fields, every)

    def behind(register: str) -> set[str]:
        reached = every.get(register, NOTHING).all - chosen
        return {each for each in reached if not each.startswith(BEHIND)}

    return behind


def _steps(body: Iterable[InstructionStatement], every: Mapping[str, Descent]) -> Mapping[str, set[int]]:
    """Return the bytes that one more of an index goes on, in sums that have a parameter as an address."""
    scales: dict[str, int] = {}
    found: dict[str, set[int]] = defaultdict(set)
    for instruction in body:
        scale = _scale(instruction)
        if scale is not None:
            scales |= dict.fromkeys(written(instruction), scale)
    for instruction in body:
        if instruction.opcode in ("add", "mad"):
            sources = read(instruction)
            added = {scales[name] for name in register_names(sources) if name in scales}
            if instruction.opcode == "mad" and (scale := _scale(instruction)) is not None:
                added, sources = {scale}, sources[2:]
            for name in either(sources, every).addresses:
                found[name] |= added
    return found


def _scale(instruction: InstructionStatement) -> int | None:
    """Return the constant by which an instruction multiplies an index."""
    factors = [each.value for each in read(instruction) if isinstance(each, Integer)]
    if instruction.opcode == "shl" and instruction.has("b64") and factors:
        return 1 << factors[-1] if 0 <= factors[-1] < _MOST_SHIFT else None
    if instruction.opcode in ("mul", "mad") and instruction.has("wide") and factors and factors[0] > 0:
        return factors[0]
    return None


def pointers(function: Function, fields: Fields, found: Mapping[str, Descent]) -> set[str]:
    """Return the parameters that addresses of memory are reckoned from.

    Of several that are added up, those are pointers that say so (``.ptr``), or that ``cvta`` converts. Where
    addresses lie in memory, what a parameter points to is among them, called ``*name``.
    """
    wide = {
        parameter.name
        for parameter in function.parameters
        if parameter.size == POINTER and not parameter.dimensions
    }
    wide |= {str(field) for field in fields if field.size == POINTER}
    said = {parameter.name for parameter in function.parameters if parameter.pointer_space is not None}
    converted = set[str]()
    sums = set[frozenset[str]]()
    for instruction in function.body:
        if instruction.opcode == "cvta":
            bases = either(read(instruction), found).addresses
            if len(bases) == 1:
                converted |= bases
        for _, address in accesses(instruction, {}):
            sums |= either([address.base], found).sums
    result = said | (converted & wide)
    result |= {name for each in sums if len(each & wide) == 1 and not each & result for name in each & wide}
    for each in sorted(sums, key=sorted):
        if not each & result:
            result |= each & wide or {name for name in each if name.startswith(BEHIND)}
    return result


def accesses(
    instruction: InstructionStatement, types: Mapping[str, str]
) -> Iterator[tuple[MemoryAccess, Address]]:
    """Yield each access of an instruction to memory that a pointer can lead to, with its address.

    Parameters
    ----------
    instruction : InstructionStatement
        One of the kernel's.
    types : mapping of str to str
        How registers are interpreted. That an access itself says an unsigned integer means nothing: compilers
        do of all that they move.
    """
    opcode = instruction.opcode
    if instruction.has("param") or instruction.one_of(("local", "const")):
        return
    shared = instruction.one_of(("shared", "shared::cta", "shared::cluster"))
    addresses = [operand for operand in instruction.operands if isinstance(operand, Address)]
    if opcode == "cp" and instruction.has("async") and len(addresses) == 2:
        size = next((operand.value for operand in instruction.operands if isinstance(operand, Integer)), 0)
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
    if opcode not in READING | WRITING | READING_AND_WRITING or not instruction.types:
        return
    lanes = instruction.one_of(("v2", "v4", "v8"))
    kind = instruction.types[-1]
    size = type_bytes(kind) * (1 if lanes is None else int(lanes[1:]))
    moved = [
        name
        for operand in instruction.operands
        if operand is not addresses[0]
        for name in register_names([operand])
    ]
    used = {types[name] for name in moved if name in types}
    if opcode not in READING_AND_WRITING and kind[0] in (UNTYPED, "u"):
        kind = used.pop() if len(used) == 1 else ""
    elif kind.startswith(UNTYPED):
        kind = f"u{kind[1:]}"
    yield (
        MemoryAccess(
            instruction.line,
            instruction.mnemonic,
            size,
            kind or None,
            reads=opcode not in WRITING,
            writes=opcode not in READING,
        ),
        addresses[0],
    )
