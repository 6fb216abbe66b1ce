"""Formats of the fields of a concatenation that is read as an integer."""

from __future__ import annotations

from ...spec.formats import IntegerFormat
from . import operations
from .slices import Field, fields
from .store import Operation, bits, is_raw


def repetitions(operation: Operation, position: int) -> int:
    """Return how often a sign is repeated from a bit of a concatenation on."""
    start = 0
    for field in fields(operation):
        if start == position and field.repeats:
            return field.width
        start += field.width
    return 0


def field_format(
    field: Field, whole: bool, fmt: IntegerFormat, left: int, repetitions: int
) -> IntegerFormat | None:
    """Return how a field is read of which `left` bits count; None if its bits are not those of a number."""
    modular, top = is_raw(fmt), field.width >= left
    if repetitions and not top:
        on_top = field.width + repetitions >= left and (modular or fmt.signed)
        return operations.signed(field.width) if on_top and whole else None
    if modular and top and (field.low == 0 or field.constant):
        return bits(left)
    if fmt.signed and top:
        if field.constant:
            return operations.signed(left)
        return operations.signed(left) if whole and field.width == left else None
    return operations.unsigned(field.width) if (field.constant or whole) and field.width <= left else None
