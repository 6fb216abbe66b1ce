"""Execute one multiply-accumulate on named arrays, as `mmaproof run` does.

Matrix view: ``a`` (…, M, K) (``mma.sp``: the stored (…, M, K/2)), ``b`` (…, K, N), ``c`` (…, M, N),
``scale_a`` (…, M, X), ``scale_b`` (…, X, N) as values, or (``a_bits``, …) as encodings, and
``metadata`` (…, M, chunks), one nibble each; the f16 ``m8n8k4`` has an axis of 4 computations before
the rows. Register view: uint32 (f64: uint64) ``a``, ``b``, ``c``, ``scale_a``, ``scale_b``,
``metadata``, each (…, 32 lanes, registers). Batch axes come first and broadcast.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

import numpy as np

from ..algebra import Array
from ..errors import InputError
from ..formats import TF32, U4, U32, Bits, Format
from ..fragment import Packing
from ..numpy_algebra import NumpyAlgebra
from ..operand_arrays import (
    blocks,
    common_batch,
    encodings,
    flattened,
    missing,
    refuse_unknown,
    shown,
    words,
)
from ..values import values_of_encodings
from . import warp
from .block_scaling import Selectors
from .choices import UNSPECIFIED, Choices
from .move_execution import move
from .multiplication import MULTIPLYING, Multiplication, multiplication
from .operands import Instruction, Integer, Operand, Vector
from .product import Operands, product
from .signatures import signature
from .variant import WARP_LANES
from .warp import Immediates, WarpRegisters

ALGEBRA = NumpyAlgebra()

_BLOCK = 1 << 17
"""Products computed at a time: their temporaries stay in a core's cache."""


def multiply(form: Multiplication, arrays: Mapping[str, Array], choices: Choices) -> dict[str, Array]:
    """Execute in the matrix view; returns ``d`` and ``d_bits``, (…, M, N).

    Raises
    ------
    InputError
        If an array is missing, unknown, or of the wrong shape, type or value.
    """
    require_concrete(form, choices)
    shapes = matrix_operands(form)
    refuse_unknown(arrays, [*shapes, *(f"{name}_bits" for name in shapes)], form.name)
    operands = {name: encodings(arrays, name, fmt, shape, form.name) for name, (fmt, shape) in shapes.items()}
    require_defined(form, operands, choices)
    d = _in_blocks(
        lambda block: product(ALGEBRA, form, Operands(**block), choices),
        form,
        operands,
        {name: len(shape) for name, (_, shape) in shapes.items()},
        form.matrix_shape("d"),
        form.d,
    )
    return {"d": values_of_encodings(d, form.d), "d_bits": d}


def multiply_registers(
    form: Multiplication, arrays: Mapping[str, Array], selected: Immediates, choices: Choices
) -> dict[str, Array]:
    """Execute in the register view; returns ``d`` (…, 32, registers).

    Raises
    ------
    InputError
        If an array is missing, unknown, or of the wrong shape or type, or holds what PTX leaves undefined.
    """
    require_concrete(form, choices)
    shapes = register_operands(form)
    refuse_unknown(arrays, list(shapes), form.name)
    registers = {}
    for name, (packing, shape) in shapes.items():
        storage = packing.word.storage
        if name not in arrays:
            raise InputError(f"{missing(arrays, name)}; {form.name} takes {shown(shape)} {storage}")
        registers[name] = words(name, arrays[name], storage, shape)
    if choices.padding == "zero":
        for name, (mask, what) in _padding(form).items():
            _refuse_bits(name, registers[name], mask, what)
    fragment = form.fragment("d")

    def execute(block: dict[str, Bits]) -> Bits:
        held = WarpRegisters(**block)
        matrices = warp.gather(ALGEBRA, form, held, selected)
        require_defined(form, {k: v for k, v in vars(matrices).items() if v is not None}, choices)
        return fragment.scatter(ALGEBRA, product(ALGEBRA, form, matrices, choices))

    d = _in_blocks(
        execute,
        form,
        registers,
        dict.fromkeys(shapes, 2),
        (WARP_LANES, fragment.registers),
        fragment.packing.word,
    )
    return {"d": d}


@cache
def matrix_operands(form: Multiplication) -> Mapping[str, tuple[Format, tuple[int, ...]]]:
    """Return the element format and the shape of every matrix an instruction reads."""
    operands = {role: (form.format(role), form.matrix_shape(role)) for role in "abc"}
    m, n, _ = form.shape
    if form.block_scale is not None:
        fmt, factors = form.block_scale.format, form.block_scale.vector
        operands |= {"scale_a": (fmt, (m, factors)), "scale_b": (fmt, (factors, n))}
    if form.sparsity is not None:
        operands["metadata"] = (U4, (m, form.sparsity.chunks))
    return MappingProxyType(operands)


@cache
def register_operands(form: Multiplication) -> Mapping[str, tuple[Packing, tuple[int, ...]]]:
    """Return how every operand in registers is packed, and its shape."""
    operands: dict[str, tuple[Packing, tuple[int, ...]]] = {}
    for role in "abc":
        fragment = form.fragment(role)
        operands[role] = (fragment.packing, (WARP_LANES, fragment.registers))
    word = Packing(U32, U32.bits)
    names = ["scale_a", "scale_b"] * (form.block_scale is not None) + ["metadata"] * (
        form.sparsity is not None
    )
    return MappingProxyType(operands | dict.fromkeys(names, (word, (WARP_LANES, 1))))


