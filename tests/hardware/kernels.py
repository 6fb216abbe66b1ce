"""PTX source of the recorder: one kernel for each case, one warp of it for each vector.

A kernel takes one pointer for every array of its case. Its block number is the number of the vector; its
32 threads load the operands, execute the instruction once and store the result. Registers are ``.b32``
(f64: ``.b64``), which every form takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mmaproof.spec.ptx.catalogue import Form
from mmaproof.spec.ptx.signatures import OperandForm, Sort, signature
from mmaproof.spec.ptx.targets import Target, Version, spell_version
from mmaproof.spec.ptx.variant import WARP_LANES, Family, Variant
from mmaproof.spec.ptx.variant_rules import form_of

from .cases import Buffer, Case

LANE_BYTES = 4
"""Bytes of a memory that a lane copies at a time."""


def entry(number: int) -> str:
    """Return the name of the kernel of a module's case."""
    return f"case_{number}"


def module(cases: Sequence[Case], target: Target, ptx: Version) -> str:
    """Return the source of a module with a kernel for each case."""
    lines = [f".version {spell_version(ptx)}", f".target {target}", ".address_size 64"]
    for number, case in enumerate(cases):
        lines.extend(_kernel(entry(number), case))
    return "\n".join(lines) + "\n"


def _kernel(name: str, case: Case) -> Iterator[str]:
    parameters = ", ".join(f".param .u64 parameter_{buffer}" for buffer in case.buffers)
    yield f".visible .entry {name}({parameters})"
    yield "{"
    yield ".reg .b32 %word; .reg .u32 %lane, %vector, %offset; .reg .u64 %row;"
    for buffer, array in case.buffers.items():
        yield f".reg .u64 %{buffer}_at, %{buffer}_copy, %{buffer}_shared, %{buffer}_word;"
        if _is_staged(case, array):
            yield f".shared .align 128 .b8 {name}_{buffer}[{array.bytes}];"
    yield "mov.u32 %lane, %tid.x;"
    yield "mov.u32 %vector, %ctaid.x;"
    for buffer, array in case.buffers.items():
        yield f"ld.param.u64 %{buffer}_at, [parameter_{buffer}];"
        yield f"cvta.to.global.u64 %{buffer}_at, %{buffer}_at;"
        yield f"mad.wide.u32 %{buffer}_at, %vector, {array.bytes}, %{buffer}_at;"
        if _is_staged(case, array):
            yield from _stage(buffer, f"{name}_{buffer}", array)
        elif not array.is_memory:
            yield from _registers(buffer, array, load=buffer in case.inputs)
    yield "bar.sync 0;"
    if case.variant.family is Family.WMMA_MMA:
        yield from _load_multiply_store(case)
    else:
        yield from _instruction(case)
    yield "bar.sync 0;"
    result = case.buffers[case.result]
    if _is_staged(case, result):
        yield from _copy(case.result, result, back=True)
    elif not result.is_memory:
        bits = 8 * int(result.dtype[1:])
        for i in range(result.shape[1]):
            yield f"st.global.b{bits} [%{case.result}_at+{i * bits // 8}], %{case.result}{i};"
    yield "ret;"
    yield "}"


def _is_staged(case: Case, array: Buffer) -> bool:
    """Say whether an array is copied to shared memory (else it is used in global memory)."""
    if not array.is_memory:
        return False
    return not case.moves or (case.moves[0].space or "global") != "global"


def _registers(name: str, array: Buffer, *, load: bool) -> Iterator[str]:
    """Declare the registers of an array, its address that of the lane's part, and load them."""
    width, count = int(array.dtype[1:]), array.shape[1]
    yield f".reg .b{8 * width} %{name}<{count}>;"
    yield f"mad.wide.u32 %{name}_at, %lane, {width * count}, %{name}_at;"
    if load:
        for i in range(count):
            yield f"ld.global.b{8 * width} %{name}{i}, [%{name}_at+{i * width}];"


