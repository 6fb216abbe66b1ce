"""The products of a warpgroup: D = ±A · ±B + D, or without the old D; B, and perhaps A, in shared memory.

The numbers are those of `product`; here is what operands of the instruction change of them, and how
registers and
shared memory hold the matrices. Source: PTX ISA 9.1 section 9.7.15 (wgmma.mma_async, wgmma.mma_async.sp);
that a
product without the old D begins with +0 is ptxas of CUDA 13.0, whose machine code adds to the zero register.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..algebra import Algebra, Array, Operand
from ..errors import InputError
from ..formats import U32
from ..fragment import Selection
from ..operand_arrays import ALGEBRA, Arrays, ByteArray, Words, read
from .choices import Choices
from .instructions import Instruction
from .matrix_descriptor import MatrixDescriptor, SharedMatrix
from .operands import Integer, Vector
from .product import Matrices, product
from .resolution import Multiplication
from .signatures import signatures


@dataclass(frozen=True)
class Scales:
    """The operands that change what is summed.

    Attributes
    ----------
    d : array () of conditions, or bool
        ``scale-d``: whether the old D is added.
    a, b : int
        ``scale-a`` and ``scale-b``: -1 negates every element.
    """

    d: Array | bool = True
    a: int = 1
    b: int = 1


def warpgroup_product(
    alg: Algebra, form: Multiplication, operands: Matrices, choices: Choices, scales: Scales
) -> Array:
    """Return D (…, 64, N); C is the D before.

    Parameters
    ----------
    alg : Algebra
        What the encodings are.
    form : Multiplication
        A ``wgmma``.
    operands : Matrices
        The matrices.
    choices : Choices
        Readings of what PTX leaves open.
    scales : Scales
        What is negated, and whether C counts.
    """
    zero = alg.constant(0, form.c)
    changed = {"c": operands.c if scales.d is True else alg.where(np.asarray(scales.d), operands.c, zero)}
    for role, scale in (("a", scales.a), ("b", scales.b)):
        if scale == -1:
            changed[role] = alg.negate(Operand(getattr(operands, role), form.floats(form.format(role))))
    return product(alg, form, replace(operands, **changed), choices)


def shared_matrix(
    form: Multiplication, role: str, descriptor: MatrixDescriptor, *, transposed: bool = False
) -> SharedMatrix:
    """Return where a descriptor says that A (its stored part) or B lies."""
    m, n, k = form.shape
    lines, length = {"a": (m, form.products), "b": (n, k)}[role]
    return SharedMatrix(descriptor, lines, length, form.format(role).bits, transposed)


@dataclass(frozen=True)
class WarpgroupOperands:
    """What the text of an instruction says of its operands.

    Attributes
    ----------
    scales : Scales
        What is negated, and whether C counts.
    a_in_registers : bool
        Whether registers hold A.
    shared : mapping of str to SharedMatrix
        What descriptors say, of the operands whose descriptors are numbers.
    selector : int
        The sparsity selector, of a sparse A.
    """

    scales: Scales
    a_in_registers: bool
    shared: Mapping[str, SharedMatrix]
    selector: int


def written_operands(form: Multiplication, instruction: Instruction) -> WarpgroupOperands:
    """Return what a legal instruction's text says; without operands nothing is negated, and C counts.

    Raises
    ------
    InputError
        If an operand that the numbers depend on is not written as one.
    """
    given = instruction.operands or ()
    in_registers = len(given) > 1 and isinstance(given[1], Vector)
    signature = signatures(form.form, form.variant)[in_registers]  # type: ignore[arg-type]
    named = dict(zip((each.name for each in signature), given, strict=False))

    def number(name: str, default: int) -> int:
        operand = named.get(name)
        if operand is None:
            return default
        if not isinstance(operand, Integer):
            raise InputError(f"{name} is {operand}: to execute the instruction, spell it as a number")
        return operand.value

    shared = {}
    for role in "ab":
        operand = named.get(f"{role}-desc")
        if isinstance(operand, Integer):
            descriptor = MatrixDescriptor.decoded(operand.value % (1 << 64))
            shared[role] = shared_matrix(form, role, descriptor, transposed=number(f"trans-{role}", 0) == 1)
    scales = Scales(bool(number("scale-d", 1)), number("scale-a", 1), number("scale-b", 1))
    return WarpgroupOperands(scales, in_registers, shared, number("selector", 0))


def matrices(form: Multiplication, given: WarpgroupOperands, arrays: Arrays) -> dict[str, Array]:
    """Read registers (…, 128, r) and shared memory (…, bytes) as the encodings of matrices.

    Raises
    ------
    InputError
        If an array is missing, unknown or of the wrong shape or type, memory ends before an operand, or a
        descriptor is needed and not a number.
    """
    held = {"c": Selection(form.fragment("c"))} if given.scales.d else {}
    if given.a_in_registers:
        held["a"] = Selection(form.fragment("a"))
    if form.sparsity is not None:
        held["metadata"] = form.sparsity.held(given.selector)
    in_memory = "b" if given.a_in_registers else "ab"
    for role in in_memory:
        if role not in given.shared:
            raise InputError(
                f"{role}-desc of {form.name} must be a number: it says where {role} is in memory"
            )
    words = {name: Words(each.words, each.word.storage) for name, each in held.items()}
    read_arrays = read(form.name, {"memory": ByteArray(), **words}, arrays, {"c": Words((-1,), U32.storage)})
    found = {f"{name}_bits": each.gather(ALGEBRA, read_arrays[name]) for name, each in held.items()}
    for role in in_memory:
        lines = given.shared[role].gather(ALGEBRA, read_arrays["memory"], form.format(role))
        found[f"{role}_bits"] = lines.swapaxes(-1, -2) if role == "b" else lines
    return found
