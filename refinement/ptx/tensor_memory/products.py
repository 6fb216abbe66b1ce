"""``tcgen05.mma``: D in tensor memory, A there or in shared memory, B in shared memory.

The meaning is the specification's (`mmaproof.spec.ptx.tensor_memory`); here are the terms that cells and
shared memory hold. Each thread that issues it multiplies. Source: PTX ISA 9.1 section 9.7.16 (tcgen05.mma).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import InputError
from ....spec.ptx.operands import Address, Integer, Vector
from ....spec.ptx.product import Matrices
from ....spec.ptx.targets import target_named
from ....spec.ptx.tensor_memory import descriptor_rules
from ....spec.ptx.tensor_memory.descriptor_rules import Described
from ....spec.ptx.tensor_memory.kinds import CTA_LANES
from ....spec.ptx.tensor_memory.multiplication import TensorMultiplication, multiplication
from ....spec.ptx.tensor_memory.product import Modifiers, tensor_product
from ....spec.ptx.tensor_memory.product_form import ProductForm, product_form
from ....spec.ptx.tensor_memory.zero_columns import zero_columns
from ...findings.finding import Kind
from ...terms.algebra import TermAlgebra
from ...terms.interning import Ids
from ..registers.threads import Indices
from ..state.execution import Execution, Step
from ..text.module import InstructionStatement
from ..warp.matrix import accumulation_of
from . import shared_operands
from .cell_operands import CellOperands, check_metadata
from .cells import split_address
from .kept_operands import Collector, KeptOperands, Operand
from .operands import Written, blocks_of, cell_addresses, refuse_on_data, written
from .uses import Clocks, Sort

_DESCRIPTORS = {"a": "a", "b": "b-desc"}
_CELLS = {"a": "a", "d": "d", "metadata": "sp-meta", "scale_a": "sfa", "scale_b": "sfb"}


@dataclass(frozen=True)
class _Numbers:
    """What a thread names.

    Attributes
    ----------
    idesc : int
        The instruction descriptor.
    descriptors, cells : tuple of (str, int)
        By role, matrix descriptors and addresses of cells.
    enable_d : bool
        Whether the old D counts.
    mask : tuple of int
        Of the lanes that keep D, 32 bits each.
    zeros : int
        The zero-column mask.
    """

    idesc: int
    descriptors: tuple[tuple[str, int], ...]
    cells: tuple[tuple[str, int], ...]
    enable_d: bool
    mask: tuple[int, ...]
    zeros: int | None


def multiply(instruction: InstructionStatement) -> Step:
    """Decode a product."""
    text = written(instruction)
    a_in_cells = isinstance(text.operands["a"], Address)
    product = product_form(text.form.row.head, text.form.modifiers, a_in_tensor_memory=a_in_cells)
    collector = Collector.of(tuple(text.form.modifiers), ws=product.ws)
    scale_d = text.operands.get("scale-input-d", Integer(0))
    if not isinstance(scale_d, Integer):
        raise InputError(f"scale-input-d is {scale_d}; it must be an integer literal")

    def step(execution: Execution, active: Indices) -> None:
        refuse_on_data(execution)
        numbers = _numbers(execution, text, active, a_in_cells=a_in_cells)
        for thread in _issuing(execution, text, active, numbers):
            of_thread = numbers[int(np.searchsorted(active, thread))]
            blocks = blocks_of(execution, text, int(execution.threads.block[thread]))
            _multiply(execution, product, of_thread, thread, scale_d.value, blocks, collector)

    return step


def _issuing(execution: Execution, text: Written, active: Indices, numbers: list[_Numbers]) -> list[int]:
    """Return the threads whose products are computed; report others that issue the same again."""
    blocks = execution.threads.block[active]
    first: dict[tuple[int, _Numbers], int] = {}
    again: dict[tuple[int, _Numbers], list[int]] = {}
    for thread, block, number in zip(active.tolist(), blocks.tolist(), numbers, strict=True):
        key = (blocks_of(execution, text, block)[0], number)
        if key in first:
            again.setdefault(key, []).append(thread)
        else:
            first[key] = thread
    whose = "a pair of CTAs" if text.is_of_two else "a block"
    for key, others in again.items():
        execution.report(
            Kind.RACE,
            f"{execution.instruction.mnemonic} is issued by {1 + len(others)} threads of {whose}, so that D "
            f"gets the product {1 + len(others)} times, in no order: one thread issues it",
            np.array([first[key], *others]),
        )
    return list(first.values())


def _numbers(execution: Execution, text: Written, active: Indices, *, a_in_cells: bool) -> list[_Numbers]:
    """Return what each active thread names."""
    given = text.operands

    def known(name: str, width: int) -> list[int]:
        found: list[int] = execution.numbers(given[name], width, active, name).tolist()
        return found

    idescs = known("idesc", 32)
    descriptors = {
        role: known(name, 64) for role, name in _DESCRIPTORS.items() if role == "b" or not a_in_cells
    }
    cells = {
        role: cell_addresses(execution, given[name], active).tolist()
        for role, name in _CELLS.items()
        if name in given and (role != "a" or a_in_cells)
    }
    enabled = known("enable-input-d", 1)
    masks: list[list[int]] = []
    if isinstance(mask := given.get("disable-output-lane"), Vector):
        masks = [
            execution.numbers(element, 32, active, "disable-output-lane").tolist()
            for element in mask.elements
        ]
    zeros = known("zero-column-mask", 64) if "zero-column-mask" in given else None
    return [
        _Numbers(
            idescs[index],
            tuple((role, each[index]) for role, each in descriptors.items()),
            tuple((role, each[index]) for role, each in cells.items()),
            bool(enabled[index]),
            tuple(each[index] for each in masks),
            None if zeros is None else zeros[index],
        )
        for index in range(len(active))
    ]


def _form(execution: Execution, product: ProductForm, idesc: int, thread: int) -> TensorMultiplication | None:
    """Return what an instruction descriptor makes of the product; report what does not suit it."""
    described = Described(product, idesc)
    wrong = descriptor_rules.violations(described, target_named(execution.module.target))
    if wrong:
        message = f"{execution.instruction.mnemonic}, idesc {idesc:#010x}: {wrong[0].message}"
        execution.report(Kind.ILLEGAL, message, np.array([thread]))
        return None
    for note in descriptor_rules.doubts(described):
        execution.assumptions[note.text] = None
    assert described.fields is not None
    return multiplication(product, described.fields)


def _multiply(
    execution: Execution,
    product: ProductForm,
    numbers: _Numbers,
    thread: int,
    scale_d: int,
    blocks: tuple[int, ...],
    collector: Collector,
) -> None:
    form = _form(execution, product, numbers.idesc, thread)
    if form is None:
        return
    at = dict(numbers.cells)
    shape = (at["d"], form.shape.m, form.shape.n, form.fields.d, product.ws)
    operation = Clocks.of(execution).begin(execution, Sort.PRODUCT, thread, shape)
    cells = CellOperands(execution, form, at, operation, thread, blocks)
    if not cells.aligned():
        return
    found: dict[str, Ids] = {}
    for role, word in numbers.descriptors:
        name = _DESCRIPTORS[role]
        fields = shared_operands.decoded(execution, name, word, thread)
        if fields is None:
            return
        matrix = shared_operands.matrix_of(form, role, fields)
        found[role] = shared_operands.elements(execution, form, role, matrix, operation, thread, blocks)
    for role in ("a", "scale_a", "scale_b", "metadata"):
        if role in at:
            elements = cells.elements(role)
            if elements is None:
                return
            found[role] = elements
    if form.sparsity is not None:
        check_metadata(execution, form, found["metadata"], thread)
    kept = _operand(collector, product, numbers, found, thread, execution.instruction.line)
    KeptOperands.of(execution).note(execution, collector, kept, blocks)
    alg = TermAlgebra(execution.store)
    old = cells.old_d() if numbers.enable_d else _zeros(alg, form)
    if old is None:
        return
    zeros = None
    if numbers.zeros is not None:
        try:
            zeros = zero_columns(numbers.zeros, form.shape.m, form.shape.n)
        except InputError as error:
            message = f"{execution.instruction.mnemonic}: {error}"
            execution.report(Kind.ILLEGAL, message, np.array([thread]))
            return
    # The old D is there as zeros where it does not count.
    modifiers = Modifiers(True, scale_d if numbers.enable_d else 0, zeros)
    new = tensor_product(
        alg, form, Matrices(**{"c": old, **found}), accumulation_of(execution, form), modifiers
    )
    cells.write_d(new, _kept(execution, numbers.mask))


def _operand(
    collector: Collector,
    product: ProductForm,
    numbers: _Numbers,
    elements: Mapping[str, Ids],
    thread: int,
    line: int,
) -> Operand:
    """Return the operand that a buffer may keep, as a thread's product names it."""
    role, at = collector.buffer[0], dict(numbers.cells)
    place = at[role] if role in at else dict(numbers.descriptors)[role]
    lane, _ = split_address(at["d"])
    said = (replace(product, mnemonic=""), numbers.idesc, at.get("scale_a"), at.get("metadata"), lane)
    return Operand(place, said, elements[role], thread, line)


def _zeros(alg: TermAlgebra, form: TensorMultiplication) -> Ids:
    return np.broadcast_to(alg.constant(0, form.c), form.matrix_shape("c"))


def _kept(execution: Execution, mask: tuple[int, ...]) -> NDArray[np.bool_] | None:
    """Return which lanes of a CTA keep what D was."""
    if not mask:
        return None
    of_cta = mask[: CTA_LANES // 32]
    if any(of_cta != mask[at : at + len(of_cta)] for at in range(0, len(mask), len(of_cta))):
        execution.unsupported(
            f"{execution.instruction.mnemonic} with different lanes disabled in the two CTAs: no document "
            "says which CTA's come first"
        )
    lanes = np.arange(CTA_LANES)
    found: NDArray[np.bool_] = (
        np.array(of_cta, dtype=np.uint64)[lanes // 32] >> (lanes % 32).astype(np.uint64)
    ) & np.uint64(1) == 1
    return found
