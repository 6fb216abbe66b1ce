"""What is wrong with the operands of an instruction, given the form's signature."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .declarations import SPACES
from .instructions import Instruction
from .operands import (
    GENERIC,
    UNDECLARED,
    Address,
    Constant,
    Integer,
    Negated,
    Operand,
    Register,
    Scalar,
    Sink,
    Vector,
)
from .signatures import OperandForm, Signature, Sort, constant_sort
from .special_registers import as_read
from .variant import WARPGROUP
from .variant_rules import narrow
from .wmma import STRIDE_BITS, memory_operand

Complaint = tuple[str, str]
"""Rule id and message."""

COUNT = "operand-count"
SORT = "operand-sort"
REGISTERS = "register-count"
CLASS = "register-class"
CONSTANT = "constant"
SINK = "sink"
SELECTOR = "selector"
IMMEDIATE = "immediate"
STRIDE = "stride"
DISTINCT = "distinct-registers"
DECLARATION = "declaration"
SPACE = "address-space"


def complaints(instruction: Instruction, signature: Signature) -> tuple[Complaint, ...]:
    """Return every complaint about the operands; none if they were not given."""
    if instruction.operands is None:
        return ()
    return tuple(_complaints(instruction, instruction.operands, signature))


def _complaints(
    instruction: Instruction, operands: tuple[Operand, ...], signature: Signature
) -> Iterator[Complaint]:
    required = sum(not form.optional for form in signature)
    if not required <= len(operands) <= len(signature):
        names = ", ".join(f"{{{form.name}}}" if form.optional else form.name for form in signature)
        yield COUNT, f"{instruction.variant.opcode} takes {names}, not {len(operands)} operands"
    if instruction.variant.family in WARPGROUP:
        yield from _distinct(operands[:2])
    for form, operand in zip(signature, operands, strict=False):
        yield from _operand(form, operand)
        if isinstance(operand, Address) and isinstance(operand.base, Register):
            yield from _space(instruction.variant.space, operand.base)
        if form.name == "stride" and isinstance(operand, Integer):
            yield from _stride(instruction, operand.value)


def _operand(form: OperandForm, operand: Operand) -> Iterator[Complaint]:
    match form.sort, operand:
        case ((Sort.VECTOR | Sort.PAIR), Vector(elements)):
            yield from _vector(form, elements)
        case Sort.VECTOR, Register(type=str(declared)) if declared.startswith("v"):
            length, _, element_type = declared[1:].partition(".")
            yield from _length(form, int(length) if length in ("2", "4") else 0)
            yield from _class(form, Register(str(operand), element_type))
        case Sort.ADDRESS, Address(base):
            if isinstance(base, Integer):
                yield SORT, f"{form.name} must be [register] or [variable], not {operand}"
            else:
                yield from _class(form, base)
        case Sort.SCALAR, Vector((Register() as register,)) if form.braces:
            yield from _class(form, register)
        case ((Sort.SCALAR | Sort.NUMBER), Register()):
            yield from _class(form, operand)
        case Sort.PREDICATE, (Register() | Negated(Register())):
            yield from _class(form, operand if isinstance(operand, Register) else operand.register)
        case ((Sort.NUMBER | Sort.COUNT), Integer(value)) if form.sort is Sort.NUMBER or value >= 0:
            pass
        case Sort.PREDICATE, Integer(value):
            yield from _value(form, form.name, value, (0, 1))
        case Sort.CONSTANT, Integer(value):
            yield from _value(form, form.name, value, form.values[0])
        case _:
            yield SORT, f"{form.name} must be {form.sort.value}, not {operand}"


def _vector(form: OperandForm, elements: tuple[Scalar, ...]) -> Iterator[Complaint]:
    yield from _length(form, len(elements))
    if all(isinstance(element, Sink) for element in elements) and form.result:
        yield SINK, f"{form.name} must have a register, not only _"
    for place, element in enumerate(elements):
        match element:
            case Register():
                yield from _class(form, element if form.result else as_read(element))
            case Sink():
                if not form.result:
                    yield SINK, f"{form.name} is read and can't have _"
            case _ if form.sort is Sort.PAIR:
                yield from _selector(form, place, element)
            case _ if (sort := constant_sort(element)) not in form.constants:
                allowed = " or ".join(["registers", *(constant.value for constant in form.constants)])
                yield CONSTANT, f"{form.name} takes {allowed}, not {element} ({sort.value})"


def _length(form: OperandForm, length: int) -> Iterator[Complaint]:
    if length != form.registers:
        plural = "s" if form.registers > 1 else ""
        what = "values" if form.sort is Sort.PAIR else f"register{plural}"
        yield REGISTERS, f"{form.name} takes {form.registers} {what}, not {length}"


def _space(space: str | None, base: Register) -> Iterator[Complaint]:
    allowed = GENERIC if space is None else (space.partition("::")[0],)
    if base.space in SPACES and base.space not in allowed:
        what = "a generic address is that" if space is None else f".{space} takes the address"
        listed = " or ".join(f".{name}" for name in allowed)
        yield SPACE, f"{what} of a variable in {listed}, not {base} in .{base.space}"


def _class(form: OperandForm, register: Register) -> Iterator[Complaint]:
    if register.type == UNDECLARED:
        yield DECLARATION, f"{form.name}: {register} is not declared"
        return
    if form.sort is Sort.ADDRESS and register.space in SPACES:
        return
    if register.type is not None and register.type not in form.classes:
        allowed = " or ".join(f".{name}" for name in form.classes)
        yield CLASS, f"{form.name} takes {allowed}, not {register} of .{register.type.removeprefix('.')}"


def _selector(form: OperandForm, place: int, constant: Constant) -> Iterator[Complaint]:
    if not isinstance(constant, Integer):
        yield CONSTANT, f"{form.name} takes integers or registers, not {constant}"
    elif place < len(form.values):
        name = f"{'byte' if place == 0 else 'thread'}_id_{form.name[-1]}"
        yield from _value(form, name, constant.value, form.values[place])


def _value(form: OperandForm, name: str, value: int, allowed: tuple[int, ...]) -> Iterator[Complaint]:
    if value not in allowed:
        choice = ", ".join(map(str, allowed))
        rule = SELECTOR if form.name.startswith("selector") else IMMEDIATE
        yield rule, f"{name} must be {'one of ' if len(allowed) > 1 else ''}{choice}, not {value}"


def _distinct(written: tuple[Operand, ...]) -> Iterator[Complaint]:
    """Yield each register that D has twice, or A as well."""
    vectors = (operand.elements for operand in written if isinstance(operand, Vector))
    for name, count in Counter(str(element) for elements in vectors for element in elements).items():
        if count > 1 and name != "_":
            yield DISTINCT, f"{name} stands for more than one register of d and a"


def _stride(instruction: Instruction, stride: int) -> Iterator[Complaint]:
    if narrow(instruction.variant).messages:  # there may be no such matrix; other rules say so
        return
    operand = memory_operand(instruction.variant)
    unit = operand.fragment_bytes
    if not operand.minimum_stride <= stride < 1 << STRIDE_BITS:
        yield STRIDE, f"the stride must be {operand.minimum_stride} elements or more, not {stride}"
    elif stride * operand.format.bits % (8 * unit):
        step = 8 * unit // operand.format.bits
        yield STRIDE, f"the stride must be a multiple of {step} elements ({unit} bytes), not {stride}"
