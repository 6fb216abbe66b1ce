"""Launches: arguments of a kernel, and whether it can be launched with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from ....spec.errors import InputError
from ....spec.ptx.asynchronous.tensor_map import MAP_BYTES, TensorMap
from ....spec.ptx.operands import Integer
from ...findings.demangling import demangled
from ...terms.interning import Ids
from ...terms.store import TermStore
from ..registers.threads import Launch
from ..state.address_spaces import ADDRESS_BYTES, Buffer, Memory
from ..text.module import TYPE_BITS, Function, InstructionStatement, Module, Parameter

MOST_THREADS = 1 << 28
"""Threads of a grid."""

POINTER_BYTES = ADDRESS_BYTES


@dataclass(frozen=True)
class Number:
    """A concrete argument.

    Attributes
    ----------
    encoding : int
        Its bits; negative integers in two's complement of whatever width.
    """

    encoding: int


@dataclass(frozen=True)
class Scalar:
    """A symbolic argument.

    Attributes
    ----------
    term : int
        As wide as the parameter.
    """

    term: int


@dataclass(frozen=True)
class Pointer:
    """An argument that points into a buffer.

    Attributes
    ----------
    buffer : Buffer
        What it points to.
    offset : int
        Bytes from its beginning.
    """

    buffer: Buffer
    offset: int = 0


@dataclass(frozen=True)
class Tensor:
    """An argument that is a tensor map.

    Attributes
    ----------
    pointer : Pointer
        Where the tensor begins.
    map : TensorMap
        What it says beside.
    """

    pointer: Pointer
    map: TensorMap


@dataclass(frozen=True)
class Structure:
    """An argument that is a structure.

    Attributes
    ----------
    size : int
        Bytes.
    fields : tuple of (int, int, Number, Scalar, Pointer or Tensor)
        Where each begins, in bytes, how many it has, and what it is. Of the bytes between, nothing is known.
    """

    size: int
    fields: tuple[tuple[int, int, Simple], ...]


Simple = Number | Scalar | Pointer | Tensor
"""What a parameter, or a field of one, may be."""

Argument = Simple | Structure


def entry_named(module: Module, name: str) -> Function:
    """Return a kernel by its name.

    Raises
    ------
    InputError
        If the module doesn't define it.
    """
    found = module.functions.get(name)
    if found is None or not found.is_entry or not found.defined:
        known = ", ".join(entry.name for entry in module.entries if entry.defined) or "none"
        raise InputError(f"there is no kernel {name!r}; there are: {known}", module.path)
    return found


def check_arguments(module: Module, function: Function, arguments: Sequence[Argument]) -> None:
    """Check that there is an argument for each parameter.

    Raises
    ------
    InputError
        If there are more, or fewer.
    """
    if len(arguments) != len(function.parameters):
        known = ", ".join(
            f"{parameter.name.removeprefix(function.name).strip('_')} ({parameter.type})"
            for parameter in function.parameters
        )
        raise InputError(
            f"{demangled(function.name)} takes {len(function.parameters)} arguments, not {len(arguments)}: "
            f"{known or 'none'}; `mmaproof contract` writes a [[param]] for each",
            module.where(function),
        )


def check_size(module: Module, parameter: Parameter, name: str, fmt: str, size: int) -> None:
    """Check that a parameter has the bytes of what a contract passes.

    Raises
    ------
    InputError
        If it has more, or fewer.
    """
    if parameter.size == size:
        return
    extents = "".join(f"[{extent}]" for extent in parameter.dimensions)
    structure = "; a structure has fields" if parameter.dimensions else ""
    raise InputError(
        f"parameter {parameter.name} has {parameter.size} bytes (.{parameter.type}{extents}), but the "
        f"contract passes {name}, {fmt} of {size}{structure}",
        module.where(parameter),
    )


def check_block(module: Module, function: Function, launch: Launch) -> None:
    """Check that a block is what the kernel declares.

    Raises
    ------
    InputError
        If its extents are not those of ``.reqntid``, or its threads more than ``.maxntid`` says.
    """
    where = module.where(function)
    required = function.limits.get("reqntid")
    if required is not None:
        extents = (*required, 1, 1)[:3]
        if extents != launch.block:
            raise InputError(
                f"{function.name} must be launched in blocks of {extents}, not {launch.block}", where
            )
    most = function.limits.get("maxntid")
    if most is not None and launch.threads > prod(most):
        raise InputError(
            f"{function.name} takes at most {prod(most)} threads a block, not {launch.threads}", where
        )


def cluster_of(function: Function, given: tuple[int, int, int] | None) -> tuple[int, int, int] | None:
    """Return the extents of a cluster: those of the launch, or else those that the kernel requires."""
    required = function.limits.get("reqnctapercluster")
    if given is not None or required is None:
        return given
    x, y, z = (*required, 1, 1, 1)[:3]
    return x, y, z


def check_extent(launch: Launch) -> None:
    """Refuse a grid that nobody would wait for.

    Raises
    ------
    InputError
        If it has more than `MOST_THREADS` threads.
    """
    threads = launch.blocks * launch.threads
    if threads > MOST_THREADS:
        raise InputError(
            f"{launch.blocks} blocks of {launch.threads} threads are {threads}; at most {MOST_THREADS}"
        )


def buffers(arguments: Sequence[Argument]) -> list[Buffer]:
    """Return the buffers that arguments lead to, each once."""
    found: list[Buffer] = []
    for argument in arguments:
        parts = [part for _, _, part in argument.fields] if isinstance(argument, Structure) else [argument]
        for part in parts:
            pointer = part.pointer if isinstance(part, Tensor) else part
            if not isinstance(pointer, Pointer):
                continue
            for buffer in (pointer.buffer, *(target for target, _ in pointer.buffer.addresses)):
                if not any(buffer is each for each in found):
                    found.append(buffer)
    return found


def scalars(arguments: Sequence[Argument]) -> frozenset[int]:
    """Return the inputs that scalar arguments are."""
    parts = [
        part
        for argument in arguments
        for part in (
            [field[2] for field in argument.fields] if isinstance(argument, Structure) else [argument]
        )
    ]
    return frozenset(part.term for part in parts if isinstance(part, Scalar))


def pass_arguments(
    store: TermStore, memory: Memory, function: Function, arguments: Sequence[Argument]
) -> None:
    """Write arguments to the kernel's parameters.

    Raises
    ------
    InputError
        If an argument doesn't suit its parameter.
    """
    for index, (parameter, argument) in enumerate(zip(function.parameters, arguments, strict=True)):
        size = parameter.size or 0
        held = memory.parameters.lanes_of(index)
        assert isinstance(held, slice)
        if not isinstance(argument, Structure):
            _pass(store, memory, parameter.name, held.start, size, argument)
            continue
        lanes = memory.parameters.lanes
        lanes.write(held.start + np.arange(size), store.undefined(size, 8))
        for offset, width, part in argument.fields:
            _pass(store, memory, f"{parameter.name}+{offset}", held.start + offset, width, part)


def _pass(store: TermStore, memory: Memory, name: str, start: int, size: int, argument: Simple) -> None:
    """Write an argument of `size` bytes to where it begins."""
    match argument:
        case Scalar(term):
            width = int(store.widths(term))
            if width != 8 * size:
                raise InputError(f"parameter {name} has {8 * size} bits, its argument {width}")
            words = np.array([term], dtype=np.int32)
            offsets = np.array([start])
        case Number(encoding):
            words = _encoded(store, encoding, size, name)
            offsets = start + np.arange(0, size, size // len(words))
        case Pointer(buffer, offset):
            if size != POINTER_BYTES:
                raise InputError(f"parameter {name} has {size} bytes; a pointer has {POINTER_BYTES}")
            address = memory.buffer_address(buffer) + offset
            words, offsets = store.constants(np.array([address], dtype=np.uint64), 64), np.array([start])
        case Tensor(pointer, tensor):
            if size != MAP_BYTES:
                raise InputError(f"parameter {name} has {size} bytes; a tensor map has {MAP_BYTES}")
            address = memory.buffer_address(pointer.buffer) + pointer.offset
            memory.tensor_maps[start] = replace(tensor, address=address)
            words, offsets = store.undefined(size, 8), start + np.arange(size)
    memory.parameters.lanes.write(offsets, words)


def _encoded(store: TermStore, encoding: int, size: int, name: str) -> Ids:
    """Return a number as one word, or of a structure as its bytes."""
    if not -(1 << (8 * size - 1)) <= encoding < 1 << 8 * size:
        raise InputError(f"{encoding} doesn't fit parameter {name} of {size} bytes")
    data = (encoding & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    word = size if size in (1, 2, 4, 8) else 1
    return store.constants(np.frombuffer(data, dtype=f"<u{word}"), 8 * word)


_COPIES = (4, 8, 16)
_MATRIX_GRANULE = 4


def granule(function: Function) -> int:
    """Return bytes, a power of two, that every access to shared or global memory is a multiple of."""
    return min((size for each in function.body if (size := _access_bytes(each))), default=16)


def _access_bytes(instruction: InstructionStatement) -> int:
    """Return bytes that an access is a multiple of; 0 if the instruction makes none."""
    match instruction.opcode:
        case "ld" | "ldu" | "st" if not instruction.one_of(("param", "local", "const")):
            lanes = instruction.one_of(("v2", "v4", "v8"))
            return _element_bytes(instruction) * (1 if lanes is None else int(lanes[1:]))
        case "atom" | "red":
            return _element_bytes(instruction) // (2 if instruction.one_of(("f16x2", "bf16x2")) else 1)
        case "cp":
            sizes = [operand.value for operand in instruction.operands if isinstance(operand, Integer)]
            given = next((size for size in sizes if size in _COPIES), 0)
            return 1 if len(instruction.operands) > 3 and given else given
        case "wmma":
            return _MATRIX_GRANULE
        case "tcgen05":
            return 4 if instruction.has("alloc") else 0
    return 16 if instruction.opcode in ("ldmatrix", "stmatrix") else 0


def _element_bytes(instruction: InstructionStatement) -> int:
    return max(1, TYPE_BITS.get(instruction.types[-1], 8) // 8) if instruction.types else 1
