"""``wmma``: loads, products and stores of matrices whose fragments are opaque."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import InputError
from ....spec.formats import Format
from ....spec.ptx.operands import Vector
from ....spec.ptx.product import Matrices, product
from ....spec.ptx.resolution import multiplication
from ....spec.ptx.variant import Family, Variant
from ....spec.ptx.variant_rules import form_of
from ....spec.ptx.wmma import MemoryOperand, memory_operand
from ....spec.ptx.wmma_forms import WmmaForm
from ...findings.finding import Kind
from ...sizes.integer_forms import Rows
from ...terms.algebra import TermAlgebra
from ...terms.interning import Ids
from ..memory.addressing import Addresses, addresses, space_of
from ..memory.memory_access import load, store
from ..memory.symbolic_accesses import (
    memory_of_any_size,
    number_of_any_size,
    rows_of_any_size,
    store_rows_of_any_size,
)
from ..registers.threads import WARP, Indices
from ..state.execution import Decoders, Execution, Step
from ..text.module import InstructionStatement
from ..text.operands import Operand
from .matrix import accumulation_of, operands_by_name, registers_of, write_registers
from .opaque_fragments import FragmentKind

LINE_BYTES = 16
"""What lines behind the first are aligned to, at least: `contradictions.WMMA_LINE_ALIGNMENT`."""


def _kind(variant: Variant, role: str, layout: str, fmt: Format) -> FragmentKind:
    form = form_of(variant)
    assert isinstance(form, WmmaForm)
    what = "accumulator" if role in "cd" else f"{role} {layout}"
    return FragmentKind(f"{form.shape} {what}", fmt, form.role_shape(role), form.registers(role, fmt.name))


def _decoded(instruction: InstructionStatement) -> Step:
    variant = instruction.specified().variant
    match variant.family:
        case Family.WMMA_LOAD:
            return _load(instruction, variant)
        case Family.WMMA_STORE:
            return _store(instruction, variant)
    return _multiply(instruction, variant)


def _next_instance(execution: Execution) -> int:
    """Return a number that no other instruction's fragments have."""
    instances: int = execution.state.get("fragments", 0)
    execution.state["fragments"] = instances + 1
    return instances


def _lines(
    execution: Execution,
    instruction: InstructionStatement,
    operand: MemoryOperand,
    pointer: Operand,
    stride: Operand | None,
    warps: Indices,
) -> Addresses:
    """Return the address (warps, lines) of every line of the matrices."""
    lanes = warps.reshape(-1)
    at = addresses(execution, pointer, lanes).reshape(-1, WARP)
    strides = np.full_like(at, operand.minimum_stride)
    if stride is not None:
        strides = execution.numbers(stride, 32, lanes, "the stride").reshape(-1, WARP)
    differ = (at != at[:, :1]).any(axis=1) | (strides != strides[:, :1]).any(axis=1)
    if differ.any():
        message = f"{instruction.mnemonic}: pointer and stride must be the same in a whole warp"
        execution.report(Kind.UNDEFINED, message, warps[differ].reshape(-1))
    unaligned = at[:, 0] % np.uint64(operand.fragment_bytes) != 0
    if unaligned.any():
        address, unit = int(at[unaligned][0, 0]), operand.fragment_bytes
        message = f"{instruction.mnemonic} at address {address:#x}, which is no multiple of {unit}"
        execution.report(Kind.MISALIGNED, message, warps[unaligned].reshape(-1))
    short = strides[:, 0] < operand.minimum_stride
    if short.any():
        least = operand.minimum_stride
        message = (
            f"{instruction.mnemonic}: a stride of {int(strides[short][0, 0])} elements is less than {least}"
        )
        execution.report(Kind.UNDEFINED, message, warps[short].reshape(-1))
    step = strides[:, :1] * np.uint64(operand.format.bits) // np.uint64(8)
    lines = np.arange(operand.lines, dtype=np.uint64)
    return (at[:, :1] + step * lines).astype(np.uint64)


