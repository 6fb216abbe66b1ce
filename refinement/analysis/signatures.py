"""Uninterpreted signatures: what identifies an operation over the reals."""

from __future__ import annotations

from typing import Any

from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..terms import operations
from ..terms.slices import Field
from ..terms.store import Operation, is_raw

CONGRUENT = (
    operations.EXTREMUM,
    operations.SELECT,
    operations.COMPARE,
    operations.FUNCTION,
    operations.BITWISE,
    operations.CONVERT,
    operations.FUSED,
)
"""Operations whose normal form is that of their arguments' polynomials."""


def clamps(operation: Operation, fmt: Format) -> bool:
    """Tell whether an operation read in a format is a conversion to integers that clamps."""
    if operation.name != operations.CONVERT or fmt != operation.result or is_raw(fmt):
        return False
    assert isinstance(operation.attribute, tuple)
    return isinstance(fmt, IntegerFormat) and bool(operation.attribute[1])


def has_size(field: Field, fmt: Format) -> bool:
    """Tell whether bits of a number say how great it is, or of which sign: not only what it is rounded to.

    Numbers that are equal over the reals have such bits in common, unless a rounding carries one over a step.
    """
    if not isinstance(fmt, FloatFormat) or field.constant:
        return True
    low, top = field.low - fmt.padding_bits, field.top - fmt.padding_bits
    sign = fmt.signed and low == top == fmt.magnitude_bits
    return sign or (low <= fmt.fraction_bits and top >= fmt.magnitude_bits - 1 and not field.repeats)


def essential(operation: Operation) -> Any:
    """Return what of an attribute matters over the reals."""
    if operation.name == operations.COMPARE and isinstance(operation.operands[0], FloatFormat):
        return str(operation.attribute).removesuffix("u")
    if operation.name == operations.CONVERT:
        assert isinstance(operation.attribute, tuple)
        return operation.attribute[:2]  # flushing is no more than a rounding
    if operation.name == operations.FUNCTION:
        return str(operation.attribute).partition(".")[0]
    return operation.attribute
