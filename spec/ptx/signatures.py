"""What operands a form takes: how many, vectors of how many registers, of what classes and values.

Source: PTX ISA 9.1 sections 9.7.14.3 to 9.7.14.6, 9.7.15 and 9.2 (operand type checking); the classes of
registers and constants were tried on ptxas of CUDA 13.0 and 13.5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from .block_scaling import ScaleFactors
from .catalogue import Form
from .matrix_move_forms import MatrixMoveForm
from .mma_forms import MmaForm
from .operands import Constant, Decimal, HexFloat, Integer
from .variant import Family, Variant
from .wgmma_forms import A_REGISTERS, WarpgroupOrderForm, WgmmaForm
from .wmma_forms import WmmaForm

WORDS = ("b32", "u32", "s32", "f32", "f16x2")
"""Registers of 32 bits: what an operand without a type of its own takes."""

INTEGERS = ("b32", "u32", "s32")

_ACCUMULATOR_CLASSES = {
    "f16": ("f16x2", "b32"), "f32": ("f32", "b32"), "s32": INTEGERS, "f64": ("f64", "b64"),
}  # fmt: skip
_MULTIPLICAND_CLASSES = {
    "f16": ("f16x2", "b32"), "f64": ("f64", "b64"), **dict.fromkeys(("s8", "u8", "s4", "u4", "b1"), INTEGERS)
}  # fmt: skip
"""Registers that hold multiplicands; other types than these take b32."""
_ADDRESS_CLASSES = ("b32", "u32", "s32", "b64", "u64", "s64")
_SELECTOR_CLASSES = ("b16", "u16", "s16")
_DESCRIPTOR_CLASSES = ("b64", "u64", "s64")
_WORD_CLASSES = ("b32", "f16x2")
"""Registers that hold floats of A of ``wgmma``."""


class Sort(Enum):
    """What an operand looks like."""

    VECTOR = "a brace-enclosed vector"
    SCALAR = "a register"
    ADDRESS = "an address in brackets"
    NUMBER = "a register or an integer constant"
    PAIR = "a brace-enclosed pair of constants or registers"
    CONSTANT = "an integer constant"
    COUNT = "an integer constant that is not negative"
    PREDICATE = "a predicate, negated or not, or 0 or 1"


class ConstantSort(Enum):
    """What a constant looks like."""

    INTEGER = "integers"
    HEX_FLOAT_32 = "0f... constants"
    HEX_FLOAT_64 = "0d... constants"
    DECIMAL = "decimal floating-point constants"


def constant_sort(constant: Constant) -> ConstantSort:
    """Say what a constant looks like."""
    match constant:
        case Integer():
            return ConstantSort.INTEGER
        case HexFloat(bits=bits):
            return ConstantSort.HEX_FLOAT_32 if bits == 32 else ConstantSort.HEX_FLOAT_64
        case Decimal():
            return ConstantSort.DECIMAL


_ACCUMULATOR_CONSTANTS = {
    "f32": (ConstantSort.HEX_FLOAT_32,),
    "s32": (ConstantSort.INTEGER,),
    "f64": (ConstantSort.HEX_FLOAT_64, ConstantSort.DECIMAL),
}


@dataclass(frozen=True)
class OperandForm:
    """An operand as a form takes it.

    Attributes
    ----------
    name : str
        The manual's name.
    sort : Sort
        What it looks like.
    registers : int
        Length of a vector.
    result : bool
        Whether it is written, so that a vector may have sinks.
    classes : tuple of str
        Types that its registers may be declared with.
    constants : tuple of ConstantSort
        Constants that may stand for a register of a vector.
    values : tuple of tuple of int
        The legal constants of a pair, one after the other, or of a single constant; empty: any.
    optional : bool
        Whether it may be left out.
    braces : bool
        Whether a vector of one register may stand for the register: see `braces`.
    """

    name: str
    sort: Sort
    registers: int = 1
    result: bool = False
    classes: tuple[str, ...] = WORDS
    constants: tuple[ConstantSort, ...] = ()
    values: tuple[tuple[int, ...], ...] = ()
    optional: bool = False
    braces: bool = False

    def __str__(self) -> str:
        if self.sort is Sort.VECTOR:
            return f"{self.name}: {self.registers} x {'|'.join(self.classes)}"
        if self.values:
            return f"{self.name}: {' x '.join('{' + ','.join(map(str, v)) + '}' for v in self.values)}"
        return f"{self.name}: {'|'.join(self.classes)}"


Signature = tuple[OperandForm, ...]


def signatures(form: Form, variant: Variant) -> tuple[Signature, ...]:
    """Return the lists of operands that a form's variant may have, in the order of the text.

    Products of a warpgroup have two: A is in shared memory, or in registers.
    """
    if isinstance(form, WgmmaForm):
        return signature(form, variant), signature(form, variant, a_in_registers=True)
    return (signature(form, variant),)


@lru_cache(maxsize=4096)
def signature(form: Form, variant: Variant, *, a_in_registers: bool = False) -> Signature:
    """Return the operands of a form's variant, in the order of the text.

    What the variant spells wrong is taken from the form.
    """
    match form:
        case WgmmaForm():
            return tuple(_wgmma(form, variant, a_in_registers))
        case WarpgroupOrderForm():
            count = OperandForm("N", Sort.COUNT, classes=())
            return (count,) if form.counts_groups else ()
        case MmaForm():
            return tuple(_mma(form, variant))
        case WmmaForm() if variant.family is Family.WMMA_MMA:
            return tuple(_wmma_mma(form, variant))
        case WmmaForm():
            return tuple(_wmma_move(form, variant))
        case MatrixMoveForm():
            return tuple(_matrix_move(form, variant))


def _spelled(variant: Variant, operand: str, allowed: tuple[str, ...]) -> str:
    """Return an operand's element type, the form's first if the variant's is none of the form's."""
    element_type = variant.element_types.get(operand)
    return element_type if element_type in allowed else allowed[0]


def _accumulator(name: str, registers: int, element_type: str, *, result: bool) -> OperandForm:
    return OperandForm(
        name, Sort.VECTOR, registers, result, _ACCUMULATOR_CLASSES[element_type],
        () if result else _ACCUMULATOR_CONSTANTS.get(element_type, ()),
    )  # fmt: skip


def _multiplicand(name: str, registers: int, element_type: str, *, result: bool) -> OperandForm:
    classes = _MULTIPLICAND_CLASSES.get(element_type, ("b32",))
    return OperandForm(name, Sort.VECTOR, registers, result, classes)


def _mma(form: MmaForm, variant: Variant) -> Iterator[OperandForm]:
    types = {
        operand: _spelled(variant, operand, tuple(pair[place] for pair in table))
        for operand, table, place in (
            ("d", form.accumulators, 0), ("a", form.multiplicands, 0),
            ("b", form.multiplicands, 1), ("c", form.accumulators, 1),
        )
    }  # fmt: skip
    counts = {operand: form.registers(operand, element_type) for operand, element_type in types.items()}
    yield _accumulator("d", counts["d"], types["d"], result=True)
    for operand in "ab":
        yield _multiplicand(operand, counts[operand], types[operand], result=False)
    yield _accumulator("c", counts["c"], types["c"], result=False)
    if form.sparse:
        yield OperandForm("metadata", Sort.SCALAR, braces=True)
        yield OperandForm("selector", Sort.CONSTANT, classes=(), values=(tuple(range(form.selectors)),))
    for operand in "ab" if form.scale_vec else "":
        factors = ScaleFactors(operand, form.scale_factors)
        yield OperandForm(f"scale_{operand}", Sort.SCALAR, braces=True)
        yield OperandForm(
            f"selectors_{operand}", Sort.PAIR, 2, classes=_SELECTOR_CLASSES,
            values=(factors.byte_ids, factors.thread_ids),
        )  # fmt: skip


def _wgmma(form: WgmmaForm, variant: Variant, a_in_registers: bool) -> Iterator[OperandForm]:
    d = _spelled(variant, "d", tuple(d for d, _ in form.accumulators))
    a = _spelled(variant, "a", tuple(a for a, _ in form.multiplicands))
    n = variant.shape.n if variant.shape in form.shapes else form.shape.n
    yield OperandForm("d", Sort.VECTOR, form.registers(n, d), classes=_ACCUMULATOR_CLASSES[d])
    if a_in_registers:
        classes = WORDS if a in ("s8", "u8", "b1") else _WORD_CLASSES
        yield OperandForm("a", Sort.VECTOR, A_REGISTERS, classes=classes)
    else:
        yield OperandForm("a-desc", Sort.NUMBER, classes=_DESCRIPTOR_CLASSES)
    yield OperandForm("b-desc", Sort.NUMBER, classes=_DESCRIPTOR_CLASSES)
    if form.sparse:
        yield OperandForm("metadata", Sort.SCALAR, braces=True)
        yield OperandForm("selector", Sort.CONSTANT, classes=(), values=(tuple(range(form.selectors)),))
    yield OperandForm("scale-d", Sort.PREDICATE, classes=("pred",))
    for operand in "ab" if form.negates else "":
        yield OperandForm(f"scale-{operand}", Sort.CONSTANT, classes=(), values=((-1, 1),))
    for operand in ("b" if a_in_registers else "ab") if form.transposes else "":
        yield OperandForm(f"trans-{operand}", Sort.CONSTANT, classes=(), values=((0, 1),))


def _wmma_registers(form: WmmaForm, variant: Variant, role: str, *, result: bool) -> OperandForm:
    element_type = _spelled(variant, role, form.role_types(role))
    registers = form.registers(role, element_type)
    if role in ("c", "d"):
        return _accumulator(role, registers, element_type, result=result)
    return _multiplicand(role, registers, element_type, result=result)


def _wmma_mma(form: WmmaForm, variant: Variant) -> Iterator[OperandForm]:
    for role in "dabc":
        yield _wmma_registers(form, variant, role, result=role == "d")


def _wmma_move(form: WmmaForm, variant: Variant) -> Iterator[OperandForm]:
    stored = variant.family is Family.WMMA_STORE
    registers = _wmma_registers(form, variant, variant.role or "d", result=not stored)
    yield from _through_memory(registers, stored=stored)
    yield OperandForm("stride", Sort.NUMBER, classes=INTEGERS, optional=True)


def _matrix_move(form: MatrixMoveForm, variant: Variant) -> Iterator[OperandForm]:
    if form.family is Family.MOVMATRIX:
        yield OperandForm("d", Sort.SCALAR, result=True)
        yield OperandForm("a", Sort.SCALAR)
        return
    count = variant.count if variant.count in form.counts else form.counts[0]
    stored = form.family is Family.STMATRIX
    registers = OperandForm("a" if stored else "d", Sort.VECTOR, form.registers(count), result=not stored)
    yield from _through_memory(registers, stored=stored)


def _through_memory(registers: OperandForm, *, stored: bool) -> Signature:
    """Order registers and address: what is written comes first."""
    address = OperandForm("p", Sort.ADDRESS, classes=_ADDRESS_CLASSES)
    return (address, registers) if stored else (registers, address)