def _lines_of_any_size(
    execution: Execution,
    instruction: InstructionStatement,
    operand: MemoryOperand,
    pointer: Operand,
    stride: Operand | None,
    warps: Indices,
) -> Rows | None:
    """Return the addresses (warps × lines, monomials) of lines in arrays of any size; None for other memory.

    Raises
    ------
    UnsupportedError
        If what the instruction demands of pointer and stride is not so for every size.
    """
    lanes, space = warps.reshape(-1), space_of(execution, instruction)
    if (at := rows_of_any_size(execution, space, pointer, lanes)) is None:
        return None
    strides = np.zeros_like(at)
    strides[:, 0] = operand.minimum_stride
    if stride is not None:
        if (given := number_of_any_size(execution, stride, 32, lanes)) is None:
            return None
        strides = given
    memory = memory_of_any_size(execution)
    at, strides = (each.reshape(len(warps), WARP, -1) for each in (at, strides))
    whole = bool((at == at[:, :1]).all() and (strides == strides[:, :1]).all())
    steps = strides[:, 0] * operand.format.bits
    fine = whole and memory.at_least(strides[:, 0], operand.minimum_stride) and not (steps % 8).any()
    if not fine or (at[:, 0] % operand.fragment_bytes).any():
        execution.unsupported(f"pointer or stride of {instruction.mnemonic} may be wrong for some sizes")
    lines = np.arange(operand.lines)[None, :, None]
    rows = (at[:, :1] + steps[:, None] // 8 * lines).reshape(len(warps) * operand.lines, -1)
    return np.asarray(rows, dtype=np.int64)


def _words(operand: MemoryOperand) -> tuple[int, int]:
    """Return the bytes of a word, and how many words a line has."""
    size = max(1, operand.format.bits // 8)
    return size, operand.minimum_stride * operand.format.bits // 8 // size


def _threads(warps: Indices, lines: int) -> NDArray[np.intp]:
    """Return a thread of the warp for each of its lines."""
    return warps[:, np.arange(lines) % WARP].reshape(-1)


def _load(instruction: InstructionStatement, variant: Variant) -> Step:
    operand = memory_operand(variant)
    kind = _kind(variant, operand.role, operand.layout, operand.format)
    destination, pointer, *stride = instruction.taking(2, 3)
    size, count = _words(operand)
    distance = stride[0] if stride else None

    def step(execution: Execution, active: Indices) -> None:
        warps = execution.whole_warps(active)
        if not len(warps):
            return
        threads, unit = _threads(warps, operand.lines), min(operand.fragment_bytes, LINE_BYTES)
        rows = _lines_of_any_size(execution, instruction, operand, pointer, distance, warps)
        if rows is not None:
            words = memory_of_any_size(execution).load(rows, size, count, unit, threads)
        else:
            at = _lines(execution, instruction, operand, pointer, distance, warps)
            space = space_of(execution, instruction)
            words = load(execution, space, at.reshape(-1), size, count, threads, unit, by_warps=True)
        if operand.format.bits < 8:
            algebra = TermAlgebra(execution.store)
            fields = [algebra.extract(words, low, operand.format) for low in range(0, 8, operand.format.bits)]
            words = np.stack(fields, axis=-1)
        matrices = words.reshape(len(warps), operand.lines, -1)
        if operand.layout == "col":
            matrices = matrices.swapaxes(1, 2)
        registers = kind.held(execution.store, matrices, _next_instance(execution))
        write_registers(execution, destination, registers, kind.packing.word.bits, warps)

    return step


def _matrices(execution: Execution, operand: Operand, kind: FragmentKind, warps: Indices) -> Ids:
    """Return the matrices (warps, rows, columns) that an operand's registers hold; undefined if none."""
    registers = registers_of(execution, operand, kind.packing.word.bits, warps)
    matrices, fine = kind.matrices(execution.store, registers)
    if not fine.all():
        execution.report(
            Kind.UNDEFINED,
            f"{operand} is no fragment {kind.name} whose elements are all treated alike; which thread holds "
            "which element is not specified",
            warps[~fine].reshape(-1),
        )
        lost = matrices[~fine]
        matrices = matrices.copy()
        matrices[~fine] = execution.store.undefined(lost.size, kind.format.bits).reshape(lost.shape)
    return matrices


def _multiply(instruction: InstructionStatement, variant: Variant) -> Step:
    form = multiplication(variant)
    given = operands_by_name(instruction, form)
    layouts = dict(zip("ab", variant.layouts, strict=True))
    kinds = {role: _kind(variant, role, layouts.get(role, ""), form.format(role)) for role in "abcd"}

    def step(execution: Execution, active: Indices) -> None:
        warps = execution.whole_warps(active)
        if not len(warps):
            return
        held = {role: _matrices(execution, given[role], kinds[role], warps) for role in "abc"}
        choices = accumulation_of(execution, form)
        result = product(TermAlgebra(execution.store), form, Matrices(**held), choices)
        registers = kinds["d"].held(execution.store, result, _next_instance(execution))
        write_registers(execution, given["d"], registers, kinds["d"].packing.word.bits, warps)

    return step


def _store(instruction: InstructionStatement, variant: Variant) -> Step:
    operand = memory_operand(variant)
    kind = _kind(variant, operand.role, operand.layout, operand.format)
    pointer, source, *stride = instruction.taking(2, 3)
    if not isinstance(source, Vector):
        raise InputError(f"{instruction.mnemonic} takes a vector of registers, not {source}")

    def step(execution: Execution, active: Indices) -> None:
        warps = execution.whole_warps(active)
        if not len(warps):
            return
        matrices = _matrices(execution, source, kind, warps)
        if operand.layout == "col":
            matrices = matrices.swapaxes(1, 2)
        distance = stride[0] if stride else None
        threads, unit = _threads(warps, operand.lines), min(operand.fragment_bytes, LINE_BYTES)
        words = matrices.reshape(len(threads), -1)
        rows = _lines_of_any_size(execution, instruction, operand, pointer, distance, warps)
        if rows is not None:
            store_rows_of_any_size(execution, rows, words, unit, threads)
            return
        at = _lines(execution, instruction, operand, pointer, distance, warps)
        space = space_of(execution, instruction)
        store(execution, space, at.reshape(-1), words, threads, alignment=unit, by_warps=True)

    return step


HANDLERS: Decoders = MappingProxyType({"wmma": _decoded})
"""The instructions of this module."""