def _stage(name: str, variable: str, array: Buffer) -> Iterator[str]:
    """Copy a memory to shared memory."""
    yield f"mov.u64 %{name}_shared, {variable};"
    yield f"mad.wide.u32 %{name}_copy, %lane, {LANE_BYTES}, %{name}_at;"
    yield f"mad.wide.u32 %{name}_word, %lane, {LANE_BYTES}, %{name}_shared;"
    yield from _copy(name, array, back=False)


def _copy(name: str, array: Buffer, *, back: bool) -> Iterator[str]:
    for at in range(0, array.bytes, LANE_BYTES * WARP_LANES):
        in_global, in_shared = f"[%{name}_copy+{at}]", f"[%{name}_word+{at}]"
        if back:
            yield f"ld.shared.b32 %word, {in_shared};"
            yield f"st.global.b32 {in_global}, %word;"
        else:
            yield f"ld.global.b32 %word, {in_global};"
            yield f"st.shared.b32 {in_shared}, %word;"


def _instruction(case: Case) -> Iterator[str]:
    """Yield an instruction whose operands are in registers, but for the memory of a move."""
    if "memory" in case.buffers:
        yield "cvt.u64.u32 %row, %addresses0;"
        if case.variant.space is None:
            yield "cvta.shared.u64 %memory_shared, %memory_shared;"
        yield "add.u64 %row, %row, %memory_shared;"
    form = form_of(case.variant)
    operands = [_operand(case, operand) for operand in signature(form, case.variant)]
    yield f"{case.variant} {', '.join(operands)};"


def _operand(case: Case, operand: OperandForm) -> str:
    match operand.sort:
        case Sort.VECTOR:
            return _vector(operand.name, operand.registers)
        case Sort.SCALAR:
            return f"%{operand.name}0"
        case Sort.ADDRESS:
            return "[%row]"
        case Sort.PAIR:
            pair = getattr(case.selected, operand.name.replace("selectors", "scale"))
            return f"{{{pair.byte_id}, {pair.thread_id}}}"
        case _:
            return f"{case.selected.sparsity:#x}"


def _vector(name: str, registers: int) -> str:
    return "{" + ", ".join(f"%{name}{i}" for i in range(registers)) + "}"


def _load_multiply_store(case: Case) -> Iterator[str]:
    """Yield loads of A, B and C, the product and the store of D."""
    form = form_of(case.variant)
    types = case.variant.element_types
    widths = {role: 64 if element_type == "f64" else 32 for role, element_type in types.items()}
    held = {operand.name: operand.registers for operand in signature(form, case.variant)}
    for role, registers in held.items():
        yield f".reg .b{widths[role]} %{role}<{registers}>;"
    loads, store = case.moves[:3], case.moves[3]
    if store.space is None:
        yield from (f"cvta.global.u64 %{role}_at, %{role}_at;" for role in held)
    for move in loads:
        yield f"{move} {_vector(str(move.role), _held(form, move))}, {_address(case, move)};"
    operands = (_vector(role, registers) for role, registers in held.items())
    yield f"{case.variant} {', '.join(operands)};"
    yield f"{store} {_address(case, store, behind=_vector('d', held['d']))};"


def _held(form: Form, move: Variant) -> int:
    """Return the registers of a load's vector."""
    (vector,) = (operand for operand in signature(form, move) if operand.sort is Sort.VECTOR)
    return vector.registers


def _address(case: Case, move: Variant, behind: str = "") -> str:
    """Return the address of a ``wmma`` matrix, for a store its registers, and the stride unless default."""
    role = str(move.role)
    pointer = f"%{role}_shared" if (move.space or "global") != "global" else f"%{role}_at"
    default = case.memory_operands[role].minimum_stride
    stride = "" if case.stride(role) == default else str(case.stride(role))
    return ", ".join(filter(None, (f"[{pointer}]", behind, stride)))
