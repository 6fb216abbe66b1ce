"""The operands of one multiply-accumulate as named arrays, see `spec.operand_arrays`.

Matrix view: ``a`` (…, M, K) (``mma.sp``: the stored (…, M, K/2)), ``b`` (…, K, N), ``c`` (…, M, N),
``scale_a`` (…, M, X), ``scale_b`` (…, X, N) as values, or (``a_bits``, …) as encodings, and
``metadata`` (…, M, chunks), one nibble each; the f16 ``m8n8k4`` has an axis of 4 computations before
the rows. ``c`` of ``wgmma`` is the D before. Register view: uint32 (f64: uint64) ``a``, ``b``, ``c``,
``scale_a``, ``scale_b``,
``metadata``, each (…, 32 lanes, registers); of ``wgmma`` (…, 128 threads, registers), and what descriptors
name in ``memory``, uint8 (…, bytes) from address 0 of shared memory. Batch axes come first and broadcast.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from math import prod
from types import MappingProxyType

import numpy as np

from .. import operand_arrays
from ..algebra import Algebra, Array
from ..errors import InputError
from ..formats import TF32, U4, Bits
from ..operand_arrays import Matrix, Observer
from .block_scaling import Selectors
from .choices import INCREASING, UNSPECIFIED, Choices
from .instructions import Instruction
from .move_arrays import move
from .operands import Integer, Operand, Vector
from .product import Matrices, product
from .resolution import Multiplication, multiplication
from .signatures import signature
from .variant import MULTIPLYING
from .warp import Immediates, held, require_known_layouts
from .warpgroup import WarpgroupOperands, matrices, warpgroup_product, written_operands


def multiply(
    form: Multiplication,
    arrays: Mapping[str, Array],
    choices: Choices,
    selected: Immediates | None = None,
    observer: Observer | None = None,
) -> dict[str, Array]:
    """Execute a multiply-accumulate; returns ``d`` and, in the matrix view, ``d_bits``.

    Parameters
    ----------
    form : Multiplication
        The instruction.
    arrays : mapping
        The operands by name, see the module.
    choices : Choices
        Readings of what PTX leaves open.
    selected : Immediates, optional
        The selectors, for the register view.
    observer : Observer, optional
        Told what is executed.

    Raises
    ------
    InputError
        If an array is missing, unknown, or of the wrong shape, type or value, or holds what PTX leaves
        undefined.
    """
    require_concrete(form, choices)
    if selected is not None:
        require_known_layouts(form, choices)

    def compute(alg: Algebra, matrices: Mapping[str, Array]) -> dict[str, Array]:
        return {"d": product(alg, form, Matrices(**matrices), choices)}

    read, written = operands(form, selected)
    return operand_arrays.execute(
        form.name,
        read,
        written,
        compute,
        arrays,
        as_registers=selected is not None,
        work=prod(form.matrix_shape("d")) * form.products,
        check=partial(require_defined, form, choices),
        check_registers=partial(_refuse_padding, form) if choices.padding == "zero" else None,
        observer=observer,
    )


@cache
def operands(
    form: Multiplication, selected: Immediates | None = None
) -> tuple[Mapping[str, Matrix], Mapping[str, Matrix]]:
    """Return every matrix that an instruction reads, and D; in registers, where selectors are given."""
    shapes = {role: (form.matrix_shape(role), form.format(role)) for role in "abcd"}
    m, n, _ = form.shape
    if form.block_scale is not None:
        fmt, factors = form.block_scale.format, form.block_scale.vector
        shapes |= {"scale_a": ((m, factors), fmt), "scale_b": ((factors, n), fmt)}
    if form.sparsity is not None:
        shapes["metadata"] = ((m, form.sparsity.chunks), U4)
    places = {} if selected is None else held(form, selected)
    read = {name: Matrix(*shape, places.get(name)) for name, shape in shapes.items()}
    written = {"d": read.pop("d")}
    return MappingProxyType(read), MappingProxyType(written)


def _refuse_padding(form: Multiplication, registers: Mapping[str, Bits]) -> None:
    for name in "abc":
        packing = form.fragment(name).packing
        if packing.padding:
            _refuse_bits(name, registers[name], packing.padding, f"padding bits of {packing.format}")


def require_concrete(form: Multiplication, choices: Choices) -> None:
    """Refuse to compute an arbitrary function.

    Raises
    ------
    InputError
        If the accumulation, of f64 its order, is left unspecified and the elements are floats.
    """
    if (choices.f64_order if form.is_double else choices.accumulation) == UNSPECIFIED and not form.is_integer:
        raise InputError(
            f"{UNSPECIFIED} accumulation of {form.a} has no value to compute; choose one of those that "
            "--list-choices prints"
        )


def require_defined(form: Multiplication, choices: Choices, operands: Mapping[str, Bits]) -> None:
    """Refuse operands for which PTX defines no result.

    Raises
    ------
    InputError
        For a metadata nibble that does not name distinct (ordered: increasing) columns, for a scale
        factor wider than its type, and for tf32 elements with low bits where the choice is to refuse them.
    """
    if form.sparsity is not None:
        ordered = form.sparsity.ordered or (form.is_of_warpgroup and choices.wgmma_metadata == INCREASING)
        replace(form.sparsity, ordered=ordered).require_valid(operands["metadata"])
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


def execute(
    instruction: Instruction,
    arrays: Mapping[str, Array],
    choices: Choices,
    *,
    as_registers: bool,
    observer: Observer | None = None,
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
    observer : Observer, optional
        Told what is executed, if it is a product.

    Raises
    ------
    InputError
        If an array is missing, unknown, or of the wrong shape, type or value, or a selector is needed and
        not spelled as a number.
    """
    if instruction.variant.family not in MULTIPLYING:
        return move(instruction.variant, arrays, choices)
    form = multiplication(instruction.variant)
    if form.is_of_warpgroup:
        given = written_operands(form, instruction)
        return _multiply_by_warpgroup(
            form, given, arrays, choices, as_registers=as_registers, observer=observer
        )
    selected = immediates(form, instruction) if as_registers else None
    return multiply(form, arrays, choices, selected, observer)


def _multiply_by_warpgroup(
    form: Multiplication,
    given: WarpgroupOperands,
    arrays: Mapping[str, Array],
    choices: Choices,
    *,
    as_registers: bool,
    observer: Observer | None,
) -> dict[str, Array]:
    """Execute a ``wgmma`` as its text says; returns as `multiply` does."""
    require_concrete(form, choices)
    known, written = operands(form)
    needed = {name: each for name, each in known.items() if name != "c" or given.scales.d}

    def compute(alg: Algebra, found: Mapping[str, Array]) -> dict[str, Array]:
        c = found.get("c", np.broadcast_to(alg.constant(0, form.c), form.matrix_shape("c")))
        return {"d": warpgroup_product(alg, form, Matrices(**{**found, "c": c}), choices, given.scales)}

    result = operand_arrays.execute(
        form.name,
        needed,
        written,
        compute,
        matrices(form, given, arrays) if as_registers else arrays,
        as_registers=False,
        work=prod(form.matrix_shape("d")) * form.products,
        unread=known,
        check=partial(require_defined, form, choices),
        observer=observer,
    )
    return (
        {"d": form.fragment("d").scatter(operand_arrays.ALGEBRA, result["d_bits"])}
        if as_registers
        else result
    )


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
