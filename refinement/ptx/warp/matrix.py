"""Matrix instructions: the specification's meaning on the terms in a warp's registers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from ....spec.errors import InputError
from ....spec.formats import F64, U16, U32
from ....spec.legality import Violation
from ....spec.ptx import matrix_moves, warp
from ....spec.ptx.block_scaling import Selectors
from ....spec.ptx.choices import AS_TWICE_K, SEQUENTIAL, Choices
from ....spec.ptx.legality import violations
from ....spec.ptx.matrix_move_forms import ROW_BYTES
from ....spec.ptx.matrix_moves import MatrixMove, matrix_move
from ....spec.ptx.operands import Vector
from ....spec.ptx.resolution import Multiplication, multiplication
from ....spec.ptx.signatures import signature
from ....spec.ptx.targets import target_named
from ....spec.ptx.variant import Variant
from ....spec.ptx.warp import Immediates, WarpRegisters
from ...findings.finding import Kind
from ...terms.algebra import TermAlgebra
from ...terms.interning import Ids
from ...terms.store import CONSTANT
from ..memory.addressing import Addresses, addresses, space_of
from ..memory.memory_access import load, store
from ..registers.threads import WARP, Indices
from ..state.execution import Decoders, Execution, Step
from ..text.module import InstructionStatement, Module
from ..text.operands import Operand
from ..text.variables import as_declared


def illegal(module: Module, instruction: InstructionStatement, spaces: Mapping[str, str]) -> list[Violation]:
    """Return the rules that a matrix instruction violates in its module.

    Parameters
    ----------
    module : Module
        Its target and version are judged for.
    instruction : InstructionStatement
        The instruction.
    spaces : mapping of str to str
        State spaces of variables.

    Raises
    ------
    InputError
        If it is no instruction at all, or the module's target is not known.
    """
    declared = tuple(as_declared(operand, spaces) for operand in instruction.operands)
    return violations(
        replace(instruction, operands=declared).specified(), target_named(module.target), module.version
    )


def operands_by_name(instruction: InstructionStatement, form: Multiplication) -> Mapping[str, Operand]:
    """Return the operands of a multiplication by the specification's names of them."""
    names = [operand.name for operand in signature(form.form, form.variant)]
    return dict(zip(names, instruction.taking(len(names), len(names)), strict=True))


def registers_of(execution: Execution, operand: Operand, width: int, warps: Indices) -> Ids:
    """Return the terms (warps, 32, registers) that an operand's registers hold."""
    elements = operand.elements if isinstance(operand, Vector) else (operand,)
    lanes = warps.reshape(-1)
    columns = [execution.terms(element, width, lanes) for element in elements]
    return np.stack(columns, axis=-1).reshape(*warps.shape, len(columns))


def write_registers(execution: Execution, operand: Operand, terms: Ids, width: int, warps: Indices) -> None:
    """Write terms (warps, 32, registers) to an operand's registers."""
    elements = operand.elements if isinstance(operand, Vector) else (operand,)
    lanes = warps.reshape(-1)
    columns = terms.reshape(len(lanes), -1).T
    for element, column in zip(elements, columns, strict=True):
        execution.write_terms(element, np.ascontiguousarray(column), width, lanes)


IN_ORDER = "matrix instructions sum floats in order, by fused multiply-adds, which PTX leaves open"
"""What `accumulate = "sequential"` says of the processor too."""


def accumulation_of(execution: Execution, form: Multiplication) -> Choices:
    """Return how a product sums; where that is chosen, the verdict rests on it."""
    if execution.accumulation == SEQUENTIAL and not form.is_integer and form.format("a") != F64:
        execution.assumptions[IN_ORDER] = None
    return Choices(accumulation=execution.accumulation)


METADATA_AS_TWICE_K = (
    "metadata of mma.sp of half a K are in the bits of the form with twice the K "
    f"(half-k-metadata={AS_TWICE_K}), which no source confirms"
)
"""What a verdict on a kernel takes for granted that multiplies with such metadata."""


def _mma(instruction: InstructionStatement) -> Step:
    form = multiplication(instruction.specified().variant)
    given = operands_by_name(instruction, form)
    widths = {role: form.fragment(role).packing.word.bits for role in "abcd"}
    widths |= {name: U32.bits for name in ("scale_a", "scale_b", "metadata") if name in given}

    def step(execution: Execution, active: Indices) -> None:
        warps = execution.whole_warps(active)
        if not len(warps):
            return
        held = {
            name: registers_of(execution, given[name], width, warps)
            for name, width in widths.items()
            if name != "d"
        }
        registers, selected = WarpRegisters(**held), _selected(execution, given, warps)
        if form.sparsity is not None:
            _check_metadata(execution, form, registers, selected, warps)
            if form.sparsity.is_of_half_k:
                execution.assumptions[METADATA_AS_TWICE_K] = None
        choices = accumulation_of(execution, form)
        result = warp.execute(TermAlgebra(execution.store), form, registers, selected, choices)
        write_registers(execution, given["d"], result, widths["d"], warps)

    return step


