"""The matrix descriptor of ``tcgen05``: where A, B or what is copied lie in shared memory.

The fields, and the addresses that they stand for, are those of ``wgmma`` (`matrix_descriptor`) in other
bits, and one swizzling more, which leaves 32 bytes together. Source: PTX ISA 9.1 section 9.7.16 (matrix
descriptor); CuTe's ``UMMA::SmemDescriptor``; MLIR's and Triton's builders.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ... import legality
from ...errors import InputError, UnsupportedError
from ...legality import Violation
from ..matrix_descriptor import FIELD_BITS, UNIT, MatrixDescriptor, SharedMatrix
from ..targets import Target
from .bit_fields import BitField, FieldTable, flag, read_values, reserved

ATOM32 = "128-atom32"
"""Swizzling of 128 bytes that leaves 32 together."""

TABLE = FieldTable(
    "matrix descriptor of tcgen05",
    64,
    (
        BitField("start", 0, FIELD_BITS, unit=UNIT),
        reserved(14, 2),
        BitField("leading", 16, FIELD_BITS, unit=UNIT),
        reserved(30, 2),
        BitField("stride", 32, FIELD_BITS, unit=UNIT),
        reserved(46, 3, 1),
        BitField("base_offset", 49, 3),
        flag("absolute", 52),
        reserved(53, 8),
        BitField("swizzle", 61, 3, ((0, 0), (ATOM32, 1), (128, 2), (64, 4), (32, 6))),
    ),
)
"""The fields."""


def encoded(fields: MatrixDescriptor) -> int:
    """Return the 64 bits that say the fields."""
    swizzle = fields.swizzle if fields.atom == UNIT else ATOM32
    return TABLE.encoding(
        {"start": fields.start, "leading": fields.leading, "stride": fields.stride, "swizzle": swizzle}
    )


def decoded(word: int) -> MatrixDescriptor:
    """Return what 64 bits say.

    Raises
    ------
    InputError
        If a bit is set that must not be, or bit 46 is not.
    UnsupportedError
        If the base offset counts, or the leading offset is an address: no document says enough of it.
    """
    values = TABLE.decoded(word)
    if values["absolute"] or (values["base_offset"] and values["swizzle"]):
        what = "an absolute leading offset" if values["absolute"] else "a base offset"
        raise UnsupportedError(f"descriptor {word:#018x} has {what}, of which no document says enough")
    start, leading, stride = (int(values[name]) for name in ("start", "leading", "stride"))
    if values["swizzle"] == ATOM32:
        return MatrixDescriptor(start, leading, stride, 128, atom=2 * UNIT)
    return MatrixDescriptor(start, leading, stride, int(values["swizzle"]))


def read(text: str) -> tuple[MatrixDescriptor, bool]:
    """Read ``desc=0x4000404000010000``, or ``start=0x400 stride=1024 swizzle=128``, and ``transposed``.

    Raises
    ------
    InputError
        If a word is none of them.
    """
    words = text.replace(",", " ").split()
    transposed = "transposed" in words
    values = read_values(
        " ".join(word for word in words if word != "transposed"),
        ("desc", "start", "leading", "stride", "swizzle"),
    )
    if "desc" in values:
        if len(values) > 1 or isinstance(values["desc"], str):
            raise InputError(f"desc={values['desc']} must be a number, without other fields")
        return decoded(values["desc"]), transposed
    atom = 2 * UNIT if values.get("swizzle") == ATOM32 else UNIT
    if atom > UNIT:
        values["swizzle"] = 128
    if wrong := next((name for name, value in values.items() if isinstance(value, str)), None):
        raise InputError(f"{wrong}={values[wrong]} is no number of bytes")
    numbers = {name: int(value) for name, value in values.items()}
    return MatrixDescriptor(**numbers, atom=atom), transposed


TRANSPOSABLE = (8, 16, 32)
"""Widths of elements that may lie with neighbours along M or N."""


def shared_matrix(
    fields: MatrixDescriptor, lines: int, length: int, bits: int, *, transposed: bool = False
) -> SharedMatrix:
    """Return where a descriptor says that lines of elements lie.

    Raises
    ------
    InputError
        If the swizzling is not for such elements.
    """
    only = fields.atom > UNIT
    if transposed and (bits == 32) != only:
        allowed = f"with swizzling {ATOM32} alone" if bits == 32 else f"not with swizzling {ATOM32}"
        raise InputError(f"elements of {bits} bits with neighbours along M or N lie {allowed}")
    if only and not transposed:
        raise InputError(f"swizzling {ATOM32} is for neighbours along M or N, not along K")
    return SharedMatrix(fields, lines, length, bits, transposed, TRANSPOSABLE)


@dataclass(frozen=True)
class Pointing:
    """A matrix descriptor as an operand.

    Attributes
    ----------
    operand : str
        Its name.
    word : int
        The 64 bits.
    """

    operand: str
    word: int


Rule = legality.Rule[Pointing, Target]


def _meaning(pointing: Pointing, _: Target) -> Iterator[str]:
    for defect in TABLE.defects(pointing.word):
        yield f"{pointing.operand} {pointing.word:#018x}: {defect}"


def _base_offset(pointing: Pointing, _: Target) -> Iterator[str]:
    if next(TABLE.defects(pointing.word), None) is not None:
        return
    values = TABLE.decoded(pointing.word)
    if values["absolute"] and (values["swizzle"] != 128 or values["base_offset"]):
        yield f"{pointing.operand} {pointing.word:#018x}: only 128 swizzled bytes have absolute offsets"


RULES: tuple[Rule, ...] = (
    Rule(
        "desc-meaning", "every field has a code with a meaning, bit 46 is 1, others are 0",
        "PTX ISA 9.1 section 9.7.16, matrix descriptor; CuTe", _meaning,
    ),
    Rule(
        "desc-absolute", "an absolute offset is for rows of 128 swizzled bytes, without a base offset",
        "PTX ISA 9.1 section 9.7.16, matrix descriptor", _base_offset,
    ),
)  # fmt: skip
"""Every rule on the matrix descriptor; what it points at is not known."""


def violations(pointing: Pointing, target: Target) -> list[Violation]:
    """Return every violated rule."""
    return legality.violations(RULES, pointing, target)