@cache
def _padding(form: Multiplication) -> Mapping[str, tuple[int, str]]:
    """Return the bits that no encoding occupies, of operands that have any, and what they are."""
    return MappingProxyType(
        {
            name: (packing.padding, f"padding bits of {packing.format}")
            for name, (packing, _) in register_operands(form).items()
            if packing.padding
        }
    )


def require_concrete(form: Multiplication, choices: Choices) -> None:
    """Refuse to compute an arbitrary function.

    Raises
    ------
    InputError
        If the accumulation is left unspecified and the elements are floats.
    """
    if choices.accumulation == UNSPECIFIED and not (form.is_integer or form.is_double):
        raise InputError(
            f"{UNSPECIFIED} accumulation of {form.a} has no value to compute; choose one of those that "
            "--list-choices prints"
        )


def require_defined(form: Multiplication, operands: Mapping[str, Bits], choices: Choices) -> None:
    """Refuse operands for which PTX defines no result.

    Raises
    ------
    InputError
        For a metadata nibble that does not name distinct (ordered: increasing) columns, for a scale
        factor wider than its type, and for tf32 elements with low bits where the choice is to refuse them.
    """
    if form.sparsity is not None:
        form.sparsity.require_valid(operands["metadata"])
    if form.block_scale is not None:
        for name in "ab":
            form.block_scale.require_valid(name, operands[f"scale_{name}"])
    if form.a == TF32 and choices.tf32_low_bits == "zero":
        for name in "ab":
            _refuse_bits(name, operands[name], (1 << TF32.padding_bits) - 1, "low bits of tf32")


def _refuse_bits(name: str, array: Bits, mask: int, what: str) -> None:
    wrong = array & array.dtype.type(mask) != 0
    if wrong.any():
        index = tuple(map(int, np.argwhere(wrong)[0]))
        where = f"{name}[{', '.join(map(str, index))}]"
        raise InputError(f"{where} = {int(array[index]):#x} has {what} set ({mask:#x})")


def _in_blocks(
    compute: Callable[[dict[str, Bits]], Bits],
    form: Multiplication,
    operands: dict[str, Bits],
    axes: Mapping[str, int],
    shape: tuple[int, ...],
    result: Format,
) -> Bits:
    """Compute results (…, *shape) for broadcast batches of operands, a block of the batch at a time."""
    batch = common_batch(operands, axes)
    with np.errstate(all="ignore"):
        if not batch:
            return compute(operands)
        flat = flattened(operands, axes, batch)
        count, products = math.prod(batch), math.prod(form.matrix_shape("d")) * form.products
        d = np.empty((count, *shape), dtype=result.storage)
        for block in blocks(count, _BLOCK // products):
            d[block] = compute({name: array[block] for name, array in flat.items()})
    return d.reshape(*batch, *shape)


def execute(
    instruction: Instruction, arrays: Mapping[str, Array], choices: Choices, *, as_registers: bool
) -> dict[str, Array]:
    """Execute a legal instruction on arrays.

    Parameters
    ----------
    instruction : Instruction
        A product (its selectors are those of its text), or a matrix or ``wmma`` move.
    arrays : mapping
        The operands by name, see the module and `moves`.
    choices : Choices
        Readings of what PTX leaves open.
    as_registers : bool
        Register view instead of matrix view.

    Raises
    ------
    InputError
        If an array is missing, unknown, or of the wrong shape, type or value, or a selector is needed and
        not spelled as a number.
    """
    if instruction.variant.family not in MULTIPLYING:
        return move(instruction.variant, arrays)
    form = multiplication(instruction.variant)
    if as_registers:
        return multiply_registers(form, arrays, immediates(form, instruction), choices)
    return multiply(form, arrays, choices)


def immediates(form: Multiplication, instruction: Instruction) -> Immediates:
    """Read the selectors of an instruction's text.

    Raises
    ------
    InputError
        If the form takes selectors and the text does not spell them as numbers.
    """
    if form.sparsity is None and form.block_scale is None:
        return Immediates()
    if instruction.operands is None:
        raise InputError(f"{instruction.variant} needs its selectors: spell its operands")
    names = [operand.name for operand in signature(form.form, form.variant)]
    given = dict(zip(names, instruction.operands, strict=True))

    def pair(name: str) -> Selectors | None:
        operand = given.get(name)
        if operand is None:
            return None
        assert isinstance(operand, Vector)
        byte_id, thread_id = (_number(name, element) for element in operand.elements)
        return Selectors(byte_id, thread_id)

    selector = given.get("selector")
    return Immediates(
        pair("selectors_a"),
        pair("selectors_b"),
        None if selector is None else _number("selector", selector),
    )


def _number(name: str, operand: Operand) -> int:
    if not isinstance(operand, Integer):
        raise InputError(f"{name} is {operand}: to execute the instruction, spell it as a number")
    return operand.value