def _selected(execution: Execution, given: Mapping[str, Operand], warps: Indices) -> Immediates:
    """Read the selectors, numbers or registers that are the same in every thread."""

    def number(operand: Operand) -> int:
        found = execution.numbers(operand, U16.bits, warps.reshape(-1), "the selector")
        if (found != found[0]).any():
            execution.unsupported(f"selector {operand}, which differs from thread to thread")
        return int(found[0])

    def pair(name: str) -> Selectors | None:
        operand = given.get(name)
        return Selectors(*map(number, operand.elements)) if isinstance(operand, Vector) else None

    sparsity = number(given["selector"]) if "selector" in given else None
    return Immediates(pair("selectors_a"), pair("selectors_b"), sparsity)


def _check_metadata(
    execution: Execution, form: Multiplication, registers: WarpRegisters, selected: Immediates, warps: Indices
) -> None:
    """Report metadata known to be undefined; what depends on data is the contract's to promise."""
    assert form.sparsity is not None and registers.metadata is not None and selected.sparsity is not None
    algebra = TermAlgebra(execution.store)
    nibbles = form.sparsity.held(selected.sparsity).gather(algebra, registers.metadata)
    known = execution.store.are(CONSTANT, nibbles).reshape(len(warps), -1).all(axis=1)
    if known.any():
        try:
            form.sparsity.require_valid(execution.store.constant_values(nibbles[known]))
        except InputError as error:
            execution.report(Kind.UNDEFINED, str(error), warps[known].reshape(-1))


def _variant(instruction: InstructionStatement) -> Variant:
    return instruction.specified().variant


def _rows(
    execution: Execution, move: MatrixMove, operand: Operand, warps: Indices
) -> tuple[Addresses, Indices]:
    """Return the address of every row (warps, matrices, rows), flat, and the thread that names it."""
    at = addresses(execution, operand, warps.reshape(-1)).reshape(-1, WARP)
    return (
        matrix_moves.row_addresses(move, at).reshape(-1),
        matrix_moves.row_addresses(move, warps).reshape(-1),
    )


def _ldmatrix(instruction: InstructionStatement) -> Step:
    move = matrix_move(_variant(instruction))
    destination, source = instruction.taking(2, 2)
    size = 1 if move.expansion else move.element.bits // 8

    def step(execution: Execution, active: Indices) -> None:
        warps = execution.whole_warps(active)
        if not len(warps):
            return
        at, lanes = _rows(execution, move, source, warps)
        space = space_of(execution, instruction)
        words = load(execution, space, at, size, ROW_BYTES // size, lanes, by_warps=True)
        rows = words.reshape(len(warps), move.count, move.rows, -1)
        algebra = TermAlgebra(execution.store)
        if move.expansion:
            result = matrix_moves.load(algebra, move, rows)
        else:
            result = move.fragment.scatter(algebra, rows)
        write_registers(execution, destination, result, U32.bits, warps)

    return step


def _stmatrix(instruction: InstructionStatement) -> Step:
    move = matrix_move(_variant(instruction))
    destination, source = instruction.taking(2, 2)

    def step(execution: Execution, active: Indices) -> None:
        warps = execution.whole_warps(active)
        if not len(warps):
            return
        at, lanes = _rows(execution, move, destination, warps)
        registers = registers_of(execution, source, U32.bits, warps)
        rows = move.fragment.gather(TermAlgebra(execution.store), registers)
        space = space_of(execution, instruction)
        store(execution, space, at, rows.reshape(len(at), -1), lanes, by_warps=True)

    return step


def _movmatrix(instruction: InstructionStatement) -> Step:
    move = matrix_move(_variant(instruction))
    destination, source = instruction.taking(2, 2)

    def step(execution: Execution, active: Indices) -> None:
        warps = execution.whole_warps(active)
        if not len(warps):
            return
        registers = registers_of(execution, source, U32.bits, warps)
        result = matrix_moves.transpose(TermAlgebra(execution.store), move, registers)
        write_registers(execution, destination, result, U32.bits, warps)

    return step


HANDLERS: Decoders = MappingProxyType(
    {"mma": _mma, "ldmatrix": _ldmatrix, "stmatrix": _stmatrix, "movmatrix": _movmatrix}
)
"""The instructions of this module."""
